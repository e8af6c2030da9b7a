//! Capabilities: what is offered to be called, and the one door through which it is.
//!
//! Owns the servers that are spoken to, what agents registered, what of all that is offered to whom, and what becomes of each call: leave first,
//! then the intent in the record, then the act, then its outcome in the record. How a server is spoken to is the business
//! of `connector`; what rules say is the gate's.

mod automation;
mod builtin;
mod door;
mod ending;
mod hooks;
mod input;
mod kept;
mod listening;
mod live;
mod offered;
mod permission;
mod registered;
mod story;
mod workflow;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use edgeplane_store::CommittedEvent;
use edgeplane_types::{Fact, InvocationId, ResourceKind, ResourceUri, StreamName, fact::InvocationRequested};
use tokio::sync::{broadcast, watch};
use tokio_util::sync::CancellationToken;

use crate::{record::chain, shared::Shared};

pub(crate) use door::{ASKS, Wanted, action_in, action_of, cancel, invoke};
pub(crate) use input::{input_of, output_of};
pub(crate) use offered::{Found, Listed, Of, find, listed, view};
pub(crate) use permission::{By, evaluate, locked_out};
pub(crate) use registered::{complete, exact_input, register, withdraw};
pub(crate) use story::{Making, Told};

/// Invocations that are read at one go.
const PAGE: usize = 500;

/// What all calls share.
#[derive(Debug, Default)]
pub(crate) struct Capabilities {
    live: live::Live,
    known: offered::Known,
    running: Mutex<HashMap<InvocationId, Arc<Making>>>,
    /// Exactly what waiting calls are given, where the record has it masked only.
    inputs: Mutex<HashMap<InvocationId, Vec<u8>>>,
    /// What the node itself offers: the same for as long as it is this program.
    builtins: OnceLock<Vec<Found>>,
    /// Held by whoever changes what agents offer, from the look at it to the record.
    registering: tokio::sync::Mutex<()>,
    /// Changes whenever a call is over.
    ends: watch::Sender<u64>,
}

impl Capabilities {
    fn enter(&self, asked: &InvocationRequested) -> Arc<Making> {
        let making = Arc::new(Making::of(asked));
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.insert(asked.invocation_id, Arc::clone(&making));
        making
    }

    /// Whether a call is known to be answered by no agent; of one that is not worked on the record knows.
    fn is_unserved(&self, id: InvocationId) -> bool {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.get(&id).is_some_and(|call| !call.is_served)
    }

    fn leave(&self, id: InvocationId) {
        let left = self.running.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
        self.inputs.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
        if let Some(left) = left {
            left.over.cancel();
        }
        self.ends.send_modify(|ends| *ends = ends.wrapping_add(1));
    }

    pub(crate) fn is_running(&self, id: InvocationId) -> bool {
        self.making(id).is_some()
    }

    /// A call that is worked on.
    pub(crate) fn making(&self, id: InvocationId) -> Option<Arc<Making>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).get(&id).cloned()
    }

    /// Takes a call that now waits for leave off those that are worked on.
    fn rest(&self, id: InvocationId) {
        let rests = self.running.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
        if let Some(rests) = rests {
            rests.over.cancel();
        }
    }

    fn stop_of(&self, id: InvocationId) -> Option<CancellationToken> {
        self.making(id).map(|making| making.stop.clone())
    }

    /// Cancelled when a call that is worked on is over.
    fn end_of(&self, id: InvocationId) -> Option<CancellationToken> {
        self.making(id).map(|making| making.over.clone())
    }

    fn keep_input(&self, id: InvocationId, input: Vec<u8>) {
        self.inputs.lock().unwrap_or_else(PoisonError::into_inner).insert(id, input);
    }

    fn kept_input(&self, id: InvocationId) -> Option<Vec<u8>> {
        self.inputs.lock().unwrap_or_else(PoisonError::into_inner).get(&id).cloned()
    }

    fn take_input(&self, id: InvocationId) -> Option<Vec<u8>> {
        self.inputs.lock().unwrap_or_else(PoisonError::into_inner).remove(&id)
    }

    /// Whoever looks at a call again after this changes misses none of its ends.
    pub(crate) fn follow_ends(&self) -> watch::Receiver<u64> {
        self.ends.subscribe()
    }
}

/// Brings about what follows from decisions and from changes of connectors, until the node ends.
pub(crate) async fn keep(shared: Arc<Shared>) {
    let mut following = shared.record.follow_only(concerns);
    live::end_left_behind(&shared).await;
    take_up(&shared).await;
    loop {
        // Each arm is cancel-safe: an event that is received is handled.
        tokio::select! {
            () = shared.stopping.cancelled() => break,
            event = following.recv() => match event {
                Ok(event) => heard(&shared, &event).await,
                // What was missed is looked at as after a start, but for what runs.
                Err(broadcast::error::RecvError::Lagged(_)) => take_up(&shared).await,
                Err(broadcast::error::RecvError::Closed) => break,
            },
        }
    }
    shared.capabilities.live.stop_all().await;
}

/// Whether calls of capabilities have to do with a fact.
fn concerns(fact: &Fact) -> bool {
    let is_connector = |uri: &ResourceUri| uri.kind() == ResourceKind::Connector;
    match fact {
        Fact::ActionResolved { .. } | Fact::TaskMoved(_) => true,
        Fact::ResourcePut(put) => is_connector(&put.uri),
        Fact::ResourceDeleted(end) => is_connector(&end.uri),
        fact => registered::concerns(fact),
    }
}

/// Brings about what follows from an event that calls have to do with.
async fn heard(shared: &Arc<Shared>, event: &CommittedEvent) {
    match &event.event.fact {
        Fact::ActionResolved { action_id, .. } => {
            if let Err(error) = door::decided(shared, *action_id).await {
                tracing::warn!(%action_id, error = chain(&error), "a decided call cannot be taken up");
            }
        }
        Fact::ResourcePut(put) => live::changed(shared, &put.uri),
        Fact::ResourceDeleted(end) => live::changed(shared, &end.uri),
        Fact::TaskMoved(_) => workflow::heard(shared, event.event.stream).await,
        _ => registered::heard(shared, event).await,
    }
}

/// Looks at every call that is not over: what a former daemon left open, nobody can know; what was decided, is done.
async fn take_up(shared: &Arc<Shared>) {
    let mut cursor = 0;
    loop {
        let read = shared.record.read(move |reader| reader.open_invocations(PAGE, cursor)).await;
        let Ok(page) = read else { return };
        let Some(last) = page.last() else { return };
        cursor = last.pos;
        for row in page {
            if shared.capabilities.is_running(row.asked.invocation_id)
                && registered::is_answered_yet(shared, &row)
            {
                workflow::heard(shared, StreamName::Task(workflow::root_of(row.asked.invocation_id))).await;
                continue;
            }
            if let Err(error) = door::take_up(shared, row).await {
                tracing::warn!(error = chain(&error), "a call that was left open cannot be settled");
            }
        }
    }
}

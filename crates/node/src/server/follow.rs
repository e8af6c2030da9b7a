//! Following the record: what is there, and then each event as it is committed, without a gap or a double.

use edgeplane_store::{CommittedEvent, Reader};
use edgeplane_types::{AgentId, StreamName, SubscriptionId};
use edgeplane_wire::{
    api::stream::{EventView, StreamEvent, StreamState},
    rpc,
};
use tokio::sync::broadcast::{Receiver, error::RecvError};
use tokio_util::sync::CancellationToken;

use super::Session;

/// Events that are read from the record at one go.
const PAGE: usize = 500;

/// Which events are wanted.
#[derive(Debug, Clone, Default)]
pub(super) struct Wanted {
    pub(super) agent: Option<AgentId>,
    pub(super) types: Vec<String>,
}

impl Wanted {
    pub(super) fn takes(&self, committed: &CommittedEvent) -> bool {
        let in_stream = self.agent.is_none_or(|id| committed.event.stream == StreamName::Agent(id));
        let name = committed.event.fact.type_name();
        let of_type = self.types.is_empty()
            || self.types.iter().any(|wanted| match wanted.strip_suffix('*') {
                Some(prefix) => name.starts_with(prefix),
                None => wanted == name,
            });
        in_stream && of_type
    }
}

/// An event as callers see it.
pub(super) fn view(committed: &CommittedEvent) -> EventView {
    EventView {
        pos: committed.pos,
        hash: committed.hash.to_string(),
        event: serde_json::to_value(committed.event.as_ref()).unwrap_or_default(),
    }
}

/// Follows the record after `after` for a caller, until it unsubscribes or goes.
pub(super) async fn follow(
    session: Session,
    id: SubscriptionId,
    wanted: Wanted,
    (mut after, mut live): (u64, Receiver<CommittedEvent>),
    until: CancellationToken,
) {
    let work = async {
        if catch_up(&session, id, &wanted, &mut after).await.is_err() {
            return;
        }
        loop {
            match live.recv().await {
                Ok(committed) if committed.pos <= after => {}
                Ok(committed) if committed.pos == after.saturating_add(1) => {
                    after = committed.pos;
                    if wanted.takes(&committed) && send(&session, id, &committed).await.is_err() {
                        return;
                    }
                }
                // Something was missed: the record has it.
                Ok(_) | Err(RecvError::Lagged(_)) => {
                    if catch_up(&session, id, &wanted, &mut after).await.is_err() {
                        return;
                    }
                }
                Err(RecvError::Closed) => return,
            }
        }
    };
    tokio::select! {
        () = until.cancelled() => {}
        () = work => {}
    }
    let state = StreamState { id: id.to_string(), state: "ended".to_owned(), reason: None };
    drop(session.outbound.offer(rpc::notification("stream/state", state)));
}

async fn catch_up(session: &Session, id: SubscriptionId, wanted: &Wanted, after: &mut u64) -> Result<(), ()> {
    loop {
        let from = after.saturating_add(1);
        let page =
            session.shared.record.read(move |reader: &Reader| reader.events_from_pos(from, PAGE, &[])).await;
        let page = page.map_err(|error| tracing::warn!(%error, "a follower cannot read the record"))?;
        let Some(last) = page.last() else { return Ok(()) };
        *after = last.pos;
        for committed in page.iter().filter(|committed| wanted.takes(committed)) {
            send(session, id, committed).await?;
        }
    }
}

async fn send(session: &Session, id: SubscriptionId, committed: &CommittedEvent) -> Result<(), ()> {
    let event = StreamEvent { subscription_id: id, event: view(committed) };
    session.outbound.send(rpc::notification("stream/event", event)).await.map_err(drop)
}

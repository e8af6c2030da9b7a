//! Calls that this daemon makes: how they are stopped, and what the record says of them by now.
//!
//! Whoever waits for a call is answered from here, so that what has just become durable is not read again. Only what was
//! committed is told; of what is missing here the record knows.

use std::sync::{Mutex, MutexGuard, PoisonError};

use edgeplane_store::{Committed, CommittedEvent, InvocationRow};
use edgeplane_types::{
    Fact, StreamName,
    fact::{InvocationProgressed, InvocationRequested},
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// A call that is being made.
#[derive(Debug, Default)]
pub(crate) struct Making {
    /// Whether an agent answers it.
    pub(super) is_served: bool,
    pub(super) stop: CancellationToken,
    /// Cancelled when it is not worked on any more.
    pub(super) over: CancellationToken,
    story: Mutex<Story>,
}

/// What became durable of a call.
#[derive(Debug, Default)]
struct Story {
    /// The request and the intent, and what was given as it is shown.
    begun: Option<(CommittedEvent, CommittedEvent, Value)>,
    progress: Option<InvocationProgressed>,
    /// The end, and what came of it.
    ended: Option<(CommittedEvent, Vec<u8>)>,
}

/// A call that is over, as the record has it.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) row: InvocationRow,
    pub(crate) input: Option<Value>,
    pub(crate) output: Option<Value>,
}

impl Making {
    pub(super) fn of(asked: &InvocationRequested) -> Self {
        Self { is_served: asked.offered_by.is_some(), ..Self::default() }
    }

    fn story(&self) -> MutexGuard<'_, Story> {
        self.story.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that it is asked for and meant, which are one step unless a person is asked about it: then the record tells.
    pub(super) fn begun(&self, committed: &Committed, shown: Value) {
        let find = |is_it: fn(&Fact) -> bool| committed.events.iter().find(|found| is_it(&found.event.fact));
        let asked = find(|fact| matches!(fact, Fact::InvocationRequested(_)));
        let meant = find(|fact| matches!(fact, Fact::InvocationBegun(_)));
        if let (Some(asked), Some(meant)) = (asked, meant) {
            self.story().begun = Some((asked.clone(), meant.clone(), shown));
        }
    }

    /// Notes how far it is.
    pub(super) fn progressed(&self, progressed: InvocationProgressed) {
        self.story().progress = Some(progressed);
    }

    /// Notes how it ended, and what came of it.
    pub(super) fn ended(&self, committed: &Committed, output: Vec<u8>) {
        let is_end = |found: &&CommittedEvent| matches!(found.event.fact, Fact::InvocationEnded(_));
        let end = committed.events.iter().find(is_end).cloned();
        self.story().ended = end.map(|end| (end, output));
    }

    /// Returns when it is not worked on any more.
    pub(crate) async fn over(&self) {
        self.over.cancelled().await;
    }

    /// The whole of it, if that is known here.
    pub(crate) fn told(&self) -> Option<Told> {
        let story = self.story();
        let (asked_event, meant_event, shown) = story.begun.as_ref()?;
        let (end_event, output) = story.ended.as_ref()?;
        let Fact::InvocationRequested(asked) = &asked_event.event.fact else { return None };
        let Fact::InvocationBegun(meant) = &meant_event.event.fact else { return None };
        let Fact::InvocationEnded(ended) = &end_event.event.fact else { return None };
        let agent = match asked_event.event.stream {
            StreamName::Agent(agent) => Some(agent),
            StreamName::Node(_) | StreamName::Workspace(_) | StreamName::Task(_) => None,
        };
        let output = ended.output_digest.as_ref().and_then(|_kept| serde_json::from_slice(output).ok());
        let row = InvocationRow {
            pos: asked_event.pos,
            agent,
            state: ended.state,
            begun_at: Some(meant_event.event.ts),
            checkpoint: meant.checkpoint_id,
            asked: asked.as_ref().clone(),
            by: asked_event.event.actor.clone(),
            asked_at: asked_event.event.ts,
            progress: story.progress.clone(),
            ended: Some((ended.clone(), end_event.event.ts)),
        };
        Some(Told { row, input: Some(shown.clone()), output })
    }
}

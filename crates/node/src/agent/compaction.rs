//! Boundaries in threads: what is up to one is told as a summary, and the program begins anew with it.
//!
//! The summary is somebody's words and weighs as much as theirs; the node writes none. Nothing is taken out of the history:
//! lists and transcripts show every turn. What waits for a person goes on waiting.

use edgeplane_store::{ActionFilter, CommittedEvent, ThreadRow};
use edgeplane_types::{
    ActionId, Authority, ErrorName, Fact, TurnId,
    fact::{ThreadCompacted, UsageReported},
};
use edgeplane_wire::{
    api::conversation::thread::{ContextRebuilt, ThreadCompactParams},
    rpc::RpcError,
};

use super::{
    Actor,
    begin::message_of,
    history::{newest_given, turns_of},
    rehydration::EVENTS_MAX,
    threads::check_version,
};
use crate::record::Origin;

/// Open actions that are named.
const ACTIONS_MAX: usize = 500;

/// What a compaction came to.
#[derive(Debug)]
pub(crate) struct Compacted {
    pub(crate) fact: ThreadCompacted,
    pub(crate) rebuilt: ContextRebuilt,
}

impl Actor {
    /// Draws a boundary in a thread, and lets the program begin anew.
    pub(super) async fn compact(
        &mut self,
        params: ThreadCompactParams,
        authority: Authority,
        origin: &Origin,
    ) -> Result<Compacted, RpcError> {
        let name = &self.identity.name;
        if self.is_set() {
            let what = format!("agent `{name}` is a set of replicas that remember nothing");
            return Err(RpcError::new(ErrorName::Unsupported, what));
        }
        let thread = self.own_thread(params.thread_id)?;
        let through = match params.through {
            Some(turn) => turn,
            None => self.newest_given(&thread)?,
        };
        let last = self.surviving_turn(&thread, through)?.accepted_pos;
        let summary = params.summary.into_bytes();
        let summary_digest = edgeplane_proof::digest(&summary).to_string();
        let summary_bytes = u64::try_from(summary.len()).unwrap_or(u64::MAX);
        let before = self.shared.record.look_up(|reader| reader.compaction(&thread.id))?;
        if let Some(Fact::ThreadCompacted(known)) = before.as_ref().map(|committed| &committed.event.fact) {
            if known.through == through && known.summary_digest == summary_digest {
                return Ok(Compacted { fact: known.clone(), rebuilt: ContextRebuilt::Not });
            }
            let id = message_of(known.through);
            let drawn = self.shared.record.look_up(|reader| reader.message(&id))?;
            if drawn.is_some_and(|row| last < row.accepted_pos) {
                let what = format!("what is up to turn {} is a summary already", known.through);
                return Err(RpcError::new(ErrorName::InvalidState, what)
                    .hint("a boundary moves on and never back; name that turn or a later one"));
            }
        }
        check_version(&thread, params.if_version)?;
        if params.rebuild {
            self.check_no_turn(params.interrupt)?;
        }
        let of = turns_of(&thread);
        let fact = ThreadCompacted {
            thread_id: thread.id,
            epoch: self.last_epoch,
            through,
            turns: self.shared.record.look_up(|reader| reader.surviving_turns_to(of, last))?,
            summary_digest,
            summary_bytes,
            authority,
            tokens_before: self.context_tokens()?,
            open_actions: self.open_actions()?,
            reason: params.reason.unwrap_or_default(),
        };
        let said = Fact::ThreadCompacted(fact.clone());
        let rebuilt = match params.rebuild {
            true => self.begin_anew_with((said, Some(summary)), origin, "its thread is compacted").await?,
            false => self.note_history((said, Some(summary)), origin).await?,
        };
        Ok(Compacted { fact, rebuilt })
    }

    /// The newest turn of a thread that its program was given, that does not run and that is part of its history.
    fn newest_given(&self, thread: &ThreadRow) -> Result<TurnId, RpcError> {
        let running = self.delivery.turns.running();
        let found = self.shared.record.look_up(|reader| newest_given(reader, thread, running))?;
        found.ok_or_else(|| {
            let what = format!("thread {} has no turn that a summary could stand for", thread.id);
            RpcError::new(ErrorName::InvalidState, what)
        })
    }

    /// What its program said last of how much its context holds.
    fn context_tokens(&self) -> Result<Option<u64>, RpcError> {
        let stream = self.stream();
        let events = self.shared.record.look_up(|reader| reader.last_events(&stream, EVENTS_MAX))?;
        let said = |committed: &CommittedEvent| match &committed.event.fact {
            Fact::UsageReported(UsageReported { context_tokens, .. }) => *context_tokens,
            _ => None,
        };
        Ok(events.iter().rev().find_map(said))
    }

    fn open_actions(&self) -> Result<Vec<ActionId>, RpcError> {
        let id = self.identity.id;
        let rows = self
            .shared
            .record
            .look_up(|reader| reader.actions(ActionFilter::Pending, Some(&id), ACTIONS_MAX))?;
        Ok(rows.into_iter().map(|row| row.action.id).collect())
    }
}

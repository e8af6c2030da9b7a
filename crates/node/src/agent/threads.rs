//! Threads as the agent's engine sees them: facts that hold when they are written, and what a rollback makes of the
//! program's context.

use std::fmt;

use edgeplane_lifecycle::{Input, State};
use edgeplane_store::{MessageRow, Order, ThreadRow};
use edgeplane_types::{
    Continuity, ErrorName, Fact, ThreadId, TurnId,
    fact::{Cause, ThreadRolledBack},
};
use edgeplane_wire::{
    api::conversation::{
        ROLLBACK_MAX,
        thread::{ContextRebuilt, ThreadRollbackParams},
    },
    rpc::RpcError,
};

use super::{
    Actor,
    begin::{message_of, turn_of},
    history::{turns_of, was_given},
    life::Ahead,
};
use crate::record::{Draft, Origin, Record, refused};

/// Threads of one agent that are not archived; more are refused.
pub(super) const THREADS_MAX: u64 = 1_000;

/// Turns that are read at one go.
const PAGE: usize = 500;

/// Waiting turns behind the target of a rollback that are passed over.
const PASSED_MAX: usize = 20_000;

/// Finds out what is to be written, from what the record says at that moment.
type Decide = Box<dyn FnOnce(&Record) -> Result<Vec<Fact>, RpcError> + Send>;

/// Facts of an agent's stream that depend on what the record says.
pub(crate) struct Deciding {
    /// Whether it needs an agent that can have several threads, and room for one more.
    pub(crate) adds_thread: bool,
    pub(crate) decide: Decide,
}

impl fmt::Debug for Deciding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deciding").field("adds_thread", &self.adds_thread).finish_non_exhaustive()
    }
}

/// What a rollback came to.
#[derive(Debug)]
pub(crate) struct RolledBack {
    pub(crate) removed: Vec<TurnId>,
    pub(crate) surviving: u64,
    pub(crate) rebuilt: ContextRebuilt,
    pub(crate) continuity: Continuity,
}

impl Actor {
    /// Writes what follows from the record; nothing changes the agent's stream in between.
    pub(super) async fn decide(&mut self, deciding: Deciding, origin: &Origin) -> Result<(), RpcError> {
        let Deciding { adds_thread, decide } = deciding;
        let facts = decide(&self.shared.record)?;
        if facts.is_empty() {
            return Ok(());
        }
        if adds_thread {
            self.check_threads()?;
            self.check_threads_room()?;
        }
        let mut draft = Draft::default();
        for fact in facts {
            self.shared.record.add(&mut draft, self.stream(), origin, fact);
        }
        self.shared.failpoint("thread.before");
        self.shared.record.commit(draft).await.map_err(|error| refused(&error))?;
        self.shared.failpoint("thread.after");
        Ok(())
    }

    /// Takes the last turns of a thread out of its history, and lets the program begin anew without them.
    pub(super) async fn roll_back(
        &mut self,
        params: ThreadRollbackParams,
        origin: &Origin,
    ) -> Result<RolledBack, RpcError> {
        let name = &self.identity.name;
        if self.is_set() {
            let what = format!("agent `{name}` is a set of replicas that remember nothing");
            return Err(RpcError::new(ErrorName::Unsupported, what));
        }
        let thread = self.own_thread(params.thread_id)?;
        check_version(&thread, params.if_version)?;
        let removed = self.turns_behind(&thread, params.to_turn)?;
        let of = turns_of(&thread);
        let given = self.shared.record.look_up(|reader| reader.surviving_turns(of))?;
        let count = u64::try_from(removed.len()).unwrap_or(u64::MAX);
        let surviving = given.saturating_sub(count);
        if removed.is_empty() {
            let (rebuilt, continuity) = (ContextRebuilt::Not, self.continuity);
            return Ok(RolledBack { removed, surviving, rebuilt, continuity });
        }
        self.check_no_turn(params.interrupt)?;
        let fact = Fact::ThreadRolledBack(ThreadRolledBack {
            thread_id: thread.id,
            epoch: self.last_epoch,
            to_turn: params.to_turn,
            removed: removed.clone(),
            surviving,
            reason: params.reason.unwrap_or_default(),
        });
        let rebuilt = self.begin_anew_with((fact, None), origin, "its thread is rolled back").await?;
        let continuity = if surviving > 0 { Continuity::Partial } else { Continuity::None };
        Ok(RolledBack { removed, surviving, rebuilt, continuity })
    }

    /// Makes what changes a thread's history durable together with the end of the epoch whose program remembers the
    /// former one.
    pub(super) async fn begin_anew_with(
        &mut self,
        (fact, body): (Fact, Option<Vec<u8>>),
        origin: &Origin,
        why: &str,
    ) -> Result<ContextRebuilt, RpcError> {
        let has_epoch = self.live.is_some();
        let state = self.life.state();
        let is_ending =
            matches!(state, State::Stopping { .. } | State::Unobservable { stopping: Some(_), .. });
        self.shared.failpoint("rollback.before");
        if has_epoch && !is_ending {
            let ahead = Ahead { facts: vec![fact], body };
            self.apply_with(ahead, Input::Restart(Cause::Request), origin, why).await?;
            self.shared.failpoint("rollback.after");
            self.publish();
            return Ok(ContextRebuilt::Now);
        }
        self.note_history((fact, body), origin).await
    }

    /// Makes what changes a thread's history durable; a program that lives remembers the former one until its end.
    pub(super) async fn note_history(
        &self,
        (fact, body): (Fact, Option<Vec<u8>>),
        origin: &Origin,
    ) -> Result<ContextRebuilt, RpcError> {
        let mut draft = Draft::default();
        if let Some(body) = body {
            draft.body(body);
        }
        self.shared.record.add(&mut draft, self.stream(), origin, fact);
        self.shared.record.commit(draft).await.map_err(|error| refused(&error))?;
        self.shared.failpoint("rollback.after");
        Ok(ContextRebuilt::AtNextStart)
    }

    pub(super) fn own_thread(&self, id: ThreadId) -> Result<ThreadRow, RpcError> {
        let row = self.shared.record.look_up(|reader| reader.thread(&id))?;
        let own = row.filter(|row| row.agent == self.identity.id);
        own.ok_or_else(|| RpcError::new(ErrorName::NotFound, format!("no thread {id}")))
    }

    pub(super) fn check_no_turn(&self, interrupt: bool) -> Result<(), RpcError> {
        let busy_with = self.delivery.turns.running().or(self.delivery.in_flight());
        let Some(running) = busy_with.filter(|_| !interrupt) else { return Ok(()) };
        let what = format!("turn {} runs, and would be cut short", turn_of(running));
        Err(RpcError::new(ErrorName::InvalidState, what).hint("wait for its end, or say `interrupt: true`"))
    }

    /// The turns of a thread's history behind one of them, oldest first.
    fn turns_behind(&self, thread: &ThreadRow, to_turn: Option<TurnId>) -> Result<Vec<TurnId>, RpcError> {
        let mut cursor = match to_turn {
            Some(turn) => self.surviving_turn(thread, turn)?.accepted_pos,
            None => 0,
        };
        let (of, mut found, mut passed) = (turns_of(thread), Vec::new(), 0);
        loop {
            let page = self.shared.record.look_up(|reader| {
                let page = reader.turns_in(of, Order::Oldest, PAGE, cursor)?;
                let mut kept = Vec::with_capacity(page.len());
                for row in &page {
                    let is_removed = reader.removed_turn(&turn_of(row.envelope.id))?.is_some();
                    if was_given(row) && !is_removed {
                        kept.push(turn_of(row.envelope.id));
                    }
                }
                Ok((kept, page.len(), page.last().map(|row| row.accepted_pos)))
            })?;
            let (kept, read, last) = page;
            found.extend(kept);
            passed += read;
            if found.len() > ROLLBACK_MAX || passed > PASSED_MAX {
                let what = format!("more than {ROLLBACK_MAX} turns are behind it");
                return Err(RpcError::new(ErrorName::TooLarge, what)
                    .hint("roll back in steps, from the newest turn on"));
            }
            match last {
                Some(last) if read == PAGE => cursor = last,
                _ => return Ok(found),
            }
        }
    }

    /// A turn of a thread that its program was given and that is part of its history.
    pub(super) fn surviving_turn(&self, thread: &ThreadRow, turn: TurnId) -> Result<MessageRow, RpcError> {
        let id = message_of(turn);
        let row = self.shared.record.look_up(|reader| reader.message(&id))?;
        let own = row.filter(|row| row.envelope.target == thread.agent && row.envelope.into_turn.is_none());
        let is_main = |row: &MessageRow| row.envelope.thread.is_none() && thread.is_main;
        let of_thread = own.filter(|row| row.envelope.thread == Some(thread.id) || is_main(row));
        let Some(row) = of_thread else {
            return Err(RpcError::new(
                ErrorName::NotFound,
                format!("no turn {turn} in thread {}", thread.id),
            ));
        };
        let removed = self.shared.record.look_up(|reader| reader.removed_turn(&turn))?;
        if removed.is_some() || !was_given(&row) {
            let why = if removed.is_some() { "was rolled back" } else { "has not begun" };
            return Err(RpcError::new(ErrorName::InvalidState, format!("turn {turn} {why}")));
        }
        Ok(row)
    }
}

/// Refuses a change of something that has changed since it was read.
pub(crate) fn check_version(thread: &ThreadRow, if_version: Option<u64>) -> Result<(), RpcError> {
    match if_version {
        Some(wanted) if wanted != thread.version => Err(RpcError::new(
            ErrorName::VersionConflict,
            format!("thread {} is at version {}, not {wanted}", thread.id, thread.version),
        )),
        _ => Ok(()),
    }
}

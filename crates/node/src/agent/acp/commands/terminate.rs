//! Ending a command because somebody asks for it: first the wish in the record, then the process.
//!
//! The shim ends a command at once. Who grants it a grace gets it asked by signal first; a daemon that dies meanwhile
//! leaves the wish, and the next one ends it.

use std::time::Duration;

use edgeplane_types::{ErrorName, Fact, ProcessId};
use edgeplane_wire::rpc::RpcError;

use super::{Actor, Part, commands};
use crate::{
    agent::Command,
    record::{Draft, Origin, refused},
};

impl Actor {
    /// Makes it durable that a command is to end, and ends it, or asks it to and ends it after a grace.
    pub(in crate::agent) async fn terminate(
        &mut self,
        id: ProcessId,
        (grace_ms, reason): (u64, String),
        origin: &Origin,
    ) -> Result<(), RpcError> {
        // What came of it before may be its end.
        self.acp_flush().await;
        let row = self.shared.record.look_up(|reader| reader.command(&id))?;
        if row.is_some_and(|row| row.is_over) || self.open_command(id).is_some_and(|open| open.end.is_some())
        {
            return Err(RpcError::new(ErrorName::InvalidState, format!("process {id} has ended")));
        }
        let is_linked = self.live.as_ref().is_some_and(|live| live.link.is_some());
        let Some(epoch) = self.live.as_ref().map(|live| live.place.epoch).filter(|_| is_linked) else {
            return Err(out_of_reach(id));
        };
        if self.open_command(id).is_none() || row.is_some_and(|row| row.epoch != epoch) {
            return Err(out_of_reach(id));
        }
        let mut draft = Draft::default();
        let fact = Fact::CommandTerminating { process_id: id, epoch, grace_ms, reason };
        self.shared.record.add(&mut draft, self.stream(), origin, fact);
        self.shared.record.commit(draft.critical()).await.map_err(|error| refused(&error))?;
        self.shared.failpoint("terminate.noted");
        let dir = self.live.as_ref().map(|live| live.place.dir.clone());
        let seen = dir.and_then(|dir| commands::look(&dir, id, Part::Last(0)).ok().flatten());
        let is_asked = grace_ms > 0 && seen.is_some_and(|seen| seen.ask_to_end());
        if !is_asked {
            self.end_command(id);
            return Ok(());
        }
        let Some(own) = self.shared.agent_by_id(self.identity.id) else { return Ok(()) };
        let stopping = self.shared.stopping.clone();
        self.shared.tasks.spawn(async move {
            tokio::select! {
                // The next daemon ends it.
                () = stopping.cancelled() => {}
                () = tokio::time::sleep(Duration::from_millis(grace_ms)) => {
                    // An engine that is gone has no command that runs.
                    drop(own.hand(Command::EndProcess(id)).await);
                }
            }
        });
        Ok(())
    }

    /// The grace of a command is over.
    pub(in crate::agent) fn grace_is_over(&mut self, id: ProcessId) {
        self.end_command(id);
    }
}

fn out_of_reach(id: ProcessId) -> RpcError {
    RpcError::new(ErrorName::Unavailable, format!("process {id} cannot be reached: its shim does not answer"))
        .hint("what becomes of it is recorded as `command.ended` when its epoch is seen to be over")
}

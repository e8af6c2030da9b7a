//! Writing to a command: the wish in the record, then the frame, then what became of it.
//!
//! An input has an id, and the shim writes under one id once. A daemon that dies in between leaves the wish; whoever asks
//! under the same id again has it written then, or hears that it was. What is written is in no record.

use std::collections::BTreeMap;

use edgeplane_manifest::Driver;
use edgeplane_store::{CommandInputRow, StoredBody};
use edgeplane_types::{
    Epoch, ErrorName, Fact, InputId, ProcessId,
    error::Effect,
    fact::{CommandInputAccepted, CommandInputSettled, InputFate},
};
use edgeplane_wire::{
    rpc::RpcError,
    shim::{COMMAND_INPUT_SINCE, InputOutcome, ToShim},
};
use serde_json::Value;
use tokio::sync::oneshot;

use super::{Actor, RULE};
use crate::record::{Draft, Origin, refused};

/// Inputs of one agent of which somebody waits to hear; one more is refused.
const WAITS_MAX: usize = 256;

/// Who is told what became of an input.
pub(crate) type Reply = oneshot::Sender<Result<InputFate, RpcError>>;

/// Who waits for what becomes of which input of which command.
pub(super) type Writes = BTreeMap<(ProcessId, InputId), Vec<Reply>>;

/// Something to write to a command.
#[derive(Debug)]
pub(crate) struct WantedInput {
    pub(crate) process_id: ProcessId,
    pub(crate) input_id: InputId,
    pub(crate) bytes: Vec<u8>,
    pub(crate) digest: String,
    pub(crate) closes: bool,
}

impl Actor {
    /// Whether its commands get an input: the manifest says so, and the epoch's shim can.
    pub(super) fn gives_input(&self) -> bool {
        let is_wanted = matches!(self.manifest.spec.driver, Driver::Acp { command_input: true, .. });
        let can = self.live.as_ref().is_some_and(|live| live.shim_version >= COMMAND_INPUT_SINCE);
        is_wanted && can
    }

    /// Whether a command of a former daemon was given an input.
    pub(super) fn had_input(&self, id: ProcessId) -> bool {
        let details = self.shared.record.look_up(|reader| {
            let Some(story) = reader.command_story(&id)? else { return Ok(None) };
            let Fact::CommandStarted { details_digest, .. } = &story.started.fact else { return Ok(None) };
            details_digest.parse().map_or(Ok(None), |digest| reader.body(&digest))
        });
        match details {
            Ok(Some(StoredBody::Bytes(bytes))) => {
                let details: Value = serde_json::from_slice(&bytes).unwrap_or_default();
                details["input"] == true
            }
            _ => false,
        }
    }

    /// Has something written to a command; whoever asks is told when it is known what became of it.
    pub(in crate::agent) async fn write_command(
        &mut self,
        wanted: WantedInput,
        origin: &Origin,
        reply: Reply,
    ) {
        self.forget_waits();
        match self.begin_input(wanted, origin).await {
            Ok(Begun::Settled(fate)) => drop(reply.send(Ok(fate))),
            Ok(Begun::Waiting(key)) => {
                if let Some(acp) = self.acp_mut() {
                    acp.commands.writes.entry(key).or_default().push(reply);
                }
            }
            Err(error) => drop(reply.send(Err(error))),
        }
    }

    async fn begin_input(&mut self, wanted: WantedInput, origin: &Origin) -> Result<Begun, RpcError> {
        let WantedInput { process_id, input_id, bytes, digest, closes } = wanted;
        // What came of it before may be its end.
        self.acp_flush().await;
        let before = self.shared.record.look_up(|reader| reader.command_input(&process_id, &input_id))?;
        if let Some(row) = &before {
            same(row, (&digest, closes), input_id)?;
            if let Some(fate @ (InputFate::Written | InputFate::Closed)) = row.fate {
                return Ok(Begun::Settled(fate));
            }
        }
        let epoch = self.check_open(process_id)?;
        if self.acp().is_some_and(|acp| acp.commands.writes.len() >= WAITS_MAX) {
            let what = format!("{WAITS_MAX} inputs of this agent wait to be read");
            return Err(RpcError::new(ErrorName::Backpressure, what));
        }
        if before.is_none() {
            let mut draft = Draft::default();
            let input_bytes = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
            let fact = Fact::CommandInputAccepted(CommandInputAccepted {
                process_id,
                epoch,
                input_id,
                input_bytes,
                input_digest: digest,
                closes,
            });
            self.shared.record.add(&mut draft, self.stream(), origin, fact);
            self.shared.record.commit(draft).await.map_err(|error| refused(&error))?;
        }
        self.shared.failpoint("input.accepted");
        if let Some(link) = self.live.as_mut().and_then(|live| live.link.as_mut()) {
            let (id, input) = (*process_id.as_bytes(), *input_id.as_bytes());
            link.send(&ToShim::CommandInput { id, input, closes, bytes: &bytes });
        }
        Ok(Begun::Waiting((process_id, input_id)))
    }

    /// The epoch of a command that can be written to now.
    fn check_open(&self, id: ProcessId) -> Result<Epoch, RpcError> {
        let row = self.shared.record.look_up(|reader| reader.command(&id))?;
        let has_ended = self.open_command(id).is_some_and(|open| open.end.is_some());
        if has_ended || row.is_some_and(|row| row.is_over) {
            return Err(RpcError::new(ErrorName::InvalidState, format!("process {id} has ended")));
        }
        let linked = self.live.as_ref().filter(|live| live.link.is_some());
        let Some(live) = linked.filter(|live| row.is_none_or(|row| row.epoch == live.place.epoch)) else {
            return Err(out_of_reach(id));
        };
        check_version(live.shim_version)?;
        match self.open_command(id) {
            Some(open) if open.has_input => Ok(live.place.epoch),
            Some(_) => Err(RpcError::new(ErrorName::InvalidState, format!("the input of process {id} is empty"))
                .hint("declare its agent with `driver.commandInput: true`: commands begun after that can be written to")),
            None => Err(out_of_reach(id)),
        }
    }

    /// The shim says what became of an input.
    pub(in crate::agent) async fn command_input_done(
        &mut self,
        (id, input): ([u8; 16], [u8; 16]),
        outcome: InputOutcome,
    ) {
        let (process_id, input_id) = (ProcessId::from_bytes(id), InputId::from_bytes(input));
        let fate = match outcome {
            InputOutcome::Written | InputOutcome::Duplicate => InputFate::Written,
            InputOutcome::Full => InputFate::Refused,
            InputOutcome::Closed | InputOutcome::Unknown | InputOutcome::LineTooLong => InputFate::Closed,
            InputOutcome::Queued => return,
        };
        let before = self.shared.record.look_up(|reader| reader.command_input(&process_id, &input_id));
        let is_news = before
            .is_ok_and(|row| row.is_some_and(|row| row.fate.is_none_or(|fate| fate == InputFate::Refused)));
        if let Some(epoch) = self.live.as_ref().map(|live| live.place.epoch).filter(|_| is_news) {
            let mut draft = Draft::default();
            let end = CommandInputSettled { process_id, epoch, input_id, fate };
            let fact = Fact::CommandInputSettled(end);
            self.shared.record.add(&mut draft, self.stream(), &Origin::node(RULE), fact);
            self.pending(draft).await;
        }
        let waiting = self.acp_mut().and_then(|acp| acp.commands.writes.remove(&(process_id, input_id)));
        for reply in waiting.into_iter().flatten() {
            // Who waits no longer reads it in the record.
            drop(reply.send(Ok(fate)));
        }
    }

    /// Nobody waits any longer for what becomes of an input.
    fn forget_waits(&mut self) {
        if let Some(acp) = self.acp_mut() {
            for replies in acp.commands.writes.values_mut() {
                replies.retain(|reply| !reply.is_closed());
            }
            acp.commands.writes.retain(|_, replies| !replies.is_empty());
        }
    }
}

/// How far an input is.
enum Begun {
    Settled(InputFate),
    Waiting((ProcessId, InputId)),
}

/// Refuses something else under an id that was used.
fn same(row: &CommandInputRow, wanted: (&str, bool), id: InputId) -> Result<(), RpcError> {
    if (row.digest.as_str(), row.closes) == wanted {
        return Ok(());
    }
    let what = format!("`input_id`: {id} was used for something else");
    Err(RpcError::new(ErrorName::IdempotencyMismatch, what).hint("give each input an id of its own"))
}

/// Refuses to write where the shim is of a release that cannot.
fn check_version(version: u16) -> Result<(), RpcError> {
    if version >= COMMAND_INPUT_SINCE {
        return Ok(());
    }
    let what = "the shim of this epoch is of a release that writes to no process";
    Err(RpcError::new(ErrorName::Unsupported, what)
        .hint("restart the agent with `edgeplane agent restart`: its next epoch has a newer one"))
}

fn out_of_reach(id: ProcessId) -> RpcError {
    RpcError::new(ErrorName::Unavailable, format!("process {id} cannot be reached: its shim does not answer"))
        .effect(Effect::None)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves MACH-010.
    #[test]
    fn a_shim_of_an_older_release_is_not_written_to() {
        for version in 1..COMMAND_INPUT_SINCE {
            let error = check_version(version).unwrap_err();
            assert_eq!(error.name(), ErrorName::Unsupported);
            assert!(error.data.hint.unwrap().contains("agent restart"));
        }
        assert!(check_version(COMMAND_INPUT_SINCE).is_ok());
    }
}

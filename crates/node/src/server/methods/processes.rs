//! Processes that agents' programs had the node run: looked at, and ended.

use std::time::Duration;

use base64::Engine as _;
use edgeplane_store::{CommandStory, StoredBody};
use edgeplane_types::{
    AgentId, Epoch, ErrorName, Event, Fact, Phase, ProcessId, TurnId, error::Effect, fact::InputFate,
    life::ExitStatus,
};
use edgeplane_wire::{
    api::machine::{
        AgentProcess, ListProcessesParams, PROCESS_READ_BYTES, ProcessBytes, ProcessInput,
        ProcessInputStatus, ProcessOutput, ProcessParams, ProcessStatus, ProcessesResult, ReadProcessParams,
        TerminateParams, Truncation, WriteProcessParams, WriteProcessResult,
    },
    command::COMMAND_INPUT_BYTES_MAX,
    rpc::RpcError,
};
use serde_json::Value;
use tokio::sync::broadcast::error::RecvError;

use super::{Session, check_owner, terminals::agent_id};
use crate::{
    agent::{Command, WantedInput, is_unseen},
    commands::{self, Part, Seen},
    record::Origin,
    server::dispatch::decoded,
};

/// Processes that one list looks at, and where nobody says how many.
const ROWS_MAX: u32 = 500;
const ROWS_STANDARD: u32 = 50;

/// Bytes of output that are shown from each side, and where nobody says how many.
const SHOWN_BYTES_MAX: u32 = 65_536;
const SHOWN_BYTES_STANDARD: u32 = 4_096;

/// Letters of program and arguments that are shown.
const COMMAND_CHARS: usize = 500;

/// Longest grace of a process that is to end, in milliseconds.
const GRACE_MS_MAX: u64 = 60 * 60 * 1_000;

/// How long the end of a process is waited for, beyond its grace.
const END_TIME_MAX: Duration = Duration::from_secs(5);

/// How long an answer waits for a process to read, where nobody says.
const INPUT_TIME: Duration = Duration::from_secs(5);

/// Longest such wait in milliseconds.
const WAIT_MS_MAX: u64 = 10 * 60 * 1_000;

/// Longest reason for ending a process, in bytes.
const REASON_BYTES_MAX: usize = 1_024;

pub(in crate::server) async fn list(
    session: &Session,
    params: ListProcessesParams,
) -> Result<ProcessesResult, RpcError> {
    let id = agent_id(session, &params.agent)?;
    check_owner(session, id)?;
    let before =
        params.cursor.as_deref().map(str::parse::<u64>).transpose().map_err(|_bad| {
            RpcError::new(ErrorName::InvalidParams, "`cursor` is none that a list gave out")
        })?;
    let rows = params.limit.unwrap_or(ROWS_STANDARD).clamp(1, ROWS_MAX);
    let rows = usize::try_from(rows).unwrap_or(1);
    let stories = session.shared.record.read(move |reader| reader.command_stories(&id, rows, before)).await?;
    let more = (stories.len() == rows).then(|| stories.last().map(|story| story.pos.to_string())).flatten();
    let mut items = Vec::with_capacity(stories.len());
    for story in stories {
        items.push(view(session, &story).await?);
    }
    items.retain(|item| params.status.is_none_or(|wanted| item.status == wanted));
    Ok(ProcessesResult { items, next_cursor: more })
}

pub(in crate::server) async fn get(
    session: &Session,
    params: ProcessParams,
) -> Result<AgentProcess, RpcError> {
    let story = found(session, params.process_id).await?;
    let shown = params.output_bytes.unwrap_or(SHOWN_BYTES_STANDARD).min(SHOWN_BYTES_MAX);
    let mut view = view(session, &story).await?;
    view.output = output(session, &story, usize::try_from(shown).unwrap_or(0)).await?;
    Ok(view)
}

/// Gives a part of what a process wrote, as far as that is kept.
pub(in crate::server) async fn read(
    session: &Session,
    params: ReadProcessParams,
) -> Result<ProcessBytes, RpcError> {
    let story = found(session, params.process_id).await?;
    let Fact::CommandStarted { process_id, epoch, .. } = &story.started.fact else {
        return Err(RpcError::new(ErrorName::RecordDamaged, "a process begins with another event"));
    };
    let (standard, most) = PROCESS_READ_BYTES;
    let bytes_max = usize::try_from(params.bytes_max.unwrap_or(standard).clamp(1, most)).unwrap_or(1);
    let part = Part::From(params.from, bytes_max);
    let (output, from, end) = match &story.ended {
        Some(Event { fact: Fact::CommandEnded { output_digest, written_bytes, .. }, .. }) => {
            let kept = body(session, output_digest).await?.unwrap_or_default();
            part_of(&kept, *written_bytes, params.from, bytes_max)
        }
        _ => match look(session, &story, (*process_id, *epoch), part).await {
            Some(seen) => (seen.output, seen.from, false),
            None => (Vec::new(), params.from, false),
        },
    };
    let next = from.saturating_add(u64::try_from(output.len()).unwrap_or(0));
    let (status, _, _) = how_it_is(session, &story, *epoch);
    let data = base64::engine::general_purpose::STANDARD.encode(output);
    Ok(ProcessBytes { process_id: *process_id, status, from, next, data, end })
}

/// The bytes from an offset on, of an output of which the end is kept; where they begin, and whether they are the last.
fn part_of(kept: &[u8], written: u64, from: u64, bytes_max: usize) -> (Vec<u8>, u64, bool) {
    let kept_from = written.saturating_sub(u64::try_from(kept.len()).unwrap_or(u64::MAX));
    let from = from.clamp(kept_from, written);
    let at = usize::try_from(from.saturating_sub(kept_from)).unwrap_or(usize::MAX);
    let rest = kept.get(at..).unwrap_or_default();
    let given = rest.get(..bytes_max.min(rest.len())).unwrap_or_default();
    (given.to_vec(), from, given.len() == rest.len())
}

pub(in crate::server) async fn terminate(
    session: &Session,
    params: TerminateParams,
) -> Result<AgentProcess, RpcError> {
    let id = params.process_id;
    let story = found(session, id).await?;
    if story.ended.is_some() {
        return Err(RpcError::new(ErrorName::InvalidState, format!("process {id} has ended")));
    }
    let reason = params.reason.unwrap_or_default();
    if reason.len() > REASON_BYTES_MAX {
        let what = format!("`reason` is longer than {REASON_BYTES_MAX} bytes");
        return Err(RpcError::new(ErrorName::InvalidParams, what));
    }
    let grace_ms = params.grace_ms.unwrap_or(0).min(GRACE_MS_MAX);
    let gone = || RpcError::new(ErrorName::Unavailable, format!("the agent of process {id} is gone"));
    let agent = session.shared.agent_by_id(story.agent).ok_or_else(gone)?;
    // From before it is asked, so that its end cannot be missed.
    let mut follower = session.shared.record.follow();
    let origin = Origin::actor(session.caller.actor());
    agent.ask(|reply| Command::Terminate(id, (grace_ms, reason), origin, reply)).await??;
    let ended = async {
        loop {
            match follower.recv().await {
                Ok(committed) => {
                    let fact = &committed.event.fact;
                    if matches!(fact, Fact::CommandEnded { process_id, .. } if *process_id == id) {
                        return;
                    }
                }
                // What was missed may have been its end; what the record says is the answer.
                Err(RecvError::Lagged(_)) => {
                    let row = session.shared.record.look_up(|reader| reader.command(&id));
                    if row.is_ok_and(|row| row.is_some_and(|row| row.is_over)) {
                        return;
                    }
                }
                Err(RecvError::Closed) => return,
            }
        }
    };
    // It is ended, however long that takes: who waits is told how far it is.
    drop(tokio::time::timeout(Duration::from_millis(grace_ms).saturating_add(END_TIME_MAX), ended).await);
    let story = found(session, id).await?;
    view(session, &story).await
}

/// Has something written to a process, once per id.
pub(in crate::server) async fn write(
    session: &Session,
    params: WriteProcessParams,
) -> Result<WriteProcessResult, RpcError> {
    let WriteProcessParams { process_id, text, data, close, input_id, wait_ms } = params;
    let bytes = match (text, data) {
        (Some(text), None) => text.into_bytes(),
        (None, Some(data)) => decoded(&data)?,
        (None, None) if close => Vec::new(),
        (None, None) | (Some(_), Some(_)) => {
            let what = "one of `text` and `data` says what to write; with `close` neither need";
            return Err(RpcError::new(ErrorName::InvalidParams, what));
        }
    };
    if bytes.len() > COMMAND_INPUT_BYTES_MAX {
        let what = format!("{} bytes to write, more than {COMMAND_INPUT_BYTES_MAX}", bytes.len());
        return Err(RpcError::new(ErrorName::TooLarge, what).hint("write it in parts"));
    }
    let story = found(session, process_id).await?;
    if story.ended.is_some() && input_id.is_none() {
        return Err(RpcError::new(ErrorName::InvalidState, format!("process {process_id} has ended")));
    }
    let gone = || RpcError::new(ErrorName::Unavailable, format!("the agent of process {process_id} is gone"));
    let agent = session.shared.agent_by_id(story.agent).ok_or_else(gone)?;
    let input_id = input_id.unwrap_or_else(|| session.shared.record.mint().id());
    let input_bytes = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    let input_digest = edgeplane_proof::digest(&bytes).to_string();
    let digest = input_digest.clone();
    let wanted = WantedInput { process_id, input_id, bytes, digest, closes: close };
    let origin = Origin::actor(session.caller.actor());
    session.effect.notify_one();
    let asked = agent.ask(|reply| Command::WriteProcess(wanted, origin, reply));
    let wait = wait_ms.map_or(INPUT_TIME, |ms| Duration::from_millis(ms.min(WAIT_MS_MAX)));
    let status = match tokio::time::timeout(wait, asked).await {
        // Of what was handed over nobody knows any more whether it was written.
        Ok(fate) => match fate.map_err(|gone| gone.effect(Effect::Unknown))?? {
            InputFate::Written => ProcessInputStatus::Written,
            InputFate::Closed => {
                let what = format!("process {process_id} does not read any more");
                return Err(RpcError::new(ErrorName::InvalidState, what));
            }
            InputFate::Refused => {
                let what = format!("process {process_id} does not read: as much as may waits already");
                return Err(RpcError::new(ErrorName::Backpressure, what));
            }
        },
        Err(_later) => ProcessInputStatus::Queued,
    };
    Ok(WriteProcessResult { process_id, input_id, status, input_bytes, input_digest })
}

/// A process that the caller may know of; one of another agent is not there.
async fn found(session: &Session, id: ProcessId) -> Result<CommandStory, RpcError> {
    let story = session.shared.record.read(move |reader| reader.command_story(&id)).await?;
    let unknown = || {
        RpcError::new(ErrorName::NotFound, format!("no process {id}"))
            .hint("`runtime/process.list` shows the processes of an agent")
    };
    story.filter(|story| check_owner(session, story.agent).is_ok()).ok_or_else(unknown)
}

async fn view(session: &Session, story: &CommandStory) -> Result<AgentProcess, RpcError> {
    let Fact::CommandStarted { process_id, epoch, message_id, authority, details_digest, .. } =
        &story.started.fact
    else {
        return Err(RpcError::new(ErrorName::RecordDamaged, "a process begins with another event"));
    };
    let details = body(session, details_digest).await?;
    let details: Value = details.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
    let words = |name: &str| -> Vec<String> {
        let list = details.get(name).and_then(Value::as_array).into_iter().flatten();
        list.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let text = |name: &str| details.get(name).and_then(Value::as_str).unwrap_or("unavailable").to_owned();
    let command: String = std::iter::once(text("command")).chain(words("args")).collect::<Vec<_>>().join(" ");
    let (status, exit, reason) = how_it_is(session, story, *epoch);
    let agent = session.shared.agent_by_id(story.agent).map(|agent| agent.name.to_string());
    Ok(AgentProcess {
        process_id: *process_id,
        agent: agent.unwrap_or_else(|| story.agent.to_string()),
        agent_id: story.agent,
        epoch: *epoch,
        status,
        command: command.chars().take(COMMAND_CHARS).collect(),
        cwd: text("cwd"),
        variables: words("env"),
        authority: *authority,
        message_id: *message_id,
        turn_id: message_id.map(|id| TurnId::from_bytes(*id.as_bytes())),
        started_at: story.started.ts,
        ended_at: story.ended.as_ref().map(|event| event.ts),
        exit,
        reason,
        terminating: story.is_terminating && story.ended.is_none(),
        input: (details["input"] == true).then(|| ProcessInput {
            writes: story.inputs,
            written_bytes: story.input_bytes,
            closed: story.input_closed || story.ended.is_some(),
        }),
        output: None,
    })
}

fn how_it_is(
    session: &Session,
    story: &CommandStory,
    epoch: Epoch,
) -> (ProcessStatus, Option<ExitStatus>, Option<String>) {
    if let Some(Event { fact: Fact::CommandEnded { status, reason, .. }, .. }) = &story.ended {
        let word = match reason {
            Some(why) if is_unseen(why) => ProcessStatus::Unknown,
            Some(_) => ProcessStatus::Failed,
            None => ProcessStatus::Exited,
        };
        return (word, Some(*status), reason.clone());
    }
    let summary = session.shared.agent_by_id(story.agent).map(|agent| agent.summary.borrow().clone());
    let word = match summary.filter(|summary| summary.epoch == epoch).map(|summary| summary.phase) {
        Some(Phase::Running | Phase::Stopping) => ProcessStatus::Running,
        Some(Phase::Frozen) => ProcessStatus::Idle,
        _ => ProcessStatus::Unknown,
    };
    (word, None, None)
}

async fn body(session: &Session, digest: &str) -> Result<Option<Vec<u8>>, RpcError> {
    let Ok(digest) = digest.parse() else { return Ok(None) };
    let stored = session.shared.record.read(move |reader| reader.body(&digest)).await?;
    Ok(match stored {
        Some(StoredBody::Bytes(bytes)) => Some(bytes),
        Some(StoredBody::Erased { .. }) | None => None,
    })
}

async fn output(
    session: &Session,
    story: &CommandStory,
    shown: usize,
) -> Result<Option<ProcessOutput>, RpcError> {
    match &story.ended {
        Some(Event { fact: Fact::CommandEnded { output_digest, written_bytes, .. }, .. }) => {
            let Some(kept) = body(session, output_digest).await? else { return Ok(None) };
            Ok(Some(ProcessOutput {
                digest: Some(output_digest.clone()),
                ..sides(&kept, *written_bytes, shown)
            }))
        }
        _ => {
            let Fact::CommandStarted { process_id, epoch, .. } = &story.started.fact else { return Ok(None) };
            let seen = look(session, story, (*process_id, *epoch), Part::Kept).await;
            Ok(seen.map(|seen| sides(&seen.output, seen.written, shown)))
        }
    }
}

/// What the file of a process says, if there is one still.
async fn look(
    session: &Session,
    story: &CommandStory,
    (id, epoch): (ProcessId, Epoch),
    part: Part,
) -> Option<Seen> {
    let dir = epoch_dir(session, story.agent, epoch);
    let seen = tokio::task::spawn_blocking(move || commands::look(&dir, id, part)).await;
    seen.ok().and_then(Result::ok).flatten()
}

fn epoch_dir(session: &Session, agent: AgentId, epoch: Epoch) -> std::path::PathBuf {
    crate::recordings::epoch_dir(&session.shared.agents_dir(), &agent.to_string(), epoch)
}

/// The beginning and the end of an output of which the end is kept.
fn sides(kept: &[u8], written: u64, shown: usize) -> ProcessOutput {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let count = u64::try_from(kept.len()).unwrap_or(u64::MAX);
    let is_whole = count >= written;
    let end = kept.get(kept.len().saturating_sub(shown)..).unwrap_or_default();
    let (head, tail, truncation) = match is_whole {
        true if kept.len() <= shown.saturating_mul(2) => (text(kept), String::new(), Truncation::None),
        true => (text(kept.get(..shown).unwrap_or_default()), text(end), Truncation::Middle),
        false => (String::new(), text(end), Truncation::Head),
    };
    ProcessOutput {
        head,
        tail,
        truncation,
        written_bytes: written,
        kept_bytes: count,
        kept_from: written.saturating_sub(count),
        digest: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves MACH-003, MACH-011.
    #[test]
    fn what_is_missing_of_an_output_is_said() {
        let all = sides(b"abcdef", 6, 3);
        assert_eq!((all.head.as_str(), all.tail.as_str(), all.truncation), ("abcdef", "", Truncation::None));
        let middle = sides(b"abcdefg", 7, 3);
        let found = (middle.head.as_str(), middle.tail.as_str(), middle.truncation);
        assert_eq!(found, ("abc", "efg", Truncation::Middle));
        let part = |from, bytes_max| part_of(b"abcdefg", 100, from, bytes_max);
        assert_eq!(part(0, 3), (b"abc".to_vec(), 93, false));
        assert_eq!(part(96, 3), (b"def".to_vec(), 96, false));
        assert_eq!(part(99, 3), (b"g".to_vec(), 99, true));
        assert_eq!(part(u64::MAX, 3), (Vec::new(), 100, true));
        let head = sides(b"abcdefg", 100, 3);
        assert_eq!((head.head.as_str(), head.tail.as_str(), head.truncation), ("", "efg", Truncation::Head));
        assert_eq!((head.kept_bytes, head.written_bytes, head.kept_from), (7, 100, 93));
    }
}

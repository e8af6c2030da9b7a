//! What one event says in a transcript.

use edgeplane_driver::render::{self, Attempt, Bounds};
use edgeplane_store::{ReadError, Reader, StoredBody};
use edgeplane_types::fact::{FileWritten, UsageReported};
use edgeplane_types::{
    ActionId, Continuity, Epoch, Event, Fact, MessageId, Part, SafeLabel, Timestamp, decision::Verdict,
    life::ExitStatus,
};
use edgeplane_wire::api::report::{Spoken, TranscriptEntry};
use serde::Serialize;
use serde_json::{Value, json};

use super::shorten::shorten;

/// Longest text of one entry in bytes. A long message says how to read all of it.
pub(super) const TEXT_BYTES_MAX: usize = 16 << 10;

/// Pieces whose body is a text; the others are values.
const TEXTS: [&str; 2] = ["text", "thought"];

/// An entry that says nothing yet.
pub(super) fn blank(seq: u64, at: Timestamp, epoch: Epoch, spoken: Spoken) -> TranscriptEntry {
    TranscriptEntry {
        seq,
        at,
        epoch,
        spoken,
        kind: None,
        message_id: None,
        turn_id: None,
        item_id: None,
        action_id: None,
        status: None,
        authority: None,
        text: None,
        data: None,
        is_cut: false,
    }
}

/// Bytes that an entry holds.
pub(super) fn bytes(entry: &TranscriptEntry) -> usize {
    let data = entry.data.as_ref().map_or(0, |data| data.to_string().len());
    entry.text.as_ref().map_or(0, String::len).saturating_add(data)
}

/// What an event says, if it says something.
pub(super) fn of(reader: &Reader, event: &Event) -> Result<Option<TranscriptEntry>, ReadError> {
    let told = |epoch: &Epoch, spoken| blank(event.seq, event.ts, *epoch, spoken);
    let entry = match &event.fact {
        Fact::MessageInjected { message_id, epoch, .. } => {
            message(reader, message_id, told(epoch, Spoken::Message))?
        }
        Fact::TurnCompleted { turn_id, epoch, message_id, output_digest, authority, outcome, .. } => {
            let (text, is_cut) = text(reader, output_digest)?;
            let (turn_id, status) = (Some(*turn_id), outcome.clone());
            let (message_id, authority) = (*message_id, *authority);
            let entry = told(epoch, Spoken::Turn);
            TranscriptEntry { message_id, turn_id, status, authority, text, is_cut, ..entry }
        }
        Fact::ItemReported { epoch, kind, body_digest, message_id, authority, .. } => {
            let (text, is_cut) = text(reader, body_digest)?;
            let (message_id, authority, kind) = (*message_id, *authority, Some(kind.clone()));
            TranscriptEntry { kind, message_id, authority, text, is_cut, ..told(epoch, Spoken::Item) }
        }
        Fact::ItemUpdated { epoch, item_id, kind, status, body_digest, message_id, authority, .. } => {
            let entry = TranscriptEntry {
                kind: Some(kind.clone()),
                message_id: *message_id,
                item_id: Some(*item_id),
                status: status.clone(),
                authority: *authority,
                ..told(epoch, Spoken::Piece)
            };
            piece(reader, body_digest, entry)?
        }
        Fact::UsageReported(UsageReported { epoch, message_id, .. }) => {
            let mut data = payload(&event.fact);
            for known in ["epoch", "message_id"] {
                data.as_object_mut().and_then(|fields| fields.remove(known));
            }
            TranscriptEntry { message_id: *message_id, data: Some(data), ..told(epoch, Spoken::Usage) }
        }
        Fact::FileWritten(FileWritten { epoch, path, digest, bytes, message_id }) => {
            let data = Some(json!({ "path": path, "bytes": bytes, "digest": digest }));
            TranscriptEntry { data, message_id: *message_id, ..told(epoch, Spoken::File) }
        }
        Fact::CommandStarted { .. } | Fact::CommandEnded { .. } => return command(reader, event),
        Fact::ActionOpened { .. } | Fact::ActionVoted { .. } | Fact::ActionResolved { .. } => {
            return action(reader, event);
        }
        fact => return life(reader, fact, told),
    };
    Ok(Some(entry))
}

/// A command that began or ended.
fn command(reader: &Reader, event: &Event) -> Result<Option<TranscriptEntry>, ReadError> {
    Ok(match &event.fact {
        Fact::CommandStarted { process_id, epoch, message_id, authority, details_digest, .. } => {
            let details = body(reader, details_digest)?.and_then(|bytes| serde_json::from_slice(&bytes).ok());
            let (mut data, is_cut) = shorten(details.unwrap_or_else(|| json!({})));
            data.as_object_mut().map(|fields| fields.insert("process_id".to_owned(), json!(process_id)));
            let (message_id, authority) = (*message_id, Some(*authority));
            let entry = blank(event.seq, event.ts, *epoch, Spoken::Command);
            let (kind, data) = (kind("started"), Some(data));
            Some(TranscriptEntry { kind, data, message_id, authority, is_cut, ..entry })
        }
        Fact::CommandEnded {
            process_id,
            epoch,
            message_id,
            status,
            output_digest,
            output_bytes,
            written_bytes,
            reason,
        } => {
            let (text, is_cut) = text(reader, output_digest)?;
            let data = json!({ "process_id": process_id, "written_bytes": written_bytes, "reason": reason });
            Some(TranscriptEntry {
                kind: kind("ended"),
                message_id: *message_id,
                status: kind(&how(*status).replace(' ', "-")),
                text,
                is_cut: is_cut || output_bytes < written_bytes,
                data: Some(data),
                ..blank(event.seq, event.ts, *epoch, Spoken::Command)
            })
        }
        _ => None,
    })
}

/// How a process ended, in a word or two.
fn how(status: ExitStatus) -> String {
    match status {
        ExitStatus::Code(code) => format!("code {code}"),
        ExitStatus::Signal(signal) => format!("signal {signal}"),
        ExitStatus::Unknown => "unknown".to_owned(),
    }
}

/// What became of an epoch or its session.
fn life(
    reader: &Reader,
    fact: &Fact,
    told: impl Fn(&Epoch, Spoken) -> TranscriptEntry,
) -> Result<Option<TranscriptEntry>, ReadError> {
    let entry = match fact {
        Fact::SessionOpened { epoch, native_id, continuity, program, lost, details_digest, .. } => {
            let details = body(reader, details_digest)?;
            let details = details.and_then(|bytes| serde_json::from_slice(&bytes).ok());
            let (details, is_cut) = shorten(details.unwrap_or(Value::Null));
            TranscriptEntry {
                kind: kind("opened"),
                status: continued(*continuity),
                text: lost.clone(),
                data: Some(json!({ "program": program, "session": native_id, "details": details })),
                is_cut,
                ..told(epoch, Spoken::Session)
            }
        }
        Fact::SessionFailed { epoch, reason } => {
            ended(told(epoch, Spoken::Session), "failed", reason.clone())
        }
        Fact::AgentStarted { epoch, continuity, .. } => {
            let (kind, status) = (kind("started"), continued(*continuity));
            TranscriptEntry { kind, status, ..told(epoch, Spoken::Epoch) }
        }
        Fact::AgentStartFailed { epoch, reason } => {
            ended(told(epoch, Spoken::Epoch), "failed", reason.clone())
        }
        Fact::AgentExited { epoch, status, .. } => ended(told(epoch, Spoken::Epoch), "exited", how(*status)),
        _ => return Ok(None),
    };
    Ok(Some(entry))
}

fn ended(entry: TranscriptEntry, how: &str, reason: String) -> TranscriptEntry {
    TranscriptEntry { kind: kind(how), text: Some(reason), ..entry }
}

fn kind(word: &str) -> Option<SafeLabel> {
    Some(SafeLabel::sanitized(word))
}

fn continued(continuity: Continuity) -> Option<SafeLabel> {
    word(&continuity)
}

/// The word of the vocabulary that a value is.
fn word(value: &impl Serialize) -> Option<SafeLabel> {
    serde_json::to_value(value).ok().as_ref().and_then(Value::as_str).map(SafeLabel::sanitized)
}

fn payload(fact: &Fact) -> Value {
    let mut value = serde_json::to_value(fact).unwrap_or_default();
    value.get_mut("payload").map(Value::take).unwrap_or_default()
}

/// What an agent asked people for, what they said, and what was decided.
fn action(reader: &Reader, event: &Event) -> Result<Option<TranscriptEntry>, ReadError> {
    let (id, spoken) = match &event.fact {
        Fact::ActionOpened { action } => (action.id, Spoken::Question),
        Fact::ActionVoted { action_id, .. } => (*action_id, Spoken::Vote),
        Fact::ActionResolved { action_id, .. } => (*action_id, Spoken::Decision),
        _ => return Ok(None),
    };
    let Some((epoch, message_id)) = asked_in(reader, &event.fact, &id)? else { return Ok(None) };
    let entry = blank(event.seq, event.ts, epoch, spoken);
    let entry = TranscriptEntry { message_id, action_id: Some(id), ..entry };
    Ok(Some(match &event.fact {
        Fact::ActionOpened { action } => {
            let (text, is_cut) = cut(action.prompt.clone());
            let expires = Some(json!({ "expires_at": action.expires_at, "quorum": action.quorum }));
            TranscriptEntry { kind: word(&action.kind), text: Some(text), is_cut, data: expires, ..entry }
        }
        Fact::ActionVoted { principal, verdict, .. } => {
            let status = match verdict {
                Verdict::Approve { .. } => "approve",
                Verdict::Deny { .. } => "deny",
                Verdict::Answer { .. } => "answer",
            };
            let data = match verdict.option() {
                Some(option) => json!({ "by": [principal], "option": option }),
                None => json!({ "by": [principal] }),
            };
            TranscriptEntry { status: kind(status), data: Some(data), ..entry }
        }
        Fact::ActionResolved { outcome, answer, by, reason, .. } => {
            let (data, is_cut) = shorten(json!({ "by": by, "answer": answer }));
            let text = (!reason.is_empty()).then(|| reason.clone());
            TranscriptEntry { status: word(outcome), text, is_cut, data: Some(data), ..entry }
        }
        _ => return Ok(None),
    }))
}

/// The epoch that asked, and the message that led to it.
fn asked_in(
    reader: &Reader,
    fact: &Fact,
    id: &ActionId,
) -> Result<Option<(Epoch, Option<MessageId>)>, ReadError> {
    if let Fact::ActionOpened { action } = fact {
        return Ok(Some((action.epoch, action.causation)));
    }
    Ok(reader.action(id)?.map(|row| (row.action.epoch, row.action.causation)))
}

/// A piece of what happens, as text or as the value that the program said.
fn piece(reader: &Reader, digest: &str, entry: TranscriptEntry) -> Result<TranscriptEntry, ReadError> {
    if entry.kind.as_ref().is_some_and(|kind| TEXTS.contains(&kind.as_str())) {
        let (text, is_cut) = text(reader, digest)?;
        return Ok(TranscriptEntry { text, is_cut, ..entry });
    }
    let Some(bytes) = body(reader, digest)? else { return Ok(entry) };
    let (data, is_cut) = shorten(serde_json::from_slice(&bytes).unwrap_or_default());
    Ok(TranscriptEntry { data: Some(data), is_cut, ..entry })
}

/// A message as its session was shown it, whatever the driver was.
fn message(
    reader: &Reader,
    id: &MessageId,
    mut entry: TranscriptEntry,
) -> Result<TranscriptEntry, ReadError> {
    entry.message_id = Some(*id);
    let Some(row) = reader.message(id)? else { return Ok(entry) };
    entry.authority = Some(row.envelope.authority);
    let content = body(reader, &row.envelope.content_digest)?;
    let parts: Option<Vec<Part>> = content.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    if let Some(parts) = parts {
        let bounds = Bounds { content_bytes: TEXT_BYTES_MAX, quoted_bytes: TEXT_BYTES_MAX };
        let rendered = render::render(&row.envelope, &parts, Attempt::First, bounds);
        entry.is_cut = rendered.is_preview;
        entry.text = Some(rendered.text());
    }
    Ok(entry)
}

/// What the agent itself said, as far as it is shown, and whether there is more of it.
fn text(reader: &Reader, digest: &str) -> Result<(Option<String>, bool), ReadError> {
    let Some(bytes) = body(reader, digest)? else { return Ok((None, false)) };
    let (text, is_cut) = cut(String::from_utf8_lossy(&bytes).into_owned());
    Ok((Some(text), is_cut))
}

fn cut(mut text: String) -> (String, bool) {
    let is_cut = text.len() > TEXT_BYTES_MAX;
    if is_cut {
        text.truncate(text.floor_char_boundary(TEXT_BYTES_MAX));
    }
    (text, is_cut)
}

fn body(reader: &Reader, digest: &str) -> Result<Option<Vec<u8>>, ReadError> {
    let Ok(digest) = digest.parse() else { return Ok(None) };
    Ok(match reader.body(&digest)? {
        Some(StoredBody::Bytes(bytes)) => Some(bytes),
        Some(StoredBody::Erased { .. }) | None => None,
    })
}

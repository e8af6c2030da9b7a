//! The transcript of an agent: what was said to it and by it, as a projection of its stream.

use edgeplane_driver::render::{self, Attempt, Bounds};
use edgeplane_store::{CommittedEvent, ReadError, Reader, StoredBody};
use edgeplane_types::{ErrorName, Fact, MessageId, Part, StreamName};
use edgeplane_wire::{
    api::report::{Spoken, TRANSCRIPT_MAX, TranscriptEntry, TranscriptParams, TranscriptResult},
    rpc::RpcError,
};

use super::{Session, check_owner, terminals::agent_id};

/// Entries in one answer when the caller does not say how many.
const LIMIT: u32 = 50;

/// Events that are looked through at one go.
const PAGE: usize = 1_000;

/// Longest text of one entry in bytes. A long message says how to read all of it.
const TEXT_BYTES_MAX: usize = 16 << 10;

pub(in crate::server) async fn read(
    session: &Session,
    params: TranscriptParams,
) -> Result<TranscriptResult, RpcError> {
    let id = match (&params.agent, &session.caller.agent) {
        (Some(named), _) => agent_id(session, named)?,
        (None, Some(own)) => own.id,
        (None, None) => {
            return Err(RpcError::new(ErrorName::InvalidParams, "name the agent whose transcript is meant"));
        }
    };
    check_owner(session, id)?;
    let limit = usize::try_from(params.limit.unwrap_or(LIMIT).clamp(1, TRANSCRIPT_MAX)).unwrap_or(1);
    let (stream, after) = (StreamName::Agent(id), params.after);
    let read = move |reader: &Reader| match after {
        Some(after) => following(reader, &stream, after, limit),
        None => newest(reader, &stream, limit),
    };
    session.shared.record.read(read).await
}

/// The entries behind a number, oldest first.
fn following(
    reader: &Reader,
    stream: &StreamName,
    mut after: u64,
    limit: usize,
) -> Result<TranscriptResult, ReadError> {
    let mut items = Vec::new();
    loop {
        let page = reader.events(stream, after.saturating_add(1), PAGE)?;
        let end = page.len() < PAGE;
        for committed in &page {
            after = committed.event.seq;
            items.extend(entry(reader, committed)?);
            if items.len() >= limit {
                return Ok(TranscriptResult { items, next: after, end: false });
            }
        }
        if end {
            return Ok(TranscriptResult { items, next: after, end: true });
        }
    }
}

/// The last entries, oldest first. An agent that did nothing but start over for a thousand events has none.
fn newest(reader: &Reader, stream: &StreamName, limit: usize) -> Result<TranscriptResult, ReadError> {
    let events = reader.last_events(stream, PAGE)?;
    let next = events.last().map_or(0, |committed| committed.event.seq);
    let mut items = Vec::new();
    for committed in events.iter().rev() {
        items.extend(entry(reader, committed)?);
        if items.len() >= limit {
            break;
        }
    }
    items.reverse();
    Ok(TranscriptResult { items, next, end: true })
}

/// What an event says, if it says something.
fn entry(reader: &Reader, committed: &CommittedEvent) -> Result<Option<TranscriptEntry>, ReadError> {
    let event = &committed.event;
    let said = |epoch, spoken| TranscriptEntry {
        seq: event.seq,
        at: event.ts,
        epoch,
        spoken,
        kind: None,
        message_id: None,
        authority: None,
        text: None,
        is_cut: false,
    };
    let entry = match &event.fact {
        Fact::MessageInjected { message_id, epoch, .. } => {
            message(reader, message_id, said(*epoch, Spoken::Message))?
        }
        Fact::TurnCompleted { epoch, message_id, output_digest, authority, .. } => {
            let (text, is_cut) = text(reader, output_digest)?;
            let (message_id, authority) = (*message_id, *authority);
            TranscriptEntry { message_id, authority, text, is_cut, ..said(*epoch, Spoken::Turn) }
        }
        Fact::ItemReported { epoch, kind, body_digest, message_id, authority, .. } => {
            let (text, is_cut) = text(reader, body_digest)?;
            let (message_id, authority, kind) = (*message_id, *authority, Some(kind.clone()));
            TranscriptEntry { kind, message_id, authority, text, is_cut, ..said(*epoch, Spoken::Item) }
        }
        _ => return Ok(None),
    };
    Ok(Some(entry))
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
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    let is_cut = text.len() > TEXT_BYTES_MAX;
    if is_cut {
        text.truncate(text.floor_char_boundary(TEXT_BYTES_MAX));
    }
    Ok((Some(text), is_cut))
}

fn body(reader: &Reader, digest: &str) -> Result<Option<Vec<u8>>, ReadError> {
    let Ok(digest) = digest.parse() else { return Ok(None) };
    Ok(match reader.body(&digest)? {
        Some(StoredBody::Bytes(bytes)) => Some(bytes),
        Some(StoredBody::Erased { .. }) | None => None,
    })
}

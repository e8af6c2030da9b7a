//! The transcript of an agent: what was said to it, by it, and what it did, as a projection of its stream.
//!
//! Owns which entries one answer holds. Every answer is bounded by its entries, by their bytes and by the events that are
//! looked through for them; `next` says where to read on. What an event says stands in [`entry`].

mod entry;
pub(in crate::server) mod items;
mod shorten;

use edgeplane_store::{CommittedEvent, ReadError, Reader};
use edgeplane_types::{AgentId, Epoch, ErrorName, MessageId, StreamName};
use edgeplane_wire::{
    api::report::{Detail, Spoken, TRANSCRIPT_MAX, TranscriptEntry, TranscriptParams, TranscriptResult},
    rpc::RpcError,
};

use self::entry::TEXT_BYTES_MAX;
use super::{Session, check_owner, terminals::agent_id};

/// Entries in one answer when the caller does not say how many.
const LIMIT: u32 = 50;

/// Events that are looked through at one go.
const PAGE: u64 = 1_000;

/// Events that are looked through for one answer: a tenth of a second. Whoever wants more reads on.
const EVENTS_MAX: u64 = 10_000;

/// Bytes of texts in one answer, far below what a line of the protocol holds. The entry that reaches it is the last.
const ANSWER_BYTES_MAX: usize = 4 << 20;

/// What of a stream is told.
#[derive(Debug, Clone, Copy)]
struct Wanted {
    epoch: Option<Epoch>,
    message_id: Option<MessageId>,
    detail: Detail,
    limit: usize,
    /// Only what belongs to this conversation.
    of: Option<items::Of>,
}

impl Wanted {
    fn takes(self, entry: &TranscriptEntry) -> bool {
        let is_word = matches!(entry.spoken, Spoken::Message | Spoken::Turn | Spoken::Item);
        (is_word || self.detail == Detail::Everything)
            && self.epoch.is_none_or(|epoch| entry.epoch == epoch)
            && self.message_id.is_none_or(|id| entry.message_id == Some(id))
    }
}

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
    let TranscriptParams { agent: _, after, limit, epoch, message_id, detail } = params;
    let limit = usize::try_from(limit.unwrap_or(LIMIT).clamp(1, TRANSCRIPT_MAX)).unwrap_or(1);
    let wanted = Wanted { epoch, message_id, detail, limit, of: None };
    let stream = StreamName::Agent(of_the_one_that_has(session, id, message_id)?);
    let read = move |reader: &Reader| {
        let from = match (after, message_id) {
            (Some(after), _) => Some(after),
            (None, Some(message)) => Some(before_message(reader, &stream, &message)?),
            (None, None) => None,
        };
        match from {
            Some(after) => following(reader, &stream, after, wanted),
            None => newest(reader, &stream, wanted),
        }
    };
    session.shared.record.read(read).await
}

/// The replica that has a message to a set: what it did with it stands in its stream.
fn of_the_one_that_has(
    session: &Session,
    id: AgentId,
    message_id: Option<MessageId>,
) -> Result<AgentId, RpcError> {
    let Some(message_id) = message_id else { return Ok(id) };
    let row = session.shared.record.look_up(|reader| reader.message(&message_id))?;
    Ok(row.filter(|row| row.addressed == id).map_or(id, |row| row.envelope.target))
}

/// The number after which everything stands that belongs to a message: none of it is older than its acceptance.
fn before_message(reader: &Reader, stream: &StreamName, id: &MessageId) -> Result<u64, ReadError> {
    let Some(row) = reader.message(id)? else { return Ok(0) };
    let accepted = reader.events_from_pos(row.accepted_pos, 1, &[])?;
    let own = accepted.first().filter(|committed| committed.event.stream == *stream);
    Ok(own.map_or(0, |committed| committed.event.seq.saturating_sub(1)))
}

/// The entries behind a number, oldest first.
fn following(
    reader: &Reader,
    stream: &StreamName,
    after: u64,
    wanted: Wanted,
) -> Result<TranscriptResult, ReadError> {
    let mut answer = Answer::default();
    let mut next = after;
    while next.saturating_sub(after) < EVENTS_MAX {
        let page = reader.events(stream, next.saturating_add(1), events(PAGE))?;
        for committed in &page {
            if let Some(entry) = told(reader, committed, wanted)?
                && !answer.takes(entry, wanted.limit, Side::Behind)
            {
                return Ok(TranscriptResult { items: answer.items, next, end: false });
            }
            next = committed.event.seq;
        }
        if page.len() < events(PAGE) {
            return Ok(TranscriptResult { items: answer.items, next, end: true });
        }
    }
    Ok(TranscriptResult { items: answer.items, next, end: false })
}

/// All that was said and done in the turn of a message before a number of its agent's stream, and whether there is more
/// than is given.
pub(in crate::server) fn of_message(
    reader: &Reader,
    (stream, id): (&StreamName, MessageId),
    before: u64,
    entries_max: usize,
) -> Result<(Vec<TranscriptEntry>, bool), ReadError> {
    let of = Some(items::Of::Turn(crate::agent::turn_of(id)));
    let wanted = Wanted { epoch: None, message_id: None, detail: Detail::Everything, limit: entries_max, of };
    let (mut found, mut bytes) = (Vec::new(), 0_usize);
    let mut after = before_message(reader, stream, &id)?;
    loop {
        let page = following(reader, stream, after, wanted)?;
        for entry in page.items {
            if entry.seq >= before {
                return Ok((found, false));
            }
            bytes = bytes.saturating_add(entry::bytes(&entry));
            if found.len() >= entries_max || bytes > ANSWER_BYTES_MAX {
                return Ok((found, true));
            }
            found.push(entry);
        }
        if page.end || page.next.saturating_add(1) >= before {
            return Ok((found, false));
        }
        after = page.next;
    }
}

/// The last entries, oldest first. An agent that did nothing else for ten thousand events has none.
fn newest(reader: &Reader, stream: &StreamName, wanted: Wanted) -> Result<TranscriptResult, ReadError> {
    let head = reader.stream_head(stream)?.map_or(0, |head| head.seq);
    let mut answer = Answer::default();
    let mut before = head.saturating_add(1);
    'pages: while before > 1 && head.saturating_sub(before) < EVENTS_MAX {
        let from = before.saturating_sub(PAGE).max(1);
        let page = reader.events(stream, from, events(before.saturating_sub(from)))?;
        for committed in page.iter().rev() {
            if let Some(entry) = told(reader, committed, wanted)?
                && !answer.takes(entry, wanted.limit, Side::Before)
            {
                break 'pages;
            }
        }
        before = from;
    }
    answer.items.reverse();
    Ok(TranscriptResult { items: answer.items, next: head, end: true })
}

fn events(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

fn told(
    reader: &Reader,
    committed: &CommittedEvent,
    wanted: Wanted,
) -> Result<Option<TranscriptEntry>, ReadError> {
    let entry = entry::of(reader, &committed.event)?.filter(|entry| wanted.takes(entry));
    match (entry, wanted.of) {
        (Some(entry), Some(of)) => Ok(items::turn_of_entry(reader, &entry, of)?.map(|_turn| entry)),
        (entry, _) => Ok(entry),
    }
}

/// Where the next entry stands, seen from the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Before,
    Behind,
}

/// The entries found so far.
#[derive(Debug, Default)]
struct Answer {
    items: Vec<TranscriptEntry>,
    bytes: usize,
}

impl Answer {
    /// Takes an entry, alone or as a piece of the last one; not if the answer is full.
    fn takes(&mut self, entry: TranscriptEntry, limit: usize, side: Side) -> bool {
        let bytes = entry::bytes(&entry);
        let is_long = self.bytes >= ANSWER_BYTES_MAX;
        let is_full = is_long || self.items.len() >= limit;
        match self.items.last_mut() {
            Some(last) if !is_long && go_together(last, &entry) => join(last, entry, side),
            _ if is_full => return false,
            _ => self.items.push(entry),
        }
        self.bytes = self.bytes.saturating_add(bytes);
        true
    }
}

/// Whether two entries are pieces of one text, which together are no longer than one entry may be.
fn go_together(one: &TranscriptEntry, other: &TranscriptEntry) -> bool {
    let is_text = |entry: &TranscriptEntry| {
        entry.spoken == Spoken::Piece
            && entry.kind.as_ref().is_some_and(|kind| matches!(kind.as_str(), "text" | "thought"))
            && !entry.is_cut
    };
    let length = |entry: &TranscriptEntry| entry.text.as_ref().map_or(0, String::len);
    is_text(one)
        && is_text(other)
        && one.item_id == other.item_id
        && one.authority == other.authority
        && one.text.is_some() == other.text.is_some()
        && length(one).saturating_add(length(other)) <= TEXT_BYTES_MAX
}

fn join(last: &mut TranscriptEntry, piece: TranscriptEntry, side: Side) {
    let (Some(text), Some(more)) = (&mut last.text, piece.text) else { return };
    match side {
        Side::Behind => {
            text.push_str(&more);
            last.seq = piece.seq;
        }
        Side::Before => {
            text.insert_str(0, &more);
            last.at = piece.at;
        }
    }
}

#[cfg(test)]
mod tests {
    use edgeplane_types::{ItemId, Timestamp};

    use super::*;

    fn piece(seq: u64, item: u8, kind: &str, text: &str) -> TranscriptEntry {
        let at = Timestamp::from_micros(i64::try_from(seq).unwrap());
        let entry = entry::blank(seq, at, Epoch(1), Spoken::Piece);
        TranscriptEntry {
            kind: Some(kind.parse().unwrap()),
            item_id: Some(ItemId::from_parts(5, [item; 10])),
            text: Some(text.to_owned()),
            ..entry
        }
    }

    fn check(side: Side, limit: usize, pieces: &[TranscriptEntry], expected: &[&str], taken: usize) {
        let mut answer = Answer::default();
        let count = pieces.iter().take_while(|piece| answer.takes((*piece).clone(), limit, side)).count();
        let texts: Vec<_> = answer.items.iter().filter_map(|entry| entry.text.as_deref()).collect();
        assert_eq!((texts.as_slice(), count), (expected, taken));
    }

    /// Proves DRV-050.
    #[test]
    fn pieces_of_one_text_are_one_entry_in_either_direction() {
        let one = [piece(1, 1, "text", "a"), piece(2, 1, "text", "b"), piece(3, 2, "text", "c")];
        check(Side::Behind, 9, &one, &["ab", "c"], 3);
        check(Side::Behind, 1, &one, &["ab"], 2);
        let back: Vec<_> = one.iter().rev().cloned().collect();
        check(Side::Before, 9, &back, &["c", "ab"], 3);
        let tools = [piece(1, 1, "tool_call", "a"), piece(2, 1, "tool_call", "b")];
        check(Side::Behind, 9, &tools, &["a", "b"], 2);
    }

    /// Proves DRV-050.
    #[test]
    fn no_entry_and_no_answer_grows_beyond_its_bound() {
        let long = "x".repeat(TEXT_BYTES_MAX);
        let pieces: Vec<_> = (0..600).map(|seq| piece(seq, 1, "text", &long)).collect();
        let mut answer = Answer::default();
        let count =
            pieces.into_iter().take_while(|piece| answer.takes(piece.clone(), 500, Side::Behind)).count();
        assert_eq!(count, ANSWER_BYTES_MAX / TEXT_BYTES_MAX);
        assert!(
            answer.items.iter().all(|entry| entry.text.as_ref().is_some_and(|text| text.len() == long.len()))
        );
    }
}

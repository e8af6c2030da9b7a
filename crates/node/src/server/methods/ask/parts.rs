//! What the asked agent reports while it has a question, in the order of the record.

use edgeplane_store::{ReadError, Reader, StoredBody};
use edgeplane_types::{AgentId, Authority, ErrorName, Fact, MessageId, SafeLabel, StreamName};
use edgeplane_wire::{
    api::message::AskPart,
    rpc::{self, RpcError},
};

use super::{Question, found::Words};

/// Events that are read at one go.
const PAGE_EVENTS: usize = 500;

/// Bytes of words that are read at one go; one item is always read.
const PAGE_BYTES: usize = 4 << 20;

/// How far what the asked agent reports was passed on.
pub(super) struct Parts {
    /// Number in the agent's stream of the next event to look at.
    from_seq: u64,
    /// Whose stream that is: that of the agent which has the question.
    of: AgentId,
    /// How many were passed on.
    count: u64,
    /// Whether a rule keeps them from the one who asked.
    is_refused: bool,
}

/// What a page of the stream holds of a question.
struct Page {
    items: Vec<(SafeLabel, Words)>,
    next_seq: u64,
    is_last: bool,
}

impl Parts {
    /// Begins where the question stands in the record.
    pub(super) fn of(question: &Question<'_>) -> Result<Self, RpcError> {
        let id = question.id;
        let seq = question.session.shared.record.look_up(|reader| {
            let Some(row) = reader.message(&id)? else { return Ok(None) };
            let at = reader.events_from_pos(row.accepted_pos, 1, &[])?;
            Ok(at.first().map(|committed| committed.event.seq))
        })?;
        Ok(Self { from_seq: seq.unwrap_or(1), of: question.asked.id, count: 0, is_refused: false })
    }

    /// Passes on what was reported up to a position and was not passed on before.
    pub(super) async fn pass_on(&mut self, question: &Question<'_>, upto_pos: u64) -> Result<(), RpcError> {
        self.follow_the_question(question)?;
        let stream = StreamName::Agent(self.of);
        loop {
            let (from_seq, id) = (self.from_seq, question.id);
            let record = &question.session.shared.record;
            let page = record.read(move |reader| page(reader, &stream, (from_seq, upto_pos), id)).await?;
            for (kind, words) in page.items {
                self.send(question, kind, words).await?;
            }
            self.from_seq = page.next_seq;
            if page.is_last {
                return Ok(());
            }
        }
    }

    /// Goes on in the stream of the replica that has the question, from where that was handed to it.
    fn follow_the_question(&mut self, question: &Question<'_>) -> Result<(), RpcError> {
        let id = question.id;
        let found = question.session.shared.record.look_up(|reader| {
            let Some(row) = reader.message(&id)? else { return Ok(None) };
            let has = row.envelope.target;
            if has == self.of {
                return Ok(None);
            }
            let stream = StreamName::Agent(has);
            // The first of its events behind the question: they are in the order of the record.
            let (mut low, mut high) =
                (1, reader.stream_head(&stream)?.map_or(0, |head| head.seq).saturating_add(1));
            while low < high {
                let middle = low.midpoint(high);
                let at = reader.events(&stream, middle, 1)?;
                match at.first() {
                    Some(committed) if committed.pos < row.accepted_pos => low = middle.saturating_add(1),
                    _ => high = middle,
                }
            }
            Ok(Some((has, low)))
        })?;
        if let Some((has, from_seq)) = found {
            (self.of, self.from_seq) = (has, from_seq);
        }
        Ok(())
    }

    async fn send(&mut self, question: &Question<'_>, kind: SafeLabel, words: Words) -> Result<(), RpcError> {
        if self.is_refused {
            return Ok(());
        }
        let Ok(shown) = question.show(words)? else {
            // What is kept back is not counted: the numbers of the others have no gaps.
            self.is_refused = true;
            return Ok(());
        };
        question.hand_out(shown.authority).await?;
        self.count = self.count.saturating_add(1);
        let part = AskPart {
            message_id: question.id,
            number: self.count,
            kind,
            text: shown.text,
            rendered: shown.rendered,
        };
        // Waits for a slow reader: what it gets has no gaps.
        let sent = question.session.outbound.send(rpc::notification("ask/part", part)).await;
        sent.map_err(|_gone| RpcError::new(ErrorName::Cancelled, "the one who asked has gone"))
    }
}

fn page(
    reader: &Reader,
    stream: &StreamName,
    (from_seq, upto_pos): (u64, u64),
    question: MessageId,
) -> Result<Page, ReadError> {
    let events = reader.events(stream, from_seq, PAGE_EVENTS)?;
    let is_full = events.len() == PAGE_EVENTS;
    let mut page = Page { items: Vec::new(), next_seq: from_seq, is_last: false };
    let mut bytes = 0_usize;
    for committed in events {
        if committed.pos > upto_pos {
            page.is_last = true;
            return Ok(page);
        }
        let event = &committed.event;
        if let Fact::ItemReported { epoch, kind, body_digest, message_id, authority, .. }
        | Fact::ItemUpdated { epoch, kind, body_digest, message_id, authority, .. } = &event.fact
            && *message_id == Some(question)
        {
            if bytes > PAGE_BYTES {
                return Ok(page);
            }
            let text = text(reader, body_digest)?;
            bytes = bytes.saturating_add(text.len());
            let authority = authority.unwrap_or(Authority::Untrusted);
            let nonce = *event.id.as_bytes();
            page.items.push((kind.clone(), Words { epoch: *epoch, authority, nonce, text }));
        }
        page.next_seq = event.seq.saturating_add(1);
    }
    page.is_last = !is_full;
    Ok(page)
}

fn text(reader: &Reader, digest: &str) -> Result<String, ReadError> {
    let Ok(digest) = digest.parse() else { return Ok(String::new()) };
    Ok(match reader.body(&digest)? {
        Some(StoredBody::Bytes(bytes)) => String::from_utf8_lossy(&bytes).into_owned(),
        Some(StoredBody::Erased { .. }) | None => String::new(),
    })
}

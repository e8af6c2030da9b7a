//! What an epoch is told of those before it, and what becomes of the turn that an epoch's end cut short.
//!
//! Everything comes from the record: facts and ids, then the last things that were said as quotations, in place of what
//! is before a boundary the summary that somebody wrote of it. What waits is not quoted, because it comes by delivery.

use edgeplane_driver::render::{
    self, Attempt, Bounds, Facts, LeftOpen, OpenTurn, Quotation, Rendered, WAITING_SHOWN_MAX,
};
use edgeplane_manifest::{Driver, Notice, OpenTurn as Rule, StateKind};
use edgeplane_store::{CommittedEvent, MessageRow, ReadError, Reader, StoredBody, ThreadRow};
use edgeplane_types::{
    AgentId, Authority, Continuity, Epoch, Fact, MessageId, Part, Rung, SafeLabel, ThreadId, TurnId,
    fact::Cause, life::ExitStatus,
};

use super::Actor;
use crate::record::{Draft, Origin};

/// The last events of an agent that are looked through.
pub(super) const EVENTS_MAX: usize = 1_024;

/// Things said before that are quoted at most.
const ITEMS_MAX: usize = 20;

/// Open turns of an epoch that are looked at.
const OPEN_MAX: usize = 64;

/// One thing that was said before.
pub(super) enum Said {
    Message { id: MessageId, rendered: Rendered },
    Turn { message_id: Option<MessageId>, text: String },
    Besides { kind: SafeLabel, text: String },
    Summary(Summary),
}

/// What somebody wrote that stands for the turns of a thread up to one of them.
pub(super) struct Summary {
    by: SafeLabel,
    authority: Authority,
    turns: u64,
    through: TurnId,
    text: String,
}

/// What the record says of former epochs.
struct Past {
    cause: Cause,
    last_end: Option<ExitStatus>,
    open_turn: Option<OpenTurn>,
    waiting: Vec<MessageId>,
    waiting_count: u64,
    items: Vec<Said>,
}

/// The messages whose turn an epoch has open, longest open first. A turn that ended without its message's name ended
/// for all that were given before.
pub(super) fn open_messages(
    reader: &Reader,
    (agent, epoch): (&AgentId, Epoch),
    events: &[CommittedEvent],
) -> Result<Vec<MessageRow>, ReadError> {
    let ended = events.iter().rev().find_map(|read| match &read.event.fact {
        Fact::TurnCompleted { epoch: of, message_id: None, .. } if *of == epoch => Some(read.pos),
        _ => None,
    });
    let turns = reader.open_turns(agent, epoch, OPEN_MAX)?;
    let open = turns.into_iter().filter(|turn| Some(turn.since_pos) > ended);
    let rows = open.map(|turn| reader.message(&turn.message_id)).collect::<Result<Vec<_>, _>>()?;
    Ok(rows.into_iter().flatten().collect())
}

impl Actor {
    /// Whether its program can be told of former epochs: nothing is typed at a terminal that its manifest does not
    /// ask for, and a quotation's sign is a redirection to a shell, so it must be a comment.
    fn can_be_told(&self) -> bool {
        let can = match &self.manifest.spec.driver {
            Driver::Native { .. } | Driver::Acp { .. } | Driver::Exec { .. } => true,
            Driver::Terminal { comment, notice, .. } => {
                *notice == Notice::Type && (comment.is_some() || self.takes_quotations())
            }
        };
        can && self.manifest.spec.state == StateKind::Stateful
    }

    /// Gathers what the program of an epoch that begins is told, and says how much of the former context it has.
    pub(super) async fn gather_past(&mut self, epoch: Epoch) {
        let bounds = if self.is_structured() { Bounds::NATIVE } else { Bounds::TERMINAL };
        let (id, stream) = (self.identity.id, self.stream());
        let can_be_told = epoch > Epoch(1) && self.can_be_told();
        let lightest = self.lightest();
        let mut told = Vec::new();
        if can_be_told {
            let read = move |reader: &Reader| {
                let events = reader.last_events(&stream, EVENTS_MAX)?;
                past(reader, (&id, epoch), &events, (bounds, lightest))
            };
            match self.shared.record.read(read).await {
                Ok(past) => told = self.told(epoch, &past, bounds),
                Err(error) => tracing::error!(agent = %self.identity.name, %error, "its past cannot be read"),
            }
        }
        self.continuity = if told.is_empty() { Continuity::None } else { Continuity::Partial };
        if let Some(live) = self.live.as_mut().filter(|live| live.place.epoch == epoch) {
            live.past = told;
        }
    }

    /// The text for the program, and behind it the same without quotations; nothing where nothing was said before.
    fn told(&self, epoch: Epoch, past: &Past, bounds: Bounds) -> Vec<Rendered> {
        if past.items.is_empty() && past.open_turn.is_none() {
            return Vec::new();
        }
        let principal = SafeLabel::sanitized(self.shared.identity.name.as_str());
        let facts = Facts {
            principal: &principal,
            epoch,
            cause: past.cause,
            last_end: past.last_end,
            continuity: Continuity::Partial,
            open_turn: past.open_turn,
            waiting: &past.waiting,
            waiting_count: past.waiting_count,
        };
        let quotations: Vec<Quotation<'_>> = past.items.iter().map(quotation).collect();
        vec![render::rehydration(&facts, &quotations, bounds), render::rehydration(&facts, &[], bounds)]
    }

    /// Lets the messages of an open turn wait once more in the commit in which a new epoch begins, if the manifest
    /// says so: once each, because a message whose second turn is cut short too may be what ends the program.
    pub(super) async fn retry_open_turn(&self, draft: &mut Draft) {
        if self.manifest.spec.delivery.open_turn != Rule::Retry {
            return;
        }
        let (id, stream, epoch) = (self.identity.id, self.stream(), self.last_epoch);
        let read = move |reader: &Reader| {
            let events = reader.last_events(&stream, EVENTS_MAX)?;
            open_messages(reader, (&id, epoch), &events)
        };
        let open = match self.shared.record.read(read).await {
            Ok(open) => open,
            Err(error) => {
                tracing::error!(agent = %self.identity.name, %error, "its open turn cannot be read");
                return;
            }
        };
        let injected =
            |row: &MessageRow| row.receipts.iter().filter(|receipt| receipt.rung == Rung::Injected).count();
        let survives = |row: &MessageRow| {
            let turn = TurnId::from_bytes(*row.envelope.id.as_bytes());
            matches!(self.shared.record.look_up(|reader| reader.removed_turn(&turn)), Ok(None))
        };
        for row in open.iter().filter(|row| !row.waiting && injected(row) <= 1 && survives(row)) {
            let fact = Fact::MessageRequeued { message_id: row.envelope.id };
            self.shared.record.add(draft, self.stream(), &Origin::node("open-turn"), fact);
        }
    }
}

fn quotation(item: &Said) -> Quotation<'_> {
    match item {
        Said::Message { id, rendered } => Quotation::Message { id: *id, rendered },
        Said::Turn { message_id, text } => Quotation::Turn { message_id: *message_id, text },
        Said::Besides { kind, text } => Quotation::Item { kind, text },
        Said::Summary(summary) => summary.quotation(),
    }
}

impl Summary {
    pub(super) fn authority(&self) -> Authority {
        self.authority
    }

    pub(super) fn quotation(&self) -> Quotation<'_> {
        let Self { by, authority, turns, through, text } = self;
        Quotation::Summary { by, authority: *authority, turns: *turns, through: *through, text }
    }
}

/// The boundary of a thread.
pub(super) struct Boundary {
    thread: ThreadId,
    /// Where the last turn before it was accepted.
    pub(super) through: u64,
    /// Where it was drawn.
    drawn: u64,
    /// Nothing, if what was written is erased.
    pub(super) summary: Option<Summary>,
}

/// The boundaries in an agent's threads.
fn boundaries(reader: &Reader, agent: &AgentId) -> Result<Vec<Boundary>, ReadError> {
    let mut found = Vec::new();
    for committed in reader.compactions(agent)? {
        found.extend(drawn(reader, &committed)?);
    }
    Ok(found)
}

/// The boundary of a thread.
pub(super) fn boundary(reader: &Reader, thread: &ThreadRow) -> Result<Option<Boundary>, ReadError> {
    let Some(committed) = reader.compaction(&thread.id)? else { return Ok(None) };
    drawn(reader, &committed)
}

fn drawn(reader: &Reader, committed: &CommittedEvent) -> Result<Option<Boundary>, ReadError> {
    let Fact::ThreadCompacted(compacted) = &committed.event.fact else { return Ok(None) };
    let last = reader.message(&MessageId::from_bytes(*compacted.through.as_bytes()))?;
    let summary = text(reader, &compacted.summary_digest)?.map(|text| Summary {
        by: committed.event.actor.name().clone(),
        authority: compacted.authority,
        turns: compacted.turns,
        through: compacted.through,
        text,
    });
    Ok(Some(Boundary {
        thread: compacted.thread_id,
        through: last.map_or(0, |row| row.accepted_pos),
        drawn: committed.pos,
        summary,
    }))
}

/// Whether something was said before the boundary of its thread.
fn is_behind(
    reader: &Reader,
    (boundaries, main): (&[Boundary], ThreadId),
    committed: &CommittedEvent,
) -> Result<bool, ReadError> {
    if boundaries.is_empty() {
        return Ok(false);
    }
    let of = match &committed.event.fact {
        Fact::MessageInjected { message_id, .. } => Some(*message_id),
        Fact::TurnCompleted { message_id, .. } | Fact::ItemReported { message_id, .. } => *message_id,
        _ => return Ok(false),
    };
    let row = match of {
        Some(id) => reader.message(&id)?,
        None => None,
    };
    let thread = row.as_ref().and_then(|row| row.envelope.thread).unwrap_or(main);
    let boundary = boundaries.iter().find(|boundary| boundary.thread == thread);
    Ok(boundary.is_some_and(|boundary| match &row {
        Some(row) => row.accepted_pos <= boundary.through,
        None => committed.pos < boundary.drawn,
    }))
}

/// Reads what there is to tell from the last events of an agent.
fn past(
    reader: &Reader,
    (agent, epoch): (&AgentId, Epoch),
    events: &[CommittedEvent],
    (bounds, lightest): (Bounds, Authority),
) -> Result<Past, ReadError> {
    let newest_first = || events.iter().rev().map(|read| &read.event.fact);
    let cause = newest_first().find_map(|fact| match fact {
        Fact::AgentStarting { epoch: of, cause } if *of == epoch => Some(*cause),
        _ => None,
    });
    let last_end = newest_first().find_map(|fact| match fact {
        Fact::AgentExited { epoch: of, status, .. } if *of < epoch => Some(*status),
        _ => None,
    });
    let boundaries = boundaries(reader, agent)?;
    let main = reader.agent_by_id(agent)?.map(|row| ThreadId::from_bytes(*row.session_id.as_bytes()));
    let main = main.unwrap_or_else(|| ThreadId::from_bytes(*agent.as_bytes()));
    let (mut items, mut retried) = (Vec::new(), None);
    let last = newest_first().find_map(|fact| match fact {
        Fact::MessageInjected { epoch: of, .. } if *of < epoch => Some(*of),
        _ => None,
    });
    let mut seen = std::collections::BTreeSet::new();
    for committed in events.iter().rev() {
        let fact = &committed.event.fact;
        if items.len() == ITEMS_MAX {
            break;
        }
        match fact {
            fact if is_removed(reader, fact)? => {}
            _ if is_behind(reader, (&boundaries, main), committed)? => {}
            Fact::MessageInjected { message_id, epoch: of, .. } if *of < epoch => {
                // One that was delivered twice was said once.
                let fresh = seen.insert(*message_id);
                let Some(row) = reader.message(message_id)?.filter(|_| fresh) else { continue };
                if row.waiting {
                    retried = if Some(*of) == last { Some(*message_id) } else { retried };
                    continue;
                }
                items.extend(said(reader, &row, bounds)?);
            }
            Fact::TurnCompleted { epoch: of, message_id, output_digest, .. } if *of < epoch => {
                let text = text(reader, output_digest)?;
                items.extend(text.map(|text| Said::Turn { message_id: *message_id, text }));
            }
            Fact::ItemReported { epoch: of, kind, body_digest, .. } if *of < epoch => {
                let text = text(reader, body_digest)?;
                items.extend(text.map(|text| Said::Besides { kind: kind.clone(), text }));
            }
            _ => {}
        }
    }
    items.extend(boundaries.into_iter().rev().filter_map(|boundary| boundary.summary).map(Said::Summary));
    items.reverse();
    let open = match last {
        Some(last) => open_messages(reader, (agent, last), events)?,
        None => Vec::new(),
    };
    let mut open_still = Vec::new();
    for row in open {
        if reader.removed_turn(&TurnId::from_bytes(*row.envelope.id.as_bytes()))?.is_none() {
            open_still.push(row);
        }
    }
    let dropped = open_still.first().map(|row| (row.envelope.id, LeftOpen::Dropped));
    let open_turn = retried.map(|id| (id, LeftOpen::Retried)).or(dropped);
    let waiting = reader.next_deliverable(agent, lightest, WAITING_SHOWN_MAX)?;
    Ok(Past {
        cause: cause.unwrap_or(Cause::Recovery),
        last_end,
        open_turn: open_turn.map(|(message_id, becomes)| OpenTurn { message_id, becomes }),
        waiting: waiting.into_iter().map(|row| row.envelope.id).collect(),
        waiting_count: reader.waiting_count(agent)?,
        items,
    })
}

/// Whether something was said in a turn that was rolled back.
fn is_removed(reader: &Reader, fact: &Fact) -> Result<bool, ReadError> {
    let (Fact::MessageInjected { message_id: of, .. }
    | Fact::TurnCompleted { message_id: Some(of), .. }
    | Fact::ItemReported { message_id: Some(of), .. }) = fact
    else {
        return Ok(false);
    };
    let turn = match reader.message(of)?.and_then(|row| row.envelope.into_turn) {
        Some(into) => into,
        None => TurnId::from_bytes(*of.as_bytes()),
    };
    Ok(reader.removed_turn(&turn)?.is_some())
}

/// A message as its session saw it; nothing if its content was erased since.
pub(super) fn said(reader: &Reader, row: &MessageRow, bounds: Bounds) -> Result<Option<Said>, ReadError> {
    let Some(content) = text(reader, &row.envelope.content_digest)? else { return Ok(None) };
    let Ok(parts) = serde_json::from_str::<Vec<Part>>(&content) else { return Ok(None) };
    let times = |rung| row.receipts.iter().filter(|receipt| receipt.rung == rung).count();
    let is_second = times(Rung::Ambiguous) > 0 || times(Rung::Injected) > 1;
    let attempt = if is_second { Attempt::Again } else { Attempt::First };
    let rendered = render::render(&row.envelope, &parts, attempt, bounds);
    Ok(Some(Said::Message { id: row.envelope.id, rendered }))
}

pub(super) fn text(reader: &Reader, digest: &str) -> Result<Option<String>, ReadError> {
    let Ok(digest) = digest.parse() else { return Ok(None) };
    Ok(match reader.body(&digest)? {
        Some(StoredBody::Bytes(bytes)) => Some(String::from_utf8_lossy(&bytes).into_owned()),
        Some(StoredBody::Erased { .. }) | None => None,
    })
}

//! What an epoch is told of those before it, and what becomes of the turn that an epoch's end cut short.
//!
//! Everything comes from the record: facts and ids, then the last things that were said as quotations. What waits is
//! not quoted, because it comes by delivery.

use edgeplane_driver::render::{
    self, Attempt, Bounds, Facts, LeftOpen, OpenTurn, Quotation, Rendered, WAITING_SHOWN_MAX,
};
use edgeplane_manifest::{Driver, Notice, OpenTurn as Rule, StateKind};
use edgeplane_store::{CommittedEvent, MessageRow, ReadError, Reader, StoredBody};
use edgeplane_types::{
    AgentId, Authority, Continuity, Epoch, Fact, MessageId, Part, Rung, SafeLabel, TurnId, fact::Cause,
    life::ExitStatus,
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
    }
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
    let (mut items, mut retried) = (Vec::new(), None);
    let last = newest_first().find_map(|fact| match fact {
        Fact::MessageInjected { epoch: of, .. } if *of < epoch => Some(*of),
        _ => None,
    });
    let mut seen = std::collections::BTreeSet::new();
    for fact in newest_first() {
        if items.len() == ITEMS_MAX {
            break;
        }
        match fact {
            fact if is_removed(reader, fact)? => {}
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

//! What a thread that was forked begins with: the turns of its parent up to where it was forked, as quotations, where its
//! program does not have them.
//!
//! Everything comes from the record, so a daemon that comes back says the same. No summary is made. Words of another agent
//! are quoted as that agent's and with what they weighed, and what the program says next weighs no more than the lightest
//! of what it was quoted.

use edgeplane_driver::render::{self, Bounds, Fork, Quotation};
use edgeplane_store::{MessageRow, Order, ReadError, Reader, ThreadRow, TurnsOf};
use edgeplane_types::{
    AgentId, Authority, Continuity, Envelope, Epoch, Fact, MessageId, Rung, SafeLabel, ThreadId, TurnId,
};

use super::{
    Actor,
    begin::{message_of, turn_of},
    rehydration::{self, Said},
};
use crate::{caller::AGENT_AUTHORITY_MAX, record::chain};

/// Turns that are quoted at most. Which are left out is said.
const TURNS_MAX: usize = 20;

/// Turns among which the newest one that was given is looked for.
const LOOKED_AT_MAX: usize = 500;

/// Threads in a line of forks that are looked through.
const PARENTS_MAX: usize = 8;

/// What stands ahead of a message.
pub(super) struct History {
    pub(super) text: String,
    /// The lightest of what is quoted.
    pub(super) lightest: Authority,
}

/// Something that was said in a parent.
struct Quoted {
    said: Said,
    /// Whose words they are, if another agent's, and what they weighed.
    by: Option<(SafeLabel, Authority)>,
}

/// For whom the history is read.
#[derive(Debug, Clone, Copy)]
struct Reading {
    agent: AgentId,
    epoch: Epoch,
    /// Whether the program has what its agent was told in former epochs.
    remembers: bool,
}

impl Actor {
    /// The history ahead of a message: of the first one of a fork that this program is given.
    pub(super) async fn history_ahead(&self, envelope: &Envelope) -> Option<History> {
        let first = ThreadId::from_bytes(*self.identity.session_id.as_bytes());
        // Only a child's first thread may go on from another one.
        let thread = envelope.thread.or_else(|| self.identity.parent.map(|_parent| first))?;
        let (agent, epoch) = (self.identity.id, self.live.as_ref()?.place.epoch);
        let remembers = self.continuity == Continuity::Full;
        let (id, reading) = (envelope.id, Reading { agent, epoch, remembers });
        let read = move |reader: &Reader| {
            let Some(row) = reader.thread(&thread)?.filter(|row| row.parent.is_some()) else {
                return Ok(None);
            };
            let since = (!remembers).then_some(epoch);
            if reader.was_thread_given(turns_of(&row), &id, since)? {
                return Ok(None);
            }
            let quoted = quoted(reader, &row, reading)?;
            let parent_agent = match row.parent {
                Some(parent) => {
                    reader.agent_by_id(&parent.agent_id)?.map(|agent| SafeLabel::from(&agent.name))
                }
                None => None,
            };
            Ok(Some((row, quoted, parent_agent)))
        };
        let (row, (quoted, lightest), parent_agent) = match self.shared.record.read(read).await {
            Ok(found) => found?,
            Err(error) => {
                let error = chain(&error);
                tracing::error!(agent = %self.identity.name, %thread, error, "its history cannot be read");
                return None;
            }
        };
        let parent = row.parent?;
        let principal = SafeLabel::sanitized(self.shared.identity.name.as_str());
        let of = parent_agent.unwrap_or_else(|| SafeLabel::sanitized("unknown"));
        let fork = Fork {
            principal: &principal,
            thread,
            parent: parent.thread_id,
            agent: &of,
            through: parent.through,
        };
        if quoted.is_empty() {
            return None;
        }
        let quotations: Vec<Quotation<'_>> = quoted.iter().map(as_quotation).collect();
        let text = render::forked(&fork, &quotations, Bounds::NATIVE).text();
        Some(History { text, lightest })
    }
}

/// That a program hears a history which weighs less than its own words may, with the message that it stands ahead of.
pub(super) fn heard(message_id: MessageId, epoch: Epoch, lightest: Authority) -> Option<Fact> {
    let authority = lightest;
    (authority > AGENT_AUTHORITY_MAX).then_some(Fact::AnswerHeard { epoch, message_id, authority })
}

fn as_quotation(quoted: &Quoted) -> Quotation<'_> {
    match (&quoted.said, &quoted.by) {
        (Said::Turn { message_id: Some(id), text }, Some((agent, authority))) => {
            Quotation::OutputOf { agent, authority: *authority, message_id: *id, text }
        }
        (Said::Message { id, rendered }, _) => Quotation::Message { id: *id, rendered },
        (Said::Turn { message_id, text }, _) => Quotation::Turn { message_id: *message_id, text },
        (Said::Besides { kind, text }, _) => Quotation::Item { kind, text },
        (Said::Summary(summary), _) => summary.quotation(),
    }
}

/// The last of what was said in a fork's parent, and in that one's, oldest first, and the lightest of it.
fn quoted(
    reader: &Reader,
    fork: &ThreadRow,
    reading: Reading,
) -> Result<(Vec<Quoted>, Authority), ReadError> {
    let (mut newest_first, mut lightest) = (Vec::new(), Authority::Trusted);
    let mut thread = fork.clone();
    let mut turns = 0;
    for _ in 0..PARENTS_MAX {
        let Some(parent) = thread.parent else { break };
        let (Some(through), Some(row)) = (parent.through, reader.thread(&parent.thread_id)?) else { break };
        let Some(last) = reader.message(&message_of(through))? else { break };
        let mut before = last.accepted_pos.saturating_add(1);
        // Of what is up to a boundary the summary is told, unless the fork goes on from before it.
        let boundary = rehydration::boundary(reader, &row)?.filter(|drawn| drawn.through < before);
        let told_from = boundary.as_ref().map_or(0, |drawn| drawn.through.saturating_add(1));
        while turns < TURNS_MAX && before > told_from {
            let page = reader.turns_in(turns_of(&row), Order::Newest, TURNS_MAX, before)?;
            let Some(oldest) = page.last() else { break };
            before = oldest.accepted_pos;
            for turn in page.iter().filter(|turn| was_given(turn)) {
                let removed = reader.removed_turn(&turn_of(turn.envelope.id))?;
                // What was rolled back before it was forked is no part of it; what is later, still is.
                let is_gone = removed.is_some_and(|pos| pos < thread.created_pos);
                let is_had = row.agent == reading.agent
                    && (turn.epoch == Some(reading.epoch) || reading.remembers)
                    && removed.is_none();
                if is_gone || is_had || turns >= TURNS_MAX || turn.accepted_pos < told_from {
                    continue;
                }
                turns += 1;
                lightest = lightest.at_most(turn.envelope.authority);
                quote_turn(reader, turn, (row.agent, reading.agent), &mut newest_first)?;
            }
        }
        if let Some(summary) = boundary.and_then(|drawn| drawn.summary) {
            lightest = lightest.at_most(summary.authority());
            newest_first.push(Quoted { said: Said::Summary(summary), by: None });
            break;
        }
        thread = row;
    }
    for quoted in &newest_first {
        if let Some((_, authority)) = &quoted.by {
            lightest = lightest.at_most(*authority);
        }
    }
    newest_first.reverse();
    Ok((newest_first, lightest))
}

/// What was said in one turn, newest first.
fn quote_turn(
    reader: &Reader,
    turn: &MessageRow,
    (of, own): (AgentId, AgentId),
    newest_first: &mut Vec<Quoted>,
) -> Result<(), ReadError> {
    let id = turn.envelope.id;
    if let Some(committed) = reader.turn_output(&turn_of(id))?
        && let Fact::TurnCompleted { output_digest, authority, .. } = &committed.event.fact
        && let Some(text) = rehydration::text(reader, output_digest)?
    {
        let name = match of == own {
            true => None,
            false => reader.agent_by_id(&of)?.map(|agent| SafeLabel::from(&agent.name)),
        };
        let by = name.map(|name| (name, authority.unwrap_or(Authority::Untrusted)));
        newest_first.push(Quoted { said: Said::Turn { message_id: Some(id), text }, by });
    }
    for message in reader.steered_into(&of, &turn_of(id), 0)?.iter().rev().filter(|row| was_given(row)) {
        newest_first.extend(said(reader, message)?);
    }
    newest_first.extend(said(reader, turn)?);
    Ok(())
}

fn said(reader: &Reader, row: &MessageRow) -> Result<Option<Quoted>, ReadError> {
    let said = rehydration::said(reader, row, Bounds::NATIVE)?;
    Ok(said.map(|said| Quoted { said, by: None }))
}

/// Whether a turn came to its program, as far as is known.
pub(super) fn was_given(row: &MessageRow) -> bool {
    let came =
        |rung: Rung| matches!(rung, Rung::Injected | Rung::Observed | Rung::TurnEnded | Rung::Ambiguous);
    !row.waiting && row.receipts.iter().any(|receipt| came(receipt.rung))
}

/// The newest turn of a thread that its program was given, that does not run and that is part of its history.
pub(crate) fn newest_given(
    reader: &Reader,
    thread: &ThreadRow,
    running: Option<MessageId>,
) -> Result<Option<TurnId>, ReadError> {
    for row in reader.turns_in(turns_of(thread), Order::Newest, LOOKED_AT_MAX, 0)? {
        let turn = turn_of(row.envelope.id);
        if was_given(&row) && Some(row.envelope.id) != running && reader.removed_turn(&turn)?.is_none() {
            return Ok(Some(turn));
        }
    }
    Ok(None)
}

/// Where the turns of a thread are found.
pub(crate) fn turns_of(thread: &ThreadRow) -> TurnsOf {
    if thread.is_main { TurnsOf::Main(thread.agent) } else { TurnsOf::Thread(thread.id) }
}

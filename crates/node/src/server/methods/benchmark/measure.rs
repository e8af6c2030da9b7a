//! What the record says of one trial: how long it took, what it used, and what is missing.

use edgeplane_store::{ReadError, Reader, StoredBody, TrialRow};
use edgeplane_types::{
    AgentId, Fact, MessageId, RunLimit, RunState, StreamName,
    decision::ActionOutcome,
    fact::{RewardRecorded, UsageReported},
};

use crate::work::{Meter, message_of};

/// Events of a trial that are looked through; of a longer one it is said that it is not whole.
const EVENTS_MAX: u64 = 100_000;

/// Events that are read at once.
const PAGE: usize = 1_000;

/// A trial, measured.
#[derive(Debug, Clone)]
pub(super) struct Measured {
    pub(super) row: TrialRow,
    /// From when its program began until it ended, in milliseconds.
    pub(super) duration_ms: Option<u64>,
    /// Tokens, as far as its program said them.
    pub(super) tokens: Option<u64>,
    /// Millionths, and of what.
    pub(super) cost: Option<(u64, String)>,
    /// How often people or time said no to what it wanted to do.
    pub(super) denied: u64,
    /// What of its evidence is missing, each once.
    pub(super) gaps: Vec<&'static str>,
}

impl Measured {
    /// The reward that counts: the last one, unless it was said before the end.
    pub(super) fn reward(&self) -> Option<&RewardRecorded> {
        let reward = self.row.reward.as_ref().map(|reward| &reward.recorded);
        reward.filter(|reward| !reward.is_early)
    }

    pub(super) fn is_timeout(&self) -> bool {
        let ended = self.row.ended.as_ref();
        ended.is_some_and(|(ended, ..)| {
            ended.state == RunState::TimedOut || ended.limit == Some(RunLimit::WallTime)
        })
    }

    pub(super) fn is_completed(&self) -> bool {
        self.row.ended.as_ref().is_some_and(|(ended, ..)| ended.state == RunState::Completed)
    }
}

/// The agent that has a trial's message, and the numbers of its stream between which the trial lies.
pub(super) fn stretch(
    reader: &Reader,
    row: &TrialRow,
) -> Result<Option<(AgentId, MessageId, u64, u64)>, ReadError> {
    let id = message_of(row.started.run_id);
    let Some(message) = reader.message(&id)? else { return Ok(None) };
    let agent = message.envelope.target;
    let stream = StreamName::Agent(agent);
    let from = reader.seq_at(&stream, message.accepted_pos)?;
    let to = match &row.ended {
        Some((_, _, pos)) => reader.seq_at(&stream, pos.saturating_add(1))?,
        None => reader.stream_head(&stream)?.map_or(1, |head| head.seq.saturating_add(1)),
    };
    Ok(Some((agent, id, from, to)))
}

/// Measures a trial.
pub(super) fn measure(reader: &Reader, row: TrialRow) -> Result<Measured, ReadError> {
    let mut gaps = Vec::new();
    let run = reader.run(&row.started.run_id)?;
    let ended = row.ended.as_ref();
    let duration_ms = run.as_ref().and_then(|run| run.begun_at).zip(ended).map(|(begun, (_, at, _))| {
        let micros = at.as_micros().saturating_sub(begun.as_micros());
        u64::try_from(micros).unwrap_or(0) / 1_000
    });
    match ended {
        None => gaps.push("not_ended"),
        Some((ended, ..)) if ended.state == RunState::Lost => gaps.push("lost"),
        Some(_) => {}
    }
    let mut measured = Measured { row, duration_ms, tokens: None, cost: None, denied: 0, gaps: Vec::new() };
    if measured.reward().is_none() {
        gaps.push("no_reward");
    }
    if let Some(run) = &run {
        let to = measured.row.ended.as_ref().map_or(u64::MAX.saturating_sub(1), |(_, _, pos)| *pos);
        let (tokens, cost) = Meter::over(reader, run, to)?;
        measured.tokens = tokens;
        measured.cost = cost.map(|micros| (micros, String::new()));
    }
    match stretch(reader, &measured.row)? {
        None => gaps.push("no_message"),
        Some(stretch) => walk(reader, stretch, &mut measured, &mut gaps)?,
    }
    gaps.sort_unstable();
    gaps.dedup();
    measured.gaps = gaps;
    Ok(measured)
}

/// Goes through what happened to its agent meanwhile.
fn walk(
    reader: &Reader,
    (agent, id, from, to): (AgentId, MessageId, u64, u64),
    measured: &mut Measured,
    gaps: &mut Vec<&'static str>,
) -> Result<(), ReadError> {
    let stream = StreamName::Agent(agent);
    let end = to.min(from.saturating_add(EVENTS_MAX));
    if end < to {
        gaps.push("too_long");
    }
    let mut next = from;
    while next < end {
        let page = reader.events(&stream, next, PAGE)?;
        let Some(last) = page.last() else { break };
        let after = last.event.seq.saturating_add(1);
        for committed in page.iter().filter(|committed| committed.event.seq < end) {
            note(reader, &committed.event.fact, id, (measured, gaps))?;
        }
        next = after;
    }
    Ok(())
}

fn note(
    reader: &Reader,
    fact: &Fact,
    id: MessageId,
    (measured, gaps): (&mut Measured, &mut Vec<&'static str>),
) -> Result<(), ReadError> {
    match fact {
        Fact::MessageAccepted { envelope } if envelope.id == id => {
            gaps.extend(is_erased(reader, &envelope.content_digest)?.then_some("erased"));
        }
        Fact::TurnCompleted { message_id: Some(of), output_digest, output_bytes: 1.., .. } if *of == id => {
            gaps.extend(is_erased(reader, output_digest)?.then_some("erased"));
        }
        Fact::UsageReported(UsageReported { cost: Some(cost), .. }) => {
            let currency = cost.split_once(' ').map_or("", |(_, currency)| currency);
            if let Some((_, of)) = &mut measured.cost {
                currency.clone_into(of);
            }
        }
        Fact::ActionResolved {
            action_id, outcome: ActionOutcome::Denied | ActionOutcome::Expired, ..
        } => {
            let action = reader.action(action_id)?;
            if action.is_some_and(|row| row.action.causation == Some(id)) {
                measured.denied = measured.denied.saturating_add(1);
            }
        }
        Fact::MessageAmbiguous { message_id, .. } if *message_id == id => gaps.push("ambiguous"),
        Fact::RecordingGap { .. } => gaps.push("recording_gap"),
        Fact::AgentUnobservable { .. } => gaps.push("unobservable"),
        _ => {}
    }
    Ok(())
}

fn is_erased(reader: &Reader, digest: &str) -> Result<bool, ReadError> {
    let Ok(digest) = digest.parse() else { return Ok(true) };
    Ok(!matches!(reader.body(&digest)?, Some(StoredBody::Bytes(_))))
}

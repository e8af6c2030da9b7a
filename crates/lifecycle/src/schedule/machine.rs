//! What becomes of each occurrence: `step(schedule, state, input) -> step`.
//!
//! Every occurrence is accounted for once and in order. What is remembered is up to where that has been done; it
//! follows from the facts in the record, so that a restart neither repeats nor forgets one.

use edgeplane_types::{
    Fact, Timestamp,
    schedule::{MissReason, RunCause, SkipReason},
};

use super::{CAUGHT_UP_MAX, CatchUp, Overlap, Schedule};

/// An occurrence that is found later than this, in milliseconds, was not acted on in time. A look is a timer of a
/// busy machine: it comes within seconds unless the clock was put forward or the machine was suspended.
pub const LATE_AFTER_MS: u64 = 60_000;

/// How far a schedule's occurrences are accounted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct State {
    /// Everything up to and with this moment is accounted for. It never moves back, so that a clock which does
    /// repeats nothing.
    accounted_until: Timestamp,
    /// Whether occurrences are skipped until somebody resumes it.
    paused: bool,
    /// Whether this node has looked since it began to serve. Not durable.
    looked: bool,
}

impl State {
    /// The state after a schedule was declared at this moment.
    fn declared(at: Timestamp) -> Self {
        Self { accounted_until: at, paused: false, looked: true }
    }

    /// The state that the facts of one schedule in the record give, from its first declaration on. None if it is
    /// removed or was never declared. `facts` are those of the schedule, each with its time, in their order.
    pub fn from_facts<'f>(facts: impl IntoIterator<Item = (Timestamp, &'f Fact)>) -> Option<Self> {
        facts.into_iter().fold(None, |state, (at, fact)| Self::after(state, at, fact))
    }

    /// The state after one more fact. What is not of a schedule changes nothing.
    #[must_use]
    pub fn after(state: Option<Self>, at: Timestamp, fact: &Fact) -> Option<Self> {
        let until = |moment: Timestamp| {
            state.map(|state| Self { accounted_until: state.accounted_until.max(moment), ..state })
        };
        match fact {
            Fact::ScheduleDeclared { .. } if state.is_none() => {
                Some(Self { looked: false, ..Self::declared(at) })
            }
            // What a changed schedule would have done before it said so is nobody's occurrence.
            Fact::ScheduleDeclared { .. } => until(at),
            Fact::ScheduleRan { due_at, cause: RunCause::Due | RunCause::CatchUp, .. }
            | Fact::ScheduleSkipped { due_at, .. } => until(*due_at),
            Fact::ScheduleMissed { to, .. } => until(*to),
            Fact::SchedulePaused { .. } => state.map(|state| Self { paused: true, ..state }),
            Fact::ScheduleResumed { .. } => state.map(|state| Self { paused: false, ..state }),
            Fact::ScheduleRemoved { .. } => None,
            _ => state,
        }
    }

    /// The moment up to which every occurrence is accounted for.
    #[must_use]
    pub fn accounted_until(&self) -> Timestamp {
        self.accounted_until
    }

    /// Whether occurrences are skipped until somebody resumes it.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.paused
    }
}

/// What the caller sees when it looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// What time it is.
    pub now: Timestamp,
    /// Since when this node serves. What came due before is told apart by it in the first look after a start.
    pub serving_since: Timestamp,
    /// Whether the message of an earlier occurrence has not ended its turn; for an agent that reports no turns,
    /// whether it waits to be injected.
    pub previous_open: bool,
}

/// What happens to a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// Somebody looked: a timer went off, or the node began to serve.
    Looked(Look),
    /// It is to be paused. What came due before that is accounted for first.
    Paused(Look),
    /// It is to run again. What came due before that was skipped.
    Resumed(Look),
}

/// What the caller does after a step, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// Send the message of this occurrence.
    Run {
        /// When it was due.
        due_at: Timestamp,
        /// Why it runs.
        cause: RunCause,
    },
    /// Note that this occurrence sends nothing.
    Skip {
        /// When it was due.
        due_at: Timestamp,
        /// Why.
        reason: SkipReason,
    },
    /// Note that these occurrences send nothing.
    Miss {
        /// The first of them.
        from: Timestamp,
        /// The last of them.
        to: Timestamp,
        /// How many; [`super::COUNTED_MAX`] of a cron expression means at least so many.
        count: u64,
        /// Why.
        reason: MissReason,
    },
    /// Look again at this moment. The clock may be put forward meanwhile, so a caller whose timers do not follow the
    /// clock looks once in a while besides; looking too often changes nothing. Absent: it is never due again.
    WakeAt(Timestamp),
}

/// A new state and what follows from it. The state holds once the outputs are in the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The state.
    pub state: State,
    /// What follows.
    pub outputs: Vec<Output>,
}

/// Begins a schedule that is declared at this moment, or that is declared anew and was in the state `before`.
///
/// A schedule is due only after it is declared. One that names a single moment which is over by then is missed
/// at once, whatever its catch-up rule: nobody who applies an old file wants last year's message, and nobody should
/// wait for one that never comes.
#[must_use]
pub fn declare(schedule: &Schedule, before: Option<&State>, at: Timestamp) -> Step {
    let state = before.map_or(State::declared(at), |before| State {
        accounted_until: before.accounted_until.max(at),
        paused: before.paused,
        looked: true,
    });
    let outputs = match schedule.due_after(state.accounted_until) {
        Some(due_at) => vec![Output::WakeAt(schedule.fire_at(due_at))],
        None => schedule
            .due_by(at)
            .filter(|due_at| before.is_none_or(|before| *due_at > before.accounted_until))
            .map(|due_at| miss(schedule, due_at, due_at, MissReason::Deadline))
            .into_iter()
            .collect(),
    };
    Step { state, outputs }
}

/// Accounts for everything that came due.
#[must_use]
pub fn step(schedule: &Schedule, state: &State, input: &Input) -> Step {
    match input {
        Input::Looked(look) => account(schedule, state, look),
        Input::Paused(look) => paused(account(schedule, state, look), true),
        Input::Resumed(look) => paused(account(schedule, state, look), false),
    }
}

fn paused(step: Step, paused: bool) -> Step {
    Step { state: State { paused, ..step.state }, ..step }
}

/// An occurrence and when it is acted on.
#[derive(Debug, Clone, Copy)]
struct Occurrence {
    due_at: Timestamp,
    fire_at: Timestamp,
}

fn account(schedule: &Schedule, state: &State, look: &Look) -> Step {
    let mut next = State { looked: true, ..*state };
    let mut outputs = Vec::new();
    let mut late = newest_ripe(schedule, state.accounted_until, look.now);
    if let Some(newest) = late.last().copied() {
        next.accounted_until = newest.due_at;
        let in_time = late.pop_if(|newest| is_in_time(state, look, newest));
        let caught_up = late.split_off(late.len().saturating_sub(kept(schedule.catch_up, in_time.is_some())));
        let spared = caught_up.first().or(in_time.as_ref()).map(|first| first.due_at);
        let missed_to = spared.map_or(Some(newest.due_at), |first| schedule.due_before(first));
        outputs.extend(missed(schedule, state, look, missed_to));
        outputs.extend(ran(schedule, state, look, &caught_up, RunCause::CatchUp));
        outputs.extend(ran(schedule, state, look, in_time.as_slice(), RunCause::Due));
    }
    let wake = schedule.due_after(next.accounted_until).map(|due_at| schedule.fire_at(due_at));
    outputs.extend(wake.map(Output::WakeAt));
    Step { state: next, outputs }
}

/// The newest occurrences after `after` that are to be acted on by `now`, oldest first: as many as can matter one
/// by one.
fn newest_ripe(schedule: &Schedule, after: Timestamp, now: Timestamp) -> Vec<Occurrence> {
    let most = kept(schedule.catch_up, false).saturating_add(1);
    let mut ripe = Vec::new();
    let mut at = schedule.fired_by(now);
    while let Some(due_at) = at.filter(|due_at| *due_at > after && ripe.len() < most) {
        ripe.push(Occurrence { due_at, fire_at: schedule.fire_at(due_at) });
        at = schedule.due_before(due_at);
    }
    ripe.reverse();
    ripe
}

/// Whether the newest occurrence came due while the node served, and only just.
fn is_in_time(state: &State, look: &Look, newest: &Occurrence) -> bool {
    let served = state.looked || newest.fire_at > look.serving_since;
    served && look.now.millis_since(newest.fire_at) <= LATE_AFTER_MS
}

/// How many late occurrences run.
fn kept(catch_up: CatchUp, newest_is_in_time: bool) -> usize {
    match catch_up {
        CatchUp::None => 0,
        // The one that is in time is the last one.
        CatchUp::Last => usize::from(!newest_is_in_time),
        CatchUp::All { max } => usize::try_from(max.min(CAUGHT_UP_MAX)).unwrap_or(0),
    }
}

/// Notes everything that is not accounted for up to and with `to`: first what came due while the node was not there,
/// then what came due while it was.
fn missed(schedule: &Schedule, state: &State, look: &Look, to: Option<Timestamp>) -> Vec<Output> {
    let after = state.accounted_until;
    let Some(to) = to.filter(|to| *to > after) else { return Vec::new() };
    let absent_to = if state.looked { None } else { schedule.fired_by(look.serving_since) };
    let absent_to = absent_to.map(|absent_to| absent_to.min(to)).filter(|absent_to| *absent_to > after);
    let range = |after: Timestamp, to: Timestamp, reason| {
        let from = schedule.due_after(after).filter(|from| *from <= to)?;
        Some(miss(schedule, from, to, reason))
    };
    let absent = absent_to.and_then(|absent_to| range(after, absent_to, MissReason::NodeDown));
    let jumped = range(absent_to.unwrap_or(after), to, MissReason::ClockJump);
    absent.into_iter().chain(jumped).collect()
}

fn miss(schedule: &Schedule, from: Timestamp, to: Timestamp, reason: MissReason) -> Output {
    Output::Miss { from, to, count: schedule.count(from, to), reason }
}

/// Runs these occurrences but for those that are too late, that the pause holds back, or that meet an open turn.
/// They do not hinder each other: who asks for several at once gets them one behind the other.
fn ran(
    schedule: &Schedule,
    state: &State,
    look: &Look,
    occurrences: &[Occurrence],
    cause: RunCause,
) -> Vec<Output> {
    let is_late = |occurrence: &Occurrence| {
        schedule.deadline_ms.is_some_and(|most| look.now.millis_since(occurrence.fire_at) > most)
    };
    let (late, timely) = occurrences.split_at(occurrences.partition_point(is_late));
    let mut outputs = Vec::new();
    if let [first, .., last] | [first @ last] = late {
        outputs.push(miss(schedule, first.due_at, last.due_at, MissReason::Deadline));
    }
    let refusal = if state.paused {
        Some(SkipReason::Paused)
    } else {
        (look.previous_open && schedule.overlap == Overlap::Skip).then_some(SkipReason::Overlap)
    };
    outputs.extend(timely.iter().map(|Occurrence { due_at, .. }| match refusal {
        Some(reason) => Output::Skip { due_at: *due_at, reason },
        None => Output::Run { due_at: *due_at, cause },
    }));
    outputs
}

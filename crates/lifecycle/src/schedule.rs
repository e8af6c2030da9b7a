//! When a schedule is due, and what becomes of each time it is.
//!
//! Owns the calendar (cron, spans, single moments, daylight saving) and the rule that every occurrence is accounted
//! for once: it ran, was skipped or was missed. It does not know what a run sends, and it reads no clock: the caller
//! says what time it is. Time zones come from a database inside the program, so that the answer does not depend on
//! the machine.

mod calendar;
mod machine;
mod zone;

use edgeplane_types::Timestamp;

use calendar::Calendar;
pub use machine::{Input, LATE_AFTER_MS, Look, Output, State, Step, declare, step};

/// Most occurrences of a cron expression that are counted one by one. A count of missed ones that reaches it means
/// at least so many; the range beside it is right all the same. Counting further would take the engine's time for a
/// number that helps nobody.
pub const COUNTED_MAX: u64 = 100_000;

/// Most occurrences that one catch-up may run; a greater number in a plan is taken for this one.
pub const CAUGHT_UP_MAX: u32 = 1_000;

/// Shortest span between two occurrences, in milliseconds.
pub const SPAN_MS_MIN: u64 = 1_000;

/// What a schedule says, as its declaration gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// When it comes due.
    pub when: When,
    /// The time zone of cron fields and local times, by its name in the IANA database.
    pub zone: String,
    /// What becomes of occurrences that could not run in time.
    pub catch_up: CatchUp,
    /// What happens while the run before has not ended.
    pub overlap: Overlap,
    /// Each run is put off by less than this, in milliseconds, and always short of the next occurrence.
    pub jitter_ms: u64,
    /// Later than this, in milliseconds, an occurrence does not run.
    pub deadline_ms: Option<u64>,
    /// What sets its jitter apart from that of others, such as the ids of its agent and its name.
    pub seed: Vec<u8>,
}

/// When a schedule comes due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum When {
    /// Whenever the local clock shows what this expression of 5 or 6 fields says.
    Cron(String),
    /// At `from`, and whenever another span has gone by since.
    Every {
        /// The span in milliseconds.
        span_ms: u64,
        /// The first occurrence; where a declaration names none, the moment of the declaration.
        from: Timestamp,
    },
    /// Once: at a local time such as `2026-12-01T09:00:00`, or at a moment with its offset.
    At(String),
}

/// What becomes of occurrences that came due while nobody looked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CatchUp {
    /// None of them runs.
    None,
    /// The last one runs.
    Last,
    /// The newest so many run.
    All {
        /// How many at most.
        max: u32,
    },
}

/// What happens while the run before has not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overlap {
    /// The occurrence runs.
    Allow,
    /// The occurrence is skipped.
    Skip,
}

/// Why a plan is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// The expression cannot be read.
    #[error("`{expression}` is not a cron expression: {problem}")]
    Cron {
        /// The expression.
        expression: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The zone is not in the database.
    #[error("`{0}` is not a time zone of the IANA database")]
    Zone(String),
    /// The time cannot be read.
    #[error("`{0}` is neither a local time nor a moment with its offset")]
    At(String),
    /// The span is too short.
    #[error("a span of {0} ms is shorter than {SPAN_MS_MIN} ms")]
    Span(u64),
}

/// A plan that can be asked when it is due.
#[derive(Debug, Clone)]
pub struct Schedule {
    calendar: Calendar,
    catch_up: CatchUp,
    overlap: Overlap,
    jitter_us: i64,
    deadline_ms: Option<u64>,
    seed: Vec<u8>,
}

impl Schedule {
    /// Reads a plan.
    ///
    /// # Errors
    ///
    /// An expression, a zone, a time or a span that is none.
    pub fn compile(plan: &Plan) -> Result<Self, PlanError> {
        let Plan { when, zone, catch_up, overlap, jitter_ms, deadline_ms, seed } = plan;
        Ok(Self {
            calendar: Calendar::compile(when, zone)?,
            catch_up: *catch_up,
            overlap: *overlap,
            jitter_us: i64::try_from(*jitter_ms).unwrap_or(i64::MAX).saturating_mul(1_000),
            deadline_ms: *deadline_ms,
            seed: seed.clone(),
        })
    }

    /// The first occurrence after `moment`, if there is another one.
    #[must_use]
    pub fn due_after(&self, moment: Timestamp) -> Option<Timestamp> {
        self.calendar.due_after(moment)
    }

    /// The last occurrence up to and with `moment`, if there was one.
    #[must_use]
    pub fn due_by(&self, moment: Timestamp) -> Option<Timestamp> {
        self.calendar.due_by(moment)
    }

    /// When the occurrence that is due at `due_at` is acted on: then, or later by its jitter.
    ///
    /// The delay follows from the seed and the moment alone, so that a restart does not change it. It ends before the
    /// next occurrence, so that occurrences are acted on in their order.
    #[must_use]
    pub fn fire_at(&self, due_at: Timestamp) -> Timestamp {
        if self.jitter_us == 0 {
            return due_at;
        }
        let room = self.due_after(due_at).map_or(i64::MAX, |next| next.as_micros() - due_at.as_micros());
        let reach = u64::try_from(self.jitter_us.min(room)).unwrap_or(0).max(1);
        let delay = i64::try_from(chance(&self.seed, due_at) % reach).unwrap_or(0);
        Timestamp::from_micros(due_at.as_micros().saturating_add(delay))
    }

    /// How many occurrences there are from `first` to `last`, both of them occurrences.
    fn count(&self, first: Timestamp, last: Timestamp) -> u64 {
        self.calendar.count(first, last)
    }

    /// The last occurrence that is acted on up to and with `moment`.
    fn fired_by(&self, moment: Timestamp) -> Option<Timestamp> {
        let due_at = self.due_by(moment)?;
        if self.fire_at(due_at) <= moment {
            return Some(due_at);
        }
        // Only the newest can be waiting for its jitter, which ends before the next occurrence.
        self.due_before(due_at)
    }

    fn due_before(&self, moment: Timestamp) -> Option<Timestamp> {
        self.due_by(Timestamp::from_micros(moment.as_micros().saturating_sub(1)))
    }
}

/// A number that looks random and is the same on every machine and in every version: FNV-1a, its bits mixed once
/// more because neighbouring moments would else have neighbouring numbers.
fn chance(seed: &[u8], due_at: Timestamp) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in seed.iter().chain(&due_at.as_micros().to_be_bytes()) {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^ (hash >> 33)
}

#[cfg(test)]
mod tests;

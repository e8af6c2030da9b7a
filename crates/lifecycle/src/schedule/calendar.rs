//! The occurrences of a schedule: the next one, the last one, how many.
//!
//! A cron expression speaks of what a clock on the wall shows. One that names every hour follows the clock through a
//! change: it is due whenever the clock shows what it says, twice in an hour that comes twice, not at all in one that
//! does not come. One that names its hours means each named time once a day: the first of two, and the first moment
//! behind a gap.

use croner::{
    Cron,
    parser::{CronParser, Seconds, Year},
};
use edgeplane_types::Timestamp;
use jiff::civil::DateTime;

use super::{
    COUNTED_MAX, PlanError, SPAN_MS_MIN, When,
    zone::{Stretch, Zone},
};

/// Most changes of a zone's clock that a search passes: two a year, for the 400 years after which the calendar
/// repeats. An expression that has found nothing by then is never due.
const STRETCHES_MAX: usize = 800;

/// Hours of a day: an expression that names as many names every hour.
const HOURS: usize = 24;

/// When a schedule is due.
#[derive(Debug, Clone)]
pub(super) enum Calendar {
    /// By a clock on the wall.
    Cron(Box<Wall>),
    /// By elapsed time, in microseconds.
    Every { from: i64, span: i64 },
    /// Once.
    At(Timestamp),
}

/// A cron expression and the zone whose clock it reads.
#[derive(Debug, Clone)]
pub(super) struct Wall {
    cron: Cron,
    zone: Zone,
    /// Whether it names every hour, and so follows the clock through its changes.
    every_hour: bool,
}

impl Calendar {
    pub(super) fn compile(when: &When, zone: &str) -> Result<Self, PlanError> {
        let found = Zone::find(zone).ok_or_else(|| PlanError::Zone(zone.to_owned()))?;
        match when {
            When::Cron(expression) => {
                let parser = CronParser::builder().seconds(Seconds::Optional).year(Year::Disallowed).build();
                let cron = parser.parse(expression).map_err(|error| PlanError::Cron {
                    expression: expression.clone(),
                    problem: error.to_string(),
                })?;
                let every_hour = cron.pattern.hours.values().len() == HOURS;
                Ok(Self::Cron(Box::new(Wall { cron, zone: found, every_hour })))
            }
            When::Every { span_ms, from } => match i64::try_from(*span_ms) {
                Ok(millis) if *span_ms >= SPAN_MS_MIN => {
                    Ok(Self::Every { from: from.as_micros(), span: millis.saturating_mul(1_000) })
                }
                Ok(_) | Err(_) => Err(PlanError::Span(*span_ms)),
            },
            When::At(text) => {
                let moment = match text.parse::<Timestamp>() {
                    Ok(moment) => Some(moment),
                    Err(_) => text.parse::<DateTime>().ok().and_then(|local| found.moment(local)).map(ours),
                };
                moment.map(Self::At).ok_or_else(|| PlanError::At(text.clone()))
            }
        }
    }

    pub(super) fn due_after(&self, moment: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Cron(wall) => wall.due_after(theirs(moment)?).map(ours),
            Self::Every { from, .. } if moment.as_micros() < *from => Some(Timestamp::from_micros(*from)),
            Self::Every { from, span } => {
                let spans = moment.as_micros().checked_sub(*from)?.checked_div(*span)?.checked_add(1)?;
                let due = Timestamp::from_micros(from.checked_add(spans.checked_mul(*span)?)?);
                // Time ends with the year 9999, where every moment is the same.
                (due > moment).then_some(due)
            }
            Self::At(at) => (*at > moment).then_some(*at),
        }
    }

    pub(super) fn due_by(&self, moment: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Cron(wall) => wall.due_by(theirs(moment)?).map(ours),
            Self::Every { from, span } => {
                let gone = moment.as_micros().checked_sub(*from).filter(|gone| *gone >= 0)?;
                Some(Timestamp::from_micros(moment.as_micros().checked_sub(gone.checked_rem(*span)?)?))
            }
            Self::At(at) => (*at <= moment).then_some(*at),
        }
    }

    pub(super) fn count(&self, first: Timestamp, last: Timestamp) -> u64 {
        match self {
            Self::Cron(wall) => wall.count(first, last),
            Self::Every { span, .. } => {
                let spans = last.as_micros().saturating_sub(first.as_micros()).checked_div(*span);
                u64::try_from(spans.unwrap_or(0)).unwrap_or(0).saturating_add(1)
            }
            Self::At(_) => 1,
        }
    }
}

impl Wall {
    fn due_after(&self, moment: jiff::Timestamp) -> Option<jiff::Timestamp> {
        self.next(&mut self.zone.stretch(moment), moment)
    }

    /// Finds the first occurrence after `moment`, which lies in `stretch`. Leaves there the stretch that it lies in.
    fn next(&self, stretch: &mut Stretch, moment: jiff::Timestamp) -> Option<jiff::Timestamp> {
        let mut local = self.shown_from(stretch, moment, false)?;
        for _ in 0..STRETCHES_MAX {
            if let Some(found) = stretch.moment(local) {
                return Some(found);
            }
            let begin = stretch.end?;
            *stretch = self.zone.stretch(begin);
            let is_swallowed = local < stretch.local(begin);
            if is_swallowed && !self.every_hour {
                return Some(begin);
            }
            // What the clock shows a second time is nothing new to an expression that names its hours: what is
            // next has not been shown at all.
            if self.every_hour && (is_swallowed || stretch.shift_seconds < 0) {
                local = self.shown_from(stretch, begin, true)?;
            }
        }
        None
    }

    /// The first local time after that at `moment`, or that one if it counts, that the expression names.
    fn shown_from(&self, stretch: &Stretch, moment: jiff::Timestamp, counts: bool) -> Option<DateTime> {
        // A moment at which the clock shows something for the second time is followed by what it has not shown.
        let new = stretch.first_new().filter(|new| !self.every_hour && *new > moment);
        let (from, counts) = new.map_or((moment, counts), |new| (new, true));
        self.cron.find_next_occurrence(&stretch.local(from), counts).ok()
    }

    fn due_by(&self, moment: jiff::Timestamp) -> Option<jiff::Timestamp> {
        let mut stretch = self.zone.stretch(moment);
        let mut local = self.shown_by(&stretch, moment)?;
        for _ in 0..STRETCHES_MAX {
            let is_new = |found: &jiff::Timestamp| {
                self.every_hour || stretch.first_new().is_none_or(|new| new <= *found)
            };
            if let Some(found) = stretch.moment(local).filter(is_new) {
                return Some(found);
            }
            let begin = stretch.begin?;
            let is_swallowed = stretch.gap().is_some_and(|(from, until)| from <= local && local < until);
            if is_swallowed && !self.every_hour {
                return Some(begin);
            }
            let last = begin.checked_sub(jiff::SignedDuration::from_micros(1)).ok()?;
            let went_back = stretch.shift_seconds < 0;
            stretch = self.zone.stretch(last);
            if is_swallowed || went_back {
                local = self.shown_by(&stretch, last)?;
            }
        }
        None
    }

    /// The last local time up to and with that at `moment` that the expression names.
    fn shown_by(&self, stretch: &Stretch, moment: jiff::Timestamp) -> Option<DateTime> {
        self.cron.find_previous_occurrence(&stretch.local(moment), true).ok()
    }

    fn count(&self, first: Timestamp, last: Timestamp) -> u64 {
        let (Some(mut at), Some(last)) = (theirs(first), theirs(last)) else { return 1 };
        let mut stretch = self.zone.stretch(at);
        let mut count: u64 = 1;
        while at < last && count < COUNTED_MAX {
            let Some(next) = self.next(&mut stretch, at) else { break };
            at = next;
            count = count.saturating_add(1);
        }
        count
    }
}

fn theirs(moment: Timestamp) -> Option<jiff::Timestamp> {
    jiff::Timestamp::from_microsecond(moment.as_micros()).ok()
}

fn ours(moment: jiff::Timestamp) -> Timestamp {
    Timestamp::from_micros(moment.as_microsecond())
}

//! A time zone as stretches in which its clock runs evenly.
//!
//! Within a stretch a local time is one moment and a moment one local time, so that no rule above has to ask which of
//! two it means. Knows nothing of schedules.

use jiff::{
    Timestamp,
    civil::DateTime,
    tz::{Offset, TimeZone, TimeZoneDatabase},
};

/// A zone of the database inside the program.
#[derive(Debug, Clone)]
pub(super) struct Zone(TimeZone);

/// A span of time in which the zone's clock is neither put forward nor back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stretch {
    /// Its first moment; none for the first stretch of all.
    pub(super) begin: Option<Timestamp>,
    /// The first moment of the next one; none for the last.
    pub(super) end: Option<Timestamp>,
    /// Its clock, relative to UTC.
    pub(super) offset: Offset,
    /// By how many seconds the clock was put forward when it began; back where negative.
    pub(super) shift_seconds: i64,
}

impl Zone {
    /// Finds a zone by its exact name.
    pub(super) fn find(name: &str) -> Option<Self> {
        let zone = TimeZoneDatabase::bundled().get(name).ok()?;
        (name == "UTC" || zone.iana_name() == Some(name)).then_some(Self(zone))
    }

    /// The stretch that `moment` lies in.
    pub(super) fn stretch(&self, moment: Timestamp) -> Stretch {
        let offset = self.0.to_offset(moment);
        let just = jiff::SignedDuration::from_micros(1);
        // The database asks for what lies strictly before, and a stretch has its first moment.
        let behind = moment.checked_add(just).unwrap_or(moment);
        let begin = self.0.preceding(behind).next().map(|transition| transition.timestamp());
        let before = begin.and_then(|begin| begin.checked_sub(just).ok()).map(|last| self.0.to_offset(last));
        let shift_seconds = before.map_or(0, |before| i64::from(offset.seconds() - before.seconds()));
        let end = self.0.following(moment).next().map(|transition| transition.timestamp());
        Stretch { begin, end, offset, shift_seconds }
    }

    /// The moment of a local time: one that comes twice is meant the first time, one that does not come is the first
    /// moment after it would have.
    pub(super) fn moment(&self, local: DateTime) -> Option<Timestamp> {
        let ambiguous = self.0.to_ambiguous_timestamp(local);
        if !ambiguous.is_ambiguous() {
            return ambiguous.compatible().ok();
        }
        // With the clock from before the change, a time that comes twice is its first moment, and one that does not
        // come lies in the stretch behind the gap.
        let found = ambiguous.compatible().ok()?;
        let stretch = self.stretch(found);
        if stretch.local(found) == local { Some(found) } else { stretch.begin }
    }
}

impl Stretch {
    /// What the clock shows at `moment`.
    pub(super) fn local(&self, moment: Timestamp) -> DateTime {
        self.offset.to_datetime(moment)
    }

    /// When the clock shows `local`, if that is within this stretch.
    pub(super) fn moment(&self, local: DateTime) -> Option<Timestamp> {
        let moment = self.offset.to_timestamp(local).ok()?;
        let begun = self.begin.is_none_or(|begin| begin <= moment);
        (begun && self.end.is_none_or(|end| moment < end)).then_some(moment)
    }

    /// The first moment whose local time the stretch before has not shown already.
    pub(super) fn first_new(&self) -> Option<Timestamp> {
        let again = jiff::SignedDuration::from_secs(self.shift_seconds.min(0).saturating_neg());
        self.begin.map(|begin| begin.checked_add(again).unwrap_or(begin))
    }

    /// The local times that no clock showed because it was put forward: from the first, up to but without the last.
    pub(super) fn gap(&self) -> Option<(DateTime, DateTime)> {
        let begin = self.begin.filter(|_| self.shift_seconds > 0)?;
        let until = self.local(begin);
        let from = until.checked_sub(jiff::SignedDuration::from_secs(self.shift_seconds)).ok()?;
        Some((from, until))
    }
}

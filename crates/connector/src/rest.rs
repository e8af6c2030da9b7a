//! How long a server that failed is left alone. Pure: the time comes with each question.

use std::time::Duration;

use tokio::time::Instant;

use crate::{Failure, Limits};

/// What is remembered of the failures of one server.
#[derive(Debug, Default)]
pub(crate) struct Rest {
    failures: u32,
    until: Option<Instant>,
    last: String,
    is_locked: bool,
}

impl Rest {
    /// Books a failure, or the end of a connection that lived for a time.
    pub(crate) fn failed(&mut self, limits: &Limits, lived: Duration, now: Instant, why: &Failure) {
        if lived >= limits.stable {
            self.failures = 0;
        }
        self.failures = self.failures.saturating_add(1);
        let doubled =
            limits.rest_first.saturating_mul(1_u32.checked_shl(self.failures - 1).unwrap_or(u32::MAX));
        let is_tripped = self.failures >= limits.failures_max;
        let rest = if is_tripped { limits.rest_max } else { doubled.min(limits.rest_max) };
        self.until = Some(now + rest);
        self.last = why.to_string();
        self.is_locked = matches!(why, Failure::Unauthorized(_));
    }

    /// Refuses as long as it is to be left alone.
    pub(crate) fn check(&self, now: Instant) -> Result<(), Failure> {
        match self.until {
            Some(until) if until > now => {
                let (failures, last, is_locked) = (self.failures, self.last.clone(), self.is_locked);
                Err(Failure::Resting { failures, more: until - now, last, is_locked })
            }
            Some(_) | None => Ok(()),
        }
    }

    /// How often it failed in a row.
    pub(crate) fn failures(&self) -> u32 {
        self.failures
    }

    /// How it failed last.
    pub(crate) fn last(&self) -> Option<&str> {
        (self.failures > 0).then_some(self.last.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits() -> Limits {
        Limits { rest_first: Duration::from_millis(100), failures_max: 4, ..Limits::standard() }
    }

    fn rests(rest: &Rest, now: Instant) -> u128 {
        match rest.check(now) {
            Err(Failure::Resting { more, .. }) => more.as_millis(),
            _ => 0,
        }
    }

    /// Proves CAP-014.
    #[test]
    fn rests_double_until_the_breaker_trips() {
        let (limits, now) = (limits(), Instant::now());
        let mut rest = Rest::default();
        let mut found = vec![rests(&rest, now)];
        for _ in 0..4 {
            rest.failed(&limits, Duration::ZERO, now, &Failure::Stopped);
            found.push(rests(&rest, now));
        }
        assert_eq!(found, [0, 100, 200, 400, 60_000]);
        // Once that time is over it is tried again.
        assert_eq!(rests(&rest, now + limits.rest_max), 0);
    }

    #[test]
    fn long_life_makes_earlier_failures_forgotten() {
        let (limits, now) = (limits(), Instant::now());
        let mut rest = Rest::default();
        for _ in 0..3 {
            rest.failed(&limits, Duration::ZERO, now, &Failure::Stopped);
        }
        rest.failed(&limits, limits.stable, now, &Failure::Stopped);
        assert_eq!((rest.failures(), rests(&rest, now)), (1, 100));
    }
}

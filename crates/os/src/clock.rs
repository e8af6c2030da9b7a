//! Time as a thing that is passed in.
//!
//! Owns the only reading of the machine's clocks. It deliberately knows no timer and no waiting: see [`crate::wait`].

use std::fmt::Debug;

use edgeplane_types::Timestamp;
use rustix::time::{ClockId, Timespec, clock_gettime};

/// Where code gets its time from.
pub trait Clock: Debug + Send + Sync {
    /// The moment on the wall, which may jump either way.
    fn now(&self) -> Timestamp;

    /// Milliseconds since boot, sleep included; never goes back.
    fn monotonic_ms(&self) -> u64 {
        self.monotonic_micros() / 1_000
    }

    /// Microseconds since boot, sleep included; never goes back.
    fn monotonic_micros(&self) -> u64;
}

/// The kernel's clocks.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(micros(clock_gettime(ClockId::Realtime)))
    }

    fn monotonic_micros(&self) -> u64 {
        u64::try_from(micros(clock_gettime(ClockId::Boottime))).unwrap_or(0)
    }
}

fn micros(time: Timespec) -> i64 {
    time.tv_sec.saturating_mul(1_000_000).saturating_add(time.tv_nsec / 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wall_clock_is_in_this_century_and_boot_clock_does_not_go_back() {
        assert!(SystemClock.now() > Timestamp::from_micros(1_700_000_000_000_000));
        let earlier = SystemClock.monotonic_micros();
        assert!(SystemClock.monotonic_micros() >= earlier);
        assert!(SystemClock.monotonic_ms() >= earlier / 1_000);
    }
}

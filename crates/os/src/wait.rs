//! Waiting for a condition, with a deadline.
//!
//! Owns the only sleep of the workspace. Code that can wait on a descriptor should use [`crate::poll`] instead; this is
//! for conditions the kernel does not announce, and for tests.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// The first pause between two looks; short, since most conditions hold almost at once.
const PAUSE_MIN: Duration = Duration::from_micros(200);

/// The longest pause; keeps a wait of minutes from costing anything and is still below what a person notices.
const PAUSE_MAX: Duration = Duration::from_millis(10);

/// A moment after which waiting is given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deadline {
    /// Since boot, without sleep of the machine: a resumed laptop does not find every deadline passed.
    at: Duration,
}

impl Deadline {
    /// The moment this long from now.
    #[must_use]
    pub fn after(time: Duration) -> Self {
        Self { at: since_boot().saturating_add(time) }
    }

    /// How long remains; zero once it has passed.
    #[must_use]
    pub fn remaining(self) -> Duration {
        self.at.saturating_sub(since_boot())
    }

    /// Whether it has passed.
    #[must_use]
    pub fn has_passed(self) -> bool {
        self.remaining().is_zero()
    }
}

fn since_boot() -> Duration {
    let now = clock_gettime(ClockId::Monotonic);
    Duration::new(u64::try_from(now.tv_sec).unwrap_or(0), u32::try_from(now.tv_nsec).unwrap_or(0))
}

/// Looks at `condition` until it holds, and says whether it did before the deadline; it looks at least once.
pub fn until(deadline: Deadline, mut condition: impl FnMut() -> bool) -> bool {
    let mut pause = PAUSE_MIN;
    loop {
        if condition() {
            return true;
        }
        let remaining = deadline.remaining();
        if remaining.is_zero() {
            return false;
        }
        sleep(pause.min(remaining));
        pause = pause.saturating_mul(2).min(PAUSE_MAX);
    }
}

#[expect(clippy::disallowed_methods, reason = "this module is the replacement that the ban names")]
fn sleep(time: Duration) {
    std::thread::sleep(time);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn condition_is_looked_at_even_after_the_deadline() {
        assert!(until(Deadline::after(Duration::ZERO), || true));
        assert!(!until(Deadline::after(Duration::ZERO), || false));
    }

    #[test]
    fn condition_that_comes_true_ends_the_wait() {
        let mut looks = 0;
        assert!(until(Deadline::after(Duration::from_secs(10)), || {
            looks += 1;
            looks == 5
        }));
    }
}

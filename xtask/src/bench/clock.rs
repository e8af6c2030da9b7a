//! Time as the benchmark takes it: the kernel's monotonic clock, which the measured programs read too.

use std::time::Duration;

use edgeplane_os::wait::{Deadline, until};
use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds of the monotonic clock.
pub(crate) fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    seconds.saturating_mul(1_000_000_000).saturating_add(u64::try_from(now.tv_nsec).unwrap_or(0))
}

/// Lets time pass between measurements, never inside one.
pub(crate) fn pass(time: Duration) {
    until(Deadline::after(time), || false);
}

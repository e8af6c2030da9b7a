//! Waiting on a condition with a deadline.

use std::time::Duration;

use edgeplane_os::wait::{Deadline, until};

/// How long anything may take on a busy machine before a test calls it broken.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// The same for what a real agent program does: loading one alone takes up to ten seconds on a busy machine.
pub const AGENT_PATIENCE: Duration = Duration::from_secs(120);

/// Waits until `condition` holds, or panics with `what`.
///
/// # Panics
/// If it does not hold within [`PATIENCE`].
pub fn eventually(what: &str, condition: impl FnMut() -> bool) {
    eventually_within(PATIENCE, what, condition);
}

/// Waits until `condition` holds, or panics with `what`.
///
/// # Panics
/// If it does not hold within `time`.
pub fn eventually_within(time: Duration, what: &str, condition: impl FnMut() -> bool) {
    assert!(until(Deadline::after(time), condition), "not within {time:?}: {what}");
}

/// Waits until `get` gives something, or panics with `what`.
///
/// # Panics
/// If it gives nothing within [`PATIENCE`].
pub fn eventually_some<T>(what: &str, mut get: impl FnMut() -> Option<T>) -> T {
    let mut found = None;
    eventually(what, || {
        found = get();
        found.is_some()
    });
    found.expect("the condition held")
}

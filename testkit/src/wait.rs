//! Waiting on a condition with a deadline.

use std::time::Duration;

use edgeplane_os::wait::{Deadline, until};

/// How long anything may take on a busy machine before a test calls it broken.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Waits until `condition` holds, or panics with `what`.
///
/// # Panics
/// If it does not hold within [`PATIENCE`].
pub fn eventually(what: &str, condition: impl FnMut() -> bool) {
    assert!(until(Deadline::after(PATIENCE), condition), "not within {PATIENCE:?}: {what}");
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

//! Time that is waited for. The only place where the clock is looked at.

use std::time::{Duration, Instant};

/// Until when something is waited for.
#[derive(Debug, Clone, Copy)]
pub struct Deadline {
    at: Instant,
}

impl Deadline {
    /// So long from now.
    #[must_use]
    #[expect(
        clippy::disallowed_methods,
        reason = "a program of its own, which imports no clock of EdgePlane's"
    )]
    pub fn within(span: Duration) -> Self {
        Self { at: Instant::now() + span }
    }

    /// How long there is still; `None` when it is over.
    #[must_use]
    #[expect(
        clippy::disallowed_methods,
        reason = "a program of its own, which imports no clock of EdgePlane's"
    )]
    pub fn left(&self) -> Option<Duration> {
        self.at.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
    }
}

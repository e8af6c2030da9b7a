//! The line that shows that something is still under way.
//!
//! Owns when it appears: never for what takes less than a second, never where nobody looks.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::output;

/// What takes longer is shown.
const SHOWN_AFTER: Duration = Duration::from_secs(1);

/// Time between two pictures of the spinner.
const TICK: Duration = Duration::from_millis(120);

/// A progress line on standard error.
#[derive(Debug)]
pub(crate) struct Progress {
    label: Option<String>,
    waited: Duration,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// A line that says `label` once it takes long; none if there is no label.
    pub(crate) fn new(label: Option<String>) -> Self {
        Self { label, waited: Duration::ZERO, bar: None }
    }

    /// A line that never appears.
    pub(crate) fn none() -> Self {
        Self::new(None)
    }

    /// How much longer until the line is due; `None` if it never is, or is there.
    pub(crate) fn starts_after(&self) -> Option<Duration> {
        (self.label.is_some() && self.bar.is_none()).then(|| SHOWN_AFTER.saturating_sub(self.waited))
    }

    /// Counts time that was waited, and shows the line when it is due.
    pub(crate) fn waited(&mut self, time: Duration) {
        self.waited = self.waited.saturating_add(time);
        if let Some(label) = &self.label
            && self.bar.is_none()
            && self.waited >= SHOWN_AFTER
        {
            let bar = ProgressBar::new_spinner();
            // The template is ours and right; without it the spinner has its usual looks.
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
                bar.set_style(style);
            }
            bar.set_message(crate::text::one_line(label).into_owned());
            bar.enable_steady_tick(TICK);
            self.bar = Some(bar);
        }
    }

    /// Prints a line above the spinner, if there is something to say.
    pub(crate) fn say(&self, line: Option<String>) {
        match (&self.bar, line) {
            (_, None) => {}
            (None, Some(line)) => output::complain(&line),
            (Some(bar), Some(line)) => bar.suspend(|| output::complain(&line)),
        }
    }

    /// Takes the line away; it comes again if the wait goes on.
    pub(crate) fn clear(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
        self.waited = Duration::ZERO;
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}

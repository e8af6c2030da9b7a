//! Why a launch failed, as the daemon and people are told.

use std::{error::Error, io};

use edgeplane_os::process::{SpawnError, Step};
use edgeplane_wire::shim::LaunchStep;

/// A launch that failed.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub(crate) struct Failure {
    pub(crate) step: LaunchStep,
    /// The system's error number, zero if none.
    pub(crate) errno: i32,
    pub(crate) text: String,
}

impl Failure {
    /// Says that `step` failed, by the error and everything below it.
    pub(crate) fn new(step: LaunchStep, error: &(dyn Error + 'static)) -> Self {
        let mut failure = Self { step, errno: 0, text: String::new() };
        let mut next = Some(error);
        while let Some(error) = next {
            if !failure.text.is_empty() {
                failure.text.push_str(": ");
            }
            match error.downcast_ref::<io::Error>() {
                Some(error) => failure.add_system_error(error),
                None => failure.text.push_str(&error.to_string()),
            }
            next = error.source();
        }
        failure
    }

    /// Says what was attempted in front of the reason.
    pub(crate) fn attempted(self, attempt: &str) -> Self {
        let mut text = String::from(attempt);
        text.push_str(": ");
        text.push_str(&self.text);
        Self { text, ..self }
    }

    /// A launch that failed because its program did not start.
    pub(crate) fn of_spawn(error: &SpawnError) -> Self {
        let step = match error {
            SpawnError::Clone { .. } => LaunchStep::Containment,
            SpawnError::Setup { step, .. } => match step {
                Step::Session | Step::Terminal => LaunchStep::Terminal,
                Step::Cgroup | Step::Limit | Step::User | Step::Privileges | Step::DeathSignal => {
                    LaunchStep::Containment
                }
                _ => LaunchStep::Program,
            },
            _ => LaunchStep::Program,
        };
        Self::new(step, error)
    }

    /// As people write: `no such file or directory`, without the number, which has its own place.
    fn add_system_error(&mut self, error: &io::Error) {
        self.errno = error.raw_os_error().unwrap_or(self.errno);
        let text = error.to_string();
        let text = text.split_once(" (os error").map_or(text.as_str(), |(text, _)| text);
        let mut chars = text.chars();
        self.text.extend(chars.next().map(|first| first.to_ascii_lowercase()));
        self.text.push_str(chars.as_str());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("cannot open `x`")]
    struct Opening(#[source] io::Error);

    #[test]
    fn whole_chain_is_told_in_lower_case_and_without_numbers() {
        let failure = Failure::new(LaunchStep::Prepare, &Opening(io::Error::from_raw_os_error(2)));
        assert_eq!(failure.text, "cannot open `x`: no such file or directory");
        assert_eq!(failure.errno, 2);
        let failure = failure.attempted("cannot begin");
        assert_eq!(failure.text, "cannot begin: cannot open `x`: no such file or directory");
    }
}

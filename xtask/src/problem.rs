//! One broken rule and the place where it is broken.

use std::fmt;

/// Shown as `path:line: message`, and ordered that way.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Problem {
    /// Relative to the root of the workspace, with `/` between its parts.
    pub(crate) path: String,
    /// Counted from one.
    pub(crate) line: usize,
    /// What is wrong, and what would be right.
    pub(crate) message: String,
}

impl Problem {
    /// Names the place first, as the reader sees it.
    pub(crate) fn new(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, message: message.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}: {}", self.path, self.line, self.message)
    }
}

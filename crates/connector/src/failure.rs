//! Why a server cannot be used, and what may have happened nevertheless.

use std::time::Duration;

/// Why there is no connection, or no list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// What it is, or what it is shown, cannot be had.
    #[error("it cannot be set up: {0}")]
    Setup(String),
    /// Its program did not start.
    #[error("its program does not start: {0}")]
    Start(String),
    /// It is connected to and does not come to terms.
    #[error("it does not answer the greeting as it should: {0}")]
    Greeting(String),
    /// It did not answer in time.
    #[error("it did not answer within {} ms", .0.as_millis())]
    Silent(Duration),
    /// The connection is over.
    #[error("{0}")]
    Ended(Ended),
    /// It answered with an error of its own.
    #[error("it answered with error {code}: {message}")]
    Refused {
        /// Its code.
        code: i64,
        /// What it said, cut and cleaned.
        message: String,
    },
    /// It does not accept what it is shown, or nothing can be had to show it.
    #[error("its server does not let us in: {0}")]
    Unauthorized(String),
    /// It answered with something else than what was asked for.
    #[error("it answered with something else than what was asked for: {0}")]
    Unexpected(String),
    /// It failed a short while ago and is left alone.
    #[error("it failed {failures} times in a row and is left alone for {} ms more: {last}", .more.as_millis())]
    Resting {
        /// How often it failed.
        failures: u32,
        /// How long it is still left alone.
        more: Duration,
        /// How it failed last.
        last: String,
        /// Whether it did not accept what it was shown.
        is_locked: bool,
    },
    /// It is not used any more.
    #[error("it is not used any more")]
    Stopped,
}

/// How a connection ended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the connection ended: {how}{}{}", exit_of(.exit.as_deref()), lines_of(.stderr))]
pub struct Ended {
    /// What ended it.
    pub how: String,
    /// How its program ended, if it did.
    pub exit: Option<String>,
    /// The last lines of its program's standard error.
    pub stderr: Vec<String>,
}

fn exit_of(exit: Option<&str>) -> String {
    exit.map(|exit| format!("; its program ended with {exit}")).unwrap_or_default()
}

/// Most lines of standard error in a sentence.
const LINES_SHOWN: usize = 3;

fn lines_of(lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let first = lines.len().saturating_sub(LINES_SHOWN);
    format!("; it said: {}", lines.get(first..).unwrap_or_default().join(" | "))
}

/// Whether something may have happened at the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It was not asked, or it said that it did not do it.
    None,
    /// It was asked, and it is not known what became of it.
    Unknown,
}

/// Why a call has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallFailure {
    /// There is no connection.
    #[error(transparent)]
    Unreachable(Failure),
    /// What is called is not offered, or not as it was.
    #[error("it offers no {kind} `{name}`")]
    NotOffered {
        /// What was looked for.
        kind: &'static str,
        /// Its name.
        name: String,
    },
    /// What is called has changed since it was looked at.
    #[error("`{name}` is not what it was: its digest is {found}")]
    Changed {
        /// Its name.
        name: String,
        /// What it is now.
        found: String,
    },
    /// Too many calls wait for this server.
    #[error("{waiting} calls wait for it already")]
    Busy {
        /// How many.
        waiting: usize,
    },
    /// The server said no.
    #[error("it answered with error {code}: {message}")]
    Refused {
        /// Its code.
        code: i64,
        /// What it said, cut and cleaned.
        message: String,
    },
    /// It wants more than it was given, and nobody here can give it.
    #[error("it asks for input that nobody here can give: {0}")]
    NeedsInput(String),
    /// It answered with something else.
    #[error("it answered with something else than what was asked for: {0}")]
    Unexpected(String),
    /// It did not answer in time; it was told that nobody waits any more.
    #[error("it did not answer within {} ms", .0.as_millis())]
    Late(Duration),
    /// Whoever called does not want it any more; the server was told.
    #[error("the call was cancelled")]
    Cancelled,
    /// The connection ended before there was an answer.
    #[error(transparent)]
    Broken(Ended),
}

impl CallFailure {
    /// Whether something may have happened at the server.
    #[must_use]
    pub fn effect(&self) -> Effect {
        match self {
            Self::Unreachable(_)
            | Self::NotOffered { .. }
            | Self::Changed { .. }
            | Self::Busy { .. }
            | Self::Refused { .. }
            | Self::NeedsInput(_) => Effect::None,
            Self::Unexpected(_) | Self::Late(_) | Self::Cancelled | Self::Broken(_) => Effect::Unknown,
        }
    }
}

/// Longest text of a server in an error, in characters.
const SAID_CHARS: usize = 512;

/// What a server said, fit to be shown: no control characters, and not too long.
pub(crate) fn said(text: &str) -> String {
    let cut: String = text.chars().take(SAID_CHARS).collect();
    cut.chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect::<String>()
        .trim()
        .to_owned()
}

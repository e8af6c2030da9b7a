//! The words of schedules: what became of each time they came due.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why an occurrence ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunCause {
    /// It was due.
    Due,
    /// It was due while the node could not serve, and the catch-up rule lets it run late.
    CatchUp,
    /// Somebody asked.
    Manual,
}

/// Why an occurrence did not run although the node served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// The one before had not ended.
    Overlap,
    /// Its schedule was paused.
    Paused,
    /// A rule refused the message.
    Refused,
    /// The agent's inbox was full, or the disk was.
    Backpressure,
}

/// Why occurrences were missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MissReason {
    /// The node was not there.
    NodeDown,
    /// The clock was put forward past them.
    ClockJump,
    /// Later than the deadline allows.
    Deadline,
}

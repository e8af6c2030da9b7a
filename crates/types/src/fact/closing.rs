//! Planned ends of epochs: why, and how their programs learn of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why an epoch is ended as planned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClosingReason {
    /// It was idle, and rests until a message comes.
    Idle,
    /// Its task is over, and the next one begins with a fresh epoch.
    Task,
    /// Somebody stops it.
    Stop,
    /// Somebody restarts it.
    Restart,
    /// Its manifest changed.
    Update,
    /// Its set has one replica less.
    ScaleDown,
    /// It is retired.
    Retire,
}

impl ClosingReason {
    /// The reason as the word that programs read.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Task => "task",
            Self::Stop => "stop",
            Self::Restart => "restart",
            Self::Update => "update",
            Self::ScaleDown => "scale_down",
            Self::Retire => "retire",
        }
    }
}

/// How a program learns that its epoch ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToldBy {
    /// Its driver has a word for it, and its answer is waited for.
    Protocol,
    /// Only the stop signal tells it.
    Signal,
}

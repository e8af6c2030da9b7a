//! Facts of what is written to commands. The bytes are in no record: they may be a secret.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Epoch, InputId, ProcessId};

/// Somebody wants something written to a command: the intent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommandInputAccepted {
    /// The command.
    pub process_id: ProcessId,
    /// The epoch in which it runs.
    pub epoch: Epoch,
    /// The input's id: it is written once.
    pub input_id: InputId,
    /// How many bytes.
    pub input_bytes: u64,
    /// SHA-256 of them.
    pub input_digest: String,
    /// Whether nothing comes after it.
    pub closes: bool,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommandInputSettled {
    /// The command.
    pub process_id: ProcessId,
    /// The epoch in which it runs.
    pub epoch: Epoch,
    /// The input's id.
    pub input_id: InputId,
    /// What.
    pub fate: InputFate,
}

/// What became of an input of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InputFate {
    /// All of it was written.
    Written,
    /// The command does not read any more: not all of it was written, or nothing.
    Closed,
    /// Too much waited; nothing was written, and it may be asked for again.
    Refused,
}

impl InputFate {
    /// The word that programs read.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Written => "written",
            Self::Closed => "closed",
            Self::Refused => "refused",
        }
    }

    /// The fate that this word names.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Written, Self::Closed, Self::Refused].into_iter().find(|fate| fate.as_str() == word)
    }
}

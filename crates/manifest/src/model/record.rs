//! What is kept of the agent and how messages reach it: recording, delivery, inbox, memory.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::quantity::{ByteSize, DurationMs};

/// Size at which a segment of a recording is closed.
pub const SEGMENT_BYTES: ByteSize = ByteSize::from_mebibytes(4);

/// Age at which a segment of a recording is closed.
pub const SEGMENT_AGE: DurationMs = DurationMs::from_secs(3_600);

/// Epochs whose recordings are kept.
pub const KEEP_EPOCHS: u32 = 20;

/// Bytes of recordings that are kept.
pub const KEEP_BYTES: ByteSize = ByteSize::from_mebibytes(1_024);

/// Messages that may wait; one more is refused.
pub const INBOX_MAX: u32 = 10_000;

/// Keys in the agent's key-value store; one more is refused.
pub const MEMORY_KEYS_MAX: u32 = 1_024;

/// Bytes of keys and values in the agent's key-value store; a write beyond is refused.
pub const MEMORY_BYTES_MAX: ByteSize = ByteSize::from_mebibytes(16);

/// How the agent's output is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Recording {
    /// Size at which a segment is closed.
    #[serde(default = "segment_bytes")]
    #[schemars(extend("x-edgeplane-min" = "64KiB", "x-edgeplane-max" = "1GiB"))]
    pub segment_bytes: ByteSize,
    /// Age at which a segment is closed.
    #[serde(default = "segment_age")]
    #[schemars(extend("x-edgeplane-min" = "1s", "x-edgeplane-max" = "7d"))]
    pub segment_age: DurationMs,
    /// What happens when it cannot be written.
    #[serde(default = "OnFull::standard")]
    pub on_full: OnFull,
    /// How much is kept.
    #[serde(default = "Keep::standard")]
    pub keep: Keep,
}

impl Recording {
    /// What holds unless a manifest says otherwise.
    #[must_use]
    pub const fn standard() -> Self {
        Self {
            segment_bytes: SEGMENT_BYTES,
            segment_age: SEGMENT_AGE,
            on_full: OnFull::standard(),
            keep: Keep::standard(),
        }
    }
}

/// What happens when a recording cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnFull {
    /// The agent runs on, and the recording says what it lacks.
    Gap,
    /// The agent's output is not read until there is space, which makes it wait.
    Pause,
}

impl OnFull {
    /// What holds unless a manifest says otherwise: a gap.
    #[must_use]
    pub const fn standard() -> Self {
        Self::Gap
    }
}

/// How much of the recordings is kept. What is over goes epoch by epoch, oldest first, never the running one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Keep {
    /// Epochs.
    #[serde(default = "keep_epochs")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub epochs: u32,
    /// Bytes of all epochs together.
    #[serde(default = "keep_bytes")]
    #[schemars(extend("x-edgeplane-min" = "64KiB", "x-edgeplane-max" = "1024TiB"))]
    pub bytes: ByteSize,
}

impl Keep {
    /// What holds unless a manifest says otherwise.
    #[must_use]
    pub const fn standard() -> Self {
        Self { epochs: KEEP_EPOCHS, bytes: KEEP_BYTES }
    }
}

/// What happens to messages and turns that a crash cut short.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Delivery {
    /// A message of which nobody knows whether the program got it.
    #[serde(default = "Ambiguous::standard")]
    pub ambiguous: Ambiguous,
    /// The turn that was open.
    #[serde(default = "OpenTurn::standard")]
    pub open_turn: OpenTurn,
}

impl Delivery {
    /// What holds unless a manifest says otherwise.
    #[must_use]
    pub const fn standard() -> Self {
        Self { ambiguous: Ambiguous::standard(), open_turn: OpenTurn::standard() }
    }
}

/// What happens to a message of which nobody knows whether the program got it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ambiguous {
    /// It is delivered once more, marked as a possible double.
    Redeliver,
    /// It stays ambiguous and is not delivered again; whoever wants it delivered sends it again.
    Hold,
    /// It is given up.
    Drop,
}

impl Ambiguous {
    /// What holds unless a manifest says otherwise: nothing is done twice and nothing is lost without a person.
    #[must_use]
    pub const fn standard() -> Self {
        Self::Hold
    }
}

/// What happens to a turn that a crash cut short.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OpenTurn {
    /// Its message is delivered once more, marked as a retry.
    Retry,
    /// Somebody is asked.
    Ask,
    /// It stays interrupted; the agent is told so.
    Drop,
}

impl OpenTurn {
    /// What holds unless a manifest says otherwise: no effect is repeated, and nothing waits for a person.
    #[must_use]
    pub const fn standard() -> Self {
        Self::Drop
    }
}

/// The queue of messages that wait for the agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Inbox {
    /// Messages that may wait. One more is refused with `backpressure`, and so is one more of a sender other than an
    /// operator of whom half as many wait.
    #[serde(default = "inbox_max")]
    #[schemars(range(min = 1, max = 10_000_000))]
    pub max: u32,
}

impl Inbox {
    /// What holds unless a manifest says otherwise.
    #[must_use]
    pub const fn standard() -> Self {
        Self { max: INBOX_MAX }
    }
}

/// Bounds of the agent's key-value store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Memory {
    /// Keys. One more is refused with `quota_exhausted`.
    #[serde(default = "memory_keys_max")]
    #[schemars(range(min = 0, max = 1_000_000))]
    pub max_keys: u32,
    /// Bytes of keys and values together. A write beyond is refused with `quota_exhausted`.
    #[serde(default = "memory_bytes_max")]
    #[schemars(extend("x-edgeplane-min" = "0", "x-edgeplane-max" = "1GiB"))]
    pub max_bytes: ByteSize,
}

impl Memory {
    /// What holds unless a manifest says otherwise.
    #[must_use]
    pub const fn standard() -> Self {
        Self { max_keys: MEMORY_KEYS_MAX, max_bytes: MEMORY_BYTES_MAX }
    }
}

macro_rules! defaults {
    ($($name:ident: $type:ty = $value:expr;)+) => {$(
        fn $name() -> $type {
            $value
        }
    )+};
}

defaults! {
    segment_bytes: ByteSize = SEGMENT_BYTES;
    segment_age: DurationMs = SEGMENT_AGE;
    keep_epochs: u32 = KEEP_EPOCHS;
    keep_bytes: ByteSize = KEEP_BYTES;
    inbox_max: u32 = INBOX_MAX;
    memory_keys_max: u32 = MEMORY_KEYS_MAX;
    memory_bytes_max: ByteSize = MEMORY_BYTES_MAX;
}

//! How a call ended that was made under a key.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a call under a key ended, and with that what a repetition of it hears.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum CallEnd {
    /// It was done; the result stands in the body store.
    Done {
        /// SHA-256 of the result.
        digest: String,
        /// Its length.
        bytes: u64,
    },
    /// It was done, and its result is not kept.
    Unkept {
        /// Why.
        why: UnkeptReason,
    },
    /// It failed and may have changed something; what was said stands in the body store.
    Failed {
        /// SHA-256 of the failure.
        digest: String,
        /// Its length.
        bytes: u64,
    },
    /// It failed and changed nothing: the key is free again.
    Released,
}

/// Why a result is not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UnkeptReason {
    /// It holds a secret.
    Secret,
    /// It is too long.
    TooLarge,
}

//! Facts of memories.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Timestamp;

/// A key of an agent's memory was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryPut {
    /// The key.
    pub key: String,
    /// The number of this value among those of the key, from 1.
    pub version: u64,
    /// SHA-256 of the value.
    pub value_digest: String,
    /// Its size in bytes.
    pub value_bytes: u64,
    /// When it ends by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

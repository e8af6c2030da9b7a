//! Facts of blobs of workspaces. Each stands in the stream of its workspace.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Timestamp;

/// Bytes are kept in a workspace under their digest, or are kept for longer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BlobPut {
    /// BLAKE3 of the bytes.
    pub digest: String,
    /// How many.
    pub bytes: u64,
    /// How deep the list of their pieces is in the store; 0 if they are one.
    #[serde(default)]
    pub depth: u8,
    /// What that list, or the only piece, is kept under.
    pub root: String,
    /// Whether they are kept although nobody refers to them.
    #[serde(default)]
    pub pinned: bool,
    /// Until when they are kept at least.
    pub expires_at: Timestamp,
}

/// A blob is kept no more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BlobRemoved {
    /// BLAKE3 of the bytes.
    pub digest: String,
}

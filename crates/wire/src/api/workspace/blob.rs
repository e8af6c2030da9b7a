//! Blobs of a workspace: bytes that are kept under their digest.

use edgeplane_types::{SafeLabel, Timestamp, WorkspaceId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::file::{ContentEncoding, READ_BYTES};

/// How long a blob is kept to which nobody refers where nobody says so, in milliseconds: an hour.
pub const BLOB_KEEP_MS: u64 = 3_600_000;

/// Longest such time, in milliseconds: 30 days. Whoever needs it longer pins it.
pub const BLOB_KEEP_MS_MAX: u64 = 30 * 86_400_000;

fn keep_ms() -> u64 {
    BLOB_KEEP_MS
}

fn read_bytes() -> u32 {
    READ_BYTES
}

/// Keeps bytes under their digest. Those that are kept already are kept for longer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BlobPutParams {
    /// The workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<WorkspaceId>,
    /// Or the agent whose own it is; it becomes known by this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The bytes, at most 8 MiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// How they stand in `content`.
    #[serde(default)]
    pub encoding: ContentEncoding,
    /// Instead: a file of the workspace, of at most 256 MiB, of which what it holds now is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Whether it is kept although nobody refers to it, until somebody says otherwise or the workspace ends. Left out: as
    /// it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned: Option<bool>,
    /// How long it is kept at least, in milliseconds, at most 30 days.
    #[serde(default = "keep_ms")]
    pub keep_ms: u64,
}

/// Names a blob.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BlobParams {
    /// The workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<WorkspaceId>,
    /// Or the agent whose own it is; it becomes known by this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// BLAKE3 of its bytes.
    pub digest: String,
}

/// Which bytes of a blob to read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BlobGetParams {
    /// The workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<WorkspaceId>,
    /// Or the agent whose own it is; it becomes known by this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// BLAKE3 of its bytes.
    pub digest: String,
    /// From this byte on.
    #[serde(default)]
    pub offset: u64,
    /// Most bytes, at most 2 MiB.
    #[serde(default = "read_bytes")]
    pub limit: u32,
    /// How they are to stand in the answer: as text if they are, if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding: Option<ContentEncoding>,
}

/// A blob.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BlobView {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// BLAKE3 of its bytes.
    pub digest: String,
    /// How many it has.
    pub bytes: u64,
    /// Whether it is kept although nobody refers to it.
    pub pinned: bool,
    /// Until when it is kept at least.
    pub expires_at: Timestamp,
    /// Who put it last.
    pub by: SafeLabel,
    /// When.
    pub put_at: Timestamp,
}

/// Some bytes of a blob.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BlobReadResult {
    /// BLAKE3 of all of them.
    pub digest: String,
    /// The bytes.
    pub content: String,
    /// How they stand in `content`.
    pub encoding: ContentEncoding,
    /// The first of them.
    pub offset: u64,
    /// How many the blob has.
    pub bytes: u64,
    /// Where the next part begins; nothing, if this was the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<u64>,
}

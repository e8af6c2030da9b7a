//! Artifacts: bytes that an agent or an operator publishes under a name, with versions.
//!
//! An artifact is an agent's, or the node's. It is named by its id, or by its name: an agent's own first, then the node's;
//! an operator names the agent whose it is, else the node's is meant.

use std::collections::BTreeMap;

use edgeplane_types::{ArtifactId, OutputId, SafeLabel, Timestamp, WorkspaceId, fact::ArtifactSource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::workspace::{ContentEncoding, FileChangeView};

/// What the name of every version of an artifact begins with, as tasks and messages can name it.
pub const ARTIFACT_SCHEME: &str = "edgeplane://artifact/";

/// Most artifacts in one answer.
pub const ARTIFACTS_MAX: u32 = 500;

/// Longest media type, in bytes.
pub const MEDIA_TYPE_BYTES_MAX: usize = 128;

/// Bytes of each version that a difference is looked for in.
pub const DIFF_BYTES_MAX: usize = 1 << 20;

fn rows() -> u32 {
    100
}

fn read_bytes() -> u32 {
    super::workspace::READ_BYTES
}

/// A file of a workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArtifactFile {
    /// The workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<WorkspaceId>,
    /// Or the agent whose own it is; it becomes known by this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Its path.
    pub path: String,
}

/// Publishes bytes: those of `content`, of an output, or of a file of a workspace; exactly one of the three.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArtifactPublishParams {
    /// Under which name. If there is one of this name already, this becomes its next version.
    pub name: SafeLabel,
    /// The agent that owns it; without, the calling agent, or the node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// What the bytes are; if not given, text or plain bytes, whichever they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// By what it is found; those of the version before, if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<BTreeMap<String, SafeLabel>>,
    /// The bytes themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// How they stand in `content`.
    #[serde(default)]
    pub encoding: ContentEncoding,
    /// Or the output that they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_id: Option<OutputId>,
    /// Or the file that holds them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<ArtifactFile>,
    /// Only if it is at this version; 0: only if there is none of this name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_version: Option<u64>,
}

/// Names an artifact, or a version of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArtifactParams {
    /// Its id or its name.
    pub artifact: String,
    /// The agent that owns it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Which version; the newest, if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
}

/// A version of an artifact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactView {
    /// Its id.
    pub artifact_id: ArtifactId,
    /// The name of this version, for edges of tasks and parts of messages.
    pub uri: String,
    /// Its name.
    pub name: SafeLabel,
    /// The agent that owns it; absent: the node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The number of this version.
    pub version: u64,
    /// The number of the newest.
    pub newest: u64,
    /// What the bytes are, as their publisher says.
    pub media_type: String,
    /// SHA-256 of the bytes.
    pub digest: String,
    /// How many there are.
    pub bytes: u64,
    /// By what it is found.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, SafeLabel>,
    /// Where the bytes were taken from, if they did not come with the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<ArtifactSource>,
    /// When this version was published.
    pub published_at: Timestamp,
    /// By whom.
    pub by: String,
    /// When the artifact ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted_at: Option<Timestamp>,
    /// Whether the newest version held the same, so that none was made.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unchanged: bool,
}

/// An artifact and its versions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactDetail {
    /// The version that was asked for.
    pub artifact: ArtifactView,
    /// The newest 100 versions, newest first.
    pub versions: Vec<ArtifactView>,
}

/// Which artifacts to list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArtifactListParams {
    /// Only those of this agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Only those whose name begins so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    /// Only those with all of these labels.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, SafeLabel>,
    /// Most artifacts that are looked at, at most 500.
    #[serde(default = "rows")]
    pub limit: u32,
    /// Where a former list ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<u64>,
}

/// Artifacts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactListResult {
    /// The newest version of each, in the order in which they were first published.
    pub items: Vec<ArtifactView>,
    /// Where the next list begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<u64>,
}

/// Which bytes of an artifact to read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArtifactReadParams {
    /// Its id or its name.
    pub artifact: String,
    /// The agent that owns it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Which version; the newest, if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
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

/// Some bytes of an artifact. All of its bytes were held against its digest before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactReadResult {
    /// Which.
    pub artifact_id: ArtifactId,
    /// Which version.
    pub version: u64,
    /// SHA-256 of all bytes of this version.
    pub digest: String,
    /// What they are.
    pub media_type: String,
    /// The bytes that were asked for.
    pub content: String,
    /// How they stand in `content`.
    pub encoding: ContentEncoding,
    /// The first of them.
    pub offset: u64,
    /// How many there are in all.
    pub bytes: u64,
    /// Where the next part begins; nothing, if this was the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<u64>,
}

/// Which versions of an artifact to compare.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArtifactDiffParams {
    /// Its id or its name.
    pub artifact: String,
    /// The agent that owns it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The version before; the one before `to`, if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<u64>,
    /// The version after; the newest, if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<u64>,
}

/// Why no lines are told of what differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DiffUntold {
    /// One of the two is no text.
    Binary,
    /// One of the two has more than 1 MiB.
    TooLarge,
    /// More than 2,000 lines differ.
    TooDifferent,
}

/// What differs between two versions of an artifact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactDiffResult {
    /// The version before.
    pub from: ArtifactView,
    /// The version after.
    pub to: ArtifactView,
    /// Whether the bytes are the same.
    pub same: bool,
    /// The lines that differ, in the unified form with three lines around each change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Lines that only `to` has, where they are told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added: Option<u64>,
    /// Lines that only `from` has, where they are told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed: Option<u64>,
    /// Why no lines are told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untold: Option<DiffUntold>,
}

/// Writes a version of an artifact to a file of a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArtifactExportParams {
    /// Its id or its name.
    pub artifact: String,
    /// The agent that owns it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Which version; the newest, if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// To which file.
    pub to: ArtifactFile,
    /// Only if the file holds this now: a version of the file, or `absent`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_version: Option<String>,
    /// Make the folders on its way.
    #[serde(default)]
    pub folders: bool,
    /// The token of a lock on the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lock: Option<u64>,
}

/// A version of an artifact that is in a file now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactExportResult {
    /// Which.
    pub artifact: ArtifactView,
    /// What became of the file.
    pub file: FileChangeView,
}

/// Ends an artifact with all its versions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArtifactDeleteParams {
    /// Its id or its name.
    pub artifact: String,
    /// The agent that owns it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Only if it is at this version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_version: Option<u64>,
    /// Why, for the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

//! Facts of artifacts: what was published under which name, and what ends. They stand in the stream of the agent that owns
//! the artifact, or of the node. The bytes are in the store of artifacts and never in the record.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ArtifactId, OutputId, SafeLabel, WorkspaceId};

/// A version of an artifact is published. Its bytes were durable before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactPublished {
    /// Which artifact.
    pub artifact_id: ArtifactId,
    /// Its name, unique for its owner as long as it is there.
    pub name: SafeLabel,
    /// The number of this version, one more than the one before.
    pub version: u64,
    /// What the bytes are, as a media type.
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
}

/// Where the bytes of an artifact were taken from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArtifactSource {
    /// What a turn came to.
    Output {
        /// The output.
        output_id: OutputId,
    },
    /// A file of a workspace.
    File {
        /// The workspace.
        workspace_id: WorkspaceId,
        /// Its path there.
        path: String,
    },
}

/// An artifact ends with all its versions. What was said of them stays in the record; the bytes go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactDeleted {
    /// Which artifact.
    pub artifact_id: ArtifactId,
    /// How many versions it had.
    pub versions: u64,
    /// Why.
    pub reason: String,
}

//! Facts of workspaces and their checkpoints. Each stands in the stream of its workspace.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    AgentId, CheckpointId, Epoch, InvocationId, WorkspaceId,
    workspace::{CheckpointCause, FileChangeKind, FileChangeOutcome, FolderCounts, RestoreCounts},
};

/// A folder is known as a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceCreated {
    /// Its id.
    pub workspace_id: WorkspaceId,
    /// The agent whose own it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<AgentId>,
    /// Its folder, without links on the way.
    pub folder: String,
}

/// A workspace is known no more; its checkpoints end with it, its folder stays.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceDeleted {
    /// Its id.
    pub workspace_id: WorkspaceId,
    /// Why, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// An epoch of an agent that is suspended meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Suspended {
    /// Whose.
    pub agent_id: AgentId,
    /// Which.
    pub epoch: Epoch,
}

/// The state of a workspace is to be kept: the intent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckpointStarted {
    /// Its id.
    pub checkpoint_id: CheckpointId,
    /// Why it is made.
    pub cause: CheckpointCause,
    /// What it is, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The call before which it is made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invocation_id: Option<InvocationId>,
    /// Who is suspended while it is made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suspends: Vec<Suspended>,
}

/// The state of a workspace is kept, durably.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckpointCreated {
    /// Its id.
    pub checkpoint_id: CheckpointId,
    /// BLAKE3 of what is kept: the same states have the same one.
    pub digest: String,
    /// What is in it.
    pub counts: FolderCounts,
    /// How many bytes the store has more.
    pub bytes_new: u64,
    /// How many things in the folder are not in it.
    pub left_out: u64,
    /// How many files changed each time they were read.
    pub unsettled: u64,
    /// Whether whoever worked in the folder was suspended meanwhile.
    pub frozen: bool,
    /// The number of the last change of a file that is in it; 0 if none was made.
    #[serde(default)]
    pub write_seq: u64,
}

/// A state was not kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckpointFailed {
    /// Its id.
    pub checkpoint_id: CheckpointId,
    /// Why, for people.
    pub reason: String,
    /// Whether the node ended before it was over.
    pub lost: bool,
}

/// A kept state is named no more; what nobody else needs of it is removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckpointDeleted {
    /// Its id.
    pub checkpoint_id: CheckpointId,
    /// Why, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A workspace is to be brought back to a checkpoint: the intent. What was there is kept already.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RestoreStarted {
    /// The checkpoint that it is brought back to.
    pub checkpoint_id: CheckpointId,
    /// The checkpoint of what was there.
    pub before_id: CheckpointId,
    /// Whether somebody may have been at work in it.
    pub forced: bool,
}

/// A workspace was brought back to a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RestoreEnded {
    /// The checkpoint.
    pub checkpoint_id: CheckpointId,
    /// What was done.
    pub counts: RestoreCounts,
}

/// A workspace was not brought back, or not in full.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RestoreFailed {
    /// The checkpoint.
    pub checkpoint_id: CheckpointId,
    /// Why, for people.
    pub reason: String,
    /// Whether the node ended before it was over.
    pub lost: bool,
}

/// A file of a workspace is to be changed: the intent. Paths are shown so that each name can be written as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileChangeBegun {
    /// Its number in the workspace, from 1, without gaps.
    pub write_seq: u64,
    /// What is done.
    pub kind: FileChangeKind,
    /// To what.
    pub path: String,
    /// The path that it gets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// What was there: `absent`, or BLAKE3 of its bytes; none of what has no bytes or too many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// What will be there, the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// How many bytes it will have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// The name that something has in the same folder meanwhile.
    pub aside: String,
}

/// What became of a change of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileChangeEnded {
    /// Its number.
    pub write_seq: u64,
    /// What became of it.
    pub outcome: FileChangeOutcome,
    /// Why it was not made, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

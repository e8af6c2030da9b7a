//! Workspaces: folders that agents work in, their checkpoints and their files.

mod barrier;
mod binding;
mod blob;
mod file;
mod lock;

use edgeplane_types::{
    AgentId, CheckpointCause, CheckpointId, CheckpointState, FolderCounts, InvocationId, RestoreCounts,
    SafeLabel, Timestamp, WorkspaceId,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use barrier::*;
pub use binding::*;
pub use blob::*;
pub use file::*;
pub use lock::*;

/// Longest label of a checkpoint, and longest reason, in bytes.
pub const LABEL_BYTES_MAX: usize = 256;

/// Most rows in one answer.
pub const ROWS_MAX: u32 = 500;

/// Changes that are told where nobody says how many.
pub const CHANGES: u32 = 1_000;

/// Most changes in one answer.
pub const CHANGES_MAX: u32 = 10_000;

/// How long a change is waited for that a checkpoint is to have in it where nobody says so, in milliseconds.
pub const AFTER_MS: u64 = 10_000;

fn rows() -> u32 {
    100
}

fn after_ms() -> u64 {
    AFTER_MS
}

fn changes() -> u32 {
    CHANGES
}

/// Makes a folder known as a workspace: that of an agent, or one that is named. One that is known stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkspaceCreateParams {
    /// The agent whose folder it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The folder, by its whole path; only for operators.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
}

/// Names a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkspaceParams {
    /// Which.
    pub workspace_id: WorkspaceId,
}

/// Ends a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkspaceDeleteParams {
    /// Which.
    pub workspace_id: WorkspaceId,
    /// Why, for the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Which workspaces to list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkspaceListParams {
    /// Only that of this agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Most workspaces, at most 500.
    #[serde(default = "rows")]
    pub limit: u32,
    /// Where a former list ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// A workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceView {
    /// Its id.
    pub workspace_id: WorkspaceId,
    /// The agent whose own it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<AgentId>,
    /// Its folder.
    pub folder: String,
    /// How many states of it are kept.
    pub checkpoints: u64,
    /// The number of the last change of a file by `workspace/file.*`; 0 if there was none.
    #[serde(default)]
    pub write_seq: u64,
    /// The checkpoint that it is being brought back to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restoring: Option<CheckpointId>,
    /// What it is bound to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bindings: Vec<BindingView>,
    /// When it became known.
    pub created_at: Timestamp,
}

/// Workspaces.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceListResult {
    /// In the order in which they became known.
    pub workspaces: Vec<WorkspaceView>,
    /// Where the next list begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Keeps the state of a workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckpointCreateParams {
    /// The workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<WorkspaceId>,
    /// Or the agent whose own it is; it becomes known by this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// What it is, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The number of the binding under which it is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binding_epoch: Option<u64>,
    /// The change of a file that is to be in it: it is waited for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<AfterWrite>,
    /// How long that is waited for, in milliseconds, at most ten minutes.
    #[serde(default = "after_ms")]
    pub timeout_ms: u64,
    /// Whether to keep what git ignores.
    #[serde(default)]
    pub ignored: bool,
    /// Whether to keep `.git`.
    #[serde(default)]
    pub git: bool,
}

/// A change of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AfterWrite {
    /// Its number in the workspace.
    pub write_seq: u64,
}

/// Names a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckpointParams {
    /// Which.
    pub checkpoint_id: CheckpointId,
}

/// Which checkpoints to list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckpointListParams {
    /// Of this workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<WorkspaceId>,
    /// Or of the workspace of this agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Those that are not kept, too: failed, lost, deleted.
    #[serde(default)]
    pub all: bool,
    /// Most checkpoints, at most 500.
    #[serde(default = "rows")]
    pub limit: u32,
    /// Where a former list ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// A checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckpointView {
    /// Its id.
    pub checkpoint_id: CheckpointId,
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// Where it is.
    pub state: CheckpointState,
    /// Why it was made.
    pub cause: CheckpointCause,
    /// What it is, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The call before which it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invocation_id: Option<InvocationId>,
    /// BLAKE3 of what is kept: the same states have the same one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// What is in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<FolderCounts>,
    /// How many bytes the store had more by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_new: Option<u64>,
    /// How many things in the folder are not in it.
    #[serde(default)]
    pub left_out: u64,
    /// How many files changed each time they were read, so that what is kept of them may be half of a change.
    #[serde(default)]
    pub unsettled: u64,
    /// Whether whoever worked in the folder was suspended while it was made.
    #[serde(default)]
    pub frozen: bool,
    /// The number of the last change of a file that is in it.
    #[serde(default)]
    pub write_seq: u64,
    /// Why nothing is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Who asked for it.
    pub by: SafeLabel,
    /// When it was begun.
    pub started_at: Timestamp,
    /// When it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Timestamp>,
}

/// A checkpoint, with what is not in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckpointDetail {
    /// The checkpoint.
    pub checkpoint: CheckpointView,
    /// What is not in it, as far as it is listed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOutView>,
}

/// Something in a folder that is not kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOutView {
    /// Its path; bytes that are no text are shown as `\xNN`.
    pub path: String,
    /// Why: `socket`, `pipe`, `device`, `other_file_system`, `unreadable`, `changing`, `too_large`.
    pub why: String,
}

/// Checkpoints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckpointListResult {
    /// The newest first.
    pub checkpoints: Vec<CheckpointView>,
    /// Where the next list begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// What differs between two checkpoints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckpointDiffParams {
    /// From this one.
    pub before_id: CheckpointId,
    /// To this one.
    pub after_id: CheckpointId,
    /// Most changes, at most 10,000.
    #[serde(default = "changes")]
    pub limit: u32,
}

/// How something differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// It was not there.
    Added,
    /// It is no more.
    Removed,
    /// It holds something else, or leads elsewhere.
    Content,
    /// Its permissions differ, and nothing else.
    Mode,
    /// It is another kind of thing.
    Kind,
}

impl ChangeKind {
    /// The word that programs read.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Content => "content",
            Self::Mode => "mode",
            Self::Kind => "kind",
        }
    }
}

/// What something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThingKind {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
}

/// What something was, or is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThingView {
    /// What it is.
    pub kind: ThingKind,
    /// Its bytes, of a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Its permissions in octal digits, but of a link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
}

/// Something that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangeView {
    /// Its path beneath the folder, `.` for the folder itself; bytes that are no text are shown as `\xNN`.
    pub path: String,
    /// How.
    pub change: ChangeKind,
    /// What it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<ThingView>,
    /// What it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<ThingView>,
}

/// What differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckpointDiffResult {
    /// As far as it is told, by path.
    pub changes: Vec<ChangeView>,
    /// How much differs.
    pub total: u64,
}

/// Brings a workspace back to a checkpoint of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckpointRestoreParams {
    /// Which.
    pub checkpoint_id: CheckpointId,
    /// Do it even if somebody is at work in the folder.
    #[serde(default)]
    pub force: bool,
    /// The token of the caller's lock, if there is one in the workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lock: Option<u64>,
    /// The number of the binding under which it is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binding_epoch: Option<u64>,
    /// Whether what git ignores is kept and touched, too.
    #[serde(default)]
    pub ignored: bool,
    /// Whether `.git` is kept and touched, too.
    #[serde(default)]
    pub git: bool,
}

/// Something that a restore left as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConflictView {
    /// Its path; bytes that are no text are shown as `\xNN`.
    pub path: String,
    /// Why.
    pub reason: String,
}

/// What a restore did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckpointRestoreResult {
    /// The checkpoint of what was there before.
    pub before: CheckpointView,
    /// What was done.
    pub counts: RestoreCounts,
    /// What was left as it is, as far as it is listed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<ConflictView>,
}

/// Ends a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckpointDeleteParams {
    /// Which.
    pub checkpoint_id: CheckpointId,
    /// Why, for the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

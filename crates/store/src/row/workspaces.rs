//! Workspaces and checkpoints.

use edgeplane_types::{
    AgentId, CheckpointId, CheckpointState, Timestamp, WorkspaceId,
    fact::{
        Actor, BindingAttached, BlobPut, CheckpointCreated, CheckpointFailed, CheckpointStarted,
        FileChangeBegun, LockAcquired,
    },
};

/// A workspace.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkspaceRow {
    /// Position of its beginning in the record; the cursor of a list.
    pub pos: u64,
    /// Its id.
    pub id: WorkspaceId,
    /// The agent whose own it is.
    pub agent: Option<AgentId>,
    /// Its folder.
    pub folder: String,
    /// The checkpoint that it is being brought back to.
    pub restoring: Option<CheckpointId>,
    /// How many states of it are kept.
    pub checkpoints: u64,
    /// The number of the last change of a file.
    pub write_seq: u64,
    /// That change, while nothing is recorded of its end.
    pub changing: Option<FileChangeBegun>,
    /// The token of its last lock.
    pub last_token: u64,
    /// When it became known.
    pub created_at: Timestamp,
}

/// A lock on paths of a workspace.
#[derive(Debug, Clone, PartialEq)]
pub struct LockRow {
    /// What it is.
    pub acquired: LockAcquired,
    /// Who holds it.
    pub by: Actor,
    /// Since when, or since when for longer.
    pub acquired_at: Timestamp,
    /// Whether no end of it is recorded; it may be over by its time all the same.
    pub is_open: bool,
}

/// A binding of a workspace.
#[derive(Debug, Clone, PartialEq)]
pub struct BindingRow {
    /// The workspace.
    pub workspace: WorkspaceId,
    /// What it is.
    pub attached: BindingAttached,
    /// Who asked for it.
    pub by: Actor,
    /// Since when.
    pub attached_at: Timestamp,
    /// Whether no end of it is recorded; what it ends with may be over all the same.
    pub is_open: bool,
}

/// A blob of a workspace that is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct BlobRow {
    /// The workspace.
    pub workspace: WorkspaceId,
    /// What it is.
    pub put: BlobPut,
    /// Who put it last.
    pub by: Actor,
    /// When.
    pub put_at: Timestamp,
}

/// A checkpoint.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckpointRow {
    /// Position of its beginning in the record; the cursor of a list.
    pub pos: u64,
    /// The workspace.
    pub workspace: WorkspaceId,
    /// Where it is.
    pub state: CheckpointState,
    /// What was meant.
    pub started: CheckpointStarted,
    /// Who asked for it.
    pub by: Actor,
    /// When.
    pub started_at: Timestamp,
    /// What was kept, and when.
    pub created: Option<(CheckpointCreated, Timestamp)>,
    /// Why nothing was kept.
    pub failed: Option<CheckpointFailed>,
}

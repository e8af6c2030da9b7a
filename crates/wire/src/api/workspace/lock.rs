//! Locks on paths of a workspace.

use edgeplane_types::{AgentId, Epoch, SafeLabel, Timestamp, WorkspaceId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How long a lock is held where nobody says so, in milliseconds.
pub const LOCK_MS: u64 = 60_000;

/// Shortest time of a lock, in milliseconds.
pub const LOCK_MS_MIN: u64 = 100;

/// Longest time of a lock, in milliseconds: a day. Whoever needs it longer asks again.
pub const LOCK_MS_MAX: u64 = 86_400_000;

/// Longest wait for a lock, in milliseconds.
pub const LOCK_WAIT_MS_MAX: u64 = 600_000;

/// Most paths of a lock.
pub const LOCK_PATHS_MAX: usize = 64;

/// Most locks of a workspace, and most who wait for one.
pub const LOCKS_MAX: usize = 64;

fn lock_ms() -> u64 {
    LOCK_MS
}

/// Takes a lock, or has one for longer. Two programs of one operator are one holder, so that only the token says which lock
/// is to be had for longer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LockAcquireParams {
    /// The workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<WorkspaceId>,
    /// Or the agent whose own it is; it becomes known by this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// On these paths and everything beneath them, at most 64; `.` is the whole workspace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// Instead: the token of the lock that is to be had for longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<u64>,
    /// Whether others may have one besides that is shared, too. Nobody writes then.
    #[serde(default)]
    pub shared: bool,
    /// For how long, in milliseconds, from 100 to a day.
    #[serde(default = "lock_ms")]
    pub ttl_ms: u64,
    /// The number of the binding under which it is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binding_epoch: Option<u64>,
    /// How long to wait for it, in milliseconds, at most ten minutes.
    #[serde(default)]
    pub wait_ms: u64,
}

/// A lock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LockView {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The fencing token, which only grows in a workspace.
    pub token: u64,
    /// On what: paths, and everything beneath them.
    pub paths: Vec<String>,
    /// Whether others may have one besides.
    pub shared: bool,
    /// Who holds it.
    pub holder: SafeLabel,
    /// The agent that does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<AgentId>,
    /// The epoch of the agent, with which it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<Epoch>,
    /// Since when, or since when for longer.
    pub acquired_at: Timestamp,
    /// When it ends by itself.
    pub expires_at: Timestamp,
}

/// Gives a lock back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LockReleaseParams {
    /// The workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<WorkspaceId>,
    /// Or the agent whose own it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Its token.
    pub token: u64,
    /// Also if somebody else holds it; only for operators.
    #[serde(default)]
    pub force: bool,
}

/// Which locks to list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LockListParams {
    /// The workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<WorkspaceId>,
    /// Or the agent whose own it is; it becomes known by this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

/// Locks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LockListResult {
    /// Those that hold, by their tokens.
    pub locks: Vec<LockView>,
}

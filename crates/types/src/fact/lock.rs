//! Facts of locks on paths of workspaces. Each stands in the stream of its workspace; who holds a lock is who made it
//! happen.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{AgentId, Epoch, SafeLabel, Timestamp, workspace::LockEnd};

/// Somebody waits for a lock: from here to its `lock.acquired` or `lock.refused` in the same request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LockWaiting {
    /// On what.
    pub paths: Vec<String>,
    /// Who is waited for.
    pub holder: SafeLabel,
    /// The agent that it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<AgentId>,
    /// The token of their lock; none if they wait themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<u64>,
}

/// Somebody has a lock, or has it for longer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LockAcquired {
    /// Its number in the workspace, which only grows: the fencing token.
    pub token: u64,
    /// On what: paths, and everything beneath them.
    pub paths: Vec<String>,
    /// Whether others may have one besides.
    pub shared: bool,
    /// The epoch of the agent that holds it; it ends with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<Epoch>,
    /// When it ends by itself.
    pub expires_at: Timestamp,
}

/// Something was not done because somebody else has a lock, or because the node ended while they waited for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LockRefused {
    /// On what.
    pub paths: Vec<String>,
    /// Who has it, or waited first.
    pub holder: SafeLabel,
    /// The agent that it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<AgentId>,
    /// Its token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<u64>,
    /// Whether the node ended while they waited, so that nobody knows whether they would have had it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

/// A lock is no more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LockReleased {
    /// Its token.
    pub token: u64,
    /// Why.
    pub reason: LockEnd,
}

//! Facts of subagents. Each stands in the stream of the parent, so that the parent's history alone tells of its children.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    AgentId, AgentName, CheckpointId, MessageId, SessionId, TaskId,
    fact::ThreadParent,
    subagent::{Isolation, OnParentExit, SubagentStatus},
};

/// An agent has a further child: recorded together with the declaration of the child, and with its task if it has one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SubagentSpawned {
    /// The child.
    pub subagent_id: AgentId,
    /// Its name.
    pub name: AgentName,
    /// Its session; its first thread has the same UUID.
    pub session_id: SessionId,
    /// The task for which alone it is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    /// What divides it from its parent.
    pub isolation: Isolation,
    /// What becomes of it when its parent has ended.
    pub on_parent_exit: OnParentExit,
    /// Where its first thread goes on from, if its context is forked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<ThreadParent>,
    /// The state of its parent's folder that its own begins with, if its workspace is forked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint_id: Option<CheckpointId>,
    /// SHA-256 of what was asked for, by which the same request is known again.
    pub request_digest: String,
}

/// A child is somewhere else than before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SubagentMoved {
    /// The child.
    pub subagent_id: AgentId,
    /// How far it is.
    pub status: SubagentStatus,
    /// Why, for people.
    pub reason: String,
}

/// A child has a further message: recorded together with its acceptance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SubagentInput {
    /// The child.
    pub subagent_id: AgentId,
    /// The message.
    pub message_id: MessageId,
}

/// A child is to be ended and retired: the intent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SubagentClosing {
    /// The child.
    pub subagent_id: AgentId,
    /// How it has come out.
    pub outcome: SubagentStatus,
    /// Why, for people.
    pub reason: String,
}

/// A child is retired.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SubagentClosed {
    /// The child.
    pub subagent_id: AgentId,
    /// How it has come out.
    pub outcome: SubagentStatus,
    /// Why, for people.
    pub reason: String,
}

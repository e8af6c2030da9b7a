//! Subagents.

use edgeplane_types::{
    AgentId, MessageId, SubagentStatus, Timestamp,
    fact::{Actor, SubagentClosing, SubagentSpawned},
};

/// A child of an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct SubagentRow {
    /// Position of its beginning in the record.
    pub pos: u64,
    /// Which agent it is.
    pub id: AgentId,
    /// Whose child it is.
    pub parent: AgentId,
    /// What it was made with.
    pub spawned: SubagentSpawned,
    /// Who made it.
    pub by: Actor,
    /// When.
    pub spawned_at: Timestamp,
    /// How far it is.
    pub status: SubagentStatus,
    /// Why it is there.
    pub reason: Option<String>,
    /// Why and with what outcome it is to be retired, if it is.
    pub closing: Option<SubagentClosing>,
    /// When it was retired.
    pub closed_at: Option<Timestamp>,
    /// The message that it was given last.
    pub last_message: Option<MessageId>,
}

//! Calls of capabilities.

use edgeplane_types::{
    AgentId, CheckpointId, InvocationState, Timestamp,
    fact::{Actor, InvocationEnded, InvocationProgressed, InvocationRequested},
};

/// A call of a capability.
#[derive(Debug, Clone, PartialEq)]
pub struct InvocationRow {
    /// Position of its request in the record.
    pub pos: u64,
    /// The agent that calls; none: an operator.
    pub agent: Option<AgentId>,
    /// Where it is.
    pub state: InvocationState,
    /// When it was about to be made.
    pub begun_at: Option<Timestamp>,
    /// The checkpoint of the caller's folder that was made before it.
    pub checkpoint: Option<CheckpointId>,
    /// What is asked for.
    pub asked: InvocationRequested,
    /// Who asks.
    pub by: Actor,
    /// When.
    pub asked_at: Timestamp,
    /// How far it was when its server said so last.
    pub progress: Option<InvocationProgressed>,
    /// How it ended, and when.
    pub ended: Option<(InvocationEnded, Timestamp)>,
}

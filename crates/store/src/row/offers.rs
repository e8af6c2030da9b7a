//! What agents offer.

use edgeplane_types::{
    AgentId, Timestamp,
    fact::{Actor, CapabilityRegistered},
};

/// Something that an agent offers, or offered in the epoch before.
#[derive(Debug, Clone, PartialEq)]
pub struct OfferRow {
    /// Whose it is.
    pub agent: AgentId,
    /// The number of its registration in the agent's stream.
    pub seq: u64,
    /// What is said of it.
    pub registered: CapabilityRegistered,
    /// Who registered it.
    pub by: Actor,
    /// When.
    pub at: Timestamp,
    /// Whether it was withdrawn, or its epoch has ended.
    pub is_gone: bool,
}

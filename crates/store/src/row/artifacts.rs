//! Artifacts.

use edgeplane_types::{
    AgentId, Timestamp,
    fact::{Actor, ArtifactPublished},
};

/// An artifact at one of its versions.
#[derive(Debug, Clone, PartialEq)]
pub struct ArtifactRow {
    /// Position of its first version in the record.
    pub pos: u64,
    /// The agent that owns it; none: the node.
    pub owner: Option<AgentId>,
    /// Its newest version.
    pub newest: u64,
    /// What was said of this version.
    pub published: ArtifactPublished,
    /// Who published it.
    pub by: Actor,
    /// When.
    pub at: Timestamp,
    /// When it ended.
    pub deleted_at: Option<Timestamp>,
}

/// Which artifacts to list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ArtifactFilter {
    /// Only those of these owners: agents, and with `None` the node. Empty: all.
    pub owners: Vec<Option<AgentId>>,
    /// Only those whose name begins so.
    pub prefix: String,
}

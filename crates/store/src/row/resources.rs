//! Resources.

use edgeplane_types::{AgentId, Event, ResourceKind};

/// A version of a resource.
#[derive(Debug, Clone, PartialEq)]
pub struct ResourceRow {
    /// What it is.
    pub kind: ResourceKind,
    /// Its name, after the kind.
    pub path: String,
    /// The agent that it is, or that it belongs to.
    pub owner: Option<AgentId>,
    /// Its number, from 1, without gaps, over ends too.
    pub version: u64,
    /// SHA-256 of what it holds; absent if this is its end.
    pub digest: Option<String>,
    /// Size of that in bytes, where the fact says it.
    pub value_bytes: u64,
    /// The fact that made it.
    pub event: Event,
}

/// Which resources to list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResourceFilter {
    /// Only those of this kind.
    pub kind: Option<ResourceKind>,
    /// Only those whose name begins so.
    pub prefix: String,
    /// Only those after this kind and name.
    pub after: Option<(ResourceKind, String)>,
}

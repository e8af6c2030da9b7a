//! Barriers: until what was written has arrived.

use edgeplane_types::{NodeId, Timestamp, WorkspaceId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::stream::Target;

/// How long a barrier is waited for where nobody says so, in milliseconds.
pub const BARRIER_MS: u64 = 30_000;

/// Longest wait for a barrier, in milliseconds.
pub const BARRIER_MS_MAX: u64 = 600_000;

/// Most changes that one barrier names.
pub const BARRIER_WRITES_MAX: usize = 1_000;

fn barrier_ms() -> u64 {
    BARRIER_MS
}

fn log() -> String {
    "log".to_owned()
}

/// Of what something has to arrive: exactly one of the two.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BarrierTarget {
    /// Changes of files of this workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<WorkspaceId>,
    /// Entries of a stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<Target>,
}

/// Up to where: exactly one of the three.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BarrierThrough {
    /// This number: a `write_seq` of a workspace, the number of an entry of a stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// The place in a stream that a cursor names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// These changes of a workspace, by their numbers, at most 1,000.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub write_ids: Vec<u64>,
}

/// Waits until what was written has arrived.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BarrierAwaitParams {
    /// Of what.
    pub target: BarrierTarget,
    /// Which projection of a stream; `log` if not given.
    #[serde(default = "log")]
    pub projection: String,
    /// Up to where.
    pub through: BarrierThrough,
    /// Where, by the ids of nodes: this one, which is also meant if none is named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replicas: Vec<NodeId>,
    /// How long to wait, in milliseconds, at most ten minutes.
    #[serde(default = "barrier_ms")]
    pub timeout_ms: u64,
}

/// How far a node is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReplicaPlace {
    /// Which.
    pub id: NodeId,
    /// The number that it has reached.
    pub seq: u64,
}

/// It has arrived.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BarrierReceipt {
    /// The digest of all that is said here besides.
    pub id: String,
    /// Of what.
    pub target: BarrierTarget,
    /// Everything up to this number is there.
    pub through_seq: u64,
    /// The digest of the newest checkpoint of the workspace, if it has all these changes and no more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree_digest: Option<String>,
    /// When that was seen.
    pub reached_at: Timestamp,
    /// Where.
    pub replicas: Vec<ReplicaPlace>,
}

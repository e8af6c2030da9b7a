//! The node itself, and the record as a whole.

use std::collections::BTreeMap;

use edgeplane_types::{NodeId, NodeName, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{core::Check, overrides::OverrideMark};

/// How the daemon is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeStatus {
    /// The daemon's process.
    pub pid: u32,
    /// The daemon's version.
    pub version: String,
    /// Seconds since it began to serve.
    pub uptime_seconds: u64,
    /// When it began to serve.
    pub started_at: Timestamp,
    /// The node.
    pub node_id: NodeId,
    /// The node's name.
    pub node: NodeName,
    /// Where its record is.
    pub state_dir: String,
    /// Where its sockets are.
    pub runtime_dir: String,
    /// Where it listens.
    pub socket: String,
    /// How many agents are in each phase.
    pub agents: BTreeMap<String, u64>,
    /// How many messages are on each rung; they add up to all that were accepted.
    #[serde(default)]
    pub messages: BTreeMap<String, u64>,
    /// Events in the record.
    pub events: u64,
    /// `ok`, `storage_full` or `damaged`.
    pub record: String,
    /// Descriptors that the daemon has open; 0 where it does not tell.
    #[serde(default)]
    pub open_files: u64,
    /// The overrides that are in force, newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overrides: Vec<OverrideMark>,
    /// What this machine allows, as `doctor` shows it.
    pub checks: Vec<Check>,
}

/// What a verification found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AuditResult {
    /// Whether nothing is wrong.
    pub ok: bool,
    /// Events that were recomputed.
    pub events: u64,
    /// Streams they are in.
    pub streams: u64,
    /// Recording segments whose digest was recomputed.
    pub segments: u64,
    /// Segments still being written: they have no digest yet.
    pub unsealed: u64,
    /// What is wrong, the first in each stream or recording.
    pub problems: Vec<AuditProblem>,
}

/// One thing that is wrong with the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AuditProblem {
    /// The stream.
    pub stream: String,
    /// The event in it, zero if it is not one event's.
    pub seq: u64,
    /// The event's type, as far as it can be read.
    #[serde(rename = "type")]
    pub kind: String,
    /// What is wrong.
    pub what: String,
}

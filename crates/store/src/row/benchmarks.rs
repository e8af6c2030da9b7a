//! Benchmark trials.

use edgeplane_types::{
    Timestamp,
    fact::{Actor, RewardRecorded, TrialEnded, TrialStarted},
};

/// A trial.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialRow {
    /// Position of its beginning in the record.
    pub pos: u64,
    /// What it began with.
    pub started: TrialStarted,
    /// Who wanted it.
    pub by: Actor,
    /// When.
    pub at: Timestamp,
    /// How and when it ended, and where that stands in the record.
    pub ended: Option<(TrialEnded, Timestamp, u64)>,
    /// The reward that counts.
    pub reward: Option<RewardRow>,
}

impl TrialRow {
    /// In whose name a key of somebody who asks for trials counts: names alone do not tell them apart.
    #[must_use]
    pub fn asker(by: &Actor) -> String {
        match by {
            Actor::Operator { .. } => format!("operator {}", by.name()),
            Actor::Agent { agent_id, .. } => format!("agent {agent_id}"),
            Actor::Service { .. } => format!("service {}", by.name()),
            Actor::Unproven { .. } => format!("unproven {}", by.name()),
            Actor::Node { .. } => format!("node {}", by.name()),
        }
    }
}

/// A reward of a trial.
#[derive(Debug, Clone, PartialEq)]
pub struct RewardRow {
    /// What was said.
    pub recorded: RewardRecorded,
    /// By whom.
    pub by: Actor,
    /// When.
    pub at: Timestamp,
}

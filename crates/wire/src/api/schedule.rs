//! Schedules: what is planned and what became of it.

use edgeplane_types::{
    AgentName, MessageId, Timestamp,
    schedule::{MissReason, RunCause, SkipReason},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Lists schedules.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListParams {
    /// Only of this agent: name or id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

/// The schedules.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ListResult {
    /// By agent and name.
    pub items: Vec<ScheduleView>,
}

/// A schedule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScheduleView {
    /// Its agent.
    pub agent: AgentName,
    /// Its name.
    pub name: AgentName,
    /// When it is due, in the words of its declaration, such as `0 9 * * mon-fri Europe/Berlin`.
    pub when: String,
    /// Its whole declaration.
    pub spec: Value,
    /// Whether it was declared in its agent's manifest.
    pub in_manifest: bool,
    /// Whether it waits to be resumed.
    pub paused: bool,
    /// When it is due next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_at: Option<Timestamp>,
    /// Every occurrence up to here is accounted for.
    pub accounted_until: Timestamp,
    /// How often it ran.
    pub ran: u64,
    /// How often it was skipped.
    pub skipped: u64,
    /// How often it was missed.
    pub missed: u64,
}

/// Names a schedule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScheduleParams {
    /// Its agent: name or id.
    pub agent: String,
    /// Its name.
    pub name: AgentName,
}

/// Asks what became of a schedule's occurrences.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HistoryParams {
    /// Its agent: name or id.
    pub agent: String,
    /// Its name.
    pub name: AgentName,
    /// Most to list.
    #[serde(default = "page")]
    pub limit: u32,
}

fn page() -> u32 {
    100
}

/// What became of a schedule's occurrences.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HistoryResult {
    /// Newest first.
    pub items: Vec<OccurrenceView>,
}

/// What became of one occurrence, or of several that were missed together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OccurrenceView {
    /// When it was due; of several, the first.
    pub due_at: Timestamp,
    /// When that was recorded.
    pub at: Timestamp,
    /// What became of it.
    #[serde(flatten)]
    pub outcome: Occurred,
}

/// What became of an occurrence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Occurred {
    /// Its message was sent.
    Ran {
        /// Why.
        cause: RunCause,
        /// The message.
        message_id: MessageId,
    },
    /// It sent nothing.
    Skipped {
        /// Why.
        reason: SkipReason,
        /// The same in words.
        detail: String,
    },
    /// It could not be sent.
    Missed {
        /// Why.
        reason: MissReason,
        /// When the last of them was due.
        to: Timestamp,
        /// How many.
        count: u64,
    },
}

/// A schedule that was run by hand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunResult {
    /// The message that it sent.
    pub message_id: MessageId,
}

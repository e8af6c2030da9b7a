//! Facts of automations. They stand in the node's stream.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    AgentName, ErrorName, FiringId, Timestamp,
    automation::{AutomationCause, AutomationSkip, FiringState},
};

/// An automation fires: the intent, before anything is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AutomationFired {
    /// The firing. The trace of what it does has its UUID, and so has the task that it makes.
    pub firing_id: FiringId,
    /// Which automation.
    pub automation: AgentName,
    /// Which version of it.
    pub version: u64,
    /// Why.
    pub cause: AutomationCause,
    /// What the cause is known by; the automation fires once for each.
    pub key: String,
    /// How many automations caused each other before this one.
    pub hops: u32,
}

/// What came of a firing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AutomationEnded {
    /// The firing.
    pub firing_id: FiringId,
    /// Which automation.
    pub automation: AgentName,
    /// What.
    pub state: FiringState,
    /// The name of the failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorName>,
    /// Why, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// An automation did not fire so many times, first and last at these.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AutomationSkipped {
    /// Which automation.
    pub automation: AgentName,
    /// Why.
    pub reason: AutomationSkip,
    /// How many times.
    pub count: u64,
    /// When it would have fired first.
    pub from: Timestamp,
    /// When it would have fired last.
    pub to: Timestamp,
    /// The position of the last event that it would have fired for; none of one that came due.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pos: Option<u64>,
}

//! Automations: what they did, and deliveries to them.

use edgeplane_types::{
    AgentName, AutomationCause, ErrorName, FiringId, FiringState, SafeLabel, TaskId, Timestamp, TraceId,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Longest delivery in bytes.
pub const DELIVERY_BYTES_MAX: usize = 256 << 10;

/// Firings that are shown where nobody says how many, and at most.
pub const FIRINGS: u32 = 20;
/// Most firings that are shown.
pub const FIRINGS_MAX: u32 = 200;

fn firings() -> u32 {
    FIRINGS
}

/// Names an automation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AutomationParams {
    /// Its name.
    pub name: AgentName,
    /// How many of its firings to show, at most 200; the newest.
    #[serde(default = "firings")]
    pub firings: u32,
}

/// Has an automation fire by hand.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FireAutomationParams {
    /// Its name.
    pub name: AgentName,
    /// What is found below `event` in its placeholders; whole numbers only. It weighs as little as the words of others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<Value>,
}

/// Hands over a delivery, as it came over HTTP.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeliverWebhookParams {
    /// The automation that it is for.
    pub name: String,
    /// What its sender calls it: the key against taking it twice.
    pub id: String,
    /// When it was signed, in seconds since 1970.
    pub timestamp: String,
    /// Its signatures, parted by spaces: `v1,` and the base64 of HMAC-SHA256 over `ID.TIMESTAMP.BODY`.
    pub signatures: String,
    /// Whether it is JSON; else it is text.
    pub is_json: bool,
    /// What was delivered, in base64: at most 256 KiB.
    pub body: String,
}

/// What became of a delivery.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeliverWebhookResult {
    /// The firing.
    pub firing_id: FiringId,
    /// Whether it was delivered before.
    pub replayed: bool,
}

/// One time that an automation fired.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FiringView {
    /// Its id.
    pub firing_id: FiringId,
    /// Which automation.
    pub automation: AgentName,
    /// Which version of it.
    pub version: u64,
    /// Why.
    pub cause: AutomationCause,
    /// How many automations caused each other before it.
    pub hops: u32,
    /// When.
    pub at: Timestamp,
    /// Where it is.
    pub state: FiringState,
    /// When it was over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// The name of the failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorName>,
    /// Why it failed, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The task or job that it makes, if it makes one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    /// The trace of what it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<TraceId>,
}

/// An automation and what it did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AutomationView {
    /// Its name.
    pub name: AgentName,
    /// Its version, as a resource.
    pub version: u64,
    /// Whether it fires.
    pub enabled: bool,
    /// What has it fire: `event`, `schedule` or `webhook`.
    pub on: String,
    /// When, in its own words.
    pub when: String,
    /// What it does, in a few words.
    pub does: String,
    /// As whom it acts: whoever declared it.
    pub acts_as: SafeLabel,
    /// When it is due next, if it fires by the clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_at: Option<Timestamp>,
    /// How often it fired.
    pub fired: u64,
    /// How many of its firings ended otherwise than well.
    pub failed: u64,
    /// How often it did not fire.
    pub skipped: u64,
    /// How many of its firings are not over.
    pub waiting: u64,
    /// Its newest firings, newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub firings: Vec<FiringView>,
}

/// Automations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AutomationsResult {
    /// Those that there are and may be seen, by name.
    pub items: Vec<AutomationView>,
}

//! Overrides: an operator's standing decisions over agents.

use edgeplane_types::{AgentId, OverrideId, OverrideKind, OverrideScope, Phase, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What an override is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WantedKind {
    /// End the agents, and let none begin.
    Stop,
    /// Suspend the agents, and let none begin.
    Pause,
    /// Undo what they did: not served.
    Rollback,
    /// Change what they do: not served.
    Modify,
}

/// Decides over agents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApplyOverrideParams {
    /// Which agents, those to come included: `{"node": true}`, `{"agents": [names]}` or `{"labels": {key: value}}`.
    pub scope: OverrideScope,
    /// What is done to them.
    pub kind: WantedKind,
    /// Why, for the record and for whoever finds an agent held.
    pub reason: String,
    /// After how many milliseconds it lifts itself; never without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_in_ms: Option<u64>,
    /// How long the answer may wait for agents to come to rest, in milliseconds; 5,000 without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_ms: Option<u64>,
}

/// What came of applying or lifting an override.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OverrideResult {
    /// The override.
    pub override_id: OverrideId,
    /// What it did to each agent that it covers, by name.
    pub affected: Vec<Affected>,
}

/// What an override, or its end, did to one agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Affected {
    /// The agent's name.
    pub agent: String,
    /// Its id.
    pub agent_id: AgentId,
    /// Where it was.
    pub before: Phase,
    /// Where it was when the answer was given; it may be on its way still.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Phase>,
    /// What could not be done to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<AffectedError>,
}

/// Why an override could not do to an agent what it says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AffectedError {
    /// The error's name, as methods answer it.
    pub name: String,
    /// What is the matter, and what was done instead.
    pub message: String,
}

/// Lifts an override.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LiftOverrideParams {
    /// Which.
    pub override_id: OverrideId,
    /// Why, for the record.
    pub reason: String,
    /// How long the answer may wait for agents to go on, in milliseconds; 5,000 without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_ms: Option<u64>,
}

/// Names an override.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OverrideParams {
    /// Which.
    pub override_id: OverrideId,
}

/// Which overrides to list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListOverridesParams {
    /// Only those that cover this agent now: name or id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Also those that were lifted.
    #[serde(default)]
    pub lifted: bool,
}

/// Overrides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OverridesResult {
    /// Newest first.
    pub items: Vec<OverrideView>,
}

/// An override.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OverrideView {
    /// Its id.
    pub override_id: OverrideId,
    /// Which agents it covers.
    pub scope: OverrideScope,
    /// What it does to them.
    pub kind: OverrideKind,
    /// Why.
    pub reason: String,
    /// Who decided it.
    pub by: String,
    /// When.
    pub applied_at: Timestamp,
    /// When it lifts itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// How it was lifted, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifted: Option<LiftView>,
    /// The agents that it covers now, by name; none if it was lifted.
    pub agents: Vec<String>,
}

/// The end of an override.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LiftView {
    /// Why.
    pub reason: String,
    /// By whom.
    pub by: String,
    /// When.
    pub at: Timestamp,
}

/// An override that holds an agent, as the agent's status shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OverrideMark {
    /// Its id.
    pub override_id: OverrideId,
    /// What it does to the agent.
    pub kind: OverrideKind,
    /// Why.
    pub reason: String,
    /// Who decided it.
    pub by: String,
    /// Since when.
    pub since: Timestamp,
    /// When it lifts itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

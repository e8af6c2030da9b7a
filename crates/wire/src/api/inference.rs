//! Inference: which models agents say they work with, what they say they used, what holds them back.
//!
//! The node calls no model itself, so all of it is what drivers and programs say, and says so. What nobody said is
//! named: a price that is `unknown`, a limit that is `unreported`, a choice with a single candidate.

use edgeplane_types::{AgentId, Epoch, Evidence, MessageId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Names the agent whose inference is meant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InferenceParams {
    /// Name or id.
    pub agent: String,
}

/// Of which agents to list models.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListModelsParams {
    /// Of this agent: name or id; an operator leaves it out for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

/// Who says that a model is there, or is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ModelSource {
    /// The agent's manifest.
    Manifest,
    /// Its program, when its session began.
    Session,
    /// Nobody: its program chooses and does not say.
    Unreported,
}

/// A model that an agent's program offers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelView {
    /// The agent's name.
    pub agent: String,
    /// The agent.
    pub agent_id: AgentId,
    /// The model, as its program calls it.
    pub model: String,
    /// What it is called for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Whether it is the one that the agent works with.
    pub current: bool,
    /// Who says so.
    pub source: ModelSource,
    /// The epoch in which that was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<Epoch>,
}

/// Models.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelsResult {
    /// By agent, in the order in which its program named them.
    pub items: Vec<ModelView>,
    /// Agents whose programs choose a model and do not say which.
    pub unreported: Vec<String>,
}

/// How a model was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RouteMode {
    /// There is one candidate: the agent's own model.
    Single,
}

/// What a price is known as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PriceState {
    /// The program says it.
    Reported,
    /// Nobody says it.
    Unknown,
}

/// A model that a turn could be given to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RouteCandidate {
    /// The model; absent if its program does not say which.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Who says so.
    pub source: ModelSource,
    /// Whether its price is known.
    pub price: PriceState,
}

/// Which model a turn of an agent would get, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RouteDecision {
    /// The agent's name.
    pub agent: String,
    /// The agent.
    pub agent_id: AgentId,
    /// How it was chosen.
    pub mode: RouteMode,
    /// Why: `single_candidate`.
    pub reason: String,
    /// All that there were to choose from.
    pub candidates: Vec<RouteCandidate>,
    /// The one that was chosen.
    pub selected: RouteCandidate,
    /// What would be tried next: nothing.
    pub fallback: Vec<RouteCandidate>,
    /// What could not be known.
    pub gaps: Vec<String>,
}

/// Tokens, as a program counts them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokenCounts {
    /// That went in.
    pub input: u64,
    /// That came out.
    pub output: u64,
    /// All of them.
    pub total: u64,
}

/// What something cost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CostView {
    /// Whether it is known.
    pub price: PriceState,
    /// What the session has cost since it began, in the program's own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// What sessions before had cost at their ends, oldest first, the newest of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub former_sessions: Vec<String>,
}

/// What a turn used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnUsage {
    /// The message that began it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<MessageId>,
    /// Its tokens.
    pub tokens: TokenCounts,
}

/// What an agent used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UsageView {
    /// The agent's name.
    pub agent: String,
    /// The agent.
    pub agent_id: AgentId,
    /// Who says so: `program`, or `nobody` if it never said anything.
    pub said_by: String,
    /// How often it did.
    pub reports: u64,
    /// Tokens of all turns.
    pub tokens: TokenCounts,
    /// Tokens that its context holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<u64>,
    /// What that cost.
    pub cost: CostView,
    /// The newest turns, oldest first.
    pub turns: Vec<TurnUsage>,
    /// Turns before those.
    pub turns_more: u64,
    /// Number of the newest event that this knows, in the agent's stream.
    pub as_of_seq: u64,
}

/// How a limit stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InferenceLimitState {
    /// It is used up: the agent waits.
    Exhausted,
    /// The agent works or could.
    Open,
    /// Nobody says how it stands.
    Unreported,
    /// There is none.
    None,
}

/// A limit of an agent's inference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InferenceLimit {
    /// What is limited: `provider_quota`, `budget`.
    pub kind: String,
    /// How it stands.
    pub state: InferenceLimitState,
    /// How that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    /// What that means, in words.
    pub detail: String,
}

/// What holds an agent's inference back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InferenceLimitsResult {
    /// The agent's name.
    pub agent: String,
    /// The agent.
    pub agent_id: AgentId,
    /// Each limit.
    pub items: Vec<InferenceLimit>,
}

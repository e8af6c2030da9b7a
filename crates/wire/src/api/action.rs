//! Pending actions: ask a person, and decide.

use edgeplane_types::{
    ActionId, MessageId, SafeLabel, Timestamp,
    decision::{Action, ActionKind, ActionOutcome, Choice, Verdict},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Asks a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OpenParams {
    /// The agent that asks: name or id. Left out: the calling agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// A question or an approval.
    pub kind: ActionKind,
    /// What a person reads.
    pub prompt: String,
    /// The answers to choose from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<Choice>,
    /// The JSON Schema of an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
    /// What is to be done, word for word: what is approved is this and nothing else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<Value>,
    /// Who may decide: any of these roles; none: any operator.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<SafeLabel>,
    /// How many different persons must approve.
    #[serde(default = "one")]
    pub quorum: u32,
    /// Milliseconds after which silence is a denial; left out: a day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_in_ms: Option<u64>,
    /// The message that led to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub causation: Option<MessageId>,
    /// Key against asking twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
}

fn one() -> u32 {
    1
}

/// Lists actions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListParams {
    /// Only of this agent: name or id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Also those that are decided.
    #[serde(default)]
    pub all: bool,
    /// Most to list, at most 200.
    #[serde(default = "page")]
    pub limit: u32,
}

fn page() -> u32 {
    100
}

/// The actions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ListResult {
    /// Those that end first come first; with `all`, the newest first.
    pub items: Vec<ActionView>,
}

/// Names an action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ActionParams {
    /// Its id.
    pub action_id: ActionId,
}

/// Decides an action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DecideParams {
    /// Its id.
    pub action_id: ActionId,
    /// The digest of what was looked at: a decision is about exactly that.
    pub digest: String,
    /// What is decided.
    pub verdict: Verdict,
}

/// An action.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ActionView {
    /// What is asked.
    pub action: Action,
    /// The name of the agent that asks.
    pub agent: String,
    /// What is to be done, word for word. Lists leave it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<Value>,
    /// The answers that the agent's program offers, if it asks for leave in its own words. Lists leave them out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<OptionView>,
    /// Who has said what so far.
    pub votes: Vec<VoteView>,
    /// How it ended, if it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<ActionOutcome>,
    /// The answer, of a question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Value>,
    /// Why it ended so, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved_at: Option<Timestamp>,
    /// The message by which the agent was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told_by: Option<MessageId>,
}

/// An answer that an agent's program offers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OptionView {
    /// The program's own name for it, which is given as `option`.
    pub id: String,
    /// What the program says that it is.
    pub name: String,
    /// The protocol's word for what it means: `allow_once`, `allow_always`, `reject_once`, `reject_always`, `other`.
    pub kind: String,
    /// How far it reaches, as far as that is known.
    pub reach: String,
}

/// What one person said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VoteView {
    /// Who.
    pub principal: SafeLabel,
    /// What.
    pub verdict: Verdict,
    /// When.
    pub at: Timestamp,
}

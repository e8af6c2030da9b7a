//! Facts of rules.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{AgentId, Channel, MessageId, PolicyAction, PolicyLayer, SafeLabel};

/// A rule, or the lack of one, refused a request; `count` of the same kind within a second.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RequestRefused {
    /// What was wanted.
    pub action: PolicyAction,
    /// Of which agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<AgentId>,
    /// By whom.
    pub principal: SafeLabel,
    /// The kind of the message, if it was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<Channel>,
    /// What was to be called, as its name says it, if it was a call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capability: Option<String>,
    /// The message in whose turn a call was wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub causation: Option<MessageId>,
    /// Whose rules.
    pub layer: PolicyLayer,
    /// Which rule.
    pub rule: SafeLabel,
    /// Why, for people.
    pub reason: String,
    /// How many.
    pub count: u64,
}

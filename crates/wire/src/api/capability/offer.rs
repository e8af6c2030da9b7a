//! What agents offer to be called, and how they answer.

use edgeplane_types::{
    AgentId, CapabilityId, CapabilityKind, EffectClass, Epoch, InvocationId, Permission, SafeLabel,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Most capabilities that one agent offers at a time.
pub const OFFERS_MAX: usize = 64;

/// Longest title, in bytes.
pub const OFFER_TITLE_BYTES_MAX: usize = 256;

/// Longest description, in bytes.
pub const OFFER_DESCRIPTION_BYTES_MAX: usize = 4 << 10;

/// Largest sum of all that is said of one, in bytes of JSON.
pub const OFFER_BYTES_MAX: usize = 64 << 10;

/// Longest time that a call of one may take, in milliseconds.
pub const OFFER_TIMEOUT_MS_MAX: u64 = 3_600_000;

/// Largest answer in bytes of JSON.
pub const OUTPUT_BYTES_MAX: usize = 4 << 20;

fn tool() -> CapabilityKind {
    CapabilityKind::Tool
}

fn external() -> EffectClass {
    EffectClass::External
}

fn minute() -> u64 {
    60_000
}

fn any_object() -> Value {
    serde_json::json!({ "type": "object" })
}

/// Has an agent offer a capability for as long as its epoch lives. What it offers by this name already is replaced.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RegisterCapabilityParams {
    /// Which agent, by name or id; the calling agent if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// What it is called within the agent; its whole name is `agent:AGENT/NAME`.
    pub name: SafeLabel,
    /// `tool` or `operation`.
    #[serde(default = "tool")]
    pub kind: CapabilityKind,
    /// What it is called for people: at most 256 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is for: at most 4 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What a call is given, as a JSON Schema of an object.
    #[serde(default = "any_object")]
    pub input_schema: Value,
    /// What a call gives, as a JSON Schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// What it does at most. It is shown; it is believed if an operator says it.
    #[serde(default = "external")]
    pub effect: EffectClass,
    /// What holds for a call by an agent; `ask` if not given. Only an operator may say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission: Option<Permission>,
    /// How long a call may take, in milliseconds: at most an hour; a minute if not given.
    #[serde(default = "minute")]
    pub timeout_ms: u64,
}

/// What an agent offers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RegistrationView {
    /// Its id: the same whenever this agent offers something by this name.
    pub capability_id: CapabilityId,
    /// Its whole name.
    pub name: String,
    /// The agent.
    pub agent_id: AgentId,
    /// The epoch that offers it.
    pub epoch: Epoch,
    /// Changes whenever something else is said of it.
    pub digest: String,
    /// The number of its registration in the agent's stream: its calls come behind it, as `capability.called`.
    pub seq: u64,
    /// Whether it was offered so before.
    #[serde(default)]
    pub unchanged: bool,
}

/// Takes back what an agent offers. Calls that run may still be answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WithdrawCapabilityParams {
    /// Its id or its whole name.
    pub capability: String,
}

/// Answers a call. Exactly one of `output` and `error` is given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CompleteInvocationParams {
    /// Which.
    pub invocation_id: InvocationId,
    /// What came of it: at most 4 MiB of JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    /// Why it went wrong: at most 4 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

//! Capabilities: what connectors, agents and the node itself offer, and calls of it.

mod offer;

use edgeplane_types::{
    ActionId, AgentId, AgentName, BackingKind, CapabilityId, CapabilityKind, CheckpointId, EffectClass,
    Epoch, InvocationCause, InvocationId, InvocationState, Permission, SafeLabel, Timestamp,
    decision::Verdict,
    fact::{HookRun, InvocationProgressed},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use offer::{
    CompleteInvocationParams, OFFER_BYTES_MAX, OFFER_DESCRIPTION_BYTES_MAX, OFFER_TIMEOUT_MS_MAX,
    OFFER_TITLE_BYTES_MAX, OFFERS_MAX, OUTPUT_BYTES_MAX, RegisterCapabilityParams, RegistrationView,
    WithdrawCapabilityParams,
};

/// Largest input in bytes of JSON.
pub const INPUT_BYTES_MAX: usize = 1 << 20;

/// Longest time that an invocation is waited for, in milliseconds.
pub const AWAIT_MS_MAX: u64 = 3_600_000;

/// Which capabilities to list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListCapabilitiesParams {
    /// Only those of this connector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connector: Option<AgentName>,
    /// Only those with this behind them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backing: Option<BackingKind>,
    /// Only those of this kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<CapabilityKind>,
    /// Most capabilities, at most 500; 100 if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Where a former list ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// Whether their schemas are shown, too. Such a list ends at 2 MiB, wherever that is; `next_cursor` goes on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub schemas: bool,
}

/// Names a capability.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CapabilityParams {
    /// Its id, or its name: `CONNECTOR/TOOL`, `CONNECTOR/resource:URI`, `CONNECTOR/prompt:NAME`, `agent:AGENT/NAME`, `edgeplane:METHOD`, `workflow:NAME/run`.
    pub capability: String,
}

/// What to look for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchCapabilitiesParams {
    /// Words that its name, title or description holds, all of them.
    pub query: String,
    /// Only those of this kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<CapabilityKind>,
    /// Most capabilities, at most 500; 100 if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// What a capability does at most.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CapabilityEffect {
    /// What it may do.
    pub class: EffectClass,
    /// Whether somebody vouches for that; else the worst is taken.
    pub vouched: bool,
    /// Whether what it does can be undone.
    pub reversible: bool,
}

/// What holds for a call by whoever asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PermissionView {
    /// Whether it is made, asked about or refused.
    pub decision: Permission,
    /// The rule that says so.
    pub rule: SafeLabel,
    /// Why, for people.
    pub reason: String,
}

/// What is behind a capability.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CapabilityBacking {
    /// What kind of thing.
    pub kind: BackingKind,
    /// The connector, the agent or the workflow that offers it, or the profile of a method.
    pub owner: AgentName,
    /// What that calls it, letter for letter.
    pub native_id: String,
    /// The agent that offers it, by its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<AgentId>,
    /// The agent's epoch that offers it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<Epoch>,
}

/// A capability.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapabilityView {
    /// Its id: the same as long as its owner and its native name are.
    pub capability_id: CapabilityId,
    /// Its name: `CONNECTOR/TOOL`, `CONNECTOR/resource:URI`, `CONNECTOR/prompt:NAME`, `agent:AGENT/NAME`, `edgeplane:METHOD`, `workflow:NAME/run`.
    pub name: String,
    /// What it is.
    pub kind: CapabilityKind,
    /// What it is called, as its server says: for people, never for a decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is for, as its server says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What a call is given, as a JSON Schema; in lists only if they are asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_schema: Option<Value>,
    /// What a call gives, as a JSON Schema, if its server says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// What it does at most.
    pub effect: CapabilityEffect,
    /// Calls of it run beside each other: `parallel`.
    pub concurrency: String,
    /// What holds for a call by whoever asks.
    pub policy: PermissionView,
    /// How long a call may take, in milliseconds.
    pub timeout_ms: u64,
    /// What is behind it.
    pub backing: CapabilityBacking,
    /// What its server claims of it. Not to be believed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Value>,
    /// Changes whenever its server says something else of it.
    pub digest: String,
}

/// How it stands with a connector.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConnectorStanding {
    /// Which.
    pub connector: AgentName,
    /// Whether its server answers.
    pub available: bool,
    /// Which version of the protocol it speaks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// Why it does not answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// What its server lists and is not offered, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

/// Capabilities.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapabilitiesResult {
    /// By name. Those that whoever asks may not call are left out for an agent.
    pub items: Vec<CapabilityView>,
    /// How it stands with the connectors that were asked.
    pub connectors: Vec<ConnectorStanding>,
    /// What to give as `cursor` for those after; nothing if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// Changes whenever the list does, all of it, as whoever asks sees it. Only in what has no `cursor`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

/// How a call is waited for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InvokeMode {
    /// Until it is over, or waits for leave.
    #[default]
    Await,
    /// Not at all: the answer says what it is called.
    Async,
    /// Until it is over, or waits for leave; how far it is comes as `core/progress` notifications before the answer.
    Streaming,
}

/// Calls a capability.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InvokeParams {
    /// Its id or its name.
    pub capability: String,
    /// The digest of what was looked at; it is not called if it is another one by now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// What it is given: an object.
    #[serde(default = "nothing")]
    pub input: Value,
    /// How it is waited for.
    #[serde(default)]
    pub mode: InvokeMode,
    /// How long it may take, in milliseconds; at most what is said of the capability.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}

fn nothing() -> Value {
    Value::Object(serde_json::Map::new())
}

/// Names an invocation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InvocationParams {
    /// Which.
    pub invocation_id: InvocationId,
}

/// Waits for an invocation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AwaitInvocationParams {
    /// Which.
    pub invocation_id: InvocationId,
    /// How long at most, in milliseconds; then it is shown as it is.
    pub timeout_ms: u64,
}

/// Decides about an invocation that waits for leave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResolvePermissionParams {
    /// Which.
    pub invocation_id: InvocationId,
    /// The digest of the action that was looked at.
    pub digest: String,
    /// What is decided.
    pub verdict: Verdict,
}

/// A call of a capability.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InvocationView {
    /// Its id.
    pub invocation_id: InvocationId,
    /// Where it is.
    pub status: InvocationState,
    /// What is called.
    pub capability_id: CapabilityId,
    /// Its name.
    pub name: String,
    /// What is behind it.
    pub backing: CapabilityBacking,
    /// The digest of what is called.
    pub capability_digest: String,
    /// SHA-256 of exactly what it is given.
    pub input_digest: String,
    /// What it is given; what looks like a secret is masked. The agent that is to answer it sees it exactly, or not at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// What held for it.
    pub permission: Permission,
    /// The rule that says so.
    pub rule: SafeLabel,
    /// The action by which a person is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action_id: Option<ActionId>,
    /// The checkpoint of the caller's folder that was made before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint_id: Option<CheckpointId>,
    /// What came of it, as it came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    /// SHA-256 of that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_digest: Option<String>,
    /// Its size in bytes.
    #[serde(default)]
    pub output_bytes: u64,
    /// How far it was when its server said so last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<InvocationProgressed>,
    /// Why it ended so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What had it end without being done, where that is more than its server's word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<InvocationCause>,
    /// The hooks that were asked about it, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hooks: Vec<HookRun>,
    /// When it was asked for.
    pub asked_at: Timestamp,
    /// By whom.
    pub by: String,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
}

//! Facts of invocations. They stand in the stream of the agent that calls; those of operators in the node's.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    AgentName, CapabilityId, CheckpointId, Epoch, InvocationId, MessageId, SafeLabel,
    capability::{
        BackingKind, CapabilityKind, EffectClass, HookDecision, HookPoint, InvocationCause, InvocationState,
        Permission,
    },
};

use super::OfferedBy;

/// A call of a capability is asked for, and what holds for it was found out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InvocationRequested {
    /// Its id.
    pub invocation_id: InvocationId,
    /// What is called.
    pub capability_id: CapabilityId,
    /// What kind of thing is behind it.
    #[serde(default)]
    pub backing: BackingKind,
    /// Whose it is: the connector, the agent or the workflow that offers it, or the profile of a method.
    #[serde(alias = "connector")]
    pub owner: AgentName,
    /// What kind of thing it is.
    pub kind: CapabilityKind,
    /// What its owner calls it, letter for letter.
    pub native_id: String,
    /// The agent and the epoch that answer it, where an agent offers it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offered_by: Option<OfferedBy>,
    /// The digest of what was looked at.
    pub capability_digest: String,
    /// SHA-256 of exactly what it is given.
    pub input_digest: String,
    /// SHA-256 of that with what looks like a secret masked, in the body store; the same if nothing does.
    pub shown_digest: String,
    /// Size of that in bytes.
    pub shown_bytes: u64,
    /// What it may do at most.
    pub effect: EffectClass,
    /// What holds for it: `allow` or `ask`.
    pub permission: Permission,
    /// The rule that says so.
    pub rule: SafeLabel,
    /// How long it may take, in milliseconds.
    pub timeout_ms: u64,
    /// The epoch of the agent that calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<Epoch>,
    /// The message that led to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub causation: Option<MessageId>,
    /// The hooks that were asked before it, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hooks: Vec<HookRun>,
}

impl InvocationRequested {
    /// The name of what is called.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}{}/{}", self.backing.prefix(), self.owner, self.kind.called(&self.native_id))
    }
}

/// What a hook made of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HookRun {
    /// Which.
    pub hook: SafeLabel,
    /// When it was asked.
    pub point: HookPoint,
    /// What it said; nothing if it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<HookDecision>,
    /// Why, or how it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What it would have whoever calls know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// Whether it changed what is given, or what came of it.
    #[serde(default)]
    pub changed: bool,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
}

/// A hook is about to be asked about a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HookStarted {
    /// The call.
    pub invocation_id: InvocationId,
    /// Which hook.
    pub hook: SafeLabel,
    /// When.
    pub point: HookPoint,
    /// The message in whose turn the call was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub causation: Option<MessageId>,
    /// SHA-256 of what it is told, in the body store.
    pub given_digest: String,
    /// Its size in bytes.
    pub given_bytes: u64,
}

/// A hook has answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HookCompleted {
    /// The call.
    pub invocation_id: InvocationId,
    /// Which hook.
    pub hook: SafeLabel,
    /// When.
    pub point: HookPoint,
    /// The message in whose turn the call was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub causation: Option<MessageId>,
    /// What it said.
    pub decision: HookDecision,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// SHA-256 of exactly what the call was given before it.
    pub input_digest: String,
    /// SHA-256 of exactly what the call is given after it, if it changed that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_digest: Option<String>,
    /// SHA-256 of its answer, in the body store.
    pub said_digest: String,
    /// Its size in bytes.
    pub said_bytes: u64,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
}

/// A hook did not answer as it should.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HookFailed {
    /// The call.
    pub invocation_id: InvocationId,
    /// Which hook.
    pub hook: SafeLabel,
    /// When.
    pub point: HookPoint,
    /// The message in whose turn the call was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub causation: Option<MessageId>,
    /// How.
    pub reason: String,
    /// Whether that is passed over; else it stops what it was asked about.
    pub passed_over: bool,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
}

/// An invocation is about to be made: the intent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InvocationBegun {
    /// Its id.
    pub invocation_id: InvocationId,
    /// The checkpoint of the caller's folder that was made before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint_id: Option<CheckpointId>,
}

/// The server of an invocation asks something of a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InvocationAsked {
    /// The invocation.
    pub invocation_id: InvocationId,
    /// Which of its questions, from 1.
    pub number: u32,
    /// The rule by which it is declined; without one an action is opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declined_by: Option<SafeLabel>,
}

/// The server of an invocation says how far it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InvocationProgressed {
    /// The invocation.
    pub invocation_id: InvocationId,
    /// How far, as a decimal number.
    pub done: String,
    /// Of how much, if its server says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<String>,
    /// What its server says of it, cut and cleaned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// An invocation is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InvocationEnded {
    /// Its id.
    pub invocation_id: InvocationId,
    /// How.
    pub state: InvocationState,
    /// Why, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What had it end without being done, where that is more than its server's word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<InvocationCause>,
    /// SHA-256 of what the server answered, in the body store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_digest: Option<String>,
    /// Its size in bytes.
    #[serde(default)]
    pub output_bytes: u64,
    /// The hooks that saw what came of it, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hooks: Vec<HookRun>,
}

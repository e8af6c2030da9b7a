//! Facts of invocations. They stand in the stream of the agent that calls; those of operators in the node's.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    AgentName, CapabilityId, Epoch, InvocationId, MessageId, SafeLabel,
    capability::{CapabilityKind, EffectClass, InvocationState, Permission},
};

/// A call of a capability is asked for, and what holds for it was found out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InvocationRequested {
    /// Its id.
    pub invocation_id: InvocationId,
    /// What is called.
    pub capability_id: CapabilityId,
    /// The connector that offers it.
    pub connector: AgentName,
    /// What kind of thing it is.
    pub kind: CapabilityKind,
    /// What the connector's server calls it, letter for letter.
    pub native_id: String,
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
}

/// An invocation is about to be made: the intent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InvocationBegun {
    /// Its id.
    pub invocation_id: InvocationId,
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
    /// SHA-256 of what the server answered, in the body store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_digest: Option<String>,
    /// Its size in bytes.
    #[serde(default)]
    pub output_bytes: u64,
}

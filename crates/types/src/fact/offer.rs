//! Facts of what agents offer. They stand in the stream of the agent that offers, so that its history alone tells what
//! it offered, when it was called and how each call ended.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    AgentId, CapabilityId, Epoch, InvocationId, SafeLabel,
    capability::{CapabilityKind, EffectClass, InvocationState, Permission},
};

/// An agent offers a capability for as long as its epoch lives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CapabilityRegistered {
    /// Its id: the same whenever this agent offers something by this name.
    pub capability_id: CapabilityId,
    /// What it is called within the agent.
    pub name: SafeLabel,
    /// The epoch that offers it.
    pub epoch: Epoch,
    /// What kind of thing it is: `tool` or `operation`.
    pub kind: CapabilityKind,
    /// What it does at most, as whoever registered it says.
    pub effect: EffectClass,
    /// Whether an operator registered it, and so vouches for that.
    pub vouched: bool,
    /// What holds for a call by an agent.
    pub permission: Permission,
    /// How long a call may take, in milliseconds.
    pub timeout_ms: u64,
    /// SHA-256 of all that is said of it, in the body store.
    pub capability_digest: String,
    /// Size of that in bytes.
    pub capability_bytes: u64,
}

/// An agent offers a capability no more, though its epoch lives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CapabilityWithdrawn {
    /// Its id.
    pub capability_id: CapabilityId,
    /// What it was called within the agent.
    pub name: SafeLabel,
    /// The epoch that offered it.
    pub epoch: Epoch,
}

/// What an agent offers is called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CapabilityCalled {
    /// The call.
    pub invocation_id: InvocationId,
    /// What is called.
    pub capability_id: CapabilityId,
    /// What it is called within the agent.
    pub name: SafeLabel,
    /// The epoch that is to answer.
    pub epoch: Epoch,
}

/// A call of what an agent offers is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CapabilitySettled {
    /// The call.
    pub invocation_id: InvocationId,
    /// How it ended.
    pub state: InvocationState,
}

/// Who answers a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OfferedBy {
    /// The agent.
    pub agent_id: AgentId,
    /// Its epoch: what follows it has no say.
    pub epoch: Epoch,
}

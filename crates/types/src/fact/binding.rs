//! Facts of bindings of workspaces. Each stands in the stream of its workspace.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    AgentId, Epoch, RunId,
    workspace::{BindingEnd, BindingMode},
};

/// A workspace is bound to a run, or to an epoch of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BindingAttached {
    /// Its number on the node, which only grows: the fencing token of what is done under it.
    pub binding_epoch: u64,
    /// What may be done under it.
    pub mode: BindingMode,
    /// The agent that works under it.
    pub agent_id: AgentId,
    /// The run that it ends with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// The epoch of the agent that it ends with, if it is bound to no run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<Epoch>,
}

/// A binding is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BindingDetached {
    /// Its number.
    pub binding_epoch: u64,
    /// Why.
    pub reason: BindingEnd,
}

//! Bindings of a workspace to runs and agents.

use edgeplane_types::{AgentId, BindingMode, Epoch, RunId, SafeLabel, Timestamp, WorkspaceId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most bindings of a workspace that live.
pub const BINDINGS_MAX: usize = 32;

/// Binds a workspace to a run, or to the live epoch of an agent, with which the binding ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BindingAttachParams {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The run; its agent works under the binding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// Or the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// What may be done under it; one at a time may write.
    pub mode: BindingMode,
}

/// The workspace that a run is bound to as soon as there is a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BindingParam {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// What may be done under the binding; one at a time may write.
    pub mode: BindingMode,
}

/// A binding of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunBindingView {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// Its number on the node: the fencing token of what is done under it.
    pub binding_epoch: u64,
    /// What may be done under it.
    pub mode: BindingMode,
    /// Whether it is not over.
    pub is_live: bool,
}

/// Ends a binding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BindingDetachParams {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The number of the binding.
    pub binding_epoch: u64,
}

/// A binding of a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BindingView {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// Its number on the node, which only grows: the fencing token of what is done under it.
    pub binding_epoch: u64,
    /// What may be done under it.
    pub mode: BindingMode,
    /// The folder of the workspace.
    pub root: String,
    /// The agent that works under it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Its id.
    pub agent_id: AgentId,
    /// The run that it ends with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// The epoch of the agent that it ends with, if it is bound to no run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<Epoch>,
    /// Who asked for it.
    pub by: SafeLabel,
    /// Since when.
    pub attached_at: Timestamp,
}

//! The seven identities of an agent, kept apart.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    AgentId, AgentName, Assurance, Authority, Epoch, NodeId, NodeName, SessionId, StreamName, Tenant,
    Timestamp,
};

/// A process beyond doubt: a pid alone is never an identity.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProcessIdentity {
    /// The kernel's number, reused after the process ends.
    pub pid: u32,
    /// Clock ticks between boot and the start of the process.
    pub start_time: u64,
    /// The kernel's id of this boot.
    pub boot_id: String,
}

/// All seven identities in one place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Identities {
    /// Which executable, where, under which supervisor.
    pub process: ProcessView,
    /// Which live context.
    pub session: SessionView,
    /// How others reach it.
    pub network: NetworkView,
    /// As whom it may act.
    pub principal: PrincipalView,
    /// What survives an invocation.
    pub memory: MemoryView,
    /// How its own word and words to it are weighed.
    pub authority: AuthorityView,
    /// Where its history stands.
    pub audit: AuditView,
}

/// Which executable runs, where, under which supervisor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProcessView {
    /// The epoch, if one was ever started.
    pub epoch: Epoch,
    /// The program that runs.
    pub executable: String,
    /// The program's process, while one lives.
    pub process: Option<ProcessIdentity>,
    /// The shim's process, while one lives.
    pub shim: Option<ProcessIdentity>,
    /// The epoch's cgroup relative to the hierarchy's root, where there is one.
    pub cgroup: Option<String>,
    /// The node that supervises it.
    pub node: NodeId,
}

/// Which live context the agent holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionView {
    /// The session that the epochs of this agent continue.
    pub session_id: SessionId,
    /// The program's own handle for resuming, where it has one.
    pub resume_handle: Option<String>,
}

/// How others reach the agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NetworkView {
    /// Its name.
    pub name: AgentName,
    /// Its name and its node's.
    pub address: String,
    /// The node's name.
    pub node: NodeName,
    /// The namespace of the name.
    pub tenant: Tenant,
    /// The socket that its processes speak to, while an epoch lives.
    pub socket: Option<String>,
}

/// As whom the agent may act.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PrincipalView {
    /// The declared principal, or the agent itself.
    pub name: String,
    /// The uid of its processes.
    pub uid: u32,
    /// For whom it acts, nearest first.
    pub on_behalf_of: Vec<String>,
}

/// What survives an invocation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryView {
    /// Address of the agent's key-value store.
    pub store: String,
    /// Live keys in it.
    pub keys: u64,
    /// The folder it works in.
    pub workspace: String,
}

/// How the agent's word is weighed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuthorityView {
    /// The highest authority that its messages can carry to others.
    pub as_sender: Authority,
    /// How well the node can tell its processes from others.
    pub assurance: Assurance,
    /// What decides.
    pub decided_by: String,
}

/// Where the agent's history stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditView {
    /// The agent's id, the same through every epoch.
    pub agent_id: AgentId,
    /// Its stream in the record.
    pub stream: StreamName,
    /// Events in it.
    pub events: u64,
    /// Hash of the newest one, lower-case hexadecimal.
    pub head: String,
    /// When the agent was declared.
    pub declared_at: Timestamp,
}

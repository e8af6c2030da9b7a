//! Agents: declare, look at, move through their life.

use std::collections::BTreeMap;

use edgeplane_types::{
    Activity, AgentId, AgentName, Continuity, Desired, Epoch, Evidence, Generation, Phase, ResourceUri,
    SafeLabel, Timestamp,
    identity::{Identities, ProcessIdentity},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::overrides::OverrideMark;

/// A file of manifests, as text: the node itself says where it is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// Its name in messages.
    pub file: String,
    /// Its content.
    pub text: String,
    /// The folder that relative paths in it start from.
    pub folder: String,
}

/// Declares agents or changes what is declared. All or nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApplyParams {
    /// The files.
    pub documents: Vec<Document>,
    /// Only say what would change.
    #[serde(default)]
    pub dry_run: bool,
}

/// What an apply did, agent by agent and schedule by schedule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApplyResult {
    /// The agents, in the order of the documents.
    pub items: Vec<Applied>,
    /// Their schedules, agent by agent, wherever they were declared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub schedules: Vec<AppliedSchedule>,
    /// The resources that the documents declare: connectors.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<AppliedResource>,
}

/// What was done to one resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AppliedResource {
    /// Which.
    pub uri: ResourceUri,
    /// What changed.
    pub change: Change,
    /// Its version; in a dry run the one that it would have.
    pub version: u64,
}

/// What was done to one schedule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AppliedSchedule {
    /// The agent that its messages are for.
    pub agent: AgentName,
    /// Its name.
    pub name: AgentName,
    /// What changed.
    pub change: Change,
}

/// What was done to one agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Applied {
    /// The agent's name.
    pub name: String,
    /// The agent's id; absent in a dry run of a new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<AgentId>,
    /// What changed.
    pub change: Change,
    /// Version of what is wanted of it.
    pub generation: Generation,
    /// What the change means for a running program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// What changed about a declaration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// It is new.
    Created,
    /// It is different.
    Updated,
    /// It is as it was.
    Unchanged,
    /// It is no more: a schedule that its agent's manifest no longer declares.
    Removed,
}

/// Names an agent, by name or id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentParams {
    /// Name or id.
    pub agent: String,
}

/// Names an agent and says why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangeParams {
    /// Name or id.
    pub agent: String,
    /// Why, for the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Retires an agent with all that it owns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RetireParams {
    /// Name or id.
    pub agent: String,
    /// Why, for the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Digest of a plan of `runtime/retirement.plan`: what that says is removed, and nothing is done if it is not what the
    /// agent owns now.
    pub plan: String,
}

/// What an agent owns, and what becomes of it when it is retired with its belongings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RetirementPlan {
    /// Its name.
    pub name: String,
    /// Its id.
    pub agent_id: AgentId,
    /// SHA-256 of what is removed, to be named when it is done.
    pub digest: String,
    /// What is removed.
    pub removes: Vec<Belonging>,
    /// What stays.
    pub stays: Vec<Belonging>,
    /// The same of its replicas, if it is a set.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replicas: Vec<Self>,
}

/// One kind of what an agent owns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Belonging {
    /// Which: `recordings`, `folder`, `memory`, `schedules`, `messages`, `dead_letters`, `actions`, `program`, `topics`,
    /// `record`, `workspace`.
    pub kind: String,
    /// How many there are.
    pub count: u64,
    /// Their bytes on this machine, as far as they were looked at. Not part of what the digest is of, because they grow.
    pub bytes: u64,
    /// Names or places, the first 100.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
}

/// Where an agent stands after a request; the change itself may still be under way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangeResult {
    /// Its name.
    pub name: String,
    /// Its id.
    pub agent_id: AgentId,
    /// Its phase now.
    pub phase: Phase,
    /// What it is meant to do.
    pub desired: Desired,
    /// Its newest epoch.
    pub epoch: Epoch,
}

/// Most retired agents in a list.
pub const RETIRED_MAX: usize = 1_000;

/// Lists agents.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListParams {
    /// Only those with all of these labels.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// Only those in this phase; `retired` needs no more to be said.
    #[serde(default)]
    pub phase: Option<Phase>,
    /// Also those that are retired, from the record: at most 1,000, those that were declared last.
    #[serde(default)]
    pub retired: bool,
}

/// Agents, by name; of one name the living one first, then the retired, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ListResult {
    /// The agents.
    pub items: Vec<AgentView>,
}

/// An agent: its manifest and where it stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentView {
    /// Version of the manifest's form.
    pub api_version: String,
    /// Always `Agent`.
    pub kind: String,
    /// Its metadata, with its id.
    pub metadata: Value,
    /// Its manifest's `spec`, defaults filled in.
    pub spec: Value,
    /// Where it stands.
    pub status: AgentStatus,
}

/// Where an agent stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentStatus {
    /// As the node observes it.
    pub phase: Phase,
    /// As it is meant to be.
    pub desired: Desired,
    /// Version of what is wanted.
    pub generation: Generation,
    /// Version that its program was started with.
    pub observed_generation: Generation,
    /// What it is doing.
    pub activity: Activity,
    /// How that is known.
    pub activity_evidence: Evidence,
    /// Its newest epoch.
    pub epoch: Epoch,
    /// Restarts by policy since somebody last started it.
    pub restarts: u32,
    /// How much context the newest epoch began with.
    pub continuity: Continuity,
    /// Why it is in its phase, where there is something to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Its program's process, while one lives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<ProcessIdentity>,
    /// When its newest epoch started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// When the next start is due, in backoff.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_start_at: Option<Timestamp>,
    /// Messages that wait for it.
    pub waiting_messages: u64,
    /// How many of its messages are on each rung; they add up to all that were accepted.
    #[serde(default)]
    pub messages: BTreeMap<String, u64>,
    /// Bytes of output of its newest epoch.
    pub output_bytes: u64,
    /// Whether its probe, if it has one, last succeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub healthy: Option<bool>,
    /// The hooks of its program, where its adapter names some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hooks: Option<HooksView>,
    /// The overrides that hold it, newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overrides: Vec<OverrideMark>,
    /// All seven identities.
    pub identities: Identities,
    /// Its replicas, if it is a set of agents that share its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replicas: Option<ReplicasView>,
    /// The name of the set whose replica it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set: Option<String>,
    /// The agent whose child it is, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<AgentId>,
}

/// The replicas of a set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReplicasView {
    /// How many there are meant to be.
    pub wanted: u32,
    /// How many run.
    pub running: u32,
    /// Their names, in order.
    pub names: Vec<String>,
}

/// Whether a program's hooks report to the node, and what they said last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HooksView {
    /// Whose hooks, such as `claude-code`.
    pub kind: SafeLabel,
    /// Whether they were installed for its newest epoch.
    pub state: HooksState,
    /// Why they were not, where there is something to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// When one reported last to this daemon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heard_at: Option<Timestamp>,
    /// What the program asks a person, as its hook says it. Nobody but a person at its terminal can answer it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asks: Option<String>,
}

/// Whether a program's hooks were installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HooksState {
    /// They were.
    Installed,
    /// Its manifest says that they are not to be.
    Off,
    /// Its user has set what would have to be set.
    LeftAlone,
    /// They could not be.
    Failed,
}

/// Waits until an agent is in one of some phases.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WaitParams {
    /// Name or id.
    pub agent: String,
    /// Any of these will do.
    pub phases: Vec<Phase>,
    /// Longest wait in milliseconds.
    pub timeout_ms: u64,
}

/// Runs an agent's `prepare` steps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InstallResult {
    /// The agent's name.
    pub name: String,
    /// What was done, step by step.
    pub steps: Vec<InstallStep>,
}

/// One step of an installation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InstallStep {
    /// Its name.
    pub name: String,
    /// `done`, or `present` if there was nothing to do.
    pub outcome: String,
    /// How long it took in milliseconds.
    pub took_ms: u64,
}

/// An agent's past epochs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EpochsResult {
    /// Oldest first.
    pub items: Vec<EpochView>,
}

/// One epoch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EpochView {
    /// Its number.
    pub epoch: Epoch,
    /// When its program ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// When it was over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// How it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<String>,
    /// Bytes of output, of the living epoch so far.
    pub output_bytes: u64,
}

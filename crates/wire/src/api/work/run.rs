//! Runs: the attempts at tasks.

use edgeplane_types::{AgentId, OutputId, RunId, RunLimits, RunState, TaskId, Timestamp, TurnId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    super::workspace::{BindingParam, RunBindingView},
    TaskView, page,
};

/// Has a task worked on: by a first run, or by a further one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunStartParams {
    /// The task.
    pub task_id: TaskId,
    /// The run's id, by the caller's choice, as a UUID of version 7: then it is the key against beginning it twice, and
    /// the run is refused if it cannot be admitted at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// Who is to do it, by name or id, if that is not whose work it is already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// What this run may use, if that is not what the task says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<RunLimits>,
    /// The workspace that this run is bound to, in the step that makes it; then it is refused if it cannot be admitted at
    /// once. A further run of the task is bound to nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binding: Option<BindingParam>,
    /// The run that it follows; it must be the task's last one, and over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_of: Option<RunId>,
    /// Why, for people: at most 1,024 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Only if the task is at this version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_version: Option<u64>,
}

/// Whether a run was admitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunAdmission {
    /// It is; its agent is told.
    Admitted,
    /// The task waits for others, or for its last run to end, and is begun by itself then.
    Queued,
}

/// What became of the wish for a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunStartResult {
    /// Whether there is a run.
    pub admission: RunAdmission,
    /// Why it is so.
    pub reason: String,
    /// The run, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunView>,
    /// Its task.
    pub task: TaskView,
}

/// Has something happen to a run and its task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunChangeParams {
    /// Its id; it must be the task's last run.
    pub run_id: RunId,
    /// Why, for people: at most 1,024 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Names a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunParams {
    /// Its id.
    pub run_id: RunId,
}

/// Has a run end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunCancelParams {
    /// Its id.
    pub run_id: RunId,
    /// Why, for people: at most 1,024 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Which runs a list shows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunListParams {
    /// Of this task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    /// Of this agent, by name or id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Only those that have not ended.
    #[serde(default)]
    pub live: bool,
    /// What the page before gave as `next`.
    #[serde(default)]
    pub cursor: u64,
    /// Most entries, at most 500.
    #[serde(default = "page")]
    pub limit: u32,
}

/// A run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunView {
    /// Its id.
    pub run_id: RunId,
    /// The task.
    pub task_id: TaskId,
    /// The turn that it is; has its UUID.
    pub turn_id: TurnId,
    /// The how manieth run of the task it is, from 1.
    pub attempt: u32,
    /// Who does it.
    pub agent: String,
    /// The same by id.
    pub agent_id: AgentId,
    /// Where it is.
    pub state: RunState,
    /// Why it ended so, or why there is a further one.
    pub reason: String,
    /// What it may use.
    #[serde(default, skip_serializing_if = "RunLimits::is_none")]
    pub limits: RunLimits,
    /// The workspaces that it is or was bound to, by the numbers of the bindings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bindings: Vec<RunBindingView>,
    /// When it was admitted.
    pub started_at: Timestamp,
    /// When its program began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begun_at: Option<Timestamp>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// What came of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_id: Option<OutputId>,
}

/// A list of runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunListResult {
    /// Oldest first.
    pub items: Vec<RunView>,
    /// What to give as `cursor` for the next page, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
}

//! Work: tasks, how they are joined, and the runs by which they are done.

mod run;

use edgeplane_types::{
    AgentId, Authority, EdgeKind, Priority, RunId, RunLimits, SafeLabel, TaskId, TaskState, ThreadId,
    Timestamp, Visibility,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::conversation::Labels;
pub use run::{
    RunAdmission, RunCancelParams, RunChangeParams, RunListParams, RunListResult, RunParams, RunStartParams,
    RunStartResult, RunView,
};

/// Longest text of what is to be done, in bytes.
pub const OBJECTIVE_BYTES_MAX: usize = 1 << 20;

/// Most criteria of one task.
pub const ACCEPTANCE_MAX: usize = 64;

/// Longest criterion in bytes.
pub const CRITERION_BYTES_MAX: usize = 1_024;

/// Most tasks that one depends on when it is written down; further ones are linked.
pub const DEPENDENCIES_MAX: usize = 1_000;

/// Most runs of one task that are begun without somebody asking for it.
pub const ATTEMPTS_MAX: u32 = 100;

/// Longest address at the end of an edge, in bytes.
pub const URI_BYTES_MAX: usize = 2_048;

/// Most addresses that are named with a completion.
pub const REFERENCES_MAX: usize = 64;

/// Tasks of one graph that are shown where nobody says how many.
pub const GRAPH_TASKS: u32 = 10_000;

/// Most tasks of one graph that are shown.
pub const GRAPH_TASKS_MAX: u32 = 20_000;

fn once() -> u32 {
    1
}

fn yes() -> bool {
    true
}

fn page() -> u32 {
    super::conversation::LIST
}

fn graph_tasks() -> u32 {
    GRAPH_TASKS
}

fn normal() -> Priority {
    Priority::Normal
}

/// Writes a task down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskCreateParams {
    /// Its id, by the caller's choice, as a UUID of version 7: then it is the key against writing it down twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    /// What it is called: 1 to 256 bytes.
    pub title: String,
    /// What is to be done: at most 1 MiB. Without it the title says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objective: Option<String>,
    /// The task that it is a part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<TaskId>,
    /// Whose work it is, by name or id. Without one it is done by its parts, or by whoever says that it is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The agent's thread in which it is worked on; else its first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<ThreadId>,
    /// What kind of work it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<SafeLabel>,
    /// Who is meant to see it.
    #[serde(default)]
    pub visibility: Visibility,
    /// How urgent it is.
    #[serde(default = "normal")]
    pub priority: Priority,
    /// By what it is found, at most 16.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub labels: Labels,
    /// What must be true before it is completed, in words; at most 64. With none, the good end of a run completes it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acceptance: Vec<String>,
    /// What each run may use.
    #[serde(default, skip_serializing_if = "RunLimits::is_none")]
    pub limits: RunLimits,
    /// How many runs there are at most before it fails, 1 to 100.
    #[serde(default = "once")]
    pub attempts: u32,
    /// The tasks that it depends on, at most 1,000: it begins when all of them are completed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<TaskId>,
    /// Whether it is to be begun as soon as it can be; else it is a draft.
    #[serde(default = "yes")]
    pub start: bool,
}

/// Changes what is to be done in a task that is not over. What is left out stays.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskUpdateParams {
    /// Its id.
    pub task_id: TaskId,
    /// Only if it is at this version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_version: Option<u64>,
    /// What it is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What is to be done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objective: Option<String>,
    /// Whose work it is. A run that lives goes on where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// How urgent it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<Priority>,
    /// By what it is found, in full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<Labels>,
    /// What must be true before it is completed, in full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acceptance: Option<Vec<String>>,
    /// What each further run may use, in full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<RunLimits>,
    /// How many runs there are at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u32>,
}

/// Names a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskParams {
    /// Its id.
    pub task_id: TaskId,
}

/// Has something happen to a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskChangeParams {
    /// Its id.
    pub task_id: TaskId,
    /// Why, for people: at most 1,024 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Only if it is at this version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_version: Option<u64>,
}

/// Says how far a task is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskProgressParams {
    /// Its id.
    pub task_id: TaskId,
    /// The run that says so; it must be the one that lives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// What is being done: at most 256 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// How much is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done: Option<u64>,
    /// How much there is to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// The numbers, from 0, of what must be true and is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accepted: Vec<u32>,
    /// In words: at most 1,024 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Says that a task is done. All that must be true before it is completed has to be named, here or before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskCompleteParams {
    /// Its id.
    pub task_id: TaskId,
    /// The run that says so; it must be the one that lives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// The numbers, from 0, of what must be true and is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accepted: Vec<u32>,
    /// Addresses of what it made, at most 64.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<String>,
    /// Addresses of what shows that it is done, at most 64.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// In words: at most 1,024 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Only if it is at this version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_version: Option<u64>,
}

/// Says that a task failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskFailParams {
    /// Its id.
    pub task_id: TaskId,
    /// The run that says so; it must be the one that lives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// Why, for people: at most 1,024 bytes.
    pub reason: String,
    /// Only if it is at this version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_version: Option<u64>,
}

/// Joins a task to another one, or to what an address names; or parts them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskEdgeParams {
    /// The task that the edge begins at.
    pub task_id: TaskId,
    /// How they are joined.
    pub kind: EdgeKind,
    /// The task that it leads to: of `depends_on`, `delegated` and `source`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<TaskId>,
    /// The address that it leads to: of `produced`, `consumed` and `evidence`. At most 2,048 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// Why, for people: at most 1,024 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Which tasks a list shows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskListParams {
    /// Of the graph with this task at its root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root_id: Option<TaskId>,
    /// Parts of this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<TaskId>,
    /// The work of this agent, by name or id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// In this state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<TaskState>,
    /// Also those that are over.
    #[serde(default)]
    pub all: bool,
    /// What the page before gave as `next`.
    #[serde(default)]
    pub cursor: u64,
    /// Most entries, at most 500.
    #[serde(default = "page")]
    pub limit: u32,
}

/// Asks for a graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskGraphParams {
    /// Any of its tasks.
    pub task_id: TaskId,
    /// Most tasks, at most 20,000; a graph with more is refused.
    #[serde(default = "graph_tasks")]
    pub tasks_max: u32,
}

/// How far a task is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskProgressView {
    /// The run that says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// What is being done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// How much is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done: Option<u64>,
    /// How much there is to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// In words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// When it was said.
    pub at: Timestamp,
}

/// Something that must be true before a task is completed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CriterionView {
    /// In words.
    pub text: String,
    /// Whether somebody said that it is.
    pub is_true: bool,
}

/// A task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskView {
    /// Its id.
    pub task_id: TaskId,
    /// The task at the root of its graph.
    pub root_id: TaskId,
    /// The task that it is a part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<TaskId>,
    /// What it is called.
    pub title: String,
    /// Where it is.
    pub state: TaskState,
    /// Why it is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whose work it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The same by id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<AgentId>,
    /// The thread in which it is worked on, if that is not the agent's first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<ThreadId>,
    /// What kind of work it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<SafeLabel>,
    /// Who is meant to see it.
    pub visibility: Visibility,
    /// How urgent it is.
    pub priority: Priority,
    /// By what it is found.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub labels: Labels,
    /// What must be true before it is completed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acceptance: Vec<CriterionView>,
    /// What each run may use.
    #[serde(default, skip_serializing_if = "RunLimits::is_none")]
    pub limits: RunLimits,
    /// How many runs there were.
    pub attempts: u32,
    /// How many there are at most.
    pub attempts_max: u32,
    /// How far it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<TaskProgressView>,
    /// The run that works on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// Why it is to be ended, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancelled_because: Option<String>,
    /// What its words weigh at most.
    pub authority: Authority,
    /// Who wants it done.
    pub created_by: SafeLabel,
    /// When it was written down.
    pub created_at: Timestamp,
    /// When it came where it is.
    pub moved_at: Timestamp,
    /// Grows with each change.
    pub version: u64,
}

/// A task with all that is said of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskDetail {
    /// The task.
    pub task: TaskView,
    /// What is to be done; none of what was erased.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objective: Option<String>,
    /// The edges that begin at it or lead to it.
    pub edges: Vec<EdgeView>,
    /// Its runs, oldest first; of very many the first 500.
    pub runs: Vec<RunView>,
}

/// An edge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EdgeView {
    /// The task that it begins at.
    pub task_id: TaskId,
    /// How they are joined.
    pub kind: EdgeKind,
    /// The task that it leads to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<TaskId>,
    /// The address that it leads to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
}

/// A list of tasks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskListResult {
    /// Oldest first.
    pub items: Vec<TaskView>,
    /// What to give as `cursor` for the next page, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
}

/// A task as a graph shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskNode {
    /// Its id.
    pub task_id: TaskId,
    /// The task that it is a part of, by its place in the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<u32>,
    /// What it is called.
    pub title: String,
    /// Where it is.
    pub state: TaskState,
    /// How many runs there were.
    pub attempts: u32,
}

/// An edge as a graph shows it: tasks by their places in the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskArc {
    /// The task that it begins at.
    pub from: u32,
    /// How they are joined.
    pub kind: EdgeKind,
    /// The task that it leads to, if that is of this graph.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<u32>,
    /// What it leads to, if that is none of this graph: a task's id or an address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub away: Option<String>,
}

/// A graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskGraphResult {
    /// The task at its root.
    pub root_id: TaskId,
    /// Its tasks, oldest first.
    pub tasks: Vec<TaskNode>,
    /// Its edges.
    pub edges: Vec<TaskArc>,
}

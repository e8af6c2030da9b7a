//! Facts of tasks and their runs. They stand in the stream of the task at the root of the graph.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    AgentId, Authority, Epoch, MessageId, OutputId, Priority, RunId, SafeLabel, TaskId, ThreadId,
    work::{EdgeKind, RunLimit, RunLimits, RunState, TaskState, Visibility},
};

/// What is to be done: all of it that may be changed later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskPlan {
    /// What it is called, for people.
    pub title: String,
    /// SHA-256 of what is to be done, in the body store.
    pub objective_digest: String,
    /// Its size.
    pub objective_bytes: u64,
    /// Whose work it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assignee: Option<AgentId>,
    /// The assignee's thread in which it is worked on, if that is not its first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<ThreadId>,
    /// How urgent it is.
    pub priority: Priority,
    /// By what it is found.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, SafeLabel>,
    /// What must be true before it is completed, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acceptance: Vec<String>,
    /// What each run may use.
    #[serde(default, skip_serializing_if = "RunLimits::is_none")]
    pub limits: RunLimits,
    /// How many runs there are at most before it fails; 1 tries once.
    pub attempts_max: u32,
}

/// A task is written down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskCreated {
    /// Its id.
    pub task_id: TaskId,
    /// The task at the root of its graph; itself if it has no parent.
    pub root_id: TaskId,
    /// The task that it is a part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<TaskId>,
    /// What kind of work it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<SafeLabel>,
    /// Who is meant to see it.
    #[serde(default)]
    pub visibility: Visibility,
    /// What is to be done.
    pub plan: TaskPlan,
    /// The tasks that it depends on from the beginning.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<TaskId>,
    /// What the words of its runs weigh at most: as much as whoever wants it done.
    pub authority: Authority,
    /// The epoch in which an agent wanted it done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<Epoch>,
    /// The message that the agent was busy with then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub causation: Option<MessageId>,
    /// Where it begins: `draft` or `accepted`; an item of a job, and what a bounded turn is of, `queued`.
    pub state: TaskState,
}

/// What is to be done changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskUpdated {
    /// Its id.
    pub task_id: TaskId,
    /// What is to be done from here on, in full.
    pub plan: TaskPlan,
}

/// A task is in another state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskMoved {
    /// Its id.
    pub task_id: TaskId,
    /// Where it was.
    pub from: TaskState,
    /// Where it is.
    pub to: TaskState,
    /// Why, for people.
    pub reason: String,
    /// The run by which it came there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
}

/// How far a task is, as whoever works on it says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskProgressed {
    /// Its id.
    pub task_id: TaskId,
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
    /// The numbers of what must be true and is, from 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accepted: Vec<u32>,
    /// In words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A task is to be ended: the intent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskCancelRequested {
    /// Its id.
    pub task_id: TaskId,
    /// Why, for people.
    pub reason: String,
}

/// A task is joined to another one, or to what an address names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskLinked {
    /// The task that the edge begins at.
    pub task_id: TaskId,
    /// How.
    pub kind: EdgeKind,
    /// The task that it leads to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<TaskId>,
    /// The address that it leads to, if that is no task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// Why, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// An edge is no more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskUnlinked {
    /// The task that the edge began at.
    pub task_id: TaskId,
    /// How it was joined.
    pub kind: EdgeKind,
    /// The task that it led to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<TaskId>,
    /// The address that it led to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
}

/// A run of a task is admitted: the intent. Its message has the same UUID and is said after this.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunStarted {
    /// Its id.
    pub run_id: RunId,
    /// The task.
    pub task_id: TaskId,
    /// The how manieth run of the task it is, from 1.
    pub attempt: u32,
    /// Who is to do it.
    pub agent_id: AgentId,
    /// Why there is a further one.
    pub reason: String,
    /// What it may use.
    #[serde(default, skip_serializing_if = "RunLimits::is_none")]
    pub limits: RunLimits,
    /// The job that the task is an item of. In what was recorded before it was, nothing is said of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job_id: Option<TaskId>,
}

/// The program of a run works on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunBegun {
    /// Its id.
    pub run_id: RunId,
    /// The task.
    pub task_id: TaskId,
    /// The epoch of the agent in which it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<Epoch>,
}

/// A run has ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunEnded {
    /// Its id.
    pub run_id: RunId,
    /// The task.
    pub task_id: TaskId,
    /// How.
    pub state: RunState,
    /// Why, for people.
    pub reason: String,
    /// What came of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_id: Option<OutputId>,
    /// The limit that it passed, if that is why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<RunLimit>,
}

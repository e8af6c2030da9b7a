//! Jobs: batches of items that are dealt out to agents. A job is a task, and its items are the task's parts.

use edgeplane_types::{
    AgentId, JobItemState, JobReport, JobState, OutputId, Priority, RunId, RunLimits, SafeLabel, TaskId,
    TaskState, Timestamp,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::conversation::Labels;

/// Most items of one job.
pub const ITEMS_MAX: usize = 10_000;

/// Most bytes of what is to be done in all items of one job together.
pub const JOB_BYTES_MAX: usize = 32 << 20;

/// Most agents that a job names.
pub const JOB_AGENTS_MAX: usize = 1_000;

/// What stands in an objective where an item is to stand.
pub const ITEM_MARK: &str = "{item}";

/// The label that says what an agent is able to do.
pub const CAPABILITY_LABEL: &str = "capability";

/// Longest result of an item as JSON, in bytes.
pub const RESULT_BYTES_MAX: usize = 256 << 10;

/// Longest result that a list of items shows, in bytes; longer ones are shown with their item alone.
pub const RESULT_SHOWN_MAX: u64 = 8 << 10;

fn once() -> u32 {
    1
}

fn normal() -> Priority {
    Priority::Normal
}

fn page() -> u32 {
    super::conversation::LIST
}

fn turn() -> JobReport {
    JobReport::Turn
}

/// An item of a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobItemInput {
    /// Its id, by the caller's choice, as a UUID of version 7.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item_id: Option<TaskId>,
    /// What stands for it in the objective: a text as it is, anything else as JSON.
    pub input: Value,
}

/// Makes a job. Whoever may be given items is named by `agents`, or by `labels` and `capability`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobCreateParams {
    /// Its id, by the caller's choice, as a UUID of version 7: then it is the key against making it twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job_id: Option<TaskId>,
    /// What it is called: 1 to 256 bytes.
    pub title: String,
    /// What is to be done with each item, which stands where `{item}` stands, or below it. Without it an item says it
    /// itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objective: Option<String>,
    /// 1 to 10,000 items, all of them together at most 32 MiB.
    pub items: Vec<JobItemInput>,
    /// The agents that may be given items, by name or id; at most 1,000.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<String>,
    /// Labels that an agent has to have to be given items.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub labels: Labels,
    /// What an agent has to have as its label `capability`, or to offer under this name with an operator's word for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capability: Option<SafeLabel>,
    /// How many items are worked on at a time, at most; without it as many as there are agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parallelism: Option<u32>,
    /// How many runs of an item there are at most before it fails, 1 to 100.
    #[serde(default = "once")]
    pub attempts: u32,
    /// What counts as the report of an item: the end of the turn, or what its agent reports in it.
    #[serde(default = "turn")]
    pub report: JobReport,
    /// What each run may use.
    #[serde(default, skip_serializing_if = "RunLimits::is_none")]
    pub limits: RunLimits,
    /// How urgent it is.
    #[serde(default = "normal")]
    pub priority: Priority,
}

/// Asks for a job and a page of its items.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobGetParams {
    /// Its id.
    pub job_id: TaskId,
    /// Only this item, with its result however long that is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item_id: Option<TaskId>,
    /// Only items that are there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<JobItemState>,
    /// What the page before gave as `next`.
    #[serde(default)]
    pub cursor: u64,
    /// Most items, at most 500.
    #[serde(default = "page")]
    pub limit: u32,
}

/// Which jobs a list shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobListParams {
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

/// Has a job ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobCancelParams {
    /// Its id.
    pub job_id: TaskId,
    /// Why, for people: at most 1,024 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Gives an item that waits to an agent, whoever is idle and however many are worked on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobItemAssignParams {
    /// The item.
    pub item_id: TaskId,
    /// The agent, by name or id.
    pub agent: String,
}

/// Has an item tried again that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobItemRetryParams {
    /// The item.
    pub item_id: TaskId,
    /// Why, for people: at most 1,024 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Says what came of an item. The first report counts; the same one again by the same run changes nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobItemReportParams {
    /// The item.
    pub item_id: TaskId,
    /// The run that says so; it must be the one that lives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// What came of it: at most 256 KiB as JSON.
    #[serde(default)]
    pub result: Value,
    /// The output of the agent that holds what came of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_id: Option<OutputId>,
}

/// How many items of a job are where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JobCounts {
    /// Those that wait for an agent.
    pub pending: u64,
    /// Those that are worked on.
    pub running: u64,
    /// Those that are done, without a report.
    pub completed: u64,
    /// Those that are over and not done.
    pub failed: u64,
    /// Those that are done and reported.
    pub reported: u64,
}

/// A job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JobView {
    /// Its id.
    pub job_id: TaskId,
    /// What it is called.
    pub title: String,
    /// Where it is.
    pub state: JobState,
    /// Why it is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Why it is to be ended, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancelled_because: Option<String>,
    /// How many items it has.
    pub items: u32,
    /// How many of them are where.
    pub counts: JobCounts,
    /// The agents that may be given items, if they are named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<String>,
    /// The labels of those who may be given items.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub labels: Labels,
    /// How many items are worked on at a time, at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parallelism: Option<u32>,
    /// What counts as the report of an item.
    pub report: JobReport,
    /// Who wants it done.
    pub created_by: SafeLabel,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it came where it is.
    pub moved_at: Timestamp,
}

/// An item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobItemView {
    /// Its id; the task of the same id shows all of its runs.
    pub item_id: TaskId,
    /// The job.
    pub job_id: TaskId,
    /// What it is called.
    pub title: String,
    /// Where it is.
    pub state: JobItemState,
    /// Where its task is.
    pub task_state: TaskState,
    /// How many runs there were.
    pub attempts: u32,
    /// Why its newest run ended so, or why there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Who was given it last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The same by id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<AgentId>,
    /// The newest run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// The output in which it was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_id: Option<OutputId>,
    /// What was reported of it; left out where it is long and many are shown, or erased.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// Size of what was reported, as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_bytes: Option<u64>,
    /// When it was reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported_at: Option<Timestamp>,
}

/// A job and a page of its items.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobDetail {
    /// The job.
    pub job: JobView,
    /// Its items, in the order in which they were given.
    pub items: Vec<JobItemView>,
    /// What to give as `cursor` for the next page, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
}

/// A list of jobs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JobListResult {
    /// Oldest first.
    pub items: Vec<JobView>,
    /// What to give as `cursor` for the next page, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
}

//! Subagents: agents that are started under another one, looked at, waited for and ended with it.

use std::collections::BTreeSet;

use edgeplane_types::{
    AgentId, AgentName, DeliveryMode, Epoch, Isolation, MessageId, OnParentExit, Part, Phase, Priority,
    RunId, RunLimits, SafeLabel, SessionId, SubagentStatus, TaskId, TaskState, ThreadId, Timestamp,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::conversation::Labels;

/// Most children of one agent at a time, whoever starts them.
pub const CHILDREN_MAX: u32 = 64;

/// Most generations of agents under one that has no parent.
pub const DEPTH_MAX: u32 = 8;

/// Subagents of one list where nobody says how many.
pub const LIST: u32 = 500;

/// Most subagents of one list.
pub const LIST_MAX: u32 = 10_000;

/// Most subagents that are waited for together.
pub const WAIT_MAX: usize = 64;

/// How long is waited where nobody says it, in milliseconds.
pub const WAIT_MS: u64 = 30_000;

/// Longest wait in milliseconds: a day.
pub const WAIT_MS_MAX: u64 = 24 * 60 * 60 * 1_000;

/// Longest manifest in bytes.
pub const MANIFEST_BYTES_MAX: usize = 1 << 20;

fn once() -> u32 {
    1
}

fn one() -> u32 {
    1
}

fn page() -> u32 {
    LIST
}

fn queue() -> DeliveryMode {
    DeliveryMode::Queue
}

fn normal() -> Priority {
    Priority::Normal
}

fn wait_ms() -> u64 {
    WAIT_MS
}

fn whole() -> Isolation {
    Isolation::standard()
}

/// Starts an agent under another one. What is left out is as the parent has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubagentSpawnParams {
    /// Its id, by the caller's choice, as a UUID of version 7: then it is the key against starting it twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent_id: Option<AgentId>,
    /// Whose child it is, by name or id. An agent names itself or nobody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Its name. Left out: its parent's with the end of its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<AgentName>,
    /// Its manifest as text, at most 1 MiB, from operators only. Left out: its parent's, with what is said here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifest: Option<String>,
    /// Its program with all arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<Vec<String>>,
    /// Which of its parent's variables it gets, by name; with none named in an empty list it gets none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<BTreeSet<String>>,
    /// Its labels, from operators only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<Labels>,
    /// What its program may use; each no more than its parent's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<SubagentLimits>,
    /// What divides it from its parent.
    #[serde(default = "whole")]
    pub isolation: Isolation,
    /// What becomes of it when its parent has ended. Left out: with a task it is closed, without one it goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_parent_exit: Option<OnParentExit>,
    /// The task for which alone it is there: it is retired when that is over. Left out: it stays until it is closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<SubagentTask>,
}

/// What the program of a subagent may use.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubagentLimits {
    /// Memory, such as `512MiB`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<String>,
    /// Processes and threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pids: Option<u32>,
    /// Processor time per time, such as `500m`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<String>,
    /// Open files of each process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_files: Option<u32>,
}

/// The task for which alone a subagent is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubagentTask {
    /// Its id, by the caller's choice, as a UUID of version 7.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    /// What it is called: 1 to 256 bytes.
    pub title: String,
    /// What is to be done: at most 1 MiB. Without it the title says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objective: Option<String>,
    /// What must be true before it is completed, in words; at most 64.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acceptance: Vec<String>,
    /// What each run may use.
    #[serde(default, skip_serializing_if = "RunLimits::is_none")]
    pub limits: RunLimits,
    /// How many runs there are at most before it fails, 1 to 100.
    #[serde(default = "once")]
    pub attempts: u32,
    /// The task that hands a part of its work to it. Left out: the one that the calling agent works on, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delegated_by: Option<TaskId>,
}

/// Names a subagent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubagentChangeParams {
    /// Name or id.
    pub subagent: String,
    /// Why, for people: at most 1,024 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Sends a subagent a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubagentSendParams {
    /// Name or id.
    pub subagent: String,
    /// What to say: at most 4 MiB of JSON.
    pub parts: Vec<Part>,
    /// How it meets a running turn.
    #[serde(default = "queue")]
    pub mode: DeliveryMode,
    /// Which waiting message goes first.
    #[serde(default = "normal")]
    pub priority: Priority,
    /// Milliseconds after which it is no longer worth delivering.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_in_ms: Option<u64>,
    /// Key against sending it twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
}

/// Which subagents a list shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubagentListParams {
    /// Under this agent, by name or id, also of one that is retired. An agent names itself, one under it, or nobody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// How many generations, 1 to 8.
    #[serde(default = "one")]
    pub depth: u32,
    /// Also those that are retired.
    #[serde(default)]
    pub all: bool,
    /// Most entries, at most 10,000.
    #[serde(default = "page")]
    pub limit: u32,
}

/// How many of several subagents are waited for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WaitFor {
    /// One of them.
    Any,
    /// Each of them.
    #[default]
    All,
}

/// What of a subagent is waited for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WaitUntil {
    /// That it has come to an end: completed, failed, cancelled or closed.
    #[default]
    End,
    /// That, or that it runs with no message waiting and no turn under way.
    Idle,
}

/// Waits for subagents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubagentWaitParams {
    /// Which, by name or id: 1 to 64. One that is retired is named by its id.
    pub subagents: Vec<String>,
    /// How many of them.
    #[serde(default)]
    pub wait_for: WaitFor,
    /// For what.
    #[serde(default)]
    pub until: WaitUntil,
    /// Longest wait in milliseconds, at most a day.
    #[serde(default = "wait_ms")]
    pub timeout_ms: u64,
}

/// A subagent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SubagentView {
    /// Which agent it is.
    pub subagent_id: AgentId,
    /// Its name.
    pub name: AgentName,
    /// Whose child it is.
    pub parent: String,
    /// The same by id.
    pub parent_id: AgentId,
    /// How many generations it is under the agent that was asked about; 1 for a child.
    pub depth: u32,
    /// How far it is.
    pub status: SubagentStatus,
    /// Why it is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The phase of the agent that it is.
    pub phase: Phase,
    /// The newest epoch of it; 0 before the first.
    pub epoch: Epoch,
    /// Its session.
    pub session_id: SessionId,
    /// Its first thread.
    pub thread_id: ThreadId,
    /// The task for which alone it is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    /// Where that task is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_state: Option<TaskState>,
    /// The newest run of that task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// What divides it from its parent.
    pub isolation: Isolation,
    /// What becomes of it when its parent has ended.
    pub on_parent_exit: OnParentExit,
    /// The message that it was given last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_message_id: Option<MessageId>,
    /// Why it is to be retired, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closing_because: Option<String>,
    /// Who started it.
    pub spawned_by: SafeLabel,
    /// When.
    pub spawned_at: Timestamp,
    /// When it was retired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed_at: Option<Timestamp>,
}

/// Subagents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SubagentListResult {
    /// Parents before their children, the oldest child first.
    pub items: Vec<SubagentView>,
    /// Whether there are more than the limit.
    pub more: bool,
}

/// What was waited for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SubagentWaitResult {
    /// All that were named, in that order.
    pub items: Vec<SubagentView>,
    /// Those that have come to it.
    pub reached: Vec<AgentId>,
}

//! Sessions and threads.

use edgeplane_types::{
    ActionId, AgentId, AgentName, Authority, Continuity, Epoch, Phase, SafeLabel, SessionId, ThreadId,
    Timestamp, TurnId,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Labels,
    output::OutputRef,
    turn::{QueuedTurn, TurnState, TurnView},
};

/// Whether a program has a context for this alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Context {
    /// The agent's program has no other session or thread.
    Own,
    /// The agent's program has one live context in each epoch, and all its threads share it. Their turns never overlap.
    Shared,
}

/// Makes a further session of an agent, with its first thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionCreateParams {
    /// Name or id; an agent may leave its own out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Its id, by the caller's choice: then it is the key against making it twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// What it is called, at most 256 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// By what it is found, at most 16.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub labels: Labels,
}

/// Names a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionParams {
    /// Its id.
    pub session_id: SessionId,
}

/// Archives a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionArchiveParams {
    /// Its id.
    pub session_id: SessionId,
    /// Only if it is at this version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_version: Option<u64>,
    /// Why, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Lists sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionListParams {
    /// Only those of this agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Also archived ones.
    #[serde(default)]
    pub archived: bool,
    /// Most to list, at most 500.
    #[serde(default = "super::page")]
    pub limit: u32,
    /// Where the page before ended.
    #[serde(default)]
    pub cursor: u64,
}

/// A session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionEntry {
    /// Its id.
    pub session_id: SessionId,
    /// The agent that owns it.
    pub agent: String,
    /// The same by id.
    pub agent_id: AgentId,
    /// Whether it is the agent's first one, which it has always had.
    pub main: bool,
    /// Its first thread.
    pub thread_id: ThreadId,
    /// Whether the agent's program has a context for it alone.
    pub context: Context,
    /// What it is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// By what it is found.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub labels: Labels,
    /// Grows with each change.
    pub version: u64,
    /// When it began.
    pub created_at: Timestamp,
    /// When it was archived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archived_at: Option<Timestamp>,
}

/// Sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionListResult {
    /// In the order in which they began.
    pub items: Vec<SessionEntry>,
    /// What to give as `cursor` to read on, if there is more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
}

/// Makes a thread.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThreadCreateParams {
    /// Its id, by the caller's choice, as a UUID of version 7: then it is the key against making it twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<ThreadId>,
    /// The session that it becomes part of; else the agent's first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// Name or id; an agent may leave its own out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// What it is called, at most 256 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// By what it is found, at most 16.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub labels: Labels,
    /// The thread that it goes on from, with all of its turns so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_thread_id: Option<ThreadId>,
}

/// Names a thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThreadParams {
    /// Its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<ThreadId>,
    /// An agent by name or id, whose first thread is meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

/// Lists threads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThreadListParams {
    /// Only those of this agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Only those of this session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// Also archived ones.
    #[serde(default)]
    pub archived: bool,
    /// Most to list, at most 500.
    #[serde(default = "super::page")]
    pub limit: u32,
    /// Where the page before ended.
    #[serde(default)]
    pub cursor: u64,
}

/// Calls a thread something else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThreadUpdateParams {
    /// Its id.
    pub thread_id: ThreadId,
    /// What it is called from here on; an empty one is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// All labels that it has from here on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<Labels>,
    /// Only if it is at this version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_version: Option<u64>,
}

/// Archives a thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThreadArchiveParams {
    /// Its id.
    pub thread_id: ThreadId,
    /// Only if it is at this version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_version: Option<u64>,
    /// Why, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Makes a thread that goes on from a turn of another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThreadForkParams {
    /// The thread to go on from.
    pub thread_id: ThreadId,
    /// The last turn that is part of the fork's history; the newest one that was given if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    /// The agent that the fork belongs to, if it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The fork's id, by the caller's choice: then it is the key against making it twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fork_id: Option<ThreadId>,
    /// What it is called, at most 256 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// By what it is found, at most 16.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub labels: Labels,
}

/// Takes the last turns of a thread out of its history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThreadRollbackParams {
    /// The thread.
    pub thread_id: ThreadId,
    /// The last turn that survives; none means that none does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_turn: Option<TurnId>,
    /// Whether a turn that runs is cut short for it.
    #[serde(default)]
    pub interrupt: bool,
    /// Only if the thread is at this version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_version: Option<u64>,
    /// Why, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What a rollback came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadRollbackResult {
    /// The thread as it is now.
    pub thread: ThreadView,
    /// The last turn that survives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_turn: Option<TurnId>,
    /// The turns that were taken out, oldest first; empty if there was nothing to do.
    pub removed: Vec<TurnId>,
    /// How many turns survive.
    pub surviving: u64,
    /// What becomes of the program's context.
    pub rebuilt: ContextRebuilt,
    /// How much of the former context the program begins with: `partial` where it is told of what survives.
    pub continuity: Continuity,
}

fn at_once() -> bool {
    true
}

/// Draws a boundary in a thread: what is up to it is told as a summary from here on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThreadCompactParams {
    /// The thread.
    pub thread_id: ThreadId,
    /// The last turn that the summary stands for; if not said, the newest one that has begun and does not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub through: Option<TurnId>,
    /// What stands for it: 1 to 16,384 bytes. It is quoted as the caller's words.
    pub summary: String,
    /// Whether its program begins anew at once. Else it keeps what it has until its next epoch, and a turn that runs is
    /// left alone.
    #[serde(default = "at_once")]
    pub rebuild: bool,
    /// Whether a turn that runs is cut short for it.
    #[serde(default)]
    pub interrupt: bool,
    /// Only if the thread is at this version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_version: Option<u64>,
    /// Why, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What a compaction came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadCompactResult {
    /// The thread as it is now.
    pub thread: ThreadView,
    /// The last turn that the summary stands for.
    pub through: TurnId,
    /// How many turns it stands for.
    pub turns: u64,
    /// What waits for a person and goes on waiting.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open_actions: Vec<ActionId>,
    /// Tokens that the program's context held before, as far as it said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_before: Option<u64>,
    /// What becomes of the program's context.
    pub rebuilt: ContextRebuilt,
}

/// The newest boundary of a thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CompactionView {
    /// The last turn before it.
    pub through: TurnId,
    /// How many turns the summary stands for.
    pub turns: u64,
    /// SHA-256 of the summary.
    pub summary_digest: String,
    /// Its size.
    pub summary_bytes: u64,
    /// Who wrote it.
    pub by: SafeLabel,
    /// What it weighs.
    pub authority: Authority,
    /// When it was drawn.
    pub at: Timestamp,
}

/// What a rollback or a compaction makes of a program's context. A program cannot forget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ContextRebuilt {
    /// Nothing was taken out, so nothing is done.
    Not,
    /// Its epoch ends, and the next one begins anew, without its former session.
    Now,
    /// It does not run: its next epoch begins anew.
    AtNextStart,
}

/// Where a fork begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ParentView {
    /// The agent that the parent belongs to.
    pub agent_id: AgentId,
    /// The parent.
    pub thread_id: ThreadId,
    /// The last turn of the parent that is part of the fork's history.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub through: Option<TurnId>,
}

/// How it is with a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThreadStatus {
    /// Nothing is to be done.
    Idle,
    /// A turn waits.
    Queued,
    /// A turn runs.
    Running,
    /// A turn runs or waits, and a person must do something first.
    Blocked,
    /// It is archived.
    Archived,
    /// What its program does cannot be known now.
    Unknown,
}

/// A thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadView {
    /// Its id.
    pub thread_id: ThreadId,
    /// The session that it is part of.
    pub session_id: SessionId,
    /// The agent that owns it.
    pub agent: String,
    /// The same by id.
    pub agent_id: AgentId,
    /// Whether it is the agent's first one: that of messages that name none.
    pub main: bool,
    /// How it is.
    pub status: ThreadStatus,
    /// Whether the agent's program has a context for it alone.
    pub context: Context,
    /// What it is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// By what it is found.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub labels: Labels,
    /// What it was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<ParentView>,
    /// How many turns were rolled back.
    pub removed_turns: u64,
    /// Up to where it is told as a summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compacted: Option<CompactionView>,
    /// Grows with each change of the thread itself, not with its turns.
    pub version: u64,
    /// When it began.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// When it was archived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archived_at: Option<Timestamp>,
}

/// Threads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadListResult {
    /// In the order in which they began.
    pub items: Vec<ThreadView>,
    /// What to give as `cursor` to read on, if there is more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
}

/// What happens in a thread now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadReadResult {
    /// The thread, with its status.
    pub thread: ThreadView,
    /// How it is with the agent behind it.
    pub agent_state: AgentState,
    /// The turn that runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_turn: Option<TurnView>,
    /// The turns that wait, in the order of delivery; at most 50.
    pub queue: Vec<QueuedTurn>,
    /// How many turns wait in all.
    pub queued: u64,
    /// What waits for a person.
    pub pending_actions: Vec<ActionId>,
    /// What the newest turn that ended came to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_output: Option<OutputRef>,
    /// What went wrong in the newest turns, newest first.
    pub incidents: Vec<Incident>,
    /// What is not known, and why. What stands here is not healthy by its absence.
    pub markers: Vec<Marker>,
    /// The number of the newest event of the agent that this is made of.
    pub as_of_seq: u64,
}

/// How it is with an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentState {
    /// Its name.
    pub name: AgentName,
    /// Where it is in its life.
    pub phase: Phase,
    /// Its newest epoch.
    pub epoch: Epoch,
    /// How much of the former context that epoch began with.
    pub continuity: Continuity,
    /// Why it is not as it should be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Something that went wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Incident {
    /// The turn.
    pub turn_id: TurnId,
    /// What became of it.
    pub state: TurnState,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Something that is not known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Marker {
    /// What.
    pub of: String,
    /// How it is not known.
    pub marker: MarkerWord,
    /// Why.
    pub reason: String,
}

/// How something is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MarkerWord {
    /// Nobody can tell now.
    Unknown,
    /// There is no such thing here.
    Unavailable,
    /// It may be of before.
    Stale,
}

/// What a crash or a stop left in a thread.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadResumeResult {
    /// The thread, with its status.
    pub thread: ThreadView,
    /// How it is with the agent behind it.
    pub agent_state: AgentState,
    /// The turn that runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_turn: Option<TurnView>,
    /// What is uncertain or stuck, newest first, and what can be done.
    pub repairs: Vec<Repair>,
}

/// Something that is uncertain or stuck.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Repair {
    /// What it is.
    pub kind: RepairKind,
    /// The turn, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    /// Why.
    pub reason: String,
    /// What can be done.
    pub do_next: String,
}

/// What is uncertain or stuck.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RepairKind {
    /// Nobody knows whether a message came to the program.
    Ambiguous,
    /// A turn had begun when its epoch ended.
    Interrupted,
    /// A turn waits and is held back.
    Held,
    /// A turn was given up.
    GivenUp,
    /// The agent does not run.
    Agent,
}

//! Turns, their items, the queue.

use edgeplane_types::{
    Authority, BindingMode, Channel, Epoch, MessageId, Part, Priority, RunId, RunLimits, SafeLabel, TaskId,
    ThreadId, Timestamp, TurnId, WorkspaceId,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Labels, output::OutputRef};
use crate::api::{message::BehalfParam, report::Spoken, stream::Target, workspace::RunBindingView};

/// What becomes of a turn that comes while another one runs or waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnBusy {
    /// It waits.
    #[default]
    Queue,
    /// It is refused.
    Reject,
    /// It goes into the turn of its thread that runs.
    Steer,
}

/// A thread that is made together with its first turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThreadToCreate {
    /// Name or id; an agent may leave its own out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Its id; else it has the UUID of the turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<ThreadId>,
    /// What it is called, at most 256 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// By what it is found, at most 16.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub labels: Labels,
}

/// Begins a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TurnStartParams {
    /// The thread; or name an agent, or a thread to make.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<ThreadId>,
    /// An agent by name or id, whose first thread is meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// A thread that is made together with the turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub create: Option<ThreadToCreate>,
    /// Its id, by the caller's choice, as a UUID of version 7: then it is the key against beginning it twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    /// What to say: at most 4 MiB of JSON.
    pub input: Vec<Part>,
    /// What becomes of it while another turn runs or waits.
    #[serde(default)]
    pub on_busy: OnBusy,
    /// Which waiting turn goes first.
    #[serde(default = "normal")]
    pub priority: Priority,
    /// Milliseconds after which it is no longer worth beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_in_ms: Option<u64>,
    /// What it may use. With limits its task and its run are written down; without, they are read from the turn.
    #[serde(default, skip_serializing_if = "RunLimits::is_none")]
    pub limits: RunLimits,
    /// The workspace that the turn's run is bound to, in the step that makes the turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_id: Option<WorkspaceId>,
    /// What may be done in it: `rw` unless it is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_mode: Option<BindingMode>,
    /// Less authority than the caller has; more is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authority: Option<Authority>,
    /// Key against beginning it twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// The message it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<MessageId>,
    /// The message that made the caller begin it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub causation: Option<MessageId>,
    /// For whom the caller speaks, nearest first; at most eight.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on_behalf_of: Vec<BehalfParam>,
    /// A name that the caller gives itself; shown to people, never proof.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
}

fn normal() -> Priority {
    Priority::Normal
}

/// What became of a turn at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Disposition {
    /// It is on its way to the program, or there.
    Started,
    /// It waits.
    Queued,
    /// It goes into the turn that runs, and is none of its own.
    Steered,
}

/// What a turn that was begun is known by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnStartResult {
    /// The turn; of a steered one, the turn that it goes into.
    pub turn_id: TurnId,
    /// The run that the turn is: it has the turn's UUID.
    pub run_id: RunId,
    /// The task of which that is a run: with the same UUID, if the turn was not begun for a task.
    pub task_id: TaskId,
    /// Its thread.
    pub thread_id: ThreadId,
    /// The message that it is.
    pub message_id: MessageId,
    /// What became of it at once.
    pub disposition: Disposition,
    /// How many waiting turns are delivered before it, and itself; of one that waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_position: Option<u64>,
    /// Where to follow it.
    pub stream: StreamPlace,
    /// The workspaces that its run is bound to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bindings: Vec<RunBindingView>,
    /// Whether it had been begun before with this id or key.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub duplicate: bool,
}

/// A place in an agent's stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StreamPlace {
    /// The agent, as `stream/replay` and `stream/subscribe` take it.
    pub target: Target,
    /// The number of the event at which it begins.
    pub next_seq: u64,
}

/// Says something into a turn that runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TurnSteerParams {
    /// The turn.
    pub turn_id: TurnId,
    /// What to say.
    pub input: Vec<Part>,
    /// Less authority than the caller has; more is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authority: Option<Authority>,
    /// Key against saying it twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
}

/// What becomes of the turns that wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QueueFate {
    /// They stay.
    #[default]
    Keep,
    /// Those of the same thread are not wanted any more.
    Drop,
}

/// Asks for the end of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TurnInterruptParams {
    /// The turn.
    pub turn_id: TurnId,
    /// Why, for people and the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What becomes of the turns of its thread that wait. Only operators may drop them.
    #[serde(default)]
    pub queued: QueueFate,
}

/// What became of a request for the end of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InterruptOutcome {
    /// It is durable that the turn is to end, and its program is asked. A turn that waited is over with that.
    Accepted,
    /// The turn was over already.
    NoOp,
}

/// What became of a request for the end of a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnInterruptResult {
    /// What became of it.
    pub outcome: InterruptOutcome,
    /// The turn as it is now.
    pub turn: TurnView,
    /// The waiting turns that were dropped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<TurnId>,
}

/// Names a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TurnParams {
    /// Its id.
    pub turn_id: TurnId,
}

/// Lists turns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TurnListParams {
    /// Those of a thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<ThreadId>,
    /// Those of all threads of an agent, by name or id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Also those that were rolled back.
    #[serde(default)]
    pub removed: bool,
    /// The newest first.
    #[serde(default)]
    pub newest: bool,
    /// Most to look through, at most 500.
    #[serde(default = "super::page")]
    pub limit: u32,
    /// Where the page before ended.
    #[serde(default)]
    pub cursor: u64,
}

/// Turns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnListResult {
    /// In the order in which they were accepted, or newest first.
    pub items: Vec<TurnView>,
    /// What to give as `cursor` to read on, if there is more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
}

/// How it is with a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TurnState {
    /// It waits.
    Queued,
    /// Its program has it.
    Running,
    /// Its program ended it.
    Completed,
    /// It was asked to end and did, or its epoch ended.
    Interrupted,
    /// Its program failed, or it was given up.
    Failed,
    /// Nobody knows whether it came to its program.
    Ambiguous,
    /// It was refused after it was accepted, or dropped from the queue.
    Rejected,
    /// Its time was over before it began.
    Expired,
    /// Its program has it, and says nothing of the ends of turns.
    Unknown,
}

impl TurnState {
    /// The word that programs read.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Interrupted => "interrupted",
            Self::Failed => "failed",
            Self::Ambiguous => "ambiguous",
            Self::Rejected => "rejected",
            Self::Expired => "expired",
            Self::Unknown => "unknown",
        }
    }

    /// Whether nothing more comes of it.
    #[must_use]
    pub fn is_over(self) -> bool {
        !matches!(self, Self::Queued | Self::Running | Self::Unknown)
    }
}

/// A turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnView {
    /// Its id.
    pub turn_id: TurnId,
    /// The run that it is: it has the turn's UUID.
    pub run_id: RunId,
    /// The task of which that is a run: with the same UUID, if it was not begun for a task.
    pub task_id: TaskId,
    /// Its thread.
    pub thread_id: ThreadId,
    /// The agent that it was put to.
    pub agent: String,
    /// The message that it is; none if the program began the turn by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<MessageId>,
    /// How it is.
    pub state: TurnState,
    /// Why, where there is a reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Who began it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SafeLabel>,
    /// On which channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<Channel>,
    /// How what was put weighs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authority: Option<Authority>,
    /// When it was accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted_at: Option<Timestamp>,
    /// When its program had it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// When it was over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// The epoch that had it last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<Epoch>,
    /// Its program's own word for why it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<SafeLabel>,
    /// What it came to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<OutputRef>,
    /// That somebody asked for its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupt: Option<InterruptView>,
    /// Whether it was rolled back and is no part of its thread's history.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub removed: bool,
    /// Grows with each event that is known of it.
    pub version: u64,
}

/// That somebody asked for the end of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InterruptView {
    /// When.
    pub at: Timestamp,
    /// Why.
    pub reason: String,
}

/// Lists the items of a turn or a thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ItemListParams {
    /// Those of a turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    /// Those of a thread; what was rolled back is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<ThreadId>,
    /// Behind this number in the agent's stream.
    #[serde(default)]
    pub after: u64,
    /// Most to list, at most 500. Long ones may make it fewer.
    #[serde(default = "super::page")]
    pub limit: u32,
}

/// Items.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ItemListResult {
    /// Oldest first.
    pub items: Vec<ItemView>,
    /// What to give as `after` to read on, if there may be more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
}

/// An item: one step of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ItemView {
    /// Its number in the agent's stream; of pieces told as one, the last one's.
    pub seq: u64,
    /// When.
    pub at: Timestamp,
    /// The turn that it is part of.
    pub turn_id: TurnId,
    /// Its id, where pieces of it come one after the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item_id: Option<edgeplane_types::ItemId>,
    /// The message that it shows, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<MessageId>,
    /// Who said or did it, and how.
    pub spoken: Spoken,
    /// Of which kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<SafeLabel>,
    /// How far it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<SafeLabel>,
    /// What it weighs, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authority: Option<Authority>,
    /// What it holds.
    pub blocks: Vec<Block>,
}

/// A part of an item's content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Block {
    /// Words.
    Text {
        /// The words; of a message as its session saw it, with header and fence.
        text: String,
        /// Whether there is more of it than is shown: at most 16 KiB are.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_cut: bool,
    },
    /// A value.
    Data {
        /// Any JSON value; long texts in it are shortened.
        data: serde_json::Value,
    },
}

/// Lists the turns that wait.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QueueListParams {
    /// Those of a thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<ThreadId>,
    /// Those of all threads of an agent, by name or id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Most to list, at most 500.
    #[serde(default = "super::page")]
    pub limit: u32,
}

/// A turn that waits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QueuedTurn {
    /// Its place in the order of delivery of the agent, from 1.
    pub position: u64,
    /// The turn.
    pub turn: TurnView,
}

/// The turns that wait.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QueueResult {
    /// In the order of delivery, if no other comes.
    pub items: Vec<QueuedTurn>,
    /// How many wait for the agent in all.
    pub waiting: u64,
}

/// Takes a waiting turn out of the queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QueueRemoveParams {
    /// The turn.
    pub turn_id: TurnId,
    /// Why, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

//! What an agent reports of itself over its own socket, and what was said to it and by it so far.

use edgeplane_types::{
    ActionId, Activity, Authority, Epoch, EventId, ItemId, MessageId, SafeLabel, Timestamp, TurnId,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Reports a piece of work or a remark; the calling agent is its author.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ItemParams {
    /// Of which kind, in the agent's words, such as `output` or `note`.
    pub kind: SafeLabel,
    /// What there is to say: at most 4 MiB.
    pub text: String,
    /// The message whose turn it belongs to; one of the agent's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<MessageId>,
}

/// Reports what the calling agent is doing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StatusParams {
    /// What it is doing. A report never ends a turn: it is made within one.
    pub activity: Activity,
    /// The same in a few words: at most 4 MiB.
    #[serde(default)]
    pub text: String,
}

/// A report that is in the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportResult {
    /// The event that holds it.
    pub event_id: EventId,
    /// The epoch that said it.
    pub epoch: Epoch,
    /// The message whose turn it was found to belong to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<MessageId>,
}

/// Reports what a hook of the calling agent's own program said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HookParams {
    /// Whose hook: `claude-code` or `codex`; that of the agent's adapter.
    pub kind: SafeLabel,
    /// What the program handed to its hook.
    pub report: serde_json::Value,
}

/// What a hook's report made known. Nothing of it is proof: it is the agent's word about itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HookResult {
    /// The epoch that said it.
    pub epoch: Epoch,
    /// The events that hold it; none if it says nothing new.
    pub events: Vec<EventId>,
    /// Messages that its program says it took, by their exact text.
    pub taken: Vec<MessageId>,
    /// Messages whose turn it says is over.
    pub ended: Vec<MessageId>,
}

/// Most entries in one part of a transcript.
pub const TRANSCRIPT_MAX: u32 = 500;

/// How much of what an agent did a transcript tells.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Detail {
    /// Everything that the record knows of it.
    #[default]
    Everything,
    /// What was said: messages, answers and remarks.
    Words,
}

/// Reads what was said to an agent, by it, and what it did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TranscriptParams {
    /// Name or id. Left out: the calling agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Only what stands behind this number of the agent's stream. Left out: the newest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
    /// Most entries, at most 500; 50 if not given. Long ones may make it fewer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Only what belongs to this epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<Epoch>,
    /// Only the turn of this message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<MessageId>,
    /// How much is told; everything if not given.
    #[serde(default)]
    pub detail: Detail,
}

/// What was said to an agent and by it, and what it did, oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TranscriptResult {
    /// The entries.
    pub items: Vec<TranscriptEntry>,
    /// What to give as `after` to read on.
    pub next: u64,
    /// Whether there was nothing more at the time. A part without entries need not be the last one: so many events
    /// are looked through for each.
    pub end: bool,
}

/// Who said or did it, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Spoken {
    /// A message that the agent was given.
    Message,
    /// The agent's answer to a turn; its pieces may stand before it.
    Turn,
    /// What the agent said besides.
    Item,
    /// A piece of what happens in a turn: `text`, `thought`, `content`, `tool_call` or `plan`. Pieces of a text that
    /// follow each other are one entry; those with the same `item_id` are one item.
    Piece,
    /// What a turn or the session has used.
    Usage,
    /// A file that the node wrote because the program asked for it.
    File,
    /// A command that the node ran because the program asked for it: it `started`, or it `ended`.
    Command,
    /// The agent asks people for something.
    Question,
    /// A person said what they think of it.
    Vote,
    /// It is decided.
    Decision,
    /// The program's session takes messages, or cannot come about.
    Session,
    /// The epoch began, failed or ended.
    Epoch,
}

/// One entry of a transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TranscriptEntry {
    /// Its number in the agent's stream; of pieces told as one, the last one's.
    pub seq: u64,
    /// When.
    pub at: Timestamp,
    /// The epoch that heard, said or did it.
    pub epoch: Epoch,
    /// Who said or did it, and how.
    pub spoken: Spoken,
    /// Of which kind: of what the agent said besides and of pieces; of a session and an epoch, what became of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<SafeLabel>,
    /// The message, or the one whose turn it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<MessageId>,
    /// The turn that ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    /// The item that a piece belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item_id: Option<ItemId>,
    /// The question, vote or decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action_id: Option<ActionId>,
    /// How far it is: of a use of a tool its state, of a turn and a decision the outcome, of an epoch and a session
    /// the continuity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<SafeLabel>,
    /// What it weighs, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authority: Option<Authority>,
    /// What was said; of a message as its session saw it, with header and fence; of a decision and an end the reason.
    /// Nothing if it was erased.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// What it is, where that is more than a text. Long texts in it are shortened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<serde_json::Value>,
    /// Whether there is more of it than is shown: at most 16 KiB are.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
}

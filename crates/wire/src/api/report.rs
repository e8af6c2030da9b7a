//! What an agent reports of itself over its own socket, and what was said to it and by it so far.

use edgeplane_types::{Activity, Authority, Epoch, EventId, MessageId, SafeLabel, Timestamp};
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

/// Most entries in one part of a transcript.
pub const TRANSCRIPT_MAX: u32 = 500;

/// Reads what was said to an agent and by it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TranscriptParams {
    /// Name or id. Left out: the calling agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Only what stands behind this number of the agent's stream. Left out: the newest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
    /// Most entries, at most 500; 50 if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// What was said to an agent and by it, oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TranscriptResult {
    /// The entries.
    pub items: Vec<TranscriptEntry>,
    /// What to give as `after` to read on.
    pub next: u64,
    /// Whether there was nothing more at the time.
    pub end: bool,
}

/// Who said it, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Spoken {
    /// A message that the agent was given.
    Message,
    /// The agent's answer to a turn.
    Turn,
    /// What the agent said besides.
    Item,
}

/// One entry of a transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TranscriptEntry {
    /// Its number in the agent's stream.
    pub seq: u64,
    /// When.
    pub at: Timestamp,
    /// The epoch that heard or said it.
    pub epoch: Epoch,
    /// Who said it, and how.
    pub spoken: Spoken,
    /// Of which kind, of what the agent said besides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<SafeLabel>,
    /// The message, or the one whose turn it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<MessageId>,
    /// What it weighs, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authority: Option<Authority>,
    /// What was said; of a message as its session saw it, with header and fence. Nothing if it was erased.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Whether there is more of it than is shown: at most 16 KiB are.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
}

//! Evidence: packs that prove by themselves what the record says, cases for replays, and what is missing.

use edgeplane_types::{AgentId, Epoch, MessageId, SafeLabel, ThreadId, Timestamp, TurnId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a pack is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PackScope {
    /// An agent's whole stream: name or id, also of one that is retired.
    Agent(String),
    /// The first thread of an agent's session: the agent's whole stream.
    ThreadId(ThreadId),
    /// A turn: the stretch of its agent's stream from its message to its end.
    TurnId(TurnId),
    /// A message: the stretch of its agent's stream from its acceptance to the last event about it.
    MessageId(MessageId),
    /// Every history on the node: its own, those of agents (retired ones, too), workspaces and tasks; always `true`.
    Node(bool),
}

/// Whether bodies come with a pack.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PackBodies {
    /// They are named by their digests.
    #[default]
    Refs,
    /// They are in it, but for those that may hold a secret.
    Inline,
}

/// Asks for a pack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PackParams {
    /// What it is about.
    pub scope: PackScope,
    /// Only events from this moment on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Timestamp>,
    /// Only events up to this moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Timestamp>,
    /// Whether bodies come with it.
    #[serde(default)]
    pub bodies: PackBodies,
    /// Whether it is written on the node also if it is small.
    #[serde(default)]
    pub write: bool,
}

/// A pack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PackResult {
    /// Its id.
    pub pack_id: String,
    /// SHA-256 of its manifest, which names all else.
    pub digest: String,
    /// The key that signed it.
    pub signed_by: SafeLabel,
    /// Events in it.
    pub events: u64,
    /// Its files, with the manifest and the signature.
    pub refs: Vec<PackRef>,
    /// The folder on the node's machine in which it was written; nothing if it comes with this answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Its files, if it is small.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<PackFile>,
}

/// A file of a pack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PackRef {
    /// Its path in the pack.
    pub path: String,
    /// SHA-256 of it.
    pub digest: String,
    /// Its size.
    pub bytes: u64,
}

/// A file of a pack, with its bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PackFile {
    /// Its path in the pack.
    pub path: String,
    /// Its bytes in base64.
    pub data: String,
}

/// Names a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CaseExportParams {
    /// Which.
    pub turn_id: TurnId,
}

/// What is needed to run a turn again and to judge what comes of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CaseExportResult {
    /// `edgeplane-replay/1`.
    pub format: String,
    /// The turn.
    pub turn_id: TurnId,
    /// The message that began it.
    pub message_id: MessageId,
    /// The agent's name.
    pub agent: String,
    /// The agent.
    pub agent_id: AgentId,
    /// What it was given: the envelope and, unless it was erased, the content.
    pub input: serde_json::Value,
    /// How it was given: driver, mode, priority, program.
    pub options: serde_json::Value,
    /// What it had before it, by reference: manifest, session, memory, recording.
    pub context: serde_json::Value,
    /// What it had at hand, by reference.
    pub inventory: serde_json::Value,
    /// What came of it then, by digest.
    pub expected: serde_json::Value,
    /// Where the record says so.
    pub evidence: serde_json::Value,
    /// What people or programs noted of it; EdgePlane notes nothing.
    pub grader_notes: Vec<String>,
    /// What of each kind of signal is in it.
    pub signals: Vec<SignalView>,
    /// What is missing, and why.
    pub known_gaps: Vec<GapView>,
    /// SHA-256 of the case in its one spelling, without this field.
    pub digest: String,
}

/// What of a kind of signal there is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SignalView {
    /// Which kind.
    pub name: String,
    /// `exported`, `not_applicable`, `unsupported` or `missing_correlation`.
    pub status: String,
}

/// Whose gaps to list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GapsParams {
    /// Of this agent: name or id, also of one that is retired; of the node and all its agents without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

/// What is missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GapsResult {
    /// By stream, then in the order in which it came to be.
    pub items: Vec<GapView>,
    /// Whether there is more than is told.
    pub truncated: bool,
}

/// Something that the record cannot show.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GapView {
    /// `recording_gap`, `recording_pruned`, `unsealed_segment`, `ambiguous_message`, `unobservable`, `unseen_end`,
    /// `unseen_command_end`, `storage_full`, `erased_body`.
    pub kind: String,
    /// The stream that it is known from; nothing for a body of which the stream is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<String>,
    /// The event that it is known from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// Since when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Timestamp>,
    /// Until when; open without, where it is a stretch of time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Timestamp>,
    /// The epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<Epoch>,
    /// What is concerned: a message, a process, a digest, a segment, a range of an output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Why.
    pub reason: String,
}

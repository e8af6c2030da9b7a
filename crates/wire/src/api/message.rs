//! Messages: send, look at.

use edgeplane_types::{
    Authority, Channel, DeliveryMode, Ingress, MessageId, Part, Priority, Receipt, Rung, SafeLabel, Source,
    Timestamp,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Sends a message to an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SignalParams {
    /// Name or id.
    pub agent: String,
    /// What to say.
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
    /// The message it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<MessageId>,
    /// A name that the sender gives itself; shown to people, never proof.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// Answer only when it has come this far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<Rung>,
    /// Longest wait in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}

fn queue() -> DeliveryMode {
    DeliveryMode::Queue
}

fn normal() -> Priority {
    Priority::Normal
}

/// How far a message has come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SignalResult {
    /// Its id.
    pub message_id: MessageId,
    /// The agent it is for.
    pub agent: String,
    /// Rungs so far, oldest first.
    pub receipts: Vec<Receipt>,
    /// Whether the rung that was waited for was not reached in time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub timed_out: bool,
    /// Whether the key had been used for the same message before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub duplicate: bool,
}

/// Lists an agent's messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InboxParams {
    /// Name or id.
    pub agent: String,
    /// Also those that no longer wait, in the order of their arrival; else in the order of delivery.
    #[serde(default)]
    pub all: bool,
    /// Most to list: with `all` the newest, else the next to be delivered.
    #[serde(default = "page")]
    pub limit: u32,
}

fn page() -> u32 {
    100
}

/// An agent's messages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InboxResult {
    /// Waiting ones in the order of their delivery; with `all`, in the order of arrival.
    pub items: Vec<MessageView>,
}

/// Names a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MessageParams {
    /// Its id.
    pub message_id: MessageId,
}

/// A message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MessageView {
    /// Its id.
    pub message_id: MessageId,
    /// The agent it is for.
    pub agent: String,
    /// Its kind.
    pub channel: Channel,
    /// The way it came in.
    pub ingress: Ingress,
    /// Who speaks, as the header shows it.
    pub source: SafeLabel,
    /// Who speaks, with the proof.
    pub source_detail: Source,
    /// How it is to be weighed.
    pub authority: Authority,
    /// How far it has come, and how that is known.
    pub receipts: Vec<Receipt>,
    /// When it was accepted.
    pub accepted_at: Timestamp,
    /// SHA-256 of its content.
    pub content_digest: String,
    /// Its content, unless it was erased.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<Vec<Part>>,
    /// The message it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<MessageId>,
}

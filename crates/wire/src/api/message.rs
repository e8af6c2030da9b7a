//! Messages: send, look at.

use std::collections::BTreeMap;

use edgeplane_types::{
    Authority, Channel, ContentOrigin, DeliveryMode, Envelope, ErrorName, Ingress, MessageId, OnBehalfOf,
    Part, Priority, Receipt, Rung, SafeLabel, Source, ThreadId, Timestamp, TurnId,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Sends a message to an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SignalParams {
    /// Name or id.
    pub agent: String,
    /// What to say: at most 4 MiB of JSON, data at most 64 lists and objects deep.
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
    /// The message that made the sender send this one, if it is not the one that it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub causation: Option<MessageId>,
    /// For whom the sender speaks, nearest first; at most eight. It is shown, and never raises what is said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on_behalf_of: Vec<BehalfParam>,
    /// Less authority than the sender has; more is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authority: Option<Authority>,
    /// A name that the sender gives itself, of at most 256 bytes; shown to people, never proof.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// Answer only when it has come this far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<Rung>,
    /// Longest wait in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}

/// One for whom a sender says that it speaks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BehalfParam {
    /// For whom.
    pub principal: SafeLabel,
    /// The message by which that one asked for it; without one in the sender's own inbox it is a mere claim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<MessageId>,
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
    /// Why it will not come as far as was waited for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
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
    /// The replica that has it, if it is for a set and was handed to one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replica: Option<String>,
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
    /// The thread that it belongs to, if that is not the agent's first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<ThreadId>,
    /// The open turn that it went into.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub into_turn: Option<TurnId>,
    /// What its fence ends with, where its sender chose its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fence: Option<SafeLabel>,
    /// The message it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<MessageId>,
    /// The message that made its sender send it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub causation: Option<MessageId>,
    /// For whom its source speaks, nearest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on_behalf_of: Vec<OnBehalfOf>,
    /// The topic it was published on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<SafeLabel>,
    /// Where its content was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<ContentOrigin>,
    /// The rule that let it in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<SafeLabel>,
    /// How it meets a running turn.
    #[serde(default = "queue")]
    pub mode: DeliveryMode,
    /// Which waiting message goes first.
    #[serde(default = "normal")]
    pub priority: Priority,
    /// How many agents it has passed through.
    #[serde(default)]
    pub hops: u32,
    /// When it is no longer worth delivering.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// Why it came no further, where there is a reason; `held: ` and why, of one that waits and is not delivered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Submits content as what it is: a tool's result, a document, a web page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubmitParams {
    /// Name or id.
    pub agent: String,
    /// `tool`, `document` or `web`.
    pub channel: Channel,
    /// Where it was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<ContentOrigin>,
    /// The content.
    pub parts: Vec<Part>,
    /// Which waiting message goes first.
    #[serde(default = "normal")]
    pub priority: Priority,
    /// Milliseconds after which it is no longer worth delivering.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_in_ms: Option<u64>,
    /// Key against submitting it twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// The message that asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<MessageId>,
}

/// Sends a message to every agent that subscribes to a topic.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PublishParams {
    /// The topic.
    pub topic: SafeLabel,
    /// What to say.
    pub parts: Vec<Part>,
    /// Which waiting message goes first.
    #[serde(default = "normal")]
    pub priority: Priority,
    /// Milliseconds after which it is no longer worth delivering.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_in_ms: Option<u64>,
    /// Key against publishing it twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// The message that made the sender publish it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub causation: Option<MessageId>,
}

/// Sends a message to every agent whose labels have these values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BroadcastParams {
    /// Labels and their values; all must be met. None means every agent.
    #[serde(default)]
    pub selector: BTreeMap<String, SafeLabel>,
    /// What to say.
    pub parts: Vec<Part>,
    /// Which waiting message goes first.
    #[serde(default = "normal")]
    pub priority: Priority,
    /// Milliseconds after which it is no longer worth delivering.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_in_ms: Option<u64>,
    /// Key against sending it twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// The message that made the sender send it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub causation: Option<MessageId>,
}

/// What became of a message to many, an agent each, by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SpreadResult {
    /// One entry for every agent that was meant; the sender is not among them.
    pub items: Vec<SpreadItem>,
}

/// What became of it for one agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SpreadItem {
    /// The agent.
    pub agent: String,
    /// The message, if it was accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<MessageId>,
    /// Whether the key had been used for the same message before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub duplicate: bool,
    /// Why it was not accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorName>,
    /// The same in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// Asks an agent and waits for its answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AskParams {
    /// Name or id.
    pub agent: String,
    /// The question.
    pub parts: Vec<Part>,
    /// Which waiting message goes first.
    #[serde(default = "normal")]
    pub priority: Priority,
    /// Key against asking twice: with the same key the answer to the first question comes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// The message that made the sender ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub causation: Option<MessageId>,
    /// Longest wait in milliseconds, a minute if it is left out. With 0 the answer is looked for and not waited for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Send what the agent says meanwhile as `ask/part` notifications, in order.
    #[serde(default)]
    pub stream: bool,
}

/// A question and what was answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AskResult {
    /// The question.
    pub message_id: MessageId,
    /// The agent that was asked.
    pub agent: String,
    /// How far the question came.
    pub receipts: Vec<Receipt>,
    /// The answer, unless there was none in time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
    /// Whether the time was over before an answer came. It may still come.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub timed_out: bool,
    /// Why there is no answer and none will come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// An answer to a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The agent that gave it.
    pub source: SafeLabel,
    /// What it weighs.
    pub authority: Authority,
    /// The message that brought it; without one it is the output of the turn that the question began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<MessageId>,
    /// Its words, as they were said.
    pub text: String,
    /// Its words as a session is to see them, with the header of their source.
    pub rendered: String,
}

/// What an agent said on its way to an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AskPart {
    /// The question.
    pub message_id: MessageId,
    /// Its number, from 1, without gaps.
    pub number: u64,
    /// Of which kind, as the agent says.
    pub kind: SafeLabel,
    /// What it said, as it was said.
    pub text: String,
    /// The same as a session is to see it, with the header of its source.
    pub rendered: String,
}

/// Lists messages that did not reach their agent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeadLettersParams {
    /// Only of this agent: name or id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Most to list.
    #[serde(default = "page")]
    pub limit: u32,
    /// Only those behind the one with this position, as the last page said.
    #[serde(default)]
    pub cursor: u64,
}

/// Messages that did not reach their agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeadLettersResult {
    /// In the order of their arrival.
    pub items: Vec<MessageView>,
    /// Where the next page begins, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
}

/// Drops a message that did not reach its agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DropParams {
    /// Its id.
    pub message_id: MessageId,
    /// Why, for the record.
    #[serde(default)]
    pub reason: String,
}

/// What the node vouches for of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VerifyResult {
    /// Its envelope, as it stands in the record.
    pub envelope: Envelope,
    /// The line that its session was shown first.
    pub header: String,
    /// Whether its content is what the envelope's digest says.
    pub content_matches: bool,
    /// Why it could not be looked at: it was erased, or is not there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_problem: Option<String>,
    /// Whether every event that was looked at, from the message's own on, is chained to the one before it.
    pub chain_verifies: bool,
    /// What is wrong with the first that is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chain_problem: Option<String>,
    /// Number of the message's event in the agent's stream.
    pub seq: u64,
    /// Number of the last event that was looked at and is right; at most 100,000 are.
    pub verified_to: u64,
    /// Number of the stream's newest event.
    pub head: u64,
    /// The node's detached signature over the canonical envelope.
    pub signature: String,
    /// The key that made it.
    pub key_id: SafeLabel,
    /// That key, base64url.
    pub public_key: String,
}

/// Signs messages that leave the node, with one signature for all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SignParams {
    /// Their ids; at most 1,024.
    pub message_ids: Vec<MessageId>,
}

/// Messages with the node's signature over all of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SignResult {
    /// The envelopes, in the order they were asked for.
    pub envelopes: Vec<Envelope>,
    /// SHA-256 of each canonical envelope, lower-case hexadecimal.
    pub leaves: Vec<String>,
    /// The detached signature over the canonical list of leaves.
    pub signature: String,
    /// The key that made it.
    pub key_id: SafeLabel,
    /// That key, base64url.
    pub public_key: String,
}

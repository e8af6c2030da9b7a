//! Outputs and their deliveries.

use edgeplane_types::{Authority, DeliveryId, MessageId, OutputId, SafeLabel, ThreadId, Timestamp, TurnId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most bytes of an output in one answer.
pub const OUTPUT_BYTES_MAX: u64 = 1 << 20;

/// Bytes of an output in one answer where nobody says how many.
pub const OUTPUT_BYTES: u64 = 64 << 10;

fn bytes() -> u64 {
    OUTPUT_BYTES
}

/// What a turn came to, by reference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OutputRef {
    /// Its id: the turn's UUID.
    pub output_id: OutputId,
    /// SHA-256 of it.
    pub digest: String,
    /// Its size.
    pub bytes: u64,
    /// What it weighs, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authority: Option<Authority>,
}

/// Reads an output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OutputParams {
    /// Its id.
    pub output_id: OutputId,
    /// From this byte on, or the beginning of the character that holds it.
    #[serde(default)]
    pub offset: u64,
    /// Most bytes to read, at most 1 MiB.
    #[serde(default = "bytes")]
    pub bytes_max: u64,
}

/// An output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OutputView {
    /// Its id.
    pub output_id: OutputId,
    /// The turn that it is of.
    pub turn_id: TurnId,
    /// The thread of that turn.
    pub thread_id: ThreadId,
    /// The agent whose words it is.
    pub agent: String,
    /// When it was said.
    pub created_at: Timestamp,
    /// What it is.
    pub media_type: String,
    /// SHA-256 of all of it.
    pub digest: String,
    /// Size of all of it.
    pub bytes: u64,
    /// What it weighs, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authority: Option<Authority>,
    /// The words, as far as they were asked for. Lists leave them out; of what was erased there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Where the words begin in the output.
    pub offset: u64,
    /// What to give as `offset` to read on, where the words are cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<u64>,
    /// Why there are no words, if they were erased.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erased: Option<String>,
    /// Whether the turn was rolled back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub removed: bool,
}

/// Lists outputs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OutputListParams {
    /// Those of a thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<ThreadId>,
    /// Those of all threads of an agent, by name or id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
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

/// Outputs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OutputListResult {
    /// In the order in which they were said, or newest first; without their words.
    pub items: Vec<OutputView>,
    /// What to give as `cursor` to read on, if there is more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
}

/// Who is to have an output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "to", rename_all = "snake_case", deny_unknown_fields)]
pub enum DestinationParam {
    /// An agent: it gets a message with the words, which weighs no more than they do.
    Agent {
        /// Name or id.
        agent: String,
    },
    /// The caller: it waits until they acknowledge it.
    Caller {},
}

/// Hands an output over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeliveryCreateParams {
    /// What to hand over.
    pub output_id: OutputId,
    /// To whom.
    pub destination: DestinationParam,
    /// Its id, by the caller's choice, as a UUID of version 7: then it is the key against doing it twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery_id: Option<DeliveryId>,
}

/// Names a delivery.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeliveryParams {
    /// Its id.
    pub delivery_id: DeliveryId,
}

/// Lists deliveries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeliveryListParams {
    /// Those of an agent's outputs and to that agent, by name or id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Most to list, at most 500.
    #[serde(default = "super::page")]
    pub limit: u32,
    /// Where the page before ended.
    #[serde(default)]
    pub cursor: u64,
}

/// How far a delivery is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryState {
    /// It is not there yet.
    Pending,
    /// The agent's program was given it.
    Delivered,
    /// The agent's program acted on it, or who was to have it says that they do.
    Acknowledged,
    /// It came to nothing.
    Failed,
}

/// A delivery.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeliveryView {
    /// Its id.
    pub delivery_id: DeliveryId,
    /// What is handed over.
    pub output_id: OutputId,
    /// SHA-256 of it.
    pub output_digest: String,
    /// The agent whose words it is.
    pub from: String,
    /// The agent that gets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_agent: Option<String>,
    /// The message by which it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<MessageId>,
    /// Who comes for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_principal: Option<SafeLabel>,
    /// What it weighs at most.
    pub authority: Authority,
    /// How far it is.
    pub state: DeliveryState,
    /// Why it is no further.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// Who acknowledged it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acknowledged_by: Option<SafeLabel>,
    /// When it was acknowledged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acknowledged_at: Option<Timestamp>,
}

/// Deliveries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeliveryListResult {
    /// In the order in which they were asked for.
    pub items: Vec<DeliveryView>,
    /// What to give as `cursor` to read on, if there is more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
}

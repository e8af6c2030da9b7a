//! Facts of what programs use.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Epoch, MessageId};

/// What a turn or a session has used, as its program says it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UsageReported {
    /// The epoch.
    pub epoch: Epoch,
    /// The message of the turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<MessageId>,
    /// Tokens that went in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Tokens that came out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_tokens: Option<u64>,
    /// Tokens that its context holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<u64>,
    /// What it cost, with its currency, as its program says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<String>,
}

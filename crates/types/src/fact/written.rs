//! Facts of files that programs have the node write.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Epoch, MessageId};

/// The node wrote a file in an agent's folder because its program asked for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileWritten {
    /// The epoch.
    pub epoch: Epoch,
    /// Where.
    pub path: String,
    /// SHA-256 of what it holds.
    pub digest: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// The message of the turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<MessageId>,
}

//! The fact of context that was resolved: by reference and digest, never its text. It stands in the stream of the agent
//! for which it was resolved, or of the node.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Authority, ContextId, MessageId, words::words};

words! {
    /// Why something was left out of a context.
    OmissionReason {
        /// There was no room for it.
        Budget => "budget",
        /// So many others fit the query better.
        Rank => "rank",
        /// The node does not give it: it is no reference, or more than may be given.
        Policy => "policy",
        /// It is not there.
        Missing => "missing",
    }
}

/// Context was chosen for somebody.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextResolved {
    /// Which choice.
    pub context_id: ContextId,
    /// The message in whose turn it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<MessageId>,
    /// SHA-256 of the query, if there was one; it stands in the body store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query_digest: Option<String>,
    /// Size of the query in bytes.
    pub query_bytes: u64,
    /// How many bytes there was room for.
    pub budget_bytes: u64,
    /// How many were used.
    pub used_bytes: u64,
    /// What the texts weigh at most, whoever asked for them.
    pub authority: Authority,
    /// What was chosen, in its order.
    pub selected: Vec<ContextItem>,
    /// What was not, and why.
    pub left_out: Vec<ContextOmission>,
}

/// A text that was chosen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextItem {
    /// By what it is read.
    pub reference: String,
    /// SHA-256 of it as it was given.
    pub digest: String,
    /// How many bytes it has.
    pub bytes: u64,
    /// How well it fits the query, in thousandths; none if it was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<u64>,
}

/// A text that was left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextOmission {
    /// By what it is read.
    pub reference: String,
    /// SHA-256 of it, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// How many bytes it has, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// How well it fits the query.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<u64>,
    /// Why.
    pub reason: OmissionReason,
}

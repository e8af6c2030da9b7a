//! Contexts: texts that are searched, read and chosen for a budget.
//!
//! What comes out of a store of contexts is a document of somebody else: whoever asks for it, it weighs no more than
//! `external`, and nothing in it is an instruction.

use edgeplane_types::{Authority, Channel, ContextId, TurnId, fact::OmissionReason};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Longest query, in bytes.
pub const QUERY_BYTES_MAX: usize = 4 << 10;

/// Most references in one request.
pub const REFERENCES_MAX: usize = 100;

/// Most bytes of texts in one answer.
pub const CONTEXT_BYTES_MAX: u64 = 2 << 20;

/// Bytes that are chosen where nobody says how many.
pub const CONTEXT_BYTES: u64 = 64 << 10;

/// Bytes that a token is taken to have: nobody here knows how a model cuts texts.
pub const BYTES_PER_TOKEN: u64 = 4;

fn found() -> u32 {
    10
}

fn read_bytes() -> u32 {
    super::workspace::READ_BYTES
}

/// What to search for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContextSearchParams {
    /// Words. At most 4 KiB.
    pub query: String,
    /// Most texts, at most 100.
    #[serde(default = "found")]
    pub limit: u32,
}

/// A text that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextFound {
    /// By what it is read.
    pub reference: String,
    /// What it is called.
    pub title: String,
    /// SHA-256 of it, as the store says.
    pub digest: String,
    /// How many bytes it has, as the store says.
    pub bytes: u64,
    /// How well it fits, in thousandths; comparable within one answer only.
    pub score: u64,
    /// A piece of it.
    pub excerpt: String,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextSearchResult {
    /// Best first.
    pub items: Vec<ContextFound>,
    /// What all of it is: documents.
    pub channel: Channel,
    /// What all of it weighs at most.
    pub authority: Authority,
}

/// Which text to read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContextReadParams {
    /// Which.
    pub reference: String,
    /// From this byte on; from the beginning of the letter that is there.
    #[serde(default)]
    pub offset: u64,
    /// Most bytes, at most 2 MiB.
    #[serde(default = "read_bytes")]
    pub limit: u32,
}

/// A text, or a part of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextReadResult {
    /// Which.
    pub reference: String,
    /// What it is called.
    pub title: String,
    /// What it is, as the store says.
    pub media_type: String,
    /// SHA-256 of all of it.
    pub digest: String,
    /// How many bytes it has.
    pub bytes: u64,
    /// The part that was asked for.
    pub text: String,
    /// Where that begins.
    pub offset: u64,
    /// Where the next part begins; nothing, if this was the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<u64>,
    /// What it is: a document.
    pub channel: Channel,
    /// What it weighs at most.
    pub authority: Authority,
}

/// Chooses texts for a budget, by a query, by references, or by both: what is named comes first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContextResolveParams {
    /// The agent for which it is; without, the calling agent, or nobody but the node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The turn of that agent in which it is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    /// Words. At most 4 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// Texts that are named, in their order. At most 100.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<String>,
    /// Most texts that the query may choose, at most 100; 10 if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Room in bytes, at most 2 MiB; 64 KiB if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_bytes: Option<u64>,
    /// Room in tokens, each taken as four bytes. With both, the smaller counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_tokens: Option<u64>,
}

/// A text that was chosen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextChosen {
    /// Which.
    pub reference: String,
    /// What it is called.
    pub title: String,
    /// SHA-256 of it.
    pub digest: String,
    /// How many bytes it has.
    pub bytes: u64,
    /// How well it fits the query, in thousandths; none if it was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<u64>,
    /// All of it.
    pub text: String,
}

/// A text that was left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextLeftOut {
    /// Which.
    pub reference: String,
    /// How many bytes it has, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// How well it fits the query, in thousandths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<u64>,
    /// Why.
    pub reason: OmissionReason,
}

/// What was chosen and what was left out, as the record says it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextResolveResult {
    /// Its id in the record.
    pub context_id: ContextId,
    /// What was chosen: what was named first, then best first.
    pub selected: Vec<ContextChosen>,
    /// What was not.
    pub left_out: Vec<ContextLeftOut>,
    /// How many bytes there was room for.
    pub budget_bytes: u64,
    /// How many were used.
    pub used_bytes: u64,
    /// How many tokens that is taken to be.
    pub used_tokens: u64,
    /// What all of it is: documents.
    pub channel: Channel,
    /// What all of it weighs at most.
    pub authority: Authority,
}

//! Pending actions: what a person is asked, and what they decided.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ActionId, AgentId, Epoch, MessageId, SafeLabel, Timestamp};

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ActionKind {
    /// An answer: one of some choices, or a value of a schema, or words.
    Question,
    /// Leave to do exactly what the digest names.
    Approval,
}

/// One answer that may be chosen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// What is given back.
    pub value: SafeLabel,
    /// What a person reads.
    pub label: String,
}

/// Something that waits for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Action {
    /// Its id.
    pub id: ActionId,
    /// What is asked for.
    pub kind: ActionKind,
    /// The agent that asks.
    pub agent_id: AgentId,
    /// In which of its epochs.
    pub epoch: Epoch,
    /// As whom it asks; whoever has the same principal cannot answer.
    pub principal: SafeLabel,
    /// What a person reads.
    pub prompt: String,
    /// The answers to choose from; none: `schema` or any words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<Choice>,
    /// The JSON Schema of an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<serde_json::Value>,
    /// SHA-256 of the canonical JSON of exactly what is asked: prompt, choices, schema and subject.
    pub digest: String,
    /// What is to be done, word for word, in the body store under this digest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject_digest: Option<String>,
    /// Who may decide: any of these roles; none: any operator.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<SafeLabel>,
    /// How many different principals must approve.
    pub quorum: u32,
    /// When silence becomes a denial.
    pub expires_at: Timestamp,
    /// The message that led to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub causation: Option<MessageId>,
    /// The asker's key against asking twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
}

/// What one person said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "verdict", rename_all = "snake_case", deny_unknown_fields)]
pub enum Verdict {
    /// Leave is given.
    Approve {
        /// Which of the answers that are offered is given, by its id; left out: the one that allows just this once.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        option: Option<String>,
    },
    /// Leave is refused.
    Deny {
        /// Why, in their words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// Which of the answers that are offered is given, by its id; left out: the one that refuses just this once.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        option: Option<String>,
    },
    /// The answer to a question.
    Answer {
        /// A choice, a value of the schema, or words.
        value: serde_json::Value,
    },
}

impl Verdict {
    /// Leave for just what is asked.
    pub const APPROVE: Self = Self::Approve { option: None };

    /// A refusal of just what is asked, without a reason.
    pub const DENY: Self = Self::Deny { reason: None, option: None };

    /// The answer that was chosen of those that are offered.
    #[must_use]
    pub fn option(&self) -> Option<&str> {
        match self {
            Self::Approve { option } | Self::Deny { option, .. } => option.as_deref(),
            Self::Answer { .. } => None,
        }
    }
}

/// How an action ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ActionOutcome {
    /// Enough said yes.
    Approved,
    /// Somebody said no.
    Denied,
    /// It was answered.
    Answered,
    /// Nobody decided in time: the same as a denial.
    Expired,
    /// The one who asked took it back, or is gone.
    Cancelled,
}

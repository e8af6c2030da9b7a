//! What people and rules decide: pending actions, tokens, keys, policy.

use edgeplane_types::{
    AgentId, Channel, EventId, MessageId, PolicyAction, PolicyLayer, SafeLabel, Scope, Timestamp, TokenId,
    TokenKind,
    decision::{Action, ActionOutcome, Verdict},
    fact::CallEnd,
};

/// Something that waits for a person, or did.
#[derive(Debug, Clone, PartialEq)]
pub struct ActionRow {
    /// Position in the record at which it was opened.
    pub opened_pos: u64,
    /// When it was opened.
    pub opened_at: Timestamp,
    /// What is asked.
    pub action: Action,
    /// What was said, in the order of the record.
    pub votes: Vec<VoteRow>,
    /// How it ended; absent while it is pending.
    pub resolution: Option<Resolution>,
}

/// What one person said of an action.
#[derive(Debug, Clone, PartialEq)]
pub struct VoteRow {
    /// Who.
    pub principal: SafeLabel,
    /// What.
    pub verdict: Verdict,
    /// When.
    pub at: Timestamp,
}

/// How an action ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolution {
    /// The outcome.
    pub outcome: ActionOutcome,
    /// The answer to a question.
    pub answer: Option<serde_json::Value>,
    /// Whose words decided it.
    pub by: Vec<SafeLabel>,
    /// Why.
    pub reason: String,
    /// The message by which the agent was told.
    pub told_by: Option<MessageId>,
    /// When.
    pub at: Timestamp,
}

/// A named token; its secret is not known, only what it hashes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenRow {
    /// Its id.
    pub id: TokenId,
    /// For whom it speaks.
    pub kind: TokenKind,
    /// As whom.
    pub principal: SafeLabel,
    /// What it may do.
    pub scopes: Vec<Scope>,
    /// The roles it has when actions are decided.
    pub roles: Vec<SafeLabel>,
    /// What its secret hashes to; of a certificate, what it is known by.
    pub secret_digest: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it is worth nothing any more by itself; whoever has a clock checks.
    pub expires_at: Option<Timestamp>,
    /// Whether that of a person counts where the kernel says nothing of its bearer.
    pub remote: bool,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
    /// Why it was.
    pub revoked_reason: Option<String>,
}

/// A call that was made under a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallRow {
    /// Of which method.
    pub method: String,
    /// SHA-256 of its parameters.
    pub params_digest: String,
    /// When it was begun.
    pub began_at: Timestamp,
    /// The event that says so.
    pub began: EventId,
    /// How it ended; absent while it is worked on, and for ever if the daemon died over it.
    pub end: Option<CallEnd>,
}

/// A key of the node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRow {
    /// Its id.
    pub id: SafeLabel,
    /// The public half.
    pub public_key: String,
    /// Since when the node signs with it.
    pub created_at: Timestamp,
    /// Since when it does not.
    pub retired_at: Option<Timestamp>,
}

/// The rules in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyRow {
    /// SHA-256 of them; absent if none were ever loaded.
    pub digest: Option<String>,
    /// How many there are.
    pub rules: u64,
    /// The files they stand in.
    pub files: Vec<String>,
    /// Since when they are in force.
    pub loaded_at: Option<Timestamp>,
    /// The newest file that could not be read since, and why.
    pub rejected: Option<(String, String)>,
}

/// Requests of one kind that were refused within a second.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusalRow {
    /// Position in the record; the cursor of a list.
    pub pos: u64,
    /// When it was noted.
    pub at: Timestamp,
    /// What was asked for.
    pub action: PolicyAction,
    /// The agent it was asked of.
    pub agent: Option<AgentId>,
    /// Who asked.
    pub principal: SafeLabel,
    /// On which channel.
    pub channel: Option<Channel>,
    /// Who laid the rule down.
    pub layer: PolicyLayer,
    /// The rule.
    pub rule: SafeLabel,
    /// Why.
    pub reason: String,
    /// How many there were.
    pub count: u64,
}

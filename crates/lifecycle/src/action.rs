//! A pending action as a state machine: what a person is asked, and how it is decided.
//!
//! Owns whose vote counts, when enough said yes, and the rules that nothing but an approval approves, that silence
//! denies, and that an action is decided once. It does not know who may speak to the node at all, how a prompt is
//! shown, or how a digest is made: `proof::action_digest` makes it, and the caller hands it over.

mod answer;
mod open;
mod record;
mod rules;
mod schema;

use edgeplane_types::{
    ActionId, AgentId, MessageId, SafeLabel, Timestamp,
    decision::{Action, ActionKind, ActionOutcome, Verdict},
    fact::Fact,
};
use serde_json::Value;

pub use answer::{ANSWER_BYTES_MAX, AnswerError};
pub use open::{
    CHOICES_MAX, KEY_BYTES_MAX, LABEL_BYTES_MAX, LASTS_MS_DEFAULT, LASTS_MS_MAX, LASTS_MS_MIN,
    PROMPT_BYTES_MAX, QUORUM_MAX, ROLES_MAX, Request, RequestError, open,
};
pub use record::Corrupt;
pub use schema::{Mismatch, SCHEMA_BYTES_MAX, SCHEMA_DEPTH_MAX, Schema, SchemaError};

/// Longest reason of a denial in bytes.
pub const REASON_BYTES_MAX: usize = 4_096;

/// An action, and how far its decision has come.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    action: Action,
    standing: Standing,
}

/// How far a decision has come.
#[derive(Debug, Clone, PartialEq)]
pub enum Standing {
    /// It waits.
    Waiting {
        /// Who has approved, in the order of their votes; fewer than the quorum.
        approvals: Vec<SafeLabel>,
    },
    /// It is decided.
    Resolved(Resolution),
}

/// How an action ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolution {
    /// How.
    pub outcome: ActionOutcome,
    /// What was answered, if it was.
    pub answer: Option<Value>,
    /// Who decided: those who approved, the one who denied, answered or took it back; none when time ran out.
    pub by: Vec<SafeLabel>,
    /// Why, for people.
    pub reason: String,
}

/// What somebody says of an action.
#[derive(Debug, Clone, PartialEq)]
pub struct Vote {
    /// Who, as the node has proven it.
    pub principal: SafeLabel,
    /// The agent that votes, if it is one.
    pub agent: Option<AgentVoter>,
    /// The roles of whoever votes.
    pub roles: Vec<SafeLabel>,
    /// The digest of what they were shown.
    pub digest: String,
    /// What they say.
    pub verdict: Verdict,
    /// When.
    pub now: Timestamp,
}

/// An agent that votes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentVoter {
    /// Which.
    pub id: AgentId,
    /// The rule by which agents may vote on this action; none: they may not.
    pub permitted_by: Option<SafeLabel>,
}

/// What happens to an action.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// Somebody votes.
    Vote(Vote),
    /// Time has passed.
    Tick {
        /// What time it is.
        now: Timestamp,
    },
    /// Whoever asked takes it back, or is gone. That it is theirs to take back, the caller has seen.
    Cancel {
        /// Who.
        by: SafeLabel,
    },
}

/// What an engine does after a step, in this order. The facts of one step are one commit.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// Put the vote in the record.
    Voted {
        /// Who.
        principal: SafeLabel,
        /// On what.
        digest: String,
        /// What they said.
        verdict: Verdict,
    },
    /// Put the decision in the record, and tell the agent.
    Resolved(Resolution),
    /// Report [`Input::Tick`] at this time, not before.
    WakeAt(Timestamp),
}

impl Output {
    /// What the record is told of it; of a decision with the message `told_by` that the agent gets in the same commit.
    #[must_use]
    pub fn fact(&self, action_id: ActionId, told_by: Option<MessageId>) -> Option<Fact> {
        match self {
            Self::Voted { principal, digest, verdict } => Some(Fact::ActionVoted {
                action_id,
                principal: principal.clone(),
                digest: digest.clone(),
                verdict: verdict.clone(),
            }),
            Self::Resolved(Resolution { outcome, answer, by, reason }) => Some(Fact::ActionResolved {
                action_id,
                outcome: *outcome,
                answer: answer.clone(),
                by: by.clone(),
                reason: reason.clone(),
                told_by,
            }),
            Self::WakeAt(_) => None,
        }
    }
}

/// The result of a step.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The action afterwards.
    pub state: State,
    /// What to do, in order. None after a vote: the same was said before.
    pub outputs: Vec<Output>,
}

/// Why an input was refused. The action is as it was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It is decided.
    #[error("action is already {}", outcome_word(*.outcome))]
    AlreadyResolved {
        /// How.
        outcome: ActionOutcome,
    },
    /// The voter is the agent that asks, or has its principal.
    #[error("`{principal}` asks for this action and cannot decide it")]
    OwnAction {
        /// Who.
        principal: SafeLabel,
    },
    /// Agents may not vote here.
    #[error("agent `{principal}` may not decide actions: no rule permits it")]
    AgentVote {
        /// Who.
        principal: SafeLabel,
    },
    /// The voter has no role that may decide.
    #[error("`{principal}` has none of the roles that may decide: {}", listed(.roles))]
    WrongRole {
        /// Who.
        principal: SafeLabel,
        /// The roles of the action.
        roles: Vec<SafeLabel>,
    },
    /// The vote is on something else.
    #[error("vote is on another text than the one that is asked: its digest is {expected}")]
    DigestMismatch {
        /// The digest of what is asked.
        expected: String,
    },
    /// The vote is of the wrong kind.
    #[error("{}", wrong_verdict(*.kind))]
    WrongVerdict {
        /// What the action asks for.
        kind: ActionKind,
    },
    /// The answer is none of those that may be given.
    #[error("answer does not fit the question")]
    Answer(#[source] AnswerError),
    /// The reason of a denial is too long.
    #[error("reason has {found} bytes; it may have {REASON_BYTES_MAX}")]
    LongReason {
        /// How long it is.
        found: usize,
    },
}

impl Refused {
    /// The word that programs read.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::AlreadyResolved { .. } => "already_resolved",
            Self::OwnAction { .. } => "own_action",
            Self::AgentVote { .. } => "agent_vote",
            Self::WrongRole { .. } => "wrong_role",
            Self::DigestMismatch { .. } => "digest_mismatch",
            Self::WrongVerdict { .. } => "wrong_verdict",
            Self::Answer(_) => "wrong_answer",
            Self::LongReason { .. } => "long_reason",
        }
    }
}

fn outcome_word(outcome: ActionOutcome) -> &'static str {
    match outcome {
        ActionOutcome::Approved => "approved",
        ActionOutcome::Denied => "denied",
        ActionOutcome::Answered => "answered",
        ActionOutcome::Expired => "expired",
        ActionOutcome::Cancelled => "cancelled",
    }
}

fn wrong_verdict(kind: ActionKind) -> &'static str {
    match kind {
        ActionKind::Question => "a question is answered or denied, not approved",
        ActionKind::Approval => "leave is given or denied, not answered",
    }
}

fn listed(roles: &[SafeLabel]) -> String {
    roles.iter().map(SafeLabel::as_str).collect::<Vec<_>>().join(", ")
}

impl State {
    /// An action that was just opened. [`open`] makes one; the caller puts it in the record first and then wakes it
    /// at its `expires_at`.
    #[must_use]
    pub fn opened(action: Action) -> Self {
        Self { action, standing: Standing::Waiting { approvals: Vec::new() } }
    }

    /// What is asked.
    #[must_use]
    pub fn action(&self) -> &Action {
        &self.action
    }

    /// How far the decision has come.
    #[must_use]
    pub fn standing(&self) -> &Standing {
        &self.standing
    }

    /// How it ended, if it did.
    #[must_use]
    pub fn resolution(&self) -> Option<&Resolution> {
        match &self.standing {
            Standing::Waiting { .. } => None,
            Standing::Resolved(resolution) => Some(resolution),
        }
    }
}

#[cfg(test)]
mod tests;

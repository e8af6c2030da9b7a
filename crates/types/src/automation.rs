//! The words of automations: what had one fire, and what came of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{AgentId, Authority, EventId, SafeLabel, Timestamp, TokenId, schedule::RunCause, words::words};

words! {
    /// Where a firing is.
    FiringState {
        /// It is to be acted on, or is acted on.
        Open => "open",
        /// What it was to do is done.
        Succeeded => "succeeded",
        /// What it was to do was refused or failed.
        Failed => "failed",
        /// Its automation was withdrawn before anything was done.
        Withdrawn => "withdrawn",
        /// Whether anything was done cannot be known.
        OutcomeUnknown => "outcome_unknown",
    }
}

words! {
    /// Why an automation did not fire.
    AutomationSkip {
        /// What could have had it fire was caused by automations already, one after another, as many as may be.
        Hops => "hops",
        /// As many of its firings wait as may.
        Backlog => "backlog",
        /// The firing before is not over.
        Overlap => "overlap",
        /// It was due while the node was not there.
        NodeDown => "node_down",
        /// The clock was put forward past it.
        ClockJump => "clock_jump",
        /// It would have been later than its deadline allows.
        Deadline => "deadline",
    }
}

/// As whom an automation acts: whoever declared it, and with no more than they may.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ActsAs {
    /// What they are called.
    pub principal: SafeLabel,
    /// The agent that they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<AgentId>,
    /// The token by which they were known; what it allows when the automation acts counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_id: Option<TokenId>,
    /// What their words weighed at most when they declared it.
    pub authority: Authority,
}

/// What had an automation fire.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AutomationCause {
    /// An event of the record.
    Event {
        /// Its id.
        event_id: EventId,
        /// Its position in the record.
        pos: u64,
        /// What it is called.
        event_type: String,
    },
    /// It came due.
    Schedule {
        /// When it was due.
        due_at: Timestamp,
        /// Why it ran.
        cause: RunCause,
    },
    /// Something was delivered to it over HTTP.
    Webhook {
        /// What its sender calls the delivery.
        delivery: String,
        /// SHA-256 of what was delivered, in the body store.
        body_digest: String,
        /// Its size in bytes.
        body_bytes: u64,
        /// Whether it is JSON; else it is text.
        is_json: bool,
    },
    /// Somebody had it fire by hand.
    Hand {
        /// SHA-256 of what they gave in place of an event, in the body store.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        given_digest: Option<String>,
        /// Its size in bytes.
        #[serde(default)]
        given_bytes: u64,
    },
}

impl AutomationCause {
    /// The body that it names.
    #[must_use]
    pub fn body_digest(&self) -> Option<&String> {
        match self {
            Self::Webhook { body_digest, .. } => Some(body_digest),
            Self::Hand { given_digest, .. } => given_digest.as_ref(),
            Self::Event { .. } | Self::Schedule { .. } => None,
        }
    }

    /// The word for it.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Event { .. } => "event",
            Self::Schedule { .. } => "schedule",
            Self::Webhook { .. } => "webhook",
            Self::Hand { .. } => "hand",
        }
    }

    /// What it is known by among the causes of one automation: of equal ones, only the first counts.
    #[must_use]
    pub fn key(&self) -> String {
        match self {
            Self::Event { event_id, .. } => format!("event/{event_id}"),
            Self::Schedule { due_at, .. } => format!("schedule/{}", due_at.as_micros()),
            Self::Webhook { delivery, .. } => format!("webhook/{delivery}"),
            // Each is one of its own.
            Self::Hand { .. } => "hand".to_owned(),
        }
    }
}

//! What waits for a person.

use std::collections::BTreeMap;

use edgeplane_types::{
    ActionId, Fact, MessageId,
    decision::{ActionKind, ActionOutcome, Verdict},
};
use serde::{Deserialize, Serialize};

/// What is remembered of an action until it is decided.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Asked {
    pub(crate) kind: ActionKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<MessageId>,
}

/// The actions that are open.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Open {
    open: BTreeMap<ActionId, Asked>,
}

impl Open {
    /// Takes in a fact, and gives the action that it is about with what is known of it.
    pub(crate) fn follow(&mut self, fact: &Fact) -> Option<(ActionId, Option<Asked>)> {
        match fact {
            Fact::ActionOpened { action } => {
                let asked = Asked { kind: action.kind, message: action.causation };
                self.open.insert(action.id, asked.clone());
                Some((action.id, Some(asked)))
            }
            Fact::ActionVoted { action_id, .. } => Some((*action_id, self.open.get(action_id).cloned())),
            Fact::ActionResolved { action_id, .. } => Some((*action_id, self.open.remove(action_id))),
            _ => None,
        }
    }
}

pub(crate) fn kind(kind: ActionKind) -> &'static str {
    match kind {
        ActionKind::Question => "question",
        ActionKind::Approval => "approval",
    }
}

pub(crate) fn outcome(outcome: ActionOutcome) -> &'static str {
    match outcome {
        ActionOutcome::Approved => "approved",
        ActionOutcome::Denied => "denied",
        ActionOutcome::Answered => "answered",
        ActionOutcome::Expired => "expired",
        ActionOutcome::Cancelled => "cancelled",
    }
}

pub(crate) fn verdict(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Approve { .. } => "approve",
        Verdict::Deny { .. } => "deny",
        Verdict::Answer { .. } => "answer",
    }
}

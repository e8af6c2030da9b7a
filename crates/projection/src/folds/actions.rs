//! `actions.pending`: what waits for a person, and how what waited was decided.

use std::collections::BTreeMap;

use edgeplane_types::{ActionId, AgentId, Fact, MessageId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    actions,
    entry::Ids,
    fold::{Fold, SHOWN_MAX, Step},
    json::{Json, Object},
    subject::{Subject, turn_of},
    telling,
};

pub(crate) fn takes(kind: &str) -> bool {
    kind.starts_with("action.")
}

#[derive(Debug, Serialize, Deserialize)]
struct Pending {
    agent_id: AgentId,
    message_id: Option<MessageId>,
    since: Timestamp,
    votes: u64,
    asks: Json,
}

#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Actions {
    pending: BTreeMap<ActionId, Pending>,
    resolved: BTreeMap<String, u64>,
}

fn about(action_id: ActionId, pending: Option<&Pending>) -> Ids {
    let message_id = pending.and_then(|pending| pending.message_id);
    Ids {
        action_id: Some(action_id),
        agent_id: pending.map(|pending| pending.agent_id),
        message_id,
        turn_id: message_id.map(turn_of),
        ..Ids::default()
    }
}

impl Fold for Actions {
    fn new(_: &Subject) -> Self {
        Self::default()
    }

    fn fold(&mut self, step: &mut Step<'_>) {
        match step.fact() {
            Fact::ActionOpened { action } => {
                let asks = telling::opened(action);
                let pending = Pending {
                    agent_id: action.agent_id,
                    message_id: action.causation,
                    since: step.event().ts,
                    votes: 0,
                    asks: asks.clone(),
                };
                let ids = Ids { epoch: Some(action.epoch), ..about(action.id, Some(&pending)) };
                self.pending.insert(action.id, pending);
                let entry = step.say("action.opened", ids, asks);
                if let Some(digest) = &action.subject_digest {
                    entry.with("subject", digest, 0);
                }
            }
            Fact::ActionVoted { action_id, principal, verdict, .. } => {
                let pending = self.pending.get_mut(action_id);
                let votes = pending.map_or(0, |pending| {
                    pending.votes += 1;
                    pending.votes
                });
                let payload = Object::new()
                    .put("by", principal.as_str())
                    .put("verdict", actions::verdict(verdict))
                    .put("votes", &votes)
                    .done();
                step.say("action.voted", about(*action_id, self.pending.get(action_id)), payload);
            }
            Fact::ActionResolved { action_id, outcome, by, reason, .. } => {
                let pending = self.pending.remove(action_id);
                let outcome = actions::outcome(*outcome);
                *self.resolved.entry(outcome.to_owned()).or_default() += 1;
                let waited = pending.as_ref().map(|pending| step.event().ts.millis_since(pending.since));
                let payload = Object::new()
                    .put("outcome", outcome)
                    .put("by", by)
                    .put("reason", reason)
                    .maybe("waited_ms", waited)
                    .put("pending", &self.pending.len())
                    .done();
                step.say("action.resolved", about(*action_id, pending.as_ref()), payload);
            }
            _ => {}
        }
    }

    fn state(&self) -> Value {
        let newest = self.pending.iter().rev().take(SHOWN_MAX);
        let entries: Vec<_> = newest
            .map(|(id, pending)| {
                json!({
                    "action_id": id,
                    "agent_id": pending.agent_id,
                    "message_id": pending.message_id,
                    "since": pending.since,
                    "votes": pending.votes,
                    "asks": pending.asks,
                })
            })
            .collect();
        json!({
            "pending": self.pending.len(),
            "more": self.pending.len() - entries.len(),
            "entries": entries,
            "resolved": self.resolved,
        })
    }
}

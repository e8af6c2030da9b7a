//! `context.boundary`: up to where a thread is told as a summary, and what went on across the boundary.

use edgeplane_types::{Fact, Timestamp, TurnId};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::transcript::OfThread;
use crate::{
    entry::Ids,
    fold::{Fold, SHOWN_MAX, Step},
    json::Object,
    subject::Subject,
    turns::Turns,
};

pub(crate) fn takes(kind: &str) -> bool {
    matches!(kind, "agent.declared" | "thread.compacted" | "thread.rolled_back")
}

/// One boundary.
#[derive(Debug, Serialize, Deserialize)]
struct Drawn {
    through: TurnId,
    turns: u64,
    summary: String,
    summary_bytes: u64,
    by: String,
    authority: String,
    tokens_before: Option<u64>,
    open_actions: Vec<String>,
    reason: String,
    at: Timestamp,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Boundary {
    thread: OfThread,
    turns: Turns,
    drawn: std::collections::VecDeque<Drawn>,
    more: u64,
    rolled_back: u64,
}

impl Fold for Boundary {
    fn new(subject: &Subject) -> Self {
        Self {
            thread: OfThread::new(subject),
            turns: Turns::new(subject),
            drawn: std::collections::VecDeque::new(),
            more: 0,
            rolled_back: 0,
        }
    }

    fn fold(&mut self, step: &mut Step<'_>) {
        self.turns.follow(step.event());
        match step.fact() {
            Fact::ThreadCompacted(fact) if self.thread.is(Some(fact.thread_id)) => {
                let by = step.event().actor.name().to_string();
                let actions: Vec<_> = fact.open_actions.iter().map(ToString::to_string).collect();
                let payload = Object::new()
                    .put("trigger", "request")
                    .put("turns", &fact.turns)
                    .put("by", &by)
                    .put("authority", fact.authority.as_str())
                    .maybe("tokens_before", fact.tokens_before)
                    .put("open_actions", &actions)
                    .put("reason", &fact.reason)
                    .done();
                let ids = Ids {
                    thread_id: Some(fact.thread_id),
                    turn_id: Some(fact.through),
                    epoch: Some(fact.epoch),
                    ..self.turns.ids(None)
                };
                step.say("boundary.drawn", ids, payload).with(
                    "summary",
                    &fact.summary_digest,
                    fact.summary_bytes,
                );
                if self.drawn.len() == SHOWN_MAX {
                    self.drawn.pop_front();
                    self.more += 1;
                }
                self.drawn.push_back(Drawn {
                    through: fact.through,
                    turns: fact.turns,
                    summary: format!("sha256:{}", fact.summary_digest),
                    summary_bytes: fact.summary_bytes,
                    by,
                    authority: fact.authority.as_str().to_owned(),
                    tokens_before: fact.tokens_before,
                    open_actions: actions,
                    reason: fact.reason.clone(),
                    at: step.event().ts,
                });
            }
            Fact::ThreadRolledBack(fact) if self.thread.is(Some(fact.thread_id)) => {
                self.rolled_back += 1;
                let payload = Object::new()
                    .put("removed", &fact.removed.len())
                    .put("surviving", &fact.surviving)
                    .put("reason", &fact.reason)
                    .done();
                let ids = Ids {
                    thread_id: Some(fact.thread_id),
                    turn_id: fact.to_turn,
                    epoch: Some(fact.epoch),
                    ..self.turns.ids(None)
                };
                step.say("history.rolled_back", ids, payload);
            }
            _ => {}
        }
    }

    fn state(&self) -> Value {
        json!({
            "boundary": self.drawn.back(),
            "earlier": self.drawn.iter().rev().skip(1).collect::<Vec<_>>(),
            "more": self.more,
            "rolled_back": self.rolled_back,
        })
    }
}

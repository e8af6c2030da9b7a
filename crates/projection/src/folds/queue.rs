//! `queue`: which messages wait, and what became of the queue each time it changed.

use std::collections::BTreeMap;

use edgeplane_types::{Fact, MessageId};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::transcript::OfThread;
use crate::{
    fold::{Fold, SHOWN_MAX, Step},
    json::Object,
    subject::Subject,
    telling::reason,
    turns::{Change, Turns, Words},
};

pub(crate) fn takes(kind: &str) -> bool {
    matches!(kind, "agent.declared" | "turn.completed") || kind.starts_with("message.")
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Queue {
    thread: OfThread,
    turns: Turns,
    /// What waits, in the order of acceptance; which goes first, priorities and senders decide.
    waiting: BTreeMap<MessageId, Option<Words>>,
    entered: u64,
    left: BTreeMap<String, u64>,
}

/// Why a message left the queue or came into it.
fn why(fact: &Fact) -> &'static str {
    match fact {
        Fact::MessageAccepted { .. } => "accepted",
        Fact::MessageRequeued { .. } => "requeued",
        Fact::MessageAssigned { .. } => "assigned",
        Fact::MessageReturned { .. } => "returned",
        Fact::MessageRejected { .. } => "rejected",
        Fact::MessageExpired { .. } => "expired",
        Fact::MessageAmbiguous { .. } => "ambiguous",
        Fact::MessageDeadLettered { .. } => "dead_lettered",
        Fact::MessageDropped { .. } => "dropped",
        _ => "started",
    }
}

impl Queue {
    fn changed(&mut self, step: &mut Step<'_>, change: Change) {
        let ids = self.turns.ids(Some(change.message));
        let turn = self.turns.get(change.message);
        let why = why(step.fact());
        let mut payload = Object::new().put("change", why);
        if change.joined_queue() {
            self.entered += 1;
            let words = turn.and_then(|turn| turn.words.clone());
            if let Some(words) = &words {
                payload = payload
                    .put("from", words.principal.as_str())
                    .put("priority", words.priority.as_str())
                    .put("mode", words.mode.as_str());
            }
            self.waiting.insert(change.message, words);
        } else {
            self.waiting.remove(&change.message);
            match self.left.get_mut(why) {
                Some(count) => *count += 1,
                None => drop(self.left.insert(why.to_owned(), 1)),
            }
        }
        let payload = payload.maybe("reason", reason(step.fact())).put("depth", &self.waiting.len()).done();
        let trace = self.turns.trace(Some(change.message)).map(str::to_owned);
        step.say("queue.changed", ids, payload).trace = trace;
    }
}

impl Fold for Queue {
    fn new(subject: &Subject) -> Self {
        Self {
            thread: OfThread::new(subject),
            turns: Turns::new(subject),
            waiting: BTreeMap::new(),
            entered: 0,
            left: BTreeMap::new(),
        }
    }

    fn fold(&mut self, step: &mut Step<'_>) {
        let Some(change) = self.turns.follow(step.event()) else { return };
        let is_ours = self.thread.is(self.turns.thread(Some(change.message)));
        if is_ours && (change.joined_queue() || change.left_queue()) {
            self.changed(step, change);
        }
    }

    fn state(&self) -> Value {
        let shown: Vec<_> = self.waiting.iter().rev().take(SHOWN_MAX).collect();
        let entries: Vec<_> = shown
            .iter()
            .rev()
            .map(|(message, words)| {
                let words = words.as_ref();
                json!({
                    "message_id": message,
                    "from": words.map(|words| words.principal.as_str()),
                    "channel": words.map(|words| words.channel),
                    "authority": words.map(|words| words.authority),
                    "priority": words.map(|words| words.priority),
                    "mode": words.map(|words| words.mode),
                    "bytes": words.map(|words| words.content_bytes),
                    "accepted_at": words.map(|words| words.at),
                })
            })
            .collect();
        json!({
            "depth": self.waiting.len(),
            "entered": self.entered,
            "left": self.left,
            "more": self.waiting.len() - entries.len(),
            "waiting": entries,
        })
    }
}

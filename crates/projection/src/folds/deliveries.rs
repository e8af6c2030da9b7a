//! `deliveries`: each rung that a message of an agent reached, and how that is known.

use std::collections::{BTreeMap, VecDeque};

use edgeplane_types::{Epoch, Evidence, Fact, MessageId, Rung, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    entry::Ids,
    fold::{Fold, SHOWN_MAX, Step},
    json::Object,
    subject::Subject,
    telling::reason,
    turns::Turns,
};

pub(crate) fn takes(kind: &str) -> bool {
    matches!(kind, "agent.declared" | "turn.completed") || kind.starts_with("message.")
}

#[derive(Debug, Serialize, Deserialize)]
struct Rungs {
    rungs: Vec<(String, Timestamp)>,
    output: Option<(String, u64)>,
}

/// Rungs of one message that are shown. One that is given up and put again many times keeps its newest.
const RUNGS_MAX: usize = 32;

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Deliveries {
    turns: Turns,
    counts: BTreeMap<String, u64>,
    newest: VecDeque<MessageId>,
    shown: BTreeMap<MessageId, Rungs>,
    more: u64,
}

fn rung(fact: &Fact) -> Option<(&'static str, MessageId, Option<Epoch>, Option<Evidence>)> {
    Some(match fact {
        Fact::MessageAccepted { envelope } => (Rung::Accepted.as_str(), envelope.id, None, None),
        Fact::MessageInjected { message_id, epoch, evidence } => {
            (Rung::Injected.as_str(), *message_id, Some(*epoch), Some(*evidence))
        }
        Fact::MessageObserved { message_id, epoch, evidence } => {
            (Rung::Observed.as_str(), *message_id, Some(*epoch), Some(*evidence))
        }
        Fact::MessageTurnEnded { message_id, epoch, evidence } => {
            (Rung::TurnEnded.as_str(), *message_id, Some(*epoch), Some(*evidence))
        }
        Fact::MessageAmbiguous { message_id, epoch, .. } => {
            (Rung::Ambiguous.as_str(), *message_id, Some(*epoch), Some(Evidence::Silence))
        }
        Fact::MessageRejected { message_id, .. } => (Rung::Rejected.as_str(), *message_id, None, None),
        Fact::MessageExpired { message_id } => (Rung::Expired.as_str(), *message_id, None, None),
        Fact::MessageDeadLettered { message_id, .. } => {
            (Rung::DeadLettered.as_str(), *message_id, None, None)
        }
        // These are no rungs: the message stays on its own.
        Fact::MessageRequeued { message_id } => ("requeued", *message_id, None, None),
        Fact::MessageAssigned { message_id, .. } => ("assigned", *message_id, None, None),
        Fact::MessageReturned { message_id, .. } => ("returned", *message_id, None, None),
        Fact::MessageDropped { message_id, .. } => ("dropped", *message_id, None, None),
        _ => return None,
    })
}

impl Deliveries {
    fn note(&mut self, message: MessageId, rung: &'static str, at: Timestamp) {
        match self.counts.get_mut(rung) {
            Some(count) => *count += 1,
            None => drop(self.counts.insert(rung.to_owned(), 1)),
        }
        if !self.shown.contains_key(&message) {
            if self.newest.len() == SHOWN_MAX
                && let Some(oldest) = self.newest.pop_front()
            {
                self.shown.remove(&oldest);
                self.more += 1;
            }
            self.newest.push_back(message);
        }
        let shown = self.shown.entry(message).or_insert_with(|| Rungs { rungs: Vec::new(), output: None });
        if shown.rungs.len() == RUNGS_MAX {
            shown.rungs.remove(0);
        }
        shown.rungs.push((rung.to_owned(), at));
    }
}

impl Fold for Deliveries {
    fn new(subject: &Subject) -> Self {
        Self {
            turns: Turns::new(subject),
            counts: BTreeMap::new(),
            newest: VecDeque::new(),
            shown: BTreeMap::new(),
            more: 0,
        }
    }

    fn fold(&mut self, step: &mut Step<'_>) {
        let event = step.event();
        self.turns.follow(event);
        if let Fact::TurnCompleted { message_id: Some(message), output_digest, output_bytes, .. } =
            &event.fact
        {
            if let Some(shown) = self.shown.get_mut(message) {
                shown.output = Some((output_digest.clone(), *output_bytes));
            }
            return;
        }
        let Some((rung, message, epoch, evidence)) = rung(&event.fact) else { return };
        self.note(message, rung, event.ts);
        let waited = self.turns.get(message).and_then(|turn| turn.words.as_ref());
        let payload = Object::new()
            .put("rung", rung)
            .maybe("evidence", evidence)
            .maybe("reason", reason(&event.fact))
            .maybe("after_ms", waited.map(|words| event.ts.millis_since(words.at)))
            .done();
        let ids = Ids { epoch, ..self.turns.ids(Some(message)) };
        let trace = self.turns.trace(Some(message)).map(str::to_owned);
        let entry = step.say("delivery.changed", ids, payload);
        entry.trace = trace;
        if let Fact::MessageAccepted { envelope } = &event.fact {
            entry.with("input", &envelope.content_digest, envelope.content_bytes);
        }
    }

    fn state(&self) -> Value {
        let entries: Vec<_> = self
            .newest
            .iter()
            .filter_map(|message| Some((message, self.shown.get(message)?)))
            .map(|(message, shown)| {
                let rungs: Vec<_> =
                    shown.rungs.iter().map(|(rung, at)| json!({ "rung": rung, "at": at })).collect();
                let output =
                    shown.output.as_ref().map(|(digest, bytes)| json!({ "digest": digest, "bytes": bytes }));
                json!({ "message_id": message, "rungs": rungs, "output": output })
            })
            .collect();
        json!({
            "waiting": self.turns.depth(),
            "counts": self.counts,
            "more": self.more,
            "messages": entries,
        })
    }
}

//! `run.timeline`: the epochs of an agent, and within them its turns as attempts.
//!
//! Every turn is a run, with its message's UUID. An attempt is one time that it was put to the program.

use std::collections::BTreeMap;

use edgeplane_types::{Fact, MessageId, RunId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    entry::Ids,
    fold::{Fold, Step},
    json::Object,
    recent::Recent,
    subject::Subject,
    telling::agent_of,
    turns::{Change, Stage, Turns},
};

pub(crate) fn takes(kind: &str) -> bool {
    match kind.split_once('.') {
        Some(("message", _)) => true,
        Some(("agent", name)) => matches!(
            name,
            "declared"
                | "starting"
                | "started"
                | "start_failed"
                | "adopted"
                | "unobservable"
                | "exited"
                | "frozen"
                | "thawed"
        ),
        _ => kind == "turn.completed",
    }
}

/// The run that a message's turn is.
fn run_of(message: MessageId) -> RunId {
    RunId::from_bytes(*message.as_bytes())
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Timeline {
    turns: Turns,
    /// Since when each attempt runs.
    running: BTreeMap<MessageId, Timestamp>,
    epochs: u64,
    attempts: u64,
    ends: BTreeMap<String, u64>,
    recent: Recent,
}

impl Timeline {
    fn epoch(&mut self, step: &mut Step<'_>) {
        let (kind, epoch, payload) = match step.fact() {
            Fact::AgentStarting { epoch, cause } => {
                ("epoch.starting", epoch, Object::new().put("cause", cause))
            }
            Fact::AgentStarted { epoch, continuity, .. } => {
                self.epochs += 1;
                ("epoch.started", epoch, Object::new().put("continuity", continuity))
            }
            Fact::AgentStartFailed { epoch, reason } => {
                ("epoch.start_failed", epoch, Object::new().put("reason", reason))
            }
            Fact::AgentAdopted { epoch, frozen, .. } => {
                ("epoch.adopted", epoch, Object::new().put("frozen", frozen))
            }
            Fact::AgentUnobservable { epoch, reason } => {
                ("epoch.unobservable", epoch, Object::new().put("reason", reason))
            }
            Fact::AgentFrozen { epoch } => ("epoch.frozen", epoch, Object::new()),
            Fact::AgentThawed { epoch } => ("epoch.thawed", epoch, Object::new()),
            Fact::AgentExited { epoch, status, ran_ms, tree, .. } => {
                for change in self.turns.cut(*epoch) {
                    self.ended(step, change);
                }
                let payload = Object::new().put("status", status).put("ran_ms", ran_ms).put("tree", tree);
                ("epoch.exited", epoch, payload)
            }
            _ => return,
        };
        let ids = Ids { agent_id: agent_of(step), epoch: Some(*epoch), ..Ids::default() };
        step.say(kind, ids, payload.done());
    }

    fn began(&mut self, step: &mut Step<'_>, change: Change) {
        let Some(turn) = self.turns.get(change.message) else { return };
        self.attempts += 1;
        let waited = turn.words.as_ref().map(|words| step.event().ts.millis_since(words.at));
        let payload = Object::new()
            .put("attempt", &turn.attempts)
            .maybe("waited_ms", waited)
            .put("run", &run_of(change.message))
            .done();
        let ids = Ids { epoch: Some(turn.epoch), ..self.turns.ids(Some(change.message)) };
        let trace = turn.trace.clone();
        self.running.insert(change.message, step.event().ts);
        step.say("attempt.started", ids, payload).trace = trace;
    }

    fn ended(&mut self, step: &mut Step<'_>, change: Change) {
        let Some(turn) = self.turns.get(change.message) else { return };
        let Some(since) = self.running.remove(&change.message) else { return };
        let status = change.now.as_str();
        *self.ends.entry(status.to_owned()).or_default() += 1;
        let mut payload = Object::new()
            .put("attempt", &turn.attempts)
            .put("status", status)
            .put("ran_ms", &step.event().ts.millis_since(since));
        let mut output = None;
        if let Fact::TurnCompleted { outcome, output_digest, output_bytes, .. } = step.fact() {
            payload = payload.maybe("outcome", outcome.as_ref());
            output = Some((output_digest, *output_bytes));
        }
        let ids = Ids { epoch: Some(turn.epoch), ..self.turns.ids(Some(change.message)) };
        let trace = turn.trace.clone();
        let entry = step.say("attempt.ended", ids, payload.put("run", &run_of(change.message)).done());
        entry.trace = trace;
        if let Some((digest, bytes)) = output {
            entry.with("output", digest, bytes);
        }
    }
}

impl Fold for Timeline {
    fn new(subject: &Subject) -> Self {
        Self {
            turns: Turns::new(subject),
            running: BTreeMap::new(),
            epochs: 0,
            attempts: 0,
            ends: BTreeMap::new(),
            recent: Recent::default(),
        }
    }

    fn fold(&mut self, step: &mut Step<'_>) {
        self.epoch(step);
        if let Some(change) = self.turns.follow(step.event()) {
            // One that is put again without an end in between is another attempt.
            if change.put && self.running.contains_key(&change.message) {
                self.ended(step, Change { now: Stage::Cut, ..change });
            }
            if change.put {
                self.began(step, change);
            } else if !change.now.is_open() {
                self.ended(step, change);
            }
        }
        self.recent.take(&step.said);
    }

    fn state(&self) -> Value {
        let running: Vec<_> = self
            .running
            .iter()
            .map(|(message, since)| json!({ "message_id": message, "run_id": run_of(*message), "since": since }))
            .collect();
        json!({
            "epochs": self.epochs,
            "attempts": self.attempts,
            "ends": self.ends,
            "running": running,
            "timeline": self.recent.state(),
        })
    }
}

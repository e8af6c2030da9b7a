//! `turn.items`: everything that happened in one turn.

use edgeplane_types::{Fact, TurnId};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    entry::Ids,
    fold::{Fold, Step},
    json::Object,
    recent::Recent,
    subject::{Subject, turn_of},
    telling::{Reader, Teller},
    turns::Stage,
};

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Items {
    turn: OfTurn,
    teller: Teller,
    status: Option<Stage>,
    final_output: Option<Value>,
    recent: Recent,
}

/// Wants what belongs to one turn.
#[derive(Debug, Serialize, Deserialize)]
struct OfTurn {
    turn: Option<TurnId>,
}

impl Reader for OfTurn {
    fn wants(&self, ids: &Ids, of_session: bool) -> bool {
        !of_session && self.turn.is_some() && ids.turn_id == self.turn
    }
}

impl Fold for Items {
    fn new(subject: &Subject) -> Self {
        // A turn that no message began has only an id of its own.
        let named = || subject.target.id.as_ref().and_then(|id| id.parse().ok());
        Self {
            turn: OfTurn { turn: subject.turn.map(turn_of).or_else(named) },
            teller: Teller::new(subject),
            status: None,
            final_output: None,
            recent: Recent::default(),
        }
    }

    fn fold(&mut self, step: &mut Step<'_>) {
        if let Fact::MessageAccepted { envelope } = step.fact()
            && self.turn.turn == Some(turn_of(envelope.id))
        {
            let ids = self.teller.turns.ids(Some(envelope.id));
            let thread_id = envelope.thread.or(ids.thread_id);
            let payload = Object::new()
                .put("from", envelope.source.principal.as_str())
                .put("channel", envelope.channel.as_str())
                .put("authority", envelope.authority.as_str())
                .put("mode", envelope.mode.as_str())
                .done();
            let entry = step.say("turn.submitted", Ids { thread_id, ..ids }, payload);
            entry.trace.clone_from(&envelope.traceparent);
            entry.with("input", &envelope.content_digest, envelope.content_bytes);
        }
        let change = self.teller.tell(step, &self.turn);
        if let Some(change) = change
            && self.turn.turn == Some(turn_of(change.message))
        {
            self.status = Some(change.now);
        }
        for numbered in &step.said {
            match numbered.entry.kind {
                "turn.completed" => {
                    self.status = Some(Stage::Ended);
                    self.final_output = numbered
                        .entry
                        .refs
                        .first()
                        .map(|output| json!({ "digest": output.digest, "bytes": output.bytes }));
                }
                "turn.failed" if matches!(step.input.event.fact, Fact::AgentExited { .. }) => {
                    self.status = Some(Stage::Cut);
                }
                _ => {}
            }
        }
        self.recent.take(&step.said);
    }

    fn state(&self) -> Value {
        json!({
            "turn_id": self.turn.turn,
            "status": self.status.map_or("unknown", Stage::as_str),
            "final_output": self.final_output,
            "items": self.recent.state(),
        })
    }
}

//! `session.snapshot` and `thread.read_model`: what is happening now, in a session and in one of its threads.

use edgeplane_types::{ThreadId, TurnId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    agentruntime::{PUBLIC, runtime},
    entry::Ids,
    fold::{Fold, Step},
    json::Object,
    model::Model,
    subject::Subject,
};

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Snapshot {
    runtime: String,
    model: Model,
}

impl Fold for Snapshot {
    fn new(subject: &Subject) -> Self {
        Self { runtime: runtime(subject), model: Model::new(subject) }
    }

    fn fold(&mut self, step: &mut Step<'_>) {
        let followed = self.model.follow(step.event());
        let because = step.fact().type_name();
        if followed.life {
            let life = &self.model.life;
            let payload = Object::new()
                .put("because", because)
                .put("phase", life.phase.as_str())
                .maybe("reason", life.reason.as_ref())
                .done();
            let ids = Ids { epoch: Some(life.epoch), ..self.model.turns.ids(None) };
            step.say("session.changed", ids, payload);
        }
        if let Some(thread) = followed.thread {
            let payload =
                Object::new().put("because", because).put("status", self.model.thread_status(thread)).done();
            let ids = Ids { thread_id: Some(thread), ..self.model.turns.ids(None) };
            step.say("thread.created", ids, payload);
        }
        if let Some(thread) = followed.touched {
            let payload =
                Object::new().put("because", because).put("status", self.model.thread_status(thread)).done();
            let ids = Ids { thread_id: Some(thread), ..self.model.turns.ids(None) };
            step.say("thread.changed", ids, payload);
        }
        for change in followed.cut.iter().chain(&followed.change) {
            if change.was == Some(change.now) && !change.put {
                continue;
            }
            let message = Some(change.message);
            let payload = Object::new().put("because", because).put("status", change.now.as_str()).done();
            let trace = self.model.turns.trace(message).map(str::to_owned);
            step.say("turn.changed", self.model.turns.ids(message), payload).trace = trace;
        }
        if let Some((action_id, asked)) = followed.action {
            let message = asked.and_then(|asked| asked.message);
            let ids = Ids { action_id: Some(action_id), ..self.model.turns.ids(message) };
            step.say("action.changed", ids, Object::new().put("because", because).done());
        }
    }

    fn state(&self) -> Value {
        self.model.snapshot(PUBLIC, &self.runtime)
    }
}

/// What is told of a thread each time that one of them changes.
type Summary = (String, Option<TurnId>, usize, usize);

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ReadModel {
    thread: Option<ThreadId>,
    model: Model,
    last: Option<Summary>,
}

impl ReadModel {
    fn id(&self) -> Option<ThreadId> {
        self.thread.or_else(|| self.model.turns.main())
    }
}

impl Fold for ReadModel {
    fn new(subject: &Subject) -> Self {
        Self { thread: subject.thread, model: Model::new(subject), last: None }
    }

    fn fold(&mut self, step: &mut Step<'_>) {
        let followed = self.model.follow(step.event());
        let Some(thread) = self.id() else { return };
        let Some((status, active, queued, pending)) = self.model.summary(thread) else { return };
        let is_same = self.last.as_ref().is_some_and(|last| {
            (last.0.as_str(), last.1, last.2, last.3) == (status, active, queued, pending)
        });
        if is_same && followed.touched != Some(thread) && followed.thread != Some(thread) {
            return;
        }
        self.last = Some((status.to_owned(), active, queued, pending));
        let payload = Object::new()
            .put("because", step.fact().type_name())
            .put("status", status)
            .put("phase", self.model.life.phase.as_str())
            .put("queued", &queued)
            .put("pending", &pending)
            .done();
        let ids = Ids { thread_id: Some(thread), turn_id: active, ..self.model.turns.ids(None) };
        step.say("thread.changed", ids, payload);
    }

    fn state(&self) -> Value {
        self.id().map_or(Value::Null, |thread| self.model.thread_view(thread))
    }
}

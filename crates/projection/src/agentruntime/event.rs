//! One event of the standard, written member by member.

use edgeplane_types::{ItemId, MessageId, RunId, SessionId, TaskId, ThreadId, TurnId};

use crate::{
    entry::{BodyRef, Ids},
    fold::Step,
    json::{Json, Object},
    work::Work,
};

/// What most events fit in.
const EVENT_BYTES: usize = 900;

/// What every event of a session has in common, written once.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) session: SessionId,
    start: Object,
}

/// An event that is not said yet.
#[derive(Debug)]
#[must_use]
pub(super) struct Draft {
    kind: &'static str,
    object: Object,
    ids: Ids,
    refs: Vec<BodyRef>,
    trace: Option<String>,
}

impl Frame {
    pub(super) fn new(version: &'static str, runtime: &str, session: SessionId) -> Self {
        let start =
            Object::new().put("schemaVersion", version).put("runtimeId", runtime).id("sessionId", &session);
        Self { session, start }
    }

    /// Begins an event. It is to be said before the next one is begun: its number and id are the next.
    pub(super) fn begin(&self, step: &Step<'_>, kind: &'static str, ids: Ids) -> Draft {
        let object = Object::after(&self.start, EVENT_BYTES)
            .word("type", kind)
            .entry_id("eventId", &step.next_id())
            .moment("timestamp", step.event().ts)
            .put("sequence", &step.next_n());
        Draft { kind, object, ids, refs: Vec::new(), trace: None }
    }
}

impl Draft {
    pub(super) fn thread(mut self, thread: Option<ThreadId>) -> Self {
        self.ids.thread_id = thread;
        if let Some(thread) = thread {
            self.object = self.object.id("threadId", &thread);
        }
        self
    }

    pub(super) fn turn(mut self, turn: TurnId) -> Self {
        self.ids.turn_id = Some(turn);
        self.object = self.object.id("turnId", &turn);
        self
    }

    /// The run that a turn is and the task that it is one of: with the turn's UUID, if nothing else is known.
    pub(super) fn run(mut self, message: Option<MessageId>, work: &Work) -> Self {
        let Some(message) = message else { return self };
        let run = RunId::from_bytes(*message.as_bytes());
        let task = work.task_of(run).unwrap_or_else(|| TaskId::from_bytes(*message.as_bytes()));
        self.object = self.object.id("taskId", &task).id("runId", &run);
        self
    }

    /// A step of a turn.
    pub(super) fn step(mut self, item: ItemId) -> Self {
        self.ids.item_id = Some(item);
        self.object = self.object.id("stepId", &item);
        self
    }

    /// A step of a turn that is a use of a tool.
    pub(super) fn tool(self, item: ItemId) -> Self {
        let draft = self.step(item);
        Self { object: draft.object.id("toolCallId", &item), ..draft }
    }

    /// One of the standard's typed members.
    pub(super) fn slot(mut self, key: &'static str, value: &str) -> Self {
        self.object = self.object.put(key, value);
        self
    }

    pub(super) fn maybe(mut self, key: &'static str, value: Option<&str>) -> Self {
        self.object = self.object.maybe(key, value);
        self
    }

    pub(super) fn object(mut self, key: &'static str, value: Object) -> Self {
        self.object = self.object.json(key, &value.done());
        self
    }

    /// A body that the event names: here and in the standard's `refs`.
    pub(super) fn body(mut self, name: &'static str, digest: &str, bytes: u64) -> Self {
        self.object = self.object.json("refs", &Object::new().body(name, digest).done());
        self.refs.push(BodyRef::new(name, digest, bytes));
        self
    }

    /// The output that the event names.
    pub(super) fn output(self, digest: &str, bytes: u64) -> Self {
        let draft = self.body("output", digest, bytes);
        Self { object: draft.object.body("outputRef", digest), ..draft }
    }

    /// The trace as W3C writes it; the standard has its parts.
    pub(super) fn trace(mut self, traceparent: Option<&str>) -> Self {
        let Some(traceparent) = traceparent else { return self };
        let mut parts = traceparent.split('-').skip(1);
        if let (Some(trace), Some(span)) = (parts.next(), parts.next()) {
            self.object = self.object.put("traceId", trace).put("spanId", span);
        }
        self.trace = Some(traceparent.to_owned());
        self
    }

    /// Says it.
    pub(super) fn say(self, step: &mut Step<'_>, payload: Object) {
        self.say_json(step, &payload.done());
    }

    pub(super) fn say_json(self, step: &mut Step<'_>, payload: &Json) {
        let event = self.object.json("payload", payload).done();
        let entry = step.say(self.kind, self.ids, event);
        (entry.refs, entry.trace) = (self.refs, self.trace);
    }
}

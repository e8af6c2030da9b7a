//! `trace.waterfall`: the spans of one trace, as its events say them, over all agents of the node.
//!
//! Each request and each turn is a span: from its first event to its last. Pieces of a turn say no trace; they belong to
//! the span of their message's turn. Who waited for whom, and why, is what a trace that is asked for as a whole tells.

use std::collections::BTreeMap;

use edgeplane_types::{
    AgentId, Fact, MessageId, SafeLabel, SpanId, StreamName, ThreadId, Timestamp, TraceContext, TraceId,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    entry::Ids,
    fold::{Fold, SHOWN_MAX, Step},
    json::Object,
    subject::{Subject, turn_of},
};

/// Messages of one trace of which pieces are counted; those of further ones are not.
const MESSAGES_MAX: usize = 1_024;

/// Everything but what the node does by itself.
pub(crate) fn takes(kind: &str) -> bool {
    let family = kind.split_once('.').map_or(kind, |(family, _)| family);
    !matches!(family, "recording" | "node")
}

/// One stretch of a trace.
#[derive(Debug, Serialize, Deserialize)]
struct Span {
    id: SpanId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parent: Option<SpanId>,
    operation: String,
    user_id: SafeLabel,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    thread: Option<ThreadId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent: Option<AgentId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    message: Option<MessageId>,
    begin: Timestamp,
    end: Timestamp,
    events: u64,
    status: Status,
}

/// How far a span is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    /// More of it may come.
    Open,
    Ended,
    Failed,
    /// Nobody knows whether it came to its end.
    Unknown,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Waterfall {
    trace: Option<TraceId>,
    /// In the order in which they began.
    spans: Vec<Span>,
    /// Events of spans beyond those that are kept.
    more: u64,
    /// The span of each message's turn.
    turns: BTreeMap<MessageId, SpanId>,
}

fn status(fact: &Fact) -> Status {
    match fact {
        // Once it is accepted, all that was asked for is done; what becomes of it is the turn's.
        Fact::MessageAccepted { .. }
        | Fact::MessageTurnEnded { .. }
        | Fact::TurnCompleted { .. }
        | Fact::ActionResolved { .. } => Status::Ended,
        Fact::MessageRejected { .. } | Fact::MessageExpired { .. } | Fact::MessageDeadLettered { .. } => {
            Status::Failed
        }
        Fact::MessageAmbiguous { .. } => Status::Unknown,
        _ => Status::Open,
    }
}

impl Waterfall {
    fn span(&mut self, id: SpanId) -> Option<&mut Span> {
        // The newest is spoken of most often.
        self.spans.iter_mut().rev().find(|span| span.id == id)
    }

    fn begin(&mut self, step: &mut Step<'_>, trace: &TraceContext, ids: Ids) {
        if self.spans.len() >= SHOWN_MAX {
            self.more += 1;
            return;
        }
        let event = step.event();
        // A turn's context does not say which request it is of; that request's message does.
        let asked = || ids.message_id.and_then(|message| self.turns.get(&message).copied());
        let parent = trace.parent.or_else(asked);
        let payload = Object::new()
            .put("span_id", &trace.traceparent.span_id)
            .maybe("parent", parent.as_ref())
            .put("operation", &trace.operation)
            .put("user_id", &trace.user_id)
            .put("because", event.fact.type_name())
            .done();
        step.say("span.began", ids, payload).trace = Some(trace.traceparent.to_string());
        self.spans.push(Span {
            id: trace.traceparent.span_id,
            parent,
            operation: trace.operation.clone(),
            user_id: trace.user_id.clone(),
            thread: trace.thread_id,
            agent: ids.agent_id,
            message: ids.message_id,
            begin: event.ts,
            end: event.ts,
            events: 0,
            status: Status::Open,
        });
    }

    /// The span that an event belongs to: the one that it names, or that of the turn whose piece it is.
    fn of(&self, step: &Step<'_>) -> Option<SpanId> {
        let event = step.event();
        match &event.trace {
            Some(trace) => {
                (Some(trace.traceparent.trace_id) == self.trace).then_some(trace.traceparent.span_id)
            }
            None => event.fact.message_id().and_then(|message| self.turns.get(&message).copied()),
        }
    }
}

impl Fold for Waterfall {
    fn new(subject: &Subject) -> Self {
        let trace = subject.trace.as_ref().and_then(|text| text.parse().ok());
        Self { trace, spans: Vec::new(), more: 0, turns: BTreeMap::new() }
    }

    fn fold(&mut self, step: &mut Step<'_>) {
        let Some(id) = self.of(step) else { return };
        let event = step.event();
        let message = event.fact.message_id();
        let agent = match event.stream {
            StreamName::Agent(agent) => Some(agent),
            StreamName::Node(_) | StreamName::Workspace(_) | StreamName::Task(_) => None,
        };
        let ids =
            Ids { agent_id: agent, message_id: message, turn_id: message.map(turn_of), ..Ids::default() };
        if let Some(trace) = &event.trace {
            if self.span(id).is_none() {
                self.begin(step, trace, ids);
            }
            if let Some(message) = message
                && (self.turns.len() < MESSAGES_MAX || self.turns.contains_key(&message))
            {
                self.turns.insert(message, id);
            }
        }
        let now = status(&event.fact);
        let Some(span) = self.span(id) else { return };
        span.end = span.end.max(event.ts);
        span.events += 1;
        if now == Status::Open || now == span.status {
            return;
        }
        span.status = now;
        let payload = Object::new()
            .put("span_id", &id)
            .put("status", &now)
            .put("because", event.fact.type_name())
            .done();
        let named = event.trace.as_ref().map(|trace| trace.traceparent.to_string());
        step.say("span.ended", ids, payload).trace = named;
    }

    fn state(&self) -> Value {
        let spans: Vec<_> = self
            .spans
            .iter()
            .map(|span| {
                json!({
                    "span_id": span.id,
                    "parent": span.parent,
                    "operation": span.operation,
                    "user_id": span.user_id,
                    "thread_id": span.thread,
                    "agent_id": span.agent,
                    "message_id": span.message,
                    "began_at": span.begin,
                    "last_at": span.end,
                    "events": span.events,
                    "status": span.status,
                })
            })
            .collect();
        json!({ "trace_id": self.trace, "spans": spans, "more": self.more })
    }
}

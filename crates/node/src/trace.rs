//! Traces: which request leads to what, and what the record says of it afterwards.
//!
//! Owns the context that a request carries through the node until it is in the record. A request without one begins a
//! trace; an agent's words during a turn belong to the trace of that turn's message. Spans are made of the record when
//! somebody asks for them ([`spans`], [`verdict`]); the daemon remembers none.

pub(crate) mod feed;
pub(crate) mod gather;
pub(crate) mod lasting;
pub(crate) mod path;
pub(crate) mod spans;
pub(crate) mod steps;
pub(crate) mod verdict;

use std::{
    collections::HashMap,
    future::Future,
    sync::{Arc, Mutex, PoisonError},
};

use edgeplane_store::Reader;
use edgeplane_types::{
    Envelope, Ingress, MessageId, SafeLabel, SpanId, ThreadId, TraceContext, TraceId, Traceparent, trace,
};
use edgeplane_wire::{
    catalogue::{self, MethodEffect},
    rpc::{RequestContext, RpcError},
};
use serde_json::Value;
use tracing::Instrument as _;

use crate::{admission::Saying, caller::Caller, observer::ServedRequest, shared::Shared};

/// Messages whose traces are kept at hand; when there are as many, all are forgotten and looked up again.
const TURNS_MAX: usize = 1_024;

/// W3C's flag for a trace that somebody records: here the record does.
const RECORDED: u8 = 1;

tokio::task_local! {
    /// The request that this task serves.
    static CURRENT: Arc<TraceContext>;
}

/// The request that is being served, if one is.
pub(crate) fn current() -> Option<Arc<TraceContext>> {
    CURRENT.try_with(Arc::clone).ok()
}

/// Serves a request as part of its trace: what it makes durable and what it logs says so.
pub(crate) async fn serve<T>(
    shared: &Shared,
    trace: Arc<TraceContext>,
    work: impl Future<Output = Result<T, RpcError>>,
) -> Result<T, RpcError> {
    let start = shared.record.now();
    let span = tracing::info_span!(
        "request",
        operation = trace.operation,
        user_id = %trace.user_id,
        trace_id = %trace.traceparent.trace_id,
        span_id = %trace.traceparent.span_id,
        thread_id = trace.thread_id.map(tracing::field::display),
    );
    let result = CURRENT.scope(Arc::clone(&trace), work).instrument(span.clone()).await;
    let error = result.as_ref().err().map(RpcError::name);
    span.in_scope(|| match error {
        None => tracing::debug!("served"),
        Some(error) => tracing::debug!(error = error.as_str(), "refused"),
    });
    if let Some(observer) = &shared.observer {
        observer.served(&ServedRequest { trace, start, end: shared.record.now(), error });
    }
    result
}

/// The trace of a request: the one that it names, else the one of what led an agent to it, else a new one.
pub(crate) fn begin(
    shared: &Shared,
    caller: &Caller,
    method: &str,
    context: &RequestContext,
    params: &Value,
) -> Arc<TraceContext> {
    let named: Option<Traceparent> = context.traceparent.as_deref().and_then(|text| text.parse().ok());
    let is_write = catalogue::find(method).is_some_and(|row| row.effect == MethodEffect::Write);
    let from = named.or_else(|| is_write.then(|| led(shared, caller, params)).flatten());
    // Only beside a trace does what belongs to it mean anything.
    let beside = |text: &Option<String>, read: fn(&str) -> Option<&str>| {
        named.and(text.as_deref()).and_then(read).map(str::to_owned)
    };
    Arc::new(TraceContext {
        tracestate: beside(&context.tracestate, trace::tracestate),
        baggage: beside(&context.baggage, trace::baggage),
        thread_id: params.get("thread_id").and_then(Value::as_str).and_then(|text| text.parse().ok()),
        ..fresh(shared, caller.in_name_of(), known(method), from)
    })
}

/// The trace of what the node says by itself: that of what led to it, else a new one.
pub(crate) fn own(
    shared: &Shared,
    caller: &Caller,
    saying: &Saying,
    causation: Option<MessageId>,
) -> Arc<TraceContext> {
    let from = causation.or(saying.reply_to).and_then(|id| of_message(shared, id));
    Arc::new(fresh(shared, caller.in_name_of(), operation(saying.ingress), from))
}

fn fresh(shared: &Shared, user: &SafeLabel, operation: &str, from: Option<Traceparent>) -> TraceContext {
    let mut bytes = [0; 24];
    shared.record.mint().entropy.fill(&mut bytes);
    let (mut trace, mut span) = ([0; 16], [0; 8]);
    for (to, byte) in trace.iter_mut().chain(&mut span).zip(bytes) {
        *to = byte;
    }
    // Chance gives zeros once in the life of the universe; an id of its own is then still an id.
    let span_id = SpanId::from_bytes(span).unwrap_or_else(|| SpanId::derived(&trace, "request"));
    let new = TraceId::from_bytes(trace).unwrap_or_else(|| TraceId::of_message(&shared.record.mint().id()));
    let (trace_id, flags) = from.map_or((new, RECORDED), |from| (from.trace_id, from.flags));
    TraceContext {
        traceparent: Traceparent { trace_id, span_id, flags },
        parent: from.map(|from| from.span_id),
        operation: operation.to_owned(),
        user_id: user.clone(),
        thread_id: None,
        tracestate: None,
        baggage: None,
    }
}

/// A method as it is kept: a name that nobody knows must not grow the record.
fn known(method: &str) -> &str {
    catalogue::find(method).map_or("_OTHER", |row| row.name)
}

/// What led a caller to a request: the message that it names, if it is its own, else the one that it is busy with.
fn led(shared: &Shared, caller: &Caller, params: &Value) -> Option<Traceparent> {
    let named = ["causation", "reply_to"]
        .iter()
        .find_map(|field| params.get(*field)?.as_str()?.parse::<MessageId>().ok());
    let Some(agent) = &caller.agent else {
        return named.filter(|_| caller.is_operator()).and_then(|id| of_message(shared, id));
    };
    let own = |id: MessageId| {
        let row = shared.record.look_up(|reader| reader.message(&id)).ok().flatten();
        row.filter(|row| row.envelope.target == agent.id).and_then(|row| row.envelope.handed_on())
    };
    let busy_with = || {
        let leading = shared.record.look_up(|reader| reader.leading(&agent.id, agent.epoch)).ok().flatten();
        leading.and_then(|leading| leading.message_id)
    };
    named.and_then(own).or_else(|| busy_with().and_then(own))
}

fn of_message(shared: &Shared, id: MessageId) -> Option<Traceparent> {
    let row = shared.record.look_up(|reader| reader.message(&id)).ok().flatten()?;
    row.envelope.handed_on()
}

/// What was asked for when a message came in this way.
pub(crate) fn operation(ingress: Ingress) -> &'static str {
    match ingress {
        Ingress::Signal | Ingress::Driver => "runtime/agent.signal",
        Ingress::Ask => "runtime/agent.ask",
        Ingress::Topic => "runtime/topic.publish",
        Ingress::Broadcast => "runtime/agent.broadcast",
        Ingress::Submit => "runtime/message.submit",
        Ingress::Schedule => "runtime/schedule.run",
        Ingress::Action => "conversation/action.respond",
        Ingress::Task => "runtime/run.start",
        Ingress::Node => "node",
    }
}

/// The traces of the messages that were spoken of last.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    known: Mutex<HashMap<MessageId, Option<TraceContext>>>,
}

impl Turns {
    /// What happens to a message belongs to its trace, at the span of the turn that it begins.
    pub(crate) fn context(&self, reader: &Reader, id: MessageId) -> Option<Box<TraceContext>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.get(&id) {
            return found.clone().map(Box::new);
        }
        // One that is not in the record yet is looked for again.
        let row = reader.message(&id).ok().flatten()?;
        let found = of_turn(&row.envelope);
        if known.len() >= TURNS_MAX {
            known.clear();
        }
        known.insert(id, found.clone());
        found.map(Box::new)
    }
}

fn of_turn(envelope: &Envelope) -> Option<TraceContext> {
    let thread_id: Option<ThreadId> = envelope.thread;
    Some(TraceContext {
        traceparent: envelope.handed_on()?,
        parent: None,
        operation: operation(envelope.ingress).to_owned(),
        user_id: envelope.source.principal.clone(),
        thread_id,
        tracestate: None,
        baggage: None,
    })
}

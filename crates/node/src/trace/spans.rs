//! A trace as spans: what was read from the record, laid out in time. Reads nothing and has no clock.
//!
//! Ids of spans follow from what they are of, so that they are the same whenever the trace is read, and in whatever
//! tool it is shown.

use std::collections::{BTreeMap, HashMap};

use edgeplane_store::CommittedEvent;
use edgeplane_types::{
    AgentId, Fact, Ingress, MessageId, SpanId, StreamName, Timestamp, TraceContext, life::ExitStatus,
};
use edgeplane_wire::api::trace::{
    EntryPoint, Owner, OwnerKind, Segment, Span, SpanStatus, TraceGap, Waterfall,
};

use super::{
    gather::{Gathered, Passage},
    operation,
};

mod calls;
mod lock;
mod turn;
mod wait;

/// A trace in the making.
struct Drawing<'a> {
    from: &'a Gathered,
    spans: Vec<Span>,
    gaps: Vec<TraceGap>,
}

/// Lays a trace out.
pub(crate) fn waterfall(from: &Gathered) -> Waterfall {
    let mut drawing = Drawing { from, spans: Vec::new(), gaps: Vec::new() };
    for change in &from.changes {
        drawing.change(change);
    }
    for passage in &from.messages {
        drawing.request(passage);
        let given = drawing.waits(passage);
        if let Some(given) = given {
            drawing.turn(passage, given);
        }
        drawing.missing(passage);
    }
    if from.is_cut {
        let what = "the trace has more events than are looked at".to_owned();
        drawing.gaps.push(TraceGap { what, agent: None, at: from.as_of, events: Vec::new() });
    }
    drawing.finish()
}

impl Drawing<'_> {
    fn agent(&self, id: AgentId) -> String {
        self.from.names.get(&id).cloned().unwrap_or_else(|| id.to_string())
    }

    /// A request that changed something else than messages.
    fn change(&mut self, change: &CommittedEvent) {
        let Some(trace) = change.event.trace.as_deref() else { return };
        let id = trace.traceparent.span_id;
        if let Some(known) = self.spans.iter_mut().find(|span| span.span_id == id) {
            known.end = known.end.max(Some(change.event.ts));
            known.events.push(change.pos);
            self.lock(change, id);
            return;
        }
        let of = match change.event.stream {
            StreamName::Agent(agent) => Some(self.agent(agent)),
            StreamName::Node(_) | StreamName::Workspace(_) | StreamName::Task(_) => None,
        };
        let span = of_request(trace, change.event.ts, change.pos);
        let owner = Owner { kind: OwnerKind::Node, name: "node".to_owned(), of };
        self.spans.push(Span { end: Some(change.event.ts), owner, ..span });
        self.lock(change, id);
    }

    /// Who asked, and for what.
    fn request(&mut self, passage: &Passage) {
        let (envelope, accepted) = (&passage.envelope, &passage.accepted);
        let id = request_span(passage);
        if let Some(known) = self.spans.iter_mut().find(|span| span.span_id == id) {
            known.end = known.end.max(Some(accepted.event.ts));
            known.events.push(accepted.pos);
            return;
        }
        let derived;
        let trace = match accepted.event.trace.as_deref() {
            Some(trace) => trace,
            None => {
                derived = TraceContext {
                    traceparent: edgeplane_types::Traceparent {
                        trace_id: self.from.trace_id,
                        span_id: id,
                        flags: 0,
                    },
                    parent: None,
                    operation: operation(envelope.ingress).to_owned(),
                    user_id: envelope.source.principal.clone(),
                    thread_id: envelope.thread,
                    tracestate: None,
                    baggage: None,
                };
                &derived
            }
        };
        let mut span = of_request(trace, accepted.event.ts, accepted.pos);
        span.owner = match envelope.source.agent_id {
            Some(agent) => Owner { kind: OwnerKind::Agent, name: self.agent(agent), of: None },
            None => Owner { kind: OwnerKind::Person, name: envelope.source.principal.to_string(), of: None },
        };
        attribute(&mut span, "rt.agent.name", self.agent(passage.row.addressed));
        attribute(&mut span, "rt.message.id", envelope.id.to_string());
        attribute(&mut span, "rt.authority", envelope.authority.as_str());
        attribute(&mut span, "rt.provenance.channel", envelope.channel.as_str());
        span.end = Some(accepted.event.ts);
        self.spans.push(span);
    }

    /// Gives a request that waits for an answer the time until there is one.
    fn answered(&mut self, passage: &Passage, end: Option<(Timestamp, SpanStatus)>) {
        if passage.envelope.ingress != Ingress::Ask {
            return;
        }
        let id = request_span(passage);
        if let Some(span) = self.spans.iter_mut().find(|span| span.span_id == id) {
            match end {
                Some((at, status)) => {
                    span.end = span.end.max(Some(at));
                    span.status = status;
                }
                None => (span.end, span.status) = (None, SpanStatus::Open),
            }
        }
    }

    /// A part of a message's way, as a span with what all of them have.
    fn part(&self, passage: &Passage, what: &str, start: Timestamp) -> Span {
        let envelope = &passage.envelope;
        let mut span = Span {
            span_id: SpanId::derived(envelope.id.as_bytes(), what),
            parent: Some(request_span(passage)),
            name: what.to_owned(),
            segment: Segment::Delivery,
            owner: Owner { kind: OwnerKind::Agent, name: self.agent(envelope.target), of: None },
            start,
            end: None,
            status: SpanStatus::Open,
            reason: None,
            quiet: None,
            attributes: BTreeMap::new(),
            events: Vec::new(),
        };
        attribute(&mut span, "rt.operation", span_operation(passage));
        attribute(&mut span, "user.id", envelope.source.principal.as_str());
        attribute(&mut span, "rt.agent.name", self.agent(envelope.target));
        attribute(&mut span, "rt.message.id", envelope.id.to_string());
        if let Some(thread) = envelope.thread {
            attribute(&mut span, "rt.thread.id", thread.to_string());
        }
        span
    }

    /// What the record says that it does not have.
    fn missing(&mut self, passage: &Passage) {
        let id = passage.envelope.id;
        let agent = Some(self.agent(passage.envelope.target));
        let over = self.end_of(passage);
        for event in &passage.events {
            let what = match &event.event.fact {
                Fact::RecordingGap { from_offset, to_offset, reason, .. }
                    if over.is_none_or(|over| event.event.ts <= over) =>
                {
                    format!("output {from_offset} to {to_offset} is not in the recording: {reason}")
                }
                Fact::MessageAmbiguous { message_id, reason, .. } if *message_id == id => {
                    format!("whether the message was delivered is not known: {reason}")
                }
                _ => continue,
            };
            self.gaps.push(TraceGap {
                what,
                agent: agent.clone(),
                at: event.event.ts,
                events: vec![event.pos],
            });
        }
    }

    /// When nothing more of a message is to come.
    fn end_of(&self, passage: &Passage) -> Option<Timestamp> {
        let turn = SpanId::of_turn(&passage.envelope.id);
        self.spans.iter().find(|span| span.span_id == turn).and_then(|span| span.end)
    }

    fn finish(self) -> Waterfall {
        let Self { from, mut spans, mut gaps } = self;
        gaps.sort_by_key(|gap| gap.at);
        gaps.dedup();
        spans = in_order(spans);
        let start = spans.iter().map(|span| span.start).min().unwrap_or(from.as_of);
        let is_open = spans.iter().any(|span| span.status == SpanStatus::Open);
        let end = spans.iter().filter_map(|span| span.end).max().filter(|_| !is_open);
        let first = spans.first();
        let said = |name: &str| first.and_then(|span| span.attributes.get(name)).cloned();
        let entry_point = EntryPoint {
            operation: first.map(|span| span.name.clone()).unwrap_or_default(),
            user_id: said("user.id").unwrap_or_default(),
            agent: said("rt.agent.name"),
        };
        Waterfall {
            trace_id: from.trace_id,
            as_of: from.as_of,
            as_of_pos: from.as_of_pos,
            entry_point,
            start,
            end,
            spans,
            gaps,
        }
    }
}

/// Puts parents before their parts and what began first before others; whoever names a part of itself as its parent, by
/// whatever detour, stands at the top.
fn in_order(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_by_key(|span| (span.start, rank(span.segment), span.span_id));
    let at: HashMap<SpanId, usize> =
        spans.iter().enumerate().map(|(index, span)| (span.span_id, index)).collect();
    let mut parts: Vec<Vec<usize>> = spans.iter().map(|_| Vec::new()).collect();
    let mut tops = Vec::new();
    for (index, span) in spans.iter().enumerate() {
        let parent = span.parent.and_then(|parent| at.get(&parent)).filter(|parent| **parent != index);
        match parent.and_then(|parent| parts.get_mut(*parent)) {
            Some(list) => list.push(index),
            None => tops.push(index),
        }
    }
    let mut order = Vec::with_capacity(spans.len());
    let mut seen: Vec<bool> = spans.iter().map(|_| false).collect();
    // Those in a circle are reached from no top, so each is tried as one at the end.
    for top in tops.into_iter().chain(0..spans.len()) {
        let mut next = vec![top];
        while let Some(index) = next.pop() {
            if let Some(mark) = seen.get_mut(index).filter(|mark| !**mark) {
                *mark = true;
                order.push(index);
                next.extend(parts.get(index).into_iter().flatten().rev());
            }
        }
    }
    let mut spans: Vec<Option<Span>> = spans.into_iter().map(Some).collect();
    order.into_iter().filter_map(|index| spans.get_mut(index).and_then(Option::take)).collect()
}

/// What of two that begin at the same moment comes first.
fn rank(segment: Segment) -> u8 {
    match segment {
        Segment::Request => 0,
        Segment::RuntimeDelay => 1,
        Segment::QueueWait => 2,
        Segment::Delivery => 3,
        Segment::Turn => 4,
        Segment::Tool => 5,
        Segment::ApprovalWait => 6,
        Segment::ConnectorPermission => 7,
        Segment::WorkspaceLock => 8,
    }
}

fn of_request(trace: &TraceContext, at: Timestamp, pos: u64) -> Span {
    let mut span = Span {
        span_id: trace.traceparent.span_id,
        parent: trace.parent,
        name: trace.operation.clone(),
        segment: Segment::Request,
        owner: Owner { kind: OwnerKind::Person, name: trace.user_id.to_string(), of: None },
        start: at,
        end: None,
        status: SpanStatus::Ok,
        reason: None,
        quiet: None,
        attributes: BTreeMap::new(),
        events: vec![pos],
    };
    attribute(&mut span, "rpc.system.name", "jsonrpc");
    attribute(&mut span, "rpc.method", trace.operation.as_str());
    attribute(&mut span, "rt.operation", trace.operation.as_str());
    attribute(&mut span, "user.id", trace.user_id.as_str());
    if let Some(thread) = trace.thread_id {
        attribute(&mut span, "rt.thread.id", thread.to_string());
    }
    span
}

fn span_operation(passage: &Passage) -> String {
    let recorded = passage.accepted.event.trace.as_deref().map(|trace| trace.operation.clone());
    recorded.unwrap_or_else(|| operation(passage.envelope.ingress).to_owned())
}

/// The span of the request by which a message came in.
fn request_span(passage: &Passage) -> SpanId {
    let own = passage.envelope.traceparent.as_deref().and_then(|text| text.parse().ok());
    own.map_or_else(
        || SpanId::derived(passage.envelope.id.as_bytes(), "request"),
        |own: edgeplane_types::Traceparent| own.span_id,
    )
}

fn attribute(span: &mut Span, name: &str, value: impl Into<String>) {
    span.attributes.insert(name.to_owned(), value.into());
}

/// Whether a fact is about this message.
fn is_of(event: &CommittedEvent, id: MessageId) -> bool {
    event.event.fact.message_id() == Some(id)
}

fn is_well(status: ExitStatus) -> bool {
    status == ExitStatus::Code(0)
}

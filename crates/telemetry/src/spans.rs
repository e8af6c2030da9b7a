//! What is over, as OpenTelemetry's spans: the ids, times and attributes of the record, unchanged.

use std::{
    borrow::Cow,
    time::{Duration, SystemTime},
};

use edgeplane_types::{SpanId, Timestamp, TraceContext, TraceId};
use edgeplane_wire::api::trace::{Segment, Span, SpanStatus};
use opentelemetry::{
    InstrumentationScope, KeyValue,
    trace::{SpanContext, SpanKind, Status, TraceFlags, TraceState},
};
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks};

use crate::{Request, names};

/// A request as the span of a server.
pub(crate) fn of_request(request: &Request<'_>) -> SpanData {
    let TraceContext { traceparent, parent, operation, user_id, thread_id, .. } = request.trace;
    let mut attributes = vec![
        KeyValue::new(names::RPC_SYSTEM_NAME, "jsonrpc"),
        KeyValue::new(names::RPC_METHOD, operation.clone()),
        KeyValue::new(names::OPERATION, operation.clone()),
        KeyValue::new(names::USER_ID, user_id.to_string()),
        KeyValue::new(names::TENANT_ID, "local"),
    ];
    if let Some(thread) = thread_id {
        attributes.push(KeyValue::new(names::THREAD_ID, thread.to_string()));
        attributes.push(KeyValue::new(names::CONVERSATION_ID, thread.to_string()));
    }
    let status = match request.error {
        Some(error) => {
            attributes.push(KeyValue::new(names::ERROR_TYPE, error.as_str()));
            Status::error(error.as_str())
        }
        None => Status::Unset,
    };
    SpanData {
        span_kind: SpanKind::Server,
        name: Cow::Owned(operation.clone()),
        attributes,
        status,
        ..bare((traceparent.trace_id, traceparent.span_id, *parent), (request.start, request.end))
    }
}

/// A span of the record.
pub(crate) fn of_span(trace: TraceId, span: &Span) -> SpanData {
    let mut attributes: Vec<KeyValue> =
        span.attributes.iter().map(|(name, value)| KeyValue::new(name.clone(), value.clone())).collect();
    attributes.push(KeyValue::new(names::SEGMENT, segment(span.segment)));
    attributes.push(KeyValue::new(names::OWNER, span.owner.name.clone()));
    if span.segment == Segment::Turn {
        attributes.push(KeyValue::new(names::PROVIDER_NAME, names::PROVIDER_UNKNOWN));
    }
    if let Some(thread) = span.attributes.get(names::THREAD_ID) {
        attributes.push(KeyValue::new(names::CONVERSATION_ID, thread.clone()));
    }
    let status = match span.status {
        SpanStatus::Error => Status::error(span.reason.clone().unwrap_or_default()),
        SpanStatus::Ok | SpanStatus::Open | SpanStatus::Unknown => Status::Unset,
    };
    SpanData {
        name: Cow::Owned(span.name.clone()),
        attributes,
        status,
        ..bare((trace, span.span_id, span.parent), (span.start, span.end.unwrap_or(span.start)))
    }
}

/// The word that programs read.
fn segment(segment: Segment) -> &'static str {
    match segment {
        Segment::Request => "request",
        Segment::QueueWait => "queue_wait",
        Segment::RuntimeDelay => "runtime_delay",
        Segment::Delivery => "delivery",
        Segment::Turn => "turn",
        Segment::Tool => "tool",
        Segment::ApprovalWait => "approval_wait",
        Segment::ConnectorPermission => "connector_permission",
        Segment::WorkspaceLock => "workspace_lock",
    }
}

pub(crate) fn trace_id(id: TraceId) -> opentelemetry::trace::TraceId {
    opentelemetry::trace::TraceId::from_bytes(*id.as_bytes())
}

pub(crate) fn span_id(id: SpanId) -> opentelemetry::trace::SpanId {
    opentelemetry::trace::SpanId::from_bytes(*id.as_bytes())
}

fn moment(at: Timestamp) -> SystemTime {
    let micros = u64::try_from(at.as_micros()).unwrap_or(0);
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_micros(micros)).unwrap_or(SystemTime::UNIX_EPOCH)
}

fn bare(
    (trace, span, parent): (TraceId, SpanId, Option<SpanId>),
    (start, end): (Timestamp, Timestamp),
) -> SpanData {
    SpanData {
        // Always sampled: what the record has may be asked for at any time.
        span_context: SpanContext::new(
            trace_id(trace),
            span_id(span),
            TraceFlags::SAMPLED,
            false,
            TraceState::default(),
        ),
        parent_span_id: parent.map_or(opentelemetry::trace::SpanId::INVALID, span_id),
        parent_span_is_remote: false,
        span_kind: SpanKind::Internal,
        name: Cow::Borrowed(""),
        start_time: moment(start),
        end_time: moment(end),
        attributes: Vec::new(),
        dropped_attributes_count: 0,
        events: SpanEvents::default(),
        links: SpanLinks::default(),
        status: Status::Unset,
        instrumentation_scope: InstrumentationScope::builder(names::SCOPE).build(),
    }
}

//! To which trace what happens belongs.

use edgeplane_types::fact::UsageReported;
use edgeplane_types::{Fact, SpanId, TraceContext, TraceId, Traceparent};

use super::label;

/// Traces of a world.
const TRACES: u8 = 4;

/// As the node has it: what happens to a message says its trace, and pieces of its turn do not.
pub(super) fn trace_of(fact: &Fact) -> Option<TraceContext> {
    let is_piece = matches!(
        fact,
        Fact::ItemUpdated { .. } | Fact::ItemReported { .. } | Fact::UsageReported(UsageReported { .. })
    );
    let message = fact.message_id().filter(|_| !is_piece)?;
    let bytes = message.as_bytes();
    let request = SpanId::derived(bytes, "request");
    let is_asked = matches!(fact, Fact::MessageAccepted { .. });
    let span_id = if is_asked { request } else { SpanId::of_turn(&message) };
    Some(TraceContext {
        traceparent: Traceparent { trace_id: trace_id(bytes[15] % TRACES), span_id, flags: 1 },
        parent: None,
        operation: "runtime/agent.signal".to_owned(),
        user_id: label("ann"),
        thread_id: None,
        tracestate: None,
        baggage: None,
    })
}

/// One of the traces that all messages belong to.
pub(crate) fn trace_id(number: u8) -> TraceId {
    TraceId::from_bytes([number + 1; 16]).unwrap()
}

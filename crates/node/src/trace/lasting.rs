//! What goes on after its request was answered: a subscription, a tap. For whoever looks on it is a span of its own.

use std::{collections::BTreeMap, sync::Arc};

use edgeplane_types::{SpanId, SubscriptionId, Timestamp, TraceContext};
use edgeplane_wire::api::trace::{Owner, OwnerKind, Segment, Span, SpanStatus};

use crate::{observer::Observer, shared::Shared};

/// Something that goes on.
#[derive(Debug)]
pub(crate) struct Lasting {
    of: Option<(Arc<dyn Observer>, Arc<TraceContext>)>,
    id: SubscriptionId,
    since: Timestamp,
}

impl Lasting {
    /// Begins with the request that is being served.
    pub(crate) fn begin(shared: &Shared, id: SubscriptionId) -> Self {
        Self { of: shared.observer.clone().zip(super::current()), id, since: shared.record.now() }
    }

    /// It is over.
    pub(crate) fn end(self, shared: &Shared) {
        let Some((observer, trace)) = self.of else { return };
        let request = trace.traceparent.span_id;
        let attributes = [
            ("rt.operation", trace.operation.clone()),
            ("rt.subscription.id", self.id.to_string()),
            ("user.id", trace.user_id.to_string()),
        ];
        let span = Span {
            span_id: SpanId::derived(request.as_bytes(), "lasting"),
            parent: Some(request),
            name: format!("{} until its end", trace.operation),
            segment: Segment::Request,
            owner: Owner { kind: OwnerKind::Person, name: trace.user_id.to_string(), of: None },
            start: self.since,
            end: Some(shared.record.now()),
            status: SpanStatus::Ok,
            reason: None,
            quiet: None,
            attributes: BTreeMap::from(attributes.map(|(name, value)| (name.to_owned(), value))),
            events: Vec::new(),
        };
        observer.ended(trace.traceparent.trace_id, &[span]);
    }
}

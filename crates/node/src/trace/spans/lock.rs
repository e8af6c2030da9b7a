//! Waiting for a lock on paths of a workspace, and being refused because of one.

use std::collections::BTreeMap;

use edgeplane_store::CommittedEvent;
use edgeplane_types::{AgentId, Fact, SafeLabel, SpanId};
use edgeplane_wire::api::trace::{Owner, OwnerKind, Segment, Span, SpanStatus};

use super::{Drawing, attribute};

impl Drawing<'_> {
    /// What a change says of a lock that its request waits for.
    pub(super) fn lock(&mut self, change: &CommittedEvent, request: SpanId) {
        let reason = match &change.event.fact {
            Fact::LockWaiting(waiting) => {
                let span = of_wait((change, request), &waiting.paths, (&waiting.holder, waiting.agent_id));
                self.spans.push(span);
                self.settle(request, None, SpanStatus::Open);
                return;
            }
            Fact::LockAcquired(_) => None,
            Fact::LockRefused(refused) if refused.cut => {
                Some((refused, "the node ended while it waited".to_owned()))
            }
            Fact::LockRefused(refused) => {
                let by = refused.token.map(|token| format!(" under token {token}")).unwrap_or_default();
                Some((refused, format!("locked by `{}`{by}", refused.holder)))
            }
            _ => return,
        };
        let status = if reason.is_some() { SpanStatus::Error } else { SpanStatus::Ok };
        let is_wait = |span: &&mut Span| {
            span.segment == Segment::WorkspaceLock
                && span.parent == Some(request)
                && span.status == SpanStatus::Open
        };
        let end = Some(change.event.ts);
        match (self.spans.iter_mut().find(is_wait), reason) {
            (Some(wait), reason) => {
                (wait.end, wait.status, wait.reason) = (end, status, reason.map(|(_, text)| text));
                wait.events.push(change.pos);
            }
            (None, Some((refused, text))) => {
                let whose = (&refused.holder, refused.agent_id);
                let span = of_wait((change, request), &refused.paths, whose);
                self.spans.push(Span { end, status, reason: Some(text), ..span });
            }
            (None, None) => return,
        }
        self.settle(request, end, status);
    }

    fn settle(&mut self, request: SpanId, end: Option<edgeplane_types::Timestamp>, status: SpanStatus) {
        if let Some(span) = self.spans.iter_mut().find(|span| span.span_id == request) {
            (span.end, span.status) = (end, status);
        }
    }
}

fn of_wait(
    (change, request): (&CommittedEvent, SpanId),
    paths: &[String],
    (holder, agent): (&SafeLabel, Option<AgentId>),
) -> Span {
    let kind = if agent.is_some() { OwnerKind::Agent } else { OwnerKind::Person };
    let mut span = Span {
        span_id: SpanId::derived(change.event.id.as_bytes(), "lock"),
        parent: Some(request),
        name: format!("wait for a lock of {holder}"),
        segment: Segment::WorkspaceLock,
        owner: Owner { kind, name: holder.to_string(), of: None },
        start: change.event.ts,
        end: None,
        status: SpanStatus::Open,
        reason: None,
        quiet: None,
        attributes: BTreeMap::new(),
        events: vec![change.pos],
    };
    attribute(&mut span, "rt.lock.paths", paths.join(" "));
    span
}

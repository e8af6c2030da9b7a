//! Calls of capabilities in a turn: how long each took, and which were refused.

use edgeplane_types::{
    Fact, InvocationCause, InvocationId, InvocationState, PolicyAction, SpanId, Timestamp,
    fact::{InvocationRequested, RequestRefused},
};
use edgeplane_wire::api::trace::{Owner, OwnerKind, Segment, Span, SpanStatus};

use super::{Drawing, Passage, attribute, turn::left_open};

impl Drawing<'_> {
    /// Draws what was called in a turn, and what was not let.
    pub(super) fn calls(&mut self, passage: &Passage, (from, until): (Timestamp, Option<Timestamp>)) {
        let id = passage.envelope.id;
        for event in &passage.events {
            match &event.event.fact {
                Fact::InvocationRequested(asked) if asked.causation == Some(id) => {
                    self.call(passage, asked, until);
                }
                // An agent does one thing at a time: what it was refused meanwhile belongs to this turn.
                Fact::RequestRefused(RequestRefused {
                    action: PolicyAction::Invoke,
                    capability,
                    causation,
                    rule,
                    reason,
                    ..
                }) if causation.is_none_or(|of| of == id)
                    && event.event.ts >= from
                    && until.is_none_or(|until| event.event.ts <= until) =>
                {
                    let mut span = self.refusal(passage, &format!("refused {}", event.pos), event.event.ts);
                    span.name = match capability {
                        Some(name) => format!("call of `{name}`"),
                        None => "call of a connector".to_owned(),
                    };
                    span.reason = Some(format!("{reason}: rule {rule}"));
                    span.events.push(event.pos);
                    self.spans.push(span);
                }
                _ => {}
            }
        }
    }

    fn refusal(&self, passage: &Passage, what: &str, at: Timestamp) -> Span {
        let mut span = self.part(passage, what, at);
        span.parent = Some(SpanId::of_turn(&passage.envelope.id));
        span.segment = Segment::ConnectorPermission;
        span.owner = Owner { kind: OwnerKind::Node, name: "node".to_owned(), of: Some(span.owner.name) };
        (span.end, span.status) = (Some(at), SpanStatus::Error);
        span
    }

    /// From its beginning: what it waited for leave is a span of its own.
    fn call(&mut self, passage: &Passage, asked: &InvocationRequested, until: Option<Timestamp>) {
        let (id, name) =
            (asked.invocation_id, format!("{}{}/{}", asked.backing.prefix(), asked.owner, asked.native_id));
        let Some((begun_at, begun_pos)) = moment(passage, id, |fact| match fact {
            Fact::InvocationBegun(begun) => Some(begun.invocation_id),
            _ => None,
        }) else {
            return;
        };
        let mut span = self.tool(passage, &format!("call {id}"), &name, begun_at);
        attribute(&mut span, "gen_ai.tool.type", "extension");
        attribute(&mut span, "rt.invocation.id", id.to_string());
        attribute(&mut span, "rt.capability.id", asked.capability_id.to_string());
        span.events.push(begun_pos);
        let ended = passage.events.iter().find_map(|event| match &event.event.fact {
            Fact::InvocationEnded(ended) if ended.invocation_id == id => Some((event, ended)),
            _ => None,
        });
        if let Some((event, ended)) = ended {
            span.end = Some(event.event.ts.max(span.start));
            span.status = match ended.state {
                InvocationState::Succeeded => SpanStatus::Ok,
                InvocationState::OutcomeUnknown => SpanStatus::Unknown,
                _ => SpanStatus::Error,
            };
            span.reason.clone_from(&ended.reason);
            span.events.push(event.pos);
            if ended.cause == Some(InvocationCause::Credentials) {
                let mut refusal = self.refusal(passage, &format!("refused {id}"), event.event.ts);
                refusal.name = format!("call of `{name}`");
                refusal.reason.clone_from(&ended.reason);
                refusal.events.push(event.pos);
                self.spans.push(refusal);
            }
        }
        left_open(&mut span, until);
        self.spans.push(span);
    }
}

/// When something happened to a call.
fn moment(
    passage: &Passage,
    id: InvocationId,
    of: impl Fn(&Fact) -> Option<InvocationId>,
) -> Option<(Timestamp, u64)> {
    let found = passage.events.iter().find(|event| of(&event.event.fact) == Some(id));
    found.map(|event| (event.event.ts, event.pos))
}

//! Values that tests change in the one place that they are about.

use edgeplane_types::{
    AgentId, Assurance, Authority, Channel, DeliveryMode, Envelope, Ingress, MessageId, Priority, Proof,
    SafeLabel, Source,
};

/// A message of `alpha` with nothing special about it: `Envelope { channel, ..sample::envelope() }`.
#[must_use]
pub fn envelope() -> Envelope {
    Envelope {
        id: MessageId::from_parts(1, [7; 10]),
        target: AgentId::from_parts(1, [1; 10]),
        channel: Channel::Peer,
        ingress: Ingress::Signal,
        source: source("alpha"),
        authority: Authority::Delegated,
        on_behalf_of: Vec::new(),
        topic: None,
        origin: None,
        rule: None,
        thread: None,
        into_turn: None,
        fence: None,
        reply_to: None,
        causation: None,
        hops: 0,
        mode: DeliveryMode::Queue,
        priority: Priority::Normal,
        expires_at: None,
        idempotency_key: None,
        traceparent: None,
        content_digest: "0".repeat(64),
        content_bytes: 0,
    }
}

/// Somebody whom the kernel names by the user.
#[must_use]
pub fn source(principal: &str) -> Source {
    Source {
        principal: SafeLabel::sanitized(principal),
        agent_id: None,
        display_name: None,
        proof: Proof::Uid,
        assurance: Assurance::Open,
    }
}

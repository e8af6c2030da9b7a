//! Facts of schedules, actions, tokens and policy.

use edgeplane_store::{Batch, Store};
use edgeplane_types::{
    ActionId, AgentName, Channel, Epoch, Fact, PolicyAction, PolicyLayer, SafeLabel, Scope, Timestamp,
    TokenId, TokenKind,
    decision::{Action, ActionKind, ActionOutcome, Verdict},
    fact::{RequestRefused, TokenCreated},
    schedule::RunCause,
};

use crate::support::{Maker, accepted, agent, message, node, stream, text_body};

/// Something for every model that is about decisions, and a message that waits.
pub(crate) fn decide_something(store: &Store, maker: &Maker, number: u8) {
    let name: AgentName = "daily".parse().unwrap();
    let due_at = Timestamp::from_micros(1);
    let mut asked = action(number, number, 50);
    let subject = text_body("subject");
    asked.subject_digest = Some(subject.digest().to_string());
    let facts = [
        scheduled(&name, "schedule"),
        Fact::ScheduleRan { name, due_at, message_id: message(number), cause: RunCause::Due },
        Fact::ActionOpened { action: Box::new(asked) },
        voted(number, "ann", "d"),
        resolved(number, ActionOutcome::Approved),
        accepted(number, number + 100),
    ];
    let batch = maker.batch(stream(number), facts);
    let bodies = batch.bodies.iter().cloned().chain([subject]).collect();
    store.append(Batch { bodies, ..batch }).unwrap();
    let revoked = Fact::TokenRevoked { token_id: token_id(number), reason: "test".to_owned() };
    let key = Fact::KeyCreated { key_id: label("key"), public_key: "public".to_owned() };
    let loaded = Fact::PolicyLoaded { digest: "d".to_owned(), rules: 1, files: Vec::new() };
    let facts = [token(number, "digest"), revoked, key, loaded, refusal(Some(number), 1)];
    store.append(maker.batch(node(), facts)).unwrap();
}

pub(crate) fn label(text: &str) -> SafeLabel {
    text.parse().unwrap()
}

pub(crate) fn action_id(number: u8) -> ActionId {
    ActionId::from_parts(u64::from(number), [number; 10])
}

pub(crate) fn action(asker: u8, number: u8, expires: i64) -> Action {
    Action {
        id: action_id(number),
        kind: ActionKind::Approval,
        agent_id: agent(asker),
        epoch: Epoch(1),
        principal: label("asker"),
        prompt: "may I".to_owned(),
        choices: Vec::new(),
        schema: None,
        digest: "d".repeat(64),
        subject_digest: None,
        roles: vec![label("release")],
        quorum: 2,
        expires_at: Timestamp::from_micros(expires),
        causation: Some(message(1)),
        idempotency_key: Some(format!("key-{number}")),
    }
}

pub(crate) fn opened(asker: u8, number: u8, expires: i64) -> Fact {
    Fact::ActionOpened { action: Box::new(action(asker, number, expires)) }
}

pub(crate) fn voted(number: u8, who: &str, digest: &str) -> Fact {
    let (action_id, digest) = (action_id(number), digest.repeat(64));
    Fact::ActionVoted { action_id, principal: label(who), digest, verdict: Verdict::APPROVE }
}

pub(crate) fn resolved(number: u8, outcome: ActionOutcome) -> Fact {
    Fact::ActionResolved {
        action_id: action_id(number),
        outcome,
        answer: Some(serde_json::json!({ "go": true })),
        by: vec![label("ann"), label("bob")],
        reason: "quorum".to_owned(),
        told_by: Some(message(2)),
    }
}

pub(crate) fn token_id(number: u8) -> TokenId {
    TokenId::from_parts(u64::from(number), [number; 10])
}

pub(crate) fn token(number: u8, secret_digest: &str) -> Fact {
    Fact::TokenCreated(Box::new(TokenCreated {
        token_id: token_id(number),
        kind: TokenKind::Service,
        principal: label("ci"),
        scopes: vec![Scope::Signal],
        roles: vec![label("release")],
        secret_digest: secret_digest.to_owned(),
        expires_at: Some(Timestamp::from_micros(99)),
        remote: false,
    }))
}

/// Refused requests of one kind.
pub(crate) fn refusal(of: Option<u8>, count: u64) -> Fact {
    Fact::RequestRefused(RequestRefused {
        action: PolicyAction::Send,
        agent_id: of.map(agent),
        principal: label("eve"),
        channel: Some(Channel::Peer),
        capability: None,
        causation: None,
        layer: PolicyLayer::Node,
        rule: label("quiet"),
        reason: "not at night".to_owned(),
        count,
    })
}

pub(crate) fn scheduled(name: &AgentName, spec: &str) -> Fact {
    Fact::ScheduleDeclared {
        name: name.clone(),
        // Only the usual one has a body.
        spec_digest: text_body(spec).digest().to_string(),
        spec_bytes: if spec == "schedule" { 8 } else { 0 },
        in_manifest: true,
    }
}

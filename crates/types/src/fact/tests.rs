//! Facts as they are written.

use super::*;
use crate::AgentId;

#[test]
fn type_name_is_what_serde_writes() {
    let facts = [
        Fact::AgentStopped {},
        Fact::AgentFailed { reason: "x".into() },
        Fact::MemoryDeleted { key: "k".into(), version: 1 },
    ];
    for fact in facts {
        assert_eq!(serde_json::to_value(&fact).unwrap()["type"], fact.type_name());
    }
}

#[test]
fn event_survives_json() {
    let agent = AgentId::from_parts(5, [1; 10]);
    let event = Event {
        id: EventId::from_parts(5, [2; 10]),
        stream: StreamName::Agent(agent),
        seq: 1,
        ts: Timestamp::from_micros(5_000),
        actor: Actor::Node { rule: "supervisor".parse().unwrap() },
        cause: None,
        consumed: Some(Consumed { epoch: Epoch(2), offset: 99 }),
        trace: None,
        fact: Fact::AgentStopped {},
    };
    let text = serde_json::to_string(&event).unwrap();
    assert_eq!(serde_json::from_str::<Event>(&text).unwrap(), event, "{text}");
}

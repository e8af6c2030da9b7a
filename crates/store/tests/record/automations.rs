//! Automations: what fits, and rows that are a function of the record.

use edgeplane_store::{AppendError, Model};
use edgeplane_types::{
    ActsAs, Authority, AutomationCause, AutomationSkip, EventId, Fact, FiringId, FiringState, NodeId,
    StreamName, Timestamp,
    fact::{AutomationEnded, AutomationFired, AutomationSkipped, ResourcePut},
    schedule::RunCause,
};

use crate::support::{Maker, agent, open};

fn firing(number: u8) -> FiringId {
    FiringId::from_parts(1, [number; 10])
}

fn declared() -> Fact {
    Fact::ResourcePut(ResourcePut {
        uri: "edgeplane://automation/a".parse().unwrap(),
        version: 1,
        value_digest: "0".repeat(64),
        value_bytes: 1,
        labels: std::collections::BTreeMap::new(),
        acts_as: Some(ActsAs {
            principal: "uid-0".parse().unwrap(),
            agent_id: None,
            token_id: None,
            authority: Authority::Delegated,
        }),
    })
}

fn fired(number: u8, cause: AutomationCause) -> Fact {
    Fact::AutomationFired(Box::new(AutomationFired {
        firing_id: firing(number),
        automation: "a".parse().unwrap(),
        version: 1,
        key: cause.key(),
        cause,
        hops: 0,
    }))
}

fn event(pos: u64) -> AutomationCause {
    let event_id = EventId::from_parts(pos, [1; 10]);
    AutomationCause::Event { event_id, pos, event_type: "task.moved".to_owned() }
}

fn due(micros: i64) -> AutomationCause {
    AutomationCause::Schedule { due_at: Timestamp::from_micros(micros), cause: RunCause::Due }
}

fn ended(number: u8, state: FiringState) -> Fact {
    let automation = "a".parse().unwrap();
    Fact::AutomationEnded(AutomationEnded {
        firing_id: firing(number),
        automation,
        state,
        error: None,
        reason: None,
    })
}

fn skipped(pos: Option<u64>, to: i64) -> Fact {
    Fact::AutomationSkipped(AutomationSkipped {
        automation: "a".parse().unwrap(),
        reason: AutomationSkip::Hops,
        count: 3,
        from: Timestamp::from_micros(to),
        to: Timestamp::from_micros(to),
        pos,
    })
}

/// Proves AUT-004.
#[test]
fn an_automation_fires_once_for_each_cause_and_ends_once() {
    let dir = tempfile::tempdir().unwrap();
    let (store, maker) = (open(dir.path()), Maker::default());
    let node = StreamName::Node(NodeId::from_parts(1, [9; 10]));
    let append = |stream, facts: Vec<Fact>| store.append(maker.batch(stream, facts));
    append(node, vec![declared(), fired(1, event(7)), fired(2, event(8))]).unwrap();
    for wrong in [fired(3, event(7)), fired(1, event(9)), ended(4, FiringState::Failed)] {
        assert!(matches!(append(node, vec![wrong.clone()]), Err(AppendError::Refused { .. })), "{wrong:?}");
    }
    let elsewhere = StreamName::Agent(agent(1));
    assert!(matches!(append(elsewhere, vec![fired(3, event(9))]), Err(AppendError::Refused { .. })));
    let reader = store.reader();
    assert_eq!((reader.automations_seen().unwrap(), reader.open_firings_of("a").unwrap()), (8, 2));
    append(node, vec![ended(1, FiringState::Succeeded), skipped(Some(12), 5)]).unwrap();
    assert!(matches!(append(node, vec![ended(1, FiringState::Failed)]), Err(AppendError::Refused { .. })));
    let late = 9_000_000_000_000_000;
    append(node, vec![fired(5, due(late)), ended(5, FiringState::Failed)]).unwrap();
    let row = reader.automation("a").unwrap().unwrap();
    assert_eq!((row.fired, row.failed, row.skipped), (3, 1, 3));
    assert_eq!((row.accounted_until.as_micros(), reader.automations_seen().unwrap()), (late, 12));
    assert_eq!(reader.firing_by_key("a", &event(8).key()).unwrap().unwrap().fired.firing_id, firing(2));
    let before = reader.model_digest(Model::Automations).unwrap();
    store.rebuild(Model::Automations).unwrap();
    assert_eq!(reader.model_digest(Model::Automations).unwrap(), before);
}

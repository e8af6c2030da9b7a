//! Calls of capabilities: begun once, ended once, and rows that are a function of the record.

use edgeplane_store::{AppendError, Model};
use edgeplane_types::{
    BackingKind, CapabilityId, CapabilityKind, EffectClass, Fact, InvocationId, InvocationState, Permission,
    fact::{InvocationBegun, InvocationEnded, InvocationRequested},
};

use crate::support::{Maker, declared, node, open, stream, text_body};

fn id(number: u8) -> InvocationId {
    InvocationId::from_parts(1_000, [number; 10])
}

fn requested(number: u8, permission: Permission) -> Fact {
    Fact::InvocationRequested(Box::new(InvocationRequested {
        invocation_id: id(number),
        capability_id: CapabilityId::from_parts(1, [1; 10]),
        backing: BackingKind::Connector,
        owner: "tools".parse().unwrap(),
        offered_by: None,
        kind: CapabilityKind::Tool,
        native_id: "echo".to_owned(),
        capability_digest: "d".to_owned(),
        input_digest: text_body("{}").digest().to_string(),
        shown_digest: text_body("{}").digest().to_string(),
        shown_bytes: 2,
        effect: EffectClass::External,
        permission,
        rule: "connector-default".parse().unwrap(),
        timeout_ms: 1_000,
        epoch: None,
        causation: None,
        hooks: Vec::new(),
    }))
}

fn begun(number: u8) -> Fact {
    Fact::InvocationBegun(InvocationBegun { invocation_id: id(number), checkpoint_id: None })
}

fn ended(number: u8, state: InvocationState) -> Fact {
    Fact::InvocationEnded(InvocationEnded {
        invocation_id: id(number),
        state,
        reason: None,
        cause: None,
        output_digest: None,
        output_bytes: 0,
        hooks: Vec::new(),
    })
}

/// Proves CAP-005, CAP-006.
#[test]
fn a_call_begins_once_and_ends_once() {
    let dir = tempfile::tempdir().unwrap();
    let (store, maker) = (open(dir.path()), Maker::default());
    store.append(maker.batch(stream(1), [declared(1, "a"), requested(1, Permission::Ask)])).unwrap();
    let append = |fact: Fact| store.append(maker.batch(stream(1), [fact]));
    let state = |number| store.reader().invocation(&id(number)).unwrap().unwrap().state;
    assert_eq!(state(1), InvocationState::Waiting);
    append(begun(1)).unwrap();
    assert_eq!(state(1), InvocationState::Running);
    let refused = |fact: Fact| matches!(append(fact), Err(AppendError::Refused { .. }));
    assert!(refused(begun(1)) && refused(requested(1, Permission::Ask)) && refused(begun(2)));
    append(ended(1, InvocationState::Succeeded)).unwrap();
    assert!(refused(ended(1, InvocationState::Failed)) && refused(begun(1)));
    let row = store.reader().invocation(&id(1)).unwrap().unwrap();
    assert_eq!(
        (row.state, row.begun_at.is_some(), row.agent.is_some()),
        (InvocationState::Succeeded, true, true)
    );

    store.append(maker.batch(node(), [requested(3, Permission::Allow)])).unwrap();
    let open_ones = store.reader().open_invocations(10, 0).unwrap();
    assert_eq!(open_ones.iter().map(|row| row.asked.invocation_id).collect::<Vec<_>>(), [id(3)]);
    let before = store.reader().model_digest(Model::Invocations).unwrap();
    store.rebuild(Model::Invocations).unwrap();
    assert_eq!(store.reader().model_digest(Model::Invocations).unwrap(), before);
}

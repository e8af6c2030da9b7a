//! What agents offer: bound to an epoch that lives, gone with it, and rows that are a function of the record.

use edgeplane_store::{AppendError, Model};
use edgeplane_types::{
    CapabilityId, CapabilityKind, EffectClass, Epoch, Fact, InvocationId, Permission,
    fact::{CapabilityCalled, CapabilityRegistered, CapabilityWithdrawn, Cause},
};

use crate::support::{Maker, agent, declared, exited, open, starting, stream, text_body};

fn id(number: u8) -> CapabilityId {
    CapabilityId::from_parts(1, [number; 10])
}

fn registered(number: u8, epoch: u64) -> Fact {
    Fact::CapabilityRegistered(Box::new(CapabilityRegistered {
        capability_id: id(number),
        name: format!("tool-{number}").parse().unwrap(),
        epoch: Epoch(epoch),
        kind: CapabilityKind::Tool,
        effect: EffectClass::External,
        vouched: false,
        permission: Permission::Ask,
        timeout_ms: 1_000,
        capability_digest: text_body("{}").digest().to_string(),
        capability_bytes: 2,
    }))
}

fn withdrawn(number: u8, epoch: u64) -> Fact {
    let (capability_id, name) = (id(number), format!("tool-{number}").parse().unwrap());
    Fact::CapabilityWithdrawn(CapabilityWithdrawn { capability_id, name, epoch: Epoch(epoch) })
}

fn called(number: u8, epoch: u64) -> Fact {
    Fact::CapabilityCalled(CapabilityCalled {
        invocation_id: InvocationId::from_parts(1, [number; 10]),
        capability_id: id(number),
        name: format!("tool-{number}").parse().unwrap(),
        epoch: Epoch(epoch),
    })
}

/// Proves CAP-030, CAP-033.
#[test]
fn only_an_epoch_that_lives_offers_something() {
    let dir = tempfile::tempdir().unwrap();
    let (store, maker) = (open(dir.path()), Maker::default());
    let append = |fact: Fact| store.append(maker.batch(stream(1), [fact]));
    let fits = |fact: Fact| match append(fact) {
        Ok(_) => true,
        Err(AppendError::Refused { .. }) => false,
        Err(other) => panic!("{other}"),
    };
    append(declared(1, "a")).unwrap();
    assert!(!fits(registered(1, 1)), "no epoch lives");
    append(starting(1, Cause::Request)).unwrap();
    assert!(!fits(registered(1, 2)) && fits(registered(1, 1)) && fits(registered(2, 1)));
    assert!(fits(called(1, 1)) && !fits(called(1, 2)) && !fits(called(3, 1)));
    assert!(fits(withdrawn(2, 1)) && !fits(withdrawn(2, 1)) && !fits(called(2, 1)));
    let live = || store.reader().offers(None, 10).unwrap().len();
    let names = |number| store.reader().offer_by_id(&id(number)).unwrap().map(|row| row.is_gone);
    assert_eq!((live(), names(1), names(2)), (1, Some(false), Some(true)));
    assert!(store.reader().offering(&agent(1), Epoch(1)).unwrap());
    append(exited(1, 0)).unwrap();
    assert!(!store.reader().offering(&agent(1), Epoch(1)).unwrap());
    assert!(!fits(called(1, 1)) && !fits(registered(1, 1)));
    append(starting(2, Cause::Request)).unwrap();
    assert_eq!((live(), names(1)), (0, Some(true)));
    assert!(fits(registered(1, 2)) && !fits(registered(1, 1)));
    assert_eq!(store.reader().offer(&agent(1), &"tool-1".parse().unwrap()).unwrap().unwrap().agent, agent(1));
    // What two epochs have not offered nobody is told of any more.
    append(exited(2, 0)).unwrap();
    append(starting(3, Cause::Request)).unwrap();
    assert_eq!((names(1), names(2)), (Some(true), None));
    let before = store.reader().model_digest(Model::Offers).unwrap();
    store.rebuild(Model::Offers).unwrap();
    assert_eq!(store.reader().model_digest(Model::Offers).unwrap(), before);
}

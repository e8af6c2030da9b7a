//! What is exported meets the standard.

use std::collections::{BTreeMap, BTreeSet};

use edgeplane_projection::find;
use proptest::prelude::*;
use serde_json::Value;

use crate::{
    lives::{World, world},
    schemas::{check, validator},
    support::{agents, of_session, run},
};

/// Every exported event of every session, with the strict schemas as they are.
fn exported(world: &World, name: &str) -> Vec<Vec<Value>> {
    let each = agents(world).into_iter().map(|of| {
        let (_, said) = run(find(name).unwrap(), &of_session(world, of), &world.record);
        said.iter().map(|numbered| numbered.entry.payload.value()).collect()
    });
    each.collect()
}

fn check_world(world: &World) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    let (public, strict) = (validator("agentruntime-event"), validator("agentruntime-lime-profile-event"));
    for events in exported(world, "agentruntime.lime") {
        for (event, sequence) in events.iter().zip(1_u64..) {
            check(&public, event);
            check(&strict, event);
            assert_eq!(event["sequence"], sequence, "gapless from 1");
            *counts.entry(event["type"].as_str().unwrap().to_owned()).or_default() += 1;
        }
    }
    for events in exported(world, "agentruntime.events") {
        for event in &events {
            check(&public, event);
            assert_ne!(event["schemaVersion"], "lime-profile-0.4.0", "the profile's name is the profile's");
            // But for that name the two are the same.
            let mut strictly = event.clone();
            strictly["schemaVersion"] = "lime-profile-0.4.0".into();
            check(&strict, &strictly);
        }
        let ids: BTreeSet<_> = events.iter().map(|event| event["eventId"].as_str().unwrap()).collect();
        assert_eq!(ids.len(), events.len(), "an id names one event");
    }
    counts
}

fn check_snapshots(world: &World) {
    let (public, strict) =
        (validator("agentruntime-snapshot"), validator("agentruntime-lime-profile-snapshot"));
    for of in agents(world) {
        let subject = of_session(world, of);
        for (name, is_strict) in
            [("session.snapshot", false), ("agentruntime.events", false), ("agentruntime.lime", true)]
        {
            let (running, _) = run(find(name).unwrap(), &subject, &world.record);
            let state = running.state();
            check(&public, &state);
            assert_eq!(strict.is_valid(&state), is_strict, "{name}");
            if is_strict {
                check(&strict, &state);
            }
        }
    }
}

/// Proves PROJ-010 and PROJ-011: a busy node's sessions, with all that can happen in them.
#[test]
fn a_busy_nodes_events_and_snapshots_meet_the_schemas() {
    let busy = world(7, 4, 30_000, false);
    let counts = check_world(&busy);
    check_snapshots(&busy);
    println!("{counts:#?}");
    // A generator that made only a few kinds of events would prove little.
    assert!(counts.len() >= 38, "{} types: {counts:#?}", counts.len());
}

/// Proves PROJ-012: what has no turn gets the session's system turn, the same in every fold of the session.
#[test]
fn what_belongs_to_no_turn_has_the_system_turn() {
    let busy = world(11, 2, 8_000, false);
    for (events, of) in exported(&busy, "agentruntime.lime").iter().zip(agents(&busy)) {
        let messages = crate::support::messages(&busy, of.0);
        let known: BTreeSet<_> =
            messages.iter().map(|message| edgeplane_projection::turn_of(*message).to_string()).collect();
        let hooks: BTreeSet<_> = events
            .iter()
            .filter(|event| event["type"].as_str().unwrap().starts_with("hook."))
            .map(|event| event["turnId"].as_str().unwrap())
            .collect();
        assert!(hooks.len() <= 1, "one system turn a session: {hooks:?}");
        assert!(hooks.iter().all(|turn| !known.contains(*turn)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Proves PROJ-010 and PROJ-011 for random lives.
    #[test]
    fn whatever_happens_is_exported_validly(seed: u64, events in 10_usize..600) {
        let world = world(seed, 2, events, seed % 2 == 0);
        check_world(&world);
        check_snapshots(&world);
    }
}

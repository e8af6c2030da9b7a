//! Folds are pure: the same events give the same, however they come.

use edgeplane_projection::{Definition, PROJECTIONS, Running, Subject, find};
use edgeplane_types::StreamName;
use proptest::prelude::*;

use crate::{
    lives::{Stored, world},
    support::{agents, all, input, of_agent, of_node, run},
};

/// Folds with a checkpoint, a stop and a start behind each of these places.
fn with_stops(
    definition: &'static Definition,
    subject: &Subject,
    record: &[Stored],
    stops: &[usize],
) -> Running {
    let mut running = Running::new(definition, subject);
    for (at, stored) in record.iter().enumerate() {
        running.fold(&input(stored));
        if stops.contains(&at) {
            let saved = running.save();
            let loaded = Running::load(definition, subject, &saved).unwrap();
            assert_eq!((loaded.n(), loaded.as_of()), (running.n(), running.as_of()));
            assert_eq!(loaded.save(), saved, "{definition:?} saves what it loaded");
            running = loaded;
        }
    }
    running
}

/// Folds only what the definition takes and passes over the rest, as a runner with an index of types does.
fn filtered(definition: &'static Definition, subject: &Subject, record: &[Stored]) -> Running {
    let mut running = Running::new(definition, subject);
    for stored in record {
        if (definition.takes)(stored.event.fact.type_name()) {
            running.fold(&input(stored));
        } else if subject.is_node() || subject.agent.map(StreamName::Agent) == Some(stored.event.stream) {
            running.skip_to(subject.source(&input(stored)));
        }
    }
    running
}

fn check(seed: u64, events: usize, stops: &[usize]) {
    let world = world(seed, 2, events, seed.is_multiple_of(3));
    for (definition, subject) in all(&world) {
        let (running, said) = run(definition, &subject, &world.record);
        let numbers: Vec<_> = said.iter().map(|numbered| numbered.n).collect();
        assert_eq!(numbers, (1..=running.n()).collect::<Vec<_>>(), "{definition:?} is gapless from 1");
        assert!(said.is_sorted_by_key(|numbered| numbered.source), "{definition:?} goes forward");
        let again = run(definition, &subject, &world.record).0;
        assert_eq!(again.digest(), running.digest(), "{definition:?} is deterministic");
        let stopped = with_stops(definition, &subject, &world.record, stops);
        assert_eq!(stopped.digest(), running.digest(), "{definition:?} goes on from a checkpoint");
        assert_eq!(stopped.state(), running.state());
        let filtered = filtered(definition, &subject, &world.record);
        assert_eq!(filtered.digest(), running.digest(), "{definition:?} does not need what it refuses");
        assert_eq!((filtered.as_of(), filtered.n()), (running.as_of(), running.n()), "{definition:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Proves PROJ-001, PROJ-002, PROJ-003 and PROJ-004.
    #[test]
    fn the_same_events_give_the_same(seed: u64, events in 5_usize..500, stops in prop::collection::vec(0_usize..500, 0..5)) {
        check(seed, events, &stops);
    }
}

/// Proves PROJ-002.
#[test]
fn a_digest_covers_every_envelope_and_the_state() {
    let world = world(3, 1, 2_000, false);
    for (definition, subject) in all(&world) {
        let (running, said) = run(definition, &subject, &world.record);
        let Some(last) = said.last() else { continue };
        let shorter: Vec<_> = world
            .record
            .iter()
            .filter(|stored| subject.source(&input(stored)) < last.source)
            .cloned()
            .collect();
        let (before, _) = run(definition, &subject, &shorter);
        assert_ne!(before.digest(), running.digest(), "{definition:?}");
        // One microsecond of one event is enough.
        let mut changed = world.record.clone();
        let at = changed.iter().position(|stored| stored.event.id == last.event_id.event).unwrap();
        let ts = changed[at].event.ts.as_micros() + 1;
        changed[at].event.ts = edgeplane_types::Timestamp::from_micros(ts);
        assert_ne!(run(definition, &subject, &changed).0.digest(), running.digest(), "{definition:?}");
    }
}

/// Proves PROJ-005.
#[test]
fn a_checkpoint_of_something_else_is_refused() {
    let world = world(5, 2, 600, false);
    let everyone = agents(&world);
    let all = all(&world);
    for (definition, subject) in &all {
        let saved = run(definition, subject, &world.record).0.save();
        assert!(Running::load(definition, subject, &saved).is_some());
        for (other, of) in &all {
            if (other.name, &of.target) != (definition.name, &subject.target) {
                assert!(Running::load(other, of, &saved).is_none(), "{other:?} took {definition:?}");
            }
        }
        let version = format!("\"version\":{}", definition.version);
        let text = String::from_utf8(saved).unwrap();
        let newer = text.replacen(&version, "\"version\":99", 1);
        assert_ne!(newer, text);
        assert!(Running::load(definition, subject, newer.as_bytes()).is_none());
        for bad in ["", "{}", "null", &text[..text.len() / 2]] {
            assert!(Running::load(definition, subject, bad.as_bytes()).is_none(), "{bad}");
        }
    }
    let status = find("agent.status").unwrap();
    let saved = run(status, &of_agent(&world, everyone[0]), &world.record).0.save();
    assert!(Running::load(status, &of_agent(&world, everyone[1]), &saved).is_none());
}

/// Proves PROJ-004.
#[test]
fn a_double_and_another_stream_change_nothing() {
    let world = world(9, 2, 800, false);
    let everyone = agents(&world);
    for (definition, subject) in all(&world) {
        let (mut running, _) = run(definition, &subject, &world.record);
        let (digest, n, as_of) = (running.digest(), running.n(), running.as_of());
        for stored in &world.record {
            assert!(running.fold(&input(stored)).is_empty(), "{definition:?} said something twice");
        }
        assert_eq!((running.digest(), running.n(), running.as_of()), (digest.clone(), n, as_of));
        let own: Vec<_> = world
            .record
            .iter()
            .filter(|stored| match stored.event.stream {
                _ if subject.is_node() => true,
                StreamName::Task(root) => subject.work || subject.task == Some(root),
                stream => stream == StreamName::Agent(everyone[0].0),
            })
            .cloned()
            .collect();
        assert_eq!(
            run(definition, &subject, &own).0.digest(),
            digest,
            "{definition:?} needs only its streams"
        );
    }
}

/// Proves PROJ-006.
#[test]
fn causes_never_point_forward_and_ids_are_unique() {
    let world = world(21, 3, 3_000, false);
    let place: std::collections::BTreeMap<_, _> =
        world.record.iter().map(|stored| (stored.event.id, stored.pos)).collect();
    for (definition, subject) in all(&world) {
        let (_, said) = run(definition, &subject, &world.record);
        let ids: std::collections::BTreeSet<_> =
            said.iter().map(|numbered| numbered.event_id.to_string()).collect();
        assert_eq!(ids.len(), said.len(), "{definition:?}");
        for numbered in &said {
            let own = place[&numbered.event_id.event];
            if let Some(cause) = numbered.entry.causation {
                assert!(place[&cause] < own, "{definition:?}");
            }
            let json = numbered.to_json();
            assert_eq!(json["event_id"], numbered.event_id.to_string());
            assert_eq!(json["type"], numbered.entry.kind);
            assert_eq!(json["seq"], numbered.source);
            assert!(json["payload"].is_object() && json["ids"].is_object(), "{json}");
            assert_eq!(json.get("refs").is_some(), !numbered.entry.refs.is_empty());
            assert_eq!(json.get("trace").is_some(), numbered.entry.trace.is_some());
        }
    }
}

/// Proves PROJ-008.
#[test]
fn states_and_checkpoints_of_long_histories_are_bounded() {
    let (short, long) = (world(2, 1, 10_000, true), world(2, 1, 30_000, true));
    for ((definition, subject), (_, of_long)) in all(&short).into_iter().zip(all(&long)) {
        let small = run(definition, &subject, &short.record).0;
        let large = run(definition, &of_long, &long.record).0;
        let state = large.state().to_string().len();
        assert!(state < 400_000, "{definition:?}: a state of {state} bytes");
        let (small, large) = (small.save().len(), large.save().len());
        assert!(large < 4_000_000, "{definition:?}: a checkpoint of {large} bytes after {small}");
    }
}

/// Proves PROJ-009.
#[test]
fn each_projection_is_found_by_its_name() {
    for definition in PROJECTIONS {
        assert_eq!(find(definition.name).unwrap().name, definition.name);
        assert!(
            !definition.targets.is_empty() && definition.version > 0 && definition.summary.ends_with('.')
        );
    }
    let mut names: Vec<_> = PROJECTIONS.iter().map(|definition| definition.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), PROJECTIONS.len());
    assert!(find("log").is_none(), "the record itself is no fold");
    let world = world(1, 1, 50, false);
    assert_eq!(Running::new(find("queue").unwrap(), &of_node(&world)).n(), 0);
}

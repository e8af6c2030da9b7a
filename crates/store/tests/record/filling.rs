//! A full disk: nothing is acknowledged that is not durable, stop and exit are, and nothing is lost or doubled.

use std::{
    path::Path,
    sync::{Arc, Mutex},
};

use edgeplane_store::{AppendError, Committed, Health, Options, Store};
use edgeplane_types::{Desired, Fact};

use crate::support::{
    Maker, OPTIONS, Tmpfs, agent, assert_sound, declared, desired, exited, node, note, open, positions,
    started, starting, stream, together,
};

/// Pages enough for the tables and some events.
const PAGES: u32 = 208;

fn small(dir: &Path) -> Store {
    let options = Options { database_pages_max: Some(PAGES), ..OPTIONS };
    Store::open(dir, &options).unwrap().0
}

/// Appends until there is no room; returns how many were taken.
fn fill(store: &Store, maker: &Maker) -> u64 {
    for taken in 0.. {
        match store.append(maker.batch(node(), [note(&"x".repeat(3_000))])) {
            Ok(_) => {}
            Err(AppendError::StorageFull) => return taken,
            Err(other) => panic!("{other:?}"),
        }
        assert!(taken < 100_000, "the disk is not as small as it should be");
    }
    unreachable!()
}

fn stop(maker: &Maker) -> [edgeplane_store::Batch; 2] {
    [
        maker.critical(stream(1), [desired(Desired::Stopped)]),
        maker.critical(stream(1), [exited(1, 0), Fact::AgentStopped {}]),
    ]
}

fn begin(store: &Store, maker: &Maker) {
    let facts = [declared(1, "one"), starting(1, edgeplane_types::fact::Cause::Manifest), started(1)];
    store.append(maker.batch(stream(1), facts)).unwrap();
}

/// Proves LIFE-019.
#[test]
fn full_database_takes_only_what_is_critical_and_merges_it_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let (store, maker) = (small(dir.path()), Maker::default());
    begin(&store, &maker);
    let taken = fill(&store, &maker);
    let head = store.reader().head_pos().unwrap();
    assert_eq!(head, 3 + taken);
    // What fits into the last page is still committed; afterwards the reserve takes over.
    let mut held = Vec::new();
    while held.len() < 3 {
        let batch = maker.critical(node(), [note(&format!("{} {}", held.len(), "x".repeat(3_000)))]);
        let committed = store.append(batch).unwrap();
        if committed.held > 0 {
            assert_eq!(committed, Committed { events: Vec::new(), held: 1 });
            held.push(committed);
        }
    }
    for batch in stop(&maker) {
        assert!(store.append(batch).unwrap().held > 0);
    }
    assert!(matches!(store.append(maker.batch(node(), [note("x")])), Err(AppendError::StorageFull)));
    assert!(matches!(store.tick(), Err(AppendError::StorageFull)));
    assert_eq!(store.health(), Health::Degraded { held_events: 6 });
    let before = store.reader().head_pos().unwrap();
    drop(store);

    // There is room again: a larger database.
    let (store, opening) = Store::open(dir.path(), &OPTIONS).unwrap();
    assert_eq!((opening.merged_batches, opening.held_batches, opening.head_pos), (5, 0, before + 6));
    let row = store.reader().agent_by_id(&agent(1)).unwrap().unwrap();
    assert_eq!((row.desired, row.phase), (Desired::Stopped, edgeplane_types::Phase::Stopped));
    assert_sound(&store.reader());
    drop(store);
    let (_store, opening) = Store::open(dir.path(), &OPTIONS).unwrap();
    assert_eq!((opening.merged_batches, opening.head_pos), (0, before + 6));
}

#[test]
fn batches_of_one_commit_part_ways_when_it_fails() {
    let dir = tempfile::tempdir().unwrap();
    let (store, maker) = (small(dir.path()), Maker::default());
    begin(&store, &maker);
    let large = || maker.batch(node(), (0..200).map(|_| note(&"x".repeat(3_000))));
    let [wish, end] = stop(&maker);
    let results = together(&store, &maker, vec![large(), wish, large(), end]);
    assert!(matches!(results[0], Err(AppendError::StorageFull)));
    assert!(matches!(results[2], Err(AppendError::StorageFull)));
    // Alone, they find room.
    assert_eq!(positions(results[1].as_ref().unwrap()), [(5, 4)]);
    assert_eq!(positions(results[3].as_ref().unwrap()), [(6, 5), (7, 6)]);
    assert_eq!(store.health(), Health::Serving);
    assert_sound(&store.reader());
}

/// Proves LIFE-019.
#[test]
fn full_file_system_takes_only_what_is_critical_until_there_is_room() {
    let dir = tempfile::tempdir().unwrap();
    let Some(_tmpfs) = Tmpfs::mount(dir.path(), 4) else { return };
    let (store, maker) = (open(&dir.path().join("record")), Maker::default());
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    store.observe(Arc::new(move |events| log.lock().unwrap().extend(events.iter().map(|event| event.pos))));
    begin(&store, &maker);
    // Somebody else takes all there is, to the last byte.
    let ballast = dir.path().join("ballast");
    assert!(std::fs::write(&ballast, vec![1; 8 << 20]).is_err());
    let taken = fill(&store, &maker);
    let head = 3 + taken;
    let [wish, end] = stop(&maker);
    let large = maker.critical(node(), [note(&"x".repeat(60_000))]);
    assert_eq!(store.append(large).unwrap().held, 1);
    assert_eq!(store.append(wish).unwrap().held, 1);
    assert_eq!(store.append(end).unwrap().held, 2);
    let body = edgeplane_store::Body::new(vec![7; 1 << 20]);
    let with_body = edgeplane_store::Batch { bodies: vec![body], ..maker.batch(node(), [note("x")]) };
    assert!(matches!(store.append(with_body), Err(AppendError::StorageFull)));
    assert_eq!(store.health(), Health::Degraded { held_events: 4 });
    assert_eq!(store.reader().head_pos().unwrap(), head);

    std::fs::remove_file(&ballast).unwrap();
    store.tick().unwrap();
    assert_eq!(store.health(), Health::Serving);
    let after = store.append(maker.batch(node(), [note("x")])).unwrap();
    assert_eq!(after.events[0].pos, head + 5);
    assert_eq!(*seen.lock().unwrap(), (1..=head + 5).collect::<Vec<_>>());
    assert_sound(&store.reader());
    store.close();
    drop(store);
    let store = open(&dir.path().join("record"));
    assert_eq!(store.reader().head_pos().unwrap(), head + 5);
    store.close();
}

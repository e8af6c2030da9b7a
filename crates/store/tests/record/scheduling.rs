//! Schedules: what is in force, what is accounted for, what became of it.

use edgeplane_store::{AppendError, Occurrence, ScheduleRow, Store};
use edgeplane_types::{
    Fact, Timestamp,
    schedule::{MissReason, RunCause, SkipReason},
};

use crate::{
    decisions::scheduled,
    support::{Maker, agent, assert_sound, declared, message, open, stream},
};

fn store(facts: impl IntoIterator<Item = Fact>) -> (tempfile::TempDir, Store, Maker) {
    let dir = tempfile::tempdir().unwrap();
    let (store, maker) = (open(dir.path()), Maker::default());
    store.append(maker.batch(stream(1), facts)).unwrap();
    (dir, store, maker)
}

fn schedule(name: &str, spec: &str) -> Fact {
    scheduled(&name.parse().unwrap(), spec)
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros(seconds * 1_000_000)
}

fn ran(name: &str, due: i64, number: u8, cause: RunCause) -> Fact {
    Fact::ScheduleRan { name: name.parse().unwrap(), due_at: at(due), message_id: message(number), cause }
}

fn skipped(name: &str, due: i64) -> Fact {
    let (due_at, detail) = (at(due), "the one before runs".to_owned());
    Fact::ScheduleSkipped { name: name.parse().unwrap(), due_at, reason: SkipReason::Overlap, detail }
}

fn missed(name: &str, from: i64, to: i64, count: u64) -> Fact {
    let (from, to) = (at(from), at(to));
    Fact::ScheduleMissed { name: name.parse().unwrap(), from, to, count, reason: MissReason::NodeDown }
}

fn removed(name: &str) -> Fact {
    Fact::ScheduleRemoved { name: name.parse().unwrap(), reason: "asked".to_owned() }
}

fn read(store: &Store, name: &str) -> ScheduleRow {
    store.reader().schedule(&agent(1), &name.parse().unwrap()).unwrap().unwrap()
}

fn live(store: &Store) -> Vec<String> {
    store.reader().schedules_of(&agent(1)).unwrap().iter().map(|row| row.name.to_string()).collect()
}

/// Proves MSG-051.
#[test]
fn schedule_is_accounted_for_up_to_its_newest_occurrence() {
    let (_dir, store, maker) = store([schedule("a", "schedule")]);
    let do_ = |fact| drop(store.append(maker.batch(stream(1), [fact])).unwrap());
    let declared_at = read(&store, "a").declared_at;
    assert_eq!(read(&store, "a").accounted_until, declared_at);
    do_(ran("a", 10, 1, RunCause::Due));
    assert_eq!(read(&store, "a").accounted_until, at(10));
    do_(skipped("a", 20));
    assert_eq!(read(&store, "a").accounted_until, at(20));
    do_(missed("a", 30, 50, 3));
    assert_eq!(read(&store, "a").accounted_until, at(50));
    do_(ran("a", 40, 2, RunCause::CatchUp));
    assert_eq!(read(&store, "a").accounted_until, at(50), "it does not go back");
    do_(ran("a", 70, 3, RunCause::Manual));
    let row = read(&store, "a");
    assert_eq!(row.accounted_until, at(50), "what was asked for was not due");
    assert_eq!((row.ran, row.skipped, row.missed, row.last_message), (3, 1, 3, Some(message(3))));
    assert!(row.in_manifest && !row.paused && !row.removed);
    assert_sound(&store.reader());
}

/// Proves MSG-052.
#[test]
fn changed_schedule_begins_anew_and_keeps_its_history() {
    let (_dir, store, maker) = store([schedule("a", "schedule"), ran("a", 10, 1, RunCause::Due)]);
    let do_ = |fact| store.append(maker.batch(stream(1), [fact])).unwrap().events[0].event.ts;
    do_(schedule("a", "schedule"));
    assert_eq!(read(&store, "a").accounted_until, at(10), "the same words change nothing");
    do_(Fact::SchedulePaused { name: "a".parse().unwrap() });
    let changed_at = do_(schedule("a", "other words"));
    let row = read(&store, "a");
    assert_eq!((row.accounted_until, row.declared_at), (changed_at, changed_at));
    assert!(row.paused, "an edit does not resume it");
    assert_eq!(row.ran, 1);

    do_(missed("a", 20, 30, 2));
    do_(removed("a"));
    assert!(live(&store).is_empty() && read(&store, "a").removed);
    let again_at = do_(schedule("a", "other words"));
    let row = read(&store, "a");
    assert_eq!((row.accounted_until, row.paused, row.removed), (again_at, false, false));
    let history = store.reader().schedule_history(&agent(1), &"a".parse().unwrap(), 9, None).unwrap();
    assert_eq!(history.len(), 2);
    assert_sound(&store.reader());
}

/// Proves MSG-052.
#[test]
fn history_is_paged_newest_first() {
    let (_dir, store, maker) = store([schedule("a", "schedule"), schedule("b", "schedule")]);
    let all = [
        ran("a", 10, 1, RunCause::Due),
        ran("b", 15, 2, RunCause::Due),
        skipped("a", 20),
        missed("a", 30, 50, 3),
    ];
    let committed = store.append(maker.batch(stream(1), all)).unwrap();
    let history = |rows, before| {
        store.reader().schedule_history(&agent(1), &"a".parse().unwrap(), rows, before).unwrap()
    };
    let page = history(2, None);
    let rest = history(2, Some(page[1].pos));
    assert_eq!((page.len(), rest.len(), page[0].at), (2, 1, committed.events[3].event.ts));
    let reason = MissReason::NodeDown;
    assert_eq!(page[0].what, Occurrence::Missed { from: at(30), to: at(50), count: 3, reason });
    let detail = "the one before runs".to_owned();
    let reason = SkipReason::Overlap;
    assert_eq!(page[1].what, Occurrence::Skipped { due_at: at(20), reason, detail });
    let (message_id, cause) = (message(1), RunCause::Due);
    assert_eq!(rest[0].what, Occurrence::Ran { due_at: at(10), message_id, cause });
}

#[test]
fn what_is_not_in_force_does_nothing_and_ends_with_its_agent() {
    let (_dir, store, maker) =
        store([declared(1, "one"), schedule("a", "schedule"), schedule("b", "schedule")]);
    store.append(maker.batch(stream(2), [schedule("a", "schedule")])).unwrap();
    assert_eq!(live(&store), ["a", "b"]);
    assert_eq!(store.reader().schedules().unwrap().len(), 3);
    store.append(maker.batch(stream(1), [removed("b"), removed("b")])).unwrap();
    let paused = |name: &str| Fact::SchedulePaused { name: name.parse().unwrap() };
    for fact in [
        removed("c"),
        paused("b"),
        paused("c"),
        ran("b", 1, 1, RunCause::Due),
        skipped("c", 1),
        missed("b", 1, 2, 1),
    ] {
        let result = store.append(maker.batch(stream(1), [fact]));
        let Err(AppendError::Refused { source, .. }) = result else { panic!("{result:?}") };
        assert!(source.to_string().contains("is not declared"), "{source}");
    }
    store.append(maker.batch(stream(1), [paused("a")])).unwrap();
    assert!(read(&store, "a").paused);
    let resumed = Fact::ScheduleResumed { name: "a".parse().unwrap() };
    store.append(maker.batch(stream(1), [resumed])).unwrap();
    assert!(!read(&store, "a").paused);
    store.append(maker.batch(stream(1), [Fact::AgentRetired { reason: "done".to_owned() }])).unwrap();
    assert!(live(&store).is_empty());
    let left: Vec<_> = store.reader().schedules().unwrap().iter().map(|row| row.agent).collect();
    assert_eq!(left, [agent(2)]);
    assert_sound(&store.reader());
}

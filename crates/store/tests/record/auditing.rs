//! Whatever is changed behind the record's back, the audit names it.

use edgeplane_store::{Reader, open::DATABASE_NAME};
use edgeplane_types::{Fact, StreamName};
use rusqlite::Connection;

use crate::decisions::decide_something;
use crate::support::{Maker, assert_sound, audit, life, node, note, open, stream};

/// Makes a record, changes it by `sql`, and finds a problem at `place` that says `what`.
#[track_caller]
fn check(sql: &str, place: Option<(StreamName, u64, &str)>, what: &str) {
    let dir = tempfile::tempdir().unwrap();
    let maker = Maker::default();
    let store = open(dir.path());
    store.append(maker.batch(node(), (0..5).map(|number| note(&format!("note {number}"))))).unwrap();
    store.append(life(&maker, 1)).unwrap();
    store.append(life(&maker, 2)).unwrap();
    decide_something(&store, &maker, 2);
    assert_sound(&store.reader());
    drop(store);
    let conn = Connection::open(dir.path().join(DATABASE_NAME)).unwrap();
    conn.execute_batch(sql).unwrap();
    assert!(conn.total_changes() > 0, "nothing was changed by {sql}");
    drop(conn);
    let report = audit(&Reader::open(dir.path()).unwrap());
    assert!(!report.ok, "not found: {sql}");
    let found = report.problems.iter().any(|problem| {
        let names = (problem.stream, problem.seq, problem.event_type.as_deref());
        let at = place.is_none_or(|(stream, seq, kind)| names == (Some(stream), Some(seq), Some(kind)));
        at && problem.what.contains(what)
    });
    assert!(found, "{sql}: {:#?}", report.problems);
}

/// Proves LIFE-021.
#[test]
fn changed_byte_is_named_by_stream_and_number() {
    let sql =
        "UPDATE event SET body = CAST(replace(CAST(body AS TEXT), 'note 2', 'note X') AS BLOB) WHERE pos = 3";
    check(sql, Some((node(), 3, "node.stopped")), "the leaf hash of event 3 does not match");
}

/// Proves LIFE-021.
#[test]
fn every_column_is_held_against_the_bytes() {
    let at = |seq, kind| Some((stream(1), seq, kind));
    check("UPDATE event SET ts = ts + 1 WHERE pos = 8", at(3, "agent.started"), "another time");
    check("UPDATE event SET type = 'agent.x' WHERE pos = 8", at(3, "agent.x"), "another type");
    check(
        "UPDATE event SET hash = zeroblob(32) WHERE pos = 8",
        at(3, "agent.started"),
        "the hash of event 3",
    );
    check(
        "UPDATE event SET hash = zeroblob(32) WHERE pos = 8",
        at(4, "message.accepted"),
        "the hash of event 4",
    );
    check(
        "UPDATE event SET leaf = zeroblob(32) WHERE pos = 8",
        at(3, "agent.started"),
        "the leaf hash of event 3",
    );
}

/// Proves LIFE-021.
#[test]
fn missing_event_is_named_by_the_one_after() {
    let sql = "DELETE FROM event WHERE pos = 8";
    check(sql, Some((stream(1), 4, "message.accepted")), "event 4 stands where event 3 should");
    check(sql, Some((stream(1), 4, "message.accepted")), "position 9 follows position 7");
}

/// Proves LIFE-021.
#[test]
fn cut_stream_is_named_by_its_noted_end() {
    check("DELETE FROM event WHERE pos = 14", None, "the stream should end with event 9");
    check("UPDATE stream SET seq = seq + 1 WHERE id = 2", None, "the stream should end with event 10");
}

/// Proves LIFE-021.
#[test]
fn swapped_streams_are_named() {
    let sql = format!("UPDATE stream SET name = '{}' WHERE id = 2", stream(7));
    check(&sql, Some((stream(7), 1, "agent.declared")), "another stream");
    check(&sql, Some((stream(7), 1, "agent.declared")), "the hash of event 1");
}

#[test]
fn other_spelling_of_the_same_event_is_named() {
    let sql = "UPDATE event SET body = CAST(replace(CAST(body AS TEXT), ',', ', ') AS BLOB) WHERE pos = 2";
    check(sql, Some((node(), 2, "node.stopped")), "its bytes are not canonical");
}

#[test]
fn bytes_that_are_no_event_are_named() {
    let sql = "UPDATE event SET body = CAST('{}' AS BLOB) WHERE pos = 2";
    check(sql, Some((node(), 2, "node.stopped")), "its bytes are not an event");
}

/// Proves LIFE-021.
#[test]
fn missing_and_changed_bodies_are_named() {
    check("DELETE FROM body", Some((stream(1), 4, "message.accepted")), "is missing");
    check("DELETE FROM body", Some((stream(2), 10, "schedule.declared")), "is missing");
    check("DELETE FROM body", Some((stream(2), 12, "action.opened")), "is missing");
    check("UPDATE body SET bytes = zeroblob(size)", None, "is not what its digest was made of");
}

/// Proves LIFE-022.
#[test]
fn changed_row_of_a_model_is_named() {
    for (sql, model) in [
        ("UPDATE agent SET desired = '\"stopped\"'", "agents"),
        ("DELETE FROM epoch", "epochs"),
        ("UPDATE message SET waiting = 1", "messages"),
        ("UPDATE memory_total SET keys = 7", "memory"),
        ("UPDATE segment SET to_offset = 1", "recordings"),
        ("DELETE FROM lane", "messages"),
        ("UPDATE sender SET served = 1", "messages"),
        ("UPDATE rung_total SET messages = messages + 1", "messages"),
        ("UPDATE schedule SET paused = 1", "schedules"),
        ("DELETE FROM occurrence", "schedules"),
        ("UPDATE action SET resolved_pos = NULL", "actions"),
        ("DELETE FROM vote", "actions"),
        ("UPDATE token SET revoked_pos = NULL", "tokens"),
        ("UPDATE node_key SET public_key = 'other'", "keys"),
        ("DELETE FROM refusal", "policies"),
        ("DELETE FROM policy", "policies"),
    ] {
        check(sql, None, &format!("model `{model}` is not what the events make"));
    }
}

#[test]
fn database_that_cannot_be_read_is_a_problem_not_a_panic() {
    let dir = tempfile::tempdir().unwrap();
    let maker = Maker::default();
    let store = open(dir.path());
    for _ in 0..20 {
        store.append(maker.batch(node(), (0..50).map(|_| note(&"x".repeat(400))))).unwrap();
    }
    drop(store);
    let path = dir.path().join(DATABASE_NAME);
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 40_960].fill(0xA5);
    std::fs::write(&path, bytes).unwrap();
    assert!(!audit(&Reader::open(dir.path()).unwrap()).ok);
}

#[test]
fn audit_sees_one_state_while_appends_go_on() {
    let dir = tempfile::tempdir().unwrap();
    let (store, maker) = (open(dir.path()), Maker::default());
    store.append(maker.batch(node(), (0..9_000).map(|_| note("x")))).unwrap();
    store.append(life(&maker, 1)).unwrap();
    let mut calls = 0;
    let report = edgeplane_store::verify(&store.reader(), &mut |progress| {
        calls += 1;
        assert_eq!(progress.head_pos, 9_009);
        let fact = Fact::AgentBackedOff { delay_ms: 1, restarts: 1 };
        store.append(maker.batch(stream(1), [fact])).unwrap();
    });
    let report = report.unwrap();
    assert!(report.ok, "{:#?}", report.problems);
    assert_eq!((report.events, report.streams, calls), (9_009, 2, 3));
    assert_sound(&store.reader());
}

/// Looks at the chain of the first agent's stream from its second event on, after a change by `sql`.
#[track_caller]
fn check_chain(sql: &str, rows: usize, expected: (u64, Option<&str>)) {
    let dir = tempfile::tempdir().unwrap();
    let maker = Maker::default();
    let store = open(dir.path());
    store.append(life(&maker, 2)).unwrap();
    store.append(life(&maker, 1)).unwrap();
    let second = store.reader().events(&stream(1), 2, 1).unwrap()[0].pos;
    drop(store);
    let conn = Connection::open(dir.path().join(DATABASE_NAME)).unwrap();
    conn.execute_batch(&sql.replace("STREAM", "(SELECT id FROM stream ORDER BY id DESC LIMIT 1)")).unwrap();
    drop(conn);
    let found = Reader::open(dir.path()).unwrap().verify_chain(&stream(1), second, rows).unwrap().unwrap();
    assert_eq!((found.from, found.head), (2, 9), "{sql}: {found:?}");
    assert_eq!(found.verified_to, expected.0, "{sql}: {found:?}");
    match expected.1 {
        Some(what) => assert!(found.broken.as_ref().is_some_and(|broken| broken.contains(what)), "{found:?}"),
        None => assert_eq!(found.broken, None, "{sql}"),
    }
}

/// Proves SEC-010.
#[test]
fn chain_of_one_stream_is_verified_from_an_event_on() {
    let event = |seq: u64| format!("WHERE stream = STREAM AND seq = {seq}");
    let changed =
        |seq| format!("UPDATE event SET body = CAST(CAST(body AS TEXT) || ' ' AS BLOB) {}", event(seq));
    check_chain("", 100, (9, None));
    check_chain("", 3, (4, None));
    check_chain(&changed(2), 100, (1, Some("event 2")));
    check_chain(&changed(9), 100, (8, Some("event 9")));
    check_chain(&changed(9), 3, (4, None));
    check_chain(
        &format!("UPDATE event SET hash = zeroblob(32) {}", event(1)),
        100,
        (1, Some("hash of event 2")),
    );
    check_chain(&format!("DELETE FROM event {}", event(1)), 100, (1, Some("event 1 is missing")));
    check_chain(&format!("DELETE FROM event {}", event(5)), 100, (4, Some("event 6 stands where event 5")));
    check_chain(&format!("DELETE FROM event {}", event(9)), 100, (8, Some("should end with event 9")));
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    store.append(life(&Maker::default(), 1)).unwrap();
    assert_eq!(store.reader().verify_chain(&stream(2), 1, 9).unwrap(), None, "another stream's position");
}

//! What an open makes, finds, mends and refuses.

use std::os::unix::fs::PermissionsExt;

use edgeplane_store::{AppendError, Damage, Health, Model, OpenError, Reader, Store, open::DATABASE_NAME};
use edgeplane_types::Fact;
use rusqlite::Connection;

use crate::decisions::decide_something;
use crate::support::{
    Maker, OPTIONS, Tmpfs, accepted, agent, assert_sound, audit, injected, life, node, note, open, stream,
};

#[test]
fn new_record_is_private_empty_and_sound() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a/record");
    let (store, opening) = Store::open(&path, &OPTIONS).unwrap();
    assert_eq!((opening.head_pos, opening.streams, opening.damaged), (0, 0, None));
    assert_eq!(opening.rebuilt, Model::ALL);
    store.append(life(&Maker::default(), 1)).unwrap();
    for entry in std::fs::read_dir(&path).unwrap() {
        let entry = entry.unwrap();
        assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o077, 0, "{entry:?}");
    }
    assert_sound(&store.reader());
}

#[test]
fn record_goes_on_where_it_ended() {
    let dir = tempfile::tempdir().unwrap();
    let maker = Maker::default();
    for round in 1..=3 {
        let (store, opening) = Store::open(dir.path(), &OPTIONS).unwrap();
        assert_eq!((opening.head_pos, opening.verified_events), (round - 1, 0));
        let committed = store.append(maker.batch(node(), [note("x")])).unwrap();
        assert_eq!((committed.events[0].pos, committed.events[0].event.seq), (round, round));
    }
    assert_sound(&Reader::open(dir.path()).unwrap());
}

#[test]
fn newer_record_and_what_is_no_record_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    drop(open(dir.path()));
    let conn = Connection::open(dir.path().join(DATABASE_NAME)).unwrap();
    conn.pragma_update(None, "user_version", 99).unwrap();
    drop(conn);
    assert!(matches!(Store::open(dir.path(), &OPTIONS), Err(OpenError::Newer { found: 99, .. })));
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join(DATABASE_NAME), "no database at all, but long enough".repeat(40)).unwrap();
    assert!(matches!(Store::open(dir.path(), &OPTIONS), Err(OpenError::Database { .. })));
}

/// Proves LIFE-020.
#[test]
fn damaged_tail_makes_the_record_read_only() {
    let dir = tempfile::tempdir().unwrap();
    let maker = Maker::default();
    let store = open(dir.path());
    store.append(life(&maker, 1)).unwrap();
    drop(store);
    let conn = Connection::open(dir.path().join(DATABASE_NAME)).unwrap();
    conn.execute("UPDATE meta SET value = 0 WHERE key = 'verified_pos'", []).unwrap();
    let changed = conn
        .execute("UPDATE event SET body = CAST(replace(CAST(body AS TEXT), 'crash loop', 'crash-loop') AS BLOB) WHERE seq = 9", [])
        .unwrap();
    assert_eq!(changed, 1);
    drop(conn);
    let (store, opening) = Store::open(dir.path(), &OPTIONS).unwrap();
    let Some(Damage::Event { stream: found, seq: 9, .. }) = opening.damaged else { panic!("{opening:?}") };
    assert_eq!(found, stream(1));
    assert!(matches!(store.health(), Health::Damaged(_)));
    let critical = maker.critical(node(), [note("x")]);
    assert!(matches!(store.append(critical), Err(AppendError::Damaged)));
    assert!(matches!(store.rebuild(Model::Agents), Err(AppendError::Damaged)));
    assert_eq!(store.reader().head_pos().unwrap(), 9);
}

/// Proves LIFE-020.
#[test]
fn cut_tail_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    store.append(life(&Maker::default(), 1)).unwrap();
    drop(store);
    let conn = Connection::open(dir.path().join(DATABASE_NAME)).unwrap();
    conn.execute_batch(
        "UPDATE meta SET value = 0 WHERE key = 'verified_pos'; DELETE FROM event WHERE seq = 9;",
    )
    .unwrap();
    drop(conn);
    let (_store, opening) = Store::open(dir.path(), &OPTIONS).unwrap();
    assert!(matches!(opening.damaged, Some(Damage::Head { .. })), "{opening:?}");
}

#[test]
fn audit_can_make_the_record_read_only() {
    let dir = tempfile::tempdir().unwrap();
    let (store, maker) = (open(dir.path()), Maker::default());
    store.mark_damaged("event 3 of stream x");
    assert!(matches!(store.append(maker.batch(node(), [note("x")])), Err(AppendError::Damaged)));
}

#[test]
fn model_of_another_version_is_made_anew() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    store.append(life(&Maker::default(), 1)).unwrap();
    let expected = store.reader().model_digest(Model::Messages).unwrap();
    drop(store);
    let conn = Connection::open(dir.path().join(DATABASE_NAME)).unwrap();
    conn.execute_batch("UPDATE model SET version = 0 WHERE name = 'messages'; DELETE FROM message;").unwrap();
    drop(conn);
    assert!(!audit(&Reader::open(dir.path()).unwrap()).ok);
    let (store, opening) = Store::open(dir.path(), &OPTIONS).unwrap();
    assert_eq!(opening.rebuilt, [Model::Messages]);
    assert_eq!(store.reader().model_digest(Model::Messages).unwrap(), expected);
    assert_sound(&store.reader());
}

/// The messages of a record as they were kept before senders took turns.
const OLD_MESSAGES: &str = "
    DROP TABLE message;
    CREATE TABLE message (
        accepted_pos INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, target BLOB NOT NULL,
        principal TEXT NOT NULL, key TEXT, priority INTEGER NOT NULL, expires INTEGER,
        waiting INTEGER NOT NULL, state TEXT NOT NULL, epoch INTEGER, reason TEXT, receipts TEXT NOT NULL
    ) STRICT;
    CREATE INDEX message_inbox ON message (target, accepted_pos);
    CREATE INDEX message_waiting ON message (target, priority, accepted_pos) WHERE waiting = 1;
    CREATE INDEX message_expiry ON message (target, expires) WHERE waiting = 1 AND expires IS NOT NULL;
    CREATE UNIQUE INDEX message_key ON message (target, principal, key) WHERE key IS NOT NULL;
    UPDATE model SET version = 2 WHERE name = 'messages';";

#[test]
fn record_from_before_a_model_was_there_gets_it() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let maker = Maker::default();
    store.append(life(&maker, 1)).unwrap();
    store.append(maker.batch(stream(1), [accepted(1, 50), accepted(1, 51)])).unwrap();
    decide_something(&store, &maker, 2);
    let expected = Model::ALL.map(|model| store.reader().model_digest(model).unwrap());
    drop(store);
    let conn = Connection::open(dir.path().join(DATABASE_NAME)).unwrap();
    conn.execute_batch(OLD_MESSAGES).unwrap();
    let young = ["schedules", "actions", "tokens", "keys", "policies"];
    let tables = [
        "sender",
        "lane",
        "waiting_total",
        "rung_total",
        "schedule",
        "occurrence",
        "action",
        "vote",
        "token",
        "node_key",
        "policy",
        "refusal",
    ];
    for model in young {
        assert_eq!(conn.execute("DELETE FROM model WHERE name = ?1", [model]).unwrap(), 1, "{model}");
    }
    for table in tables {
        conn.execute_batch(&format!("DROP TABLE {table};")).unwrap();
    }
    drop(conn);

    let (store, opening) = Store::open(dir.path(), &OPTIONS).unwrap();
    let names: Vec<_> = opening.rebuilt.iter().map(|model| model.as_str()).collect();
    assert_eq!(names, [&["messages"], young.as_slice()].concat());
    assert_eq!(Model::ALL.map(|model| store.reader().model_digest(model).unwrap()), expected);
    assert_eq!(store.reader().waiting_count(&agent(1)).unwrap(), 2);
    store.append(maker.batch(stream(1), [injected(50, 1)])).unwrap();
    assert_sound(&store.reader());
}

#[test]
fn event_of_a_kind_from_a_newer_program_is_kept_and_passed_over() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let maker = Maker::default();
    store.append(life(&maker, 1)).unwrap();
    let future = Fact::NodeStopped { reason: "a kind that this program knows for now".to_owned() };
    store.append(maker.batch(node(), [future])).unwrap();
    let expected = Model::ALL.map(|model| store.reader().model_digest(model).unwrap());
    drop(store);
    give_the_last_event_another_kind(&dir.path().join(DATABASE_NAME));

    let (store, opening) = Store::open(dir.path(), &OPTIONS).unwrap();
    assert_eq!((opening.damaged, opening.rebuilt.as_slice()), (None, Model::ALL.as_slice()));
    assert_eq!(Model::ALL.map(|model| store.reader().model_digest(model).unwrap()), expected);
    store.append(maker.batch(node(), [note("x")])).unwrap();
    assert_sound(&store.reader());
}

/// Rewrites the newest event and its chain as a newer program would have written it, and forgets the models.
fn give_the_last_event_another_kind(database: &std::path::Path) {
    let conn = Connection::open(database).unwrap();
    let (pos, bytes): (i64, Vec<u8>) = conn
        .query_row("SELECT pos, body FROM event ORDER BY pos DESC LIMIT 1", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .unwrap();
    let bytes = String::from_utf8(bytes).unwrap().replace("node.stopped", "node.dreamt").into_bytes();
    let hash = edgeplane_proof::chain::link(&edgeplane_proof::chain::genesis(&node()), &bytes);
    let leaf = edgeplane_proof::chain::leaf_hash(&bytes);
    conn.execute(
        "UPDATE event SET type = 'node.dreamt', body = ?2, leaf = ?3, hash = ?4 WHERE pos = ?1",
        (pos, &bytes, leaf.as_bytes(), hash.as_bytes()),
    )
    .unwrap();
    conn.execute("UPDATE stream SET hash = ?1 WHERE name = ?2", (hash.as_bytes(), node().to_string()))
        .unwrap();
    conn.execute_batch("DELETE FROM model; UPDATE meta SET value = 0 WHERE key = 'verified_pos';").unwrap();
}

#[test]
fn record_on_a_read_only_medium_can_be_read_and_audited() {
    let dir = tempfile::tempdir().unwrap();
    let Some(tmpfs) = Tmpfs::mount(dir.path(), 4) else { return };
    let store = open(dir.path());
    store.append(life(&Maker::default(), 1)).unwrap();
    store.close();
    drop(store);
    tmpfs.make_read_only();
    let reader = Reader::open(dir.path()).unwrap();
    assert_eq!(reader.head_pos().unwrap(), 9);
    assert_sound(&reader);
}

#[test]
fn missing_record_cannot_be_read() {
    let dir = tempfile::tempdir().unwrap();
    assert!(matches!(Reader::open(dir.path()), Err(edgeplane_store::ReadError::Open { .. })));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

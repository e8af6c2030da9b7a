//! Bodies: small, large, doubled, erased, brought back, damaged.

use edgeplane_proof::digest;
use edgeplane_store::{Batch, Body, NewEvent, ReadError, Store, StoredBody};

use crate::support::{Maker, OPTIONS, assert_sound, audit, node, note, open};

fn batch(maker: &Maker, bytes: &[u8]) -> Batch {
    let events: Vec<NewEvent> = vec![maker.event(node(), note("body"))];
    Batch { events, bodies: vec![Body::new(bytes.to_vec())], critical: false }
}

fn files_in(dir: &std::path::Path) -> usize {
    let Ok(entries) = std::fs::read_dir(dir) else { return 0 };
    entries
        .map(|entry| entry.unwrap().path())
        .map(|path| if path.is_dir() { files_in(&path) } else { 1 })
        .sum()
}

#[test]
fn bodies_come_back_whatever_their_size_and_are_kept_once() {
    let dir = tempfile::tempdir().unwrap();
    let (store, maker) = (open(dir.path()), Maker::default());
    for size in [0, 1, OPTIONS.inline_body_bytes_max, OPTIONS.inline_body_bytes_max + 1, 1 << 20] {
        let bytes = vec![7; size];
        for _ in 0..2 {
            store.append(batch(&maker, &bytes)).unwrap();
        }
        let found = store.reader().body(&digest(&bytes)).unwrap();
        assert_eq!(found, Some(StoredBody::Bytes(bytes)));
    }
    assert_eq!(files_in(&dir.path().join("bodies")), 2);
    assert_eq!(store.reader().body(&digest(b"other")).unwrap(), None);
    let report = audit(&store.reader());
    assert_eq!((report.ok, report.bodies), (true, 5));
}

#[test]
fn erased_body_leaves_a_tombstone_and_no_bytes() {
    for size in [2_000, 100_000] {
        let dir = tempfile::tempdir().unwrap();
        let (store, maker) = (open(dir.path()), Maker::default());
        let bytes = b"the secret word ".repeat(size / 16);
        store.append(batch(&maker, &bytes)).unwrap();
        let erased = || store.erase_body(digest(&bytes), "asked to").unwrap();
        assert!(erased());
        assert!(!erased());
        let tombstone = StoredBody::Erased { reason: "asked to".to_owned() };
        assert_eq!(store.reader().body(&digest(&bytes)).unwrap(), Some(tombstone));
        assert_eq!(files_in(&dir.path().join("bodies")), 0);
        let report = audit(&store.reader());
        assert_eq!((report.ok, report.bodies, report.erased_bodies), (true, 0, 1));
        for name in ["record.db", "record.db-wal"] {
            let file = std::fs::read(dir.path().join(name)).unwrap();
            assert!(!file.windows(15).any(|window| window == b"the secret word"), "{name}");
        }
        store.append(batch(&maker, &bytes)).unwrap();
        assert_eq!(store.reader().body(&digest(&bytes)).unwrap(), Some(StoredBody::Bytes(bytes.clone())));
        assert_sound(&store.reader());
    }
}

#[test]
fn nothing_is_erased_that_never_was() {
    let dir = tempfile::tempdir().unwrap();
    assert!(!open(dir.path()).erase_body(digest(b"x"), "asked to").unwrap());
}

#[test]
fn damaged_body_is_not_given_out_and_named_by_the_audit() {
    let dir = tempfile::tempdir().unwrap();
    let maker = Maker::default();
    let bytes = vec![7; 100_000];
    let name = digest(&bytes).to_string();
    let store: Store = open(dir.path());
    store.append(batch(&maker, &bytes)).unwrap();
    let path = dir.path().join("bodies").join(&name[..2]).join(&name);
    std::fs::write(&path, &bytes[1..]).unwrap();
    assert!(matches!(store.reader().body(&digest(&bytes)), Err(ReadError::BodyDamaged(_))));
    let report = audit(&store.reader());
    assert!(report.problems.iter().any(|problem| problem.what.contains(&name)), "{report:?}");
}

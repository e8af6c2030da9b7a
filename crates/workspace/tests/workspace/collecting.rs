//! What no checkpoint names is removed, and nothing else.

use std::fs;

use edgeplane_workspace::{Collected, Id, WorkspaceError};

use crate::support::{ALL, Place, look, noise};

fn collect(place: &Place, named: &[Id]) -> Collected {
    place.store.collect(|| Ok::<_, WorkspaceError>(named.to_vec())).unwrap()
}

/// Proves WSP-009.
#[test]
fn what_is_not_named_goes_and_what_is_stays() {
    let place = Place::new();
    let write = |name: &str, seed| fs::write(place.folder().join(name), noise(seed, 6 << 20)).unwrap();
    write("a", 1);
    let first = place.keep(&ALL).checkpoint.id;
    write("a", 2);
    write("b", 3);
    let second = place.keep(&ALL).checkpoint.id;
    let before = look(&place.folder());
    assert_eq!(collect(&place, &[first, second]).objects_removed, 0);
    let collected = collect(&place, &[second]);
    assert!(collected.bytes_freed >= 6 << 20, "{collected:?}");
    assert!(matches!(place.session().get(first), Err(WorkspaceError::Missing(_))));
    fs::remove_file(place.folder().join("a")).unwrap();
    place.restore(second, &ALL);
    assert!(look(&place.folder()) == before);
    collect(&place, &[]);
    assert_eq!(fs::read_dir(place.beside("store/packs")).unwrap().count(), 0);
}

/// A large file is a list of pieces: the list may lie in a pack that stays, while pieces of it are gone.
///
/// Proves WSP-009.
#[test]
fn what_was_dropped_is_kept_anew_when_it_comes_back() {
    let place = Place::new();
    let (path, beside) = (place.folder().join("file"), place.folder().join("beside"));
    // The pieces of `shared` come into a first pack, the lists of both files into a second one.
    let shared = noise(1, 700_000);
    fs::write(&path, &shared).unwrap();
    let first = place.keep(&ALL).checkpoint.id;
    let longer = [shared.as_slice(), &noise(2, 300_000)].concat();
    fs::write(&path, &longer).unwrap();
    fs::write(&beside, noise(3, 4 << 20)).unwrap();
    let second = place.keep(&ALL).checkpoint.id;
    fs::remove_file(&path).unwrap();
    let third = place.keep(&ALL).checkpoint.id;
    collect(&place, &[third]);
    for id in [first, second] {
        assert!(matches!(place.session().get(id), Err(WorkspaceError::Missing(_))));
    }
    fs::write(&path, &longer).unwrap();
    let before = look(&place.folder());
    let again = place.keep(&ALL).checkpoint.id;
    assert_eq!(again, second);
    fs::remove_file(&path).unwrap();
    place.restore(again, &ALL);
    assert!(look(&place.folder()) == before);
}

/// Proves WSP-009.
#[test]
fn nothing_is_collected_while_somebody_adds() {
    let place = Place::new();
    fs::write(place.folder().join("file"), "x").unwrap();
    let session = place.session();
    let made = session.create(&place.folder(), &ALL, "key").unwrap();
    std::thread::scope(|scope| {
        let (asked, answer) = std::sync::mpsc::channel();
        let (store, id) = (&place.store, made.checkpoint.id);
        let collector = scope.spawn(move || {
            store.collect(|| {
                asked.send(()).unwrap();
                Ok::<_, WorkspaceError>(vec![id])
            })
        });
        // What is named is asked for only once the session is over.
        assert!(answer.recv_timeout(std::time::Duration::from_millis(200)).is_err());
        drop(session);
        answer.recv().unwrap();
        collector.join().unwrap().unwrap();
    });
    assert_eq!(place.session().get(made.checkpoint.id).unwrap(), made.checkpoint);
}

/// Proves WSP-009.
#[test]
fn many_small_packs_become_few() {
    let place = Place::new();
    let mut ids = Vec::new();
    for number in 0..20_u8 {
        fs::write(place.folder().join("file"), [number; 9]).unwrap();
        ids.push(place.keep(&ALL).checkpoint.id);
    }
    collect(&place, &ids);
    place.pack();
    for (number, id) in (0..).zip(ids) {
        place.restore(id, &ALL);
        assert_eq!(fs::read(place.folder().join("file")).unwrap(), [number; 9]);
    }
}

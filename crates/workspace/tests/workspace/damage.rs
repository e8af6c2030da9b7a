//! A store whose files are not what they were.

use std::{fs, os::unix::fs::FileExt as _};

use edgeplane_workspace::WorkspaceError;

use crate::support::{ALL, Place, noise};

fn turn_over(path: &std::path::Path, at: u64) {
    let file = fs::File::options().read(true).write(true).open(path).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, at).unwrap();
    file.write_all_at(&[!byte[0]], at).unwrap();
}

/// Proves WSP-006.
#[test]
fn a_damaged_piece_is_found_and_the_file_that_is_there_stays() {
    let place = Place::new();
    let path = place.folder().join("file");
    fs::write(&path, noise(1, 1 << 20)).unwrap();
    let made = place.keep(&ALL);
    turn_over(&place.pack(), 300_000);
    fs::write(&path, "newer").unwrap();
    let session = place.session();
    let restore = session.restore(&place.folder(), made.checkpoint.id, (&ALL, "key")).unwrap();
    let error = restore.apply().unwrap_err();
    assert!(matches!(error, WorkspaceError::Damaged { .. }), "{error:?}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "newer");
    assert_eq!(fs::read_dir(place.folder()).unwrap().count(), 1, "nothing half written is left");
}

/// Proves WSP-006, WSP-009.
#[test]
fn a_pack_without_its_index_is_missed_kept_anew_and_never_collected() {
    let place = Place::new();
    fs::write(place.folder().join("file"), noise(1, 100_000)).unwrap();
    let made = place.keep(&ALL);
    let pack = place.pack();
    turn_over(&pack, fs::metadata(&pack).unwrap().len() - 60);
    let id = made.checkpoint.id;
    let error = place.session().get(id).unwrap_err();
    assert!(matches!(error, WorkspaceError::Missing(missing) if missing == id), "{error:?}");
    let again = place.keep(&ALL);
    assert_eq!(again.checkpoint.id, id);
    assert!(again.bytes_new > 100_000, "{} bytes", again.bytes_new);
    place.session().diff(id, id).unwrap();
    let error = place.store.collect(|| Ok::<_, WorkspaceError>(vec![id])).unwrap_err();
    assert!(matches!(error, WorkspaceError::DamagedPack(_)), "{error:?}");
    assert!(pack.exists());
}

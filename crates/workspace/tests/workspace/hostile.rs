//! Folders in which somebody else is at work, and means harm.

use std::{
    fs,
    os::unix::{
        fs::{MetadataExt as _, symlink},
        net::UnixListener,
    },
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use edgeplane_os::{
    Clock,
    wait::{Deadline, until},
};
use edgeplane_types::Timestamp;
use edgeplane_workspace::{LeftOut, Made, Store, Why, WorkspaceError};
use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::support::{ALL, Place, look};

/// Proves WSP-002.
#[test]
fn what_is_no_file_folder_or_link_is_left_out_and_said() {
    let place = Place::new();
    let folder = place.folder();
    mknodat(CWD, folder.join("pipe"), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    let _listener = UnixListener::bind(folder.join("socket")).unwrap();
    fs::write(folder.join("file"), "x").unwrap();
    let made = place.keep(&ALL).checkpoint;
    let left_out = |path: &str, why| LeftOut { path: PathBuf::from(path), why };
    assert_eq!(made.left_out, [left_out("pipe", Why::Pipe), left_out("socket", Why::Socket)]);
    assert_eq!((made.left_out_count, made.counts.files), (2, 1));
    fs::write(folder.join("more"), "x").unwrap();
    let (_kept, restored) = place.restore(made.id, &ALL);
    assert_eq!((restored.removed, restored.conflict_count), (1, 0));
    assert!(folder.join("pipe").symlink_metadata().is_ok());
}

/// Proves WSP-010.
#[test]
fn no_link_leads_out() {
    let place = Place::new();
    let (folder, outside) = (place.folder(), place.beside("outside"));
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("secret"), "secret").unwrap();
    let before = look(&outside);
    fs::create_dir_all(folder.join("a/b")).unwrap();
    fs::write(folder.join("a/b/secret"), "mine").unwrap();
    fs::write(folder.join("a/other"), "mine").unwrap();
    let made = place.keep(&ALL).checkpoint;
    fs::write(folder.join("a/b/secret"), "changed").unwrap();

    // The folder becomes a link after it was looked at.
    let session = place.session();
    let restore = session.restore(&folder, made.id, (&ALL, "key")).unwrap();
    fs::rename(folder.join("a/b"), folder.join("a/moved")).unwrap();
    symlink(&outside, folder.join("a/b")).unwrap();
    let restored = restore.apply().unwrap();
    assert_eq!(restored.conflict_count, 1, "{restored:?}");
    assert!(look(&outside) == before);

    // A link that was there before is one thing, and is replaced by the folder.
    let with_link = place.keep(&ALL).checkpoint;
    assert_eq!((with_link.counts.links, with_link.counts.files), (1, 2));
    place.restore(made.id, &ALL);
    assert_eq!(fs::read_to_string(folder.join("a/b/secret")).unwrap(), "mine");
    assert!(look(&outside) == before);
}

/// Proves WSP-010.
#[test]
fn a_path_with_a_link_is_no_workspace() {
    let place = Place::new();
    fs::create_dir(place.beside("real")).unwrap();
    symlink(place.beside("real"), place.beside("link")).unwrap();
    let error = place.session().create(&place.beside("link"), &ALL, "key").unwrap_err();
    assert!(matches!(error, WorkspaceError::Folder { .. }), "{error:?}");
}

/// Proves WSP-007.
#[test]
fn what_changes_after_it_was_kept_stays() {
    let place = Place::new();
    let folder = place.folder();
    fs::write(folder.join("changed"), "one").unwrap();
    let made = place.keep(&ALL).checkpoint;
    fs::write(folder.join("changed"), "two").unwrap();
    fs::write(folder.join("removed"), "two").unwrap();
    fs::create_dir(folder.join("folder")).unwrap();
    let session = place.session();
    let restore = session.restore(&folder, made.id, (&ALL, "key")).unwrap();
    fs::write(folder.join("changed"), "three, unkept").unwrap();
    fs::write(folder.join("removed"), "three, unkept").unwrap();
    fs::write(folder.join("folder/new"), "three, unkept").unwrap();
    let restored = restore.apply().unwrap();
    assert_eq!((restored.written, restored.removed, restored.conflict_count), (0, 0, 3), "{restored:?}");
    for name in ["changed", "removed", "folder/new"] {
        assert_eq!(fs::read_to_string(folder.join(name)).unwrap(), "three, unkept");
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 3, "nothing of our own is left");
}

/// Proves WSP-007.
#[test]
fn what_appears_after_it_was_kept_is_not_overwritten() {
    let place = Place::new();
    let folder = place.folder();
    fs::write(folder.join("gone"), "one").unwrap();
    let made = place.keep(&ALL).checkpoint;
    fs::remove_file(folder.join("gone")).unwrap();
    let session = place.session();
    let restore = session.restore(&folder, made.id, (&ALL, "key")).unwrap();
    fs::write(folder.join("gone"), "unkept").unwrap();
    assert_eq!(restore.apply().unwrap().conflict_count, 1);
    assert_eq!(fs::read_to_string(folder.join("gone")).unwrap(), "unkept");
}

/// Proves WSP-010.
#[test]
fn a_folder_that_is_too_deep_is_an_error() {
    let place = Place::new();
    let mut path = place.folder();
    for _ in 0..300 {
        path.push("d");
    }
    fs::create_dir_all(&path).unwrap();
    let error = place.session().create(&place.folder(), &ALL, "key").unwrap_err();
    assert!(matches!(error, WorkspaceError::TooDeep { .. }), "{error:?}");
}

/// Somebody writes all the time: each file that is kept is one that was there, or is said to be unsettled.
///
/// Proves WSP-011.
#[test]
fn a_file_that_changes_while_it_is_read_is_told_of() {
    let place = Place::new();
    let path = place.folder().join("busy");
    let write = |path: &Path, byte: u8| fs::write(path, vec![byte; 3 << 20]).unwrap();
    write(&path, 1);
    let stop = AtomicBool::new(false);
    let kept = std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut byte = 1_u8;
            while !stop.load(Ordering::Relaxed) {
                byte = byte.wrapping_add(1).max(1);
                write(&path, byte);
            }
        });
        let mut kept = Vec::new();
        let was_seen = until(Deadline::after(Duration::from_secs(60)), || {
            kept.push(place.keep(&ALL));
            kept.iter().any(|made: &Made| made.unsettled == [PathBuf::from("busy")])
        });
        stop.store(true, Ordering::Relaxed);
        assert!(was_seen, "nothing was seen to change");
        kept
    });
    for made in kept.iter().filter(|made| made.unsettled.is_empty()) {
        place.restore(made.checkpoint.id, &ALL);
        let bytes = fs::read(&path).unwrap();
        let is_whole = bytes.len() == 3 << 20 && bytes.iter().all(|byte| *byte == bytes[0]);
        assert!(is_whole || bytes.is_empty(), "a torn file was said to be settled");
    }
}

/// A clock that stands still.
#[derive(Debug)]
struct Still(i64);

impl Clock for Still {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0)
    }

    fn monotonic_micros(&self) -> u64 {
        0
    }
}

/// At the tick at which a file changed, a further change would not show.
///
/// Proves WSP-004, WSP-011.
#[test]
fn a_file_that_changed_a_moment_ago_is_not_believed() {
    let place = Place::new();
    let path = place.folder().join("file");
    fs::write(&path, "x").unwrap();
    let about = fs::metadata(&path).unwrap();
    let changed = about.ctime() * 1_000_000 + about.ctime_nsec() / 1_000;
    let keep = |now| {
        let store = Store::new(&place.beside("store"), Arc::new(Still(now))).unwrap();
        store.session().unwrap().create(&place.folder(), &ALL, "key").unwrap()
    };
    for _ in 0..2 {
        let made = keep(changed + 1);
        assert_eq!((made.files_read, made.unsettled), (1, vec![PathBuf::from("file")]));
    }
    let later = changed + 60_000_000;
    let made = keep(later);
    assert_eq!((made.files_read, made.unsettled), (1, vec![]));
    assert_eq!(keep(later).files_read, 0);
    // The clock was set back: nothing can be known of the moment, and nothing is waited for.
    fs::write(&path, "y").unwrap();
    for _ in 0..2 {
        let made = keep(changed - 60_000_000);
        assert_eq!((made.files_read, made.unsettled), (1, vec![]));
    }
}

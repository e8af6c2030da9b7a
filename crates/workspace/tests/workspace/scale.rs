//! Many files and large ones. `EDGEPLANE_WORKSPACE_FILES=100000` and `EDGEPLANE_WORKSPACE_LARGE_MIB=1024` are the full
//! forms.

use std::{fs, os::unix::fs::FileExt as _};

use crate::support::{ALL, Place, look, noise, room};

/// Small files unless `EDGEPLANE_WORKSPACE_FILES` says otherwise.
const FILES: usize = 3_000;

/// The size of the large file unless `EDGEPLANE_WORKSPACE_LARGE_MIB` says otherwise.
const LARGE_MIB: usize = 24;

const MIB: usize = 1 << 20;

fn number(name: &str, otherwise: usize) -> usize {
    std::env::var(name).map_or(otherwise, |text| text.parse().unwrap())
}

/// Keeps the folder as it was kept before, without reading any of it.
fn keep_again(place: &Place) {
    let made = place.keep(&ALL);
    assert_eq!((made.bytes_new, made.files_read), (0, 0));
}

/// Proves WSP-001, WSP-004.
#[test]
fn many_small_files_come_back_and_are_not_read_again() {
    let place = Place::new();
    let files = number("EDGEPLANE_WORKSPACE_FILES", FILES);
    for number in 0..files {
        let folder = place.folder().join(format!("{}", number / 100));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("{number}.txt")), format!("file {number}\n").repeat(number % 50))
            .unwrap();
    }
    let before = look(&place.folder());
    let made = place.keep(&ALL);
    assert_eq!((made.files_read, made.checkpoint.counts.files), (files as u64, files as u64));
    keep_again(&place);
    fs::write(place.folder().join("0/1.txt"), "other").unwrap();
    fs::remove_dir_all(place.folder().join("1")).unwrap();
    let changed = place.keep(&ALL);
    assert_eq!(changed.files_read, 1);
    assert!(changed.bytes_new < 64 * 1024, "{} bytes", changed.bytes_new);
    let (_kept, restored) = place.restore(made.checkpoint.id, &ALL);
    assert_eq!((restored.written, restored.conflict_count), (102, 0), "{restored:?}");
    assert!(look(&place.folder()) == before);
}

/// Proves WSP-001, WSP-004, WSP-005.
#[test]
fn a_large_file_comes_back_and_only_what_changed_in_it_is_kept_anew() {
    let place = Place::new();
    let mib = number("EDGEPLANE_WORKSPACE_LARGE_MIB", LARGE_MIB);
    let path = place.folder().join("large");
    let file = fs::File::create(&path).unwrap();
    for at in 0..mib {
        file.write_all_at(&noise(at as u64, MIB), (at * MIB) as u64).unwrap();
    }
    let made = place.keep(&ALL);
    assert!(made.bytes_new > (mib * MIB) as u64 / 2);
    keep_again(&place);
    // A hundredth of it changes, in one place; all that follows moves.
    let bytes = fs::read(&path).unwrap();
    let (before, after) = bytes.split_at(mib * MIB / 3);
    let changed = [before, b"inserted".as_slice(), &noise(1, mib * MIB / 100), after].concat();
    fs::write(&path, &changed).unwrap();
    let second = place.keep(&ALL);
    assert!(second.bytes_new < (mib * MIB) as u64 / 5, "{} of {}", second.bytes_new, mib * MIB);
    place.restore(made.checkpoint.id, &ALL);
    assert!(fs::read(&path).unwrap() == bytes);
    place.restore(second.checkpoint.id, &ALL);
    assert!(fs::read(&path).unwrap() == changed);
}

/// Proves WSP-002.
#[test]
fn holes_come_back_as_holes_and_zeros_as_zeros() {
    let place = Place::new();
    let (sparse, dense) = (place.folder().join("sparse"), place.folder().join("dense"));
    let file = fs::File::create(&sparse).unwrap();
    file.set_len(64 * MIB as u64).unwrap();
    file.write_all_at(b"here", 30 * MIB as u64 + 5).unwrap();
    fs::write(&dense, vec![0; 6 * MIB]).unwrap();
    let before = look(&place.folder());
    let made = place.keep(&ALL);
    assert!(made.bytes_new < MIB as u64, "{} bytes", made.bytes_new);
    fs::remove_file(&sparse).unwrap();
    fs::remove_file(&dense).unwrap();
    place.restore(made.checkpoint.id, &ALL);
    assert!(look(&place.folder()) == before);
    assert!(room(&sparse) < MIB as u64, "{} bytes", room(&sparse));
    assert!(room(&dense) >= 6 * MIB as u64, "{} bytes", room(&dense));
}

/// Proves WSP-005.
#[test]
fn what_two_folders_have_in_common_is_kept_once() {
    let place = Place::new();
    let other = place.beside("other");
    fs::create_dir(&other).unwrap();
    for folder in [place.folder(), other.clone()] {
        fs::write(folder.join("same"), noise(7, 3 * MIB)).unwrap();
    }
    let made = place.keep(&ALL);
    let again = place.session().create(&other, &ALL, "other").unwrap();
    assert!(made.bytes_new > 2 * MIB as u64);
    assert_eq!(again.checkpoint.id, made.checkpoint.id);
    assert_eq!(again.bytes_new, 0);
}

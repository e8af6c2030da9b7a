//! Single files: paths that mean harm, files that are no files, and changes that meet others.

use std::{
    ffi::OsStr,
    fs,
    os::unix::{
        ffi::OsStrExt as _,
        fs::{PermissionsExt as _, symlink},
        net::UnixListener,
    },
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use edgeplane_workspace::{
    Before, Case, FileError, FileKind, Files, Folders, InnerPath, Listing, Outcome, Pattern, Search,
    SearchAt, VERSION_BYTES_MAX, Version, fresh_name,
};
use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::support::{ALL, BY_GIT, Place, look};

fn at(text: &str) -> InnerPath {
    InnerPath::parse(text).unwrap()
}

fn files(place: &Place) -> Files {
    Files::open(&place.folder()).unwrap()
}

fn write(files: &Files, path: &str, before: &Before, bytes: &[u8]) -> Result<(), FileError> {
    files.write(&at(path), before, (bytes, &fresh_name()), Folders::There)
}

/// Whether nothing but this is in the folder.
fn has(place: &Place, names: &[&str]) -> bool {
    let mut found: Vec<_> = fs::read_dir(place.folder()).unwrap().map(|e| e.unwrap().file_name()).collect();
    found.sort();
    found == names
}

/// Proves WSP-020.
#[test]
fn no_path_leads_out_and_no_link_is_followed() {
    let place = Place::new();
    let (folder, outside) = (place.folder(), place.beside("outside"));
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("secret"), "secret").unwrap();
    fs::create_dir(folder.join("real")).unwrap();
    symlink(&outside, folder.join("way")).unwrap();
    symlink(outside.join("secret"), folder.join("end")).unwrap();
    symlink("real", folder.join("inner")).unwrap();
    let before = look(&outside);
    let files = files(&place);
    for path in ["way/secret", "way/new", "inner/x"] {
        assert!(matches!(files.read(&at(path), 0, 9), Err(FileError::Way(_))), "{path}");
        assert!(matches!(files.before(&at(path)), Err(FileError::Way(_))), "{path}");
        let nothing = files.before(&at("free")).unwrap();
        assert!(matches!(write(&files, path, &nothing, b"x"), Err(FileError::Way(_))), "{path}");
        let made = files.write(&at(path), &nothing, (b"x", &fresh_name()), Folders::Made);
        assert!(matches!(made, Err(FileError::Way(_))), "{path}");
    }
    assert!(matches!(files.read(&at("end"), 0, 9), Err(FileError::Other { is: FileKind::Link, .. })));
    let link = files.before(&at("end")).unwrap();
    assert!(matches!(write(&files, "end", &link, b"x"), Err(FileError::Other { .. })));
    assert_eq!(
        files.stat(&at("end")).unwrap().target.unwrap(),
        outside.join("secret").as_os_str().as_bytes()
    );
    // A link itself can be moved and removed, and what it names stays.
    files.rename((&at("end"), &link), &at("other"), Folders::There).unwrap();
    files.remove(&at("other"), &files.before(&at("other")).unwrap(), &fresh_name()).unwrap();
    let way = files.list(Listing { folder: &at("way"), is_recursive: true, after: None, limit: 9 });
    assert!(matches!(way, Err(FileError::Way(_) | FileError::NotFound(_))), "{way:?}");
    assert!(look(&outside) == before);
}

/// Somebody puts a link in the place of a folder and takes it away, over and over.
///
/// Proves WSP-020.
#[test]
fn a_link_that_comes_and_goes_leads_nobody_out() {
    let place = Place::new();
    let (folder, outside) = (place.folder(), place.beside("outside"));
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("file"), "secret").unwrap();
    fs::create_dir(folder.join("way")).unwrap();
    fs::write(folder.join("way/file"), "mine").unwrap();
    symlink(&outside, place.beside("link")).unwrap();
    let before = look(&outside);
    let goes_on = Arc::new(AtomicBool::new(true));
    let swapping = {
        let (goes_on, way, link) = (goes_on.clone(), folder.join("way"), place.beside("link"));
        std::thread::spawn(move || {
            while goes_on.load(Ordering::Relaxed) {
                rustix::fs::renameat_with(CWD, &way, CWD, &link, rustix::fs::RenameFlags::EXCHANGE).unwrap();
            }
        })
    };
    let files = files(&place);
    let (mut read, mut refused) = (0, 0);
    for round in 0_u32..4_000 {
        match files.read(&at("way/file"), 0, 64) {
            Ok(part) => {
                assert_ne!(part.bytes, b"secret");
                read += 1;
            }
            Err(_refused) => refused += 1,
        }
        let bytes = format!("mine {round}");
        if let Ok(before) = files.before(&at("way/file")) {
            drop(write(&files, "way/file", &before, bytes.as_bytes()));
        }
        drop(files.list(Listing { folder: &at("way"), is_recursive: true, after: None, limit: 9 }));
    }
    goes_on.store(false, Ordering::Relaxed);
    swapping.join().unwrap();
    assert!(look(&outside) == before, "nothing of the outside is written");
    assert!(read > 0 && refused > 0, "{read} {refused}");
}

/// A pipe without a writer would be waited for, and a device may act when it is opened.
///
/// Proves WSP-020.
#[test]
fn only_plain_files_are_opened() {
    let place = Place::new();
    let folder = place.folder();
    mknodat(CWD, folder.join("pipe"), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    let _listener = UnixListener::bind(folder.join("socket")).unwrap();
    fs::create_dir(folder.join("inner")).unwrap();
    let files = files(&place);
    for (path, kind) in [("pipe", FileKind::Pipe), ("socket", FileKind::Socket), ("inner", FileKind::Folder)]
    {
        assert_eq!(files.stat(&at(path)).unwrap().kind, kind);
        let refused = files.read(&at(path), 0, 9);
        assert!(matches!(&refused, Err(FileError::Other { is, .. }) if *is == kind), "{refused:?}");
        let before = files.before(&at(path)).unwrap();
        assert!(matches!(write(&files, path, &before, b"x"), Err(FileError::Other { .. })), "{path}");
    }
    assert_eq!(files.stat(&InnerPath::root()).unwrap().kind, FileKind::Folder);
    assert!(matches!(files.stat(&at("pipe/x")), Err(FileError::Way(_))));
    let pattern = Pattern::words("x", Case::Kept).unwrap();
    let root = InnerPath::root();
    let found = files.search(Search { pattern: &pattern, within: &root, rules: ALL, from: None, limit: 9 });
    assert_eq!(found.unwrap().found, []);
    for path in ["pipe", "socket", "inner"] {
        files.remove(&at(path), &files.before(&at(path)).unwrap(), &fresh_name()).unwrap();
    }
    assert!(has(&place, &[]));
}

/// Proves WSP-019.
#[test]
fn names_of_any_bytes_can_be_shown_and_named() {
    let place = Place::new();
    let folder = place.folder();
    for name in [&b"\xff\xfe"[..], b"line\nbreak", b"back\\slash", b" ", b"-rf", "\u{202e}txt".as_bytes()] {
        fs::write(folder.join(OsStr::from_bytes(name)), name).unwrap();
    }
    fs::write(folder.join("n".repeat(255)), "long").unwrap();
    let files = files(&place);
    let root = InnerPath::root();
    let (listed, _) =
        files.list(Listing { folder: &root, is_recursive: false, after: None, limit: 99 }).unwrap();
    assert_eq!(listed.len(), 7);
    for (path, about) in listed {
        let again = at(&path.to_string());
        let part = files.read(&again, 0, 99).unwrap();
        assert_eq!(part.total, about.bytes, "{again}");
        write(&files, &path.to_string(), &files.before(&again).unwrap(), b"new").unwrap();
        files.remove(&again, &files.before(&again).unwrap(), &fresh_name()).unwrap();
    }
    assert!(has(&place, &[]));
}

/// Proves WSP-022, WSP-023.
#[test]
fn a_file_is_replaced_whole_and_only_if_it_is_what_was_seen() {
    let place = Place::new();
    let folder = place.folder();
    let files = files(&place);
    let nothing = files.before(&at("a")).unwrap();
    assert!(nothing.is_absent() && nothing.version == Some(Version::Absent));
    write(&files, "a", &nothing, b"one").unwrap();
    assert!(matches!(write(&files, "a", &nothing, b"two"), Err(FileError::Changed(_))));
    fs::set_permissions(folder.join("a"), fs::Permissions::from_mode(0o750)).unwrap();
    let one = files.before(&at("a")).unwrap();
    assert_eq!(one.version, Some(Version::of(b"one")));
    write(&files, "a", &one, b"two").unwrap();
    assert_eq!(fs::metadata(folder.join("a")).unwrap().permissions().mode() & 0o7777, 0o750);
    // Of the same size, in place, with the times of before: only what it holds shows it.
    let two = files.before(&at("a")).unwrap();
    let times = fs::metadata(folder.join("a")).unwrap();
    let file = fs::File::options().write(true).open(folder.join("a")).unwrap();
    std::io::Write::write_all(&mut &file, b"TWO").unwrap();
    file.set_modified(times.modified().unwrap()).unwrap();
    drop(file);
    for refused in [
        write(&files, "a", &two, b"three"),
        files.rename((&at("a"), &two), &at("b"), Folders::There),
        files.remove(&at("a"), &two, &fresh_name()),
    ] {
        assert!(matches!(refused, Err(FileError::Changed(_))), "{refused:?}");
    }
    assert_eq!(fs::read(folder.join("a")).unwrap(), b"TWO");
    assert!(has(&place, &["a"]), "nothing is left of what was refused");
}

/// Proves WSP-022.
#[test]
fn a_move_takes_no_place_and_a_folder_is_not_put_into_itself() {
    let place = Place::new();
    let folder = place.folder();
    fs::create_dir(folder.join("inner")).unwrap();
    fs::write(folder.join("a"), "one").unwrap();
    fs::write(folder.join("inner/b"), "two").unwrap();
    let files = files(&place);
    let a = files.before(&at("a")).unwrap();
    assert!(matches!(
        files.rename((&at("a"), &a), &at("inner/b"), Folders::There),
        Err(FileError::Exists(_))
    ));
    assert!(matches!(
        files.rename((&at("a"), &a), &at("none/b"), Folders::There),
        Err(FileError::NotFound(_))
    ));
    let inner = files.before(&at("inner")).unwrap();
    let itself = files.rename((&at("inner"), &inner), &at("inner/deeper"), Folders::There);
    assert!(matches!(itself, Err(FileError::InItself(_))), "{itself:?}");
    assert!(matches!(files.remove(&at("inner"), &inner, &fresh_name()), Err(FileError::NotEmpty(_))));
    files.rename((&at("a"), &a), &at("far/away/a"), Folders::Made).unwrap();
    files.rename((&at("inner"), &inner), &at("far/inner"), Folders::There).unwrap();
    assert_eq!(fs::read(folder.join("far/away/a")).unwrap(), b"one");
    assert_eq!(fs::read(folder.join("far/inner/b")).unwrap(), b"two");
    assert!(has(&place, &["far"]));
}

/// What a maker that died in the middle left is told from what is there, and nothing of it stays.
///
/// Proves WSP-021.
#[test]
fn what_became_of_a_change_is_read_from_what_is_there() {
    let place = Place::new();
    let folder = place.folder();
    let files = files(&place);
    let (one, two) = (Version::of(b"one"), Version::of(b"two"));
    let put = |name: &str, bytes: &str| fs::write(folder.join(name), bytes).unwrap();
    let settle = |before| files.settle_write(&at("a"), (before, two), "aside").unwrap();
    // Half of it is written.
    assert_eq!(settle(Some(Version::Absent)), Outcome::Undone);
    put("a", "one");
    put("aside", "tw");
    assert_eq!(settle(Some(one)), Outcome::Undone);
    assert!(has(&place, &["a"]));
    // They have changed places.
    put("a", "two");
    put("aside", "one");
    assert_eq!(settle(Some(one)), Outcome::Done);
    assert!(has(&place, &["a"]));
    // Somebody else wrote the last word.
    put("a", "three");
    assert_eq!(settle(Some(one)), Outcome::Unknown);
    put("a", "two");
    put("aside", "theirs");
    assert_eq!(settle(Some(one)), Outcome::Unknown);
    assert!(has(&place, &["a", "aside"]), "what is somebody else's stays");
    fs::remove_file(folder.join("aside")).unwrap();
    // A removal.
    let removal = || files.settle_removal(&at("a"), Some(two), "aside").unwrap();
    assert_eq!(removal(), Outcome::Undone);
    fs::rename(folder.join("a"), folder.join("aside")).unwrap();
    assert_eq!(removal(), Outcome::Undone);
    assert_eq!(fs::read(folder.join("a")).unwrap(), b"two");
    assert_eq!(files.settle_move(&at("a"), &at("b")).unwrap(), Outcome::Undone);
    fs::rename(folder.join("a"), folder.join("b")).unwrap();
    assert_eq!(files.settle_move(&at("a"), &at("b")).unwrap(), Outcome::Done);
    assert_eq!(removal(), Outcome::Done);
}

/// Proves WSP-024.
#[test]
fn parts_of_a_file_make_the_whole_and_a_large_one_has_no_version() {
    let place = Place::new();
    let folder = place.folder();
    let bytes = crate::support::noise(7, 300_001);
    fs::write(folder.join("a"), &bytes).unwrap();
    let files = files(&place);
    let mut whole = Vec::new();
    while whole.len() < bytes.len() {
        let part = files.read(&at("a"), whole.len() as u64, 100_000).unwrap();
        assert_eq!((part.total, part.version), (300_001, Some(Version::of(&bytes))));
        assert!(part.is_settled);
        whole.extend(part.bytes);
    }
    assert!(whole == bytes);
    assert_eq!(files.read(&at("a"), 400_000, 9).unwrap().bytes, b"");
    let large = fs::File::create(folder.join("large")).unwrap();
    large.set_len(VERSION_BYTES_MAX + 1).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&large, b"end", VERSION_BYTES_MAX - 2).unwrap();
    let part = files.read(&at("large"), VERSION_BYTES_MAX - 2, 99).unwrap();
    assert_eq!((part.bytes.as_slice(), part.version), (&b"end"[..], None));
    assert_eq!(files.before(&at("large")).unwrap().version, None);
}

/// Proves WSP-024.
#[test]
fn a_list_goes_on_where_it_ended() {
    let place = Place::new();
    let folder = place.folder();
    for path in ["a", "b/c/d", "b/e", "b-", "f/g"] {
        fs::create_dir_all(folder.join(path).parent().unwrap()).unwrap();
        fs::write(folder.join(path), path).unwrap();
    }
    let files = files(&place);
    let all = |is_recursive: bool, within: &str, limit: usize| {
        let (mut paths, mut after) = (Vec::new(), None);
        loop {
            let listing = Listing { folder: &at(within), is_recursive, after: after.as_ref(), limit };
            let (found, has_more) = files.list(listing).unwrap();
            paths.extend(found.iter().map(|(path, _)| path.to_string()));
            after = found.into_iter().map(|(path, _)| path).next_back();
            if !has_more {
                return paths;
            }
        }
    };
    for limit in [1, 2, 3, 99] {
        assert_eq!(all(true, ".", limit), ["a", "b", "b/c", "b/c/d", "b/e", "b-", "f", "f/g"], "{limit}");
        assert_eq!(all(false, ".", limit), ["a", "b", "b-", "f"], "{limit}");
        assert_eq!(all(true, "b", limit), ["b/c", "b/c/d", "b/e"], "{limit}");
    }
}

/// Proves WSP-025.
#[test]
fn a_search_says_what_it_did_not_look_at_and_goes_on_where_it_ended() {
    let place = Place::new();
    let folder = place.folder();
    fs::write(folder.join("a"), "one needle\nnothing\r\nneedle two\n").unwrap();
    fs::create_dir(folder.join("b")).unwrap();
    fs::write(folder.join("b/c"), "Needle\nthe needle").unwrap();
    fs::write(folder.join("binary"), b"needle\0needle").unwrap();
    fs::write(folder.join("z"), format!("{}needle{}", "x".repeat(3_000), "y".repeat(3_000))).unwrap();
    let files = files(&place);
    let root = InnerPath::root();
    let search = |pattern: &Pattern, within: &InnerPath, from: Option<SearchAt>, limit: usize| {
        files.search(Search { pattern, within, rules: ALL, from, limit }).unwrap()
    };
    let needle = Pattern::words("needle", Case::Kept).unwrap();
    let hits = [("a", 1, 4), ("a", 3, 20), ("b/c", 2, 11), ("z", 1, 3_000)];
    for limit in 1..6 {
        let (mut found, mut from) = (Vec::new(), None);
        loop {
            let done = search(&needle, &root, from, limit);
            assert!(done.found.len() <= limit);
            found.extend(done.found);
            from = done.next;
            if from.is_none() {
                break;
            }
        }
        let told: Vec<_> = found.iter().map(|hit| (hit.path.to_string(), hit.line, hit.offset)).collect();
        let expected: Vec<_> = hits.iter().map(|(path, line, at)| ((*path).to_owned(), *line, *at)).collect();
        assert_eq!(told, expected, "{limit}");
        assert!(found[3].is_cut && found[3].text.len() < 500 && found[3].text.contains("needle"));
        assert_eq!(found[1].text, "needle two");
    }
    let done = search(&needle, &root, None, 99);
    assert_eq!((done.files, done.binary, done.next), (3, 1, None));
    let other = Pattern::expression("^the +NEEDLE$", Case::Ignored).unwrap();
    assert_eq!(search(&other, &root, None, 99).found.len(), 1);
    assert_eq!(search(&other, &at("b/c"), None, 99).found.len(), 1);
    assert_eq!(search(&Pattern::words("n.e", Case::Kept).unwrap(), &root, None, 99).found, []);
    // An expression that would take for ever elsewhere, and one that would take up too much.
    fs::write(folder.join("z"), "a".repeat(100_000) + "b").unwrap();
    assert_eq!(search(&Pattern::expression("(a*)*b", Case::Kept).unwrap(), &root, None, 99).found.len(), 1);
    for bad in ["", "a\nb", "("] {
        assert!(Pattern::expression(bad, Case::Kept).is_err(), "{bad}");
    }
    assert!(Pattern::expression("(a{1000}){1000}", Case::Kept).is_err());
}

/// Proves WSP-025.
#[test]
fn a_search_passes_over_what_git_ignores() {
    let place = Place::new();
    let folder = place.folder();
    let git = std::process::Command::new("git").arg("init").arg("-q").arg(&folder).status();
    if !git.is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: there is no git");
        return;
    }
    fs::create_dir(folder.join("target")).unwrap();
    for path in ["target/needle", "kept", ".git/needle", "x.log"] {
        fs::write(folder.join(path), "needle").unwrap();
    }
    fs::write(folder.join(".gitignore"), "target/\n*.log\n").unwrap();
    let files = files(&place);
    let pattern = Pattern::words("needle", Case::Kept).unwrap();
    let root = InnerPath::root();
    let found = |rules| {
        let done = files.search(Search { pattern: &pattern, within: &root, rules, from: None, limit: 99 });
        let paths = done.unwrap().found.into_iter().map(|hit| hit.path.to_string());
        paths.filter(|path| Path::new(path).file_name() != Some(OsStr::new("config"))).collect::<Vec<_>>()
    };
    assert_eq!(found(BY_GIT), ["kept"]);
    assert_eq!(found(ALL), [".git/needle", "kept", "target/needle", "x.log"]);
}

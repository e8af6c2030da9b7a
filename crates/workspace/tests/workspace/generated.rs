//! Generated folders: what comes back is what was kept, and what differs is told exactly.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs,
    os::unix::{
        ffi::OsStrExt as _,
        fs::{FileExt as _, PermissionsExt as _, symlink},
    },
    path::{Path, PathBuf},
};

use edgeplane_workspace::{Change, Changed, Side};
use proptest::prelude::*;

use crate::support::{ALL, Place, Thing, look, noise};

/// Generated pairs of folders unless `EDGEPLANE_WORKSPACE_CASES` says otherwise.
const CASES: u32 = 40;

fn cases() -> u32 {
    std::env::var("EDGEPLANE_WORKSPACE_CASES").map_or(CASES, |text| text.parse().unwrap())
}

/// What a generated folder holds.
#[derive(Debug, Clone)]
enum Node {
    File { mode: u32, bytes: Vec<u8>, hole: u64 },
    Folder { mode: u32, inside: BTreeMap<Vec<u8>, Self> },
    Link(Vec<u8>),
}

fn name() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop::sample::select(b"ab.\xff\n *-\x01".to_vec());
    prop::collection::vec(byte, 1..4).prop_filter("a name", |name| name != b"." && name != b"..")
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        3 => prop::collection::vec(0..3_u8, 0..8),
        1 => (0..3_u64, 60_000..400_000_usize).prop_map(|(seed, count)| noise(seed, count)),
        1 => (1..200_000_usize).prop_map(|count| vec![0; count]),
    ]
}

fn node() -> impl Strategy<Value = Node> {
    let file_mode = prop::sample::select(vec![0o644, 0o600, 0o755, 0o444]);
    let hole = prop_oneof![5 => Just(0), 1 => Just(1_u64 << 20), 1 => Just(9 << 20)];
    let leaf = prop_oneof![
        4 => (file_mode, bytes(), hole).prop_map(|(mode, bytes, hole)| Node::File { mode, bytes, hole }),
        1 => prop::sample::select(vec![&b"a"[..], b"/etc", b"../..", b"\xfe"])
            .prop_map(|target| Node::Link(target.to_vec())),
    ];
    leaf.prop_recursive(3, 20, 6, |inner| {
        let mode = prop::sample::select(vec![0o755, 0o700, 0o555, 0o1777]);
        (mode, prop::collection::btree_map(name(), inner, 0..6))
            .prop_map(|(mode, inside)| Node::Folder { mode, inside })
    })
}

fn folder() -> impl Strategy<Value = BTreeMap<Vec<u8>, Node>> {
    prop::collection::btree_map(name(), node(), 0..8)
}

fn write(at: &Path, inside: &BTreeMap<Vec<u8>, Node>) {
    for (name, node) in inside {
        let path = at.join(OsStr::from_bytes(name));
        match node {
            Node::File { mode, bytes, hole } => {
                let file = fs::File::create(&path).unwrap();
                file.write_all_at(bytes, *hole).unwrap();
                file.set_len(hole + bytes.len() as u64).unwrap();
                fs::set_permissions(&path, fs::Permissions::from_mode(*mode)).unwrap();
            }
            Node::Folder { mode, inside } => {
                fs::create_dir(&path).unwrap();
                write(&path, inside);
                fs::set_permissions(&path, fs::Permissions::from_mode(*mode)).unwrap();
            }
            Node::Link(target) => symlink(OsStr::from_bytes(target), &path).unwrap(),
        }
    }
}

fn empty(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if fs::symlink_metadata(&path).unwrap().is_dir() {
            fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
            empty(&path);
            fs::remove_dir(&path).unwrap();
        } else {
            fs::remove_file(&path).unwrap();
        }
    }
}

fn side(thing: &Thing) -> Side {
    let small = |mode: u32| u16::try_from(mode).unwrap();
    match thing {
        Thing::File { mode, bytes } => Side::File { bytes: bytes.len() as u64, mode: small(*mode) },
        Thing::Folder { mode } => Side::Folder { mode: small(*mode) },
        Thing::Link(_) => Side::Link,
    }
}

/// What differs, by comparing everything.
fn difference(before: &BTreeMap<PathBuf, Thing>, after: &BTreeMap<PathBuf, Thing>) -> Vec<Change> {
    let paths: std::collections::BTreeSet<_> = before.keys().chain(after.keys()).collect();
    let change = |path: &PathBuf| {
        let changed = match (before.get(path), after.get(path)) {
            (Some(old), None) => Changed::Removed(side(old)),
            (None, Some(new)) => Changed::Added(side(new)),
            (Some(old), Some(new)) if old == new => return None,
            (Some(old), Some(new)) => match (old, new) {
                (Thing::File { bytes: one, .. }, Thing::File { bytes: other, .. }) if one == other => {
                    Changed::Mode(side(old), side(new))
                }
                (Thing::Folder { .. }, Thing::Folder { .. }) => Changed::Mode(side(old), side(new)),
                (Thing::File { .. }, Thing::File { .. }) | (Thing::Link(_), Thing::Link(_)) => {
                    Changed::Content(side(old), side(new))
                }
                _ => Changed::Kind(side(old), side(new)),
            },
            (None, None) => return None,
        };
        Some(Change { path: path.clone(), changed })
    };
    paths.into_iter().filter_map(change).collect()
}

fn sorted(mut changes: Vec<Change>) -> Vec<Change> {
    changes.sort_by(|one, other| one.path.cmp(&other.path));
    changes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    /// Proves WSP-001, WSP-002, WSP-003, WSP-007.
    #[test]
    fn what_comes_back_is_what_was_kept_and_differences_are_exact(one in folder(), other in folder()) {
        let place = Place::new();
        write(&place.folder(), &one);
        let first = look(&place.folder());
        let made = place.keep(&ALL);
        prop_assert_eq!(made.checkpoint.left_out_count, 0);
        empty(&place.folder());
        write(&place.folder(), &other);
        let second = look(&place.folder());
        let changed = place.keep(&ALL);

        let session = place.session();
        let (before, after) = (made.checkpoint.id, changed.checkpoint.id);
        prop_assert_eq!(sorted(session.diff(before, after).unwrap()), difference(&first, &second));
        prop_assert_eq!(sorted(session.diff(after, before).unwrap()), difference(&second, &first));
        prop_assert_eq!(session.diff(before, before).unwrap(), vec![]);

        let (kept, restored) = place.restore(before, &ALL);
        prop_assert_eq!(kept, after, "what was there was kept");
        prop_assert_eq!(restored.conflict_count, 0, "{:?}", restored.conflicts);
        prop_assert_eq!(&look(&place.folder()), &first);
        let (_before, restored) = place.restore(kept, &ALL);
        prop_assert_eq!(restored.conflict_count, 0, "{:?}", restored.conflicts);
        prop_assert_eq!(&look(&place.folder()), &second);
        empty(&place.folder());
    }
}

//! Every store of artifacts keeps what it is given, and says so of what it has not got.

use std::{fs, os::unix::fs::PermissionsExt as _};

use edgeplane_neighbour::{
    NeighbourError,
    artifact::{ArtifactStore, FolderArtifacts, MemoryArtifacts, sound},
};
use edgeplane_proof::digest;

/// Proves NBR-003.
#[test]
fn a_folder_and_memory_keep_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let folder = FolderArtifacts::new(dir.path().join("artifacts"));
    let memory = MemoryArtifacts::default();
    for store in [&folder as &dyn ArtifactStore, &memory] {
        let (one, two) = (b"one".as_slice(), b"".as_slice());
        assert_eq!(store.list().unwrap(), []);
        for bytes in [one, two, one] {
            store.put(&digest(bytes), bytes).unwrap();
        }
        let mut expected = [digest(one), digest(two)];
        expected.sort_unstable();
        assert_eq!(store.list().unwrap(), expected);
        assert_eq!(sound(store, &digest(one), 3).unwrap(), one);
        assert_eq!(sound(store, &digest(two), 0).unwrap(), two);
        assert!(matches!(store.get(&digest(one), 2), Err(NeighbourError::TooLarge { bytes: 3, .. })));
        for _twice in 0..2 {
            store.remove(&digest(one)).unwrap();
        }
        assert!(matches!(sound(store, &digest(one), 3), Err(NeighbourError::Missing { .. })));
        assert_eq!(store.list().unwrap(), [digest(two)]);
    }
}

/// Proves NBR-003, ART-006.
#[test]
fn what_was_changed_is_not_given() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("artifacts");
    let store = FolderArtifacts::new(root.clone());
    let kept = digest(b"kept");
    store.put(&kept, b"kept").unwrap();
    let name = kept.to_string();
    let path = root.join(&name[..2]).join(&name);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(&root).unwrap().permissions().mode() & 0o777, 0o700);
    for other in [b"kepT".as_slice(), b"kept and more", b""] {
        fs::write(&path, other).unwrap();
        assert!(matches!(sound(&store, &kept, 4), Err(NeighbourError::Damaged { .. })), "{other:?}");
    }
    // Whoever brings the same bytes again mends it.
    store.put(&kept, b"kept").unwrap();
    assert_eq!(sound(&store, &kept, 4).unwrap(), b"kept");
    // What is half written is not listed.
    fs::write(path.with_file_name(format!(".{name}.1-1.tmp")), b"ke").unwrap();
    assert_eq!(store.list().unwrap(), [kept]);
}

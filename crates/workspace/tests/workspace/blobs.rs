//! Blobs: kept by their digest, beside checkpoints.

use std::fs;

use edgeplane_workspace::{Blob, FileError, Files, Id, InnerPath, Version, WorkspaceError};

use crate::support::{ALL, Place, noise};

fn collect(place: &Place, named: &[Id], stay: &[Blob]) -> u64 {
    let named = || Ok::<_, WorkspaceError>(named.to_vec());
    place.store.collect_beside(named, |_is_needed| Ok(stay.to_vec())).unwrap().bytes_freed
}

/// Proves WSP-040.
#[test]
fn bytes_of_any_size_come_back_as_they_were_and_in_parts() {
    let place = Place::new();
    for bytes in [0, 1, 70_000, 4 << 20, (4 << 20) + 1, 9 << 20] {
        for content in [noise(bytes as u64, bytes), vec![0; bytes]] {
            let blob = place.session().put_blob(&content).unwrap();
            assert_eq!((Version::Of(blob.id), blob.bytes), (Version::of(&content), bytes as u64));
            let session = place.session();
            assert!(session.read_blob(&blob, 0, usize::MAX).unwrap() == content, "{bytes}");
            let middle = bytes / 2;
            let part = session.read_blob(&blob, middle as u64, 1_000).unwrap();
            assert!(part == content[middle..(middle + 1_000).min(bytes)], "{bytes}");
            assert_eq!(session.read_blob(&blob, u64::MAX, 1).unwrap(), [0_u8; 0]);
            // A file has the same digest, and takes no room besides.
            fs::write(place.folder().join("file"), &content).unwrap();
            let files = Files::open(&place.folder()).unwrap();
            assert_eq!(files.blob(&InnerPath::parse("file").unwrap(), &session).unwrap(), blob);
        }
    }
}

/// Proves WSP-040.
#[test]
fn no_link_and_no_folder_is_a_blob() {
    let place = Place::new();
    std::os::unix::fs::symlink("/etc/passwd", place.folder().join("link")).unwrap();
    let files = Files::open(&place.folder()).unwrap();
    let put = |path: &str| files.blob(&InnerPath::parse(path).unwrap(), &place.session()).unwrap_err();
    assert!(matches!(put("link"), FileError::Other { .. }));
    assert!(matches!(put("."), FileError::Other { .. }));
    assert!(matches!(put("none"), FileError::NotFound(_)));
    fs::File::create(place.folder().join("large")).unwrap().set_len((256 << 20) + 1).unwrap();
    assert!(matches!(put("large"), FileError::TooLarge(_)));
}

/// Proves WSP-041.
#[test]
fn a_collection_takes_what_neither_a_checkpoint_nor_a_blob_needs() {
    let place = Place::new();
    let (shared, alone) = (noise(1, 5 << 20), noise(2, 5 << 20));
    fs::write(place.folder().join("file"), &shared).unwrap();
    let kept = place.keep(&ALL).checkpoint.id;
    let (one, two) = (place.session().put_blob(&shared).unwrap(), place.session().put_blob(&alone).unwrap());
    assert_eq!(collect(&place, &[kept], &[one, two]), 0);
    // Whoever decides about it can ask whether a checkpoint has it.
    let mut needed = Vec::new();
    let stay = |is_needed: &dyn Fn(&Blob) -> bool| {
        needed = vec![is_needed(&one), is_needed(&two)];
        Ok::<_, WorkspaceError>(vec![two])
    };
    place.store.collect_beside(|| Ok(vec![kept]), stay).unwrap();
    assert_eq!(needed, [true, false]);
    assert!(collect(&place, &[kept], &[]) >= 5 << 20);
    assert!(matches!(place.session().read_blob(&two, 0, 1), Err(WorkspaceError::Missing(_))));
    assert!(place.session().read_blob(&one, 0, usize::MAX).unwrap() == shared);
    // Without the checkpoint the blob alone keeps it.
    collect(&place, &[], &[one]);
    assert!(place.session().read_blob(&one, 0, usize::MAX).unwrap() == shared);
}

/// Proves WSP-040.
#[test]
fn damage_is_said_and_never_read() {
    let place = Place::new();
    let blob = place.session().put_blob(&noise(1, 1 << 20)).unwrap();
    let pack = place.pack();
    let mut bytes = fs::read(&pack).unwrap();
    bytes[300_000] ^= 1;
    fs::write(&pack, bytes).unwrap();
    let error = place.session().read_blob(&blob, 0, usize::MAX).unwrap_err();
    assert!(matches!(error, WorkspaceError::Damaged { .. }), "{error:?}");
    let other =
        Blob { id: place.session().put_blob(b"x").unwrap().id, ..place.session().put_blob(b"y").unwrap() };
    let error = place.session().read_blob(&other, 0, usize::MAX).unwrap_err();
    assert!(matches!(error, WorkspaceError::Damaged { .. }), "{error:?}");
}

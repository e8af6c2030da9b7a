//! A store, a folder, and what is in it, read without the code that is tested.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use edgeplane_os::SystemClock;
use edgeplane_workspace::{Id, Made, Restored, Rules, Session, Store};

/// Everything that there is.
pub(crate) const ALL: Rules = Rules { keep_ignored: true, keep_git: true };

/// What git does not ignore.
pub(crate) const BY_GIT: Rules = Rules { keep_ignored: false, keep_git: false };

/// A store beside a folder.
pub(crate) struct Place {
    dir: tempfile::TempDir,
    pub(crate) store: Store,
}

impl Place {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(&dir.path().join("store"), Arc::new(SystemClock)).unwrap();
        fs::create_dir(dir.path().join("folder")).unwrap();
        Self { dir, store }
    }

    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.beside("folder")
    }

    pub(crate) fn session(&self) -> Session {
        self.store.session().unwrap()
    }

    /// Keeps the folder.
    pub(crate) fn keep(&self, rules: &Rules) -> Made {
        self.session().create(&self.folder(), rules, "key").unwrap()
    }

    /// Brings the folder back, and says what it was before.
    pub(crate) fn restore(&self, id: Id, rules: &Rules) -> (Id, Restored) {
        let session = self.session();
        let restore = session.restore(&self.folder(), id, (rules, "key")).unwrap();
        (restore.before().checkpoint.id, restore.apply().unwrap())
    }

    /// The only pack of the store.
    pub(crate) fn pack(&self) -> PathBuf {
        let packs: Vec<_> =
            fs::read_dir(self.beside("store/packs")).unwrap().map(|e| e.unwrap().path()).collect();
        assert_eq!(packs.len(), 1, "{packs:?}");
        packs.into_iter().next().unwrap()
    }
}

/// What something is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Thing {
    File { mode: u32, bytes: Vec<u8> },
    Folder { mode: u32 },
    Link(PathBuf),
}

/// All that is in a folder, by path; the folder itself is the empty one.
pub(crate) fn look(folder: &Path) -> BTreeMap<PathBuf, Thing> {
    let mut all = BTreeMap::new();
    look_into(folder, Path::new(""), &mut all);
    all
}

fn look_into(folder: &Path, path: &Path, all: &mut BTreeMap<PathBuf, Thing>) {
    let whole = if path.as_os_str().is_empty() { folder.to_owned() } else { folder.join(path) };
    let about = fs::symlink_metadata(&whole).unwrap();
    let mode = about.permissions().mode() & 0o7777;
    let thing = if about.is_symlink() {
        Thing::Link(fs::read_link(&whole).unwrap())
    } else if about.is_dir() {
        for entry in fs::read_dir(&whole).unwrap() {
            look_into(folder, &path.join(entry.unwrap().file_name()), all);
        }
        Thing::Folder { mode }
    } else if about.is_file() {
        Thing::File { mode, bytes: fs::read(&whole).unwrap() }
    } else {
        return;
    };
    all.insert(path.to_owned(), thing);
}

/// How much room a file takes.
pub(crate) fn room(path: &Path) -> u64 {
    fs::metadata(path).unwrap().blocks() * 512
}

/// Bytes that look like chance and are the same each time.
pub(crate) fn noise(seed: u64, count: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut bytes = Vec::with_capacity(count + 8);
    while bytes.len() < count {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes.truncate(count);
    bytes
}

//! The store: packs in a folder, and a session of somebody who adds to it and reads from it.

use std::{
    collections::HashMap,
    fs::DirBuilder,
    hash::{BuildHasherDefault, Hasher},
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use edgeplane_os::{Clock, atomic};

use crate::{
    error::WorkspaceError,
    id::Id,
    lock::Lock,
    pack::{Form, PACK_BYTES_MAX, PACK_ENDING, Pack, PackWriter, Row},
};

/// Where kept states are. It holds nothing open.
#[derive(Debug, Clone)]
pub struct Store {
    root: PathBuf,
    clock: Arc<dyn Clock>,
}

impl Store {
    /// The store in `root`, which is made if it is not there.
    ///
    /// # Errors
    /// If its folders cannot be made.
    pub fn new(root: &Path, clock: Arc<dyn Clock>) -> Result<Self, WorkspaceError> {
        let store = Self { root: root.to_owned(), clock };
        for folder in [root.to_owned(), packs_of(root), indexes_of(root)] {
            let made = DirBuilder::new().recursive(true).mode(0o700).create(&folder);
            made.map_err(|source| WorkspaceError::Store { what: "make", path: folder, source })?;
        }
        Ok(store)
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Begins to add and to read. As long as a session lives, nothing is removed from the store: whoever makes a
    /// checkpoint keeps it until its digest stands where it is looked for by a collection.
    ///
    /// # Errors
    /// If something is being removed, or the store cannot be read.
    pub fn session(&self) -> Result<Session, WorkspaceError> {
        let lock = Lock::shared(&self.root)?;
        Session::under(lock, &self.root, self.clock.clone())
    }

    /// A session of somebody who is alone.
    pub(crate) fn alone(&self) -> Result<Session, WorkspaceError> {
        let lock = Lock::alone(&self.root)?;
        Session::under(lock, &self.root, self.clock.clone())
    }
}

/// The folder of the packs.
pub(crate) fn packs_of(root: &Path) -> PathBuf {
    root.join("packs")
}

/// The folder of what was last seen of each workspace.
pub(crate) fn indexes_of(root: &Path) -> PathBuf {
    root.join("seen")
}

/// Digests are spread already.
#[derive(Debug, Default)]
pub(crate) struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        if let Some(eight) = bytes.first_chunk::<8>() {
            self.0 = u64::from_le_bytes(*eight);
        }
    }

    fn write_usize(&mut self, _length: usize) {}
}

pub(crate) type IdMap<V> = HashMap<Id, V, BuildHasherDefault<Spread>>;

/// Where an object is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    /// The number of its pack in the session; `None` while that is being written.
    pub(crate) pack: Option<u32>,
    pub(crate) offset: u64,
    pub(crate) stored: u32,
    pub(crate) size: u32,
    pub(crate) form: Form,
}

#[derive(Debug, Default)]
struct State {
    packs: Vec<Arc<Pack>>,
    places: IdMap<Place>,
    /// Packs that cannot be read.
    damaged: Vec<PathBuf>,
    /// The packs that are being written; the last one takes what comes next.
    writers: Vec<PackWriter>,
    bytes_new: u64,
}

impl State {
    fn know(&mut self, pack: Option<u32>, row: &Row) {
        let Row { id, offset, stored, size, form } = *row;
        // The first copy of an object serves; a second one may be in another pack.
        let place = Place { pack, offset, stored, size, form };
        let known = self.places.entry(id).or_insert(place);
        if known.pack.is_none() {
            *known = place;
        }
    }

    fn adopt(&mut self, mut pack: Pack) {
        let number = u32::try_from(self.packs.len()).ok();
        for row in pack.take_rows() {
            self.know(number, &row);
        }
        self.packs.push(Arc::new(pack));
    }
}

/// Somebody who adds to a store and reads from it.
#[derive(Debug)]
pub struct Session {
    root: PathBuf,
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
    #[expect(dead_code, reason = "it is held, not used")]
    lock: Lock,
}

impl Session {
    fn under(lock: Lock, root: &Path, clock: Arc<dyn Clock>) -> Result<Self, WorkspaceError> {
        let mut state = State::default();
        for path in files_of(&packs_of(root), PACK_ENDING)? {
            match Pack::open(&path)? {
                Some(pack) => state.adopt(pack),
                None => state.damaged.push(path),
            }
        }
        Ok(Self { root: root.to_owned(), clock, state: Mutex::new(state), lock })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    /// The packs that could not be read; what is in them is missing.
    pub(crate) fn damaged(&self) -> Vec<PathBuf> {
        self.state().damaged.clone()
    }

    pub(crate) fn packs(&self) -> Vec<Arc<Pack>> {
        self.state().packs.clone()
    }

    pub(crate) fn places(&self) -> Vec<(Id, Place)> {
        self.state().places.iter().map(|(id, place)| (*id, *place)).collect()
    }

    /// Whether an object is kept.
    pub(crate) fn knows(&self, id: Id) -> bool {
        id == Id::ZEROS || self.state().places.contains_key(&id)
    }

    pub(crate) fn place(&self, id: Id) -> Option<Place> {
        self.state().places.get(&id).copied()
    }

    pub(crate) fn pack(&self, number: u32) -> Option<Arc<Pack>> {
        self.state().packs.get(usize::try_from(number).ok()?).cloned()
    }

    /// Adds an object, unless somebody has meanwhile.
    pub(crate) fn append(&self, id: Id, form: Form, size: u32, stored: &[u8]) -> Result<(), WorkspaceError> {
        let mut state = self.state();
        if state.places.contains_key(&id) {
            return Ok(());
        }
        let has_room = state.writers.last().is_some_and(|writer| writer.bytes() < PACK_BYTES_MAX);
        if !has_room {
            let writer = PackWriter::create(&packs_of(&self.root))?;
            state.writers.push(writer);
        }
        let Some(writer) = state.writers.last_mut() else { return Err(WorkspaceError::Thread) };
        let row = writer.append(id, form, size, stored)?;
        state.know(None, &row);
        state.bytes_new = state.bytes_new.saturating_add(u64::from(row.stored));
        Ok(())
    }

    /// Makes durable what was added, and says how many bytes that were since the last time.
    pub(crate) fn seal(&self) -> Result<u64, WorkspaceError> {
        let mut state = self.state();
        let bytes = std::mem::take(&mut state.bytes_new);
        let writers = std::mem::take(&mut state.writers);
        if writers.is_empty() {
            return Ok(0);
        }
        for writer in writers {
            let pack = writer.seal()?;
            state.adopt(pack);
        }
        let folder = packs_of(&self.root);
        atomic::sync_dir(&folder).map_err(|source| WorkspaceError::Store {
            what: "sync",
            path: folder,
            source,
        })?;
        Ok(bytes)
    }
}

/// The files of a folder whose names end so, in order.
pub(crate) fn files_of(folder: &Path, ending: &str) -> Result<Vec<PathBuf>, WorkspaceError> {
    let failed = |source| WorkspaceError::Store { what: "list", path: folder.to_owned(), source };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|own| own == ending) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

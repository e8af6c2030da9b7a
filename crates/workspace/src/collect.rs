//! Removing what no checkpoint that is still named needs.

use std::{collections::HashSet, path::Path};

use crate::{
    blob::Blob,
    content::{Content, list_of},
    error::WorkspaceError,
    id::Id,
    pack::{PACK_BYTES_MAX, PACK_ENDING, PARTIAL_ENDING, PackWriter, ROW_BYTES},
    stat_index::{INDEX_ENDING, StatIndex},
    store::{IdMap, Place, Session, Store, files_of, indexes_of, packs_of},
    tree::Node,
};

/// A pack with less than this part in use is written anew, without the rest.
const USED_PERCENT_MIN: u64 = 60;

/// A pack that is smaller counts as small.
const SMALL_BYTES: u64 = 8 * 1024 * 1024;

/// This many small packs are made into one: each costs a look whenever the store is opened.
const SMALL_MAX: usize = 16;

/// What a collection did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Collected {
    /// Bytes that the store has less.
    pub bytes_freed: u64,
    /// Objects that are no more. Their bytes may stay a while beside others that are used.
    pub objects_removed: u64,
    /// Objects that stay.
    pub objects_kept: u64,
}

/// What is needed.
#[derive(Debug, Default)]
struct Needed {
    objects: IdMap<()>,
    contents: HashSet<Content>,
    folders: HashSet<Content>,
}

impl Store {
    /// Removes what is needed by none of the checkpoints that `named` says, which is asked once nobody adds any more.
    ///
    /// # Errors
    /// If somebody uses the store, or something of what is needed cannot be read: nothing is removed then.
    pub fn collect<E: From<WorkspaceError>>(
        &self,
        named: impl FnOnce() -> Result<Vec<Id>, E>,
    ) -> Result<Collected, E> {
        self.collect_beside(named, |_is_needed| Ok(Vec::new()))
    }

    /// The same, with blobs: `blobs` says which of them stay, and may ask whether a checkpoint that stays has the bytes of
    /// one in a file.
    ///
    /// # Errors
    /// If somebody uses the store, or something of what is needed cannot be read: nothing is removed then.
    pub fn collect_beside<E: From<WorkspaceError>>(
        &self,
        named: impl FnOnce() -> Result<Vec<Id>, E>,
        blobs: impl FnOnce(&dyn Fn(&Blob) -> bool) -> Result<Vec<Blob>, E>,
    ) -> Result<Collected, E> {
        let session = self.alone()?;
        if let Some(damaged) = session.damaged().into_iter().next() {
            return Err(WorkspaceError::DamagedPack(damaged).into());
        }
        let mut needed = Needed::default();
        for id in named()? {
            needed.checkpoint(&session, id)?;
        }
        let stay = blobs(&|blob| needed.contents.contains(&blob.content()))?;
        for blob in stay {
            needed.content(&session, &blob.content())?;
        }
        Ok(self.sweep(&session, &needed)?)
    }

    fn sweep(&self, session: &Session, needed: &Needed) -> Result<Collected, WorkspaceError> {
        // First what would else be believed to be there.
        for path in files_of(&indexes_of(self.root()), INDEX_ENDING)? {
            let mut index = StatIndex::load(&path);
            if index.retain(|content| needed.contents.contains(content)) {
                index.save(&path)?;
            }
        }
        let packs = packs_of(self.root());
        let collected = sweep_packs(session, &packs, needed)?;
        for partial in files_of(&packs, PARTIAL_ENDING)? {
            remove(&partial)?;
        }
        Ok(collected)
    }
}

impl Needed {
    fn checkpoint(&mut self, session: &Session, id: Id) -> Result<(), WorkspaceError> {
        self.object(session, id)?;
        let tree = session.get(id)?.tree;
        self.folder(session, &tree)
    }

    fn folder(&mut self, session: &Session, tree: &Content) -> Result<(), WorkspaceError> {
        if !self.folders.insert(*tree) {
            return Ok(());
        }
        self.content(session, tree)?;
        for entry in session.read_tree(tree)? {
            match entry.node {
                Node::File { content, .. } => self.content(session, &content)?,
                Node::Folder { content, .. } => self.folder(session, &content)?,
                Node::Link { .. } => {}
            }
        }
        Ok(())
    }

    fn content(&mut self, session: &Session, content: &Content) -> Result<(), WorkspaceError> {
        if content.size == 0 || !self.contents.insert(*content) {
            return Ok(());
        }
        if let Some(list) = list_of(content)? {
            self.content(session, &list)?;
        }
        session.objects(content)?.into_iter().try_for_each(|id| self.object(session, id))
    }

    fn object(&mut self, session: &Session, id: Id) -> Result<(), WorkspaceError> {
        if id == Id::ZEROS || self.objects.insert(id, ()).is_some() {
            return Ok(());
        }
        session.parts(id)?.into_iter().try_for_each(|part| self.object(session, part))
    }
}

/// The objects of one pack.
#[derive(Debug, Default)]
struct InPack {
    used: Vec<(Id, Place)>,
    used_bytes: u64,
    unused: Vec<Id>,
}

fn sweep_packs(session: &Session, folder: &Path, needed: &Needed) -> Result<Collected, WorkspaceError> {
    let packs = session.packs();
    let mut contents: Vec<InPack> = packs.iter().map(|_pack| InPack::default()).collect();
    for (id, place) in session.places() {
        let number = place.pack.and_then(|number| usize::try_from(number).ok());
        let Some(own) = number.and_then(|number| contents.get_mut(number)) else { continue };
        if needed.objects.contains_key(&id) {
            own.used.push((id, place));
            own.used_bytes =
                own.used_bytes.saturating_add(u64::from(place.stored)).saturating_add(ROW_BYTES as u64);
        } else {
            own.unused.push(id);
        }
    }
    let sizes: Result<Vec<u64>, _> = packs.iter().map(|pack| size_of(pack.path())).collect();
    let sizes = sizes?;
    let small = sizes.iter().filter(|size| **size < SMALL_BYTES).count() > SMALL_MAX;
    let mut collected = Collected::default();
    let (mut writer, mut old) = (None, Vec::new());
    for ((pack, own), size) in packs.iter().zip(contents).zip(&sizes) {
        collected.objects_kept = collected.objects_kept.saturating_add(own.used.len() as u64);
        let is_wasteful = own.used_bytes.saturating_mul(100) < size.saturating_mul(USED_PERCENT_MIN);
        let is_rewritten = is_wasteful || (small && *size < SMALL_BYTES);
        collected.objects_removed = collected.objects_removed.saturating_add(own.unused.len() as u64);
        if is_rewritten {
            copy(session, own.used, (folder, &mut writer))?;
            old.push(pack);
        } else if !own.unused.is_empty() {
            pack.drop_objects(&own.unused)?;
        }
    }
    let before: u64 = sizes.iter().sum();
    if let Some(writer) = writer {
        PackWriter::seal(writer)?;
    }
    edgeplane_os::atomic::sync_dir(folder).map_err(|source| WorkspaceError::Store {
        what: "sync",
        path: folder.to_owned(),
        source,
    })?;
    old.iter().try_for_each(|pack| pack.remove())?;
    let mut after: u64 = 0;
    for path in files_of(folder, PACK_ENDING)? {
        after = after.saturating_add(size_of(&path)?);
    }
    collected.bytes_freed = before.saturating_sub(after);
    Ok(collected)
}

/// Copies what is used of a pack as it stands there: what is damaged stays so, and is found when it is read.
fn copy(
    session: &Session,
    mut used: Vec<(Id, Place)>,
    (folder, writer): (&Path, &mut Option<PackWriter>),
) -> Result<(), WorkspaceError> {
    used.sort_unstable_by_key(|(_id, place)| place.offset);
    for (id, place) in used {
        let stored = session.stored(id, &place)?;
        let into = match writer {
            Some(writer) => writer,
            None => writer.insert(PackWriter::create(folder)?),
        };
        into.append(id, place.form, place.size, &stored)?;
        if into.bytes() >= PACK_BYTES_MAX
            && let Some(full) = writer.take()
        {
            full.seal()?;
        }
    }
    Ok(())
}

fn size_of(path: &Path) -> Result<u64, WorkspaceError> {
    let about = std::fs::metadata(path);
    about.map(|about| about.len()).map_err(|source| WorkspaceError::Store {
        what: "look at",
        path: path.to_owned(),
        source,
    })
}

fn remove(path: &Path) -> Result<(), WorkspaceError> {
    std::fs::remove_file(path).map_err(|source| WorkspaceError::Store {
        what: "remove",
        path: path.to_owned(),
        source,
    })
}

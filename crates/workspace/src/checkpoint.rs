//! Checkpoints: making one of a folder, and what one says of itself.

use std::{
    collections::HashSet,
    os::{fd::AsFd as _, unix::ffi::OsStrExt as _},
    path::{Path, PathBuf},
};

use crate::{
    content::Content,
    error::WorkspaceError,
    git,
    id::Id,
    object::OBJECT_BYTES_MAX,
    read::{Readers, Reading},
    seen::Seen,
    stat_index::{self, Kept, StatIndex},
    store::Session,
    tree::{Entry, Node, Reader, put_content, put_sized},
    walk::{Aside, Folder, Walk, What, open_root},
};

/// How a checkpoint begins.
const MAGIC: &[u8; 4] = b"EPC1";

/// How many paths that were left out are listed; all are counted.
const LISTED_MAX: usize = 1_000;

/// How many bytes their list has.
const LISTED_BYTES_MAX: usize = OBJECT_BYTES_MAX / 4;

/// What of a folder is kept that is a work tree of git.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// Whether to keep what git ignores.
    pub keep_ignored: bool,
    /// Whether to keep what git writes down itself, in `.git`.
    pub keep_git: bool,
}

/// Why something in a folder is not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// It is a socket.
    Socket,
    /// It is a pipe.
    Pipe,
    /// It is a device.
    Device,
    /// It is on another file system.
    OtherFileSystem,
    /// It cannot be read.
    Unreadable,
    /// It became something else while it was looked at.
    Changing,
    /// It is larger than any file that is kept.
    TooLarge,
}

impl Why {
    const ALL: [Self; 7] = [
        Self::Socket,
        Self::Pipe,
        Self::Device,
        Self::OtherFileSystem,
        Self::Unreadable,
        Self::Changing,
        Self::TooLarge,
    ];

    /// The word that programs read.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Socket => "socket",
            Self::Pipe => "pipe",
            Self::Device => "device",
            Self::OtherFileSystem => "other_file_system",
            Self::Unreadable => "unreadable",
            Self::Changing => "changing",
            Self::TooLarge => "too_large",
        }
    }

    fn number(self) -> u8 {
        (0..).zip(Self::ALL).find_map(|(number, why)| (why == self).then_some(number)).unwrap_or(u8::MAX)
    }
}

/// Something that is not kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Its path beneath the folder.
    pub path: PathBuf,
    /// Why.
    pub why: Why,
}

/// What there is in a folder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Files.
    pub files: u64,
    /// Folders, without itself.
    pub folders: u64,
    /// Symbolic links.
    pub links: u64,
    /// Bytes in files.
    pub bytes: u64,
}

/// A kept state of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// Its digest: the same states have the same one.
    pub id: Id,
    /// What is in it.
    pub counts: Counts,
    /// What is not, as far as it is listed.
    pub left_out: Vec<LeftOut>,
    /// How much is not.
    pub left_out_count: u64,
    /// The permissions of the folder itself.
    pub(crate) mode: u16,
    /// What the folder holds.
    pub(crate) tree: Content,
}

/// A checkpoint that was made.
#[derive(Debug)]
pub struct Made {
    /// What is kept.
    pub checkpoint: Checkpoint,
    /// How many bytes the store has more.
    pub bytes_new: u64,
    /// How many files were read; the others had not changed since the last time.
    pub files_read: u64,
    /// Files that changed each time they were read: what was read last is kept and may be half of a change.
    pub unsettled: Vec<PathBuf>,
}

/// A folder that was looked at and kept.
#[derive(Debug)]
pub(crate) struct Scan {
    pub(crate) made: Made,
    pub(crate) folder: Folder,
}

/// What the files of a folder were, on the way to a checkpoint.
#[derive(Debug, Default)]
struct Keeping {
    counts: Counts,
    rows: Vec<(Seen, Kept)>,
}

impl Session {
    /// Keeps the state of a folder. What was last seen of it is remembered under `key`.
    ///
    /// # Errors
    /// If the folder or something of it cannot be read, or the store not be written.
    pub fn create(&self, folder: &Path, rules: &Rules, key: &str) -> Result<Made, WorkspaceError> {
        Ok(self.scan(folder, rules, key)?.made)
    }

    pub(crate) fn scan(&self, path: &Path, rules: &Rules, key: &str) -> Result<Scan, WorkspaceError> {
        let root = open_root(path)?;
        let ignored = if rules.keep_ignored { HashSet::new() } else { git::ignored(path, &root)? };
        let index_path = stat_index::path_of(self.root(), key);
        let index = StatIndex::load(&index_path);
        let reading = Reading { session: self, tick: stat_index::tick_of(root.as_fd()) };
        let (mut found, mut aside) = Readers::beside(&reading, |readers| {
            Walk::new(self, readers, &index, (rules, &ignored)).all(root)
        })?;
        found.settle(Path::new(""), &mut aside);
        let mut keeping = Keeping::default();
        let tree = keep(self, &mut found, &mut keeping)?;
        let checkpoint = self.write_down(&found, tree, (keeping.counts, &mut aside))?;
        let bytes_new = self.seal()?;
        keeping.rows.retain(|(_seen, kept)| kept.is_sure);
        let index_now = StatIndex::of(keeping.rows);
        if index_now != index {
            index_now.save(&index_path)?;
        }
        let Aside { unsettled, read, .. } = aside;
        Ok(Scan { made: Made { checkpoint, bytes_new, files_read: read, unsettled }, folder: found })
    }

    fn write_down(
        &self,
        folder: &Folder,
        tree: Content,
        (counts, aside): (Counts, &mut Aside),
    ) -> Result<Checkpoint, WorkspaceError> {
        let left_out_count = aside.left_out.len() as u64;
        let mut left_out = std::mem::take(&mut aside.left_out);
        left_out.sort_by(|one, other| one.path.cmp(&other.path));
        left_out.truncate(LISTED_MAX);
        let mut room = LISTED_BYTES_MAX;
        left_out.retain(|item| {
            let fits = room.checked_sub(item.path.as_os_str().len());
            room = fits.unwrap_or(0);
            fits.is_some()
        });
        let id = Id::ZEROS;
        let mut checkpoint =
            Checkpoint { id, counts, left_out, left_out_count, mode: folder.seen.kept_mode(), tree };
        checkpoint.id = self.put_object(&written(&checkpoint))?;
        Ok(checkpoint)
    }

    /// What a checkpoint says of itself.
    ///
    /// # Errors
    /// If it is not in the store, or damaged.
    pub fn get(&self, id: Id) -> Result<Checkpoint, WorkspaceError> {
        let bytes = self.read_object(id)?;
        read(id, &bytes).ok_or(WorkspaceError::Damaged { id, reason: "it is not a checkpoint" })
    }
}

/// Keeps a folder from its deepest one on.
fn keep(session: &Session, folder: &mut Folder, keeping: &mut Keeping) -> Result<Content, WorkspaceError> {
    let mut entries = Vec::with_capacity(folder.entries.len());
    for found in &mut folder.entries {
        let mode = found.seen.kept_mode();
        let counts = &mut keeping.counts;
        let node = match &mut found.what {
            What::File(kept) => {
                counts.files = counts.files.saturating_add(1);
                counts.bytes = counts.bytes.saturating_add(kept.content.size);
                keeping.rows.push((found.seen, *kept));
                Node::File { mode, has_holes: kept.has_holes, content: kept.content }
            }
            What::Folder(inner) => {
                counts.folders = counts.folders.saturating_add(1);
                Node::Folder { mode, content: keep(session, inner, keeping)? }
            }
            What::Link(target) => {
                counts.links = counts.links.saturating_add(1);
                Node::Link { target: target.clone() }
            }
            What::Reading(_) => continue,
        };
        entries.push(Entry { name: found.name.clone(), node });
    }
    let content = session.put_tree(&entries)?;
    folder.content = Some(content);
    Ok(content)
}

fn written(checkpoint: &Checkpoint) -> Vec<u8> {
    let Counts { files, folders, links, bytes } = checkpoint.counts;
    let mut written = MAGIC.to_vec();
    written.extend_from_slice(&checkpoint.mode.to_le_bytes());
    put_content(&mut written, &checkpoint.tree);
    for number in [files, folders, links, bytes, checkpoint.left_out_count] {
        written.extend_from_slice(&number.to_le_bytes());
    }
    for LeftOut { path, why } in &checkpoint.left_out {
        written.push(why.number());
        put_sized(&mut written, path.as_os_str().as_bytes());
    }
    written
}

fn read(id: Id, bytes: &[u8]) -> Option<Checkpoint> {
    let mut rest = Reader(bytes.strip_prefix(MAGIC)?);
    let (mode, tree) = (rest.small()?, rest.content()?);
    let (files, folders, links, bytes) = (rest.number()?, rest.number()?, rest.number()?, rest.number()?);
    let left_out_count = rest.number()?;
    let mut left_out = Vec::new();
    while !rest.0.is_empty() {
        let why = *Why::ALL.get(usize::from(rest.byte()?))?;
        let path = PathBuf::from(std::ffi::OsStr::from_bytes(rest.sized()?));
        left_out.push(LeftOut { path, why });
    }
    Some(Checkpoint {
        id,
        counts: Counts { files, folders, links, bytes },
        left_out,
        left_out_count,
        mode,
        tree,
    })
}

//! What was last seen of each file of a workspace, so that what has not changed is not read again.
//!
//! It is a cache: whatever is wrong with it, files are read. Files of which a later change might not show are not in it.

use std::{
    fs::File,
    os::fd::BorrowedFd,
    path::{Path, PathBuf},
};

use edgeplane_os::{Entropy as _, SystemEntropy};
use rustix::fs::fstatfs;

use crate::{
    content::Content,
    error::WorkspaceError,
    id::Id,
    seen::Seen,
    store::indexes_of,
    tree::{Reader, put_content},
};

const MAGIC: &[u8; 4] = b"EPS1";

/// How an index is called.
pub(crate) const INDEX_ENDING: &str = "index";

/// The coarsest tick of a local file system, and some more.
const TICK_LOCAL_NS: i64 = 20_000_000;

/// The same of any other: FAT counts every other second, and a server has a clock of its own.
const TICK_OTHER_NS: i64 = 2_500_000_000;

/// File systems whose times come from the kernel's own clock: ext, xfs, btrfs, tmpfs, overlay, f2fs, zfs.
const LOCAL: &[u64] = &[0xEF53, 0x5846_5342, 0x9123_683E, 0x0102_1994, 0x794C_7630, 0xF2F5_2010, 0x2FC1_2FC1];

/// The tick of the file system that a folder is on.
pub(crate) fn tick_of(folder: BorrowedFd<'_>) -> i64 {
    let kind = fstatfs(folder).ok().and_then(|about| u64::try_from(about.f_type).ok());
    if kind.is_some_and(|kind| LOCAL.contains(&kind)) { TICK_LOCAL_NS } else { TICK_OTHER_NS }
}

/// What is kept of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kept {
    pub(crate) content: Content,
    /// Whether zeros in it take no room.
    pub(crate) has_holes: bool,
    /// Whether a change since it was read would show.
    pub(crate) is_sure: bool,
}

/// What was last seen of the files of a workspace.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct StatIndex {
    /// In the order of device and inode.
    rows: Vec<(Seen, Kept)>,
}

impl StatIndex {
    /// Makes an index of what was seen from here on.
    pub(crate) fn of(mut rows: Vec<(Seen, Kept)>) -> Self {
        rows.sort_unstable_by_key(|(seen, _kept)| (seen.device, seen.inode));
        rows.dedup_by_key(|(seen, _kept)| (seen.device, seen.inode));
        Self { rows }
    }

    /// Reads an index; whatever is wrong with it, it is empty then.
    pub(crate) fn load(path: &Path) -> Self {
        let bytes = std::fs::read(path).unwrap_or_default();
        Self { rows: read(&bytes).unwrap_or_default() }
    }

    /// What is kept of a file that is still as it was.
    pub(crate) fn find(&self, seen: &Seen) -> Option<Kept> {
        self.row(seen).filter(|(before, _kept)| before.is_still(seen)).map(|(_seen, kept)| *kept)
    }

    /// What a file held when it was read last, whatever became of it.
    pub(crate) fn former(&self, seen: &Seen) -> Option<Content> {
        self.row(seen).map(|(_seen, kept)| kept.content)
    }

    fn row(&self, seen: &Seen) -> Option<&(Seen, Kept)> {
        let key = (seen.device, seen.inode);
        let found = self.rows.binary_search_by_key(&key, |(seen, _kept)| (seen.device, seen.inode)).ok()?;
        self.rows.get(found)
    }

    /// Leaves out what this says no to; says whether there was any.
    pub(crate) fn retain(&mut self, mut holds: impl FnMut(&Content) -> bool) -> bool {
        let before = self.rows.len();
        self.rows.retain(|(_seen, kept)| holds(&kept.content));
        self.rows.len() != before
    }

    /// Writes the index whole. It is not made durable: without it, files are read.
    pub(crate) fn save(&self, path: &Path) -> Result<(), WorkspaceError> {
        let mut suffix = [0; 8];
        SystemEntropy.fill(&mut suffix);
        let partial = path.with_extension(format!("{:016x}", u64::from_le_bytes(suffix)));
        let written = File::create(&partial).and_then(|mut file| {
            std::io::Write::write_all(&mut file, &self.written())?;
            std::fs::rename(&partial, path)
        });
        written.map_err(|source| {
            std::fs::remove_file(&partial).unwrap_or_default();
            WorkspaceError::Store { what: "write", path: path.to_owned(), source }
        })
    }

    fn written(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        for (seen, kept) in &self.rows {
            for number in [seen.device, seen.inode, seen.size] {
                bytes.extend_from_slice(&number.to_le_bytes());
            }
            for time in [seen.modified, seen.changed] {
                bytes.extend_from_slice(&time.to_le_bytes());
            }
            bytes.extend_from_slice(&u64::from(seen.mode).to_le_bytes());
            bytes.push(u8::from(kept.has_holes));
            put_content(&mut bytes, &kept.content);
        }
        let digest = Id::of(&bytes);
        bytes.extend_from_slice(digest.as_bytes());
        bytes
    }
}

/// Where the index of a workspace is.
pub(crate) fn path_of(root: &Path, key: &str) -> PathBuf {
    indexes_of(root).join(format!("{}.{INDEX_ENDING}", Id::of(key.as_bytes())))
}

fn read(bytes: &[u8]) -> Option<Vec<(Seen, Kept)>> {
    let (body, digest) = bytes.split_last_chunk::<{ Id::BYTES }>()?;
    let mut rest = Reader(body.strip_prefix(MAGIC)?);
    if Id::of(body).as_bytes() != digest {
        return None;
    }
    let mut rows = Vec::with_capacity(body.len() / 80);
    while !rest.0.is_empty() {
        let (device, inode, size) = (rest.number()?, rest.number()?, rest.number()?);
        let (modified, changed) = (rest.number()?.cast_signed(), rest.number()?.cast_signed());
        let mode = u32::try_from(rest.number()?).ok()?;
        let has_holes = rest.byte()? != 0;
        let kept = Kept { content: rest.content()?, has_holes, is_sure: true };
        rows.push((Seen { device, inode, size, modified, changed, mode, has_holes }, kept));
    }
    Some(rows)
}

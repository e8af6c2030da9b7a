//! What the kernel says of a file: enough to tell later whether it is still the same.

use rustix::fs::{FileType, Stat};

use crate::checkpoint::Why;

/// The permissions that are kept of a file: not those by which it would run as its owner, for a file that is brought
/// back may have another one.
const FILE_MODE: u32 = 0o777;

/// The permissions that are kept of a folder.
const FOLDER_MODE: u32 = 0o3777;

/// What the kernel says of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) device: u64,
    pub(crate) inode: u64,
    pub(crate) size: u64,
    /// Nanoseconds since 1970.
    pub(crate) modified: i64,
    /// The same, of the last change of anything about it.
    pub(crate) changed: i64,
    pub(crate) mode: u32,
    /// Whether it takes less room than it has bytes.
    pub(crate) has_holes: bool,
}

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Folder,
    Link,
    /// Nothing that is kept.
    Other(Why),
}

impl Seen {
    pub(crate) fn of(stat: &Stat) -> Self {
        let size = u64::try_from(stat.st_size).unwrap_or(0);
        let room = u64::try_from(stat.st_blocks).unwrap_or(0).saturating_mul(512);
        Self {
            device: stat.st_dev,
            inode: stat.st_ino,
            size,
            modified: nanoseconds(stat.st_mtime, stat.st_mtime_nsec),
            changed: nanoseconds(stat.st_ctime, stat.st_ctime_nsec),
            mode: stat.st_mode,
            has_holes: room < size,
        }
    }

    pub(crate) fn kind(&self) -> Kind {
        match FileType::from_raw_mode(self.mode) {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Folder,
            FileType::Symlink => Kind::Link,
            FileType::Fifo => Kind::Other(Why::Pipe),
            FileType::Socket => Kind::Other(Why::Socket),
            FileType::CharacterDevice | FileType::BlockDevice | FileType::Unknown => Kind::Other(Why::Device),
        }
    }

    /// The permissions that are kept of it.
    pub(crate) fn kept_mode(&self) -> u16 {
        let mask = match self.kind() {
            Kind::Folder => FOLDER_MODE,
            Kind::File => FILE_MODE,
            Kind::Link | Kind::Other(_) => 0,
        };
        u16::try_from(self.mode & mask).unwrap_or(0)
    }

    /// Whether it is the same file with the same bytes, as far as the kernel says.
    pub(crate) fn is_still(&self, later: &Self) -> bool {
        self.changed == later.changed && self.is_same_content(later)
    }

    /// The same, of a file that was given another name since; that changes it.
    pub(crate) fn is_same_content(&self, later: &Self) -> bool {
        (self.device, self.inode, self.size, self.modified, self.mode)
            == (later.device, later.inode, later.size, later.modified, later.mode)
    }
}

fn nanoseconds(seconds: i64, rest: impl TryInto<i64>) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(rest.try_into().unwrap_or(0))
}

//! Looking at files and reading them: what is told of the contents is of the very bytes that were read.

use std::{
    fmt,
    fs::File,
    io::{self, Read as _},
    os::{fd::OwnedFd, unix::fs::FileExt as _},
    str::FromStr,
};

use rustix::{
    fs::{Mode, OFlags, fstat, openat, readlinkat},
    io::Errno,
};

use super::{FileError, Files, kind_of, not_opened, step};
use crate::{
    id::{Id, IdError},
    inner_path::InnerPath,
    seen::{Kind, Seen},
};

/// Larger files have no version: telling it would mean to read all of them each time.
pub const VERSION_BYTES_MAX: u64 = 256 << 20;

/// How often a file is read that changes meanwhile.
pub(super) const ATTEMPTS: u32 = 3;

/// What is read at one go.
const BUFFER_BYTES: usize = 128 << 10;

/// What something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A plain file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// A pipe.
    Pipe,
    /// A socket.
    Socket,
    /// A device.
    Device,
}

impl FileKind {
    /// The word that programs read.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Folder => "folder",
            Self::Link => "link",
            Self::Pipe => "pipe",
            Self::Socket => "socket",
            Self::Device => "device",
        }
    }
}

/// What a file holds, so that a change of it shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// There is nothing.
    Absent,
    /// BLAKE3 of its bytes.
    Of(Id),
}

impl Version {
    /// That of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self::Of(Id::of(bytes))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str("absent"),
            Self::Of(id) => id.fmt(f),
        }
    }
}

impl FromStr for Version {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        if text == "absent" { Ok(Self::Absent) } else { text.parse().map(Self::Of) }
    }
}

/// What something in a folder is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// What it is.
    pub kind: FileKind,
    /// Its bytes, of a file.
    pub bytes: u64,
    /// Its permissions.
    pub mode: u16,
    /// When its contents changed, in microseconds since 1970.
    pub modified_us: i64,
    /// Where a link leads, as it says.
    pub target: Option<Vec<u8>>,
    /// What a file holds, if it was read and is not too large.
    pub version: Option<Version>,
    /// Whether what is in a folder was to be listed and could not be.
    pub is_closed: bool,
}

/// A part of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// How many the file has.
    pub total: u64,
    /// What all of it holds, unless it is too large or did not come to rest.
    pub version: Option<Version>,
    /// Whether it was the same from the beginning of the reading to its end.
    pub is_settled: bool,
}

/// A file as it was read.
pub(super) struct Whole {
    pub(super) seen: Seen,
    pub(super) part: Part,
}

impl About {
    pub(super) fn of(seen: &Seen, folder: &OwnedFd, name: &[u8]) -> Self {
        let kind = kind_of(seen);
        let target = match kind {
            FileKind::Link => readlinkat(folder, name, Vec::new()).ok().map(std::ffi::CString::into_bytes),
            _ => None,
        };
        Self {
            kind,
            bytes: if kind == FileKind::File { seen.size } else { 0 },
            mode: u16::try_from(seen.mode & 0o7777).unwrap_or(0),
            modified_us: seen.modified.div_euclid(1_000),
            target,
            version: None,
            is_closed: false,
        }
    }
}

impl Files {
    /// What has this path, with the version of a file.
    ///
    /// # Errors
    /// If nothing has it, or it cannot be read.
    pub fn stat(&self, path: &InnerPath) -> Result<About, FileError> {
        let seen = self.seen(path)?.ok_or_else(|| FileError::NotFound(path.clone()))?;
        let mut about = match self.place(path) {
            Ok((folder, name)) => About::of(&seen, &folder, name),
            // The folder itself is in none.
            Err(FileError::Other { .. }) => About::of(&seen, &self.root, b""),
            Err(error) => return Err(error),
        };
        if about.kind == FileKind::File {
            let Whole { seen, part } = self.whole(path, (0, 0))?;
            (about.bytes, about.modified_us) = (part.total, seen.modified.div_euclid(1_000));
            about.version = part.version;
        }
        Ok(about)
    }

    /// Some bytes of a file from an offset on.
    ///
    /// # Errors
    /// If it is no plain file, or cannot be read.
    pub fn read(&self, path: &InnerPath, offset: u64, bytes_max: usize) -> Result<Part, FileError> {
        Ok(self.whole(path, (offset, bytes_max))?.part)
    }

    /// Reads all of a file that is not too large to have a version, and gives a part of it.
    pub(super) fn whole(&self, path: &InnerPath, range: (u64, usize)) -> Result<Whole, FileError> {
        let (folder, name) = self.place(path)?;
        let file = plain(&folder, name, path)?;
        for attempt in 1_u32.. {
            let whole = once(&file, range).map_err(|error| step("read", path, error))?;
            if whole.part.is_settled || attempt >= ATTEMPTS {
                return Ok(whole);
            }
        }
        Err(FileError::Changed(path.clone()))
    }
}

/// Opens a plain file and nothing else: to open a pipe or a device may act.
pub(super) fn plain(folder: &OwnedFd, name: &[u8], path: &InnerPath) -> Result<File, FileError> {
    let looked = rustix::fs::statat(folder, name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW);
    let seen = Seen::of(&looked.map_err(|error| not_opened(path, error))?);
    if seen.kind() != Kind::File {
        return Err(FileError::Other { path: path.clone(), is: kind_of(&seen) });
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let opened = openat(folder, name, flags, Mode::empty()).map_err(|error| match error {
        Errno::LOOP => FileError::Changed(path.clone()),
        error => not_opened(path, error),
    })?;
    let now = Seen::of(&fstat(&opened).map_err(|error| step("look at", path, error))?);
    if now.kind() == Kind::File { Ok(File::from(opened)) } else { Err(FileError::Changed(path.clone())) }
}

fn once(file: &File, (offset, bytes_max): (u64, usize)) -> io::Result<Whole> {
    let seen = Seen::of(&fstat(file)?);
    let wanted = offset..offset.saturating_add(bytes_max as u64);
    let mut bytes = Vec::new();
    let mut total = seen.size;
    let mut version = None;
    if seen.size > VERSION_BYTES_MAX {
        let many = wanted.end.min(seen.size).saturating_sub(offset);
        bytes.resize(usize::try_from(many).unwrap_or(0), 0);
        file.read_exact_at(&mut bytes, offset)?;
    } else {
        let mut hasher = blake3::Hasher::new();
        let mut buffer = vec![0; BUFFER_BYTES];
        let mut at = 0_u64;
        // What is written behind the end meanwhile would make it endless.
        while at < seen.size {
            let count = match file.read_at(&mut buffer, at) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let read = buffer.get(..count).unwrap_or_default();
            hasher.update(read);
            let skipped = usize::try_from(wanted.start.saturating_sub(at)).unwrap_or(usize::MAX);
            let until = usize::try_from(wanted.end.saturating_sub(at)).unwrap_or(usize::MAX).min(count);
            bytes.extend_from_slice(read.get(skipped..until).unwrap_or_default());
            at = at.saturating_add(count as u64);
        }
        total = at;
        version = Some(Version::Of(Id::from_bytes(*hasher.finalize().as_bytes())));
    }
    let is_settled = seen.is_still(&Seen::of(&fstat(file)?)) && total == seen.size;
    let version = version.filter(|_| is_settled);
    Ok(Whole { seen, part: Part { bytes, total, version, is_settled } })
}

/// What a small file holds; nothing, if it cannot be read in full.
pub(super) fn contents(folder: &OwnedFd, name: &[u8], bytes_max: u64) -> Option<Vec<u8>> {
    let file = plain(folder, name, &InnerPath::root()).ok()?;
    let mut bytes = Vec::new();
    file.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= bytes_max).then_some(bytes)
}

/// The version of a file in a folder that is open, without waiting for it to come to rest.
pub(super) fn version_of(folder: &OwnedFd, name: &[u8]) -> Option<Version> {
    let file = plain(folder, name, &InnerPath::root()).ok()?;
    once(&file, (0, 0)).ok()?.part.version
}

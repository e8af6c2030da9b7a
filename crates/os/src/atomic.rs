//! Files that are either whole or not there, also after a power cut.
//!
//! Owns replacement by rename and the preallocated record. It deliberately does not know what the bytes mean.

mod deferred;

use std::{
    ffi::{OsStr, OsString},
    fs::{File, OpenOptions},
    io::{self, Write},
    os::unix::fs::{FileExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

/// Why a file could not be written whole or read back.
#[derive(Debug, thiserror::Error)]
pub enum AtomicError {
    /// The path ends in nothing that can be a file.
    #[error("`{}` is not a path of a file", path.display())]
    NoName {
        /// What was asked for.
        path: PathBuf,
    },
    /// The bytes did not reach the disk; the old file, if any, is untouched.
    #[error("cannot write `{}`", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
    /// The new name did not reach the disk.
    #[error("cannot make `{}` durable in its directory", path.display())]
    Directory {
        /// The file.
        path: PathBuf,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
    /// The record does not fit what was set aside.
    #[error("record of {bytes} bytes exceeds the {capacity} set aside in `{}`", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// What was to be written.
        bytes: usize,
        /// What was set aside.
        capacity: usize,
    },
    /// The record cannot be read.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
}

/// Tells the temporary files of one process apart.
static TEMPORARY: AtomicU32 = AtomicU32::new(0);

/// Replaces the file at `path` by one that holds `bytes` and has exactly this mode; durable when it returns.
///
/// # Errors
/// When any step fails; the old file is then still there, unless only the directory's fsync failed.
pub fn write_atomic(path: &Path, bytes: &[u8], mode: u32) -> Result<(), AtomicError> {
    let (dir, name) = split(path)?;
    let write = |source| AtomicError::Write { path: path.to_owned(), source };
    let temporary = dir.join(temporary_name(name));
    let result = write_new(&temporary, bytes, mode).and_then(|()| std::fs::rename(&temporary, path));
    if let Err(source) = result {
        // The first failure is the one to report.
        drop(std::fs::remove_file(&temporary));
        return Err(write(source));
    }
    sync_dir(dir).map_err(|source| AtomicError::Directory { path: path.to_owned(), source })
}

fn split(path: &Path) -> Result<(&Path, &OsStr), AtomicError> {
    let name = path.file_name().ok_or_else(|| AtomicError::NoName { path: path.to_owned() })?;
    let dir = match path.parent() {
        Some(dir) if !dir.as_os_str().is_empty() => dir,
        _ => Path::new("."),
    };
    Ok((dir, name))
}

fn temporary_name(name: &OsStr) -> OsString {
    let mut temporary = OsString::from(".");
    temporary.push(name);
    let number = TEMPORARY.fetch_add(1, Ordering::Relaxed);
    temporary.push(format!(".{}-{number}.tmp", std::process::id()));
    temporary
}

fn write_new(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    // A leftover of a dead process with the same id must not be appended to nor refused.
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.set_permissions(std::fs::Permissions::from_mode(mode))?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Makes the names in directory `dir` durable.
///
/// # Errors
/// When the directory cannot be opened or synced.
pub fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

/// First bytes of a record that was written.
const MAGIC: [u8; 4] = *b"EPR1";

/// Magic, length, checksum.
const HEADER_BYTES: usize = 12;

/// A file whose room was taken in advance, so that writing it once needs none.
///
/// On a file system that never overwrites in place (btrfs, zfs) the promise is only as good as the file system's own.
#[derive(Debug)]
pub struct Preallocated {
    file: File,
    path: PathBuf,
    capacity: usize,
}

impl Preallocated {
    /// Creates the file with room for a record of `capacity` bytes, written and durable; an old file is replaced.
    ///
    /// # Errors
    /// When there is no room or the file cannot be made.
    pub fn create(path: &Path, capacity: usize) -> Result<Self, AtomicError> {
        let bytes = capacity.saturating_add(HEADER_BYTES);
        write_atomic(path, &vec![0; bytes], 0o600)?;
        let file = OpenOptions::new()
            .write(true)
            .open(path)
            .map_err(|source| AtomicError::Write { path: path.to_owned(), source })?;
        Ok(Self { file, path: path.to_owned(), capacity })
    }

    /// Writes the record in place. Every process sees all of it from now on; after a failure of the machine it is there
    /// only if it was synced.
    ///
    /// # Errors
    /// When the record is larger than the room, or the disk fails.
    pub fn write(self, bytes: &[u8]) -> Result<Written, AtomicError> {
        let too_large =
            || AtomicError::TooLarge { path: self.path.clone(), bytes: bytes.len(), capacity: self.capacity };
        if bytes.len() > self.capacity {
            return Err(too_large());
        }
        let length = u32::try_from(bytes.len()).map_err(|_larger| too_large())?.to_le_bytes();
        let mut record = Vec::with_capacity(bytes.len().saturating_add(HEADER_BYTES));
        record.extend_from_slice(&MAGIC);
        record.extend_from_slice(&length);
        record.extend_from_slice(&checksum(&length, bytes).to_le_bytes());
        record.extend_from_slice(bytes);
        let Self { file, path, .. } = self;
        match file.write_all_at(&record, 0) {
            Ok(()) => Ok(Written { file, path }),
            Err(source) => Err(AtomicError::Write { path, source }),
        }
    }
}

/// A record that was written.
#[derive(Debug)]
pub struct Written {
    file: File,
    path: PathBuf,
}

impl Written {
    /// Makes it durable.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn sync(self) -> Result<(), AtomicError> {
        self.file.sync_data().map_err(|source| AtomicError::Write { path: self.path, source })
    }
}

/// Reads the record of a preallocated file; `None` if it was never written, or was torn by a crash.
///
/// # Errors
/// When the file cannot be read.
pub fn read_preallocated(path: &Path) -> Result<Option<Vec<u8>>, AtomicError> {
    let bytes = std::fs::read(path).map_err(|source| AtomicError::Read { path: path.to_owned(), source })?;
    Ok(parse(&bytes))
}

fn parse(file: &[u8]) -> Option<Vec<u8>> {
    let (magic, rest) = file.split_first_chunk::<4>()?;
    let (length, rest) = rest.split_first_chunk::<4>()?;
    let (sum, rest) = rest.split_first_chunk::<4>()?;
    let record = rest.get(..usize::try_from(u32::from_le_bytes(*length)).ok()?)?;
    let whole = *magic == MAGIC && u32::from_le_bytes(*sum) == checksum(length, record);
    whole.then(|| record.to_vec())
}

/// CRC-32 (IEEE), bit by bit: records are small and the shim pays for every table.
fn checksum(length: &[u8], record: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in length.iter().chain(record) {
        crc ^= u32::from(*byte);
        for _bit in 0..8 {
            crc = (crc >> 1) ^ (0xEDB8_8320 & 0_u32.wrapping_sub(crc & 1));
        }
    }
    !crc
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_is_replaced_whole_with_its_mode_and_no_leftovers() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state");
        for (bytes, mode) in [(&b"one"[..], 0o600), (b"another", 0o644), (b"", 0o400)] {
            write_atomic(&path, bytes, mode).unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), bytes);
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o7777, mode);
        }
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn failed_replacement_leaves_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("taken");
        std::fs::create_dir(&path).unwrap();
        assert!(matches!(write_atomic(&path, b"x", 0o600), Err(AtomicError::Write { .. })));
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
        assert!(matches!(write_atomic(Path::new("/"), b"x", 0o600), Err(AtomicError::NoName { .. })));
    }

    #[test]
    fn checksum_is_the_usual_crc_32() {
        assert_eq!(checksum(b"1234", b"56789"), 0xCBF4_3926);
    }

    #[test]
    fn record_is_read_back_and_an_unwritten_one_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("exit");
        let slot = Preallocated::create(&path, 64).unwrap();
        let size = std::fs::metadata(&path).unwrap().len();
        assert_eq!(read_preallocated(&path).unwrap(), None);
        slot.write(b"code 3").unwrap().sync().unwrap();
        assert_eq!(read_preallocated(&path).unwrap().as_deref(), Some(&b"code 3"[..]));
        assert_eq!(std::fs::metadata(&path).unwrap().len(), size);
        assert!(matches!(
            Preallocated::create(&path, 4).unwrap().write(b"12345"),
            Err(AtomicError::TooLarge { bytes: 5, capacity: 4, .. })
        ));
        assert_eq!(read_preallocated(&path).unwrap(), None);
    }

    #[test]
    fn empty_record_differs_from_an_unwritten_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("exit");
        Preallocated::create(&path, 0).unwrap().write(b"").unwrap().sync().unwrap();
        assert_eq!(read_preallocated(&path).unwrap(), Some(Vec::new()));
    }

    #[test]
    fn record_torn_at_any_byte_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("exit");
        Preallocated::create(&path, 16).unwrap().write(b"0123456789").unwrap().sync().unwrap();
        let whole = std::fs::read(&path).unwrap();
        for torn in 0..HEADER_BYTES + 10 {
            let mut bytes = whole.clone();
            bytes[torn..].fill(0);
            // A byte that was zero anyway is not torn.
            assert!(bytes == whole || parse(&bytes).is_none(), "torn at {torn}");
            assert!(parse(&whole[..torn]).is_none(), "cut at {torn}");
        }
    }
}

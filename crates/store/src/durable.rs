//! Files that are on stable storage when a function returns, and how a full disk looks.

use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::Path,
};

use edgeplane_os::atomic::{AtomicError, write_atomic};

pub(crate) use edgeplane_os::atomic::sync_dir;

/// The mode of every file of the record.
const MODE: u32 = 0o600;

/// Makes directory `dir` and what leads to it, for the owner alone.
pub(crate) fn make_dir(dir: &Path) -> io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

/// Opens the file at `path` for reading and writing; makes it, for the owner alone, if it is not there.
pub(crate) fn open_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(MODE).open(path)
}

/// Puts a file that holds `bytes` at `dir`/`name`, whole or not at all. The directory may be new.
pub(crate) fn write_whole(dir: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    make_dir(dir)?;
    write_atomic(&dir.join(name), bytes, MODE).map_err(cause)?;
    dir.ancestors().skip(1).take(2).try_for_each(sync_dir)
}

fn cause(error: AtomicError) -> io::Error {
    match error {
        AtomicError::Write { source, .. }
        | AtomicError::Directory { source, .. }
        | AtomicError::Read { source, .. } => source,
        AtomicError::NoName { .. } | AtomicError::TooLarge { .. } => io::Error::other(error),
    }
}

/// Whether an error says that there is no room: on the disk, in the quota, or under the limit of a file's size.
pub(crate) fn is_full(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}

/// Name of the file that [`has_room`] writes and removes.
const PROBE_NAME: &str = "room.probe";

/// Bytes that [`has_room`] tries to write: more than one allocation unit of any common file system.
const PROBE_BYTES: usize = 128 * 1024;

/// Whether `dir` takes another file, found out by writing one: free space says nothing of quotas and limits.
pub(crate) fn has_room(dir: &Path) -> bool {
    let written = write_whole(dir, PROBE_NAME, &[0; PROBE_BYTES]);
    // It is not there if there was no room for it.
    drop(std::fs::remove_file(dir.join(PROBE_NAME)));
    !matches!(written, Err(error) if is_full(&error))
}

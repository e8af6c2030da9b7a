//! Room on a file system: how much there is, and keeping some back.
//!
//! Owns the reserve file. It deliberately does not decide when to give it up.

use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use rustix::{
    fs::{FallocateFlags, fallocate, statvfs},
    io::Errno,
};

/// Why room cannot be measured or kept.
#[derive(Debug, thiserror::Error)]
pub enum SpaceError {
    /// The file system does not answer.
    #[error("cannot measure the free space at `{}`", path.display())]
    Measure {
        /// Where it was asked.
        path: PathBuf,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
    /// The reserve cannot be made.
    #[error("cannot reserve {bytes} bytes in `{}`", path.display())]
    Reserve {
        /// The reserve file.
        path: PathBuf,
        /// How much was asked for.
        bytes: u64,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
    /// The reserve cannot be given up.
    #[error("cannot release the reserve `{}`", path.display())]
    Release {
        /// The reserve file.
        path: PathBuf,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
}

/// Bytes that an ordinary user can still write at `path`.
///
/// # Errors
/// When the file system does not answer.
pub fn free_bytes(path: &Path) -> Result<u64, SpaceError> {
    let found = statvfs(path)
        .map_err(|source| SpaceError::Measure { path: path.to_owned(), source: source.into() })?;
    Ok(found.f_bavail.saturating_mul(found.f_frsize))
}

/// Makes the file at `path` take up `bytes`, or keeps it if it already does; the blocks are allocated, not promised.
///
/// # Errors
/// When there is no room or the file cannot be made; a partly allocated file is removed.
pub fn reserve(path: &Path, bytes: u64) -> Result<(), SpaceError> {
    let error = |source| SpaceError::Reserve { path: path.to_owned(), bytes, source };
    let file =
        OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path).map_err(error)?;
    fill(&file, bytes).map_err(|source| {
        // The first failure is the one to report.
        drop(std::fs::remove_file(path));
        error(source)
    })
}

fn fill(mut file: &File, bytes: u64) -> io::Result<()> {
    match fallocate(file, FallocateFlags::empty(), 0, bytes) {
        Ok(()) => {}
        // No such operation on this file system: write the zeros instead.
        Err(Errno::OPNOTSUPP) => {
            io::copy(&mut io::Read::take(io::repeat(0), bytes), &mut file)?;
        }
        Err(other) => return Err(other.into()),
    }
    file.sync_all()
}

/// Gives the reserve at `path` up; one that is already gone is no error.
///
/// # Errors
/// When the file cannot be removed.
pub fn release(path: &Path) -> Result<(), SpaceError> {
    match std::fs::remove_file(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(SpaceError::Release { path: path.to_owned(), source })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn reserve_takes_real_blocks_and_gives_them_back() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("reserve");
        reserve(&path, 1 << 20).unwrap();
        reserve(&path, 1 << 20).unwrap();
        let found = std::fs::metadata(&path).unwrap();
        assert_eq!(found.len(), 1 << 20);
        assert!(found.blocks() * 512 >= 1 << 20);
        release(&path).unwrap();
        release(&path).unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn room_is_measured_where_the_path_lies() {
        assert!(free_bytes(Path::new("/")).is_ok());
        assert!(matches!(free_bytes(Path::new("/nowhere/at/all")), Err(SpaceError::Measure { .. })));
    }
}

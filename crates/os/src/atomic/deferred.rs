//! A preallocated record that waits for the disk only when it is written.

use std::{fs::OpenOptions, io::Write, os::unix::fs::OpenOptionsExt, path::Path};

use super::{AtomicError, HEADER_BYTES, Preallocated};

impl Preallocated {
    /// Creates the file with room for a record of `capacity` bytes, without waiting until any of it is durable; an old
    /// file is replaced.
    ///
    /// The room is taken at once, so [`Preallocated::write`] needs none. A power cut before that may leave the file
    /// empty or missing, which says the same as an unwritten record. Whoever needs the name to be durable afterwards
    /// syncs the directory.
    ///
    /// # Errors
    /// When there is no room or the file cannot be made; nothing is left of it then.
    pub fn create_deferred(path: &Path, capacity: usize) -> Result<Self, AtomicError> {
        let error = |source| AtomicError::Write { path: path.to_owned(), source };
        let opened = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path);
        let mut file = opened.map_err(error)?;
        let room = vec![0; capacity.saturating_add(HEADER_BYTES)];
        if let Err(source) = file.write_all(&room) {
            // The first failure is the one to report.
            drop(std::fs::remove_file(path));
            return Err(error(source));
        }
        Ok(Self { file, path: path.to_owned(), capacity })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::atomic::read_preallocated;

    #[test]
    fn record_is_read_back_and_an_unwritten_one_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("exit");
        std::fs::write(&path, vec![b'x'; 100]).unwrap();
        let slot = Preallocated::create_deferred(&path, 64).unwrap();
        assert_eq!(read_preallocated(&path).unwrap(), None);
        slot.write(b"code 3").unwrap().sync().unwrap();
        assert_eq!(read_preallocated(&path).unwrap().as_deref(), Some(&b"code 3"[..]));
    }

    #[test]
    fn place_that_is_not_there_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("none").join("exit");
        assert!(matches!(Preallocated::create_deferred(&path, 4), Err(AtomicError::Write { .. })));
    }
}

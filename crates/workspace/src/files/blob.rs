//! Files as blobs: read once, piece by piece, into the store.

use std::os::unix::fs::FileExt as _;

use rustix::fs::fstat;

use super::{
    FileError, Files,
    look::{ATTEMPTS, VERSION_BYTES_MAX, plain},
    step,
};
use crate::{
    blob::Blob,
    content::{object_bytes, objects_in},
    id::Id,
    inner_path::InnerPath,
    object::OBJECT_BYTES_MAX,
    seen::Seen,
    store::Session,
};

impl Files {
    /// Keeps what a file holds, durably, as it was at one moment.
    ///
    /// # Errors
    /// If it is no plain file, is too large, cannot be read, or changes each time it is read.
    pub fn blob(&self, path: &InnerPath, session: &Session) -> Result<Blob, FileError> {
        let (folder, name) = self.place(path)?;
        let file = plain(&folder, name, path)?;
        let looked =
            || fstat(&file).map(|stat| Seen::of(&stat)).map_err(|error| step("look at", path, error));
        let mut buffer = vec![0; OBJECT_BYTES_MAX];
        for _ in 0..ATTEMPTS {
            let seen = looked()?;
            if seen.size > VERSION_BYTES_MAX {
                return Err(FileError::TooLarge(path.clone()));
            }
            let (mut hasher, mut ids) = (blake3::Hasher::new(), Vec::new());
            for piece in 0..objects_in(seen.size) {
                let bytes = buffer.get_mut(..object_bytes(seen.size, piece)).unwrap_or_default();
                match file.read_exact_at(bytes, piece.saturating_mul(OBJECT_BYTES_MAX as u64)) {
                    Ok(()) => {}
                    // It is shorter now.
                    Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => break,
                    Err(error) => return Err(step("read", path, error)),
                }
                hasher.update(bytes);
                ids.push(session.put_object(bytes)?);
            }
            if ids.len() as u64 == objects_in(seen.size) && seen.is_still(&looked()?) {
                let content = session.put_list(seen.size, &ids)?;
                session.seal()?;
                return Ok(Blob::of(Id::from_bytes(*hasher.finalize().as_bytes()), content));
            }
        }
        Err(FileError::Changed(path.clone()))
    }
}

//! Blobs: bytes that are kept under their digest, beside checkpoints and in the same store.

use crate::{
    content::{Content, object_bytes},
    error::WorkspaceError,
    id::Id,
    object::OBJECT_BYTES_MAX,
    store::Session,
};

/// Bytes that are kept, and where in the store they begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blob {
    /// BLAKE3 of all of them.
    pub id: Id,
    /// How many.
    pub bytes: u64,
    /// How deep the list of their pieces is.
    pub depth: u8,
    /// What that list, or the only piece, is kept under.
    pub root: Id,
}

impl Blob {
    pub(crate) fn of(id: Id, content: Content) -> Self {
        Self { id, bytes: content.size, depth: content.depth, root: content.id }
    }

    pub(crate) fn content(&self) -> Content {
        Content { size: self.bytes, depth: self.depth, id: self.root }
    }
}

impl Session {
    /// Keeps bytes, durably.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub fn put_blob(&self, bytes: &[u8]) -> Result<Blob, WorkspaceError> {
        let content = self.put(bytes)?;
        self.seal()?;
        Ok(Blob::of(Id::of(bytes), content))
    }

    /// Reads some bytes of a blob from an offset on; each piece is held to its digest.
    ///
    /// # Errors
    /// If it is not there, or is damaged.
    pub fn read_blob(&self, blob: &Blob, offset: u64, bytes_max: usize) -> Result<Vec<u8>, WorkspaceError> {
        let end = offset.saturating_add(bytes_max as u64).min(blob.bytes);
        let mut found = Vec::new();
        for (number, id) in (0_u64..).zip(self.objects(&blob.content())?) {
            let start = number.saturating_mul(OBJECT_BYTES_MAX as u64);
            let size = object_bytes(blob.bytes, number);
            if start >= end || start.saturating_add(size as u64) <= offset {
                continue;
            }
            let piece = self.read_sized(id, size)?;
            let from = usize::try_from(offset.saturating_sub(start)).unwrap_or(usize::MAX);
            let to = usize::try_from(end.saturating_sub(start)).unwrap_or(usize::MAX).min(size);
            found.extend_from_slice(piece.get(from..to).unwrap_or_default());
        }
        // A part that is all of it is held to the digest by which it is asked for, too.
        if offset == 0 && end == blob.bytes && Id::of(&found) != blob.id {
            return Err(WorkspaceError::Damaged {
                id: blob.id,
                reason: "its pieces are not those that were kept",
            });
        }
        Ok(found)
    }
}

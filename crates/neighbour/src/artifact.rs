//! Stores of artifacts: bytes by their digest, and nothing else of them. Names, versions and owners are in the record.

mod folder;
mod memory;

use std::fmt::Debug;

use edgeplane_proof::Digest;

use crate::NeighbourError;

pub use folder::FolderArtifacts;
pub(crate) use folder::cause;
pub use memory::MemoryArtifacts;

/// Most bytes of an artifact: it is held in memory as a whole when it is checked.
pub const ARTIFACT_BYTES_MAX: usize = 64 << 20;

/// What a store of artifacts is called in errors.
pub(crate) const STORE: &str = "the store of artifacts";

/// Keeps the bytes of one node's artifacts. Nothing else may be in it, because what the node does not name is removed.
pub trait ArtifactStore: Debug + Send + Sync {
    /// Keeps bytes under their digest. They are durable when it returns. Keeping them twice is keeping them once.
    ///
    /// # Errors
    /// If they are not kept; what was there is as before.
    fn put(&self, digest: &Digest, bytes: &[u8]) -> Result<(), NeighbourError>;

    /// What is kept under a digest, at most `bytes_max` bytes. Whether it is what was kept, [`sound`] tells.
    ///
    /// # Errors
    /// If there is nothing, too much, or it cannot be read.
    fn get(&self, digest: &Digest, bytes_max: usize) -> Result<Vec<u8>, NeighbourError>;

    /// Removes what is kept under a digest. Removing what is not there is no error.
    ///
    /// # Errors
    /// If it is still there.
    fn remove(&self, digest: &Digest) -> Result<(), NeighbourError>;

    /// Every digest under which something is kept.
    ///
    /// # Errors
    /// If it cannot tell.
    fn list(&self) -> Result<Vec<Digest>, NeighbourError>;
}

/// The bytes that were kept under a digest, whichever store it is: what a store has lost or changed is never given.
///
/// # Errors
/// If the store has not got them, or gives others.
pub fn sound(store: &dyn ArtifactStore, digest: &Digest, bytes: u64) -> Result<Vec<u8>, NeighbourError> {
    let damaged = || NeighbourError::Damaged { neighbour: STORE, what: digest.to_string() };
    let bytes_max = usize::try_from(bytes).unwrap_or(usize::MAX).min(ARTIFACT_BYTES_MAX);
    let found = match store.get(digest, bytes_max) {
        // It was smaller when it was kept.
        Err(NeighbourError::TooLarge { .. }) => return Err(damaged()),
        found => found?,
    };
    if edgeplane_proof::digest(&found) == *digest { Ok(found) } else { Err(damaged()) }
}

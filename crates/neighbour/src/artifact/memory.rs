//! The double: artifacts that end with the process.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use edgeplane_proof::Digest;

use super::{ArtifactStore, STORE};
use crate::NeighbourError;

/// Keeps artifacts in memory, and counts how often it is asked.
#[derive(Debug, Default)]
pub struct MemoryArtifacts {
    kept: Mutex<BTreeMap<Digest, Vec<u8>>>,
    calls: AtomicU64,
}

impl MemoryArtifacts {
    /// How often it was asked for something.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// Has it give these bytes for what was kept, as a store does that is broken.
    pub fn spoil(&self, digest: &Digest, bytes: Vec<u8>) {
        self.kept().insert(*digest, bytes);
    }

    fn kept(&self) -> MutexGuard<'_, BTreeMap<Digest, Vec<u8>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count(&self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
    }
}

impl ArtifactStore for MemoryArtifacts {
    fn put(&self, digest: &Digest, bytes: &[u8]) -> Result<(), NeighbourError> {
        self.count();
        self.kept().insert(*digest, bytes.to_vec());
        Ok(())
    }

    fn get(&self, digest: &Digest, bytes_max: usize) -> Result<Vec<u8>, NeighbourError> {
        self.count();
        let missing = || NeighbourError::Missing { neighbour: STORE, what: digest.to_string() };
        let found = self.kept().get(digest).cloned().ok_or_else(missing)?;
        if found.len() > bytes_max {
            let size = |bytes: usize| u64::try_from(bytes).unwrap_or(u64::MAX);
            let (bytes, bytes_max) = (size(found.len()), size(bytes_max));
            let what = digest.to_string();
            return Err(NeighbourError::TooLarge { neighbour: STORE, what, bytes, bytes_max });
        }
        Ok(found)
    }

    fn remove(&self, digest: &Digest) -> Result<(), NeighbourError> {
        self.count();
        self.kept().remove(digest);
        Ok(())
    }

    fn list(&self) -> Result<Vec<Digest>, NeighbourError> {
        self.count();
        Ok(self.kept().keys().copied().collect())
    }
}

//! A2A peers: agents elsewhere, by their addresses. Nothing is carried to one yet, so all that is asked is who is there.

use std::{
    collections::BTreeSet,
    fmt::Debug,
    sync::atomic::{AtomicU64, Ordering},
};

use crate::NeighbourError;

/// Knows agents elsewhere.
pub trait Peers: Debug + Send + Sync {
    /// Whether somebody has this address, such as `name@node`.
    ///
    /// # Errors
    /// If it cannot tell.
    fn knows(&self, address: &str) -> Result<bool, NeighbourError>;
}

/// The default: there are none.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoPeers;

impl Peers for NoPeers {
    fn knows(&self, _address: &str) -> Result<bool, NeighbourError> {
        Ok(false)
    }
}

/// The double: knows the addresses that it was given, and counts how often it is asked.
#[derive(Debug, Default)]
pub struct MemoryPeers {
    known: BTreeSet<String>,
    calls: AtomicU64,
}

impl MemoryPeers {
    /// With these addresses.
    #[must_use]
    pub fn new(known: BTreeSet<String>) -> Self {
        Self { known, calls: AtomicU64::new(0) }
    }

    /// How often it was asked.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }
}

impl Peers for MemoryPeers {
    fn knows(&self, address: &str) -> Result<bool, NeighbourError> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        Ok(self.known.contains(address))
    }
}

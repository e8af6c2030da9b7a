//! Resource limits of processes.
//!
//! Owns the limits of this process. Those of a child travel in [`crate::process::SpawnSpec`] and are set in the child.

use std::io;

use rustix::process::{Resource as Kind, Rlimit, getrlimit, setrlimit};

/// What a limit is about.
pub use rustix::process::Resource;

/// One limit; `None` is without bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// What is limited.
    pub resource: Resource,
    /// What counts now.
    pub soft: Option<u64>,
    /// How far the process may raise it.
    pub hard: Option<u64>,
}

/// Raises the number of descriptors this process may open to what it is allowed, and returns it.
///
/// # Errors
/// When the kernel refuses.
pub fn raise_open_files() -> io::Result<Option<u64>> {
    let limit = getrlimit(Kind::Nofile);
    setrlimit(Kind::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum })?;
    Ok(limit.maximum)
}

/// The limit of this process on the number of descriptors.
#[must_use]
pub fn open_files() -> Limit {
    let limit = getrlimit(Kind::Nofile);
    Limit { resource: Kind::Nofile, soft: limit.current, hard: limit.maximum }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_files_rise_to_the_hard_limit() {
        let raised = raise_open_files().unwrap();
        assert_eq!(open_files(), Limit { resource: Kind::Nofile, soft: raised, hard: raised });
    }
}

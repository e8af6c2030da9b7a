//! Why a neighbour did not do what it was asked for.

use std::io;

/// A neighbour that failed.
#[derive(Debug, thiserror::Error)]
pub enum NeighbourError {
    /// It has not got what it is asked for.
    #[error("{neighbour} has no `{what}`")]
    Missing {
        /// Who.
        neighbour: &'static str,
        /// What was asked for.
        what: String,
    },
    /// What it gave is not what it was given.
    #[error("what {neighbour} gave for `{what}` is not what was kept there")]
    Damaged {
        /// Who.
        neighbour: &'static str,
        /// What was asked for.
        what: String,
    },
    /// It is more than is ever handed over.
    #[error("`{what}` of {neighbour} has {bytes} bytes, more than {bytes_max}")]
    TooLarge {
        /// Who.
        neighbour: &'static str,
        /// What was asked for.
        what: String,
        /// How many it has.
        bytes: u64,
        /// How many are allowed.
        bytes_max: u64,
    },
    /// A name is none that it may be given.
    #[error("`{what}` is no name for {neighbour}")]
    Name {
        /// Who.
        neighbour: &'static str,
        /// The name.
        what: String,
    },
    /// It is not there now.
    #[error("{neighbour} cannot be reached: {reason}")]
    Unavailable {
        /// Who.
        neighbour: &'static str,
        /// Why.
        reason: String,
    },
    /// It does not do this.
    #[error("{neighbour} does not do this: {reason}")]
    Unsupported {
        /// Who.
        neighbour: &'static str,
        /// Why.
        reason: String,
    },
    /// A step failed.
    #[error("{neighbour} cannot {attempt}")]
    Failed {
        /// Who.
        neighbour: &'static str,
        /// What was tried.
        attempt: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

impl NeighbourError {
    /// Whether there was no room.
    #[must_use]
    pub fn is_full(&self) -> bool {
        use io::ErrorKind::{QuotaExceeded, StorageFull};
        matches!(self, Self::Failed { source, .. } if matches!(source.kind(), StorageFull | QuotaExceeded))
    }
}

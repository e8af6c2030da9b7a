//! Control groups: which processes belong to an epoch, and what they may use.
//!
//! Owns finding the hierarchies, the layout `edgeplane-<node>/<agent>.<epoch>/{shim,work}`, limits, freezing, killing and
//! knowing when nothing is left. Each function uses the hierarchy that has it: membership, emptiness, freezing and
//! killing are v2's wherever it is mounted, even without controllers; a limit is where its controller is; the v1 freezer
//! serves only where there is no v2. It deliberately knows no agent: names are given.

mod control;
mod detect;
mod epoch;
mod file;
mod limit;
mod node;
mod report;

use std::{io, path::PathBuf};

pub use detect::{Controller, Hierarchies, Place, Sources};
pub use epoch::{EpochGroup, Placement};
pub use limit::{InForce, Limits, Shortfall};
pub use node::NodeGroup;
pub use report::{Backend, Backing, Report};

/// Why something about a control group failed.
#[derive(Debug, thiserror::Error)]
pub enum CgroupError {
    /// No hierarchy lets this process make groups.
    #[error("cannot use control groups: {reason}")]
    Unavailable {
        /// Why not, for each hierarchy that was tried.
        reason: String,
    },
    /// A name cannot be a directory's.
    #[error("`{name}` cannot name a control group")]
    BadName {
        /// The name.
        name: String,
    },
    /// A group of this name is there, perhaps with processes of an earlier life.
    #[error("control group `{}` exists already", path.display())]
    Exists {
        /// Its directory.
        path: PathBuf,
    },
    /// No group of this name is there.
    #[error("control group `{}` does not exist", path.display())]
    Missing {
        /// Its directory.
        path: PathBuf,
    },
    /// A group cannot be made.
    #[error("cannot create control group `{}`", path.display())]
    Create {
        /// Its directory.
        path: PathBuf,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
    /// A limit was asked for that nothing here can keep.
    #[error("cannot limit {controller}: {reason}")]
    NoController {
        /// What was to be limited.
        controller: Controller,
        /// Why it cannot be.
        reason: String,
    },
    /// A setting was refused.
    #[error("cannot write `{value}` to `{}`", path.display())]
    Write {
        /// The setting's file.
        path: PathBuf,
        /// What was written.
        value: String,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
    /// A state cannot be read.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// The state's file.
        path: PathBuf,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
    /// Some process did not stop in time; the group runs again.
    #[error("cannot freeze control group `{}` in time", path.display())]
    NotFrozen {
        /// Its directory.
        path: PathBuf,
    },
    /// A group cannot be removed, mostly because a process is still in it.
    #[error("cannot remove control group `{}`", path.display())]
    Remove {
        /// Its directory.
        path: PathBuf,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
}

#[cfg(test)]
mod tests;

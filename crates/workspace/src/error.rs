//! Why something about a folder or its kept states cannot be done.

use std::{io, path::PathBuf};

use crate::id::Id;

/// Why something about a folder or its kept states cannot be done.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// The store cannot be read or written.
    #[error("cannot {what} `{}` of the store", path.display())]
    Store {
        /// What was tried.
        what: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
    /// Somebody else uses the store in a way that does not allow this.
    #[error("the store is in use")]
    Busy,
    /// What is kept under a digest is not there.
    #[error("`{0}` is not in the store")]
    Missing(Id),
    /// What is kept under a digest is something else.
    #[error("`{id}` is damaged: {reason}")]
    Damaged {
        /// Under what it is kept.
        id: Id,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A pack of the store cannot be read, so nothing may be removed.
    #[error("the pack `{0}` of the store is damaged")]
    DamagedPack(PathBuf),
    /// The folder cannot be reached.
    #[error("cannot open the folder `{}`", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
    /// Something beneath the folder cannot be read.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// Its path beneath the folder.
        path: PathBuf,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
    /// Something beneath the folder cannot be written.
    #[error("cannot {what} `{}`", path.display())]
    Write {
        /// What was tried.
        what: &'static str,
        /// Its path beneath the folder.
        path: PathBuf,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
    /// Folders lie in folders deeper than is kept.
    #[error("`{}` lies deeper than {max} folders", path.display())]
    TooDeep {
        /// The first that does.
        path: PathBuf,
        /// How deep it may lie.
        max: usize,
    },
    /// There is more than is kept.
    #[error("the folder has more than {max} entries")]
    TooMany {
        /// How many there may be.
        max: usize,
    },
    /// Git cannot say what it ignores.
    #[error("cannot ask git what it ignores in `{}`: {reason}", path.display())]
    Git {
        /// The folder.
        path: PathBuf,
        /// What happened.
        reason: String,
    },
    /// A thread of the work ended without a result.
    #[error("a thread of the work was lost")]
    Thread,
}

//! Single files of a folder: looked at, read, searched and changed, while others may be writing in it.
//!
//! A path is resolved by the kernel beneath the folder and through no link at all, each time anew. Whoever changes a file
//! says first what they saw of it: what has been changed since stays as it is.

mod blob;
mod change;
mod leftover;
mod list;
mod look;
mod search;

use std::{os::fd::OwnedFd, path::Path};

use rustix::{
    fs::{AtFlags, Mode, OFlags, ResolveFlags, fstat, openat2, statat},
    io::Errno,
};

use crate::{
    inner_path::InnerPath,
    restore::{Owner, owner_of},
    seen::{Kind, Seen},
    walk::open_root,
};

pub use change::{Before, Folders, fresh_name};
pub use leftover::Outcome;
pub use list::Listing;
pub use look::{About, FileKind, Part, VERSION_BYTES_MAX, Version};
pub use search::{
    Case, Found, Pattern, PatternError, SEARCH_BYTES_MAX, SEARCH_FILES_MAX, Search, SearchAt, Searched,
};

/// Why something cannot be done with a file.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The folder itself cannot be reached, or git cannot be asked.
    #[error(transparent)]
    Workspace(#[from] crate::error::WorkspaceError),
    /// Nothing has this path.
    #[error("there is no `{0}`")]
    NotFound(InnerPath),
    /// A link is on the way, or something that is no folder.
    #[error("a link, or something else that is no folder, is on the way to `{0}`")]
    Way(InnerPath),
    /// It is something with which this cannot be done.
    #[error("`{path}` is a {}", is.as_str())]
    Other {
        /// Its path.
        path: InnerPath,
        /// What it is.
        is: FileKind,
    },
    /// Something has this path already.
    #[error("there is a `{0}` already")]
    Exists(InnerPath),
    /// A folder with something in it.
    #[error("the folder `{0}` is not empty")]
    NotEmpty(InnerPath),
    /// It is not what was seen.
    #[error("`{0}` was changed meanwhile")]
    Changed(InnerPath),
    /// It is larger than what is kept under one digest.
    #[error("`{0}` has more than 256 MiB")]
    TooLarge(InnerPath),
    /// A folder would be in itself.
    #[error("`{0}` would be in itself")]
    InItself(InnerPath),
    /// A step failed.
    #[error("cannot {what} `{path}`")]
    Step {
        /// Which.
        what: &'static str,
        /// Of what.
        path: InnerPath,
        /// What the kernel said.
        #[source]
        source: std::io::Error,
    },
}

pub(crate) fn step(what: &'static str, path: &InnerPath, error: impl Into<std::io::Error>) -> FileError {
    FileError::Step { what, path: path.clone(), source: error.into() }
}

/// The files of a folder.
#[derive(Debug)]
pub struct Files {
    root: OwnedFd,
    owner: Owner,
}

impl Files {
    /// Those of this folder, to which no link leads.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open(folder: &Path) -> Result<Self, FileError> {
        let root = open_root(folder)?;
        let owner = owner_of(&root)?;
        Ok(Self { root, owner })
    }

    /// Opens what has this path, beneath the folder and through no link.
    fn at(&self, path: &InnerPath, flags: OFlags) -> Result<OwnedFd, FileError> {
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        openat2(&self.root, path.bytes(), flags | OFlags::CLOEXEC, Mode::empty(), resolve)
            .map_err(|error| not_opened(path, error))
    }

    fn folder(&self, path: &InnerPath) -> Result<OwnedFd, FileError> {
        self.at(path, OFlags::RDONLY | OFlags::DIRECTORY)
    }

    /// The folder that something is in, open, and its name there.
    fn place<'a>(&self, path: &'a InnerPath) -> Result<(OwnedFd, &'a [u8]), FileError> {
        let Some((folder, name)) = path.split() else {
            return Err(FileError::Other { path: path.clone(), is: FileKind::Folder });
        };
        let opened = self.folder(&folder).map_err(|error| match error {
            // What is asked for is not there if its folder is not.
            FileError::NotFound(_) => FileError::NotFound(path.clone()),
            FileError::Way(_) => FileError::Way(path.clone()),
            other => other,
        })?;
        Ok((opened, name))
    }

    /// What a path stands for now; nothing, if it is free and so is the way to it.
    fn seen(&self, path: &InnerPath) -> Result<Option<Seen>, FileError> {
        if path.split().is_none() {
            let stat = fstat(&self.root).map_err(|error| step("look at", path, error))?;
            return Ok(Some(Seen::of(&stat)));
        }
        let (folder, name) = match self.place(path) {
            Ok(place) => place,
            Err(FileError::NotFound(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        match statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(Seen::of(&stat))),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(step("look at", path, error)),
        }
    }
}

fn not_opened(path: &InnerPath, error: Errno) -> FileError {
    match error {
        Errno::NOENT => FileError::NotFound(path.clone()),
        Errno::LOOP | Errno::NOTDIR | Errno::XDEV => FileError::Way(path.clone()),
        error => step("open", path, error),
    }
}

pub(crate) fn kind_of(seen: &Seen) -> FileKind {
    use crate::checkpoint::Why;
    match seen.kind() {
        Kind::File => FileKind::File,
        Kind::Folder => FileKind::Folder,
        Kind::Link => FileKind::Link,
        Kind::Other(Why::Pipe) => FileKind::Pipe,
        Kind::Other(Why::Socket) => FileKind::Socket,
        Kind::Other(_) => FileKind::Device,
    }
}

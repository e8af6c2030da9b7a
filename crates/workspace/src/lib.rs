//! Folders of files and their kept states: checkpoints that are made, compared, brought back and collected.
//!
//! Owns the store of contents by their digest, the form of a kept tree, how a folder is read and written while somebody
//! else may be writing in it, and how single files of it are. It deliberately knows no record and no agent: which checkpoints are named, and
//! who may ask for what, is said by whoever calls.
//!
//! Kept are plain files, folders (empty ones too), symbolic links, permissions, names of any bytes, and holes. Not kept
//! are owners, times, extended attributes, set-user bits and that two names are one file. Sockets, pipes, devices, other
//! file systems and what cannot be read are left out, and listed.
#![forbid(unsafe_code)]

mod error;
mod id;

mod blob;
mod content;
mod lock;
mod object;
mod pack;
mod pool;
mod store;

mod seen;
mod tree;

mod git;
mod read;
mod stat_index;
mod walk;

mod checkpoint;
mod collect;
mod diff;
mod restore;

mod files;
mod inner_path;

pub use blob::Blob;
pub use checkpoint::{Checkpoint, Counts, LeftOut, Made, Rules, Why};
pub use collect::Collected;
pub use diff::{Change, Changed, Side};
pub use error::WorkspaceError;
pub use files::{
    About, Before, Case, FileError, FileKind, Files, Folders, Found, Listing, Outcome, Part, Pattern,
    PatternError, SEARCH_BYTES_MAX, SEARCH_FILES_MAX, Search, SearchAt, Searched, VERSION_BYTES_MAX, Version,
    fresh_name,
};
pub use id::Id;
pub use inner_path::{InnerPath, PATH_BYTES_MAX, PathError, shown};
pub use restore::{Conflict, Restore, Restored};
pub use store::{Session, Store};

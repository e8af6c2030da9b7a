//! The default: a folder with a file for each digest.

use std::{
    fs::File,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use edgeplane_os::{
    atomic::{AtomicError, sync_dir, write_atomic},
    dirs::{DirsError, create_private_dir},
    proc,
};
use edgeplane_proof::Digest;

use super::{ArtifactStore, STORE};
use crate::NeighbourError;

/// The mode of every file in it.
const MODE: u32 = 0o600;

/// Keeps artifacts in a folder of its own, in folders by the first two digits of their digests.
#[derive(Debug)]
pub struct FolderArtifacts {
    root: PathBuf,
}

impl FolderArtifacts {
    /// The store in this folder, which need not be there yet.
    #[must_use]
    pub fn new(root: PathBuf) -> Self {
        Self { root }
    }

    fn place(&self, digest: &Digest) -> (PathBuf, String) {
        let name = digest.to_string();
        (self.root.join(&name[..2]), name)
    }
}

fn failed(attempt: &str, path: &Path, source: io::Error) -> NeighbourError {
    NeighbourError::Failed { neighbour: STORE, attempt: format!("{attempt} `{}`", path.display()), source }
}

/// What the system said below an error of a whole file.
pub(crate) fn cause(error: AtomicError) -> io::Error {
    match error {
        AtomicError::Write { source, .. }
        | AtomicError::Directory { source, .. }
        | AtomicError::Read { source, .. } => source,
        AtomicError::NoName { .. } | AtomicError::TooLarge { .. } => io::Error::other(error),
    }
}

impl ArtifactStore for FolderArtifacts {
    fn put(&self, digest: &Digest, bytes: &[u8]) -> Result<(), NeighbourError> {
        if self.get(digest, bytes.len()).is_ok_and(|there| there == bytes) {
            return Ok(());
        }
        let (dir, name) = self.place(digest);
        for folder in [&self.root, &dir] {
            create_private_dir(folder, proc::own_uid()).map_err(|error| match error {
                DirsError::Create { source, .. } | DirsError::Inspect { source, .. } => {
                    failed("make", folder, source)
                }
                other => failed("make", folder, io::Error::other(other)),
            })?;
        }
        let path = dir.join(name);
        write_atomic(&path, bytes, MODE).map_err(|error| failed("write", &path, cause(error)))?;
        // The folder itself may be new.
        sync_dir(&self.root).map_err(|source| failed("write", &self.root, source))
    }

    fn get(&self, digest: &Digest, bytes_max: usize) -> Result<Vec<u8>, NeighbourError> {
        let (dir, name) = self.place(digest);
        let path = dir.join(&name);
        let file = match File::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(NeighbourError::Missing { neighbour: STORE, what: name });
            }
            opened => opened.map_err(|source| failed("read", &path, source))?,
        };
        let read_max = u64::try_from(bytes_max).unwrap_or(u64::MAX);
        let mut bytes = Vec::new();
        let read = file.take(read_max.saturating_add(1)).read_to_end(&mut bytes);
        read.map_err(|source| failed("read", &path, source))?;
        if bytes.len() > bytes_max {
            let bytes = std::fs::metadata(&path).map_or(0, |about| about.len());
            return Err(NeighbourError::TooLarge {
                neighbour: STORE,
                what: name,
                bytes,
                bytes_max: read_max,
            });
        }
        Ok(bytes)
    }

    fn remove(&self, digest: &Digest) -> Result<(), NeighbourError> {
        let (dir, name) = self.place(digest);
        let path = dir.join(name);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed("remove", &path, error)),
            Err(_) => Ok(()),
            Ok(()) => sync_dir(&dir).map_err(|source| failed("remove", &path, source)),
        }
    }

    fn list(&self) -> Result<Vec<Digest>, NeighbourError> {
        let names = |dir: &Path| -> Result<Vec<String>, NeighbourError> {
            let entries = match std::fs::read_dir(dir) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
                entries => entries.map_err(|source| failed("list", dir, source))?,
            };
            let names =
                entries.map(|entry| entry.map(|entry| entry.file_name().to_string_lossy().into_owned()));
            names.collect::<io::Result<_>>().map_err(|source| failed("list", dir, source))
        };
        let mut found = Vec::new();
        for folder in names(&self.root)?.iter().filter(|name| name.len() == 2) {
            // What is half written has another name, and is not kept.
            found.extend(
                names(&self.root.join(folder))?.iter().filter_map(|name| name.parse::<Digest>().ok()),
            );
        }
        found.sort_unstable();
        Ok(found)
    }
}

//! Evidence backends: where packs are put that do not go back with the answer.

use std::{
    collections::BTreeMap,
    fmt::Debug,
    fs, io,
    path::{Component, Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use edgeplane_os::{
    atomic::write_atomic,
    dirs::{DirsError, create_private_dir},
    proc,
};

use crate::{NeighbourError, artifact::cause};

/// What an evidence backend is called in errors.
const BACKEND: &str = "the evidence backend";

/// The folders of a pack. They are there also if nothing is in them.
const FOLDERS: [&str; 2] = ["events", "bodies"];

/// The files of a pack: paths in it, and what they hold.
pub type PackFiles = [(String, Vec<u8>)];

/// Takes packs.
pub trait EvidenceBackend: Debug + Send + Sync {
    /// Puts a pack away, whole or not at all, in the order of its files. Says where it is.
    ///
    /// # Errors
    /// If it is not there then.
    fn keep(&self, pack: &str, files: &PackFiles) -> Result<String, NeighbourError>;
}

/// The default: a folder with a folder for each pack.
#[derive(Debug)]
pub struct FolderEvidence {
    root: PathBuf,
}

impl FolderEvidence {
    /// Packs in this folder, which need not be there yet.
    #[must_use]
    pub fn new(root: PathBuf) -> Self {
        Self { root }
    }
}

/// A path that stays beneath where it is put.
fn beneath(text: &str) -> Result<&Path, NeighbourError> {
    let path = Path::new(text);
    let is_plain = !text.is_empty() && path.components().all(|part| matches!(part, Component::Normal(_)));
    is_plain.then_some(path).ok_or_else(|| NeighbourError::Name { neighbour: BACKEND, what: text.to_owned() })
}

fn make(folder: &Path) -> Result<(), NeighbourError> {
    create_private_dir(folder, proc::own_uid()).map_err(|error| {
        let source = match error {
            DirsError::Create { source, .. } | DirsError::Inspect { source, .. } => source,
            other => io::Error::other(other),
        };
        failed("make", folder, source)
    })
}

fn failed(attempt: &str, path: &Path, source: io::Error) -> NeighbourError {
    NeighbourError::Failed { neighbour: BACKEND, attempt: format!("{attempt} `{}`", path.display()), source }
}

impl EvidenceBackend for FolderEvidence {
    fn keep(&self, pack: &str, files: &PackFiles) -> Result<String, NeighbourError> {
        let dir = self.root.join(beneath(pack)?);
        let paths: Vec<&Path> = files.iter().map(|(path, _)| beneath(path)).collect::<Result<_, _>>()?;
        make(&self.root)?;
        make(&dir)?;
        FOLDERS.iter().try_for_each(|folder| make(&dir.join(folder)))?;
        let written = paths.iter().zip(files).try_for_each(|(path, (_, bytes))| {
            if let Some(above) = path.parent().filter(|above| !above.as_os_str().is_empty()) {
                make(&dir.join(above))?;
            }
            let path = dir.join(path);
            write_atomic(&path, bytes, 0o600).map_err(|error| failed("write", &path, cause(error)))
        });
        if let Err(error) = written {
            // What is half a pack is none.
            drop(fs::remove_dir_all(&dir));
            return Err(error);
        }
        Ok(dir.to_string_lossy().into_owned())
    }
}

/// The double: keeps packs in memory.
#[derive(Debug, Default)]
pub struct MemoryEvidence(Mutex<BTreeMap<String, Vec<String>>>);

impl MemoryEvidence {
    /// The packs that it has, with the paths of their files.
    #[must_use]
    pub fn packs(&self) -> BTreeMap<String, Vec<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl EvidenceBackend for MemoryEvidence {
    fn keep(&self, pack: &str, files: &PackFiles) -> Result<String, NeighbourError> {
        let paths = files.iter().map(|(path, _)| path.clone()).collect();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(pack.to_owned(), paths);
        Ok(format!("memory:{pack}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves NBR-004.
    #[test]
    fn a_pack_is_put_away_whole_or_not_at_all_and_never_elsewhere() {
        let dir = tempfile::tempdir().unwrap();
        let folder = FolderEvidence::new(dir.path().join("evidence"));
        let files = [("events/one".to_owned(), b"1".to_vec()), ("manifest".to_owned(), b"2".to_vec())];
        let place = folder.keep("pack-1", &files).unwrap();
        assert_eq!(fs::read(Path::new(&place).join("events/one")).unwrap(), b"1");
        for (pack, path) in
            [("../pack", "a"), ("pack", "../a"), ("pack", "/a"), ("", "a"), ("pack", "a/../../b")]
        {
            let files = [("a".to_owned(), Vec::new()), (path.to_owned(), Vec::new())];
            assert!(matches!(folder.keep(pack, &files), Err(NeighbourError::Name { .. })), "{pack} {path}");
        }
        // The second file cannot be written, and the first one goes.
        let files = [("a".to_owned(), Vec::new()), ("a/b".to_owned(), Vec::new())];
        assert!(matches!(folder.keep("half", &files), Err(NeighbourError::Failed { .. })));
        let names: Vec<_> = fs::read_dir(dir.path().join("evidence")).unwrap().collect();
        assert_eq!(names.len(), 1);
        let memory = MemoryEvidence::default();
        memory.keep("pack-1", &[("a".to_owned(), Vec::new())]).unwrap();
        assert_eq!(memory.packs()["pack-1"], ["a"]);
    }
}

//! The default: the texts in a folder, found by their words.
//!
//! Which words a file has is kept as long as its time and size are the same. No link is followed, what begins with a
//! dot is passed over, and what is no text or too large is not there.

use std::{
    collections::BTreeMap,
    fs, io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use edgeplane_os::beneath::{self, BeneathError};
use edgeplane_proof::{Digest, digest};

use super::{
    ContextStore, DOCUMENT_BYTES_MAX, Document, FOUND_MAX, Found, REFERENCE_BYTES_MAX, STORE,
    rank::{Words, excerpt, ranked},
};
use crate::NeighbourError;

/// Files that are looked at; more are passed over, in the order of their names.
const FILES_MAX: usize = 10_000;

/// Folders in folders.
const DEPTH_MAX: usize = 16;

/// Searches the texts beneath a folder. A reference is a path in it.
#[derive(Debug)]
pub struct FolderContexts {
    root: PathBuf,
    known: Mutex<BTreeMap<String, Known>>,
}

/// A file as it was when it was read.
#[derive(Debug)]
struct Known {
    stamp: Stamp,
    /// Nothing: it is no text.
    text: Option<(Words, Digest, u64)>,
}

/// Its time, in seconds and billionths, its number and its size.
type Stamp = (i64, i64, u64, u64);

impl FolderContexts {
    /// Those in this folder, which need not be there yet.
    #[must_use]
    pub fn new(root: PathBuf) -> Self {
        Self { root, known: Mutex::default() }
    }

    fn text(&self, reference: &str) -> Result<String, NeighbourError> {
        let missing = || NeighbourError::Missing { neighbour: STORE, what: reference.to_owned() };
        if reference.len() > REFERENCE_BYTES_MAX || reference.split('/').any(|part| part.starts_with('.')) {
            return Err(missing());
        }
        let read = beneath::read(&self.root, Path::new(reference), DOCUMENT_BYTES_MAX);
        let bytes = read.map_err(|error| match error {
            BeneathError::Step { source, .. } if source.kind() != io::ErrorKind::NotFound => {
                NeighbourError::Failed { neighbour: STORE, attempt: format!("read `{reference}`"), source }
            }
            _ => missing(),
        })?;
        String::from_utf8(bytes).map_err(|_binary| missing())
    }

    /// The files that are there, by reference.
    fn files(&self) -> Result<BTreeMap<String, Stamp>, NeighbourError> {
        let mut found = BTreeMap::new();
        match walk(&self.root, "", DEPTH_MAX, &mut found) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(NeighbourError::Failed {
                neighbour: STORE,
                attempt: format!("list `{}`", self.root.display()),
                source: error,
            }),
            _ => Ok(found),
        }
    }
}

fn walk(dir: &Path, above: &str, depth: usize, found: &mut BTreeMap<String, Stamp>) -> io::Result<()> {
    let mut entries = fs::read_dir(dir)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name();
        // What cannot be named cannot be read.
        let Some(name) = name.to_str().filter(|name| !name.starts_with('.')) else { continue };
        // It may be gone by now.
        let Ok(about) = entry.metadata() else { continue };
        let reference = format!("{above}{name}");
        if about.is_dir() && depth > 0 {
            // One that cannot be listed is passed over like one that is not there.
            drop(walk(&entry.path(), &format!("{reference}/"), depth - 1, found));
        } else if about.is_file()
            && about.len() <= DOCUMENT_BYTES_MAX as u64
            && reference.len() <= REFERENCE_BYTES_MAX
            && found.len() < FILES_MAX
        {
            found.insert(reference, (about.mtime(), about.mtime_nsec(), about.ino(), about.len()));
        }
    }
    Ok(())
}

/// What a file is called: its first heading or line, else its name.
fn title(reference: &str, text: &str) -> String {
    let line = text.lines().map(|line| line.trim_start_matches('#').trim()).find(|line| !line.is_empty());
    let line = line.unwrap_or(reference);
    let end = line.floor_char_boundary(120);
    line.get(..end).unwrap_or_default().to_owned()
}

impl ContextStore for FolderContexts {
    fn search(&self, query: &str, found_max: usize) -> Result<Vec<Found>, NeighbourError> {
        let files = self.files()?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|reference, file| files.get(reference) == Some(&file.stamp));
        for (reference, stamp) in files {
            if known.contains_key(&reference) {
                continue;
            }
            let text = self.text(&reference).ok().map(|text| {
                let bytes = u64::try_from(text.len()).unwrap_or(u64::MAX);
                (Words::of(&reference, &text), digest(text.as_bytes()), bytes)
            });
            known.insert(reference, Known { stamp, text });
        }
        let texts: Vec<(&str, &Words)> = known
            .iter()
            .filter_map(|(reference, file)| file.text.as_ref().map(|(words, ..)| (reference.as_str(), words)))
            .collect();
        let best = ranked(query, &texts).into_iter().take(found_max.min(FOUND_MAX));
        let found = best.filter_map(|(reference, score)| {
            let (_, digest, bytes) = known.get(reference)?.text.as_ref()?;
            // One that is gone by now is not found.
            let text = self.text(reference).ok()?;
            Some(Found {
                reference: reference.to_owned(),
                title: title(reference, &text),
                digest: *digest,
                bytes: *bytes,
                score,
                excerpt: excerpt(query, &text),
            })
        });
        Ok(found.collect())
    }

    fn read(&self, reference: &str) -> Result<Document, NeighbourError> {
        let text = self.text(reference)?;
        let is_markdown = Path::new(reference).extension().is_some_and(|kind| kind == "md");
        let media_type = if is_markdown { "text/markdown" } else { "text/plain" };
        Ok(Document { title: title(reference, &text), media_type: media_type.to_owned(), text })
    }
}

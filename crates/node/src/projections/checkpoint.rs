//! Checkpoints: what was folded, in files that may be deleted or spoiled at any time.
//!
//! A file that is not exactly what was written for this projection of this target of this record is passed over, and
//! folding begins at the first event. The record is the only truth.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use edgeplane_os::{
    atomic::{AtomicError, write_atomic},
    dirs::create_private_dir,
};
use edgeplane_projection::{Definition, Running};
use edgeplane_proof::digest;
use edgeplane_store::Reader;
use edgeplane_wire::api::stream::{Target, TargetKind};
use serde::{Deserialize, Serialize};

use super::source::{Kind, Source};

/// Most checkpoints of a projection; beyond it the oldest go.
const FILES_MAX: usize = 256;

/// Longest checkpoint that is read. A fold that keeps more is folded from the beginning.
const FILE_BYTES_MAX: u64 = 256 << 20;

/// The first line of a checkpoint.
#[derive(Debug, Serialize, Deserialize)]
struct Header {
    /// The newest event that is folded, by its number in the source.
    at: u64,
    /// Its hash: a record in which another event stands there is another record.
    hash: String,
    /// Of what follows.
    digest: String,
}

/// Where the checkpoints of a projection are.
fn folder(dir: &Path, name: &str) -> PathBuf {
    dir.join(name)
}

fn file(dir: &Path, source: &Source) -> PathBuf {
    let Target { kind, id } = &source.subject.target;
    // An id is a prefix and a UUID, or hexadecimal digits: a name of a file like any other.
    let id = id.as_deref().unwrap_or_default();
    folder(dir, source.kind.name()).join(format!("{}-{id}.v{}", kind.as_str(), source.kind.version()))
}

/// The targets of which a projection has checkpoints.
pub(super) fn targets(dir: &Path, kind: Kind) -> Vec<Target> {
    let Ok(entries) = fs::read_dir(folder(dir, kind.name())) else { return Vec::new() };
    let version = format!(".v{}", kind.version());
    let target = |name: &str| {
        let (of, id) = name.strip_suffix(&version)?.split_once('-')?;
        let kinds: &[TargetKind] = kind.targets();
        let kind = kinds.iter().copied().find(|kind| kind.as_str() == of)?;
        Some(Target { kind, id: Some(id.to_owned()) })
    };
    entries.filter_map(|entry| target(entry.ok()?.file_name().to_str()?)).collect()
}

/// Reads what was kept of a source, if it is whole and of this record.
pub(super) fn load(
    dir: &Path,
    reader: &Reader,
    source: &Source,
    definition: &'static Definition,
) -> Option<Running> {
    let path = file(dir, source);
    if fs::metadata(&path).ok()?.len() > FILE_BYTES_MAX {
        return None;
    }
    let bytes = fs::read(&path).ok()?;
    let running = whole(&bytes, reader, source, definition);
    if running.is_none() {
        tracing::warn!(path = %path.display(), "a checkpoint is not usable and is made anew");
    }
    running
}

fn whole(bytes: &[u8], reader: &Reader, source: &Source, definition: &'static Definition) -> Option<Running> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let (header, body) = bytes.split_at_checked(end)?;
    let body = body.get(1..)?;
    let header: Header = serde_json::from_slice(header).ok()?;
    if digest(body).to_string() != header.digest {
        return None;
    }
    let event = source.reads.event(reader, header.at).ok()??;
    let is_there = event.hash.to_string() == header.hash;
    let running = is_there.then(|| Running::load(definition, &source.subject, body)).flatten()?;
    (running.as_of() == header.at).then_some(running)
}

/// Keeps what was folded up to `at`.
pub(super) fn save(dir: &Path, reader: &Reader, source: &Source, (at, body): (u64, &[u8])) {
    if let Err(error) = write(dir, reader, source, (at, body)) {
        // Nothing is lost by it but time.
        tracing::warn!(%error, projection = source.kind.name(), "cannot keep a checkpoint");
    }
}

fn write(dir: &Path, reader: &Reader, source: &Source, (at, body): (u64, &[u8])) -> Result<(), AtomicError> {
    let Ok(Some(event)) = source.reads.event(reader, at) else { return Ok(()) };
    let header = Header { at, hash: event.hash.to_string(), digest: digest(body).to_string() };
    let mut bytes = serde_json::to_vec(&header).unwrap_or_default();
    bytes.push(b'\n');
    bytes.extend_from_slice(body);
    let path = file(dir, source);
    let uid = edgeplane_os::proc::own_uid();
    let of_kind = folder(dir, source.kind.name());
    for needed in [dir, &of_kind] {
        create_private_dir(needed, uid).map_err(|error| AtomicError::Write {
            path: needed.to_owned(),
            source: io::Error::other(error.to_string()),
        })?;
    }
    write_atomic(&path, &bytes, 0o600)?;
    prune(&of_kind);
    Ok(())
}

/// Removes the oldest of too many checkpoints.
fn prune(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut files: Vec<(SystemTime, PathBuf)> = entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            Some((entry.metadata().ok()?.modified().ok()?, entry.path()))
        })
        .collect();
    let surplus = files.len().saturating_sub(FILES_MAX);
    files.sort();
    for (_, path) in files.into_iter().take(surplus) {
        drop(fs::remove_file(path));
    }
}

/// Forgets what was kept of a source.
pub(super) fn forget(dir: &Path, source: &Source) {
    drop(fs::remove_file(file(dir, source)));
}

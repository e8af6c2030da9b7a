//! Holds: checkpoints to which a pack refers that is written on the node stay as long as the pack is there.
//!
//! A hold is a file beside the pack's folder. It stands while the folder does, so whoever removes the pack ends it.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use edgeplane_os::{atomic::write_atomic, dirs::create_private_dir};
use edgeplane_types::{CheckpointId, ErrorName};
use edgeplane_wire::rpc::RpcError;

use crate::{record::chain, shared::Shared, workspaces};

/// The folder of packs in the state directory.
pub(crate) const FOLDER: &str = "evidence";

/// How the name of a hold ends.
const ENDING: &str = "held";

/// The digests that are held, each with the pack for which it is.
pub(crate) type Held = BTreeMap<String, String>;

fn unwritten(error: &dyn std::error::Error) -> RpcError {
    RpcError::new(ErrorName::StorageFull, chain(error))
}

/// Has checkpoints held for a pack before it is written. Those of which nothing is kept any more are passed over. On a
/// thread that may block.
pub(crate) fn hold(shared: &Shared, pack_id: &str, ids: &[CheckpointId]) -> Result<(), RpcError> {
    if ids.is_empty() {
        return Ok(());
    }
    // As long as this lives nothing is collected.
    let session = shared.workspaces.store.session().map_err(|error| workspaces::failed(&error))?;
    let mut digests = Vec::new();
    for id in ids {
        let row = shared.record.look_up(|reader| reader.checkpoint(id))?;
        let digest = row.and_then(|row| row.created).map(|(created, _)| created.digest);
        let is_there = |digest: &String| digest.parse().is_ok_and(|id| session.get(id).is_ok());
        digests.extend(digest.filter(is_there));
    }
    let (above, uid) = (shared.dirs.state.join(FOLDER), edgeplane_os::proc::own_uid());
    for folder in [&above, &above.join(pack_id)] {
        create_private_dir(folder, uid).map_err(|error| unwritten(&error))?;
    }
    let path = above.join(format!("{pack_id}.{ENDING}"));
    write_atomic(&path, digests.join("\n").as_bytes(), 0o600).map_err(|error| unwritten(&error))
}

/// Ends the hold of a pack of which nothing stands in its folder: it could not be written, or it is kept elsewhere, where
/// nobody would see it go. On a thread that may block.
pub(crate) fn settle(shared: &Shared, pack_id: &str) -> Result<(), RpcError> {
    let above = shared.dirs.state.join(FOLDER);
    match fs::remove_dir(above.join(pack_id)) {
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => return Ok(()),
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(unwritten(&error)),
        _ => {}
    }
    match fs::remove_file(above.join(format!("{pack_id}.{ENDING}"))) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(unwritten(&error)),
        _ => Ok(()),
    }
}

/// What is held now. Holds of packs that are gone go, too. On a thread that may block.
///
/// # Errors
/// If a hold cannot be read: then nobody knows what it holds.
pub(crate) fn held(state: &Path) -> io::Result<Held> {
    let mut found = Held::new();
    let entries = match fs::read_dir(state.join(FOLDER)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
        entries => entries?,
    };
    for entry in entries {
        let path: PathBuf = entry?.path();
        if path.extension().is_none_or(|ending| ending != ENDING) {
            continue;
        }
        let pack = path.with_extension("");
        if !pack.try_exists()? {
            fs::remove_file(&path)?;
            continue;
        }
        let name = pack.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path)?;
        found.extend(text.lines().map(|digest| (digest.to_owned(), name.clone())));
    }
    Ok(found)
}

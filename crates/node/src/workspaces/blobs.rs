//! Blobs of workspaces: bytes that are kept under their digest, until nobody refers to them any more.

use std::{
    path::Path,
    sync::{Arc, atomic::Ordering},
};

use edgeplane_store::{BlobRow, WorkspaceRow};
use edgeplane_types::{
    ErrorName, Fact, StreamName, WorkspaceId,
    fact::{BlobPut, BlobRemoved},
};
use edgeplane_wire::rpc::RpcError;
use edgeplane_workspace::{Blob, Files, InnerPath};

use super::{blocking, collect, commit, failed, not_done};
use crate::{
    record::{Draft, Origin},
    shared::Shared,
};

/// Blobs whose time is over are looked for at most this often when others are put, in milliseconds.
const COLLECTED_EVERY_MS: u64 = 60_000;

/// What an address of a blob begins with.
pub(crate) const BLOB_URI: &str = "blob:";

/// What is to be kept.
#[derive(Debug)]
pub(crate) enum Bytes {
    Given(Vec<u8>),
    /// What a file of the workspace holds.
    File(InnerPath),
}

/// A blob that somebody wants kept.
#[derive(Debug)]
pub(crate) struct WantedBlob {
    pub(crate) of: WorkspaceRow,
    pub(crate) bytes: Bytes,
    /// Whether it is kept although nobody refers to it; what held before, if nothing is said.
    pub(crate) pinned: Option<bool>,
    pub(crate) keep_ms: u64,
}

/// A blob as the record has it, for the store.
pub(crate) fn blob_of(put: &BlobPut) -> Result<Blob, RpcError> {
    let bad = || RpcError::new(ErrorName::RecordDamaged, "a digest is none");
    let (Ok(id), Ok(root)) = (put.digest.parse(), put.root.parse()) else { return Err(bad()) };
    Ok(Blob { id, bytes: put.bytes, depth: put.depth, root })
}

/// Keeps bytes, to the end also if nobody waits for it any more.
pub(crate) async fn put(
    shared: &Arc<Shared>,
    wanted: WantedBlob,
    origin: Origin,
) -> Result<BlobRow, RpcError> {
    let own = Arc::clone(shared);
    let row = blocking(move || keep(&own, &wanted, &origin)).await??;
    let now = shared.record.now();
    let is_any_over = shared.record.look_up(|reader| reader.are_blobs_over(now))?;
    let (at, last) = (shared.record.monotonic_ms(), &shared.workspaces.collected_ms);
    let before = last.load(Ordering::Acquire);
    if is_any_over
        && at.saturating_sub(before) >= COLLECTED_EVERY_MS
        && last.compare_exchange(before, at, Ordering::AcqRel, Ordering::Acquire).is_ok()
    {
        collect(shared);
    }
    Ok(row)
}

fn keep(shared: &Shared, wanted: &WantedBlob, origin: &Origin) -> Result<BlobRow, RpcError> {
    let id = wanted.of.id;
    // The session lives until the digest is durable, so that no collection takes it for unneeded.
    let session = shared.workspaces.store.session().map_err(|error| failed(&error))?;
    let blob = match &wanted.bytes {
        Bytes::Given(bytes) => session.put_blob(bytes).map_err(|error| failed(&error))?,
        Bytes::File(path) => Files::open(Path::new(&wanted.of.folder))
            .and_then(|files| files.blob(path, &session))
            .map_err(|error| not_done(&error))?,
    };
    shared.failpoint("blob.kept");
    let digest = blob.id.to_string();
    let before = shared.record.look_up(|reader| reader.blob(&id, &digest))?.map(|row| row.put);
    let until = shared.record.now().plus_millis(wanted.keep_ms);
    let put = BlobPut {
        digest: digest.clone(),
        bytes: blob.bytes,
        depth: blob.depth,
        root: blob.root.to_string(),
        pinned: wanted.pinned.unwrap_or_else(|| before.as_ref().is_some_and(|before| before.pinned)),
        expires_at: before.map_or(until, |before| before.expires_at.max(until)),
    };
    let mut draft = Draft::default();
    shared.record.add(&mut draft, StreamName::Workspace(id), origin, Fact::BlobPut(put));
    commit(shared, draft)?;
    drop(session);
    let row = shared.record.look_up(|reader| reader.blob(&id, &digest))?;
    row.ok_or_else(|| RpcError::new(ErrorName::Internal, "a blob is gone as soon as it is kept"))
}

/// A blob and some of its bytes; nothing, if it is kept no more.
pub(crate) async fn read(
    shared: &Arc<Shared>,
    (workspace, digest): (WorkspaceId, String),
    (offset, bytes_max): (u64, usize),
) -> Result<Option<(BlobRow, Vec<u8>)>, RpcError> {
    let own = Arc::clone(shared);
    blocking(move || {
        // As long as the session lives, what the record has is in the store.
        let session = own.workspaces.store.session().map_err(|error| failed(&error))?;
        let row = own.record.look_up(|reader| reader.blob(&workspace, &digest))?;
        let Some(row) = row else { return Ok(None) };
        let found = session.read_blob(&blob_of(&row.put)?, offset, bytes_max);
        found.map(|bytes| Some((row, bytes))).map_err(|error| failed(&error))
    })
    .await?
}

/// Which blobs stay: those that are pinned, whose time is not over, or to which somebody refers. The ends of the others
/// are recorded before anything of them is removed.
pub(super) fn staying(shared: &Shared, is_needed: &dyn Fn(&Blob) -> bool) -> Result<Vec<Blob>, RpcError> {
    let rows = shared.record.look_up(edgeplane_store::Reader::blobs)?;
    let referred = shared.record.look_up(|reader| reader.edge_uris(BLOB_URI))?;
    let (now, mut draft, mut stay) = (shared.record.now(), Draft::default(), Vec::new());
    for row in rows {
        let (put, blob) = (&row.put, blob_of(&row.put)?);
        let is_referred = || referred.contains(&format!("{BLOB_URI}{}", put.digest));
        if put.pinned || put.expires_at > now || is_referred() || is_needed(&blob) {
            stay.push(blob);
            continue;
        }
        let removed = Fact::BlobRemoved(BlobRemoved { digest: put.digest.clone() });
        let node = Origin::node("blobs");
        shared.record.add(&mut draft, StreamName::Workspace(row.workspace), &node, removed);
    }
    if !draft.is_empty() {
        commit(shared, draft)?;
    }
    Ok(stay)
}

//! Blobs of workspaces: what may be kept, within which bounds, and how it is shown.

use edgeplane_store::BlobRow;
use edgeplane_types::{ErrorName, WorkspaceId};
use edgeplane_wire::{
    api::workspace::{
        BLOB_KEEP_MS_MAX, BlobGetParams, BlobParams, BlobPutParams, BlobReadResult, BlobView, READ_BYTES_MAX,
    },
    rpc::RpcError,
};
use edgeplane_workspace::{Id, Part};

use super::{
    Session,
    files::{self, inner},
    invalid, meant, origin,
};
use crate::workspaces::{self, Bytes, WantedBlob};

fn view(row: BlobRow) -> BlobView {
    BlobView {
        workspace_id: row.workspace,
        digest: row.put.digest,
        bytes: row.put.bytes,
        pinned: row.put.pinned,
        expires_at: row.put.expires_at,
        by: row.by.name().clone(),
        put_at: row.put_at,
    }
}

/// A blob of a workspace that the caller sees.
async fn found(
    session: &Session,
    whose: (Option<WorkspaceId>, Option<&str>),
    digest: &str,
) -> Result<BlobRow, RpcError> {
    let parsed = digest.parse::<Id>();
    let digest = parsed.map_err(|error| invalid(format!("`digest` is none: {error}")))?.to_string();
    let of = meant(session, whose).await?;
    let row = session.shared.record.look_up(|reader| reader.blob(&of.id, &digest))?;
    row.ok_or_else(|| gone(&of.id, &digest))
}

fn gone(of: &WorkspaceId, digest: &str) -> RpcError {
    RpcError::new(ErrorName::NotFound, format!("workspace {of} has no blob {digest}"))
}

pub(in crate::server) async fn put(session: &Session, params: BlobPutParams) -> Result<BlobView, RpcError> {
    if params.keep_ms > BLOB_KEEP_MS_MAX {
        return Err(invalid("`keep_ms` is at most 30 days"));
    }
    let bytes = match (params.content, params.path) {
        (Some(content), None) => Bytes::Given(files::content(content, params.encoding)?),
        (None, Some(path)) => Bytes::File(inner("path", &path)?),
        _ => return Err(invalid("name either `content` or `path`")),
    };
    let of = meant(session, (params.workspace_id, params.agent.as_deref())).await?;
    let wanted = WantedBlob { of, bytes, pinned: params.pinned, keep_ms: params.keep_ms };
    workspaces::put_blob(&session.shared, wanted, origin(session)).await.map(view)
}

pub(in crate::server) async fn get(
    session: &Session,
    params: BlobGetParams,
) -> Result<BlobReadResult, RpcError> {
    let row = found(session, (params.workspace_id, params.agent.as_deref()), &params.digest).await?;
    let limit = usize::try_from(params.limit.clamp(1, READ_BYTES_MAX)).unwrap_or(1);
    let which = (row.workspace, row.put.digest);
    let none = gone(&which.0, &which.1);
    let read = workspaces::read_blob(&session.shared, which, (params.offset, limit)).await?;
    let (row, bytes) = read.ok_or(none)?;
    let (total, offset) = (row.put.bytes, params.offset);
    let part = Part { bytes, total, version: None, is_settled: true };
    let what = || row.put.digest.clone();
    let (content, encoding, count) =
        files::encoded(what, (&part.bytes, part.total), (offset, params.encoding))?;
    let next = offset.saturating_add(count);
    Ok(BlobReadResult {
        digest: row.put.digest,
        content,
        encoding,
        offset,
        bytes: total,
        next_offset: (next < total).then_some(next),
    })
}

pub(in crate::server) async fn stat(session: &Session, params: BlobParams) -> Result<BlobView, RpcError> {
    found(session, (params.workspace_id, params.agent.as_deref()), &params.digest).await.map(view)
}

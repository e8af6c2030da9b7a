//! Making checkpoints: the intent, the state that is kept, and what came of it.

use std::{path::Path, sync::Arc};

use edgeplane_store::WorkspaceRow;
use edgeplane_types::{
    CheckpointCause, CheckpointId, Fact, FolderCounts, InvocationId, StreamName,
    fact::{CheckpointCreated, CheckpointFailed, CheckpointStarted},
};
use edgeplane_wire::rpc::RpcError;
use edgeplane_workspace::{Made, Rules, Session};

use super::{Busy, blocking, commit, failed, suspend::Standing, users};
use crate::{
    record::{Draft, Origin, refused},
    shared::Shared,
};

/// A checkpoint that somebody wants.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub(crate) row: WorkspaceRow,
    pub(crate) label: Option<String>,
    pub(crate) rules: Rules,
    pub(crate) cause: CheckpointCause,
    /// The call before which it is made.
    pub(crate) invocation: Option<InvocationId>,
}

/// Keeps the state of a workspace, to the end also if nobody waits for it any more.
pub(crate) async fn create(
    shared: &Arc<Shared>,
    wanted: Wanted,
    busy: Busy,
    origin: Origin,
) -> Result<CheckpointId, RpcError> {
    let own = Arc::clone(shared);
    let work = shared.tasks.spawn(async move { begin(own, wanted, busy, origin).await });
    work.await.unwrap_or_else(|_cut_off| {
        Err(RpcError::new(edgeplane_types::ErrorName::Internal, "the making of a checkpoint was cut off"))
    })
}

async fn begin(
    shared: Arc<Shared>,
    wanted: Wanted,
    busy: Busy,
    origin: Origin,
) -> Result<CheckpointId, RpcError> {
    let standing = Standing::of(&shared, users(&shared, &wanted.row.folder).await);
    let checkpoint_id: CheckpointId = shared.record.mint().id();
    let started = CheckpointStarted {
        checkpoint_id,
        cause: wanted.cause,
        label: wanted.label.clone(),
        invocation_id: wanted.invocation,
        suspends: standing.suspends(),
    };
    let stream = StreamName::Workspace(wanted.row.id);
    let mut draft = Draft::default();
    shared.record.add(&mut draft, stream, &origin, Fact::CheckpointStarted(started));
    shared.record.commit(draft).await.map_err(|error| refused(&error))?;
    shared.failpoint("checkpoint.started");
    let kept = blocking(move || {
        let _busy = busy;
        // The session lives until the digest is durable, so that no collection takes it for unneeded.
        let session = shared.workspaces.store.session();
        let made = session.and_then(|session| keep(&session, &wanted, standing).map(|made| (session, made)));
        let mut draft = Draft::default();
        match made {
            Ok((session, (made, frozen))) => {
                let fact = Fact::CheckpointCreated(Box::new(created(
                    checkpoint_id,
                    &made,
                    (frozen, wanted.row.write_seq),
                )));
                shared.record.add(&mut draft, stream, &origin, fact);
                shared.failpoint("checkpoint.kept");
                let done = commit(&shared, draft);
                drop(session);
                done
            }
            Err(error) => {
                let reason = crate::record::chain(&error);
                let fact = CheckpointFailed { checkpoint_id, reason, lost: false };
                shared.record.add(&mut draft, stream, &origin, Fact::CheckpointFailed(fact));
                commit(&shared, draft)?;
                Err(failed(&error))
            }
        }
    });
    kept.await?.map(|()| checkpoint_id)
}

/// Keeps the folder, and says whether everybody stood still meanwhile. What is read first, while they work, need not be
/// read again while they stand.
fn keep(
    session: &Session,
    wanted: &Wanted,
    mut standing: Standing,
) -> Result<(Made, bool), edgeplane_workspace::WorkspaceError> {
    let (folder, key) = (Path::new(&wanted.row.folder), wanted.row.id.to_string());
    let first = session.create(folder, &wanted.rules, &key)?;
    if standing.suspends().is_empty() {
        return Ok((first, false));
    }
    standing.still();
    let mut made = session.create(folder, &wanted.rules, &key)?;
    made.bytes_new = made.bytes_new.saturating_add(first.bytes_new);
    Ok((made, standing.is_all))
}

pub(super) fn created(
    checkpoint_id: CheckpointId,
    made: &Made,
    (frozen, write_seq): (bool, u64),
) -> CheckpointCreated {
    let counts = made.checkpoint.counts;
    CheckpointCreated {
        checkpoint_id,
        digest: made.checkpoint.id.to_string(),
        counts: FolderCounts {
            files: counts.files,
            folders: counts.folders,
            links: counts.links,
            bytes: counts.bytes,
        },
        bytes_new: made.bytes_new,
        left_out: made.checkpoint.left_out_count,
        unsettled: u64::try_from(made.unsettled.len()).unwrap_or(u64::MAX),
        frozen,
        write_seq,
    }
}

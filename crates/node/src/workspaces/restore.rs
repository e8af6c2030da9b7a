//! Bringing a workspace back: what is there is kept and named before anything of it is touched.

use std::{path::Path, sync::Arc};

use edgeplane_store::WorkspaceRow;
use edgeplane_types::{
    CheckpointCause, CheckpointId, ErrorName, Fact, RestoreCounts, StreamName,
    fact::{CheckpointFailed, CheckpointStarted, RestoreEnded, RestoreFailed, RestoreStarted},
};
use edgeplane_wire::rpc::RpcError;
use edgeplane_workspace::{Conflict, Id, Restored, Rules, WorkspaceError};

use super::{Busy, blocking, checkpoint::created, commit, failed};
use crate::{
    record::{Draft, Origin, chain},
    shared::Shared,
};

/// A restore that somebody wants.
#[derive(Debug)]
pub(crate) struct Restoring {
    pub(crate) row: WorkspaceRow,
    pub(crate) checkpoint_id: CheckpointId,
    pub(crate) digest: Id,
    pub(crate) rules: Rules,
    /// Whether somebody may be at work in the folder.
    pub(crate) forced: bool,
}

/// What came of it: the checkpoint of what was there, and what was done.
pub(crate) type Back = (CheckpointId, RestoreCounts, Vec<Conflict>);

/// Brings a workspace back, to the end also if nobody waits for it any more.
pub(crate) async fn restore(
    shared: &Arc<Shared>,
    wanted: Restoring,
    busy: Busy,
    origin: Origin,
) -> Result<Back, RpcError> {
    let own = Arc::clone(shared);
    let work = shared.tasks.spawn(async move {
        blocking(move || {
            let _busy = busy;
            bring_back(&own, &wanted, &origin)
        })
        .await?
    });
    let cut_off = |_| Err(RpcError::new(ErrorName::Internal, "a restore was cut off"));
    work.await.unwrap_or_else(cut_off)
}

fn bring_back(shared: &Shared, wanted: &Restoring, origin: &Origin) -> Result<Back, RpcError> {
    let (stream, checkpoint_id) = (StreamName::Workspace(wanted.row.id), wanted.checkpoint_id);
    let before_id: CheckpointId = shared.record.mint().id();
    let add = |facts: Vec<Fact>| {
        let mut draft = Draft::default();
        for fact in facts {
            shared.record.add(&mut draft, stream, origin, fact);
        }
        commit(shared, draft)
    };
    let started = CheckpointStarted {
        checkpoint_id: before_id,
        cause: CheckpointCause::Restore,
        label: None,
        invocation_id: None,
        suspends: Vec::new(),
    };
    add(vec![Fact::CheckpointStarted(started)])?;
    shared.failpoint("restore.keeping");
    let not_kept = |error: WorkspaceError| {
        let fact = CheckpointFailed { checkpoint_id: before_id, reason: chain(&error), lost: false };
        add(vec![Fact::CheckpointFailed(fact)]).and(Err(failed(&error)))
    };
    let session = match shared.workspaces.store.session() {
        Ok(session) => session,
        Err(error) => return not_kept(error),
    };
    let key = wanted.row.id.to_string();
    let prepared = session.restore(Path::new(&wanted.row.folder), wanted.digest, (&wanted.rules, &key));
    let prepared = match prepared {
        Ok(prepared) => prepared,
        Err(error) => return not_kept(error),
    };
    let kept = Fact::CheckpointCreated(Box::new(created(
        before_id,
        prepared.before(),
        (false, wanted.row.write_seq),
    )));
    let begun = Fact::RestoreStarted(RestoreStarted { checkpoint_id, before_id, forced: wanted.forced });
    add(vec![kept, begun])?;
    shared.failpoint("restore.started");
    match prepared.apply() {
        Ok(restored) => {
            let counts = counts(&restored);
            add(vec![Fact::RestoreEnded(RestoreEnded { checkpoint_id, counts })])?;
            Ok((before_id, counts, restored.conflicts))
        }
        Err(error) => {
            let fact = RestoreFailed { checkpoint_id, reason: chain(&error), lost: false };
            add(vec![Fact::RestoreFailed(fact)])?;
            Err(failed(&error).hint(format!("what was there is kept as {before_id}")))
        }
    }
}

fn counts(restored: &Restored) -> RestoreCounts {
    RestoreCounts {
        written: restored.written,
        removed: restored.removed,
        modes: restored.modes,
        bytes: restored.bytes,
        conflicts: restored.conflict_count,
    }
}

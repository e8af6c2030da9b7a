//! Checkpoints that are made before calls without anybody asking, and how many of them are kept.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use edgeplane_types::{
    CheckpointCause, CheckpointId, ErrorName, Fact, InvocationId, StreamName, WorkspaceId,
    fact::CheckpointDeleted,
};
use edgeplane_wire::rpc::RpcError;
use edgeplane_workspace::Rules;
use tokio::time::Instant;

use super::{Busy, Wanted, collect, create, folder_of, held_by, know, take};
use crate::{
    agent::AgentHandle,
    record::{Draft, Origin, refused},
    shared::Shared,
};

/// How long whatever else is being done with the workspace is waited for: another checkpoint of it, or a restore. What
/// takes longer makes the call fail, or go on without.
const WAIT_MAX: Duration = Duration::from_secs(60);

/// So many checkpoints are ended before what they alone needed is removed: a collection keeps everybody else from the
/// store.
const ENDED_BEFORE_COLLECTION: u64 = 16;

/// Keeps the state of the folder of an agent that is about to call something.
pub(crate) async fn before_call(
    shared: &Arc<Shared>,
    agent: &AgentHandle,
    (invocation, keep): (InvocationId, u32),
    origin: Origin,
) -> Result<CheckpointId, RpcError> {
    let folder = folder_of(shared, agent).await?;
    let row = know(shared, (folder, Some(agent.id)), &origin).await?;
    let id = row.id;
    let busy = take_in_time(shared, id).await?;
    let row = shared.record.look_up(|reader| reader.workspace(&id))?.unwrap_or(row);
    let wanted = Wanted {
        row,
        label: None,
        rules: Rules { keep_ignored: false, keep_git: false },
        cause: CheckpointCause::BeforeCall,
        invocation: Some(invocation),
    };
    let made = create(shared, wanted, busy, origin).await?;
    if let Err(error) = prune(shared, id, keep).await {
        // The next one tries it again.
        tracing::warn!(workspace = %id, error = %error.message, "old checkpoints are not ended");
    }
    Ok(made)
}

/// Takes a workspace as soon as nothing else is done with it.
async fn take_in_time(shared: &Arc<Shared>, id: WorkspaceId) -> Result<Busy, RpcError> {
    let until = Instant::now() + WAIT_MAX;
    loop {
        // From here on no end is missed.
        let changed = shared.workspaces.waiters.next_look();
        tokio::pin!(changed);
        changed.as_mut().enable();
        match take(shared, id).await {
            Err(error) if error.name() == ErrorName::Locked && Instant::now() < until => {}
            taken => return taken,
        }
        // Whatever of these wins, it is tried again.
        tokio::select! {
            () = shared.stopping.cancelled() => {
                return Err(RpcError::new(ErrorName::Unavailable, "the node stops"));
            }
            () = tokio::time::sleep_until(until) => {}
            () = &mut changed => {}
        }
    }
}

/// Ends the oldest of them that are beyond a number, but those whose call is not over, and those to which evidence refers.
async fn prune(shared: &Arc<Shared>, id: WorkspaceId, keep: u32) -> Result<(), RpcError> {
    let beyond = shared.record.look_up(|reader| reader.checkpoints_before_calls(&id, keep))?;
    let mut draft = Draft::default();
    let mut ended = 0;
    for row in beyond {
        let Some(call) = row.started.invocation_id else { continue };
        let call = shared.record.look_up(|reader| reader.invocation(&call))?;
        let digest = row.created.map(|(created, _)| created.digest).unwrap_or_default();
        if call.is_some_and(|call| !call.state.is_over()) || held_by(shared, digest).await?.is_some() {
            continue;
        }
        let reason = Some(format!("{keep} newer ones were made before calls"));
        let checkpoint_id = row.started.checkpoint_id;
        let fact = Fact::CheckpointDeleted(CheckpointDeleted { checkpoint_id, reason });
        shared.record.add(
            &mut draft,
            StreamName::Workspace(id),
            &Origin::node("checkpoints-before-calls"),
            fact,
        );
        ended += 1;
    }
    if draft.is_empty() {
        return Ok(());
    }
    shared.record.commit(draft).await.map_err(|error| refused(&error))?;
    let before = shared.workspaces.ended.fetch_add(ended, Ordering::AcqRel);
    if before.saturating_add(ended) >= ENDED_BEFORE_COLLECTION {
        shared.workspaces.ended.store(0, Ordering::Release);
        collect(shared);
    }
    Ok(())
}

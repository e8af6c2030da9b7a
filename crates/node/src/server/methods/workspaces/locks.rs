//! Locks on paths of workspaces: what may be asked for, and how they are shown.

use std::time::Duration;

use edgeplane_store::LockRow;
use edgeplane_types::{ErrorName, WorkspaceId, fact::Actor};
use edgeplane_wire::{
    api::workspace::{
        LOCK_MS_MAX, LOCK_MS_MIN, LOCK_PATHS_MAX, LOCK_WAIT_MS_MAX, LockAcquireParams, LockListParams,
        LockListResult, LockReleaseParams, LockView,
    },
    rpc::RpcError,
};

use super::{Session, files::inner, invalid, meant, origin};
use crate::workspaces::{self, WantedLock};

fn view(workspace_id: WorkspaceId, row: LockRow) -> LockView {
    let agent_id = match &row.by {
        Actor::Agent { agent_id, .. } => Some(*agent_id),
        _ => None,
    };
    LockView {
        workspace_id,
        token: row.acquired.token,
        paths: row.acquired.paths,
        shared: row.acquired.shared,
        holder: row.by.name().clone(),
        agent_id,
        epoch: row.acquired.epoch,
        acquired_at: row.acquired_at,
        expires_at: row.acquired.expires_at,
    }
}

pub(in crate::server) async fn acquire(
    session: &Session,
    params: LockAcquireParams,
) -> Result<LockView, RpcError> {
    if params.paths.is_empty() != params.token.is_some() || params.paths.len() > LOCK_PATHS_MAX {
        let what =
            format!("name either `paths`, at most {LOCK_PATHS_MAX}, or the `token` of a lock that is held");
        return Err(invalid(what));
    }
    let paths = params.paths.iter().map(|path| inner("paths", path)).collect::<Result<_, _>>()?;
    if !(LOCK_MS_MIN..=LOCK_MS_MAX).contains(&params.ttl_ms) {
        return Err(invalid(format!("`ttl_ms` is from {LOCK_MS_MIN} to {LOCK_MS_MAX}")));
    }
    if params.wait_ms > LOCK_WAIT_MS_MAX {
        return Err(invalid(format!("`wait_ms` is at most {LOCK_WAIT_MS_MAX}")));
    }
    let row = meant(session, (params.workspace_id, params.agent.as_deref())).await?;
    let wanted = WantedLock {
        workspace: row.id,
        paths,
        is_shared: params.shared,
        token: params.token,
        ttl_ms: params.ttl_ms,
        wait: Duration::from_millis(params.wait_ms),
        epoch: session.caller.agent.as_ref().map(|agent| agent.epoch),
        binding: params.binding_epoch,
    };
    let acquired = Box::pin(workspaces::acquire(&session.shared, wanted, origin(session))).await?;
    Ok(view(row.id, acquired))
}

pub(in crate::server) async fn release(
    session: &Session,
    params: LockReleaseParams,
) -> Result<LockView, RpcError> {
    let is_operator = session.caller.is_operator();
    if params.force && !is_operator {
        let what = format!("`{}` may not take locks: rule operators-only", session.caller.principal);
        return Err(RpcError::new(ErrorName::PermissionDenied, what));
    }
    let row = meant(session, (params.workspace_id, params.agent.as_deref())).await?;
    let which = (row.id, params.token);
    let released = workspaces::release(&session.shared, which, params.force, origin(session)).await?;
    Ok(view(row.id, released))
}

pub(in crate::server) async fn list(
    session: &Session,
    params: LockListParams,
) -> Result<LockListResult, RpcError> {
    let row = meant(session, (params.workspace_id, params.agent.as_deref())).await?;
    let locks = workspaces::held(&session.shared, row.id)?;
    Ok(LockListResult { locks: locks.into_iter().map(|lock| view(row.id, lock)).collect() })
}

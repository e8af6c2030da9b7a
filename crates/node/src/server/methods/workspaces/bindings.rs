//! Bindings of workspaces: to what they may be bound by whom, and how they are shown.

use edgeplane_store::{BindingRow, WorkspaceRow};
use edgeplane_types::{ErrorName, fact::BindingAttached};
use edgeplane_wire::{
    api::workspace::{BindingAttachParams, BindingDetachParams, BindingView},
    rpc::RpcError,
};

use super::{Session, concerns, invalid, named_agent, none, origin, seen};
use crate::{
    server::methods::work::seen_run,
    workspaces::{self, WantedBinding},
};

pub(super) fn view(session: &Session, of: &WorkspaceRow, row: &BindingRow) -> BindingView {
    let BindingAttached { binding_epoch, mode, agent_id, run_id, epoch } = row.attached;
    let handle = session.shared.agent_by_id(agent_id);
    BindingView {
        workspace_id: of.id,
        binding_epoch,
        mode,
        root: of.folder.clone(),
        agent: handle.map(|handle| handle.name.to_string()),
        agent_id,
        run_id,
        epoch,
        by: row.by.name().clone(),
        attached_at: row.attached_at,
    }
}

/// Whether an agent that asks works under a binding of the workspace that lives.
pub(super) fn is_bound(session: &Session, of: &WorkspaceRow) -> Result<bool, RpcError> {
    let Some(agent) = &session.caller.agent else { return Ok(false) };
    Ok(!workspaces::bound(&session.shared, of.id, Some(&agent.id))?.is_empty())
}

/// A binding that lives, for those whose business its workspace is.
pub(in crate::server) fn seen_binding(session: &Session, epoch: u64) -> Result<Option<BindingRow>, RpcError> {
    let Some(row) = workspaces::living(&session.shared, epoch)? else { return Ok(None) };
    Ok(seen(session, row.workspace).is_ok().then_some(row))
}

pub(in crate::server) async fn attach(
    session: &Session,
    params: BindingAttachParams,
) -> Result<BindingView, RpcError> {
    // Whoever works under a binding hands nothing on.
    let of = seen(session, params.workspace_id)?;
    if !concerns(session, &of) {
        return Err(none(of.id));
    }
    let (agent_id, run_id, epoch) = match (params.run_id, params.agent.as_deref()) {
        (Some(id), None) => {
            let run = seen_run(session, id)?;
            if run.state.is_over() {
                let what = format!("run {id} is over: it is {}", run.state);
                return Err(RpcError::new(ErrorName::InvalidState, what));
            }
            (run.started.agent_id, Some(id), None)
        }
        (None, Some(name)) => {
            let handle = named_agent(session, name)?;
            let (phase, epoch) = {
                let summary = handle.summary.borrow();
                (summary.phase, summary.epoch)
            };
            if !workspaces::may_work(phase) {
                let what = format!("agent `{}` has no epoch that lives: it is {phase}", handle.name);
                return Err(RpcError::new(ErrorName::InvalidState, what));
            }
            (handle.id, None, Some(epoch))
        }
        _ => return Err(invalid("name either `run_id` or `agent`")),
    };
    let attached = BindingAttached { binding_epoch: 0, mode: params.mode, agent_id, run_id, epoch };
    let wanted = WantedBinding { workspace: of.id, attached };
    let row = workspaces::attach(&session.shared, wanted, origin(session)).await?;
    Ok(view(session, &of, &row))
}

pub(in crate::server) async fn detach(
    session: &Session,
    params: BindingDetachParams,
) -> Result<BindingView, RpcError> {
    let of = seen(session, params.workspace_id)?;
    let row = workspaces::detach(&session.shared, &of, params.binding_epoch, origin(session)).await?;
    Ok(view(session, &of, &row))
}

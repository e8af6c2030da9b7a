//! Bindings of workspaces: to what they may be bound by whom, and how they are shown.

use edgeplane_store::{BindingRow, WorkspaceRow};
use edgeplane_types::{AgentId, ErrorName, WorkspaceId, fact::BindingAttached};
use edgeplane_wire::{
    api::{
        work::RunParams,
        workspace::{BindingAttachParams, BindingDetachParams, BindingView},
    },
    rpc::RpcError,
};

use super::{Session, concerns, invalid, named_agent, none, origin, seen};
use crate::{
    server::methods::work::run_get,
    work::is_run_over,
    workspaces::{self, ToBind, WantedBinding},
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

/// A workspace for those who may bind it to the work of an agent: whoever works under a binding hands nothing on.
pub(in crate::server) fn bindable(
    session: &Session,
    id: WorkspaceId,
    agent: Option<AgentId>,
) -> Result<WorkspaceRow, RpcError> {
    let of = seen(session, id)?;
    if !concerns(session, &of) {
        return Err(none(of.id));
    }
    let handle = agent.and_then(|agent| session.shared.agent_by_id(agent));
    match handle.filter(|handle| handle.profile().replicas.is_some()) {
        None => Ok(of),
        Some(set) => {
            let what = format!("agent `{}` is a set of replicas: it is not known which will do it", set.name);
            Err(RpcError::new(ErrorName::Unsupported, what).hint("name one of its replicas"))
        }
    }
}

/// The right to bind a workspace to a run that is about to be made.
pub(in crate::server) async fn to_bind(
    session: &Session,
    id: WorkspaceId,
    agent: Option<AgentId>,
) -> Result<ToBind, RpcError> {
    let of = bindable(session, id, agent)?;
    Ok(workspaces::to_bind(&session.shared, of.id).await)
}

pub(in crate::server) async fn attach(
    session: &Session,
    params: BindingAttachParams,
) -> Result<BindingView, RpcError> {
    let of = bindable(session, params.workspace_id, None)?;
    let (agent_id, run_id, epoch) = match (params.run_id, params.agent.as_deref()) {
        (Some(id), None) => {
            let run = run_get(session, &RunParams { run_id: id })?;
            if is_run_over(&session.shared, id)? {
                let what = format!("run {id} is over: it is {}", run.state);
                return Err(RpcError::new(ErrorName::InvalidState, what));
            }
            bindable(session, of.id, Some(run.agent_id))?;
            (run.agent_id, Some(id), None)
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

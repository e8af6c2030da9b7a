//! Bindings of workspaces: who works under which, when one is over, and what may be done under it.
//!
//! Which bindings there are stands in the record, so that they outlive the daemon. That one is over is found by whoever
//! looks next, from its run or the epoch of its agent.

use std::sync::Arc;

use edgeplane_store::{BindingRow, WorkspaceRow};
use edgeplane_types::{
    AgentId, BindingEnd, BindingMode, ErrorName, Fact, RunId, StreamName, WorkspaceId,
    fact::{Actor, BindingAttached, BindingDetached},
};
use edgeplane_wire::{
    api::workspace::{BINDINGS_MAX, BindingParam},
    rpc::RpcError,
};
use tokio::sync::OwnedMutexGuard;

use super::{queue, suspend::may_work};
use crate::{
    record::{Draft, Origin, refused},
    shared::Shared,
    work::is_run_over,
};

/// A binding that somebody wants; it has no number yet.
#[derive(Debug)]
pub(crate) struct WantedBinding {
    pub(crate) workspace: WorkspaceId,
    pub(crate) attached: BindingAttached,
}

impl WantedBinding {
    /// That of a run which is made together with it.
    pub(crate) fn of_run(to: BindingParam, agent_id: AgentId, run_id: RunId) -> Self {
        let (mode, run_id) = (to.mode, Some(run_id));
        let attached = BindingAttached { binding_epoch: 0, mode, agent_id, run_id, epoch: None };
        Self { workspace: to.workspace_id, attached }
    }
}

/// The right to bind a workspace, until it is dropped: nothing of it is changed meanwhile, and nobody else is given a
/// number. Taken before the lock of tasks.
#[derive(Debug)]
pub(crate) struct ToBind {
    workspace: WorkspaceId,
    _turn: OwnedMutexGuard<()>,
    _numbering: OwnedMutexGuard<()>,
}

/// What is done in a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doing {
    Looking,
    Changing,
}

/// The agent that somebody is.
pub(super) fn agent_of(who: &Actor) -> Option<AgentId> {
    match who {
        Actor::Agent { agent_id, .. } => Some(*agent_id),
        _ => None,
    }
}

/// Why a binding of which no end is recorded is over all the same.
fn over(shared: &Shared, attached: &BindingAttached) -> Result<Option<BindingEnd>, RpcError> {
    if let Some(run) = attached.run_id {
        return Ok(is_run_over(shared, run)?.then_some(BindingEnd::RunEnded));
    }
    let lives = shared.agent_by_id(attached.agent_id).is_some_and(|handle| {
        let summary = handle.summary.borrow();
        Some(summary.epoch) == attached.epoch && may_work(summary.phase)
    });
    Ok((!lives).then_some(BindingEnd::EpochEnded))
}

/// The bindings that live; the ends of the others come into the draft.
fn live(
    shared: &Shared,
    (workspace, agent): (WorkspaceId, Option<&AgentId>),
    draft: &mut Draft,
) -> Result<Vec<BindingRow>, RpcError> {
    let rows = shared.record.look_up(|reader| reader.open_bindings(Some(&workspace), agent))?;
    let mut living = Vec::with_capacity(rows.len());
    for row in rows {
        match over(shared, &row.attached)? {
            None => living.push(row),
            Some(reason) => {
                let binding_epoch = row.attached.binding_epoch;
                let detached = Fact::BindingDetached(BindingDetached { binding_epoch, reason });
                shared.record.add(
                    draft,
                    StreamName::Workspace(workspace),
                    &Origin::node("workspaces"),
                    detached,
                );
            }
        }
    }
    Ok(living)
}

/// The bindings of a workspace that live, all or those of an agent.
pub(crate) fn bound(
    shared: &Shared,
    workspace: WorkspaceId,
    agent: Option<&AgentId>,
) -> Result<Vec<BindingRow>, RpcError> {
    live(shared, (workspace, agent), &mut Draft::default())
}

/// A binding that lives, whatever its workspace.
pub(crate) fn living(shared: &Shared, epoch: u64) -> Result<Option<BindingRow>, RpcError> {
    let row = shared.record.look_up(|reader| reader.binding(epoch))?;
    let Some(row) = row.filter(|row| row.is_open) else { return Ok(None) };
    Ok(over(shared, &row.attached)?.is_none().then_some(row))
}

fn fenced(epoch: u64, why: &str) -> RpcError {
    RpcError::new(ErrorName::Fenced, format!("binding {epoch} {why}"))
        .hint("have the workspace bound again, and look at what was changed meanwhile")
}

fn wrong_workspace(row: &BindingRow, meant: WorkspaceId) -> RpcError {
    let what =
        format!("binding {} is of workspace {}, not of {meant}", row.attached.binding_epoch, row.workspace);
    RpcError::new(ErrorName::WrongWorkspace, what)
}

/// A binding that somebody says they work under, if they do.
fn own(
    shared: &Shared,
    workspace: WorkspaceId,
    epoch: u64,
    who: Option<AgentId>,
) -> Result<BindingRow, RpcError> {
    let row = shared.record.look_up(|reader| reader.binding(epoch))?;
    let row = row.ok_or_else(|| fenced(epoch, "was never given out"))?;
    if who.is_some_and(|who| who != row.attached.agent_id) {
        return Err(fenced(epoch, "is somebody else's"));
    }
    if row.workspace != workspace {
        return Err(wrong_workspace(&row, workspace));
    }
    match over(shared, &row.attached)? {
        _ if !row.is_open => Err(fenced(epoch, "is over")),
        Some(BindingEnd::RunEnded) => Err(fenced(epoch, "ended with its run")),
        Some(_) => Err(fenced(epoch, "ended with the epoch of its agent")),
        None => Ok(row),
    }
}

/// Refuses what is done under a binding that is over or lets nothing be changed. An agent that names none works under
/// those that it has. In the turn of the workspace, so that nothing of an older binding comes after a newer one.
pub(crate) fn permits(
    shared: &Shared,
    row: &WorkspaceRow,
    (named, doing): (Option<u64>, Doing),
    who: &Actor,
) -> Result<(), RpcError> {
    let agent = agent_of(who);
    let under = match (named, agent) {
        (Some(epoch), _) => vec![own(shared, row.id, epoch, agent)?],
        (None, Some(agent)) => bound(shared, row.id, Some(&agent))?,
        (None, None) => return Ok(()),
    };
    let may_write = under.iter().any(|row| row.attached.mode == BindingMode::ReadWrite);
    match under.first() {
        None if row.agent == agent => Ok(()),
        None => Err(RpcError::new(ErrorName::Fenced, format!("no binding to workspace {} lives", row.id))),
        Some(_) if may_write || doing == Doing::Looking => Ok(()),
        Some(first) => {
            let epoch = first.attached.binding_epoch;
            let what = format!("nothing is changed under binding {epoch}: rule read-only-binding");
            Err(RpcError::new(ErrorName::PermissionDenied, what)
                .hint("an operator can have the workspace bound with mode `rw`"))
        }
    }
}

/// Takes the right to bind a workspace.
pub(crate) async fn to_bind(shared: &Shared, workspace: WorkspaceId) -> ToBind {
    let turn = queue(shared, workspace).lock_owned().await;
    let numbering = Arc::clone(&shared.workspaces.numbering).lock_owned().await;
    ToBind { workspace, _turn: turn, _numbering: numbering }
}

/// What became of the wish for a binding.
#[derive(Debug)]
pub(crate) enum Bound {
    /// It is bound so already.
    Already(BindingRow),
    /// It is, with this number, as soon as the draft is durable.
    New(u64),
}

impl ToBind {
    /// Adds the binding to a draft, and the ends of those that are over. No second one that may write.
    pub(crate) fn add(
        &self,
        shared: &Shared,
        draft: &mut Draft,
        wanted: &BindingAttached,
        origin: &Origin,
    ) -> Result<Bound, RpcError> {
        let id = self.workspace;
        let rows = live(shared, (id, None), draft)?;
        let with_number = |binding_epoch| BindingAttached { binding_epoch, ..wanted.clone() };
        if let Some(row) = rows.iter().find(|row| row.attached == with_number(row.attached.binding_epoch)) {
            return Ok(Bound::Already(row.clone()));
        }
        let writes = |attached: &BindingAttached| attached.mode == BindingMode::ReadWrite;
        if let Some(row) = rows.iter().find(|row| writes(&row.attached) && writes(wanted)) {
            return Err(written(row));
        }
        if rows.len() >= BINDINGS_MAX {
            let what = format!("workspace {id} has {BINDINGS_MAX} bindings already");
            return Err(RpcError::new(ErrorName::QuotaExhausted, what));
        }
        let epoch = shared.record.look_up(edgeplane_store::Reader::last_binding)?.saturating_add(1);
        let attached = Fact::BindingAttached(with_number(epoch));
        shared.record.add(draft, StreamName::Workspace(id), origin, attached);
        Ok(Bound::New(epoch))
    }
}

/// Why nobody else may write in the workspace of a binding.
fn written(row: &BindingRow) -> RpcError {
    let to = match &row.attached.run_id {
        Some(run) => format!("run {run}"),
        None => format!("agent {}", row.attached.agent_id),
    };
    let (id, epoch) = (row.workspace, row.attached.binding_epoch);
    let what = format!("workspace {id} is bound to {to} to be changed, under number {epoch}");
    RpcError::new(ErrorName::Locked, what)
        .hint("`edgeplane workspace unbind` ends that, or bind it with mode `ro`")
}

/// Binds a workspace. What is bound so already keeps its binding.
pub(crate) async fn attach(
    shared: &Arc<Shared>,
    wanted: WantedBinding,
    origin: Origin,
) -> Result<BindingRow, RpcError> {
    let held = to_bind(shared, wanted.workspace).await;
    let mut draft = Draft::default();
    let epoch = match held.add(shared, &mut draft, &wanted.attached, &origin)? {
        Bound::Already(row) => return Ok(row),
        Bound::New(epoch) => epoch,
    };
    shared.record.commit(draft).await.map_err(|error| refused(&error))?;
    let row = shared.record.look_up(|reader| reader.binding(epoch))?;
    row.ok_or_else(|| RpcError::new(ErrorName::Internal, "a binding is gone as soon as it is made"))
}

/// Ends a binding. Its workspace's own agent, the agent that works under it, and operators may.
pub(crate) async fn detach(
    shared: &Arc<Shared>,
    of: &WorkspaceRow,
    epoch: u64,
    origin: Origin,
) -> Result<BindingRow, RpcError> {
    let _turn = queue(shared, of.id).lock_owned().await;
    let row = shared.record.look_up(|reader| reader.binding(epoch))?;
    let row = row.ok_or_else(|| RpcError::new(ErrorName::NotFound, format!("no binding {epoch}")))?;
    if row.workspace != of.id {
        return Err(wrong_workspace(&row, of.id));
    }
    let may = |agent| row.attached.agent_id == agent || of.agent == Some(agent);
    if !agent_of(&origin.actor).is_none_or(may) {
        let what = format!("binding {epoch} is another agent's: rule binding-holder");
        return Err(RpcError::new(ErrorName::PermissionDenied, what));
    }
    if !row.is_open {
        return Err(fenced(epoch, "is over already"));
    }
    let reason = over(shared, &row.attached)?.unwrap_or(BindingEnd::Detached);
    let mut draft = Draft::default();
    let detached = Fact::BindingDetached(BindingDetached { binding_epoch: epoch, reason });
    shared.record.add(&mut draft, StreamName::Workspace(of.id), &origin, detached);
    shared.record.commit(draft).await.map_err(|error| refused(&error))?;
    Ok(row)
}

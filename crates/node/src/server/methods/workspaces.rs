//! Workspaces and checkpoints: who may see and change them, and how they are shown.
//!
//! What is done to files goes through [`crate::workspaces`]; what is shown is read from the record, and from the store
//! of checkpoints where it says what differs.

pub(in crate::server) mod bindings;
pub(in crate::server) mod blobs;
pub(in crate::server) mod files;
pub(in crate::server) mod locks;
mod view;

use edgeplane_store::{CheckpointFilter, CheckpointRow, WorkspaceRow};
use edgeplane_types::{
    CheckpointCause, CheckpointId, CheckpointState, ErrorName, Fact, StreamName, Tenant, WorkspaceId,
    fact::{CheckpointDeleted, WorkspaceDeleted},
};
use edgeplane_wire::{
    api::workspace::{
        CHANGES_MAX, CheckpointCreateParams, CheckpointDeleteParams, CheckpointDetail, CheckpointDiffParams,
        CheckpointDiffResult, CheckpointListParams, CheckpointListResult, CheckpointParams,
        CheckpointRestoreParams, CheckpointRestoreResult, CheckpointView, ConflictView, LABEL_BYTES_MAX,
        WorkspaceCreateParams, WorkspaceDeleteParams, WorkspaceListParams, WorkspaceListResult,
        WorkspaceParams, WorkspaceView,
    },
    rpc::RpcError,
};
use edgeplane_workspace::{Id, InnerPath, Rules};

use super::{
    Session,
    conversation::{checked_reason, next_of, rows},
    streams::barrier,
};
use crate::{
    admission,
    agent::AgentHandle,
    record::{Draft, Origin, refused},
    workspaces::{self, Doing, Restoring, Wanted, blocking, failed},
};
use view::{change, left_out, shown_checkpoint, shown_path, shown_workspace};

fn origin(session: &Session) -> Origin {
    Origin::actor(session.caller.actor())
}

fn invalid(what: impl Into<String>) -> RpcError {
    RpcError::new(ErrorName::InvalidParams, what)
}

fn none(id: WorkspaceId) -> RpcError {
    RpcError::new(ErrorName::NotFound, format!("no workspace {id}"))
        .hint("`edgeplane workspace list` shows those there are")
}

fn no_checkpoint(id: CheckpointId) -> RpcError {
    RpcError::new(ErrorName::NotFound, format!("no checkpoint {id}"))
        .hint("`edgeplane checkpoint list` shows those there are")
}

/// A workspace for those whose business it is: operators', the agent's whose own it is, and while it is bound to them
/// other agents'.
pub(in crate::server) fn seen(session: &Session, id: WorkspaceId) -> Result<WorkspaceRow, RpcError> {
    let row = session.shared.record.look_up(|reader| reader.workspace(&id))?;
    let row = row.ok_or_else(|| none(id))?;
    if concerns(session, &row) || bindings::is_bound(session, &row)? { Ok(row) } else { Err(none(id)) }
}

/// Whether a workspace is the caller's business whatever it is bound to.
fn concerns(session: &Session, row: &WorkspaceRow) -> bool {
    session.caller.is_operator() || row.agent.is_some_and(|agent| session.caller.is_agent(agent))
}

/// A checkpoint and its workspace, the same.
fn seen_checkpoint(session: &Session, id: CheckpointId) -> Result<(CheckpointRow, WorkspaceRow), RpcError> {
    let row = session.shared.record.look_up(|reader| reader.checkpoint(&id))?;
    let row = row.ok_or_else(|| no_checkpoint(id))?;
    let of = seen(session, row.workspace).map_err(|_hidden| no_checkpoint(id))?;
    Ok((row, of))
}

/// A checkpoint that is kept, and under which digest.
fn kept(session: &Session, id: CheckpointId) -> Result<(CheckpointRow, WorkspaceRow, Id), RpcError> {
    let (row, of) = seen_checkpoint(session, id)?;
    let digest = row.created.as_ref().filter(|_| row.state == CheckpointState::Created);
    let Some((created, _at)) = digest else {
        let what = format!("checkpoint {id} is {}, and nothing is kept of it", row.state);
        return Err(RpcError::new(ErrorName::InvalidState, what));
    };
    let digest = created.digest.parse();
    let digest = digest.map_err(|_bad| RpcError::new(ErrorName::RecordDamaged, "a digest is none"))?;
    Ok((row, of, digest))
}

/// The agent that is named, if it is the caller's business.
pub(in crate::server) fn named_agent(session: &Session, name: &str) -> Result<AgentHandle, RpcError> {
    let found = session.shared.agent(&Tenant::default(), name);
    if session.caller.is_operator() {
        return found;
    }
    found.ok().filter(|handle| session.caller.is_agent(handle.id)).ok_or_else(|| {
        let what = format!("no agent `{}` that the caller may decide about", admission::shown_name(name));
        RpcError::new(ErrorName::NotFound, what)
    })
}

/// The workspace that is meant, which becomes known if it is an agent's.
async fn meant(
    session: &Session,
    (id, agent): (Option<WorkspaceId>, Option<&str>),
) -> Result<WorkspaceRow, RpcError> {
    match (id, agent) {
        (Some(id), None) => seen(session, id),
        (None, Some(name)) => {
            let handle = named_agent(session, name)?;
            let folder = workspaces::folder_of(&session.shared, &handle).await?;
            let row = workspaces::know(&session.shared, (folder, Some(handle.id)), &origin(session)).await?;
            // Two agents may share a folder; it is the first one's.
            if concerns(session, &row) { Ok(row) } else { Err(none(row.id)) }
        }
        _ => Err(invalid("name either `workspace_id` or `agent`")),
    }
}

pub(in crate::server) async fn create(
    session: &Session,
    params: WorkspaceCreateParams,
) -> Result<WorkspaceView, RpcError> {
    let row = match (params.agent, params.folder) {
        (Some(agent), None) => meant(session, (None, Some(&agent))).await?,
        (None, Some(folder)) => {
            if !session.caller.is_operator() {
                let who = &session.caller.principal;
                let what = format!("`{who}` may not name folders: rule operators-only");
                return Err(RpcError::new(ErrorName::PermissionDenied, what));
            }
            let folder = workspaces::named_folder(&session.shared, &folder).await?;
            workspaces::know(&session.shared, (folder, None), &origin(session)).await?
        }
        _ => return Err(invalid("name either `agent` or `folder`")),
    };
    shown_workspace(session, row)
}

pub(in crate::server) fn get(session: &Session, params: &WorkspaceParams) -> Result<WorkspaceView, RpcError> {
    shown_workspace(session, seen(session, params.workspace_id)?)
}

fn place(cursor: Option<&str>) -> Result<Option<u64>, RpcError> {
    let parsed = cursor.map(str::parse::<u64>).transpose();
    parsed.map_err(|_bad| invalid("`cursor` is none that a list gave out"))
}

pub(in crate::server) async fn list(
    session: &Session,
    params: WorkspaceListParams,
) -> Result<WorkspaceListResult, RpcError> {
    let (after, rows) = (place(params.cursor.as_deref())?.unwrap_or(0), rows(params.limit));
    let named = params.agent.as_deref().map(|name| named_agent(session, name)).transpose()?;
    let agent = match (named, &session.caller.agent) {
        (Some(handle), _) => Some(handle.id),
        (None, Some(own)) => Some(own.id),
        (None, None) => None,
    };
    let read = move |reader: &edgeplane_store::Reader| reader.workspaces(agent.as_ref(), after, rows);
    let mut found = session.shared.record.read(read).await?;
    let next_cursor = next_of(&found, rows, |row| row.pos).map(|pos| pos.to_string());
    found.retain(|row| concerns(session, row));
    let workspaces = found.into_iter().map(|row| shown_workspace(session, row)).collect::<Result<_, _>>()?;
    Ok(WorkspaceListResult { workspaces, next_cursor })
}

pub(in crate::server) async fn delete(
    session: &Session,
    params: WorkspaceDeleteParams,
) -> Result<WorkspaceView, RpcError> {
    let reason = params.reason.as_deref().map(|reason| checked_reason(Some(reason), "")).transpose()?;
    let row = seen(session, params.workspace_id)?;
    let _busy = workspaces::take(&session.shared, row.id).await?;
    let fact = Fact::WorkspaceDeleted(WorkspaceDeleted { workspace_id: row.id, reason });
    add(session, row.id, fact).await?;
    workspaces::collect(&session.shared);
    shown_workspace(session, row)
}

async fn add(session: &Session, id: WorkspaceId, fact: Fact) -> Result<(), RpcError> {
    let mut draft = Draft::default();
    session.shared.record.add(&mut draft, StreamName::Workspace(id), &origin(session), fact);
    session.shared.record.commit(draft).await.map(drop).map_err(|error| refused(&error))
}

pub(in crate::server) async fn keep(
    session: &Session,
    params: CheckpointCreateParams,
) -> Result<CheckpointView, RpcError> {
    if params.label.as_ref().is_some_and(|label| label.len() > LABEL_BYTES_MAX) {
        return Err(invalid(format!("`label` has at most {LABEL_BYTES_MAX} bytes")));
    }
    let label = params.label.as_deref().map(admission::shown_name);
    let row = meant(session, (params.workspace_id, params.agent.as_deref())).await?;
    if let Some(after) = params.after {
        barrier::changes(session, row.id, after.write_seq, params.timeout_ms).await?;
    }
    let busy = workspaces::take(&session.shared, row.id).await?;
    // Which changes of files are in it is known only now that none is made any more.
    let row = seen(session, row.id)?;
    let under = (params.binding_epoch, Doing::Looking);
    workspaces::works_under(&session.shared, &row, under, &session.caller.actor())?;
    let rules = Rules { keep_ignored: params.ignored, keep_git: params.git };
    let wanted = Wanted { row, label, rules, cause: CheckpointCause::Asked, invocation: None };
    let id = workspaces::create(&session.shared, wanted, busy, origin(session)).await?;
    Ok(shown_checkpoint(seen_checkpoint(session, id)?.0))
}

pub(in crate::server) async fn checkpoint(
    session: &Session,
    params: &CheckpointParams,
) -> Result<CheckpointDetail, RpcError> {
    let (row, _of) = seen_checkpoint(session, params.checkpoint_id)?;
    let mut listed = Vec::new();
    if let Ok((_, _, digest)) = kept(session, params.checkpoint_id) {
        let store = session.shared.workspaces.store.clone();
        let found = blocking(move || store.session().and_then(|session| session.get(digest))).await?;
        // What the record says of it is shown, also if its contents cannot be read.
        listed = found.map(|found| left_out(&found)).unwrap_or_default();
    }
    Ok(CheckpointDetail { checkpoint: shown_checkpoint(row), left_out: listed })
}

pub(in crate::server) async fn checkpoints(
    session: &Session,
    params: CheckpointListParams,
) -> Result<CheckpointListResult, RpcError> {
    let (before, rows) = (place(params.cursor.as_deref())?, rows(params.limit));
    let agent = match (&params.agent, &session.caller.agent) {
        (Some(name), _) => Some(named_agent(session, name)?.id),
        // An agent that names nothing means itself.
        (None, Some(own)) if params.workspace_id.is_none() => Some(own.id),
        (None, _) => None,
    };
    let workspace = match (params.workspace_id, agent) {
        (Some(_), Some(_)) => return Err(invalid("name either `workspace_id` or `agent`")),
        (Some(id), None) => Some(seen(session, id)?.id),
        (None, Some(agent)) => {
            let found = session.shared.record.look_up(|reader| reader.workspaces(Some(&agent), 0, 1))?;
            let Some(row) = found.first() else {
                return Ok(CheckpointListResult { checkpoints: Vec::new(), next_cursor: None });
            };
            Some(row.id)
        }
        (None, None) => None,
    };
    let filter = CheckpointFilter { workspace, all: params.all };
    let found = session.shared.record.read(move |reader| reader.checkpoints(&filter, before, rows)).await?;
    let next_cursor = next_of(&found, rows, |row| row.pos).map(|pos| pos.to_string());
    Ok(CheckpointListResult { checkpoints: found.into_iter().map(shown_checkpoint).collect(), next_cursor })
}

pub(in crate::server) async fn diff(
    session: &Session,
    params: CheckpointDiffParams,
) -> Result<CheckpointDiffResult, RpcError> {
    let (_, _, before) = kept(session, params.before_id)?;
    let (_, _, after) = kept(session, params.after_id)?;
    let store = session.shared.workspaces.store.clone();
    let found = blocking(move || store.session().and_then(|session| session.diff(before, after))).await?;
    let found = found.map_err(|error| failed(&error))?;
    let limit = usize::try_from(params.limit.clamp(1, CHANGES_MAX)).unwrap_or(1);
    let total = u64::try_from(found.len()).unwrap_or(u64::MAX);
    Ok(CheckpointDiffResult { changes: found.iter().take(limit).map(change).collect(), total })
}

pub(in crate::server) async fn restore(
    session: &Session,
    params: CheckpointRestoreParams,
) -> Result<CheckpointRestoreResult, RpcError> {
    let (_, row, digest) = kept(session, params.checkpoint_id)?;
    let busy = workspaces::take(&session.shared, row.id).await?;
    let row = seen(session, row.id)?;
    let (own, origin) = (session.shared.clone(), origin(session));
    let under = (params.binding_epoch, Doing::Changing);
    workspaces::works_under(&own, &row, under, &origin.actor)?;
    let (id, asked) = (row.id, origin.clone());
    // Nobody takes a lock any more while the workspace is taken.
    blocking(move || workspaces::permits(&own, id, (&[InnerPath::root()], params.lock), &asked)).await??;
    let users = workspaces::users(&session.shared, &row.folder).await;
    let at_work = users.iter().find(|user| user.summary.borrow().phase != edgeplane_types::Phase::Frozen);
    if let Some(user) = at_work.filter(|_| !params.force) {
        let what = format!("agent `{}` may be at work in `{}`", user.name, row.folder);
        let hint =
            format!("stop or freeze it first (`edgeplane agent freeze {}`), or say `--force`", user.name);
        return Err(RpcError::new(ErrorName::InvalidState, what).hint(hint));
    }
    let wanted = Restoring {
        row,
        checkpoint_id: params.checkpoint_id,
        digest,
        rules: Rules { keep_ignored: params.ignored, keep_git: params.git },
        forced: at_work.is_some(),
    };
    let (before, counts, conflicts) = workspaces::restore(&session.shared, wanted, busy, origin).await?;
    let conflicts = conflicts.iter().map(|conflict| ConflictView {
        path: shown_path(&conflict.path),
        reason: conflict.reason.to_owned(),
    });
    let before = shown_checkpoint(seen_checkpoint(session, before)?.0);
    Ok(CheckpointRestoreResult { before, counts, conflicts: conflicts.collect() })
}

pub(in crate::server) async fn forget(
    session: &Session,
    params: CheckpointDeleteParams,
) -> Result<CheckpointView, RpcError> {
    let reason = params.reason.as_deref().map(|reason| checked_reason(Some(reason), "")).transpose()?;
    let (row, of, digest) = kept(session, params.checkpoint_id)?;
    if !concerns(session, &of) {
        return Err(no_checkpoint(params.checkpoint_id));
    }
    if let Some(pack) = workspaces::held_by(&session.shared, digest.to_string()).await? {
        let what = format!("checkpoint {} is held: {pack} refers to it", params.checkpoint_id);
        let hint = "it can be ended when that pack is removed from the node";
        return Err(RpcError::new(ErrorName::InvalidState, what).hint(hint));
    }
    let _busy = workspaces::take(&session.shared, of.id).await?;
    let checkpoint_id = row.started.checkpoint_id;
    add(session, of.id, Fact::CheckpointDeleted(CheckpointDeleted { checkpoint_id, reason })).await?;
    workspaces::collect(&session.shared);
    Ok(shown_checkpoint(seen_checkpoint(session, checkpoint_id)?.0))
}

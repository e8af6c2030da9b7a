//! Runs: begun, let rest, gone on with, and ended because somebody asks for it.

use edgeplane_lifecycle::task::Input;
use edgeplane_store::RunRow;
use edgeplane_types::{ErrorName, RunState};
use edgeplane_wire::{
    api::{
        conversation::turn::{QueueFate, TurnInterruptParams},
        work::{RunCancelParams, RunChangeParams, RunParams, RunStartParams, RunStartResult, RunView},
    },
    rpc::RpcError,
};

use super::{
    super::{
        conversation::{check_chosen, checked_reason, turns},
        workspaces::bindings,
    },
    Session, checked_note, implicit, origin, owned, run_get,
    view::{seen_run, view},
    weigh,
};
use crate::work::{self, Change, Fence, Wanted};

pub(in crate::server) async fn run_start(
    session: &Session,
    params: RunStartParams,
) -> Result<RunStartResult, RpcError> {
    let row = owned(session, params.task_id)?;
    if let Some(id) = &params.run_id {
        check_chosen(id.as_bytes(), "`run_id`")?;
    }
    let handle = params.agent.as_deref().map(|name| super::super::agent(session, name)).transpose()?;
    if handle.is_some() {
        weigh(session, handle.as_ref(), &row.title)?;
    }
    let agent = handle.map(|handle| handle.id);
    let binding = match params.binding {
        Some(to) => Some((to, bindings::to_bind(session, to.workspace_id, agent.or(row.assignee)).await?)),
        None => None,
    };
    let wanted = Wanted {
        run_id: params.run_id,
        agent,
        limits: params.limits,
        binding,
        retry_of: params.retry_of,
        reason: checked_note(params.reason.as_deref())?,
    };
    started(session, &row, Fence { if_version: params.if_version, run: None }, wanted).await
}

async fn started(
    session: &Session,
    task: &edgeplane_store::TaskRow,
    fence: Fence,
    wanted: Wanted,
) -> Result<RunStartResult, RpcError> {
    let admitted = work::start_run(&session.shared, task.id, fence, wanted, &origin(session)).await?;
    session.replayed.store(admitted.is_replay, std::sync::atomic::Ordering::Relaxed);
    session.effect.notify_one();
    let run = admitted.run_id.map(|run_id| run_get(session, &RunParams { run_id })).transpose()?;
    let task = view(session, task.id)?;
    Ok(RunStartResult { admission: admitted.admission, reason: admitted.reason, run, task })
}

/// A run that whoever asks may decide about, which must be its task's last one.
fn last(session: &Session, params: &RunChangeParams) -> Result<RunRow, RpcError> {
    let row = seen_run(session, params.run_id)?;
    let task = owned(session, row.started.task_id)?;
    let newest = session.shared.record.look_up(|reader| reader.last_run(&task.id))?;
    if let Some(newest) = newest.filter(|newest| newest.id != row.id) {
        let what = format!("run {} was followed by run {}", row.id, newest.id);
        return Err(RpcError::new(ErrorName::Fenced, what).hint("`edgeplane task get` shows the runs"));
    }
    Ok(row)
}

pub(in crate::server) async fn run_pause(
    session: &Session,
    params: RunChangeParams,
) -> Result<RunView, RpcError> {
    let row = last(session, &params)?;
    if row.state.is_over() {
        return Err(over(&row));
    }
    let change = Change {
        input: Some(Input::Pause),
        facts: Vec::new(),
        reason: checked_reason(params.reason.as_deref(), "somebody lets it rest")?,
        by_run: Some(row.id),
    };
    let fence = Fence { if_version: None, run: Some(row.id) };
    work::change(&session.shared, row.started.task_id, fence, change, &origin(session)).await?;
    session.effect.notify_one();
    run_get(session, &RunParams { run_id: row.id })
}

pub(in crate::server) async fn run_resume(
    session: &Session,
    params: RunChangeParams,
) -> Result<RunStartResult, RpcError> {
    let row = last(session, &params)?;
    let task = owned(session, row.started.task_id)?;
    if task.state != edgeplane_types::TaskState::Paused {
        let what = format!("task {} does not rest: it is {}", task.id, task.state);
        return Err(RpcError::new(ErrorName::InvalidState, what).hint("`runtime/run.start` tries it again"));
    }
    let reason = checked_reason(params.reason.as_deref(), "somebody lets it go on")?;
    let wanted = Wanted {
        run_id: None,
        agent: None,
        limits: Some(row.started.limits),
        binding: None,
        retry_of: Some(row.id),
        reason: Some(reason),
    };
    started(session, &task, Fence::default(), wanted).await
}

fn over(row: &RunRow) -> RpcError {
    let state: RunState = row.state;
    RpcError::new(ErrorName::InvalidState, format!("run {} is over: it is {state}", row.id))
}

pub(in crate::server) async fn run_cancel(
    session: &Session,
    params: RunCancelParams,
) -> Result<RunView, RpcError> {
    let row = match seen_run(session, params.run_id) {
        Ok(row) => row,
        // The run of a turn that was begun for no task ends as that turn does.
        Err(none) => match implicit::run(session, params.run_id)? {
            Some(run) => return interrupted(session, run, params.reason).await,
            None => return Err(none),
        },
    };
    owned(session, row.started.task_id)?;
    if row.state.is_over() {
        return Err(over(&row));
    }
    let reason = checked_reason(params.reason.as_deref(), "somebody has it ended")?;
    work::cancel_run(&session.shared, &row, &reason).await?;
    session.effect.notify_one();
    run_get(session, &RunParams { run_id: params.run_id })
}

async fn interrupted(session: &Session, run: RunView, reason: Option<String>) -> Result<RunView, RpcError> {
    if run.state.is_over() {
        return Err(RpcError::new(
            ErrorName::InvalidState,
            format!("run {} is over: it is {}", run.run_id, run.state),
        ));
    }
    let params = TurnInterruptParams { turn_id: run.turn_id, reason, queued: QueueFate::Keep };
    turns::interrupt(session, params).await?;
    run_get(session, &RunParams { run_id: run.run_id })
}

//! The admission of runs: by the engine as soon as a task can be begun, or because somebody asks for one.
//!
//! That a run is admitted is one commit with what it does to its task; its message is said after that.

use std::sync::Arc;

use edgeplane_lifecycle::task::{self as machine, Input};
use edgeplane_store::{Reader, RunRow, TaskRow, TaskStory};
use edgeplane_types::{
    AgentId, ErrorName, Fact, RunId, RunLimits, StreamName, TaskId, TaskState,
    fact::{RunStarted, TaskCreated, TaskMoved, TaskPlan, TaskUpdated},
};
use edgeplane_wire::{
    api::{work::RunAdmission, workspace::BindingParam},
    rpc::RpcError,
};

use super::{
    change::{Fence, concern, fenced},
    run::message_of,
    settle::{RULE, move_on, waits_for},
    trial,
};
use crate::{
    record::{Draft, Origin, refused},
    shared::Shared,
    workspaces::{ToBind, WantedBinding},
};

/// What somebody wants of a run that is to be admitted.
pub(crate) struct Wanted {
    /// The id that they chose for it.
    pub(crate) run_id: Option<RunId>,
    /// Who is to do it, if that is not whose work the task is.
    pub(crate) agent: Option<AgentId>,
    /// What it may use, if that is not what the task says.
    pub(crate) limits: Option<RunLimits>,
    /// The run that it has to follow.
    pub(crate) retry_of: Option<RunId>,
    /// The workspace that it is bound to, and the right to bind that.
    pub(crate) binding: Option<(BindingParam, ToBind)>,
    /// Why there is to be one, if somebody said it.
    pub(crate) reason: Option<String>,
}

/// What became of it.
pub(crate) struct Admitted {
    pub(crate) admission: RunAdmission,
    pub(crate) reason: String,
    pub(crate) run_id: Option<RunId>,
    /// Whether it was admitted before.
    pub(crate) is_replay: bool,
}

/// Admits a run of a task that somebody is to do, unless one lives. Whoever calls holds the lock.
pub(super) async fn by_itself(shared: &Arc<Shared>, row: &TaskRow) -> Result<(), RpcError> {
    if shared.record.look_up(|reader| reader.live_run(&row.id))?.is_some() {
        return Ok(());
    }
    let Some(story) = shared.record.look_up(|reader| reader.task_story(&row.id))? else { return Ok(()) };
    let Some(assignee) = story.plan.assignee else { return Ok(()) };
    if shared.agent_by_id(assignee).is_none() {
        let why = format!("agent {assignee}, whose work it is, is no more");
        return move_on(shared, row, Input::Fail, why).await;
    }
    let started = drawn_up(shared, &story, assignee)?;
    admit(shared, row, row.state, (Draft::default(), started), &Origin::node(RULE)).await
}

/// A further run of a task by an agent, and why there is one.
pub(super) fn drawn_up(
    shared: &Shared,
    story: &TaskStory,
    agent_id: AgentId,
) -> Result<RunStarted, RpcError> {
    let attempt = story.row.attempts.saturating_add(1);
    let reason = match (&story.moved, attempt) {
        (_, 1) => "it is to be begun".to_owned(),
        (Some(moved), _) => moved.reason.clone(),
        (None, _) => "it is to be tried again".to_owned(),
    };
    Ok(RunStarted {
        run_id: shared.record.mint().id(),
        task_id: story.row.id,
        attempt,
        agent_id,
        reason,
        limits: story.plan.limits,
        job_id: job_of(shared, &story.row)?,
    })
}

/// The job that a task is an item of.
fn job_of(shared: &Shared, row: &TaskRow) -> Result<Option<TaskId>, RpcError> {
    let Some(parent) = row.parent else { return Ok(None) };
    Ok(shared.record.look_up(|reader| reader.is_job(&parent))?.then_some(parent))
}

/// Makes a run durable together with what a draft says already and with its task's move.
async fn admit(
    shared: &Arc<Shared>,
    row: &TaskRow,
    from: TaskState,
    (mut draft, started): (Draft, RunStarted),
    origin: &Origin,
) -> Result<(), RpcError> {
    let run_id = started.run_id;
    add(shared, &mut draft, (row.root, from), started, origin);
    shared.failpoint("run.before");
    shared.record.commit(draft).await.map_err(|error| refused(&error))?;
    shared.failpoint("run.after");
    shared.work.look([run_id]);
    concern(shared, row)
}

/// Adds to a draft that there is a run, and what that does to its task.
pub(super) fn add(
    shared: &Shared,
    draft: &mut Draft,
    (root, from): (TaskId, TaskState),
    started: RunStarted,
    origin: &Origin,
) {
    let (task_id, run_id, stream) = (started.task_id, started.run_id, StreamName::Task(root));
    let reason = started.reason.clone();
    let moved = TaskMoved { task_id, from, to: TaskState::Preparing, reason, run_id: Some(run_id) };
    shared.record.add(draft, stream, origin, Fact::RunStarted(started));
    shared.record.add(draft, stream, origin, Fact::TaskMoved(moved));
}

/// The task of a turn that is bounded, and its run: to become durable together with the turn's message, which has their
/// UUID. Nobody can know of them before, so nothing they do crosses another decision.
pub(crate) fn of_turn(
    shared: &Shared,
    of: (TaskCreated, AgentId),
    objective: Vec<u8>,
    origin: &Origin,
) -> Draft {
    with_run(shared, of, (objective, "its turn was begun"), origin)
}

/// A task and its first run, which has its UUID.
pub(super) fn with_run(
    shared: &Shared,
    (mut created, agent_id): (TaskCreated, AgentId),
    (objective, reason): (Vec<u8>, &str),
    origin: &Origin,
) -> Draft {
    let mut draft = Draft::default();
    (created.plan.objective_digest, created.plan.objective_bytes) = draft.body(objective);
    let (task_id, root, from) = (created.task_id, created.root_id, created.state);
    let started = RunStarted {
        run_id: RunId::from_bytes(*task_id.as_bytes()),
        task_id,
        attempt: 1,
        agent_id,
        reason: reason.to_owned(),
        limits: created.plan.limits,
        job_id: None,
    };
    shared.record.add(&mut draft, StreamName::Task(root), origin, Fact::TaskCreated(Box::new(created)));
    add(shared, &mut draft, (root, from), started, origin);
    draft
}

/// Has a task worked on because somebody asks for it. A task that waits is only queued, unless an id was chosen
/// for the run or it is to be bound: whoever holds an id is told at once that there is no such run, and nothing is
/// bound to what is not there.
pub(crate) async fn start(
    shared: &Arc<Shared>,
    id: TaskId,
    fence: Fence,
    wanted: Wanted,
    origin: &Origin,
) -> Result<Admitted, RpcError> {
    let _held = shared.work.changing.lock().await;
    if let Some(chosen) = wanted.run_id
        && let Some(found) = already(shared, id, chosen)?
    {
        return Ok(found);
    }
    let row = shared.record.look_up(|reader| Ok(fenced(reader, id, fence)))??;
    trial::check_free(shared, id)?;
    let story = shared.record.look_up(|reader| reader.task_story(&id))?;
    let Some(story) = story else { return Err(RpcError::new(ErrorName::NotFound, format!("no task {id}"))) };
    let ending = shared.record.look_up(|reader| Ok(ending(reader, &row, wanted.retry_of)))??;
    let Some(agent_id) = wanted.agent.or(story.plan.assignee) else {
        let what = format!("task {id} is nobody's work");
        return Err(RpcError::new(ErrorName::InvalidParams, what).hint("name who is to do it as `agent`"));
    };
    let reason = wanted.reason.clone().unwrap_or_else(|| "somebody has it worked on".to_owned());
    let mut draft = Draft::default();
    let ready = readied(shared, &mut draft, &story, (&wanted, &reason), origin)?;
    let ending = ending.map(|run| format!("run {} has been asked to end and has not ended yet", run.id));
    if let Some(why) = ending.map_or_else(|| waits_for(shared, &row), |why| Ok(Some(why)))? {
        if wanted.run_id.is_some() || wanted.binding.is_some() {
            let what = format!("no run of task {id} can be admitted yet: {why}");
            return Err(RpcError::new(ErrorName::InvalidState, what)
                .hint("without an id of its own and a binding the run begins by itself when it can"));
        }
        shared.record.commit(draft).await.map_err(|error| refused(&error))?;
        concern(shared, &row)?;
        let admission = RunAdmission::Queued;
        return Ok(Admitted { admission, reason: why, run_id: None, is_replay: false });
    }
    let run_id: RunId = wanted.run_id.unwrap_or_else(|| shared.record.mint().id());
    if let Some((to, right)) = &wanted.binding {
        let binding = WantedBinding::of_run(*to, agent_id, run_id);
        right.add(shared, &mut draft, &binding.attached, origin)?;
    }
    let started = RunStarted {
        run_id,
        task_id: id,
        attempt: row.attempts.saturating_add(1),
        agent_id,
        reason: reason.clone(),
        limits: wanted.limits.unwrap_or(story.plan.limits),
        job_id: job_of(shared, &row)?,
    };
    admit(shared, &row, ready, (draft, started), origin).await?;
    Ok(Admitted { admission: RunAdmission::Admitted, reason, run_id: Some(run_id), is_replay: false })
}

/// Writes down whose work a task is from here on, and that it is to be begun. Gives the state that it has then.
fn readied(
    shared: &Arc<Shared>,
    draft: &mut Draft,
    story: &TaskStory,
    (wanted, reason): (&Wanted, &str),
    origin: &Origin,
) -> Result<TaskState, RpcError> {
    let (row, stream) = (&story.row, StreamName::Task(story.row.root));
    if let Some(agent) = wanted.agent.filter(|agent| story.plan.assignee != Some(*agent)) {
        // A thread is its agent's.
        let plan = TaskPlan { assignee: Some(agent), thread: None, ..story.plan.clone() };
        let updated = TaskUpdated { task_id: row.id, plan };
        shared.record.add(draft, stream, origin, Fact::TaskUpdated(Box::new(updated)));
    }
    let input = match row.state {
        TaskState::Queued | TaskState::Blocked | TaskState::Retrying => return Ok(row.state),
        TaskState::Paused => Input::Resume,
        TaskState::Failed | TaskState::TimedOut | TaskState::Lost => Input::Retry,
        _ => Input::Queue,
    };
    let step = machine::step(row.state, input)
        .map_err(|error| RpcError::new(ErrorName::InvalidState, format!("task {}: {error}", row.id)))?;
    let (from, to) = (row.state, step.state);
    let moved = TaskMoved { task_id: row.id, from, to, reason: reason.to_owned(), run_id: None };
    shared.record.add(draft, stream, origin, Fact::TaskMoved(moved));
    Ok(to)
}

/// The run with a chosen id, if it was admitted before.
fn already(shared: &Shared, task: TaskId, chosen: RunId) -> Result<Option<Admitted>, RpcError> {
    let message = message_of(chosen);
    let (run, message) =
        shared.record.look_up(|reader| Ok((reader.run(&chosen)?, reader.message(&message)?)))?;
    match run {
        Some(run) if run.started.task_id == task => Ok(Some(Admitted {
            admission: RunAdmission::Admitted,
            reason: run.started.reason,
            run_id: Some(chosen),
            is_replay: true,
        })),
        None if message.is_none() => Ok(None),
        _ => {
            let what = format!("{chosen} exists already, and is something else");
            Err(RpcError::new(ErrorName::Conflict, what).hint("choose a new id for a new run"))
        }
    }
}

/// The run of a resting task that has not ended yet. Refuses a further run while another one lives, and one that is to
/// follow another run than the last.
fn ending(reader: &Reader, row: &TaskRow, follows: Option<RunId>) -> Result<Option<RunRow>, RpcError> {
    let last = reader.last_run(&row.id).map_err(|error| {
        let what = format!("cannot read the record: {}", crate::record::chain(&error));
        RpcError::new(ErrorName::Unavailable, what)
    })?;
    if let Some(follows) = follows
        && last.as_ref().is_none_or(|last| last.id != follows)
    {
        let what = match &last {
            Some(last) => format!("the last run of task {} is {}, not {follows}", row.id, last.id),
            None => format!("task {} had no run yet", row.id),
        };
        return Err(RpcError::new(ErrorName::Fenced, what).hint("`edgeplane task get` shows the runs"));
    }
    match last.filter(|last| !last.state.is_over()) {
        Some(live) if row.state != TaskState::Paused => {
            let what = format!("run {} works on task {}: it is {}", live.id, row.id, live.state);
            Err(RpcError::new(ErrorName::InvalidState, what).hint("`edgeplane run cancel` ends a run"))
        }
        live => Ok(live),
    }
}

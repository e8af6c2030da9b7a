//! Changes of tasks: what somebody asks for, held to what the record says at that moment, and made durable.

use std::sync::Arc;

use edgeplane_lifecycle::task::{self as machine, Input};
use edgeplane_store::{Reader, TaskRow};
use edgeplane_types::{
    EdgeKind, ErrorName, Fact, RunId, StreamName, TaskId, TaskState,
    fact::{TaskCreated, TaskLinked, TaskMoved, TaskPlan, TaskUnlinked, TaskUpdated},
};
use edgeplane_wire::rpc::RpcError;

use super::trial;
use crate::{
    record::{Draft, Origin, refused},
    shared::Shared,
};

/// Most tasks of one graph.
const TASKS_MAX: u64 = 100_000;

/// What must be so for a change to be made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Fence {
    /// The version of the task that whoever asks has seen.
    pub(crate) if_version: Option<u64>,
    /// The run in whose name they ask: it must be the one that lives.
    pub(crate) run: Option<RunId>,
}

/// What somebody asks for.
pub(crate) struct Change {
    /// What happens to the task; nothing, if only facts are added.
    pub(crate) input: Option<Input>,
    /// What is recorded before it.
    pub(crate) facts: Vec<Fact>,
    /// Why, for people.
    pub(crate) reason: String,
    /// The run by which it happens.
    pub(crate) by_run: Option<RunId>,
}

/// What a plan becomes.
pub(crate) type Replan = Box<dyn FnOnce(TaskPlan) -> TaskPlan + Send>;

fn no_task(id: TaskId) -> RpcError {
    RpcError::new(ErrorName::NotFound, format!("no task {id}"))
}

/// The task, held to a fence.
pub(super) fn fenced(reader: &Reader, id: TaskId, fence: Fence) -> Result<TaskRow, RpcError> {
    let read = |error: edgeplane_store::ReadError| {
        RpcError::new(
            ErrorName::Unavailable,
            format!("cannot read the record: {}", crate::record::chain(&error)),
        )
    };
    let row = reader.task(&id).map_err(read)?.ok_or_else(|| no_task(id))?;
    if let Some(wanted) = fence.if_version
        && wanted != row.version
    {
        let what = format!("task {id} is at version {}, not {wanted}", row.version);
        return Err(RpcError::new(ErrorName::VersionConflict, what));
    }
    if let Some(run) = fence.run {
        let live = reader.live_run(&id).map_err(read)?;
        if live.as_ref().is_none_or(|live| live.id != run) {
            let what = match live {
                Some(live) => format!("task {id} is worked on by run {}, not by {run}", live.id),
                None => format!("no run works on task {id}"),
            };
            return Err(RpcError::new(ErrorName::Fenced, what)
                .hint("a run that is over has no say; `edgeplane task get` shows the runs"));
        }
    }
    Ok(row)
}

/// Makes one change durable and has looked at what follows from it.
pub(crate) async fn change(
    shared: &Arc<Shared>,
    id: TaskId,
    fence: Fence,
    change: Change,
    origin: &Origin,
) -> Result<(), RpcError> {
    let _held = shared.work.changing.lock().await;
    let row = shared.record.look_up(|reader| Ok(fenced(reader, id, fence)))??;
    if matches!(change.input, Some(Input::Pause | Input::Retry)) {
        trial::check_free(shared, id)?;
    }
    apply(shared, &row, change, origin).await
}

/// The same for somebody who holds the lock and has read the task.
pub(super) async fn apply(
    shared: &Arc<Shared>,
    row: &TaskRow,
    change: Change,
    origin: &Origin,
) -> Result<(), RpcError> {
    apply_with(shared, row, (Draft::default(), change), origin).await
}

/// The same together with what a draft holds already.
pub(super) async fn apply_with(
    shared: &Arc<Shared>,
    row: &TaskRow,
    (mut draft, change): (Draft, Change),
    origin: &Origin,
) -> Result<(), RpcError> {
    let stream = StreamName::Task(row.root);
    for fact in change.facts {
        shared.record.add(&mut draft, stream, origin, fact);
    }
    if let Some(input) = change.input {
        let step = machine::step(row.state, input)
            .map_err(|error| RpcError::new(ErrorName::InvalidState, format!("task {}: {error}", row.id)))?;
        if step.state != row.state {
            let moved = TaskMoved {
                task_id: row.id,
                from: row.state,
                to: step.state,
                reason: change.reason,
                run_id: change.by_run,
            };
            shared.record.add(&mut draft, stream, origin, Fact::TaskMoved(moved));
        }
    }
    if draft.is_empty() {
        return Ok(());
    }
    shared.failpoint("task.before");
    shared.record.commit(draft).await.map_err(|error| refused(&error))?;
    shared.failpoint("task.after");
    concern(shared, row)
}

/// Has a task looked at, and what hangs on it.
pub(super) fn concern(shared: &Arc<Shared>, row: &TaskRow) -> Result<(), RpcError> {
    let around = shared.record.look_up(|reader| {
        let mut around: Vec<TaskId> = reader.task_dependents(&row.id)?.iter().map(|row| row.id).collect();
        around.extend(row.parent);
        let rests = matches!(row.state, TaskState::Draft | TaskState::Accepted | TaskState::Paused);
        if rests {
            // What it is made of may wait for it.
            around.extend(reader.task_parts(&row.id)?.iter().map(|part| part.id));
        }
        Ok(around)
    });
    shared.work.settle([row.id]);
    shared.work.settle(around?);
    Ok(())
}

/// Writes a task down.
pub(crate) async fn create(
    shared: &Arc<Shared>,
    mut created: TaskCreated,
    (objective, starts): (Vec<u8>, bool),
    origin: &Origin,
) -> Result<bool, RpcError> {
    let _held = shared.work.changing.lock().await;
    let id = created.task_id;
    if let Some(known) = shared.record.look_up(|reader| reader.task_story(&id))? {
        created.root_id = known.row.root;
        created.epoch = known.created.epoch;
        created.causation = known.created.causation;
        created.authority = known.created.authority;
        created.plan.objective_digest = edgeplane_proof::digest(&objective).to_string();
        created.plan.objective_bytes = u64::try_from(objective.len()).unwrap_or(u64::MAX);
        if known.created == created && known.by == origin.actor {
            return Ok(true);
        }
        let what = format!("task {id} exists already, and is another one");
        return Err(RpcError::new(ErrorName::Conflict, what).hint("choose a new id for a new task"));
    }
    created.root_id = match created.parent_id {
        Some(parent) => room_under(shared, parent)?,
        None => id,
    };
    for other in &created.depends_on {
        if shared.record.look_up(|reader| reader.task(other))?.is_none() {
            return Err(no_task(*other).hint("a task can only depend on tasks that are written down"));
        }
    }
    let mut draft = Draft::default();
    let parent = created.parent_id;
    add_task(shared, &mut draft, created, (objective, starts), origin);
    shared.failpoint("task.before");
    shared.record.commit(draft).await.map_err(|error| refused(&error))?;
    shared.failpoint("task.after");
    shared.work.settle([id].into_iter().chain(parent));
    Ok(false)
}

/// Adds to a draft that there is a task, and that it is to be begun if it is.
pub(crate) fn add_task(
    shared: &Shared,
    draft: &mut Draft,
    mut created: TaskCreated,
    (objective, starts): (Vec<u8>, bool),
    origin: &Origin,
) {
    (created.plan.objective_digest, created.plan.objective_bytes) = draft.body(objective);
    let (id, stream, from) = (created.task_id, StreamName::Task(created.root_id), created.state);
    shared.record.add(draft, stream, origin, Fact::TaskCreated(Box::new(created)));
    if starts {
        let (to, reason) = (TaskState::Queued, "it is to be begun".to_owned());
        let moved = TaskMoved { task_id: id, from, to, reason, run_id: None };
        shared.record.add(draft, stream, origin, Fact::TaskMoved(moved));
    }
}

/// The root of the graph that a new part of a task belongs to.
fn room_under(shared: &Shared, parent: TaskId) -> Result<TaskId, RpcError> {
    let row = shared.record.look_up(|reader| reader.task(&parent))?.ok_or_else(|| no_task(parent))?;
    if row.is_cancelled || row.state.is_over() {
        let what = format!("task {parent} takes no further parts: it is {}", row.state);
        return Err(RpcError::new(ErrorName::InvalidState, what));
    }
    if shared.record.look_up(|reader| reader.is_job(&parent))? {
        let what = format!("task {parent} is a job and takes no items but those that it was made with");
        return Err(RpcError::new(ErrorName::InvalidState, what).hint("make another job"));
    }
    let count = shared.record.look_up(|reader| reader.task_count(&row.root))?;
    if count >= TASKS_MAX {
        let what = format!("the graph of task {} has {count} tasks, and may have {TASKS_MAX}", row.root);
        return Err(RpcError::new(ErrorName::QuotaExhausted, what));
    }
    Ok(row.root)
}

/// Changes what is to be done.
pub(crate) async fn update(
    shared: &Arc<Shared>,
    id: TaskId,
    fence: Fence,
    (plan, objective): (Replan, Option<Vec<u8>>),
    origin: &Origin,
) -> Result<(), RpcError> {
    let _held = shared.work.changing.lock().await;
    let row = shared.record.look_up(|reader| Ok(fenced(reader, id, fence)))??;
    if row.state.is_over() {
        let what = format!("task {id} is over: it is {}", row.state);
        return Err(RpcError::new(ErrorName::InvalidState, what));
    }
    trial::check_free(shared, id)?;
    let story = shared.record.look_up(|reader| reader.task_story(&id))?.ok_or_else(|| no_task(id))?;
    let before = story.plan.clone();
    let mut plan = plan(story.plan);
    let mut draft = Draft::default();
    if let Some(objective) = objective {
        (plan.objective_digest, plan.objective_bytes) = draft.body(objective);
    }
    if plan == before {
        return Ok(());
    }
    let fact = Fact::TaskUpdated(Box::new(TaskUpdated { task_id: id, plan }));
    shared.record.add(&mut draft, StreamName::Task(row.root), origin, fact);
    shared.record.commit(draft).await.map_err(|error| refused(&error))?;
    concern(shared, &row)
}

/// Joins two tasks, or a task to what an address names; says whether that is new.
pub(crate) async fn link(shared: &Arc<Shared>, linked: TaskLinked, origin: &Origin) -> Result<(), RpcError> {
    let _held = shared.work.changing.lock().await;
    let id = linked.task_id;
    let row = shared.record.look_up(|reader| reader.task(&id))?.ok_or_else(|| no_task(id))?;
    if let Some(to) = linked.to {
        if shared.record.look_up(|reader| reader.task(&to))?.is_none() {
            return Err(no_task(to));
        }
        let (kind, leads) = (linked.kind, to);
        let closes =
            to == id || shared.record.read(move |reader| reader.task_leads_to(&leads, kind, &id)).await?;
        if closes {
            let what = format!("tasks would lead in a circle: {to} leads to {id} by `{kind}` already");
            return Err(RpcError::new(ErrorName::Conflict, what)
                .hint("`edgeplane task graph` shows how they are joined"));
        }
        if kind == EdgeKind::DependsOn && !may_wait(row.state) {
            let what = format!("task {id} is begun already: it is {}", row.state);
            return Err(RpcError::new(ErrorName::InvalidState, what));
        }
    }
    let known = shared.record.look_up(|reader| reader.task_edges(&id))?;
    let is_known = known.iter().any(|edge| {
        edge.task == id && edge.kind == linked.kind && edge.to == linked.to && edge.uri == linked.uri
    });
    if is_known {
        return Ok(());
    }
    commit_edge(shared, &row, Fact::TaskLinked(linked), origin).await
}

/// Whether a task can still be made to wait for another one.
fn may_wait(state: TaskState) -> bool {
    use TaskState as S;
    matches!(state, S::Draft | S::Accepted | S::Queued | S::Blocked | S::Paused)
}

/// Parts two tasks, or a task from what an address names.
pub(crate) async fn unlink(
    shared: &Arc<Shared>,
    unlinked: TaskUnlinked,
    origin: &Origin,
) -> Result<(), RpcError> {
    let _held = shared.work.changing.lock().await;
    let id = unlinked.task_id;
    let row = shared.record.look_up(|reader| reader.task(&id))?.ok_or_else(|| no_task(id))?;
    let known = shared.record.look_up(|reader| reader.task_edges(&id))?;
    let is_known = known.iter().any(|edge| {
        edge.task == id && edge.kind == unlinked.kind && edge.to == unlinked.to && edge.uri == unlinked.uri
    });
    if !is_known {
        let what = format!("task {id} has no such edge by `{}`", unlinked.kind);
        return Err(RpcError::new(ErrorName::NotFound, what));
    }
    commit_edge(shared, &row, Fact::TaskUnlinked(unlinked), origin).await
}

async fn commit_edge(
    shared: &Arc<Shared>,
    row: &TaskRow,
    fact: Fact,
    origin: &Origin,
) -> Result<(), RpcError> {
    let mut draft = Draft::default();
    shared.record.add(&mut draft, StreamName::Task(row.root), origin, fact);
    shared.record.commit(draft).await.map_err(|error| refused(&error))?;
    shared.work.settle([row.id]);
    Ok(())
}

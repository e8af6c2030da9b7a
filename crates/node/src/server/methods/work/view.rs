//! Tasks, graphs and runs as they are shown.

use edgeplane_store::{
    BindingRow, EdgeRow, GraphEdge, GraphEnd, GraphRows, GraphTask, ReadError, Reader, RunRow, StoredBody,
    TaskFilter, TaskStory,
};
use edgeplane_types::{AgentId, ErrorName, RunId, TaskId, TurnId};
use edgeplane_wire::{
    api::{
        work::{
            CriterionView, EdgeView, GRAPH_TASKS_MAX, RunListParams, RunListResult, RunParams, RunView,
            TaskArc, TaskDetail, TaskGraphParams, TaskGraphResult, TaskListParams, TaskListResult, TaskNode,
            TaskParams, TaskProgressView, TaskView,
        },
        workspace::RunBindingView,
    },
    rpc::RpcError,
};
use serde_json::value::RawValue;

use super::{
    super::{
        conversation::{next_of, rows},
        terminals::agent_id,
    },
    Session, implicit, none, seen,
};
use crate::server::dispatch::raw;

/// Runs of one task that are shown with it.
const RUNS_SHOWN: usize = 500;

pub(super) fn view(session: &Session, id: TaskId) -> Result<TaskView, RpcError> {
    let found = session
        .shared
        .record
        .look_up(|reader| reader.task_story(&id)?.map(|story| shown(reader, story)).transpose())?;
    found.ok_or_else(|| none(id))
}

pub(super) fn name_of(reader: &Reader, id: &AgentId) -> Result<String, ReadError> {
    Ok(reader.agent_by_id(id)?.map_or_else(|| id.to_string(), |agent| agent.name.to_string()))
}

fn shown(reader: &Reader, story: TaskStory) -> Result<TaskView, ReadError> {
    let TaskStory { row, created, by, created_at, plan, moved, moved_at, progress, cancelled } = story;
    let said: Vec<u32> = progress.as_ref().map(|(progress, _)| progress.accepted.clone()).unwrap_or_default();
    let acceptance = (0u32..)
        .zip(plan.acceptance)
        .map(|(number, text)| CriterionView { text, is_true: said.contains(&number) })
        .collect();
    let progress = progress.map(|(progress, at)| TaskProgressView {
        run_id: progress.run_id,
        phase: progress.phase,
        done: progress.done,
        total: progress.total,
        note: progress.note,
        at,
    });
    Ok(TaskView {
        task_id: row.id,
        root_id: row.root,
        parent_id: row.parent,
        title: plan.title,
        state: row.state,
        reason: moved.map(|moved| moved.reason).filter(|reason| !reason.is_empty()),
        agent: plan.assignee.as_ref().map(|id| name_of(reader, id)).transpose()?,
        agent_id: plan.assignee,
        thread_id: plan.thread,
        kind: created.kind,
        visibility: created.visibility,
        priority: plan.priority,
        labels: plan.labels,
        acceptance,
        limits: plan.limits,
        attempts: row.attempts,
        attempts_max: plan.attempts_max,
        progress,
        run_id: reader.live_run(&row.id)?.map(|run| run.id),
        cancelled_because: cancelled,
        authority: created.authority,
        created_by: by.name().clone(),
        created_at,
        moved_at,
        version: row.version,
    })
}

fn shown_edge(row: EdgeRow) -> EdgeView {
    EdgeView { task_id: row.task, kind: row.kind, to: row.to, uri: row.uri }
}

/// The bindings of a run, as they are shown with it.
pub(in crate::server::methods) fn bindings_of(
    reader: &Reader,
    run: RunId,
    is_over: bool,
) -> Result<Vec<RunBindingView>, ReadError> {
    let view = |row: BindingRow| RunBindingView {
        workspace_id: row.workspace,
        binding_epoch: row.attached.binding_epoch,
        mode: row.attached.mode,
        is_live: row.is_open && !is_over,
    };
    Ok(reader.bindings_of_run(&run)?.into_iter().map(view).collect())
}

fn shown_run(reader: &Reader, row: RunRow) -> Result<RunView, ReadError> {
    let agent = name_of(reader, &row.started.agent_id)?;
    let bindings = bindings_of(reader, row.id, row.state.is_over())?;
    let (ended, ended_at) = row.ended.unzip();
    Ok(RunView {
        run_id: row.id,
        task_id: row.started.task_id,
        turn_id: TurnId::from_bytes(*row.id.as_bytes()),
        attempt: row.started.attempt,
        agent,
        agent_id: row.started.agent_id,
        state: row.state,
        output_id: ended.as_ref().and_then(|ended| ended.output_id),
        reason: ended.map_or(row.started.reason, |ended| ended.reason),
        limits: row.started.limits,
        bindings,
        started_at: row.started_at,
        begun_at: row.begun_at,
        ended_at,
    })
}

pub(in crate::server) async fn get(session: &Session, params: TaskParams) -> Result<TaskDetail, RpcError> {
    let id = params.task_id;
    if session.shared.record.look_up(|reader| reader.task(&id))?.is_none() {
        return implicit::detail(session, id)?.ok_or_else(|| none(id));
    }
    let id = seen(session, id)?.id;
    let found = session
        .shared
        .record
        .read(move |reader| {
            reader.at_one_moment(|reader| {
                let Some(story) = reader.task_story(&id)? else { return Ok(None) };
                let objective = match story.plan.objective_digest.parse() {
                    Ok(digest) => match reader.body(&digest)? {
                        Some(StoredBody::Bytes(bytes)) => Some(String::from_utf8_lossy(&bytes).into_owned()),
                        Some(StoredBody::Erased { .. }) | None => None,
                    },
                    Err(_) => None,
                };
                let edges = reader.task_edges(&id)?.into_iter().map(shown_edge).collect();
                let runs = reader.runs((Some(&id), None), false, RUNS_SHOWN, 0)?;
                let runs = runs.into_iter().map(|run| shown_run(reader, run)).collect::<Result<_, _>>()?;
                Ok(Some(TaskDetail { task: shown(reader, story)?, objective, edges, runs }))
            })
        })
        .await?;
    found.ok_or_else(|| none(id))
}

pub(in crate::server) async fn list(
    session: &Session,
    params: TaskListParams,
) -> Result<TaskListResult, RpcError> {
    let assignee = params.agent.as_deref().map(|name| agent_id(session, name)).transpose()?;
    let filter = TaskFilter {
        root: params.root_id,
        parent: params.parent_id,
        assignee,
        state: params.state,
        all: params.all,
        concerns: mine(session)?,
    };
    let (rows, cursor) = (rows(params.limit), params.cursor);
    let (items, next) = session
        .shared
        .record
        .read(move |reader| {
            let found = reader.tasks(&filter, rows, cursor)?;
            let next = next_of(&found, rows, |row| row.pos);
            let mut items = Vec::with_capacity(found.len());
            for row in found {
                if let Some(story) = reader.task_story(&row.id)? {
                    items.push(shown(reader, story)?);
                }
            }
            Ok((items, next))
        })
        .await?;
    Ok(TaskListResult { items, next })
}

/// The agent whose tasks a caller sees alone; operators see all.
pub(super) fn mine(session: &Session) -> Result<Option<AgentId>, RpcError> {
    if session.caller.is_operator() {
        return Ok(None);
    }
    let own = session.caller.agent.as_ref().map(|agent| agent.id);
    own.filter(|id| session.caller.is_agent(*id)).map(Some).ok_or_else(|| {
        let who = &session.caller.principal;
        let what = format!("`{who}` has no tasks: rule creator-or-operator");
        RpcError::new(ErrorName::PermissionDenied, what)
    })
}

/// A graph as it is written to a wire: a large one would hold everybody else up if it were put together where all are
/// served.
pub(in crate::server) async fn graph(
    session: &Session,
    params: TaskGraphParams,
) -> Result<Box<RawValue>, RpcError> {
    let id = params.task_id;
    if session.shared.record.look_up(|reader| reader.task(&id))?.is_none()
        && let Some(TaskDetail { task, .. }) = implicit::detail(session, id)?
    {
        let TaskView { task_id, title, state, attempts, .. } = task;
        let node = TaskNode { task_id, parent: None, title, state, attempts };
        return raw(TaskGraphResult { root_id: id, tasks: vec![node], edges: Vec::new() });
    }
    let row = seen(session, id)?;
    let root = row.root;
    seen(session, root)?;
    let most = params.tasks_max.clamp(1, GRAPH_TASKS_MAX);
    let rows = usize::try_from(most).unwrap_or(1);
    let drawn = session
        .shared
        .record
        .read(move |reader| Ok(reader.task_graph(&root, rows)?.map(|found| raw(drawn(root, found)))))
        .await?;
    drawn.unwrap_or_else(|| {
        let what = format!("the graph of task {root} has more than {most} tasks");
        Err(RpcError::new(ErrorName::TooLarge, what).hint("list its tasks by `parent_id`"))
    })
}

fn drawn(root_id: TaskId, found: GraphRows) -> TaskGraphResult {
    let node = |GraphTask { id, parent, title, state, attempts }| TaskNode {
        task_id: id,
        parent,
        title,
        state,
        attempts,
    };
    let arc = |GraphEdge { from, kind, end }| {
        let (to, away) = match end {
            GraphEnd::Place(place) => (Some(place), None),
            GraphEnd::Task(id) => (None, Some(id.to_string())),
            GraphEnd::Uri(uri) => (None, Some(uri)),
        };
        TaskArc { from, kind, to, away }
    };
    TaskGraphResult {
        root_id,
        tasks: found.tasks.into_iter().map(node).collect(),
        edges: found.edges.into_iter().map(arc).collect(),
    }
}

pub(in crate::server) fn seen_run(session: &Session, id: RunId) -> Result<RunRow, RpcError> {
    let none = || RpcError::new(ErrorName::NotFound, format!("no run {id}"));
    let row = session.shared.record.look_up(|reader| reader.run(&id))?.ok_or_else(none)?;
    seen(session, row.started.task_id).map_err(|_hidden| none())?;
    Ok(row)
}

pub(in crate::server) fn run_get(session: &Session, params: &RunParams) -> Result<RunView, RpcError> {
    let id = params.run_id;
    if session.shared.record.look_up(|reader| reader.run(&id))?.is_none()
        && let Some(run) = implicit::run(session, id)?
    {
        return Ok(run);
    }
    let row = seen_run(session, id)?;
    session.shared.record.look_up(|reader| shown_run(reader, row))
}

pub(in crate::server) async fn run_list(
    session: &Session,
    params: RunListParams,
) -> Result<RunListResult, RpcError> {
    let agent = params.agent.as_deref().map(|name| agent_id(session, name)).transpose()?;
    if let Some(id) = params.task_id {
        seen(session, id)?;
    }
    // Of runs an agent sees those that it does itself, unless it names a task of its own.
    let agent = match (mine(session)?, params.task_id) {
        (Some(own), None) => Some(own),
        _ => agent,
    };
    let (rows, cursor, live) = (rows(params.limit), params.cursor, params.live);
    let task = params.task_id;
    let (items, next) = session
        .shared
        .record
        .read(move |reader| {
            let found = reader.runs((task.as_ref(), agent.as_ref()), live, rows, cursor)?;
            let next = next_of(&found, rows, |row| row.pos);
            let items = found.into_iter().map(|row| shown_run(reader, row)).collect::<Result<_, _>>()?;
            Ok((items, next))
        })
        .await?;
    Ok(RunListResult { items, next })
}

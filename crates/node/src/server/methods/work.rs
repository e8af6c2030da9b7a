//! Tasks and runs: who may see and change them, and how they are shown.
//!
//! What changes goes through [`crate::work`]; everything that is shown is read from the record.

pub(in crate::server::methods) mod implicit;
pub(in crate::server) mod jobs;
mod runs;
mod view;

use edgeplane_lifecycle::task::Input;
use edgeplane_store::{TaskRow, TaskStory};
use edgeplane_types::{
    AgentId, Authority, EdgeKind, ErrorName, Fact, Ingress, MessageId, Part, TaskId, TaskState,
    fact::{TaskCancelRequested, TaskCreated, TaskLinked, TaskPlan, TaskProgressed, TaskUnlinked},
};
use edgeplane_wire::{
    api::work::{
        ACCEPTANCE_MAX, ATTEMPTS_MAX, CRITERION_BYTES_MAX, DEPENDENCIES_MAX, EdgeView, OBJECTIVE_BYTES_MAX,
        REFERENCES_MAX, TaskChangeParams, TaskCompleteParams, TaskCreateParams, TaskEdgeParams,
        TaskFailParams, TaskProgressParams, TaskUpdateParams, TaskView, URI_BYTES_MAX,
    },
    rpc::RpcError,
};

use super::{
    Session,
    conversation::{check_chosen, checked_labels, checked_reason, checked_title},
};
use crate::{
    admission::{self, Saying},
    agent::AgentHandle,
    record::Origin,
    work::{self, Change, Fence},
};

pub(in crate::server) use runs::{run_cancel, run_pause, run_resume, run_start};
pub(in crate::server::methods) use view::bindings_of;
pub(in crate::server) use view::seen_run;
use view::view;
pub(in crate::server) use view::{get, graph, list, run_get, run_list};

/// Longest phase of a progress in bytes.
const PHASE_BYTES_MAX: usize = 256;

fn invalid(what: impl Into<String>) -> RpcError {
    RpcError::new(ErrorName::InvalidParams, what)
}

fn none(id: TaskId) -> RpcError {
    RpcError::new(ErrorName::NotFound, format!("no task {id}"))
        .hint("`edgeplane task list --all` shows the tasks there are")
}

/// Whether a task is the caller's business: operators', its creator's, its assignee's.
fn concerns(session: &Session, row: &TaskRow) -> bool {
    let is_theirs = |agent: &Option<AgentId>| agent.is_some_and(|id| session.caller.is_agent(id));
    session.caller.is_operator() || is_theirs(&row.creator) || is_theirs(&row.assignee)
}

/// A task for those whose business it is.
pub(in crate::server) fn seen(session: &Session, id: TaskId) -> Result<TaskRow, RpcError> {
    let row = session.shared.record.look_up(|reader| reader.task(&id))?;
    match row {
        Some(row) if concerns(session, &row) => Ok(row),
        Some(_) => Err(none(id)),
        None => Err(implicit::unchangeable(session, id).unwrap_or_else(|| none(id))),
    }
}

/// A task for those who may decide about it: not whoever it was given to, unless they gave it to themselves.
fn owned(session: &Session, id: TaskId) -> Result<TaskRow, RpcError> {
    let row = seen(session, id)?;
    let is_creator = row.creator.is_some_and(|agent| session.caller.is_agent(agent));
    if session.caller.is_operator() || is_creator {
        return Ok(row);
    }
    let who = &session.caller.principal;
    let what = format!("`{who}` works on task {id} and may not decide about it: rule creator-or-operator");
    Err(RpcError::new(ErrorName::PermissionDenied, what))
}

fn origin(session: &Session) -> Origin {
    Origin::actor(session.caller.actor())
}

fn checked_note(note: Option<&str>) -> Result<Option<String>, RpcError> {
    note.map(|note| checked_reason(Some(note), "")).transpose()
}

pub(super) fn checked_objective(objective: &str) -> Result<Vec<u8>, RpcError> {
    if objective.trim().is_empty() || objective.len() > OBJECTIVE_BYTES_MAX {
        return Err(invalid(format!("what is to be done has 1 to {OBJECTIVE_BYTES_MAX} bytes")));
    }
    Ok(objective.as_bytes().to_vec())
}

pub(super) fn checked_acceptance(acceptance: &[String]) -> Result<Vec<String>, RpcError> {
    let is_fit = |text: &String| !text.trim().is_empty() && text.len() <= CRITERION_BYTES_MAX;
    if acceptance.len() > ACCEPTANCE_MAX || !acceptance.iter().all(is_fit) {
        let what =
            format!("at most {ACCEPTANCE_MAX} things must be true, each 1 to {CRITERION_BYTES_MAX} bytes");
        return Err(invalid(what));
    }
    Ok(acceptance.iter().map(|text| admission::shown_name(text)).collect())
}

pub(super) fn checked_attempts(attempts: u32) -> Result<u32, RpcError> {
    if (1..=ATTEMPTS_MAX).contains(&attempts) {
        return Ok(attempts);
    }
    Err(invalid(format!("`attempts` is 1 to {ATTEMPTS_MAX}")))
}

pub(super) fn needed_title(title: &str) -> Result<String, RpcError> {
    checked_title(Some(title))?.ok_or_else(|| invalid("a task needs a title").hint("give `--title TEXT`"))
}

/// What a task's words weigh at most, and what led to it; refused where the caller may not say them to its agent.
pub(super) struct Weighed {
    pub(super) authority: Authority,
    pub(super) causation: Option<MessageId>,
}

pub(super) fn weigh(
    session: &Session,
    handle: Option<&AgentHandle>,
    title: &str,
) -> Result<Weighed, RpcError> {
    let (shared, caller) = (&session.shared, &session.caller);
    let saying = Saying::plain(vec![Part::Text { text: title.to_owned() }], Ingress::Task);
    if let Some(handle) = handle {
        let admitted = admission::admit(shared, caller, handle, saying)?;
        return Ok(Weighed { authority: admitted.authority, causation: admitted.causation });
    }
    let Some(agent) = caller.agent.as_ref().filter(|_| caller.automation.is_none()) else {
        return Ok(Weighed { authority: caller.authority(), causation: None });
    };
    let led = admission::led_by(shared, agent, &saying)?;
    Ok(Weighed { authority: caller.authority().at_most(led.authority), causation: led.causation })
}

pub(in crate::server) async fn create(
    session: &Session,
    params: TaskCreateParams,
) -> Result<TaskView, RpcError> {
    if let Some(id) = &params.task_id {
        check_chosen(id.as_bytes(), "`task_id`")?;
    }
    checked_labels(&params.labels)?;
    let title = needed_title(&params.title)?;
    let objective = checked_objective(params.objective.as_deref().unwrap_or(&title))?;
    if params.depends_on.len() > DEPENDENCIES_MAX {
        let what = format!("a task depends on at most {DEPENDENCIES_MAX} others when it is written down");
        return Err(invalid(what).hint("link the others with `edgeplane task link`"));
    }
    if let Some(parent) = params.parent_id {
        owned(session, parent)?;
    }
    for other in &params.depends_on {
        seen(session, *other)?;
    }
    let handle = params.agent.as_deref().map(|name| super::agent(session, name)).transpose()?;
    if params.thread_id.is_some() && handle.is_none() {
        return Err(invalid("a thread is an agent's").hint("name the agent too"));
    }
    let Weighed { authority, causation } = weigh(session, handle.as_ref(), &title)?;
    let task_id: TaskId = params.task_id.unwrap_or_else(|| session.shared.record.mint().id());
    let plan = TaskPlan {
        title,
        objective_digest: String::new(),
        objective_bytes: 0,
        assignee: handle.map(|handle| handle.id),
        thread: params.thread_id,
        priority: params.priority,
        labels: params.labels,
        acceptance: checked_acceptance(&params.acceptance)?,
        limits: params.limits,
        attempts_max: checked_attempts(params.attempts)?,
    };
    let created = TaskCreated {
        task_id,
        root_id: task_id,
        parent_id: params.parent_id,
        kind: params.kind,
        visibility: params.visibility,
        plan,
        depends_on: params.depends_on,
        authority,
        epoch: session.caller.agent.as_ref().map(|agent| agent.epoch),
        causation,
        state: if params.start { TaskState::Accepted } else { TaskState::Draft },
    };
    let made = (objective, params.start);
    let replayed = work::create(&session.shared, created, made, &origin(session)).await?;
    session.replayed.store(replayed, std::sync::atomic::Ordering::Relaxed);
    session.effect.notify_one();
    view(session, task_id)
}

pub(in crate::server) async fn update(
    session: &Session,
    params: TaskUpdateParams,
) -> Result<TaskView, RpcError> {
    let row = owned(session, params.task_id)?;
    let title = params.title.as_deref().map(needed_title).transpose()?;
    let objective = params.objective.as_deref().map(checked_objective).transpose()?;
    let acceptance = params.acceptance.as_deref().map(checked_acceptance).transpose()?;
    let attempts = params.attempts.map(checked_attempts).transpose()?;
    if let Some(labels) = &params.labels {
        checked_labels(labels)?;
    }
    let handle = params.agent.as_deref().map(|name| super::agent(session, name)).transpose()?;
    if handle.is_some() {
        weigh(session, handle.as_ref(), title.as_deref().unwrap_or(&row.title))?;
    }
    let change = move |plan: TaskPlan| {
        let assignee = handle.map(|handle| handle.id);
        let moves = assignee.is_some() && assignee != plan.assignee;
        TaskPlan {
            title: title.unwrap_or(plan.title),
            // A thread is its agent's.
            thread: plan.thread.filter(|_| !moves),
            assignee: assignee.or(plan.assignee),
            priority: params.priority.unwrap_or(plan.priority),
            labels: params.labels.unwrap_or(plan.labels),
            acceptance: acceptance.unwrap_or(plan.acceptance),
            limits: params.limits.unwrap_or(plan.limits),
            attempts_max: attempts.unwrap_or(plan.attempts_max),
            ..plan
        }
    };
    let fence = Fence { if_version: params.if_version, run: None };
    let plan = (Box::new(change) as Box<_>, objective);
    work::update(&session.shared, params.task_id, fence, plan, &origin(session)).await?;
    session.effect.notify_one();
    view(session, params.task_id)
}

/// Has something happen to a task that whoever asks may decide about.
async fn decide(
    session: &Session,
    params: TaskChangeParams,
    (input, otherwise): (Input, &str),
) -> Result<TaskView, RpcError> {
    let row = owned(session, params.task_id)?;
    let reason = checked_reason(params.reason.as_deref(), otherwise)?;
    let fence = Fence { if_version: params.if_version, run: None };
    let facts = match input {
        Input::Cancel if row.is_cancelled => return view(session, row.id),
        Input::Cancel => {
            let asked = TaskCancelRequested { task_id: row.id, reason: reason.clone() };
            vec![Fact::TaskCancelRequested(asked)]
        }
        _ => Vec::new(),
    };
    let change = Change { input: Some(input), facts, reason, by_run: None };
    work::change(&session.shared, row.id, fence, change, &origin(session)).await?;
    session.effect.notify_one();
    view(session, row.id)
}

pub(in crate::server) async fn start(session: &Session, p: TaskChangeParams) -> Result<TaskView, RpcError> {
    decide(session, p, (Input::Queue, "it is to be begun")).await
}

pub(in crate::server) async fn pause(session: &Session, p: TaskChangeParams) -> Result<TaskView, RpcError> {
    decide(session, p, (Input::Pause, "somebody lets it rest")).await
}

pub(in crate::server) async fn resume(session: &Session, p: TaskChangeParams) -> Result<TaskView, RpcError> {
    decide(session, p, (Input::Resume, "somebody lets it go on")).await
}

pub(in crate::server) async fn cancel(session: &Session, p: TaskChangeParams) -> Result<TaskView, RpcError> {
    decide(session, p, (Input::Cancel, "somebody has it ended")).await
}

pub(in crate::server) async fn retry(session: &Session, p: TaskChangeParams) -> Result<TaskView, RpcError> {
    decide(session, p, (Input::Retry, "somebody has it tried again")).await
}

pub(in crate::server) async fn archive(session: &Session, p: TaskChangeParams) -> Result<TaskView, RpcError> {
    decide(session, p, (Input::Archive, "somebody puts it away")).await
}

/// The numbers of criteria that somebody says are met, together with those said before.
fn met(story: &TaskStory, said: &[u32]) -> Result<Vec<u32>, RpcError> {
    let count = story.plan.acceptance.len();
    if let Some(unknown) = said.iter().find(|number| usize::try_from(**number).is_ok_and(|n| n >= count)) {
        let what = format!("task {} has {count} things that must be true, none is {unknown}", story.row.id);
        return Err(invalid(what).hint("they are counted from 0; `edgeplane task get` shows them"));
    }
    let before =
        story.progress.as_ref().map(|(progress, _)| progress.accepted.as_slice()).unwrap_or_default();
    let mut all: Vec<u32> = before.iter().chain(said).copied().collect();
    all.sort_unstable();
    all.dedup();
    Ok(all)
}

fn story(session: &Session, id: TaskId) -> Result<TaskStory, RpcError> {
    session.shared.record.look_up(|reader| reader.task_story(&id))?.ok_or_else(|| none(id))
}

pub(in crate::server) async fn progress(
    session: &Session,
    params: TaskProgressParams,
) -> Result<TaskView, RpcError> {
    let row = seen(session, params.task_id)?;
    if row.state.is_over() {
        let what = format!("task {} is over: it is {}", row.id, row.state);
        return Err(RpcError::new(ErrorName::InvalidState, what));
    }
    if params.phase.as_ref().is_some_and(|phase| phase.len() > PHASE_BYTES_MAX) {
        return Err(invalid(format!("a phase has at most {PHASE_BYTES_MAX} bytes")));
    }
    let progressed = TaskProgressed {
        task_id: row.id,
        run_id: params.run_id,
        phase: params.phase.map(|phase| admission::shown_name(&phase)),
        done: params.done,
        total: params.total,
        accepted: met(&story(session, row.id)?, &params.accepted)?,
        note: checked_note(params.note.as_deref())?,
    };
    let facts = vec![Fact::TaskProgressed(progressed)];
    let change = Change { input: None, facts, reason: String::new(), by_run: params.run_id };
    let fence = Fence { if_version: None, run: params.run_id };
    work::change(&session.shared, row.id, fence, change, &origin(session)).await?;
    session.effect.notify_one();
    view(session, row.id)
}

fn checked_uri(uri: &str) -> Result<String, RpcError> {
    let shown = admission::shown_name(uri);
    if shown.trim().is_empty() || shown.len() > URI_BYTES_MAX || shown != uri {
        return Err(invalid(format!("an address has 1 to {URI_BYTES_MAX} bytes that can be printed")));
    }
    Ok(shown)
}

pub(in crate::server) async fn complete(
    session: &Session,
    params: TaskCompleteParams,
) -> Result<TaskView, RpcError> {
    let row = seen(session, params.task_id)?;
    let story = story(session, row.id)?;
    let accepted = met(&story, &params.accepted)?;
    if accepted.len() < story.plan.acceptance.len() {
        let open: Vec<String> = (0u32..)
            .zip(&story.plan.acceptance)
            .filter(|(number, _)| !accepted.contains(number))
            .map(|(number, text)| format!("{number} ({text})"))
            .collect();
        let what = format!("task {} is not done: nobody said that this is true: {}", row.id, open.join(", "));
        return Err(RpcError::new(ErrorName::InvalidState, what).hint("name them with `--accepted`"));
    }
    let parts = session.shared.record.look_up(|reader| reader.task_parts(&row.id))?;
    if let Some(part) = parts.iter().find(|part| !part.state.is_over()) {
        let what = format!("task {} is not done: its part {} is {}", row.id, part.id, part.state);
        return Err(RpcError::new(ErrorName::InvalidState, what));
    }
    let mut facts = vec![Fact::TaskProgressed(TaskProgressed {
        task_id: row.id,
        run_id: params.run_id,
        phase: None,
        done: None,
        total: None,
        accepted,
        note: checked_note(params.note.as_deref())?,
    })];
    for (kind, uris) in [(EdgeKind::Produced, &params.artifacts), (EdgeKind::Evidence, &params.evidence)] {
        if uris.len() > REFERENCES_MAX {
            return Err(invalid(format!("at most {REFERENCES_MAX} addresses of each kind")));
        }
        for uri in uris {
            let uri = Some(checked_uri(uri)?);
            facts.push(Fact::TaskLinked(TaskLinked { task_id: row.id, kind, to: None, uri, reason: None }));
        }
    }
    let change = Change {
        input: Some(Input::Complete),
        facts,
        reason: format!("`{}` says that it is done", session.caller.principal),
        by_run: params.run_id,
    };
    let fence = Fence { if_version: params.if_version, run: params.run_id };
    work::change(&session.shared, row.id, fence, change, &origin(session)).await?;
    session.effect.notify_one();
    view(session, row.id)
}

pub(in crate::server) async fn fail(session: &Session, params: TaskFailParams) -> Result<TaskView, RpcError> {
    let row = seen(session, params.task_id)?;
    let reason = checked_reason(Some(&params.reason), "")?;
    if reason.trim().is_empty() {
        return Err(invalid("say why it failed").hint("give `--reason TEXT`"));
    }
    let change = Change { input: Some(Input::Fail), facts: Vec::new(), reason, by_run: params.run_id };
    let fence = Fence { if_version: params.if_version, run: params.run_id };
    work::change(&session.shared, row.id, fence, change, &origin(session)).await?;
    session.effect.notify_one();
    view(session, row.id)
}

/// An edge as somebody names it.
fn edge_of(session: &Session, params: &TaskEdgeParams) -> Result<(), RpcError> {
    owned(session, params.task_id)?;
    match (params.kind.joins_tasks(), params.to, &params.uri) {
        (true, Some(to), None) => seen(session, to).map(drop),
        (false, None, Some(uri)) => checked_uri(uri).map(drop),
        (true, ..) => Err(invalid(format!("`{}` leads to a task: name it as `to`", params.kind))),
        (false, ..) => Err(invalid(format!("`{}` leads to an address: name it as `uri`", params.kind))),
    }
}

pub(in crate::server) async fn link(session: &Session, params: TaskEdgeParams) -> Result<EdgeView, RpcError> {
    edge_of(session, &params)?;
    let TaskEdgeParams { task_id, kind, to, uri, reason } = params;
    let reason = checked_note(reason.as_deref())?;
    let linked = TaskLinked { task_id, kind, to, uri: uri.clone(), reason };
    work::link(&session.shared, linked, &origin(session)).await?;
    session.effect.notify_one();
    Ok(EdgeView { task_id, kind, to, uri })
}

pub(in crate::server) async fn unlink(
    session: &Session,
    params: TaskEdgeParams,
) -> Result<EdgeView, RpcError> {
    edge_of(session, &params)?;
    let TaskEdgeParams { task_id, kind, to, uri, reason: _ } = params;
    let unlinked = TaskUnlinked { task_id, kind, to, uri: uri.clone() };
    work::unlink(&session.shared, unlinked, &origin(session)).await?;
    session.effect.notify_one();
    Ok(EdgeView { task_id, kind, to, uri })
}

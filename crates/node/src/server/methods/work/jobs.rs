//! Jobs: made, changed, and shown with their items.

use std::collections::BTreeSet;

use edgeplane_lifecycle::task::Input;
use edgeplane_store::{JobItemRow, ReadError, Reader, StoredBody, TaskRow};
use edgeplane_types::{
    AgentId, ErrorName, Fact, JobReport, JobState, SafeLabel, TaskId, TaskState, Visibility,
    fact::{JobCreated, TaskCancelRequested, TaskCreated, TaskPlan},
};
use edgeplane_wire::{
    api::job::{
        CAPABILITY_LABEL, ITEM_MARK, ITEMS_MAX, JOB_AGENTS_MAX, JOB_BYTES_MAX, JobCancelParams, JobCounts,
        JobCreateParams, JobDetail, JobGetParams, JobItemAssignParams, JobItemInput, JobItemReportParams,
        JobItemRetryParams, JobItemView, JobListParams, JobListResult, JobView, RESULT_BYTES_MAX,
        RESULT_SHOWN_MAX,
    },
    rpc::RpcError,
};
use serde_json::Value;

use super::{
    super::{
        agent,
        conversation::{check_chosen, checked_labels, checked_reason, next_of, rows},
    },
    Session, Weighed, checked_attempts, checked_objective, concerns, invalid, needed_title, origin, owned,
    view::{mine, name_of},
    weigh,
};
use crate::{
    admission,
    work::{self, Change, Fence, NewItem, NewJob, Report},
};

/// Of a job's title and of an item's input this much stands in the item's title, in bytes.
const SHOWN_BYTES: usize = 100;

fn no_job(id: TaskId) -> RpcError {
    RpcError::new(ErrorName::NotFound, format!("no job {id}"))
        .hint("`edgeplane job list --all` shows the jobs there are")
}

fn no_item(id: TaskId) -> RpcError {
    RpcError::new(ErrorName::NotFound, format!("no item {id} of a job"))
        .hint("`edgeplane job get JOB` shows the items of a job")
}

/// A job for those whose business it is.
fn seen_job(session: &Session, id: TaskId) -> Result<TaskRow, RpcError> {
    let row = session.shared.record.look_up(|reader| match reader.is_job(&id)? {
        true => reader.task(&id),
        false => Ok(None),
    })?;
    row.filter(|row| concerns(session, row)).ok_or_else(|| no_job(id))
}

/// An item for those who may decide about it.
fn owned_item(session: &Session, id: TaskId) -> Result<TaskRow, RpcError> {
    let row = owned(session, id).map_err(|error| match error.name() {
        ErrorName::NotFound => no_item(id),
        _ => error,
    })?;
    let is_item = match row.parent {
        Some(parent) => session.shared.record.look_up(|reader| reader.is_job(&parent))?,
        None => false,
    };
    if is_item { Ok(row) } else { Err(no_item(id)) }
}

/// What an item says, as it stands in an objective.
fn words_of(input: &Value) -> String {
    match input {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// What is to be done with an item.
fn objective_of(template: Option<&str>, input: &str) -> String {
    match template {
        None => input.to_owned(),
        Some(text) if text.contains(ITEM_MARK) => text.replace(ITEM_MARK, input),
        Some(text) => format!("{}\n\n{input}", text.trim_end()),
    }
}

/// What an item is called.
fn title_of(title: &str, number: usize, input: &str) -> String {
    let first = input.lines().next().unwrap_or_default();
    let shown = admission::shown_name(first);
    let cut = |text: &str| text.get(..text.floor_char_boundary(SHOWN_BYTES)).unwrap_or_default().to_owned();
    format!("{} {number}: {}", cut(title), cut(&shown))
}

/// What is told to the agents of a job whose items are reported.
fn how_to_report(item: TaskId) -> String {
    format!(
        "\n\nReport what comes of it before you end your turn: `edgeplane job report {item} --result JSON`."
    )
}

fn checked_items(params: &JobCreateParams) -> Result<(), RpcError> {
    if params.items.is_empty() || params.items.len() > ITEMS_MAX {
        return Err(invalid(format!("a job has 1 to {ITEMS_MAX} items")));
    }
    let mut seen = BTreeSet::new();
    for id in params.items.iter().filter_map(|item| item.item_id.as_ref()).chain(&params.job_id) {
        check_chosen(id.as_bytes(), "the id of a job or an item")?;
        if !seen.insert(*id) {
            return Err(invalid(format!("{id} is named twice")));
        }
    }
    let template = params.objective.as_deref().map_or(0, str::len);
    let marks = params.objective.as_deref().map_or(0, |text| text.matches(ITEM_MARK).count()).max(1);
    let bytes =
        |item: &JobItemInput| template.saturating_add(marks.saturating_mul(words_of(&item.input).len()));
    let all = params.items.iter().map(bytes).fold(0, usize::saturating_add);
    if all > JOB_BYTES_MAX {
        let what =
            format!("what is to be done in all items together has {all} bytes, at most {JOB_BYTES_MAX}");
        return Err(invalid(what).hint("make several jobs, or name files instead of their contents"));
    }
    Ok(())
}

/// Who may be given items, and what that leads the words of the job to weigh.
fn checked_agents(
    session: &Session,
    params: &JobCreateParams,
    title: &str,
) -> Result<(Vec<AgentId>, Weighed), RpcError> {
    let by_label = !params.labels.is_empty() || params.capability.is_some();
    if params.agents.is_empty() != by_label || params.agents.len() > JOB_AGENTS_MAX {
        let what = format!("name 1 to {JOB_AGENTS_MAX} agents, or the labels that they have, and not both");
        return Err(invalid(what).hint("`edgeplane agent list` shows the agents there are"));
    }
    let mut least = weigh(session, None, title)?;
    let mut ids = Vec::with_capacity(params.agents.len());
    for name in &params.agents {
        let handle = agent(session, name)?;
        let weighed = weigh(session, Some(&handle), title)?;
        least = Weighed { authority: least.authority.at_most(weighed.authority), ..weighed };
        if !ids.contains(&handle.id) {
            ids.push(handle.id);
        }
    }
    Ok((ids, least))
}

/// The task that a job is.
fn task_of(
    session: &Session,
    params: &JobCreateParams,
    (job_id, title): (TaskId, String),
    weighed: &Weighed,
) -> TaskCreated {
    TaskCreated {
        task_id: job_id,
        root_id: job_id,
        parent_id: None,
        kind: Some(SafeLabel::sanitized("job")),
        visibility: Visibility::Foreground,
        plan: TaskPlan {
            title,
            objective_digest: String::new(),
            objective_bytes: 0,
            assignee: None,
            thread: None,
            priority: params.priority,
            labels: std::collections::BTreeMap::new(),
            acceptance: Vec::new(),
            limits: params.limits,
            attempts_max: params.attempts,
        },
        depends_on: Vec::new(),
        authority: weighed.authority,
        epoch: session.caller.agent.as_ref().map(|agent| agent.epoch),
        causation: weighed.causation,
        state: TaskState::Draft,
    }
}

/// The tasks that the items of a job are.
fn items_of(
    session: &Session,
    params: &JobCreateParams,
    job: &TaskCreated,
) -> Result<Vec<NewItem>, RpcError> {
    let mint = session.shared.record.mint();
    let mut items = Vec::with_capacity(params.items.len());
    for (number, item) in (1..).zip(&params.items) {
        let input = words_of(&item.input);
        let item_id: TaskId = item.item_id.unwrap_or_else(|| mint.id());
        let mut objective = objective_of(params.objective.as_deref(), &input);
        checked_objective(&objective)?;
        if params.report == JobReport::Explicit {
            objective.push_str(&how_to_report(item_id));
        }
        let mut created = job.clone();
        (created.task_id, created.parent_id) = (item_id, Some(job.task_id));
        (created.kind, created.visibility) = (Some(SafeLabel::sanitized("job_item")), Visibility::Internal);
        created.plan.title = title_of(&job.plan.title, number, &input);
        created.state = TaskState::Queued;
        items.push(NewItem { created, objective: objective.into_bytes() });
    }
    Ok(items)
}

pub(in crate::server) async fn create(
    session: &Session,
    params: JobCreateParams,
) -> Result<JobView, RpcError> {
    let title = needed_title(&params.title)?;
    checked_items(&params)?;
    checked_labels(&params.labels)?;
    checked_attempts(params.attempts)?;
    if params.parallelism == Some(0) {
        return Err(invalid("at least one item is worked on at a time: `parallelism` is 1 or more"));
    }
    let (agents, weighed) = checked_agents(session, &params, &title)?;
    let request = serde_json::to_vec(&params).map_err(|error| invalid(error.to_string()))?;
    let mint = session.shared.record.mint();
    let job_id: TaskId = params.job_id.unwrap_or_else(|| mint.id());
    let base = task_of(session, &params, (job_id, title), &weighed);
    let items = items_of(session, &params, &base)?;
    let mut selector = params.labels;
    selector.extend(params.capability.map(|able| (CAPABILITY_LABEL.to_owned(), able)));
    let job = JobCreated {
        task_id: job_id,
        items: u32::try_from(items.len()).unwrap_or(u32::MAX),
        agents,
        selector,
        parallelism: params.parallelism,
        report: params.report,
        request_digest: edgeplane_proof::digest(&request).to_string(),
    };
    let objective = params.objective.unwrap_or(params.title).into_bytes();
    let new = NewJob { created: base, job, objective, items };
    let replayed = work::create_job(&session.shared, new, &origin(session)).await?;
    session.replayed.store(replayed, std::sync::atomic::Ordering::Relaxed);
    session.effect.notify_one();
    shown_job(session, job_id)
}

fn shown_job(session: &Session, id: TaskId) -> Result<JobView, RpcError> {
    let found = session.shared.record.look_up(|reader| job_view(reader, id))?;
    found.ok_or_else(|| no_job(id))
}

fn job_view(reader: &Reader, id: TaskId) -> Result<Option<JobView>, ReadError> {
    let Some(job) = reader.job(&id)?.map(|job| job.created) else { return Ok(None) };
    let Some(story) = reader.task_story(&id)? else { return Ok(None) };
    let tally = reader.job_tally(&id)?;
    let done = tally.completed.saturating_add(tally.reported);
    let agents = job.agents.iter().map(|id| name_of(reader, id)).collect::<Result<_, _>>()?;
    Ok(Some(JobView {
        job_id: id,
        title: story.plan.title,
        state: JobState::of(story.row.state, done == tally.all()),
        reason: story.moved.map(|moved| moved.reason).filter(|reason| !reason.is_empty()),
        cancelled_because: story.cancelled,
        items: job.items,
        counts: JobCounts {
            pending: tally.pending,
            running: tally.running,
            completed: tally.completed,
            failed: tally.failed,
            reported: tally.reported,
        },
        agents,
        labels: job.selector,
        parallelism: job.parallelism,
        report: job.report,
        created_by: story.by.name().clone(),
        created_at: story.created_at,
        moved_at: story.moved_at,
    }))
}

fn item_view(reader: &Reader, row: JobItemRow, bytes_max: u64) -> Result<JobItemView, ReadError> {
    let JobItemRow { task, state, run, report } = row;
    let reported = report.as_ref().map(|report| &report.reported);
    let result = match reported.filter(|reported| reported.result_bytes <= bytes_max) {
        Some(reported) => match reported.result_digest.parse() {
            Ok(digest) => match reader.body(&digest)? {
                Some(StoredBody::Bytes(bytes)) => serde_json::from_slice(&bytes).ok(),
                Some(StoredBody::Erased { .. }) | None => None,
            },
            Err(_) => None,
        },
        None => None,
    };
    let ended = run.as_ref().and_then(|run| run.ended.as_ref());
    let agent = run.as_ref().map(|run| name_of(reader, &run.started.agent_id)).transpose()?;
    Ok(JobItemView {
        item_id: task.id,
        job_id: task.root,
        title: task.title,
        state,
        task_state: task.state,
        attempts: task.attempts,
        reason: run
            .as_ref()
            .map(|run| ended.map_or_else(|| run.started.reason.clone(), |(ended, _)| ended.reason.clone())),
        agent,
        agent_id: run.as_ref().map(|run| run.started.agent_id),
        run_id: run.as_ref().map(|run| run.id),
        output_id: reported
            .and_then(|reported| reported.output_id)
            .or_else(|| ended.and_then(|(ended, _)| ended.output_id)),
        result,
        result_bytes: reported.map(|reported| reported.result_bytes),
        reported_at: report.as_ref().map(|report| report.at),
    })
}

fn shown_item(session: &Session, id: TaskId) -> Result<JobItemView, RpcError> {
    let found = session
        .shared
        .record
        .look_up(|reader| reader.job_item(&id)?.map(|row| item_view(reader, row, u64::MAX)).transpose())?;
    found.ok_or_else(|| no_item(id))
}

pub(in crate::server) async fn get(session: &Session, params: JobGetParams) -> Result<JobDetail, RpcError> {
    let id = seen_job(session, params.job_id)?.id;
    let (rows, cursor, only) = (rows(params.limit), params.cursor, params.item_id);
    let found = session
        .shared
        .record
        .read(move |reader| {
            reader.at_one_moment(|reader| {
                let Some(job) = job_view(reader, id)? else { return Ok(None) };
                let (found, bytes_max) = match only {
                    Some(item) => (Vec::from_iter(reader.job_item(&item)?), u64::MAX),
                    None => (reader.job_items(&id, params.state, rows, cursor)?, RESULT_SHOWN_MAX),
                };
                let found: Vec<_> = found.into_iter().filter(|row| row.task.parent == Some(id)).collect();
                let next = next_of(&found, rows, |row| row.task.pos);
                let items = found.into_iter().map(|row| item_view(reader, row, bytes_max));
                Ok(Some(JobDetail { job, items: items.collect::<Result<_, _>>()?, next }))
            })
        })
        .await?;
    let found = found.ok_or_else(|| no_job(id))?;
    match only {
        Some(item) if found.items.is_empty() => Err(no_item(item)),
        _ => Ok(found),
    }
}

pub(in crate::server) async fn list(
    session: &Session,
    params: JobListParams,
) -> Result<JobListResult, RpcError> {
    let creator = mine(session)?;
    let (rows, cursor, all) = (rows(params.limit), params.cursor, params.all);
    let (items, next) = session
        .shared
        .record
        .read(move |reader| {
            let found = reader.jobs(creator.as_ref(), all, rows, cursor)?;
            let next = next_of(&found, rows, |row| row.pos);
            let mut items = Vec::with_capacity(found.len());
            for row in found {
                items.extend(job_view(reader, row.id)?);
            }
            Ok((items, next))
        })
        .await?;
    Ok(JobListResult { items, next })
}

pub(in crate::server) async fn cancel(
    session: &Session,
    params: JobCancelParams,
) -> Result<JobView, RpcError> {
    let id = seen_job(session, params.job_id)?.id;
    let row = owned(session, id)?;
    let reason = checked_reason(params.reason.as_deref(), "somebody has it ended")?;
    if !row.is_cancelled {
        let asked = TaskCancelRequested { task_id: id, reason: reason.clone() };
        let facts = vec![Fact::TaskCancelRequested(asked)];
        let change = Change { input: Some(Input::Cancel), facts, reason, by_run: None };
        work::change(&session.shared, id, Fence::default(), change, &origin(session)).await?;
        session.effect.notify_one();
    }
    shown_job(session, id)
}

pub(in crate::server) async fn assign(
    session: &Session,
    params: JobItemAssignParams,
) -> Result<JobItemView, RpcError> {
    let row = owned_item(session, params.item_id)?;
    let handle = super::super::agent_itself(session, &params.agent)?;
    weigh(session, Some(&handle), &row.title)?;
    work::assign(&session.shared, row.id, handle.id, &origin(session)).await?;
    session.effect.notify_one();
    shown_item(session, row.id)
}

pub(in crate::server) async fn retry(
    session: &Session,
    params: JobItemRetryParams,
) -> Result<JobItemView, RpcError> {
    let row = owned_item(session, params.item_id)?;
    let job = row.parent.map(|job| session.shared.record.look_up(|reader| reader.task(&job))).transpose()?;
    if let Some(job) = job.flatten().filter(|job| job.is_cancelled || job.state == TaskState::Archived) {
        let what = format!("job {}, of which it is an item, is {}", job.id, job.state);
        return Err(RpcError::new(ErrorName::InvalidState, what));
    }
    let reason = checked_reason(params.reason.as_deref(), "somebody has it tried again")?;
    let change = Change { input: Some(Input::Retry), facts: Vec::new(), reason, by_run: None };
    work::change(&session.shared, row.id, Fence::default(), change, &origin(session)).await?;
    session.effect.notify_one();
    shown_item(session, row.id)
}

/// Whether an item is the caller's business, or was: who lost it is told that it is held by another run.
fn held_once(session: &Session, id: TaskId) -> Result<TaskRow, RpcError> {
    let row = session.shared.record.look_up(|reader| reader.task(&id))?.ok_or_else(|| no_item(id))?;
    let own = session.caller.agent.as_ref().map(|agent| agent.id).filter(|id| session.caller.is_agent(*id));
    let had_it = match own {
        Some(own) => session
            .shared
            .record
            .look_up(|reader| Ok(!reader.runs((Some(&id), Some(&own)), false, 1, 0)?.is_empty()))?,
        None => false,
    };
    if had_it || concerns(session, &row) { Ok(row) } else { Err(no_item(id)) }
}

pub(in crate::server) async fn report(
    session: &Session,
    params: JobItemReportParams,
) -> Result<JobItemView, RpcError> {
    let row = held_once(session, params.item_id)?;
    let result = serde_json::to_vec(&params.result).map_err(|error| invalid(error.to_string()))?;
    if result.len() > RESULT_BYTES_MAX {
        let what = format!("a result has at most {RESULT_BYTES_MAX} bytes, this one {}", result.len());
        return Err(invalid(what).hint("name an output or an artifact instead"));
    }
    if let Some(output) = params.output_id {
        super::super::conversation::check_output(session, output)?;
    }
    let said = Report {
        item: row.id,
        by: session.caller.agent.as_ref().map(|agent| agent.id).filter(|_| !session.caller.is_operator()),
        run: params.run_id,
        result,
        output_id: params.output_id,
        reason: format!("`{}` reported what came of it", session.caller.principal),
    };
    let replayed = work::report(&session.shared, said, &origin(session)).await?;
    session.replayed.store(replayed, std::sync::atomic::Ordering::Relaxed);
    session.effect.notify_one();
    shown_item(session, row.id)
}

//! Jobs: tasks whose parts are items, each of them dealt out to an agent that is idle.
//!
//! Owns who may be given which item and when, and that what came of an item is reported once. That an item is given to an
//! agent is durable together with its run; all else of an item's life is a task's.

use std::{collections::BTreeSet, sync::Arc};

use edgeplane_lifecycle::task::Input;
use edgeplane_store::{RunRow, TaskRow, TaskStory};
use edgeplane_types::{
    AgentId, ErrorName, Fact, JobReport, OutputId, Phase, RunId, StreamName, TaskId, TaskState,
    fact::{JobCreated, JobItemReported, TaskCreated, TaskMoved, TaskUpdated},
};
use edgeplane_wire::{api::job::CAPABILITY_LABEL, rpc::RpcError};

use super::{
    admit,
    change::{Change, apply_with},
    settle::{RULE, move_on},
};
use crate::{
    agent::AgentHandle,
    record::{Draft, Origin, refused},
    shared::Shared,
};

/// Why an item is taken from an agent that does not run: what is recorded, and by what it is known again.
pub(super) const GIVEN_BACK: &str = "its agent does not run, so it is given back";

/// Why a run of an item has failed whose agent ended its turn.
pub(super) const SILENT: &str = "its agent ended its turn and reported nothing";

/// Items that are looked at beyond those for which there is room: the first ones may wait for other agents.
const LOOKED_AT: usize = 64;

/// A job that is to be made.
pub(crate) struct NewJob {
    pub(crate) created: TaskCreated,
    pub(crate) job: JobCreated,
    pub(crate) objective: Vec<u8>,
    pub(crate) items: Vec<NewItem>,
}

/// An item that is to be made.
pub(crate) struct NewItem {
    pub(crate) created: TaskCreated,
    pub(crate) objective: Vec<u8>,
}

/// What somebody says that came of an item.
pub(crate) struct Report {
    pub(crate) item: TaskId,
    /// The agent that says so; nobody, if an operator does.
    pub(crate) by: Option<AgentId>,
    pub(crate) run: Option<RunId>,
    pub(crate) result: Vec<u8>,
    pub(crate) output_id: Option<OutputId>,
    /// In words.
    pub(crate) reason: String,
}

/// Makes a job with all of its items, or nothing. Says whether it was there already.
pub(crate) async fn create(shared: &Arc<Shared>, new: NewJob, origin: &Origin) -> Result<bool, RpcError> {
    let _held = shared.work.changing.lock().await;
    let id = new.created.task_id;
    if let Some(known) = shared.record.look_up(|reader| reader.task_story(&id))? {
        let job = shared.record.look_up(|reader| reader.job(&id))?;
        let is_same = job.is_some_and(|job| job.created.request_digest == new.job.request_digest);
        if is_same && known.by == origin.actor {
            return Ok(true);
        }
        let what = format!("task {id} exists already, and is another one");
        return Err(RpcError::new(ErrorName::Conflict, what).hint("choose a new id for a new job"));
    }
    for item in &new.items {
        let item = item.created.task_id;
        if shared.record.look_up(|reader| reader.task(&item))?.is_some() {
            let what = format!("task {item} exists already, and is no item of this job");
            return Err(RpcError::new(ErrorName::Conflict, what).hint("choose new ids for new items"));
        }
    }
    let NewJob { mut created, job, objective, items } = new;
    let (mut draft, stream) = (Draft::default(), StreamName::Task(id));
    (created.plan.objective_digest, created.plan.objective_bytes) = draft.body(objective);
    let (from, to, reason) = (created.state, TaskState::Queued, "its items are to be begun".to_owned());
    shared.record.add(&mut draft, stream, origin, Fact::TaskCreated(Box::new(created)));
    shared.record.add(&mut draft, stream, origin, Fact::JobCreated(Box::new(job)));
    for NewItem { mut created, objective } in items {
        (created.plan.objective_digest, created.plan.objective_bytes) = draft.body(objective);
        shared.record.add(&mut draft, stream, origin, Fact::TaskCreated(Box::new(created)));
    }
    let moved = TaskMoved { task_id: id, from, to, reason, run_id: None };
    shared.record.add(&mut draft, stream, origin, Fact::TaskMoved(moved));
    shared.failpoint("job.before");
    shared.record.commit(draft).await.map_err(|error| refused(&error))?;
    shared.failpoint("job.after");
    shared.work.settle([id]);
    Ok(false)
}

/// The job that a task is an item of.
fn job_of(shared: &Shared, row: &TaskRow) -> Result<Option<JobCreated>, RpcError> {
    let Some(parent) = row.parent else { return Ok(None) };
    Ok(shared.record.look_up(|reader| reader.job(&parent))?.map(|job| job.created))
}

/// Leaves an item to its job, which is gone on with if it was over. Says whether the task is an item. Whoever calls holds
/// the lock.
pub(super) async fn hands_on(shared: &Arc<Shared>, row: &TaskRow) -> Result<bool, RpcError> {
    let Some(parent) = row.parent else { return Ok(false) };
    if !shared.record.look_up(|reader| reader.is_job(&parent))? {
        return Ok(false);
    }
    if let Some(job) = shared.record.look_up(|reader| reader.task(&parent))?
        && job.state == TaskState::Failed
    {
        move_on(shared, &job, Input::Retry, format!("its item {} is tried again", row.id)).await?;
    }
    shared.work.settle([parent]);
    Ok(true)
}

/// Deals out items of a job that wait, if the task is a job, to agents that are idle. Whoever calls holds the lock.
pub(super) async fn deal(shared: &Arc<Shared>, row: &TaskRow) -> Result<(), RpcError> {
    let id = row.id;
    let Some(job) = shared.record.look_up(|reader| reader.job(&id))? else { return Ok(()) };
    shared.work.note_job(id, true);
    let agents = candidates(shared, row, &job.created)?;
    let busy = shared.record.look_up(|reader| reader.busy_agents(&id))?;
    let running = busy.iter().filter(|busy| busy.is_of_job).count();
    let busy: BTreeSet<AgentId> = busy.iter().map(|busy| busy.agent).collect();
    let live = alive(shared, &agents)?;
    let idle: Vec<AgentId> = live.iter().copied().filter(|agent| !busy.contains(agent)).collect();
    let most = job.created.parallelism.and_then(|most| usize::try_from(most).ok()).unwrap_or(agents.len());
    let room = most.saturating_sub(running).min(idle.len());
    if room == 0 {
        return Ok(());
    }
    let rows = room.saturating_add(LOOKED_AT);
    let waiting = shared.record.look_up(|reader| reader.job_waiting(&id, rows))?;
    let given = matched(shared, waiting, (idle, live.len()), room)?;
    if given.is_empty() {
        return Ok(());
    }
    give(shared, &given, &Origin::node(RULE)).await
}

/// Whether an agent is labelled as a job wants it. What it is able to do is also what it offers, if an operator vouches
/// for that: who is given work is not for an agent itself to say.
fn is_able(shared: &Shared, agent: &AgentHandle, job: &JobCreated) -> Result<bool, RpcError> {
    let labels = &agent.profile().labels;
    let mut lacking = job.selector.iter().filter(|(key, value)| labels.get(*key) != Some(*value));
    match (lacking.next(), lacking.next()) {
        (None, _) => Ok(true),
        (Some((key, able)), None) if key == CAPABILITY_LABEL => {
            let offer = shared.record.look_up(|reader| reader.offer(&agent.id, able))?;
            Ok(offer.is_some_and(|offer| offer.registered.vouched && !offer.is_gone))
        }
        _ => Ok(false),
    }
}

/// Who may be given items: those that are named, or those that are able to and do not want it done themselves. Of a set
/// these are its replicas.
fn candidates(shared: &Shared, row: &TaskRow, job: &JobCreated) -> Result<Vec<AgentHandle>, RpcError> {
    let named: Vec<AgentHandle> = match job.agents.as_slice() {
        [] => {
            let others = |agent: &AgentHandle| {
                agent.set.is_none()
                    && row.creator != Some(agent.id)
                    && !crate::subagents::has_task(shared, agent)
            };
            let mut able = Vec::new();
            for agent in shared.agents().into_iter().filter(others) {
                if is_able(shared, &agent, job)? {
                    able.push(agent);
                }
            }
            able
        }
        ids => ids.iter().filter_map(|id| shared.agent_by_id(*id)).collect(),
    };
    let each = |agent: AgentHandle| match agent.profile().replicas {
        Some(_) => shared.replicas_of(agent.id),
        None => vec![agent],
    };
    Ok(named.into_iter().flat_map(each).collect())
}

/// Those of some agents whose programs run, or begin to with the next message.
fn alive(shared: &Shared, agents: &[AgentHandle]) -> Result<Vec<AgentId>, RpcError> {
    shared.record.look_up(|reader| {
        let mut live = Vec::with_capacity(agents.len());
        for agent in agents {
            let row = reader.agent_by_id(&agent.id)?;
            if row.is_some_and(|row| matches!(row.phase, Phase::Running | Phase::Hibernated)) {
                live.push(agent.id);
            }
        }
        Ok(live)
    })
}

/// Which item goes to which agent, the oldest first. One that was tried goes to another agent than the last time, as long
/// as any other one lives.
fn matched(
    shared: &Shared,
    waiting: Vec<TaskRow>,
    (mut idle, live): (Vec<AgentId>, usize),
    room: usize,
) -> Result<Vec<(TaskRow, AgentId)>, RpcError> {
    let mut given = Vec::with_capacity(room);
    for row in waiting {
        if given.len() >= room || idle.is_empty() {
            break;
        }
        let last = match row.attempts {
            0 => None,
            _ => shared.record.look_up(|reader| reader.job_item(&row.id))?.and_then(|item| item.run),
        };
        let last = last.map(|run| run.started.agent_id);
        let place = match idle.iter().position(|agent| Some(*agent) != last) {
            Some(place) => place,
            // It is idle alone. Whoever else lives has to take the item when it is free.
            None if live > 1 => continue,
            None => 0,
        };
        given.push((row, idle.remove(place)));
    }
    Ok(given)
}

/// Gives items to agents: who works on each and that there is a run of it become durable together.
async fn give(shared: &Arc<Shared>, given: &[(TaskRow, AgentId)], origin: &Origin) -> Result<(), RpcError> {
    let mut draft = Draft::default();
    let mut runs = Vec::with_capacity(given.len());
    for (row, agent) in given {
        let Some(mut story) = shared.record.look_up(|reader| reader.task_story(&row.id))? else { continue };
        if story.plan.assignee != Some(*agent) {
            story.plan.assignee = Some(*agent);
            story.plan.thread = None;
            let updated = TaskUpdated { task_id: row.id, plan: story.plan.clone() };
            let fact = Fact::TaskUpdated(Box::new(updated));
            shared.record.add(&mut draft, StreamName::Task(row.root), origin, fact);
        }
        let started = admit::drawn_up(shared, &story, *agent)?;
        runs.push(started.run_id);
        admit::add(shared, &mut draft, (row.root, row.state), started, &Origin::node(RULE));
    }
    shared.failpoint("deal.before");
    shared.record.commit(draft).await.map_err(|error| refused(&error))?;
    shared.failpoint("deal.after");
    shared.work.look(runs);
    shared.work.settle(given.iter().filter_map(|(row, _)| row.parent));
    Ok(())
}

fn no_item(id: TaskId) -> RpcError {
    RpcError::new(ErrorName::NotFound, format!("task {id} is no item of a job"))
}

/// Gives an item that waits to an agent by somebody's wish.
pub(crate) async fn assign(
    shared: &Arc<Shared>,
    id: TaskId,
    agent: AgentId,
    origin: &Origin,
) -> Result<(), RpcError> {
    let _held = shared.work.changing.lock().await;
    let row = shared.record.look_up(|reader| reader.task(&id))?.ok_or_else(|| no_item(id))?;
    job_of(shared, &row)?.ok_or_else(|| no_item(id))?;
    let live = shared.record.look_up(|reader| reader.live_run(&id))?;
    if live.is_some() || !matches!(row.state, TaskState::Queued | TaskState::Retrying) {
        let what = format!("item {id} does not wait for an agent: it is {}", row.state);
        return Err(RpcError::new(ErrorName::InvalidState, what));
    }
    give(shared, &[(row, agent)], origin).await
}

/// Makes what came of an item durable, once. Says whether it was there already.
pub(crate) async fn report(shared: &Arc<Shared>, said: Report, origin: &Origin) -> Result<bool, RpcError> {
    let _held = shared.work.changing.lock().await;
    let id = said.item;
    let item = shared.record.look_up(|reader| reader.job_item(&id))?.ok_or_else(|| no_item(id))?;
    let job = job_of(shared, &item.task)?.ok_or_else(|| no_item(id))?;
    if job.report == JobReport::Turn {
        let what = format!("what came of item {id} is what its agent's turn comes to");
        return Err(RpcError::new(ErrorName::InvalidState, what)
            .hint("only the items of a job that was made with `report: explicit` are reported"));
    }
    let holds = |run: &RunRow| {
        said.run.is_none_or(|id| id == run.id) && said.by.is_none_or(|agent| agent == run.started.agent_id)
    };
    let fenced = |what: String| {
        Err(RpcError::new(ErrorName::Fenced, what).hint("only the run that holds an item reports, and once"))
    };
    let mut draft = Draft::default();
    let (result_digest, result_bytes) = draft.body(said.result);
    if let Some(known) = &item.report {
        let known = &known.reported;
        let is_same = known.result_digest == result_digest && known.output_id == said.output_id;
        if is_same && item.run.as_ref().is_some_and(|run| run.id == known.run_id && holds(run)) {
            return Ok(true);
        }
        return fenced(format!("item {id} is reported already, by run {}", known.run_id));
    }
    let live = item.run.as_ref().filter(|run| !run.state.is_over());
    let Some(run) = live else { return fenced(format!("no run works on item {id}")) };
    if !holds(run) {
        return fenced(format!("item {id} is held by run {} of agent {}", run.id, run.started.agent_id));
    }
    let (run_id, output_id) = (run.id, said.output_id);
    let reported = JobItemReported { task_id: id, run_id, result_digest, result_bytes, output_id };
    let facts = vec![Fact::JobItemReported(reported)];
    let change = Change { input: Some(Input::Complete), facts, reason: said.reason, by_run: Some(run_id) };
    apply_with(shared, &item.task, (draft, change), origin).await?;
    Ok(false)
}

/// Whether an item that waits in its agent's inbox has to be given back: its agent will not take it by itself.
pub(super) fn is_stranded(shared: &Shared, run: &RunRow, story: &TaskStory) -> Result<bool, RpcError> {
    if job_of(shared, &story.row)?.is_none() {
        return Ok(false);
    }
    let agent = run.started.agent_id;
    let row = shared.record.look_up(|reader| reader.agent_by_id(&agent))?;
    let phase = row.map_or(Phase::Retired, |row| row.phase);
    Ok(matches!(
        phase,
        Phase::Declared | Phase::Stopped | Phase::Failed | Phase::Quarantined | Phase::Retired
    ))
}

/// Whether a run ended its turn whose item has to be reported and is not.
pub(super) fn is_silent(shared: &Shared, story: &TaskStory) -> Result<bool, RpcError> {
    let is_explicit = job_of(shared, &story.row)?.is_some_and(|job| job.report == JobReport::Explicit);
    if !is_explicit || story.row.state == TaskState::Completed {
        return Ok(false);
    }
    let item = shared.record.look_up(|reader| reader.job_item(&story.row.id))?;
    Ok(item.is_some_and(|item| item.report.is_none()))
}

/// Who may have got something to do by a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wakes {
    Nobody,
    /// Jobs: an agent may be idle now.
    Jobs,
    /// The same, as soon as the agent's engine knows of it.
    JobsSoon,
}

pub(super) fn wakes(fact: &Fact) -> Wakes {
    match fact {
        Fact::AgentStarted { .. }
        | Fact::AgentAdopted { .. }
        | Fact::AgentThawed { .. }
        | Fact::RunEnded(_)
        | Fact::AgentStopped {}
        | Fact::AgentFailed { .. }
        | Fact::AgentRetired { .. }
        | Fact::CapabilityRegistered(_) => Wakes::Jobs,
        Fact::AgentDeclared { .. } | Fact::AgentUpdated { .. } => Wakes::JobsSoon,
        _ => Wakes::Nobody,
    }
}

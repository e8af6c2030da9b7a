//! What follows from how a child, its task and its parent stand: where it is said to be, that it is to end, that it has.

use std::sync::Arc;

use edgeplane_lifecycle::task::Input;
use edgeplane_store::{AgentRow, SubagentRow, TaskRow};
use edgeplane_types::{
    Desired, ErrorName, Fact, OnParentExit, Phase, StreamName, SubagentStatus, TaskState, Tenant,
    fact::{SubagentClosed, SubagentMoved, TaskCancelRequested},
};
use edgeplane_wire::rpc::RpcError;

use super::{RULE, again_later, close};
use crate::{
    agent::{Command, LifeRequest},
    record::{Draft, Origin, refused},
    shared::Shared,
    work::{self, Change, Fence},
};

/// What is known of a child at one moment.
struct Standing {
    row: SubagentRow,
    agent: AgentRow,
    parent: Option<AgentRow>,
    task: Option<TaskRow>,
}

/// Brings about what follows from how a child stands. Gives it as it is then.
pub(super) async fn settle(
    shared: &Arc<Shared>,
    id: edgeplane_types::AgentId,
) -> Result<Option<SubagentRow>, RpcError> {
    let held = shared.subagents.changing.lock().await;
    let Some(standing) = standing(shared, id)? else { return Ok(None) };
    if standing.row.closed_at.is_some() {
        return Ok(Some(standing.row));
    }
    if standing.agent.phase == Phase::Retired {
        closed(shared, &standing).await?;
    } else if standing.row.closing.is_some() {
        end(shared, &standing).await?;
    } else if let Some((outcome, reason)) = is_to_end(&standing) {
        // What it came to is durable before anything is done about it.
        moved(shared, &standing).await?;
        close::begin(shared, &standing.row, (outcome, &reason), close::Reach::Bound, &Origin::node(RULE))
            .await?;
    } else {
        moved(shared, &standing).await?;
        drop(held);
        give_up(shared, &standing).await?;
    }
    shared.record.look_up(|reader| reader.subagent(&id))
}

fn standing(shared: &Shared, id: edgeplane_types::AgentId) -> Result<Option<Standing>, RpcError> {
    shared.record.look_up(|reader| {
        let Some(row) = reader.subagent(&id)? else { return Ok(None) };
        let Some(agent) = reader.agent_by_id(&id)? else { return Ok(None) };
        let parent = reader.agent_by_id(&row.parent)?;
        let task = match &row.spawned.task_id {
            Some(task) => reader.task(task)?,
            None => None,
        };
        Ok(Some(Standing { row, agent, parent, task }))
    })
}

/// Whether an agent has ended for its children. One that is begun again in the same step has not.
pub(super) fn has_ended(agent: &AgentRow) -> bool {
    matches!(agent.phase, Phase::Stopped | Phase::Failed | Phase::Retired)
}

/// With what outcome and why a child is to end by itself, if it is.
fn is_to_end(standing: &Standing) -> Option<(SubagentStatus, String)> {
    if let Some(task) = &standing.task
        && (task.state.is_over() || task.state == TaskState::Lost)
    {
        let outcome = match task.state {
            TaskState::Completed | TaskState::Archived => SubagentStatus::Completed,
            TaskState::Cancelled => SubagentStatus::Cancelled,
            _ => SubagentStatus::Failed,
        };
        return Some((outcome, format!("its task is {}", task.state)));
    }
    let bound = standing.row.spawned.on_parent_exit == OnParentExit::Close;
    let why = match &standing.parent {
        Some(parent) if bound && has_ended(parent) => {
            format!("its parent `{}` is {}", parent.name, parent.phase)
        }
        _ => return None,
    };
    Some((close::outcome_of(standing.task.as_ref()), why))
}

/// Where a child is.
fn status_of(agent: &AgentRow, task: Option<&TaskRow>) -> (SubagentStatus, String) {
    use SubagentStatus as S;
    use TaskState as T;
    let Some(task) = task else {
        let status = match agent.phase {
            Phase::Declared | Phase::Starting => S::Queued,
            Phase::Running | Phase::Hibernated => S::Running,
            Phase::Failed => S::Failed,
            Phase::Retired => S::Closed,
            Phase::Frozen
            | Phase::Stopping
            | Phase::Backoff
            | Phase::Unobservable
            | Phase::Stopped
            | Phase::Quarantined => S::Blocked,
        };
        return (status, format!("its agent is {}", agent.phase));
    };
    let status = match task.state {
        T::Draft | T::Accepted | T::Queued | T::Preparing | T::Retrying => S::Queued,
        T::Running | T::Cancelling => S::Running,
        T::WaitingInput
        | T::WaitingPermission
        | T::WaitingResource
        | T::Blocked
        | T::Paused
        | T::Stale
        | T::Unknown => S::Blocked,
        T::Completed | T::Archived => S::Completed,
        T::Cancelled => S::Cancelled,
        T::TimedOut | T::Failed | T::Lost => S::Failed,
    };
    (status, format!("its task is {}", task.state))
}

/// Makes it durable that a child is somewhere else than before.
async fn moved(shared: &Arc<Shared>, standing: &Standing) -> Result<(), RpcError> {
    let (status, reason) = status_of(&standing.agent, standing.task.as_ref());
    let row = &standing.row;
    // What a stopped and a suspended one are called is the same; that it changed is told.
    if row.status == status && (status != SubagentStatus::Blocked || row.reason.as_ref() == Some(&reason)) {
        return Ok(());
    }
    let fact = Fact::SubagentMoved(SubagentMoved { subagent_id: row.id, status, reason });
    commit(shared, row, fact).await
}

async fn commit(shared: &Arc<Shared>, row: &SubagentRow, fact: Fact) -> Result<(), RpcError> {
    let mut draft = Draft::default();
    shared.record.add(&mut draft, StreamName::Agent(row.parent), &Origin::node(RULE), fact);
    shared.record.commit(draft).await.map(drop).map_err(|error| refused(&error))
}

/// Fails the task of a child whose program does not run any more by itself: nobody else would ever do it.
async fn give_up(shared: &Arc<Shared>, standing: &Standing) -> Result<(), RpcError> {
    let (agent, Some(task)) = (&standing.agent, &standing.task) else { return Ok(()) };
    let by_itself = agent.phase == Phase::Stopped && agent.desired == Desired::Running;
    if !by_itself && agent.phase != Phase::Failed {
        return Ok(());
    }
    let was_told = shared.record.look_up(|reader| {
        let Some(run) = reader.live_run(&task.id)? else { return Ok(false) };
        let message = reader.message(&work::message_of(run.id))?;
        Ok(message.is_some_and(|message| !message.waiting))
    })?;
    if was_told {
        // How its turn ended is read by whoever looks after runs; it may have been well.
        return Ok(());
    }
    let why = agent.last_reason.clone().unwrap_or_else(|| "it ended by itself".to_owned());
    let reason = format!("the program of subagent `{}` does not run: {why}", agent.name);
    let change = Change { input: Some(Input::Fail), facts: Vec::new(), reason, by_run: None };
    let failed = work::change(shared, task.id, Fence::default(), change, &Origin::node(RULE)).await;
    match failed {
        // It is over by now, or is ending anyhow.
        Err(error) if error.name() == ErrorName::InvalidState => Ok(()),
        other => other,
    }
}

/// Ends a child that is to end, as soon as those under it that are to end have.
async fn end(shared: &Arc<Shared>, standing: &Standing) -> Result<(), RpcError> {
    let row = &standing.row;
    let Some(closing) = &row.closing else { return Ok(()) };
    let children = shared.record.look_up(|reader| reader.subagents_of(&row.id, false, super::PAGE))?;
    if children.iter().any(|child| child.closing.is_some()) {
        return Ok(());
    }
    if let Some(task) = standing.task.as_ref().filter(|task| !task.state.is_over() && !task.is_cancelled) {
        cancel(shared, task, &closing.reason).await?;
    }
    if standing.agent.desired == Desired::Retired {
        return Ok(());
    }
    shared.failpoint("subagent.ending");
    let Ok(handle) = shared.agent(&Tenant::default(), &row.id.to_string()) else { return Ok(()) };
    let (shared, reason) = (Arc::clone(shared), closing.reason.clone());
    let tasks = shared.tasks.clone();
    // Its engine may be busy for a while, and nobody else is to wait for that.
    tasks.spawn(async move {
        let request = LifeRequest::new(edgeplane_lifecycle::Input::Retire, Some(reason));
        let asked = handle.ask(|reply| Command::Life(request, Origin::node(RULE), reply)).await;
        match asked.and_then(|done| done) {
            Ok(_) => {}
            // What it is in ends at some time, and that is heard.
            Err(error) if error.name() == ErrorName::InvalidState => {
                tracing::warn!(subagent = %handle.name, %error, "it cannot be retired yet");
            }
            Err(error) => {
                tracing::warn!(subagent = %handle.name, %error, "it could not be retired; it is tried again later");
                again_later(&shared, handle.id);
            }
        }
    });
    Ok(())
}

async fn cancel(shared: &Arc<Shared>, task: &TaskRow, reason: &str) -> Result<(), RpcError> {
    let asked = TaskCancelRequested { task_id: task.id, reason: reason.to_owned() };
    let change = Change {
        input: Some(Input::Cancel),
        facts: vec![Fact::TaskCancelRequested(asked)],
        reason: reason.to_owned(),
        by_run: None,
    };
    match work::change(shared, task.id, Fence::default(), change, &Origin::node(RULE)).await {
        // It has ended meanwhile.
        Err(error) if error.name() == ErrorName::InvalidState => Ok(()),
        other => other,
    }
}

/// A child is retired: recorded once, with what it came to.
async fn closed(shared: &Arc<Shared>, standing: &Standing) -> Result<(), RpcError> {
    let row = &standing.row;
    let (outcome, reason) = match (&row.closing, is_to_end(standing)) {
        (Some(closing), _) => (closing.outcome, closing.reason.clone()),
        (None, Some(found)) => found,
        (None, None) => (close::outcome_of(standing.task.as_ref()), "its agent was retired".to_owned()),
    };
    if row.closing.is_none()
        && let Some(task) = standing.task.as_ref().filter(|task| !task.state.is_over())
    {
        cancel(shared, task, &reason).await?;
    }
    shared.failpoint("subagent.closing");
    commit(shared, row, Fact::SubagentClosed(SubagentClosed { subagent_id: row.id, outcome, reason })).await
}

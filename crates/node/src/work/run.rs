//! Runs: one message to one agent each, with the run's UUID.
//!
//! That a run is admitted is durable before its message is said, and the message has the run's UUID. So whoever looks at
//! it after a crash says the same message, and it is accepted once. How the run goes is read from the message.

use std::{sync::Arc, time::Duration};

use edgeplane_lifecycle::task::{End, Input, Waiting};
use edgeplane_store::{ActionFilter, MessageRow, RunRow, TaskRow, TaskStory};
use edgeplane_types::{
    Channel, ErrorName, Fact, Ingress, MessageId, OutputId, Part, Phase, RunId, RunLimit, RunState,
    TaskState, Tenant, TurnId,
    fact::{Actor, RunBegun, RunEnded},
};
use edgeplane_wire::{
    api::conversation::turn::{QueueFate, TurnState, TurnView},
    rpc::RpcError,
};

use super::{
    change::{Change, apply},
    jobs,
    settle::RULE,
    trial,
};
use crate::{
    admission::{self, Saying},
    agent::{AgentHandle, Command, TurnRequest},
    caller::{Caller, CallingAgent, Living as _},
    record::{Origin, chain},
    server,
    shared::Shared,
};

/// Actions of an agent among which one of a run is looked for.
const ACTIONS_MAX: usize = 200;

/// The message of a run.
pub(crate) fn message_of(run: RunId) -> MessageId {
    MessageId::from_bytes(*run.as_bytes())
}

fn turn_of(run: RunId) -> TurnId {
    TurnId::from_bytes(*run.as_bytes())
}

/// Looks how a run goes, and brings about what follows. Gives the run as it is then.
pub(super) async fn look(shared: &Arc<Shared>, id: RunId) -> Result<Option<RunRow>, RpcError> {
    let Some(row) = shared.record.look_up(|reader| reader.run(&id))? else { return Ok(None) };
    if row.state.is_over() {
        return Ok(Some(row));
    }
    let task = row.started.task_id;
    let Some(story) = shared.record.look_up(|reader| reader.task_story(&task))? else { return Ok(None) };
    let message = message_of(id);
    match shared.record.look_up(|reader| reader.message(&message))? {
        None if is_unwanted(story.row.state) => {
            end(shared, &row, (RunState::Cancelled, "its task was not to be begun any more"), None).await?;
        }
        None => say_in_background(shared, row, story),
        Some(found) => follow(shared, &row, &story, &found).await?,
    }
    shared.record.look_up(|reader| reader.run(&id))
}

fn is_unwanted(state: TaskState) -> bool {
    state.is_over() || matches!(state, TaskState::Paused | TaskState::Cancelling)
}

/// Says a run's message. Its agent may be slow to take it, so nobody waits here.
fn say_in_background(shared: &Arc<Shared>, row: RunRow, story: TaskStory) {
    let shared = Arc::clone(shared);
    let tasks = shared.tasks.clone();
    tasks.spawn(async move {
        let Err(error) = Box::pin(say(&shared, &row, &story)).await else {
            shared.work.look([row.id]);
            return;
        };
        let is_final = matches!(
            error.name(),
            ErrorName::PolicyBlocked
                | ErrorName::NotFound
                | ErrorName::InvalidParams
                | ErrorName::InvalidState
                | ErrorName::Unsupported
                | ErrorName::Conflict
                | ErrorName::TooLarge
        );
        let ended = match is_final {
            true => {
                let why = format!("it could not be put to its agent: {}", error.message);
                end(&shared, &row, (RunState::Failed, &why), None).await
            }
            false => Err(error),
        };
        if let Err(error) = ended {
            tracing::warn!(run = %row.id, error = chain(&error), "it is not put to its agent yet");
            super::again_later(&shared, move |shared| shared.work.look([row.id]));
        }
    });
}

async fn say(shared: &Arc<Shared>, row: &RunRow, story: &TaskStory) -> Result<(), RpcError> {
    let target = agent(shared, row)?;
    let plan = &story.plan;
    let objective = shared.record.look_up(|reader| {
        let Ok(digest) = plan.objective_digest.parse() else { return Ok(None) };
        reader.body(&digest)
    })?;
    let Some(edgeplane_store::StoredBody::Bytes(objective)) = objective else {
        return Err(RpcError::new(ErrorName::NotFound, "what is to be done was erased"));
    };
    let objective = String::from_utf8_lossy(&objective);
    // What a trial is told is the same in each: nothing of the node's is put before it.
    let text = match trial::is_trial(shared, story.row.id)? {
        true => objective.into_owned(),
        false => told(row, story, &objective),
    };
    let caller = speaker(shared, story);
    let saying = Saying {
        channel: caller.agent.is_none().then_some(Channel::Workflow),
        priority: plan.priority,
        thread: plan.thread,
        message_id: Some(message_of(row.id)),
        causation: story.created.causation,
        at_most: Some(story.created.authority),
        trace: None,
        ..Saying::plain(vec![Part::Text { text }], Ingress::Task)
    };
    let mut admitted = admission::admit(shared, &caller, &target, saying)?;
    admitted.actor = story.by.clone();
    shared.failpoint("run.saying");
    target.ask(|reply| Command::Signal(Box::new(admitted), reply)).await?.map(drop)
}

/// As whom a run's message is said: as the agent that wants the task done, or by the node for whoever else does.
fn speaker(shared: &Shared, story: &TaskStory) -> Caller {
    if let Actor::Agent { agent_id, name } = &story.by {
        let own = name.as_str().parse().ok().zip(story.created.epoch);
        if let Some((name, epoch)) = own {
            return Caller::driver(CallingAgent { id: *agent_id, name, epoch }, shared.assurance());
        }
    }
    Caller::node(story.by.name().clone(), RULE, shared.assurance())
}

/// What an agent is told of a run.
fn told(row: &RunRow, story: &TaskStory, objective: &str) -> String {
    let plan = &story.plan;
    let mut text = format!("Task {}: {}\n", story.row.id, plan.title);
    if row.started.attempt > 1 {
        text.push_str(&format!("Attempt {}: {}\n", row.started.attempt, row.started.reason));
    }
    text.push('\n');
    text.push_str(objective.trim_end());
    text.push('\n');
    if !plan.acceptance.is_empty() {
        text.push_str("\nIt is done when:\n");
        for (number, criterion) in plan.acceptance.iter().enumerate() {
            text.push_str(&format!("{number}. {criterion}\n"));
        }
        text.push_str(&format!(
            "Say which of them are true with `edgeplane task complete {} --accepted NUMBER`.\n",
            story.row.id
        ));
    }
    text
}

fn agent(shared: &Shared, row: &RunRow) -> Result<AgentHandle, RpcError> {
    shared.agent(&Tenant::default(), &row.started.agent_id.to_string())
}

/// What follows from how far the message of a run has come.
async fn follow(
    shared: &Arc<Shared>,
    row: &RunRow,
    story: &TaskStory,
    message: &MessageRow,
) -> Result<(), RpcError> {
    let turn = server::turn_of_message(shared, message)?;
    let why = turn.reason.clone().unwrap_or_default();
    let is_asked = turn.interrupt.is_some() || is_unwanted(story.row.state);
    match turn.state {
        TurnState::Queued if jobs::is_stranded(shared, row, story)? => {
            ask_for_end(shared, row, jobs::GIVEN_BACK).await
        }
        TurnState::Queued => Ok(()),
        TurnState::Running | TurnState::Unknown => begun(shared, row, story, message).await,
        TurnState::Completed => {
            let output = turn.output.map(|output| output.output_id);
            end(shared, row, (RunState::Completed, "its agent ended its turn"), output).await
        }
        TurnState::Interrupted | TurnState::Failed => {
            let state = match interrupted(shared, message, &turn)? {
                Interrupted::GoesOn => return Ok(()),
                Interrupted::InDoubt => RunState::Lost,
                Interrupted::Over if turn.state == TurnState::Interrupted && is_asked => RunState::Cancelled,
                Interrupted::Over => RunState::Failed,
            };
            let output = turn.output.map(|output| output.output_id);
            end(shared, row, (state, &why), output).await
        }
        TurnState::Ambiguous => end(shared, row, (RunState::Lost, &why), None).await,
        TurnState::Rejected if message.dropped.is_some() && why == jobs::GIVEN_BACK => {
            end(shared, row, (RunState::Failed, jobs::GIVEN_BACK), None).await
        }
        TurnState::Rejected if is_asked || message.dropped.is_some() => {
            end(shared, row, (RunState::Cancelled, &why), None).await
        }
        TurnState::Rejected | TurnState::Expired => end(shared, row, (RunState::Failed, &why), None).await,
    }
}

/// What is known of a turn that its program did not end.
enum Interrupted {
    /// Its agent takes it up again.
    GoesOn,
    /// Processes of its agent may work on it still.
    InDoubt,
    /// Nobody works on it any more.
    Over,
}

fn interrupted(shared: &Shared, message: &MessageRow, turn: &TurnView) -> Result<Interrupted, RpcError> {
    if turn.ended_at.is_some() {
        return Ok(Interrupted::Over);
    }
    let id = message.addressed;
    let Some(handle) = shared.agent_by_id(id) else { return Ok(Interrupted::Over) };
    let agent = shared.record.look_up(|reader| reader.agent_by_id(&id))?;
    let phase = agent.map_or(Phase::Retired, |agent| agent.phase);
    let found = match phase {
        Phase::Quarantined => Interrupted::InDoubt,
        Phase::Retired | Phase::Failed => Interrupted::Over,
        Phase::Starting | Phase::Backoff | Phase::Stopping | Phase::Unobservable => Interrupted::GoesOn,
        Phase::Declared | Phase::Stopped | Phase::Hibernated | Phase::Running | Phase::Frozen => {
            // It is given to the next epoch with that epoch's beginning, where the manifest says so.
            let id = message.envelope.id;
            let message = shared.record.look_up(|reader| reader.message(&id))?;
            let is_settled = message.is_none_or(|message| !message.waiting);
            let is_live = matches!(phase, Phase::Running | Phase::Frozen);
            match handle.profile().retries_turns && !is_live || !is_settled {
                true => Interrupted::GoesOn,
                false => Interrupted::Over,
            }
        }
    };
    Ok(found)
}

/// Whether a run is over, also one that is only a turn: of a turn that was begun for no task nothing else is written down.
pub(crate) fn is_run_over(shared: &Shared, id: RunId) -> Result<bool, RpcError> {
    if let Some(row) = shared.record.look_up(|reader| reader.run(&id))? {
        return Ok(row.state.is_over());
    }
    let message = message_of(id);
    let Some(message) = shared.record.look_up(|reader| reader.message(&message))? else { return Ok(true) };
    let turn = server::turn_of_message(shared, &message)?;
    Ok(match turn.state {
        TurnState::Queued | TurnState::Running | TurnState::Unknown => false,
        TurnState::Interrupted | TurnState::Failed => {
            !matches!(interrupted(shared, &message, &turn)?, Interrupted::GoesOn)
        }
        TurnState::Completed | TurnState::Ambiguous | TurnState::Rejected | TurnState::Expired => true,
    })
}

/// A run's program has its message.
async fn begun(
    shared: &Arc<Shared>,
    row: &RunRow,
    story: &TaskStory,
    message: &MessageRow,
) -> Result<(), RpcError> {
    if is_unwanted(story.row.state) && !story.row.state.is_over() {
        return end_live(shared, &story.row, "its task is not to be worked on any more").await;
    }
    let (agent, id) = (row.started.agent_id, message_of(row.id));
    let waits = shared
        .record
        .look_up(|reader| reader.actions(ActionFilter::Pending, Some(&agent), ACTIONS_MAX))?
        .iter()
        .any(|action| action.action.causation == Some(id));
    let held = shared.work.changing.lock().await;
    let task = row.started.task_id;
    let Some(now) = shared.record.look_up(|reader| reader.task(&task))? else { return Ok(()) };
    let is_new = row.begun_at.is_none();
    let fact = RunBegun { run_id: row.id, task_id: task, epoch: message.epoch };
    let facts = if is_new { vec![Fact::RunBegun(fact)] } else { Vec::new() };
    let (input, reason) = match now.state {
        TaskState::Preparing if !waits => (Some(Input::Begin), "its agent works on it"),
        TaskState::Preparing | TaskState::Running if waits => {
            (Some(Input::Wait(Waiting::Permission)), "its agent waits for leave")
        }
        TaskState::WaitingPermission if !waits => (Some(Input::Continue), "its agent goes on"),
        _ => (None, ""),
    };
    if facts.is_empty() && input.is_none() {
        return Ok(());
    }
    let change = Change { input, facts, reason: reason.to_owned(), by_run: Some(row.id) };
    apply(shared, &now, change, &Origin::node(RULE)).await?;
    drop(held);
    Ok(())
}

/// A run has ended: recorded once, together with what follows for its task.
pub(super) async fn end(
    shared: &Arc<Shared>,
    row: &RunRow,
    (state, reason): (RunState, &str),
    output_id: Option<OutputId>,
) -> Result<(), RpcError> {
    end_as(shared, row, (state, reason, None), output_id).await
}

async fn end_as(
    shared: &Arc<Shared>,
    row: &RunRow,
    (state, reason, limit): (RunState, &str, Option<RunLimit>),
    output_id: Option<OutputId>,
) -> Result<(), RpcError> {
    let _held = shared.work.changing.lock().await;
    let (run, task) = (row.id, row.started.task_id);
    let is_over = shared.record.look_up(|reader| reader.run(&run))?.is_none_or(|row| row.state.is_over());
    let story = shared.record.look_up(|reader| reader.task_story(&task))?;
    let Some(story) = story.filter(|_| !is_over) else { return Ok(()) };
    let again = story.row.attempts < story.plan.attempts_max;
    let (state, reason) = match state {
        RunState::Completed if jobs::is_silent(shared, &story)? => (RunState::Failed, jobs::SILENT),
        _ => (state, reason),
    };
    let how = match state {
        RunState::Completed => End::Done { accepted: is_accepted(&story) },
        RunState::Failed => End::Failed { again },
        RunState::TimedOut => End::TimedOut { again },
        RunState::Cancelled => End::Cancelled,
        RunState::Lost | RunState::Preparing | RunState::Running => End::Lost,
    };
    let reason = reason.to_owned();
    let ended = RunEnded { run_id: run, task_id: task, state, reason: reason.clone(), output_id, limit };
    let reason = match how {
        End::Done { accepted: false } => "somebody has to accept what came of it".to_owned(),
        _ => reason,
    };
    let mut facts = trial::ended(shared, &ended, story.row.state)?;
    facts.insert(0, Fact::RunEnded(ended));
    let change = Change { input: Some(Input::Ended(how)), facts, reason, by_run: Some(run) };
    apply(shared, &story.row, change, &Origin::node(RULE)).await
}

/// Whether all that must be true before a task is completed is.
pub(crate) fn is_accepted(story: &TaskStory) -> bool {
    let said = story.progress.as_ref().map(|(progress, _)| progress.accepted.as_slice()).unwrap_or_default();
    (0..story.plan.acceptance.len())
        .all(|number| said.iter().any(|said| usize::try_from(*said) == Ok(number)))
}

/// Has the run that works on a task ended, if there is one.
pub(super) async fn end_live(shared: &Arc<Shared>, task: &TaskRow, reason: &str) -> Result<(), RpcError> {
    let id = task.id;
    match shared.record.look_up(|reader| reader.live_run(&id))? {
        Some(row) => ask_for_end(shared, &row, reason).await,
        None => Ok(()),
    }
}

/// Asks for the end of a run by somebody's wish.
pub(crate) async fn cancel(shared: &Arc<Shared>, row: &RunRow, reason: &str) -> Result<(), RpcError> {
    ask_for_end(shared, row, reason).await
}

/// Asks the agent of a run for the end of its turn, once. What was not said yet is not said any more.
async fn ask_for_end(shared: &Arc<Shared>, row: &RunRow, reason: &str) -> Result<(), RpcError> {
    let (message, turn) = (message_of(row.id), turn_of(row.id));
    if shared.record.look_up(|reader| reader.message(&message))?.is_none() {
        return end(shared, row, (RunState::Cancelled, reason), None).await;
    }
    if shared.record.look_up(|reader| reader.interrupt_of(&turn))?.is_some() {
        return Ok(());
    }
    let handle = match agent(shared, row) {
        Ok(handle) => handle,
        Err(_gone) => return end(shared, row, (RunState::Lost, "its agent is no more"), None).await,
    };
    let (shared, row, reason) = (Arc::clone(shared), row.clone(), reason.to_owned());
    let tasks = shared.tasks.clone();
    tasks.spawn(async move {
        let request = TurnRequest::Interrupt { turn, reason: reason.clone(), queued: QueueFate::Keep };
        let asked = handle.ask(|reply| Command::Turn(request, Origin::node(RULE), reply)).await;
        let ended = match asked.and_then(|done| done) {
            Ok(_) => Ok(()),
            Err(error) if error.name() == ErrorName::Unsupported => {
                let why = format!("{reason}; its terminal cannot be told, so it may go on");
                end(&shared, &row, (RunState::Lost, &why), None).await
            }
            Err(error) => Err(error),
        };
        match ended {
            Ok(()) => shared.work.look([row.id]),
            Err(error) => {
                tracing::warn!(run = %row.id, error = chain(&error), "it could not be asked to end");
                super::again_later(&shared, move |shared| shared.work.settle([row.started.task_id]));
            }
        }
    });
    Ok(())
}

/// How long a run may go on, if it has begun and is bounded; nothing, if its time is over.
pub(super) fn time_left(shared: &Shared, row: &RunRow) -> Option<Duration> {
    let (begun, limit) = (row.begun_at?, row.started.limits.wall_ms?);
    let passed = shared.record.now().as_micros().saturating_sub(begun.as_micros());
    let passed = u64::try_from(passed).unwrap_or(0) / 1_000;
    Some(Duration::from_millis(limit.saturating_sub(passed)))
}

/// Ends a run whose time is over.
pub(super) async fn time_out(shared: &Arc<Shared>, row: &RunRow) -> Result<(), RpcError> {
    let limit = row.started.limits.wall_ms.unwrap_or_default();
    let why = format!("it took longer than {limit} ms");
    end_by_limit(shared, row, (RunState::TimedOut, &why, RunLimit::WallTime)).await
}

/// Ends a run that has passed one of its limits.
pub(super) async fn end_by_limit(
    shared: &Arc<Shared>,
    row: &RunRow,
    (state, why, limit): (RunState, &str, RunLimit),
) -> Result<(), RpcError> {
    ask_for_end(shared, row, why).await?;
    end_as(shared, row, (state, why, Some(limit)), None).await
}

//! Turns that were begun for no task: each has a task and a run of its own UUID, of which nothing is written down.
//!
//! Both are read from the turn. A turn that is bounded has them written down with its message, so that the engine that ends
//! runs knows of it.

use edgeplane_store::{MessageRow, StoredBody};
use edgeplane_types::{
    AgentId, ErrorName, Part, RunId, RunLimits, RunState, SafeLabel, TaskId, TaskState, Timestamp, TurnId,
    fact::{TaskCreated, TaskPlan},
    work::Visibility,
};
use edgeplane_wire::{
    api::{
        conversation::turn::{TurnState, TurnView},
        work::{RunView, TaskDetail, TaskView},
    },
    rpc::RpcError,
};

use super::{super::conversation::turns, Session, origin, view::bindings_of};
use crate::{
    admission::{self, Admitted},
    record::Draft,
    work,
};

/// What such a task is by kind.
const KIND: &str = "turn";

/// Longest title in bytes.
const TITLE_BYTES_MAX: usize = 120;

/// The task and the run of a turn that is bounded, as they become durable with its message.
pub(in crate::server::methods) fn written_down(
    session: &Session,
    admitted: &Admitted,
    (agent, limits): (AgentId, RunLimits),
) -> Draft {
    let saying = &admitted.saying;
    let id = saying.message_id.unwrap_or_else(|| session.shared.record.mint().id());
    let task_id = TaskId::from_bytes(*id.as_bytes());
    let objective = text_of(&saying.parts);
    let plan = TaskPlan {
        title: title_of(&objective),
        objective_digest: String::new(),
        objective_bytes: 0,
        assignee: Some(agent),
        thread: saying.thread,
        priority: saying.priority,
        labels: std::collections::BTreeMap::new(),
        acceptance: Vec::new(),
        limits,
        attempts_max: 1,
    };
    let created = TaskCreated {
        task_id,
        root_id: task_id,
        parent_id: None,
        kind: Some(SafeLabel::sanitized(KIND)),
        visibility: Visibility::Foreground,
        plan,
        depends_on: Vec::new(),
        authority: admitted.authority,
        epoch: session.caller.agent.as_ref().map(|agent| agent.epoch),
        causation: admitted.causation,
        state: TaskState::Queued,
    };
    work::of_turn(&session.shared, (created, agent), objective.into_bytes(), &origin(session))
}

/// What was said, for people.
fn text_of(parts: &[Part]) -> String {
    let one = |part: &Part| match part {
        Part::Text { text } => text.clone(),
        Part::Data { data, .. } => data.to_string(),
        Part::Reference { uri, .. } => uri.clone(),
    };
    parts.iter().map(one).collect::<Vec<_>>().join("\n")
}

/// The first line of what was said, cut.
fn title_of(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("a turn");
    let end = line.floor_char_boundary(TITLE_BYTES_MAX);
    let cut = line.get(..end).unwrap_or(line);
    let title = admission::shown_name(cut);
    if cut.len() < line.len() { format!("{title}…") } else { title }
}

/// The message of a turn that nothing is written down of as a task, for those who may see it.
fn message(session: &Session, id: TaskId) -> Option<MessageRow> {
    turns::row_of(session, TurnId::from_bytes(*id.as_bytes())).ok()
}

/// Why a task that is only a turn cannot be changed; nothing if there is none.
pub(super) fn unchangeable(session: &Session, id: TaskId) -> Option<RpcError> {
    message(session, id)?;
    let turn = TurnId::from_bytes(*id.as_bytes());
    let what = format!("no task {id} is written down: it is turn {turn} and nothing besides");
    Some(
        RpcError::new(ErrorName::NotFound, what)
            .hint("`conversation/turn.interrupt` ends it; `runtime/task.create` writes a task down"),
    )
}

/// Where a task is whose only run is this turn.
fn state_of(turn: &TurnView) -> (TaskState, RunState) {
    match turn.state {
        TurnState::Queued => (TaskState::Queued, RunState::Preparing),
        TurnState::Running | TurnState::Unknown => (TaskState::Running, RunState::Running),
        TurnState::Completed => (TaskState::Completed, RunState::Completed),
        TurnState::Interrupted if turn.interrupt.is_none() => (TaskState::Failed, RunState::Failed),
        TurnState::Interrupted => (TaskState::Cancelled, RunState::Cancelled),
        TurnState::Rejected if turn.interrupt.is_some() => (TaskState::Cancelled, RunState::Cancelled),
        TurnState::Failed | TurnState::Rejected | TurnState::Expired => (TaskState::Failed, RunState::Failed),
        TurnState::Ambiguous => (TaskState::Lost, RunState::Lost),
    }
}

/// Such a task with its one run, for those who may see its turn.
pub(super) fn detail(session: &Session, id: TaskId) -> Result<Option<TaskDetail>, RpcError> {
    let Some(row) = message(session, id) else { return Ok(None) };
    let turn = turns::shown(session, &row)?;
    let digest = row.envelope.content_digest.parse();
    let content = match digest {
        Ok(digest) => session.shared.record.look_up(|reader| reader.body(&digest))?,
        Err(_) => None,
    };
    let said = match content {
        Some(StoredBody::Bytes(bytes)) => serde_json::from_slice::<Vec<Part>>(&bytes).ok(),
        Some(StoredBody::Erased { .. }) | None => None,
    };
    let objective = said.as_deref().map(text_of);
    let run = run_of(session, &row, &turn)?;
    let (state, _) = state_of(&turn);
    let task = TaskView {
        task_id: id,
        root_id: id,
        parent_id: None,
        title: title_of(objective.as_deref().unwrap_or_default()),
        state,
        reason: turn.reason.clone(),
        agent: Some(turn.agent.clone()),
        agent_id: Some(row.envelope.target),
        thread_id: row.envelope.thread,
        kind: Some(SafeLabel::sanitized(KIND)),
        visibility: Visibility::Foreground,
        priority: row.envelope.priority,
        labels: std::collections::BTreeMap::new(),
        acceptance: Vec::new(),
        limits: RunLimits::default(),
        attempts: 1,
        attempts_max: 1,
        progress: None,
        run_id: (!turn.state.is_over()).then_some(turn.run_id),
        cancelled_because: turn.interrupt.as_ref().map(|asked| asked.reason.clone()),
        authority: row.envelope.authority,
        created_by: row.envelope.source.principal.clone(),
        created_at: run.started_at,
        moved_at: run.ended_at.or(run.begun_at).unwrap_or(run.started_at),
        version: turn.version,
    };
    Ok(Some(TaskDetail { task, objective, edges: Vec::new(), runs: vec![run] }))
}

/// The one run of such a task.
pub(super) fn run(session: &Session, id: RunId) -> Result<Option<RunView>, RpcError> {
    let Some(row) = message(session, TaskId::from_bytes(*id.as_bytes())) else { return Ok(None) };
    let turn = turns::shown(session, &row)?;
    run_of(session, &row, &turn).map(Some)
}

fn run_of(session: &Session, row: &MessageRow, turn: &TurnView) -> Result<RunView, RpcError> {
    let accepted = turn.accepted_at.or_else(|| row.receipts.first().map(|receipt| receipt.at));
    let (_, state) = state_of(turn);
    let (shared, run) = (&session.shared, turn.run_id);
    let is_over = work::is_run_over(shared, run)?;
    let bindings = shared.record.look_up(|reader| bindings_of(reader, run, is_over))?;
    Ok(RunView {
        run_id: turn.run_id,
        task_id: turn.task_id,
        turn_id: turn.turn_id,
        attempt: 1,
        agent: turn.agent.clone(),
        agent_id: row.envelope.target,
        state,
        output_id: turn.output.as_ref().map(|output| output.output_id),
        reason: turn.reason.clone().unwrap_or_else(|| "its turn was begun".to_owned()),
        limits: RunLimits::default(),
        bindings,
        started_at: accepted.unwrap_or_else(|| Timestamp::from_micros(0)),
        begun_at: turn.started_at,
        ended_at: turn.ended_at,
    })
}

//! Closing: that a child and those under it are to end is durable first, all of it in one step.

use std::sync::Arc;

use edgeplane_store::{ReadError, Reader, SubagentRow, TaskRow};
use edgeplane_types::{
    AgentId, ErrorName, Fact, OnParentExit, StreamName, SubagentStatus, TaskState, fact::SubagentClosing,
};
use edgeplane_wire::rpc::RpcError;

use crate::{
    record::{Draft, Origin, refused},
    shared::Shared,
};

/// Who ends together with a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Everybody under it.
    All,
    /// Those under it that are to end with their parents.
    Bound,
}

/// What a child comes to that is ended.
pub(super) fn outcome_of(task: Option<&TaskRow>) -> SubagentStatus {
    match task.map(|task| task.state) {
        None => SubagentStatus::Closed,
        Some(TaskState::Completed | TaskState::Archived) => SubagentStatus::Completed,
        Some(TaskState::Failed | TaskState::TimedOut | TaskState::Lost) => SubagentStatus::Failed,
        Some(_) => SubagentStatus::Cancelled,
    }
}

/// Has a child and everybody under it ended by somebody's wish. One that is on its way already goes on.
pub(crate) async fn close(
    shared: &Arc<Shared>,
    id: AgentId,
    reason: &str,
    origin: &Origin,
) -> Result<(), RpcError> {
    let _held = shared.subagents.changing.lock().await;
    let none = || RpcError::new(ErrorName::NotFound, format!("no subagent {id}"));
    let row = shared.record.look_up(|reader| reader.subagent(&id))?.ok_or_else(none)?;
    if row.closed_at.is_some() {
        return Ok(());
    }
    let task = match &row.spawned.task_id {
        Some(task) => shared.record.look_up(|reader| reader.task(task))?,
        None => None,
    };
    begin(shared, &row, (outcome_of(task.as_ref()), reason), Reach::All, origin).await
}

/// Makes it durable that a child is to end, and who with it. Whoever calls holds the lock.
pub(super) async fn begin(
    shared: &Arc<Shared>,
    row: &SubagentRow,
    (outcome, reason): (SubagentStatus, &str),
    reach: Reach,
    origin: &Origin,
) -> Result<(), RpcError> {
    let mut all = vec![(row.clone(), outcome, reason.to_owned())];
    shared.record.look_up(|reader| {
        let why = format!("subagent `{}`, under which it is, is closed", row.spawned.name);
        under(reader, row.id, reach, &mut |child, task| {
            all.push((child, outcome_of(task.as_ref()), why.clone()))
        })
    })?;
    let mut draft = Draft::default();
    for (row, outcome, reason) in all.iter().filter(|(row, ..)| row.closing.is_none()) {
        let fact = SubagentClosing { subagent_id: row.id, outcome: *outcome, reason: reason.clone() };
        let stream = StreamName::Agent(row.parent);
        shared.record.add(&mut draft, stream, origin, Fact::SubagentClosing(fact));
    }
    if !draft.is_empty() {
        shared.failpoint("subagent.close.before");
        // What ends something is never refused for want of space.
        shared.record.commit(draft.critical()).await.map_err(|error| refused(&error))?;
        shared.failpoint("subagent.close.after");
    }
    // The youngest generation is looked at first; the others wait for it.
    shared.subagents.look(all.iter().map(|(row, ..)| row.id));
    Ok(())
}

/// Goes through those under an agent that end with it.
fn under(
    reader: &Reader,
    id: AgentId,
    reach: Reach,
    found: &mut impl FnMut(SubagentRow, Option<TaskRow>),
) -> Result<(), ReadError> {
    let mut left = vec![id];
    while let Some(id) = left.pop() {
        for child in reader.subagents_of(&id, false, super::PAGE)? {
            if reach == Reach::Bound && child.spawned.on_parent_exit == OnParentExit::Keep {
                continue;
            }
            left.push(child.id);
            let task = match &child.spawned.task_id {
                Some(task) => reader.task(task)?,
                None => None,
            };
            found(child, task);
        }
    }
    Ok(())
}

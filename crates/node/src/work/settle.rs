//! What follows from how tasks stand: begun, blocked, ended, done by their parts.
//!
//! Everything is read from the record each time, so it does not matter why a task is looked at, how often, or by which
//! daemon.

use std::sync::Arc;

use edgeplane_lifecycle::task::{End, Input};
use edgeplane_store::TaskRow;
use edgeplane_types::{Fact, TaskId, TaskState, fact::TaskCancelRequested};
use edgeplane_wire::rpc::RpcError;

use super::{
    change::{Change, apply},
    run,
};
use crate::{record::Origin, shared::Shared};

/// By which rule tasks move by themselves.
pub(super) const RULE: &str = "tasks";

/// Brings about what follows from how a task stands, if anything does. Each move has it looked at again.
pub(super) async fn settle(shared: &Arc<Shared>, id: TaskId) -> Result<(), RpcError> {
    use TaskState as S;
    let held = shared.work.changing.lock().await;
    let Some(row) = shared.record.look_up(|reader| reader.task(&id))? else { return Ok(()) };
    match row.state {
        S::Queued | S::Retrying => {
            let waits_for = shared.record.look_up(|reader| reader.task_waits_for(&id))?;
            if let Some(other) = waits_for.filter(|_| row.state == S::Queued) {
                let why = format!("it depends on task {}, which is {}", other.id, other.state);
                return move_on(shared, &row, Input::Block, why).await;
            }
            if row.assignee.is_some() {
                return run::admit(shared, &row).await;
            }
            by_its_parts(shared, &row).await
        }
        S::Blocked => {
            if shared.record.look_up(|reader| reader.task_waits_for(&id))?.is_none() {
                return move_on(shared, &row, Input::Unblock, "what it depends on is completed").await;
            }
            Ok(())
        }
        S::Running if row.assignee.is_none() => by_its_parts(shared, &row).await,
        S::Paused => {
            drop(held);
            run::end_live(shared, &row, "its task is to rest").await
        }
        S::Cancelling => {
            cancel_parts(shared, &row).await?;
            let open = shared.record.look_up(|reader| reader.task_parts(&id))?;
            let live = shared.record.look_up(|reader| reader.live_run(&id))?;
            if live.is_none() && open.iter().all(|part| part.state.is_over()) {
                return move_on(shared, &row, Input::Gone, "nothing works on it any more").await;
            }
            drop(held);
            run::end_live(shared, &row, "its task is cancelled").await
        }
        S::Draft
        | S::Accepted
        | S::Preparing
        | S::Running
        | S::WaitingInput
        | S::WaitingPermission
        | S::WaitingResource
        | S::Cancelled
        | S::TimedOut
        | S::Failed
        | S::Lost
        | S::Completed
        | S::Archived
        | S::Stale
        | S::Unknown => Ok(()),
    }
}

pub(super) async fn move_on(
    shared: &Arc<Shared>,
    row: &TaskRow,
    input: Input,
    reason: impl Into<String>,
) -> Result<(), RpcError> {
    let change = Change { input: Some(input), facts: Vec::new(), reason: reason.into(), by_run: None };
    apply(shared, row, change, &Origin::node(RULE)).await
}

/// A task that is nobody's own work is begun with the first of its parts, and ends when they have ended.
async fn by_its_parts(shared: &Arc<Shared>, row: &TaskRow) -> Result<(), RpcError> {
    let parts = shared.record.look_up(|reader| reader.task_parts(&row.id))?;
    let is_begun = |part: &TaskRow| part.attempts > 0 || part.state.is_over();
    if parts.is_empty() || !parts.iter().any(is_begun) {
        return Ok(());
    }
    if row.state == TaskState::Queued {
        return move_on(shared, row, Input::Begin, "one of its parts is begun").await;
    }
    if row.state != TaskState::Running || !parts.iter().all(|part| part.state.is_over()) {
        return Ok(());
    }
    let undone = parts.iter().filter(|part| !is_done(part)).count();
    if undone > 0 {
        let why = format!("{undone} of its {} parts are not completed", parts.len());
        return move_on(shared, row, Input::Ended(End::Failed { again: false }), why).await;
    }
    let story = shared.record.look_up(|reader| reader.task_story(&row.id))?;
    let accepted = story.is_some_and(|story| story.plan.acceptance.is_empty());
    let why = format!("all of its {} parts are completed", parts.len());
    move_on(shared, row, Input::Ended(End::Done { accepted }), why).await
}

fn is_done(part: &TaskRow) -> bool {
    matches!(part.state, TaskState::Completed | TaskState::Archived)
}

/// Has the parts of a task that is being ended ended too.
async fn cancel_parts(shared: &Arc<Shared>, row: &TaskRow) -> Result<(), RpcError> {
    let parts = shared.record.look_up(|reader| reader.task_parts(&row.id))?;
    for part in parts.iter().filter(|part| !part.state.is_over() && part.state != TaskState::Cancelling) {
        let reason = format!("task {}, of which it is a part, is cancelled", row.id);
        let asked = TaskCancelRequested { task_id: part.id, reason: reason.clone() };
        let facts = vec![Fact::TaskCancelRequested(asked)];
        let change = Change { input: Some(Input::Cancel), facts, reason, by_run: None };
        apply(shared, part, change, &Origin::node(RULE)).await?;
    }
    Ok(())
}

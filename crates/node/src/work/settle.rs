//! What follows from how tasks stand: begun, blocked, ended, done by their parts.
//!
//! Everything is read from the record each time, so it does not matter why a task is looked at, how often, or by which
//! daemon.

use std::sync::Arc;

use edgeplane_lifecycle::task::{self as machine, End, Input};
use edgeplane_store::TaskRow;
use edgeplane_types::{
    ErrorName, Fact, StreamName, TaskId, TaskState,
    fact::{TaskCancelRequested, TaskMoved},
};
use edgeplane_wire::rpc::RpcError;

use super::{
    admit,
    change::{Change, apply, concern},
    jobs, run,
};
use crate::{
    record::{Draft, Origin, refused},
    shared::Shared,
};

/// By which rule tasks move by themselves.
pub(super) const RULE: &str = "tasks";

/// Brings about what follows from how a task stands, if anything does. Each move has it looked at again.
pub(super) async fn settle(shared: &Arc<Shared>, id: TaskId) -> Result<(), RpcError> {
    use TaskState as S;
    let held = shared.work.changing.lock().await;
    let Some(row) = shared.record.look_up(|reader| reader.task(&id))? else { return Ok(()) };
    if !matches!(row.state, S::Queued | S::Retrying | S::Running) {
        shared.work.note_job(id, false);
    }
    match row.state {
        S::Queued | S::Retrying => {
            if let Some(why) = waits_for(shared, &row)?.filter(|_| row.state == S::Queued) {
                return move_on(shared, &row, Input::Block, why).await;
            }
            if jobs::hands_on(shared, &row).await? {
                return Ok(());
            }
            if row.assignee.is_some() {
                return admit::by_itself(shared, &row).await;
            }
            jobs::deal(shared, &row).await?;
            by_its_parts(shared, &row).await
        }
        S::Blocked => {
            if waits_for(shared, &row)?.is_none() {
                return move_on(shared, &row, Input::Unblock, "nothing that it waits for is left").await;
            }
            Ok(())
        }
        S::Running | S::WaitingInput if row.assignee.is_none() => {
            jobs::deal(shared, &row).await?;
            by_its_parts(shared, &row).await
        }
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
            // The youngest first: it waits behind the older ones, and is not to begin when they end.
            for part in open.iter().rev().filter(|part| !part.state.is_over()) {
                run::end_live(shared, part, "its task is cancelled").await?;
            }
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

/// What a task that is to be begun waits for, in words: another one, or that what it is a part of is begun.
pub(super) fn waits_for(shared: &Shared, row: &TaskRow) -> Result<Option<String>, RpcError> {
    shared.record.look_up(|reader| {
        if let Some(other) = reader.task_waits_for(&row.id)? {
            return Ok(Some(format!("it depends on task {}", other.id)));
        }
        let Some(parent) = row.parent else { return Ok(None) };
        let parent = reader.task(&parent)?;
        let rests = |state| matches!(state, TaskState::Draft | TaskState::Accepted | TaskState::Paused);
        Ok(parent
            .filter(|parent| rests(parent.state))
            .map(|parent| format!("it is a part of task {}, which is not begun", parent.id)))
    })
}

/// A task that is nobody's own work is begun with the first of its parts. One that was a draft while its parts were
/// written down ends when they have; of any other one nobody knows whether that were all, and somebody has to say it.
async fn by_its_parts(shared: &Arc<Shared>, row: &TaskRow) -> Result<(), RpcError> {
    let parts = shared.record.look_up(|reader| reader.task_tally(&row.id))?;
    if parts.all == 0 || parts.begun == 0 {
        return Ok(());
    }
    if matches!(row.state, TaskState::Queued | TaskState::Retrying) {
        return move_on(shared, row, Input::Begin, "one of its parts is begun").await;
    }
    if parts.over < parts.all {
        return match row.state {
            TaskState::WaitingInput => {
                move_on(shared, row, Input::Continue, "there is more of it to be done").await
            }
            _ => Ok(()),
        };
    }
    if row.state != TaskState::Running {
        return Ok(());
    }
    let Some(story) = shared.record.look_up(|reader| reader.task_story(&row.id))? else { return Ok(()) };
    let is_whole = story.created.state == TaskState::Draft;
    let undone = parts.all.saturating_sub(parts.done);
    let why = match undone {
        0 => format!("all of its {} parts are completed", parts.all),
        undone => format!("{undone} of its {} parts are not completed", parts.all),
    };
    if undone > 0 && is_whole {
        return move_on(shared, row, Input::Ended(End::Failed { again: false }), why).await;
    }
    let accepted = undone == 0 && is_whole && run::is_accepted(&story);
    let why = if accepted { why } else { format!("{why}; somebody has to say whether it is done") };
    move_on(shared, row, Input::Ended(End::Done { accepted }), why).await
}

/// Parts that are ended in one commit.
const AT_ONCE: usize = 1_000;

/// Has the parts of a task that is being ended ended too. Those on which nothing works are cancelled at once.
async fn cancel_parts(shared: &Arc<Shared>, row: &TaskRow) -> Result<(), RpcError> {
    let parts = shared.record.look_up(|reader| reader.task_parts(&row.id))?;
    let open: Vec<TaskRow> = parts
        .into_iter()
        .filter(|part| !part.state.is_over() && part.state != TaskState::Cancelling)
        .collect();
    let reason = format!("task {}, of which it is a part, is cancelled", row.id);
    for some in open.chunks(AT_ONCE) {
        let mut draft = Draft::default();
        for part in some {
            cancel_part(shared, &mut draft, part, &reason)?;
        }
        shared.failpoint("task.before");
        shared.record.commit(draft).await.map_err(|error| refused(&error))?;
        shared.failpoint("task.after");
        for part in some {
            concern(shared, part)?;
        }
    }
    Ok(())
}

/// Adds to a draft that a part is to end, and that it has if nothing works on it or on a part of it.
fn cancel_part(shared: &Shared, draft: &mut Draft, part: &TaskRow, reason: &str) -> Result<(), RpcError> {
    let (task_id, stream, origin) = (part.id, StreamName::Task(part.root), Origin::node(RULE));
    let is_idle = shared.record.look_up(|reader| {
        Ok(reader.live_run(&task_id)?.is_none() && reader.task_tally(&task_id)?.all == 0)
    })?;
    let asked = TaskCancelRequested { task_id, reason: reason.to_owned() };
    shared.record.add(draft, stream, &origin, Fact::TaskCancelRequested(asked));
    let inputs: &[Input] = if is_idle { &[Input::Cancel, Input::Gone] } else { &[Input::Cancel] };
    let mut from = part.state;
    for input in inputs {
        let to = machine::step(from, *input)
            .map_err(|error| RpcError::new(ErrorName::InvalidState, format!("task {task_id}: {error}")))?
            .state;
        let moved = TaskMoved { task_id, from, to, reason: reason.to_owned(), run_id: None };
        shared.record.add(draft, stream, &origin, Fact::TaskMoved(moved));
        from = to;
    }
    Ok(())
}

//! A task as a state machine: what is to be done, and how it comes to an end.
//!
//! Owns which state may follow which, what follows from the end of a run, and that no program's success completes what
//! somebody has to accept. It does not know which tasks another one depends on, who works on it, or what a run is: the
//! caller says what it found, and does what is asked of it.

use edgeplane_types::TaskState;

/// What happens to a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// It is meant to be done.
    Accept,
    /// It is to be begun.
    Queue,
    /// Tasks that it depends on are not completed.
    Block,
    /// All of them are.
    Unblock,
    /// A run of it is admitted.
    Admit,
    /// Its program works on it, or one of the tasks that it is made of is begun.
    Begin,
    /// What works on it waits.
    Wait(Waiting),
    /// What works on it goes on.
    Continue,
    /// It is to rest.
    Pause,
    /// It is to go on.
    Resume,
    /// It is to be tried again.
    Retry,
    /// It is to be ended before it is done.
    Cancel,
    /// Nothing works on it or on a part of it any more.
    Gone,
    /// Its run ended.
    Ended(End),
    /// Somebody says that it is done, and all that was to be accepted is.
    Complete,
    /// Somebody says that it failed.
    Fail,
    /// It is put away.
    Archive,
}

/// What is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiting {
    /// Words, or that somebody accepts it.
    Input,
    /// Leave.
    Permission,
    /// Something that it needs.
    Resource,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Its program says that it is done.
    Done {
        /// Whether there is nothing that somebody has to accept first.
        accepted: bool,
    },
    /// Otherwise.
    Failed {
        /// Whether there is to be another run.
        again: bool,
    },
    /// Its time was over.
    TimedOut {
        /// Whether there is to be another run.
        again: bool,
    },
    /// Somebody had it ended.
    Cancelled,
    /// That cannot be known.
    Lost,
}

/// What is to be done because of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Look whether it can be begun: whose it is, and what it depends on.
    Consider,
    /// End the run that works on it, if there is one.
    EndRun,
    /// End what it is made of.
    CancelParts,
    /// Let those look again that depend on it, and what it is a part of.
    Tell,
}

/// What follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Where the task is.
    pub state: TaskState,
    /// What is to be done, in this order.
    pub actions: Vec<Action>,
}

/// Why something cannot happen to a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not allowed while {0}")]
pub struct Illegal(pub TaskState);

/// What follows when this happens to a task that is there.
///
/// # Errors
/// When it cannot happen to it; nothing has changed then.
pub fn step(state: TaskState, input: Input) -> Result<Step, Illegal> {
    use TaskState as S;
    let is_idle = matches!(state, S::Draft | S::Accepted | S::Queued | S::Blocked | S::Paused);
    let is_waiting = matches!(state, S::WaitingInput | S::WaitingPermission | S::WaitingResource);
    let is_worked_on = is_waiting || matches!(state, S::Preparing | S::Running);
    let to = |state, actions: &[Action]| Ok(Step { state, actions: actions.to_vec() });
    match input {
        Input::Accept if state == S::Draft => to(S::Accepted, &[]),
        Input::Queue if matches!(state, S::Draft | S::Accepted) => to(S::Queued, &[Action::Consider]),
        Input::Block if state == S::Queued => to(S::Blocked, &[]),
        Input::Unblock if state == S::Blocked => to(S::Queued, &[Action::Consider]),
        Input::Admit if matches!(state, S::Queued | S::Retrying) => to(S::Preparing, &[Action::Tell]),
        Input::Begin if matches!(state, S::Preparing | S::Queued | S::Retrying) => to(S::Running, &[]),
        Input::Wait(what) if is_worked_on => to(waiting(what), &[]),
        Input::Continue if is_waiting => to(S::Running, &[]),
        Input::Pause if is_idle && !matches!(state, S::Draft | S::Paused) => to(S::Paused, &[]),
        Input::Pause if is_worked_on || state == S::Retrying => to(S::Paused, &[Action::EndRun]),
        Input::Resume if state == S::Paused => to(S::Queued, &[Action::Consider]),
        Input::Retry if matches!(state, S::Failed | S::TimedOut | S::Lost) => {
            to(S::Retrying, &[Action::Consider])
        }
        Input::Cancel if is_idle || state == S::Lost => to(S::Cancelling, &[Action::CancelParts]),
        Input::Cancel if is_worked_on || state == S::Retrying => {
            to(S::Cancelling, &[Action::EndRun, Action::CancelParts])
        }
        Input::Gone if state == S::Cancelling => to(S::Cancelled, &[Action::Tell]),
        Input::Ended(end) => ended(state, end),
        Input::Complete | Input::Fail if is_worked_on || state == S::Lost || is_begun(state) => {
            let over = if input == Input::Complete { S::Completed } else { S::Failed };
            to(over, &[Action::Tell])
        }
        Input::Archive if state.is_over() && state != S::Archived => to(S::Archived, &[]),
        Input::Accept
        | Input::Queue
        | Input::Block
        | Input::Unblock
        | Input::Admit
        | Input::Begin
        | Input::Wait(_)
        | Input::Continue
        | Input::Pause
        | Input::Resume
        | Input::Retry
        | Input::Cancel
        | Input::Gone
        | Input::Complete
        | Input::Fail
        | Input::Archive => Err(Illegal(state)),
    }
}

/// Whether somebody may say by hand how it ended, though nothing works on it.
fn is_begun(state: TaskState) -> bool {
    use TaskState as S;
    matches!(state, S::Accepted | S::Queued | S::Blocked | S::Paused | S::Retrying)
}

fn waiting(what: Waiting) -> TaskState {
    match what {
        Waiting::Input => TaskState::WaitingInput,
        Waiting::Permission => TaskState::WaitingPermission,
        Waiting::Resource => TaskState::WaitingResource,
    }
}

/// What follows from the end of a run. One that ends while the task rests, waits for another run or is being ended
/// decides nothing, unless it is the work itself that is done; and nothing follows where somebody has said already how the
/// task ended.
fn ended(state: TaskState, end: End) -> Result<Step, Illegal> {
    use TaskState as S;
    let to = |state, actions: &[Action]| Ok(Step { state, actions: actions.to_vec() });
    let again = |over, again| {
        if again { to(S::Retrying, &[Action::Consider]) } else { to(over, &[Action::Tell]) }
    };
    match (state, end) {
        (S::Paused | S::Queued | S::Blocked | S::Retrying, End::Done { accepted: true }) => {
            to(S::Completed, &[Action::Tell])
        }
        (S::Queued | S::Retrying, _) => to(state, &[Action::Consider]),
        (
            S::Paused
            | S::Blocked
            | S::Cancelling
            | S::Cancelled
            | S::TimedOut
            | S::Failed
            | S::Completed
            | S::Archived,
            _,
        ) => to(state, &[]),
        (
            S::Preparing | S::Running | S::WaitingInput | S::WaitingPermission | S::WaitingResource | S::Lost,
            end,
        ) => match end {
            End::Done { accepted: true } => to(S::Completed, &[Action::Tell]),
            End::Done { accepted: false } => to(S::WaitingInput, &[]),
            End::Failed { again: anew } => again(S::Failed, anew),
            End::TimedOut { again: anew } => again(S::TimedOut, anew),
            End::Cancelled => to(S::Failed, &[Action::Tell]),
            End::Lost if state == S::Lost => Err(Illegal(state)),
            End::Lost => to(S::Lost, &[Action::Tell]),
        },
        (S::Draft | S::Accepted | S::Stale | S::Unknown, _) => Err(Illegal(state)),
    }
}

#[cfg(test)]
mod tests;

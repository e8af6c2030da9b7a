//! The words of work: tasks, their runs, and how tasks are joined.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::words::words;

words! {
    /// Where a task is. `stale` and `unknown` are what a reader may say of one; no task ever becomes them.
    TaskState {
        /// Written down; nobody is to begin it yet.
        Draft => "draft",
        /// Meant to be done; not to be begun yet.
        Accepted => "accepted",
        /// To be begun as soon as somebody takes it.
        Queued => "queued",
        /// A run of it was admitted; its program has not been told yet.
        Preparing => "preparing",
        /// It is being worked on.
        Running => "running",
        /// It waits for words, or for somebody to accept what came of it.
        WaitingInput => "waiting_input",
        /// It waits for leave.
        WaitingPermission => "waiting_permission",
        /// It waits for something that it needs.
        WaitingResource => "waiting_resource",
        /// It waits for tasks that it depends on.
        Blocked => "blocked",
        /// It rests until somebody lets it go on.
        Paused => "paused",
        /// It is about to be tried again.
        Retrying => "retrying",
        /// It is to end, and whatever works on it is being told.
        Cancelling => "cancelling",
        /// It was ended before it was done.
        Cancelled => "cancelled",
        /// Its time was over.
        TimedOut => "timed_out",
        /// It failed.
        Failed => "failed",
        /// Whether it is worked on, or how it ended, cannot be known.
        Lost => "lost",
        /// It is done, and what was to be accepted is.
        Completed => "completed",
        /// It is over and put away.
        Archived => "archived",
        /// What is known of it is old.
        Stale => "stale",
        /// Nothing is known of it.
        Unknown => "unknown",
    }
}

impl TaskState {
    /// Whether it is over, unless somebody has it tried again.
    #[must_use]
    pub fn is_over(self) -> bool {
        matches!(self, Self::Cancelled | Self::TimedOut | Self::Failed | Self::Completed | Self::Archived)
    }
}

words! {
    /// Where a run is.
    RunState {
        /// Admitted; its program has not been told yet.
        Preparing => "preparing",
        /// Its program works on it.
        Running => "running",
        /// Its program ended it as done.
        Completed => "completed",
        /// It ended otherwise.
        Failed => "failed",
        /// It was ended because somebody asked for it.
        Cancelled => "cancelled",
        /// Its time was over.
        TimedOut => "timed_out",
        /// Whether it is worked on, or how it ended, cannot be known.
        Lost => "lost",
    }
}

impl RunState {
    /// Whether it has ended.
    #[must_use]
    pub fn is_over(self) -> bool {
        !matches!(self, Self::Preparing | Self::Running)
    }
}

words! {
    /// Which of its limits a run passed.
    RunLimit {
        /// Time from its beginning.
        WallTime => "wall_time",
        /// Tokens that are read and written.
        Tokens => "tokens",
        /// What it cost.
        Cost => "cost",
        /// Items of its turn.
        Steps => "steps",
        /// How often it was given to its program again.
        Continuations => "continuations",
    }
}

words! {
    /// How a task is joined to another one, or to something that it made or used.
    EdgeKind {
        /// It begins when the other one is completed.
        DependsOn => "depends_on",
        /// It hands a part of its work to the other one.
        Delegated => "delegated",
        /// It came of the other one.
        Source => "source",
        /// It made this.
        Produced => "produced",
        /// It used this.
        Consumed => "consumed",
        /// This shows what it did.
        Evidence => "evidence",
    }
}

impl EdgeKind {
    /// Whether it leads to a task. Edges to tasks have no cycles; the others lead to what an address names.
    #[must_use]
    pub fn joins_tasks(self) -> bool {
        matches!(self, Self::DependsOn | Self::Delegated | Self::Source)
    }
}

words! {
    /// What counts as the report of an item of a job.
    JobReport {
        /// The end of its agent's turn.
        Turn => "turn",
        /// What its agent reports before its turn ends.
        Explicit => "explicit",
    }
}

words! {
    /// Where a job is.
    JobState {
        /// Nobody works on it.
        Pending => "pending",
        /// Items of it are worked on, or wait for an agent.
        Running => "running",
        /// All of its items are done.
        Completed => "completed",
        /// All of its items are over and one is not done, or somebody said that it failed.
        Failed => "failed",
        /// Somebody had it ended.
        Cancelled => "cancelled",
    }
}

impl JobState {
    /// Where a job is whose task is there; of one that is put away, whether all of its items are done.
    #[must_use]
    pub fn of(task: TaskState, is_done: bool) -> Self {
        use TaskState as S;
        match task {
            S::Draft | S::Accepted | S::Queued | S::Blocked => Self::Pending,
            S::Preparing
            | S::Running
            | S::WaitingInput
            | S::WaitingPermission
            | S::WaitingResource
            | S::Paused
            | S::Retrying
            | S::Cancelling
            | S::Stale
            | S::Unknown => Self::Running,
            S::Completed => Self::Completed,
            S::Archived if is_done => Self::Completed,
            S::Failed | S::TimedOut | S::Lost | S::Archived => Self::Failed,
            S::Cancelled => Self::Cancelled,
        }
    }
}

words! {
    /// Where an item of a job is.
    JobItemState {
        /// It waits for an agent.
        Pending => "pending",
        /// An agent works on it.
        Running => "running",
        /// It is done.
        Completed => "completed",
        /// It is over and not done, or nobody can know whether it is.
        Failed => "failed",
        /// It is done, and its agent reported what came of it.
        Reported => "reported",
    }
}

impl JobItemState {
    /// Where an item is whose task is there; of one that is put away, whether a run of it was completed.
    #[must_use]
    pub fn of(task: TaskState, is_reported: bool, is_done: bool) -> Self {
        use TaskState as S;
        match task {
            S::Draft | S::Accepted | S::Queued | S::Blocked | S::Paused | S::Retrying => Self::Pending,
            S::Preparing
            | S::Running
            | S::WaitingInput
            | S::WaitingPermission
            | S::WaitingResource
            | S::Cancelling
            | S::Stale
            | S::Unknown => Self::Running,
            S::Completed | S::Archived if is_reported => Self::Reported,
            S::Completed => Self::Completed,
            S::Archived if is_done => Self::Completed,
            S::Failed | S::TimedOut | S::Lost | S::Cancelled | S::Archived => Self::Failed,
        }
    }
}

/// Who is meant to see a task.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Visibility {
    /// Whoever asked for it waits for it.
    #[default]
    Foreground,
    /// It is done beside other things.
    Background,
    /// It is a part of other work.
    Internal,
}

/// What a run may use at most. What is not named is not bounded. Tokens, cost and steps are counted by what its program
/// says: a program that says nothing of them is not ended by them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunLimits {
    /// Time from its beginning, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wall_ms: Option<u64>,
    /// Tokens that are read and written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Cost, in millionths of the currency that its program names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
    /// Items of its turn: texts, thoughts, uses of tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    /// How often it is given to its program again after that has ended in the middle of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continuations: Option<u64>,
}

impl RunLimits {
    /// Whether it bounds nothing.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Whether it bounds something that only what its program says and does can tell.
    #[must_use]
    pub fn is_metered(&self) -> bool {
        let Self { wall_ms: _, tokens, cost_micros, steps, continuations } = self;
        [tokens, cost_micros, steps, continuations].into_iter().any(Option::is_some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: Serialize + for<'de> Deserialize<'de> + PartialEq + std::fmt::Debug + Copy>(
        all: &[T],
        word: impl Fn(T) -> &'static str,
    ) {
        for one in all {
            assert_eq!(serde_json::to_value(one).unwrap(), word(*one));
        }
    }

    #[test]
    fn words_are_what_is_serialized_and_name_their_own() {
        check(TaskState::ALL, TaskState::as_str);
        check(RunState::ALL, RunState::as_str);
        check(EdgeKind::ALL, EdgeKind::as_str);
        check(JobReport::ALL, JobReport::as_str);
        check(JobState::ALL, JobState::as_str);
        check(JobItemState::ALL, JobItemState::as_str);
        assert_eq!(TaskState::ALL.len(), 20);
        for state in TaskState::ALL {
            assert_eq!(TaskState::from_word(state.as_str()), Some(*state));
        }
    }
}

//! Jobs and their items.

use edgeplane_types::{
    AgentId, JobItemState, Timestamp,
    fact::{JobCreated, JobItemReported},
};

use super::{RunRow, TaskRow};

/// A job: what it was made with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobRow {
    /// Position of its beginning in the record.
    pub pos: u64,
    /// What was asked for.
    pub created: JobCreated,
}

/// What was reported of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobReportRow {
    /// What was said.
    pub reported: JobItemReported,
    /// When.
    pub at: Timestamp,
}

/// An item with what came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobItemRow {
    /// The task that it is.
    pub task: TaskRow,
    /// Where it is.
    pub state: JobItemState,
    /// Its newest run.
    pub run: Option<RunRow>,
    /// What was reported of it.
    pub report: Option<JobReportRow>,
}

/// How many items of a job are where.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct JobTally {
    /// Those that wait for an agent.
    pub pending: u64,
    /// Those that are worked on.
    pub running: u64,
    /// Those that are done, without a report.
    pub completed: u64,
    /// Those that are over and not done.
    pub failed: u64,
    /// Those that are done and reported.
    pub reported: u64,
}

impl JobTally {
    /// All of them.
    #[must_use]
    pub fn all(&self) -> u64 {
        [self.pending, self.running, self.completed, self.failed, self.reported].iter().sum()
    }

    pub(crate) fn add(&mut self, state: JobItemState, count: u64) {
        let of = match state {
            JobItemState::Pending => &mut self.pending,
            JobItemState::Running => &mut self.running,
            JobItemState::Completed => &mut self.completed,
            JobItemState::Failed => &mut self.failed,
            JobItemState::Reported => &mut self.reported,
        };
        *of = of.saturating_add(count);
    }
}

/// An agent that a run keeps busy, and whether the run is of an item of the job that was asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BusyRow {
    /// The agent.
    pub agent: AgentId,
    /// Whether it works on that job.
    pub is_of_job: bool,
}

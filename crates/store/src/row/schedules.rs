//! Schedules and what became of each time they came due.

use edgeplane_types::{
    AgentId, AgentName, MessageId, Timestamp,
    schedule::{MissReason, RunCause, SkipReason},
};

/// A schedule as its agent's stream tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduleRow {
    /// The agent it sends to.
    pub agent: AgentId,
    /// Its name.
    pub name: AgentName,
    /// SHA-256 of what it says.
    pub spec_digest: String,
    /// Size of that.
    pub spec_bytes: u64,
    /// Whether the agent's manifest declares it.
    pub in_manifest: bool,
    /// Whether it does not run until it is resumed.
    pub paused: bool,
    /// Whether it is no more, or its agent is not. Its history stays.
    pub removed: bool,
    /// When it was declared last.
    pub declared_at: Timestamp,
    /// Up to when, and including that, it is known what became of it: nothing due before is due still.
    pub accounted_until: Timestamp,
    /// The message that it sent last.
    pub last_message: Option<MessageId>,
    /// How often it ran, also because somebody asked.
    pub ran: u64,
    /// How often it came due and sent nothing.
    pub skipped: u64,
    /// How often it came due while nothing could be sent.
    pub missed: u64,
}

/// What became of a time at which a schedule came due, or of several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Occurrence {
    /// It sent its message.
    Ran {
        /// When it was due, or somebody asked.
        due_at: Timestamp,
        /// The message.
        message_id: MessageId,
        /// Why it ran.
        cause: RunCause,
    },
    /// It sent nothing.
    Skipped {
        /// When it was due.
        due_at: Timestamp,
        /// Why it sent nothing.
        reason: SkipReason,
        /// More of that.
        detail: String,
    },
    /// Nothing could be sent.
    Missed {
        /// When it was due first.
        from: Timestamp,
        /// When it was due last.
        to: Timestamp,
        /// How often it was due.
        count: u64,
        /// Why nothing could be sent.
        reason: MissReason,
    },
}

/// One entry of a schedule's history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OccurrenceRow {
    /// Its position in the record; the cursor of a history.
    pub pos: u64,
    /// When it was noted.
    pub at: Timestamp,
    /// What became of it.
    pub what: Occurrence,
}

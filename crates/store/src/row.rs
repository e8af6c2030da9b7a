//! What readers get: the rows of the read models as typed values.

mod artifacts;
mod automations;
mod benchmarks;
mod decided;
mod invocations;
mod jobs;
mod messages;
mod offers;
mod overrides;
mod resources;
mod schedules;
mod subagents;
mod tasks;
mod threads;
mod workspaces;

use edgeplane_proof::Digest;
use edgeplane_types::{
    AgentId, AgentName, Continuity, Desired, Epoch, Event, Generation, MessageId, Phase, ProcessId,
    SessionId, StreamName, Tenant, Timestamp,
    fact::{Cause, InputFate, TreeEvidence},
    identity::ProcessIdentity,
    life::ExitStatus,
};

pub use artifacts::{ArtifactFilter, ArtifactRow};
pub use automations::{AutomationRow, FiringRow};
pub use benchmarks::{RewardRow, TrialRow};
pub use decided::{ActionRow, CallRow, KeyRow, PolicyRow, RefusalRow, Resolution, TokenRow, VoteRow};
pub use invocations::InvocationRow;
pub use jobs::{BusyRow, JobItemRow, JobReportRow, JobRow, JobTally};
pub use messages::{Leading, MessageRow, OpenTurn, Waiting, WaitingRow, WaitingTotals};
pub use offers::OfferRow;
pub use overrides::{Hold, Lift, OverrideRow};
pub use resources::{ResourceFilter, ResourceRow};
pub use schedules::{Occurrence, OccurrenceRow, ScheduleRow};
pub use subagents::SubagentRow;
pub use tasks::{EdgeRow, GraphEdge, GraphEnd, GraphRows, GraphTask, RunRow, TaskRow, TaskStory, TaskTally};
pub use threads::{DeliveryRow, InterruptRow, TalkRow, ThreadRow};
pub use workspaces::{BindingRow, BlobRow, CheckpointRow, LockRow, WorkspaceRow};

/// A command that was run inside an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommandRow {
    /// Its id.
    pub id: ProcessId,
    /// The epoch in which it was run.
    pub epoch: Epoch,
    /// The message in whose turn it was run.
    pub message_id: Option<MessageId>,
    /// Whether its end is recorded.
    pub is_over: bool,
    /// Whether somebody asked for its end.
    pub is_terminating: bool,
}

/// What was to be written to a command at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandInputRow {
    /// SHA-256 of it.
    pub digest: String,
    /// Whether nothing was to come after it.
    pub closes: bool,
    /// What became of it, as far as that is recorded.
    pub fate: Option<InputFate>,
}

/// What the record says of a command.
#[derive(Debug, Clone, PartialEq)]
pub struct CommandStory {
    /// The agent in which it was run.
    pub agent: AgentId,
    /// Where it began, in the record.
    pub pos: u64,
    /// Its `command.started`.
    pub started: Event,
    /// Whether somebody asked for its end.
    pub is_terminating: bool,
    /// Its `command.ended`, if it has ended.
    pub ended: Option<Event>,
    /// How often something was written to it.
    pub inputs: u64,
    /// How many bytes.
    pub input_bytes: u64,
    /// Whether its input was closed.
    pub input_closed: bool,
}

/// An agent as its stream tells it.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentRow {
    /// Its id.
    pub id: AgentId,
    /// The namespace of its name.
    pub tenant: Tenant,
    /// Its name.
    pub name: AgentName,
    /// The session that its epochs continue.
    pub session_id: SessionId,
    /// Version of its manifest.
    pub generation: Generation,
    /// SHA-256 of its manifest.
    pub manifest_digest: String,
    /// What it is meant to do.
    pub desired: Desired,
    /// Version of that.
    pub desired_generation: Generation,
    /// Why it is meant to; absent for what the declaration said.
    pub desired_reason: Option<String>,
    /// Where the last fact that moves an agent left it.
    pub phase: Phase,
    /// The newest epoch, 0 before the first.
    pub epoch: Epoch,
    /// The program's process, from start to exit of the newest epoch.
    pub process: Option<ProcessIdentity>,
    /// The shim's process, likewise.
    pub shim: Option<ProcessIdentity>,
    /// The cgroup, likewise.
    pub cgroup: Option<String>,
    /// How much context the newest epoch began with.
    pub continuity: Option<Continuity>,
    /// Starts that the node made by itself: `agent.starting` caused by the restart policy or by a probe.
    pub restarts: u64,
    /// How the epoch that ended last ended.
    pub last_status: Option<ExitStatus>,
    /// The reason that the newest fact with one gave.
    pub last_reason: Option<String>,
    /// When it was declared.
    pub declared_at: Timestamp,
    /// When the newest epoch's program ran.
    pub started_at: Option<Timestamp>,
    /// Output of the newest epoch, as far as facts told it.
    pub output_bytes: u64,
    /// How far the newest epoch's output is made into events.
    pub consumed: u64,
    /// What the newest probe of the newest epoch said.
    pub healthy: Option<bool>,
    /// Events in its stream.
    pub events: u64,
    /// The set whose replica it is.
    pub set: Option<AgentId>,
    /// The agent whose child it is.
    pub parent: Option<AgentId>,
    /// SHA-256 of the plan by which what it owned is removed, until all of that is gone.
    pub removal: Option<String>,
}

/// The session that an agent's program had last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRow {
    /// The epoch of which something was said last.
    pub epoch: Epoch,
    /// The program's own name for the session that was opened last.
    pub native_id: Option<String>,
    /// The epoch in which it was opened or gone on with last.
    pub opened_in: Option<Epoch>,
    /// Whether no later epoch goes on with it, because it knows what was rolled back or compacted.
    pub is_over: bool,
    /// Whether another epoch could go on with it.
    pub resumable: bool,
    /// Whether its program can be asked to close it.
    pub closable: bool,
    /// The program and its version, as it said them then.
    pub program: Option<String>,
    /// SHA-256 of what it said of itself and of the session then.
    pub details_digest: Option<String>,
    /// Why there is no session in the epoch.
    pub failure: Option<String>,
}

impl SessionRow {
    /// The program's own name for the session that another epoch is to go on with.
    #[must_use]
    pub fn handle(&self) -> Option<&str> {
        self.native_id.as_deref().filter(|_| !self.is_over)
    }
}

/// Which agents to list.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AgentFilter {
    /// Only those of this tenant.
    pub tenant: Option<Tenant>,
    /// Only those in one of these phases; empty means all but the retired.
    pub phases: Vec<Phase>,
}

/// One epoch of an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct EpochRow {
    /// Its number.
    pub epoch: Epoch,
    /// Why it was started.
    pub cause: Cause,
    /// When it was to be started.
    pub starting_at: Timestamp,
    /// When its program ran.
    pub started_at: Option<Timestamp>,
    /// When it was known to be over.
    pub ended_at: Option<Timestamp>,
    /// How its program ended.
    pub status: Option<ExitStatus>,
    /// How sure it is that nothing of it is left.
    pub tree: Option<TreeEvidence>,
    /// Its output, as far as facts told it.
    pub output_bytes: u64,
    /// How far its output is made into events.
    pub consumed: u64,
    /// Sealed segments of its recording.
    pub segments: u64,
}

/// One version of a key of an agent's memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryRow {
    /// The key.
    pub key: String,
    /// Grows with every change of the key, also over its removal.
    pub version: u64,
    /// SHA-256 of the value; absent if the key was removed.
    pub digest: Option<String>,
    /// Size of the value.
    pub value_bytes: u64,
    /// When the value is no longer to be given out; whoever has a clock checks.
    pub expires_at: Option<Timestamp>,
    /// When it was written or removed.
    pub at: Timestamp,
}

/// What an agent's memory amounts to, expired values included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MemoryTotals {
    /// Keys with a value.
    pub keys: u64,
    /// Bytes of the values.
    pub value_bytes: u64,
}

/// A sealed segment of a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentRow {
    /// The epoch recorded.
    pub epoch: Epoch,
    /// Its number in the epoch.
    pub segment: u32,
    /// Offset of its first byte in the epoch's output.
    pub from_offset: u64,
    /// Offset after its last byte.
    pub to_offset: u64,
    /// Size of its file.
    pub file_bytes: u64,
    /// SHA-256 of its file.
    pub digest: String,
    /// When it was sealed.
    pub at: Timestamp,
}

/// Output that is in no recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GapRow {
    /// Whose output.
    pub epoch: Epoch,
    /// Offset of the first byte lost.
    pub from_offset: u64,
    /// Offset after the last byte lost.
    pub to_offset: u64,
    /// Why.
    pub reason: String,
    /// When that was known.
    pub at: Timestamp,
}

/// The end of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamHead {
    /// Which stream.
    pub stream: StreamName,
    /// Number of its newest event.
    pub seq: u64,
    /// Hash of its newest event.
    pub hash: Digest,
    /// Position of its newest event in the record.
    pub pos: u64,
}

/// What is kept under a digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoredBody {
    /// The bytes.
    Bytes(Vec<u8>),
    /// They were erased.
    Erased {
        /// Why.
        reason: String,
    },
}

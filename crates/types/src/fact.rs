//! What the record holds: facts in the past tense, each in one stream, each chained to the one before.

mod about;
mod actor;
mod artifact;
mod automation;
mod benchmark;
mod binding;
mod blob;
mod call;
mod capability;
mod closing;
mod command;
mod context;
mod conversation;
mod job;
mod kind;
mod lock;
mod memory;
mod names;
mod offer;
mod overrides;
mod policy;
mod resource;
mod stream;
mod subagent;
mod token;
mod usage;
mod work;
mod workspace;
mod written;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use actor::Actor;
pub use artifact::{ArtifactDeleted, ArtifactPublished, ArtifactSource};
pub use automation::{AutomationEnded, AutomationFired, AutomationSkipped};
pub use benchmark::{RewardRecorded, TrialEnded, TrialStarted, TrialsCompared};
pub use binding::{BindingAttached, BindingDetached};
pub use blob::{BlobPut, BlobRemoved};
pub use call::{CallEnd, UnkeptReason};
pub use capability::{
    HookCompleted, HookFailed, HookRun, HookStarted, InvocationAsked, InvocationBegun, InvocationEnded,
    InvocationProgressed, InvocationRequested,
};
pub use closing::{ClosingReason, ToldBy};
pub use command::{CommandInputAccepted, CommandInputSettled, InputFate};
pub use context::{ContextItem, ContextOmission, ContextResolved, OmissionReason};
pub use conversation::{
    DeliveryAcknowledged, DeliveryCreated, DeliveryFailed, Destination, InterruptRequested, SessionArchived,
    SessionCreated, ThreadArchived, ThreadCompacted, ThreadCreated, ThreadParent, ThreadRolledBack,
    ThreadUpdated,
};
pub use job::{JobCreated, JobItemReported};
pub use kind::Fact;
pub use lock::{LockAcquired, LockRefused, LockReleased, LockWaiting};
pub use memory::MemoryPut;
pub use names::TYPE_NAMES;
pub use offer::{CapabilityCalled, CapabilityRegistered, CapabilitySettled, CapabilityWithdrawn, OfferedBy};
pub use overrides::OverrideApplied;
pub use policy::RequestRefused;
pub use resource::{ResourceDeleted, ResourcePut};
pub use stream::{StreamName, StreamNameError};
pub use subagent::{SubagentClosed, SubagentClosing, SubagentInput, SubagentMoved, SubagentSpawned};
pub use token::TokenCreated;
pub use usage::UsageReported;
pub use work::{
    RunBegun, RunEnded, RunStarted, TaskCancelRequested, TaskCreated, TaskLinked, TaskMoved, TaskPlan,
    TaskProgressed, TaskUnlinked, TaskUpdated,
};
pub use workspace::{
    CheckpointCreated, CheckpointDeleted, CheckpointFailed, CheckpointStarted, FileChangeBegun,
    FileChangeEnded, RestoreEnded, RestoreFailed, RestoreStarted, Suspended, WorkspaceCreated,
    WorkspaceDeleted,
};
pub use written::FileWritten;

use crate::{Epoch, EventId, Timestamp, TraceContext};

/// How far a driver had read an epoch's output when it made an event of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Consumed {
    /// Whose output.
    pub epoch: Epoch,
    /// Byte offset in the epoch, after the last byte consumed.
    pub offset: u64,
}

/// One entry of the record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Event {
    /// Its id.
    pub id: EventId,
    /// The stream it belongs to.
    pub stream: StreamName,
    /// Its number in the stream, from 1, without gaps.
    pub seq: u64,
    /// When it was made.
    pub ts: Timestamp,
    /// Who made it happen.
    pub actor: Actor,
    /// The event that led to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<EventId>,
    /// The output it was read from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consumed: Option<Consumed>,
    /// The request to which it belongs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Box<TraceContext>>,
    /// What happened.
    #[serde(flatten)]
    pub fact: Fact,
}

/// Why an agent is started, stopped or restarted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Somebody asked.
    Request,
    /// The manifest asked, at its declaration or at the node's start.
    Manifest,
    /// The restart policy.
    RestartPolicy,
    /// A health probe failed.
    Probe,
    /// The manifest changed.
    Update,
    /// It was idle for as long as its manifest allows.
    Idle,
    /// A message came for it.
    Message,
    /// A stateless agent's task is over.
    Task,
    /// The node found it so when it started.
    Recovery,
    /// An operator's override, or its end.
    Override,
}

/// How sure it is that no process of an epoch is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TreeEvidence {
    /// The epoch's cgroup reads empty.
    Cgroup,
    /// The shim, as reaper of every descendant, has none left.
    Reaper,
    /// The machine has been started anew.
    Reboot,
    /// No process with the epoch's mark or ancestry was found.
    BestEffort,
    /// An operator said so.
    Operator,
}

#[cfg(test)]
#[path = "fact/tests.rs"]
mod tests;

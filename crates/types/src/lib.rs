//! The words of EdgePlane: every noun that crosses a crate or process boundary.
//!
//! Owns ids, names, the lifecycle vocabulary, the message envelope, the facts of the record and the
//! error names. It deliberately knows no file, socket, clock, randomness or policy.
#![forbid(unsafe_code)]

pub mod id;
pub mod name;
pub mod time;

pub mod automation;
pub mod benchmark;
pub mod capability;
pub mod decision;
pub mod error;
pub mod fact;
pub mod identity;
pub mod life;
pub mod message;
pub mod overrides;
pub mod policy;
pub mod resource;
pub mod schedule;
pub mod subagent;
pub mod trace;
pub mod work;
pub mod workspace;

mod words;

pub use automation::{ActsAs, AutomationCause, AutomationSkip, FiringState};
pub use benchmark::{TrialConfiguration, TrialDataset, TrialRefs, TrialRole, TrialVerifier};
pub use capability::{
    BackingKind, CapabilityKind, EffectClass, HookDecision, HookPoint, InvocationCause, InvocationState,
    Permission,
};
pub use error::ErrorName;
pub use fact::{Event, Fact, StreamName};
pub use id::{
    ActionId, AgentId, ArtifactId, CapabilityId, CheckpointId, ContextId, DeliveryId, EventId, FiringId,
    InputId, InvocationId, ItemId, MessageId, NodeId, OutputId, OverrideId, ProcessId, RunId, SessionId,
    SubscriptionId, TaskId, ThreadId, TokenId, TrialId, TurnId, WorkspaceId,
};
pub use life::{Activity, ActivityReport, Continuity, Desired, Epoch, Evidence, Generation, Phase};
pub use message::{
    Assurance, Authority, Channel, ContentOrigin, DeliveryMode, Envelope, Ingress, OnBehalfOf, Part,
    Priority, Proof, Receipt, Rung, Source,
};
pub use name::{AgentName, NameError, NodeName, SafeLabel, Tenant, is_nodes_own};
pub use overrides::{OverrideKind, OverrideScope};
pub use policy::{PolicyAction, PolicyLayer, Risk, Scope, TokenKind};
pub use resource::{ResourceKind, ResourceUri};
pub use subagent::{
    ContextIsolation, Isolation, MemoryIsolation, OnParentExit, PermissionIsolation, SubagentStatus,
    WorkspaceIsolation,
};
pub use time::Timestamp;
pub use trace::{SpanId, TraceContext, TraceId, Traceparent};
pub use work::{
    EdgeKind, JobItemState, JobReport, JobState, RunLimit, RunLimits, RunState, TaskState, Visibility,
};
pub use workspace::{
    BindingEnd, BindingMode, CheckpointCause, CheckpointState, FileChangeKind, FileChangeOutcome,
    FolderCounts, LockEnd, RestoreCounts,
};

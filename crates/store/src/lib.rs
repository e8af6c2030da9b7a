//! The record of a node, and what is read from it.
//!
//! Owns the append-only, chained table of events, the bodies that events name by digest, the read models folded from
//! the events, and the audit of all three. One thread writes; any number read. Everything here blocks. It
//! deliberately knows no clock, no randomness, no policy and no rule about which event may follow which, beyond what
//! keeps a read model meaningful: it writes down what it is given.
//!
//! # What a caller may rely on
//!
//! - What was acknowledged is on stable storage. A batch is in the record whole or not at all.
//! - Observers see every event once, in the order of the record, after it is durable.
//! - On a full disk nothing is acknowledged but batches marked critical, which a reserve takes in. They are durable,
//!   but have no position until there is room again: [`Committed::held`] says so, observers see them when they get
//!   one, and until then no reader sees them. A caller that acts on a held batch keeps its own truth in memory.
//!
//! The directory must be used by one store at a time; whoever opens it holds a lock for that.
#![forbid(unsafe_code)]

pub mod batch;
pub mod model;
pub mod row;

pub mod audit;
pub mod open;
pub mod reader;
pub mod store;

mod bodies;
mod durable;
mod heads;
mod known;
mod queue;
mod reserve;
mod schema;
mod sqlite;
mod tail;
mod writer;

pub use audit::{AuditProgress, AuditReport, Problem, verify};
pub use batch::{AppendError, Batch, Body, Committed, CommittedEvent, NewEvent};
pub use model::{FoldError, Model};
pub use open::{OpenError, Opening, Options};
pub use reader::{
    ActionFilter, ChainCheck, CheckpointFilter, InboxFilter, Order, RAW_BYTES_MAX, RawEvent, ReadError,
    Reader, StoredEvent, Stretch, TaskFilter, ThreadFilter, TurnsOf,
};
pub use row::{
    ActionRow, AgentFilter, AgentRow, ArtifactFilter, ArtifactRow, AutomationRow, BindingRow, BlobRow,
    BusyRow, CallRow, CheckpointRow, CommandInputRow, CommandRow, CommandStory, DeliveryRow, EdgeRow,
    EpochRow, FiringRow, GapRow, GraphEdge, GraphEnd, GraphRows, GraphTask, Hold, InterruptRow,
    InvocationRow, JobItemRow, JobReportRow, JobRow, JobTally, KeyRow, Leading, Lift, LockRow, MemoryRow,
    MemoryTotals, MessageRow, Occurrence, OccurrenceRow, OfferRow, OpenTurn, OverrideRow, PolicyRow,
    RefusalRow, Resolution, ResourceFilter, ResourceRow, RewardRow, RunRow, ScheduleRow, SegmentRow,
    SessionRow, StoredBody, StreamHead, SubagentRow, TalkRow, TaskRow, TaskStory, TaskTally, ThreadRow,
    TokenRow, TrialRow, VoteRow, Waiting, WaitingRow, WaitingTotals, WorkspaceRow,
};
pub use store::{Damage, Health, Observer, Store};

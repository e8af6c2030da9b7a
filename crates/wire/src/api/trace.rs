//! Traces: what became of a request, and where its time went.

use std::collections::BTreeMap;

use edgeplane_types::{MessageId, SpanId, SubscriptionId, ThreadId, Timestamp, TraceId, TurnId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Names a trace by one of five things.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceParams {
    /// The trace itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<TraceId>,
    /// The trace of this message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<MessageId>,
    /// The trace of this turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    /// The trace of the newest message of this thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<ThreadId>,
    /// The trace of this agent's newest turn, by name or id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// How much is told of each span.
    #[serde(default)]
    pub detail: TraceDetail,
}

/// How much is told of a span.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TraceDetail {
    /// Its place, its owner and its time.
    Brief,
    /// Its attributes and the events that it was read from, too.
    #[default]
    Full,
}

/// Which part of a request's way a span is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Segment {
    /// Somebody asked the node for something.
    Request,
    /// A message waits because its agent is busy with another.
    QueueWait,
    /// A message waits because its agent does not run.
    RuntimeDelay,
    /// A message is on its way to a program that runs and is free.
    Delivery,
    /// An agent works.
    Turn,
    /// A tool or a command works.
    Tool,
    /// A person is waited for.
    ApprovalWait,
    /// A call of a connector waits for leave, or is refused.
    ConnectorPermission,
    /// Whoever has a lock on paths of a workspace is waited for.
    WorkspaceLock,
}

/// Who answers for a span's time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Owner {
    /// What it is.
    pub kind: OwnerKind,
    /// Its name.
    pub name: String,
    /// The agent that it works for, if it is not one itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
}

/// What may answer for time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OwnerKind {
    /// The node.
    Node,
    /// An agent and whatever model it asks.
    Agent,
    /// A person, or a program in their place.
    Person,
    /// A tool or a command.
    Tool,
}

/// How a span ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SpanStatus {
    /// Well.
    Ok,
    /// Badly; `reason` says how.
    Error,
    /// Not yet.
    Open,
    /// Nobody said.
    Unknown,
}

/// The longest time in which a turn showed no sign of life and nothing was waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Quiet {
    /// Since when.
    pub from: Timestamp,
    /// For how long.
    pub ms: u64,
    /// From how long on it counts as too long: the agent's `health.quietFor`, or 60,000.
    pub limit_ms: u64,
}

/// A stretch of a trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Span {
    /// Its id; the same whenever it is read.
    pub span_id: SpanId,
    /// The span that it is a part of. One that the trace does not have was somebody else's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<SpanId>,
    /// What is done, such as `invoke_agent reviewer`.
    pub name: String,
    /// Which part of the way.
    pub segment: Segment,
    /// Who answers for its time.
    pub owner: Owner,
    /// When it began.
    pub start: Timestamp,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<Timestamp>,
    /// How it ended.
    pub status: SpanStatus,
    /// Why it ended so, or what is waited for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The longest silence, of a turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quiet: Option<Quiet>,
    /// What else is known: names of OpenTelemetry, and of `rt.` where it has none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: BTreeMap<String, String>,
    /// The positions of the events that it was read from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<u64>,
}

/// Something that the record cannot tell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TraceGap {
    /// What is missing.
    pub what: String,
    /// Of which agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// When it was noticed.
    pub at: Timestamp,
    /// The events that say so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<u64>,
}

/// Where a trace came in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EntryPoint {
    /// What was asked for.
    pub operation: String,
    /// As whom.
    pub user_id: String,
    /// Whom it was for, if it was an agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

/// A trace, read from the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Waterfall {
    /// Its id.
    pub trace_id: TraceId,
    /// The moment as of which open spans are seen.
    pub as_of: Timestamp,
    /// The newest event of the record at that moment.
    pub as_of_pos: u64,
    /// Where it came in.
    pub entry_point: EntryPoint,
    /// When it began.
    pub start: Timestamp,
    /// When its last span ended; none while one is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<Timestamp>,
    /// Parents before their parts, and those that began first before others.
    pub spans: Vec<Span>,
    /// What the record cannot tell.
    pub gaps: Vec<TraceGap>,
}

/// What a trace comes to: exactly one of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TraceVerdict {
    /// A part of what happened is not in the record.
    ReplayGap,
    /// A person is or was waited for.
    ApprovalWait,
    /// An agent was busy with something else.
    QueueWait,
    /// A program was started, restarted or ended badly.
    RuntimeDelay,
    /// A turn shows no sign of life.
    InferenceTimeout,
    /// A lock on paths of a workspace was waited for, or the request was refused because of one.
    WorkspaceLock,
    /// A call of a connector waited for leave, was refused by a rule, or its server does not let the node in.
    ConnectorPermission,
    /// Nothing took longer than it should.
    Healthy,
}

impl TraceVerdict {
    /// The word that programs read.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ReplayGap => "replay_gap",
            Self::ApprovalWait => "approval_wait",
            Self::QueueWait => "queue_wait",
            Self::RuntimeDelay => "runtime_delay",
            Self::InferenceTimeout => "inference_timeout",
            Self::WorkspaceLock => "workspace_lock",
            Self::ConnectorPermission => "connector_permission",
            Self::Healthy => "healthy",
        }
    }
}

/// A stretch of time and the span that it belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PathStretch {
    /// The span.
    pub span_id: SpanId,
    /// Its name.
    pub name: String,
    /// Which part of the way it is.
    pub segment: Segment,
    /// Who answers for it.
    pub owner: Owner,
    /// Since when.
    pub from: Timestamp,
    /// For how long.
    pub ms: u64,
}

/// An event that a verdict rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TraceEvidence {
    /// Its position.
    pub pos: u64,
    /// What it shows.
    pub shows: String,
}

/// Why a trace took as long as it did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Explanation {
    /// The trace.
    pub trace_id: TraceId,
    /// The moment as of which it was looked at.
    pub as_of: Timestamp,
    /// Where it came in.
    pub entry_point: EntryPoint,
    /// Exactly one.
    pub verdict: TraceVerdict,
    /// The rule that gave it.
    pub rule: String,
    /// The same in words.
    pub reason: String,
    /// Who answers for the slowest span on the critical path.
    pub owner: Owner,
    /// That span.
    pub slowest: Option<PathStretch>,
    /// What was waited for at each moment, from the beginning to the end.
    pub critical_path: Vec<PathStretch>,
    /// The events that the verdict rests on.
    pub evidence: Vec<TraceEvidence>,
}

/// Follows live what happens. Each filter that is given must let a step through.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TapParams {
    /// Only of this agent, by name or id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Only of this thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<ThreadId>,
    /// Only what this principal did or asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub principal: Option<String>,
    /// Only what came of these methods.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<String>,
}

/// A tap that is open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TapResult {
    /// Its id.
    pub tap_id: SubscriptionId,
}

/// A step as an `observe/tap` notification tells it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TapStep {
    /// Whose it is.
    pub tap_id: SubscriptionId,
    /// The event's position.
    pub pos: u64,
    /// When.
    pub at: Timestamp,
    /// The agent's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Who made it happen.
    pub by: String,
    /// What happened, in words.
    pub text: String,
    /// The event's type.
    #[serde(rename = "type")]
    pub kind: String,
    /// What was asked for, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// The trace that it belongs to, where it does to one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<TraceId>,
    /// Steps before it that were left out because nobody took them in time.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub missed: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over so")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

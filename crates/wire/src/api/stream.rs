//! Streams: what is followed, from where, and how what comes is numbered.

use std::fmt;

use edgeplane_types::SubscriptionId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The kinds of things that a projection can be about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TargetKind {
    /// The node with everything on it.
    #[default]
    Node,
    /// One agent.
    Agent,
    /// An agent's session.
    Session,
    /// A thread of a session.
    Thread,
    /// A turn of a thread.
    Turn,
    /// Everything that belongs to one request.
    Trace,
    /// A task, or the graph that it belongs to.
    Task,
}

impl TargetKind {
    /// The kind as the word that programs read.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Node => "node",
            Self::Agent => "agent",
            Self::Session => "session",
            Self::Thread => "thread",
            Self::Turn => "turn",
            Self::Trace => "trace",
            Self::Task => "task",
        }
    }
}

/// What a projection is about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// Which kind of thing.
    pub kind: TargetKind,
    /// Which one, by its id; an agent also by its name. Left out for this node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

impl Target {
    /// The node.
    #[must_use]
    pub fn node() -> Self {
        Self { kind: TargetKind::Node, id: None }
    }

    /// An agent, by name or id.
    pub fn agent(name: impl Into<String>) -> Self {
        Self { kind: TargetKind::Agent, id: Some(name.into()) }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.id {
            Some(id) => write!(f, "{}/{id}", self.kind.as_str()),
            None => f.write_str(self.kind.as_str()),
        }
    }
}

/// The projection that holds the events themselves.
pub const LOG: &str = "log";

fn log() -> String {
    LOG.to_owned()
}

fn is_log(projection: &str) -> bool {
    projection == LOG
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Where reading begins, if it is not behind a number or a cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum From {
    /// At the oldest there is.
    Start,
    /// Behind the newest there is.
    Latest,
}

/// Whether the state of the projection is wanted before what follows it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Snapshot {
    /// It is not.
    #[default]
    None,
    /// It is, and then what follows it.
    First,
    /// It is, and nothing else.
    Only,
}

/// What is wanted when what was asked for cannot be had any more.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnGap {
    /// `replay_gap`.
    #[default]
    Error,
    /// A snapshot, and word of what it stands for.
    Repair,
}

/// Reads a projection from any point. At most one of `from`, `after` and `cursor` may be given; without one it begins at
/// the oldest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplayParams {
    /// What it is about; the node if not given.
    #[serde(default, skip_serializing_if = "is_default")]
    pub target: Target,
    /// Which projection; `log` if not given.
    #[serde(default = "log", skip_serializing_if = "is_log")]
    pub projection: String,
    /// From where.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<From>,
    /// Only what has a higher number: in the log of the node its position, in that of an agent the number in its stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
    /// Only what follows the place that a cursor names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// Only these types; a type may end in `*`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<String>,
    /// Most to read; 1,000 if not given, 10,000 at most. Long ones may make an answer end earlier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Read the newest ones instead of the oldest.
    #[serde(default, skip_serializing_if = "is_default")]
    pub newest: bool,
}

impl Default for ReplayParams {
    fn default() -> Self {
        Self {
            target: Target::node(),
            projection: log(),
            from: None,
            after: None,
            cursor: None,
            types: Vec::new(),
            limit: None,
            newest: false,
        }
    }
}

/// What was read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReplayResult {
    /// Oldest first.
    pub items: Vec<ReplayItem>,
    /// What to give as `after` to read on.
    pub next: u64,
    /// What to give as `cursor` to read on.
    pub cursor: String,
    /// The oldest number that there is.
    pub oldest_seq: u64,
    /// The newest number that there is, 0 if there is nothing.
    pub head_seq: u64,
    /// Whether there was nothing more at the time.
    pub end: bool,
}

/// One entry of a projection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReplayItem {
    /// Its number.
    pub n: u64,
    /// What it says: in the log an event with its place.
    pub event: Value,
}

/// An event with its place in the record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EventView {
    /// Its place on the node.
    pub pos: u64,
    /// Its hash, lower-case hexadecimal.
    pub hash: String,
    /// The event: `id`, `stream`, `seq`, `ts`, `type`, `payload`, `actor` and what led to it.
    #[serde(flatten)]
    pub event: Value,
}

impl EventView {
    /// An entry of the log as an event in its place; `None` if it is no such entry.
    #[must_use]
    pub fn of(event: Value) -> Option<Self> {
        serde_json::from_value(event).ok()
    }
}

impl ReplayResult {
    /// The entries of the log as events in their places.
    #[must_use]
    pub fn events(self) -> Vec<EventView> {
        self.items.into_iter().filter_map(|item| EventView::of(item.event)).collect()
    }
}

/// Follows a projection: what stands behind the place where it begins, and then each entry as it comes, as `stream/event`
/// notifications. At most one of `from`, `after` and `cursor` may be given; without one it begins behind the newest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubscribeParams {
    /// What it is about; the node if not given.
    #[serde(default, skip_serializing_if = "is_default")]
    pub target: Target,
    /// Which projection; `log` if not given.
    #[serde(default = "log", skip_serializing_if = "is_log")]
    pub projection: String,
    /// From where.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<From>,
    /// Only what has a higher number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
    /// Only what follows the place that a cursor names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// Whether the state is wanted first. What follows it then begins behind it, so none of the three above is given.
    #[serde(default, skip_serializing_if = "is_default")]
    pub snapshot: Snapshot,
    /// Only these types; a type may end in `*`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<String>,
    /// Most entries on their way that `stream/ack` has not named yet; without it the connection's own bounds hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_inflight: Option<u32>,
    /// After so many milliseconds without an entry a `stream/state` says that the stream lives; from 100 to an hour.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heartbeat_ms: Option<u64>,
    /// What to do if the place of the cursor is gone.
    #[serde(default, skip_serializing_if = "is_default")]
    pub on_gap: OnGap,
}

impl Default for SubscribeParams {
    fn default() -> Self {
        Self {
            target: Target::node(),
            projection: log(),
            from: None,
            after: None,
            cursor: None,
            snapshot: Snapshot::None,
            types: Vec::new(),
            max_inflight: None,
            heartbeat_ms: None,
            on_gap: OnGap::Error,
        }
    }
}

/// A subscription.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SubscribeResult {
    /// Its id; absent if only a snapshot was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subscription_id: Option<SubscriptionId>,
    /// The version of the projection, to which the numbers belong.
    pub projection_version: u32,
    /// The state, if it was asked for or had to stand for what is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<SnapshotView>,
    /// The number of the first entry that may come.
    pub next_seq: u64,
    /// The oldest number that there is.
    pub oldest_seq: u64,
    /// The newest number that there is, 0 if there is nothing.
    pub head_seq: u64,
    /// The place where it begins.
    pub cursor: String,
    /// How it begins.
    pub mode: Mode,
}

/// How a subscription begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Behind the newest entry.
    Live,
    /// Further back.
    Replaying,
    /// It does not: only the snapshot was asked for.
    Snapshot,
}

/// The state of a projection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SnapshotView {
    /// What all entries so far make together; of the log nothing.
    pub state: Value,
    /// The number of the last of those entries.
    pub as_of_seq: u64,
    /// What tells whether another who folded the same got the same.
    pub digest: String,
}

/// Names a subscription.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubscriptionParams {
    /// Its id.
    pub subscription_id: SubscriptionId,
}

/// Tells how far a subscriber has come. Exactly one of `n` and `cursor` is given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AckParams {
    /// Which subscription.
    pub subscription_id: SubscriptionId,
    /// The number of an entry; it and everything before it is done with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n: Option<u64>,
    /// The cursor of that entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// What a subscriber has told to be done with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AckResult {
    /// Everything up to here.
    pub acked: u64,
    /// Entries that are on their way.
    pub inflight: u64,
}

/// Which subscriptions to show.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubscriptionStatusParams {
    /// Only this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subscription_id: Option<SubscriptionId>,
}

/// Subscriptions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SubscriptionStatusResult {
    /// Those of this connection, oldest first.
    pub items: Vec<SubscriptionView>,
}

/// How a subscription is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SubscriptionView {
    /// Its id.
    pub subscription_id: SubscriptionId,
    /// What it is about.
    pub target: Target,
    /// Which projection.
    pub projection: String,
    /// Its version.
    pub projection_version: u32,
    /// `live`, `replaying` or `lagging`.
    pub state: String,
    /// The number up to which everything was handed over or, for its type, passed over.
    pub n: u64,
    /// The number up to which the subscriber is done.
    pub acked: u64,
    /// How many entries it is behind the newest.
    pub lag: u64,
    /// Entries that were handed over and not acknowledged; counted where `max_inflight` was given.
    pub inflight: u64,
    /// Most of those.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_inflight: Option<u32>,
}

/// A `stream/event` notification.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StreamEvent {
    /// Whose it is.
    pub subscription_id: SubscriptionId,
    /// The number of the entry that was delivered before, or of the place where the subscription began; only where types
    /// were chosen, so that a gap can be told from what was not wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prev_n: Option<u64>,
    /// What it is about.
    pub target: Target,
    /// Which projection.
    pub projection: String,
    /// Its version.
    pub projection_version: u32,
    /// The entry's number: from 1, without gaps.
    pub n: u64,
    /// The place behind the entry, from which a later subscription can go on.
    pub cursor: String,
    /// What it says: in the log an event with its place.
    pub event: Value,
}

/// The reason of an `ended` stream that goes on at the next daemon, if asked for again.
pub const DAEMON_ENDS: &str = "the daemon ends";

/// The reason of an `ended` stream whose subscriber acknowledged nothing for too long.
pub const BACKPRESSURE: &str = "backpressure";

/// A `stream/state` notification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StreamState {
    /// Whose it is: a subscription or an attachment.
    pub id: String,
    /// `live`, `replaying`, `lagging`, `repaired` or `ended`; of an attachment also `resynchronised`.
    pub state: String,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Of `repaired`: what the snapshot stands for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repaired: Option<Repaired>,
}

/// What a snapshot stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Repaired {
    /// The version of the projection that the cursor was of.
    pub from_version: u32,
    /// The last number of that version that the subscriber had; what followed it is not delivered.
    pub after: u64,
    /// The version that is served.
    pub projection_version: u32,
    /// The number of that version for which the snapshot stands; what follows it is delivered.
    pub as_of_seq: u64,
}

/// Names a projection of a target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProjectionParams {
    /// Which projection.
    pub projection: String,
    /// What it is about; the node if not given.
    #[serde(default)]
    pub target: Target,
}

/// Which projections are meant.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProjectionsParams {
    /// Only this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub projection: Option<String>,
    /// Only those of this target. Without it, those of the node and all that somebody has asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Target>,
}

/// Projections.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectionsResult {
    /// By name.
    pub items: Vec<ProjectionKind>,
}

/// A projection, whatever it is of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectionKind {
    /// Its name.
    pub name: String,
    /// Its version; numbers and cursors belong to it.
    pub version: u32,
    /// What it holds.
    pub summary: String,
    /// What it can be about.
    pub targets: Vec<TargetKind>,
    /// How many of it are kept up to date at the moment.
    pub running: u64,
}

/// A projection of a target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectionView {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: u32,
    /// What it is about.
    pub target: Target,
    /// What all entries so far make together; of the log nothing.
    pub state: Value,
    /// The number of its newest entry that the state stands for.
    pub as_of_seq: u64,
    /// The number of its newest entry.
    pub head_seq: u64,
    /// The place on the node up to which everything is in it.
    pub as_of_pos: u64,
    /// What tells whether another who folded the same got the same.
    pub digest: String,
}

/// What was made anew.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RebuildResult {
    /// Each projection of each target.
    pub items: Vec<Rebuilt>,
}

/// A projection of a target that was made anew.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rebuilt {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: u32,
    /// What it is about.
    pub target: Target,
    /// Events of the record that were looked at.
    pub events: u64,
    /// Events a second.
    pub events_per_s: u64,
    /// The number of its newest entry.
    pub as_of_seq: u64,
    /// The place on the node up to which everything is in it.
    pub as_of_pos: u64,
    /// Its digest.
    pub digest: String,
    /// Whether what was kept before had the same digest; if not, its subscribers were told that it ended.
    pub equal: bool,
}

/// What was compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VerifyResult {
    /// Whether all are equal.
    pub ok: bool,
    /// Each projection of each target.
    pub items: Vec<Verified>,
}

/// A projection of a target that was compared with one made anew.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verified {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: u32,
    /// What it is about.
    pub target: Target,
    /// The number of its newest entry.
    pub as_of_seq: u64,
    /// The place on the node up to which everything is in it.
    pub as_of_pos: u64,
    /// The digest of what is kept.
    pub digest: String,
    /// The digest of what was made anew.
    pub rebuilt: String,
    /// Whether they are equal.
    pub equal: bool,
    /// Events a second.
    pub events_per_s: u64,
}

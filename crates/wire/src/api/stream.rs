//! Events: read and follow.

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

/// Reads events.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadParams {
    /// Only this agent's, by name or id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Only after this position of the node (or, with `agent`, this number of its stream).
    #[serde(default)]
    pub after: u64,
    /// Only these types; a type may end in `.*`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<String>,
    /// Most to read; 1,000 if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Read the newest ones instead of the oldest.
    #[serde(default)]
    pub newest: bool,
}

/// Events.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReadResult {
    /// Oldest first.
    pub items: Vec<EventView>,
    /// What to give as `after` to read on.
    pub next: u64,
    /// Whether there was nothing more at the time.
    pub end: bool,
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

/// Follows events: those after `after`, and then each as it is committed, as `stream/event` notifications.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubscribeParams {
    /// Only this agent's, by name or id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// After this position of the node; from now on if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
    /// Only these types; a type may end in `.*`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<String>,
}

/// A subscription.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SubscribeResult {
    /// Its id.
    pub subscription_id: SubscriptionId,
    /// The newest position at the time.
    pub head: u64,
}

/// Names a subscription.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubscriptionParams {
    /// Its id.
    pub subscription_id: SubscriptionId,
}

/// A `stream/event` notification.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StreamEvent {
    /// Whose it is.
    pub subscription_id: SubscriptionId,
    /// The event.
    pub event: EventView,
}

/// The reason of an `ended` stream that goes on at the next daemon, if asked for again.
pub const DAEMON_ENDS: &str = "the daemon ends";

/// A `stream/state` notification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StreamState {
    /// Whose it is: a subscription or an attachment.
    pub id: String,
    /// `live`, `resynchronised` or `ended`.
    pub state: String,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

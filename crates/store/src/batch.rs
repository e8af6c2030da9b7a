//! What goes into the record and what comes back: batches, bodies, positions, and why a batch was not taken.

use std::sync::Arc;

use edgeplane_proof::{CanonicalError, Digest, digest};
use edgeplane_types::{
    Event, EventId, Fact, StreamName, Timestamp, TraceContext,
    fact::{Actor, Consumed},
};
use serde::{Deserialize, Serialize};

use crate::FoldError;

/// Longest event in canonical bytes: bulk belongs into bodies, and one event must not stall the others.
pub const EVENT_BYTES_MAX: usize = 1 << 20;

/// An event that has no place in the record yet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NewEvent {
    /// Its id.
    pub id: EventId,
    /// The stream it belongs to.
    pub stream: StreamName,
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

impl NewEvent {
    /// The event with a number that is still to be given.
    pub(crate) fn into_event(self) -> Event {
        let Self { id, stream, ts, actor, cause, consumed, trace, fact } = self;
        Event { id, stream, seq: 0, ts, actor, cause, consumed, trace, fact }
    }

    /// The event without its number.
    pub(crate) fn from_event(event: &Event) -> Self {
        let Event { id, stream, seq: _, ts, actor, cause, consumed, trace, fact } = event.clone();
        Self { id, stream, ts, actor, cause, consumed, trace, fact }
    }
}

/// Bytes that events name by their digest: contents, outputs, values, manifests.
#[derive(Debug, Clone)]
pub struct Body {
    digest: Digest,
    bytes: Vec<u8>,
}

impl Body {
    /// Takes `bytes` and their digest; the work is done here so that it is not done on the writer's thread.
    #[must_use]
    pub fn new(bytes: Vec<u8>) -> Self {
        Self { digest: digest(&bytes), bytes }
    }

    /// The SHA-256 of the bytes.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// The bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Events and bodies that become durable together or not at all.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    /// The events, in order; of any number of streams.
    pub events: Vec<NewEvent>,
    /// The bodies they name and that may not be there yet.
    pub bodies: Vec<Body>,
    /// Whether the reserve takes it in when the disk is full: stop, kill, freeze, exit, change of desire.
    pub critical: bool,
}

/// An event in its place.
#[derive(Debug, Clone, PartialEq)]
pub struct CommittedEvent {
    /// Its number in the record of the node, from 1, without gaps.
    pub pos: u64,
    /// The event.
    pub event: Arc<Event>,
    /// Its hash in the chain of its stream.
    pub hash: Digest,
}

/// A batch that is durable.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Committed {
    /// Its events in their places; empty if the batch is held.
    pub events: Vec<CommittedEvent>,
    /// How many events of it stand in the reserve and get their places when there is room again.
    pub held: usize,
}

/// Why a batch is not in the record. Nothing of it is, then.
#[derive(Debug, Clone, thiserror::Error)]
pub enum AppendError {
    /// More is waiting than the writer can take.
    #[error("the record's queue is full")]
    Backpressure,
    /// The store is closed.
    #[error("the record is closed")]
    Closed,
    /// The record failed verification and is read-only.
    #[error("the record is damaged and read-only")]
    Damaged,
    /// There is no space.
    #[error("no space for the record")]
    StorageFull,
    /// An event has no canonical form.
    #[error("event `{kind}` cannot be written")]
    Unwritable {
        /// The event's type.
        kind: &'static str,
        /// Why.
        #[source]
        source: CanonicalError,
    },
    /// An event is longer than [`EVENT_BYTES_MAX`].
    #[error("event `{kind}` has {bytes} bytes, more than {EVENT_BYTES_MAX}")]
    TooLarge {
        /// The event's type.
        kind: &'static str,
        /// Its length.
        bytes: usize,
    },
    /// A read model cannot take an event in.
    #[error("event `{kind}` does not fit the record")]
    Refused {
        /// The event's type.
        kind: &'static str,
        /// Why.
        #[source]
        source: Arc<FoldError>,
    },
    /// A body cannot be written to its file.
    #[error("cannot write body {digest}")]
    Body {
        /// Which.
        digest: Digest,
        /// What the kernel said.
        #[source]
        source: Arc<std::io::Error>,
    },
    /// The database failed in a way that is neither damage nor a full disk.
    #[error("cannot commit to the record")]
    Database {
        /// What it said.
        #[source]
        source: Arc<rusqlite::Error>,
    },
}

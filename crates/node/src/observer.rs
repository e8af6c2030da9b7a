//! What may look on while the node works: whoever counts, measures and exports.
//!
//! The node tells and goes on. Whoever is told must return at once, keep nothing that grows, and never fail.

use std::{fmt::Debug, sync::Arc};

use edgeplane_types::{ErrorName, Timestamp, TraceContext, TraceId};
use edgeplane_wire::api::trace::Span;

/// A request that was served or refused.
#[derive(Debug, Clone)]
pub struct ServedRequest {
    /// What was asked for, as whom, in which trace.
    pub trace: Arc<TraceContext>,
    /// When it was begun.
    pub start: Timestamp,
    /// When it was over.
    pub end: Timestamp,
    /// Why it was refused, if it was.
    pub error: Option<ErrorName>,
}

/// Something that happened to whoever follows the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// Events that a follower had to read again because it was behind.
    Behind(u64),
    /// A part of a recording or of a stream is missing.
    Gap,
    /// Turns that were not looked at because too many ended at once.
    PassedOver(u64),
}

/// Looks on.
pub trait Observer: Debug + Send + Sync {
    /// A request is over.
    fn served(&self, request: &ServedRequest);
    /// Spans that are over, as the record has them.
    fn ended(&self, trace: TraceId, spans: &[Span]);
    /// Something that is only counted.
    fn seen(&self, seen: Seen);
}

//! Streams: what is followed from any point comes once, in order, without a gap, whoever dies meanwhile.
//!
//! `EDGEPLANE_STREAM_DEATHS` says how often the daemon dies under its subscribers.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on ends at once")]
#![expect(clippy::print_stdout, reason = "how often who was cut off belongs to the result")]

#[path = "streams/bounds.rs"]
mod bounds;
#[path = "streams/cursors.rs"]
mod cursors;
#[path = "streams/deaths.rs"]
mod deaths;
#[path = "streams/projections.rs"]
mod projections;
#[path = "streams/rights.rs"]
mod rights;
#[path = "streams/talk.rs"]
mod talk;

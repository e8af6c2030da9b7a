//! Projections: what readers want to see of the record, as pure, versioned folds of its events.
//!
//! Owns what each projection is about, what it says about an event, its state, its digest and its checkpoint, and the
//! outside vocabulary of Agent Runtime. It deliberately knows no file, database, clock, randomness or subscriber: it is
//! given parsed events in their order and sees no bodies, whose digests it names.
#![forbid(unsafe_code)]

pub mod definition;
pub mod entry;
pub mod json;
pub mod running;
pub mod subject;

mod actions;
mod agentruntime;
mod edges;
mod fold;
mod folds;
mod life;
mod model;
mod recent;
mod subagents;
mod telling;
mod turns;
mod work;

pub use definition::{Definition, PROJECTIONS, find};
pub use entry::{BodyRef, Entry, EnvelopeId, Ids, Numbered};
pub use json::Json;
pub use running::Running;
pub use subject::{Input, Subject, main_thread, turn_of};

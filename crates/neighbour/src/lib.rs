//! The neighbours of a node: what it uses and does not own, each behind a trait that can be replaced.
//!
//! Owns the traits, for each a default that needs nothing but a folder, and for each a double in memory. Replacing one
//! changes neither the record, nor the method catalogue, nor a read model: whatever a neighbour says is checked by the
//! node and written down by the node. It deliberately knows no record, no agent and no method. Everything here blocks.
#![forbid(unsafe_code)]

mod error;

pub mod artifact;
pub mod context;
pub mod evidence;
pub mod model;
pub mod peer;
pub mod surface;

pub use error::NeighbourError;

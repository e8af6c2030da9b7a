//! Real nodes for tests: a daemon in folders of its own, driven over its socket, killed and brought back.
//!
//! Owns every process it starts and ends them all. Panics with what it found: it is for tests only.
#![forbid(unsafe_code)]
#![expect(clippy::panic, clippy::expect_used, reason = "a test that cannot go on ends at once")]

pub mod agents;
mod alone;
pub mod binding;
mod callers;
mod connection;
mod evidence;
mod facts;
pub mod forgery;
pub mod graph;
mod manifests;
pub mod mcp;
pub mod model;
mod node;
pub mod npm;
pub mod observe;
pub mod peers;
pub mod random;
pub mod sample;
pub mod signals;
mod tokens;
pub mod tui;
pub mod wait;
pub mod web;

pub use alone::{Alone, alone};
pub use callers::words;
pub use connection::{Connection, Notification};
pub use manifests::{acp, exec, native, task_worker, terminal};
pub use node::{Binaries, Node, NodeOptions};

/// Bytes that a user may still write where `path` is.
///
/// # Panics
/// If the path cannot be looked at.
#[must_use]
pub fn free_bytes(path: &std::path::Path) -> u64 {
    edgeplane_os::space::free_bytes(path).unwrap_or_else(|error| panic!("{error}"))
}

//! The node: supervision, routing, delivery and reading of agents. It performs what the rules decide.
//!
//! Owns engines and conversations. It does not own truth, which is the record's; nor processes, which are the
//! substrate's; nor rules, which are below it.
#![forbid(unsafe_code)]

mod adapters;
mod admission;
mod agent;
mod artifact;
mod automations;
mod caller;
mod capabilities;
mod checks;
mod commands;
mod evidence;
mod gate;
mod held;
mod identity;
mod keyframes;
mod keys;
mod left_behind;
mod neighbours;
mod observer;
mod outbound;
mod overrides;
mod profile;
mod projections;
mod record;
mod recordings;
mod removal;
mod resources;
mod schedule;
mod scopes;
mod screen;
mod server;
mod shared;
mod start;
mod storage;
mod subagents;
mod tokens;
mod trace;
mod users;
mod work;
mod workspaces;

pub use identity::IdentityError;
pub use neighbours::{GivenHost, Host, Neighbours};
pub use observer::{Observer, Seen, ServedRequest};
pub use server::{Presented, verify_offline};
pub use start::{Config, Edge, Node, StartError};

//! Clients of servers of the Model Context Protocol: discovery, calls, restarts.
//!
//! Owns one server at a time: its process or its address, what it offers, and what becomes of a call. A server that
//! lies, floods or dies costs itself and nobody else: everything it says is bounded before it is read. It deliberately
//! knows no agent, no permission and no record: who may call what is decided before anything comes here.
#![forbid(unsafe_code)]

mod connector;
mod failure;
mod guard;
mod handler;
mod inventory;
mod limits;
mod lines;
mod oauth;
mod once;
mod process;
mod questions;
mod rest;
mod server;
mod session;
mod shown;
mod target;
mod verdict;

pub use connector::{Connector, Standing, Targeting};
pub use failure::{CallFailure, Effect, Ended, Failure};
pub use handler::Progress;
pub use inventory::{Inventory, Offer, OfferKind, object_schema, sorted};
pub use limits::{FRAME_BYTES_MAX, Limits, OFFERS_MAX, QUESTIONS_MAX, STDERR_LINES_MAX};
pub use oauth::{Grantor, Oauth};
pub use once::{ask_address, ask_program};
pub use process::{MARK, end_marked};
pub use questions::{Answer, Asking, Listening, Question, Wanted};
pub use server::{Connectors, MemoryServers, ToolServer, ToolServers};
pub use session::{Call, Said, Session};
pub use target::{Address, Program, Target};

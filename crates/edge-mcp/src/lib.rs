//! The Model Context Protocol for agents: tools, resources and prompts over the typed client of a node.
//!
//! Owns the translation in both directions, over standard streams and as an answerer of HTTP requests. It holds no fact
//! that the record lacks, and it deliberately does not know who calls: the node proves that from the connection or the
//! token, and no argument of any tool names a sender. Listening, tokens and browsers are the gateway's business.
#![forbid(unsafe_code)]

mod capabilities;
mod failure;
mod handler;
mod http;
mod link;
mod prompts;
mod resources;
mod shown;
mod stdio;
mod tools;
mod watch;

pub use capabilities::{Choice, ChoiceError};
pub use http::{HttpAnswer, HttpEndpoint, SESSIONS_MAX};
pub use link::{Connecting, Way};
pub use stdio::{ServeError, serve_stdio};

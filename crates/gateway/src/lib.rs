//! The gateway: the node's protocol over HTTP, server-sent events and WebSockets, and the edges that are mounted beside it.
//!
//! Owns the listener, TLS, the checks of where a request comes from, and what becomes of bytes between a peer and a
//! conversation with the node. It knows framing, credentials and what ends; what a method means it deliberately does not
//! know. A token is never looked into here: the node says whose it is, and again with each call.
#![forbid(unsafe_code)]

mod bearer;
mod bounded;
mod conversation;
#[cfg(test)]
mod fake;
mod listen;
mod protocol;
mod site;
mod tls;

pub use bearer::{BEARERS_MAX, Bearers, Connect, Endpoint, Mount, Refusal};
pub use conversation::{Converse, Presented};
pub use listen::{
    CONNECTIONS_MAX, Config, Gateway, ListenError, MCP_BODY_BYTES_MAX, MCP_CONNECTIONS_MAX, Routes,
};
pub use protocol::{BODY_BYTES_MAX, Metrics, Protocol};
pub use site::{HostName, HostNameError};
pub use tls::{Tls, TlsError, TlsFiles};

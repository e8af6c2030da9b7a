//! The first piece of the gateway: HTTP on loopback, for edges that are mounted on it.
//!
//! Owns the listener, the checks of where a request comes from, and the tokens that requests bear. What is served behind
//! them is handed in by whoever assembles the program: the gateway deliberately knows no edge. A token is never looked
//! into here; the node says whose it is, on a connection of its own.
#![forbid(unsafe_code)]

mod bearer;
mod bounded;
mod listen;
mod origin;

pub use bearer::{BEARERS_MAX, Bearers, Connect, Endpoint, Mount, Refusal};
pub use listen::{BODY_BYTES_MAX, Gateway, ListenError};

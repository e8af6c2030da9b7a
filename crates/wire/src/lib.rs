//! What goes over wires: the method catalogue, JSON-RPC messages, shim frames and the recording's lines.
//!
//! Owns the shape of bytes in both directions and nothing that moves them.
#![forbid(unsafe_code)]

pub mod api;
pub mod base64;
pub mod bytes;
pub mod cast;
pub mod catalogue;
pub mod command;
pub mod rpc;
pub mod shim;
pub mod spec;
pub mod terminal;

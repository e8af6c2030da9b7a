//! The program as its users meet it, against a node that answers from a table.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, clippy::panic, reason = "what fails in here is a test")]

mod actions;
mod asking;
mod attach;
mod attach_again;
mod calls;
mod daemon;
mod ends;
mod fake;
mod follow;
mod offline;
mod security;
mod surface;

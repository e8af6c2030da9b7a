//! The process that owns one epoch of an agent: its terminal or pipes, its recording, its input, its end.
//!
//! One thread, one poll loop, fixed buffers. It outlives the daemon and any client, never waits for one, and does not
//! panic: an error of one part ends that part. It deliberately knows no record, no message and no policy: what arrives
//! on its connections is bytes to write, signals to send and questions about facts.
//!
//! A launch is in `launch`, the loop in `engine`, the recording in `recording`.
#![forbid(unsafe_code)]
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod arguments;
mod begin;
mod delete;
mod failure;
mod launch;
mod limits;
mod nursery;

mod engine;

mod client;
mod clients;
mod command_input;
mod commands;
mod input;
mod members;
mod program;
mod questions;
mod recording;
mod tree;

pub use begin::main;

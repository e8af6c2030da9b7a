//! The rules of a life: pure state machines that an engine drives.
//!
//! `step(state, input) -> (state, actions)`: no clock, no randomness, no I/O. Time and chance come in as values;
//! what is to be done goes out as a list, in order, and the engine does it.
#![forbid(unsafe_code)]

pub mod action;
pub mod agent;
pub mod backoff;
pub mod overrides;
pub mod schedule;
pub mod task;

pub use agent::{Action, After, Agent, Context, Illegal, Input, Note, State, Step, Tree};
pub use backoff::{Policy, RestartBook, RestartMode, Verdict};

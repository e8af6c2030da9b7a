//! A client of the node: every method of the catalogue as a typed call, over any stream of bytes.
//!
//! Owns the matching of answers to calls, the deadline of each call and the delivery of notifications. It deliberately
//! knows no method by name, keeps nothing that the node said, and never asks twice: whether to retry is the caller's
//! decision, with [`CallError::name`] in hand.
#![forbid(unsafe_code)]

mod client;
mod error;
mod line;
mod pending;
mod task;

pub use client::{Client, NOTIFICATIONS_MAX, Notification, Notifications, REQUESTS_MAX, traced};
pub use error::CallError;
pub use line::{LineError, Lines};

#[cfg(test)]
mod tests;

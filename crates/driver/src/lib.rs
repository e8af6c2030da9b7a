//! Drivers: how envelopes become what a program reads, and how its output becomes facts.
//!
//! Codecs only: bytes and values in, bytes and values out. A driver does not know where its bytes come from,
//! whether anything is durable, or who may speak.
#![forbid(unsafe_code)]

pub mod acp;
pub mod exec;
pub mod hooks;
pub mod lines;
pub mod native;
pub mod notice;
pub mod render;
pub mod screen;
pub mod terminal;

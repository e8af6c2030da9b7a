//! The eighteen acceptance scenarios of Agent Runtime 0.4.0, as a client that sees nothing but HTTP.
//!
//! Owns the scenarios, the rules that every event and snapshot is held to, and the report. It deliberately knows no
//! crate of EdgePlane: what a command is called, where an event stands in an answer, and which agent does what is asked
//! of it, stands in a mapping file that each implementation brings. `README.md` beside this crate says how.
#![forbid(unsafe_code)]

pub mod clock;
pub mod http;
pub mod mapping;
pub mod report;
pub mod rules;
pub mod scenarios;
pub mod schemas;
pub mod stream;
pub mod template;
pub mod watch;
pub mod world;

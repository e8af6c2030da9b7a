//! `edgeplane`: the command line of a node.
//!
//! Owns what people type and read. Every verb is one or a few calls of the method catalogue; this program knows nothing
//! of an agent that the node does not tell it, and keeps nothing.
#![forbid(unsafe_code)]

mod args;
mod command;

mod context;
mod environment;
mod failure;
mod lasting;
mod node;
mod token;

mod lines;
mod progress;

mod output;
mod table;

mod json;
mod quantity;
mod terminal;
mod text;

use std::process::ExitCode;

fn main() -> ExitCode {
    command::main(std::env::args_os(), environment::Environment::of_this_process())
}

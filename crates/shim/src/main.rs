//! The shim's program; everything is in the library beside it.
#![forbid(unsafe_code)]
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::{env, process::ExitCode};

fn main() -> ExitCode {
    edgeplane_shim::main(env::args_os().skip(1))
}

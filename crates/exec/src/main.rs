//! The runner of programs that end with each turn: it lives as long as an epoch and starts one process for each turn.
//!
//! To its shim it is a program on pipes, to the node one that speaks the Agent Client Protocol. One thread, one poll
//! loop. What it is asked comes from the node alone; what its processes say is measured and bounded, and the end of a
//! turn is the end of its process, whatever that left behind. It keeps nothing from one turn to the next.
#![forbid(unsafe_code)]
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod engine;
mod process;
mod turn;

use std::{
    env,
    error::Error,
    ffi::OsString,
    io::Write as _,
    path::{Path, PathBuf},
    process::ExitCode,
};

use edgeplane_driver::exec::Plan;

/// What is written for `--help`.
const HELP: &str = "\
edgeplane-exec: runs an agent's program once for each turn

  edgeplane-exec PLAN
      Reads turns from standard input. Started by edgeplane-shim for an agent with the
      driver `exec`; PLAN is JSON and says how the program is called.

  edgeplane-exec --help | --version
";

/// The code that shells give for a program that is not there.
const NOT_FOUND: u8 = 127;

fn main() -> ExitCode {
    let argument = env::args_os().nth(1).unwrap_or_default();
    match argument.to_str() {
        Some("--help" | "-h") => tell(HELP),
        Some("--version" | "-V") => tell(&format!("edgeplane-exec {}\n", env!("CARGO_PKG_VERSION"))),
        _ => serve(argument),
    }
}

fn serve(argument: OsString) -> ExitCode {
    let plan = argument.into_string().map_err(|_bytes| "its plan is no text".to_owned());
    let plan = plan.and_then(|text| Plan::read(&text).map_err(|error| chain(&error)));
    let plan = match plan {
        Ok(plan) => plan,
        Err(why) => return complain(&why, ExitCode::from(2)),
    };
    let program = plan.program.first().map(String::as_str).unwrap_or_default();
    let path = env::var_os("PATH").unwrap_or_default();
    if !is_there(program, &path) {
        return complain(&format!("cannot find program `{program}`"), ExitCode::from(NOT_FOUND));
    }
    match engine::serve(&plan, &path) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => complain(&chain(&error), ExitCode::FAILURE),
    }
}

/// Whether a program is where it would be looked for: an agent whose program is missing fails at its start and not at
/// its first turn.
fn is_there(program: &str, path: &OsString) -> bool {
    if program.contains('/') {
        return Path::new(program).is_file();
    }
    let absolute = |dir: &PathBuf| dir.is_absolute();
    !program.is_empty() && env::split_paths(path).filter(absolute).any(|dir| dir.join(program).is_file())
}

/// An error with everything below it, in one line.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(error) = next {
        text.push_str(": ");
        text.push_str(&error.to_string());
        next = error.source();
    }
    text
}

fn tell(text: &str) -> ExitCode {
    // Whoever asked and does not listen has no use for a complaint either.
    drop(std::io::stdout().write_all(text.as_bytes()));
    ExitCode::SUCCESS
}

fn complain(why: &str, code: ExitCode) -> ExitCode {
    // Standard error is the last thing there is to say it to.
    drop(writeln!(std::io::stderr(), "edgeplane-exec: {why}"));
    code
}

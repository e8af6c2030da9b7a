//! The project's own checks and its benchmark, run as `cargo xtask <command>`.
//!
//! Owns the rules that a machine can check and that neither the compiler nor clippy does: they read manifests and
//! sources as text. The benchmark drives the built programs from outside. Pages, schemas and clients are made from
//! the catalogue in `wire`; nothing else of the node is linked.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "what a check finds is this program's output")]

mod bench;
mod floors;
mod generate;
mod problem;
mod requirements;
mod source;
mod tidy;
mod workspace;

use std::path::Path;
use std::process::ExitCode;

use problem::Problem;

/// One thing `cargo xtask` can do.
struct Command {
    name: &'static str,
    about: &'static str,
    /// Runs at the root of the workspace with the arguments that follow the name.
    run: fn(&Path, &[String]) -> anyhow::Result<ExitCode>,
}

/// Every command, in the order that the help lists them.
const COMMANDS: &[Command] = &[
    Command {
        name: "floors",
        about: "check the imports of every crate against floors.toml",
        run: |root, arguments| check("floors", arguments, || floors::check_workspace(root)),
    },
    Command {
        name: "tidy",
        about: "check the sources against the style guide, and the tests against the requirements",
        run: |root, arguments| check("tidy", arguments, || tidy::check_workspace(root)),
    },
    Command {
        name: "generate",
        about: "write what is made from the catalogue: pages, OpenAPI, schemas, clients; --check compares only",
        run: generate::run,
    },
    Command {
        name: "bench",
        about: "measure the built programs beside references and peers; --quick for a short look",
        run: bench::run,
    },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    run(&arguments).unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

fn run(arguments: &[String]) -> anyhow::Result<ExitCode> {
    let Some((name, rest)) = arguments.split_first() else {
        print_help();
        return Ok(ExitCode::FAILURE);
    };
    if ["help", "--help", "-h"].contains(&name.as_str()) {
        print_help();
        return Ok(ExitCode::SUCCESS);
    }
    // The name that it had when it made one page.
    let name = if name == "methods" { "generate" } else { name };
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        print_help();
        anyhow::bail!("no command is called `{name}`");
    };
    let root = workspace::find_root(&std::env::current_dir()?)?;
    (command.run)(&root, rest)
}

fn print_help() {
    println!("usage: cargo xtask <command>\n");
    for command in COMMANDS {
        println!("  {:<8} {}", command.name, command.about);
    }
}

/// Runs a check, prints what it finds and their number, and fails when that is not zero.
fn check(
    name: &str,
    arguments: &[String],
    find: impl FnOnce() -> anyhow::Result<Vec<Problem>>,
) -> anyhow::Result<ExitCode> {
    if let Some(argument) = arguments.first() {
        anyhow::bail!("`{name}` takes no argument, got `{argument}`");
    }
    let mut problems = find()?;
    problems.sort();
    for problem in &problems {
        println!("{problem}");
    }
    match problems.len() {
        0 => {
            println!("{name}: no problems");
            return Ok(ExitCode::SUCCESS);
        }
        1 => println!("{name}: 1 problem"),
        count => println!("{name}: {count} problems"),
    }
    Ok(ExitCode::FAILURE)
}

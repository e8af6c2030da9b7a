//! `edgeplane daemon`: the node on this machine.

mod down;
pub(crate) mod file_log;
pub(crate) mod program;
mod status;
pub(crate) mod unit;
pub(crate) mod up;
pub(crate) mod watchdog;

use clap::{Args, Subcommand};

use super::Outcome;
use crate::context::Context;

/// Start, stop and look at the node
///
/// The daemon `edgeplaned` supervises the agents of this machine. Agents do not depend on its life: when it is stopped,
/// killed or updated they go on, and the next one takes them over.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane daemon up
  edgeplane daemon status
  edgeplane daemon logs -f")]
pub(crate) struct DaemonArgs {
    #[command(subcommand)]
    command: DaemonCommand,
}

#[derive(Debug, Subcommand)]
enum DaemonCommand {
    Up(up::UpArgs),
    Down(down::DownArgs),
    Status(status::StatusArgs),
    Logs(file_log::LogsArgs),
}

pub(crate) fn run(args: &DaemonArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    match &args.command {
        DaemonCommand::Up(args) => up::run(args, context),
        DaemonCommand::Down(args) => down::run(args, context),
        DaemonCommand::Status(args) => status::run(args, context),
        DaemonCommand::Logs(args) => file_log::run(args, context),
    }
}

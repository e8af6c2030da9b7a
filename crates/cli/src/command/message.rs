//! `edgeplane message`: single messages: submit content, and see to those that did not reach their agent.

mod dead;
mod submit;

use clap::{Args, Subcommand};

use super::Outcome;
use crate::context::Context;

/// Submit content, and see to messages that did not reach their agent
///
/// `submit` hands a tool's result, a document or a web page to an agent as what it is. A message that was rejected,
/// expired, given up, or held because a crash left unknown whether it was delivered, is a dead letter: `dead` lists them,
/// `replay` delivers one after all, `drop` takes one off the list.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane message submit reviewer --channel document --source-path notes.md --file notes.md
  edgeplane message dead reviewer
  edgeplane message replay msg_01890000-0000-7000-8000-000000000002")]
pub(crate) struct MessageArgs {
    #[command(subcommand)]
    command: MessageCommand,
}

#[derive(Debug, Subcommand)]
enum MessageCommand {
    Submit(submit::SubmitArgs),
    Dead(dead::DeadArgs),
    Replay(dead::ReplayArgs),
    Drop(dead::DropArgs),
}

pub(crate) fn run(args: MessageArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    match args.command {
        MessageCommand::Submit(args) => submit::run(args, context),
        MessageCommand::Dead(args) => dead::list(&args, context),
        MessageCommand::Replay(args) => dead::replay(&args, context),
        MessageCommand::Drop(args) => dead::drop_for_good(args, context),
    }
}

//! `edgeplane message`: single messages: look at one and prove where it came from, submit content, and see to those that
//! did not reach their agent.

mod dead;
mod export;
mod show;
mod submit;
mod verify;

use clap::{Args, Subcommand};

use super::Outcome;
use crate::context::Context;

/// Look at messages, prove where they came from, submit content, see to dead letters
///
/// The envelope of a message says who spoke, by what the node knew that, and what the words weigh. The node signs it on
/// request; whoever has the node's public key can verify that later, without the node. `submit` hands a tool's result, a
/// document or a web page to an agent as what it is. A message that was rejected, expired, given up, or held because a
/// crash left unknown whether it was delivered, is a dead letter: `dead` lists them, `replay` delivers one after all,
/// `drop` takes one off the list.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane message show msg_01890000-0000-7000-8000-000000000002
  edgeplane message verify msg_01890000-0000-7000-8000-000000000002
  edgeplane message export msg_01890000-0000-7000-8000-000000000002 > message.json
  edgeplane message verify --file message.json --key 11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo
  edgeplane message submit reviewer --channel document --source-path notes.md --file notes.md
  edgeplane message dead reviewer
  edgeplane message replay msg_01890000-0000-7000-8000-000000000002")]
pub(crate) struct MessageArgs {
    #[command(subcommand)]
    command: MessageCommand,
}

#[derive(Debug, Subcommand)]
enum MessageCommand {
    Show(show::ShowArgs),
    Verify(verify::VerifyArgs),
    Export(export::ExportArgs),
    Submit(submit::SubmitArgs),
    Dead(dead::DeadArgs),
    Replay(dead::ReplayArgs),
    Drop(dead::DropArgs),
}

pub(crate) fn run(args: MessageArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    match args.command {
        MessageCommand::Show(args) => show::run(&args, context),
        MessageCommand::Verify(args) => verify::run(&args, context),
        MessageCommand::Export(args) => export::run(&args, context),
        MessageCommand::Submit(args) => submit::run(args, context),
        MessageCommand::Dead(args) => dead::list(&args, context),
        MessageCommand::Replay(args) => dead::replay(&args, context),
        MessageCommand::Drop(args) => dead::drop_for_good(args, context),
    }
}

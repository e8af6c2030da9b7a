//! `edgeplane message`: one message, and what the node vouches for of it.

mod export;
mod show;
mod verify;

use clap::{Args, Subcommand};

use super::Outcome;
use crate::context::Context;

/// Look at a message, and prove where it came from
///
/// The envelope of a message says who spoke, by what the node knew that, and what the words weigh. The node signs it on
/// request; whoever has the node's public key can verify that later, without the node.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane message show msg_01890000-0000-7000-8000-000000000002
  edgeplane message verify msg_01890000-0000-7000-8000-000000000002
  edgeplane message export msg_01890000-0000-7000-8000-000000000002 > message.json
  edgeplane message verify --file message.json --key 11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo")]
pub(crate) struct MessageArgs {
    #[command(subcommand)]
    command: MessageCommand,
}

#[derive(Debug, Subcommand)]
enum MessageCommand {
    Show(show::ShowArgs),
    Verify(verify::VerifyArgs),
    Export(export::ExportArgs),
}

pub(crate) fn run(args: &MessageArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    match &args.command {
        MessageCommand::Show(args) => show::run(args, context),
        MessageCommand::Verify(args) => verify::run(args, context),
        MessageCommand::Export(args) => export::run(args, context),
    }
}

//! `edgeplane node`: the keys with which this node vouches.

use clap::{Args, Subcommand};
use edgeplane_wire::{
    api::{Empty, security::KeyView},
    catalogue::{KeyList, KeyRotate},
};

use super::{Outcome, inbox::short_time};
use crate::{
    context::Context,
    output::Output,
    table::{Table, cell},
};

/// See and change the node's key
///
/// A node signs what leaves it with an Ed25519 key that it made at its first start. The public half may be known to
/// everybody; whoever has it can verify what the node signed, also when the node is gone.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane node keys
  edgeplane node rotate-key")]
pub(crate) struct NodeArgs {
    #[command(subcommand)]
    command: NodeCommand,
}

#[derive(Debug, Subcommand)]
enum NodeCommand {
    Keys(KeysArgs),
    RotateKey(RotateArgs),
}

/// List the node's public keys
///
/// Oldest first; the last one signs. What a retired key signed while it was the current one stays valid.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane node keys
  edgeplane node keys -o json | jq -r '.items[-1].public_key'")]
struct KeysArgs {}

/// Make a new key
///
/// From here on the node signs with it. What the old key signed stays valid, and the seed of the old key is removed.
/// Tokens of epochs that the old key signed are worth nothing any more; agents ask for others.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane node rotate-key
  edgeplane node rotate-key -o json | jq -r .public_key")]
struct RotateArgs {}

pub(crate) fn run(args: &NodeArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    match &args.command {
        NodeCommand::Keys(KeysArgs {}) => {
            let answer = context.ask::<KeyList>(&Empty {})?;
            context.show(&answer, |out, result| keys(out, &result.items))?;
        }
        NodeCommand::RotateKey(RotateArgs {}) => {
            let answer = context.ask::<KeyRotate>(&Empty {})?;
            context.show(&answer, |out, key| {
                Ok(out.line(&format!("{} signs from here on: {}", key.key_id, key.public_key))?)
            })?;
        }
    }
    Ok(Outcome::Done)
}

fn keys(out: &mut Output, items: &[KeyView]) -> anyhow::Result<()> {
    if items.is_empty() {
        out.note("the node has no key; `edgeplane doctor` says why");
        return Ok(());
    }
    let mut table = Table::new(&["KEY", "PUBLIC", "SINCE", "UNTIL"]);
    for key in items {
        table.row([
            key.key_id.to_string(),
            cell(&key.public_key),
            short_time(&key.created_at),
            key.retired_at.as_ref().map_or_else(|| "now".to_owned(), short_time),
        ]);
    }
    Ok(out.table(&table)?)
}

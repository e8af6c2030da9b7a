//! `edgeplane message dead`, `replay` and `drop`: messages that did not reach their agent.

use clap::Args;
use edgeplane_types::MessageId;
use edgeplane_wire::{
    api::message::{DeadLettersParams, DropParams, MessageParams, MessageView},
    catalogue::{DeadLetterDrop, DeadLetterList, DeadLetterReplay},
};

use crate::{
    command::{
        Outcome,
        inbox::{content_cell, short_time},
    },
    context::Context,
    output::{Color, paint},
    table::{Table, cell},
    text,
};

/// Characters of a reason that a table shows.
const REASON_CHARS: usize = 60;

/// List messages that did not reach their agent
///
/// They were rejected, expired or given up, or a crash left unknown whether they were delivered and the agent's manifest
/// says that they are held. Those of all agents, in the order of their arrival; inside an agent its own.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane message dead
  edgeplane message dead reviewer --limit 20
  edgeplane message dead -o json | jq -r '.items[].message_id'")]
pub(super) struct DeadArgs {
    /// Only of this agent: its name or id; of one that is deleted, its id
    name: Option<String>,
    /// Most messages to list
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: u32,
    /// Only those behind this position: what the page before gave as `next`
    #[arg(long, value_name = "POSITION", default_value_t = 0)]
    cursor: u64,
}

/// Deliver a message after all
///
/// It waits once more, and does not expire if its time is over. One of which a crash left unknown whether it was
/// delivered comes with `perhaps again` in its header.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane message replay msg_01890000-0000-7000-8000-000000000002
  edgeplane message dead reviewer -o json | jq -r '.items[].message_id' | xargs -n1 edgeplane message replay")]
pub(super) struct ReplayArgs {
    /// The message
    message: MessageId,
}

/// Take a message off the list of dead letters
///
/// It can not be delivered any more. Its receipts and its content stay in the record.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane message drop msg_01890000-0000-7000-8000-000000000002 --reason \"sent again by hand\"
  edgeplane message dead reviewer -o json | jq -r '.items[].message_id' | xargs -n1 edgeplane message drop")]
pub(super) struct DropArgs {
    /// The message
    message: MessageId,
    /// Why, for the record
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    reason: String,
}

pub(super) fn list(args: &DeadArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let params = DeadLettersParams { agent: args.name.clone(), limit: args.limit, cursor: args.cursor };
    let answer = context.ask::<DeadLetterList>(&params)?;
    context.show(&answer, |out, result| {
        if result.items.is_empty() {
            out.note("no dead letters");
            return Ok(());
        }
        let mut table =
            Table::new(&["MESSAGE", "ACCEPTED", "AGENT", "SOURCE", "RECEIPT", "REASON", "CONTENT"]);
        for message in &result.items {
            table.row(row(message));
        }
        out.table(&table)?;
        if let Some(next) = result.next {
            out.note(&format!("there are more: --cursor {next}"));
        }
        Ok(())
    })?;
    Ok(Outcome::Done)
}

fn row(message: &MessageView) -> [String; 7] {
    let receipt = message.receipts.last().map(|receipt| receipt.rung.to_string()).unwrap_or_default();
    [
        message.message_id.to_string(),
        short_time(&message.accepted_at),
        cell(&message.agent),
        cell(message.source.as_str()),
        paint(Color::Red, &receipt),
        text::excerpt(message.reason.as_deref().unwrap_or_default(), REASON_CHARS),
        content_cell(message),
    ]
}

pub(super) fn replay(args: &ReplayArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let answer = context.ask::<DeadLetterReplay>(&MessageParams { message_id: args.message })?;
    context.show(&answer, |out, message| {
        Ok(out.line(&format!("{} to {} is tried once more", message.message_id, message.agent))?)
    })?;
    Ok(Outcome::Done)
}

pub(super) fn drop_for_good(args: DropArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let params = DropParams { message_id: args.message, reason: args.reason };
    let answer = context.ask::<DeadLetterDrop>(&params)?;
    context.show(&answer, |out, _| Ok(out.line(&format!("{} is dropped", params.message_id))?))?;
    Ok(Outcome::Done)
}

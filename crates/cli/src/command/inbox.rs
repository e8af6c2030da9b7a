//! `edgeplane inbox`: the messages of an agent.

use clap::Args;
use edgeplane_types::Part;
use edgeplane_wire::{
    api::message::{InboxParams, MessageView},
    catalogue::InboxList,
};

use super::Outcome;
use crate::{
    context::Context,
    output::{Color, paint},
    table::{Table, cell},
    text,
};

/// Characters of a message that a table shows.
const EXCERPT_CHARS: usize = 48;

/// List an agent's messages
///
/// Shows the messages that wait for the agent, in the order in which they will be delivered: also for an agent that is
/// down. Each says who speaks as far as the node could prove it, with which authority, and how far it has come.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane inbox reviewer
  edgeplane inbox reviewer --all --limit 20
  edgeplane inbox reviewer -o json | jq '.items[].receipts'")]
pub(crate) struct InboxArgs {
    /// The agent's name or id
    name: String,
    /// Also messages that no longer wait, in the order of their arrival: the newest last
    #[arg(short, long)]
    all: bool,
    /// Most messages to list: with `--all` the newest, else the next to be delivered
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: u32,
}

pub(crate) fn run(args: &InboxArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let params = InboxParams { agent: args.name.clone(), all: args.all, limit: args.limit };
    let answer = context.ask::<InboxList>(&params)?;
    context.show(&answer, |out, result| {
        if result.items.is_empty() {
            out.note(if args.all { "no messages" } else { "no messages wait; --all shows the others" });
            return Ok(());
        }
        let mut table =
            Table::new(&["MESSAGE", "ACCEPTED", "CHANNEL", "SOURCE", "AUTHORITY", "RECEIPT", "CONTENT"]);
        for message in &result.items {
            table.row(row(message));
        }
        Ok(out.table(&table)?)
    })?;
    Ok(Outcome::Done)
}

fn row(message: &MessageView) -> [String; 7] {
    [
        message.message_id.to_string(),
        short_time(&message.accepted_at),
        message.channel.to_string(),
        cell(message.source.as_str()),
        message.authority.to_string(),
        message.receipts.last().map(|receipt| receipt.rung.to_string()).unwrap_or_default(),
        content_cell(message),
    ]
}

/// The beginning of a message's content.
pub(crate) fn content_cell(message: &MessageView) -> String {
    message.parts.as_deref().map_or_else(|| paint(Color::Dim, "(erased)"), content)
}

/// A moment to the second.
pub(crate) fn short_time(time: &edgeplane_types::Timestamp) -> String {
    let text = time.to_string();
    text.get(..19).map_or(text.clone(), |seconds| format!("{}Z", seconds.replace('T', " ")))
}

fn content(parts: &[Part]) -> String {
    let texts = parts.iter().map(|part| match part {
        Part::Text { text } => text.clone(),
        Part::Data { data } => data.to_string(),
        Part::Reference { uri, .. } => uri.clone(),
    });
    text::excerpt(&texts.collect::<Vec<_>>().join(" "), EXCERPT_CHARS)
}

//! `edgeplane message show`: everything that is known of one message.

use clap::Args;
use edgeplane_types::{ContentOrigin, MessageId, OnBehalfOf, Part, Receipt};
use edgeplane_wire::{
    api::message::{MessageParams, MessageView},
    catalogue::MessageGet,
};

use crate::{
    command::{Outcome, inbox::short_time},
    context::Context,
    output::{Color, Output, paint},
    table::{Table, cell},
};

/// Show a message
///
/// Shows the whole envelope, how far the message has come and how that is known, and then its content, without the
/// characters by which a text could move the cursor or hide other text.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane message show msg_01890000-0000-7000-8000-000000000002
  edgeplane message show msg_01890000-0000-7000-8000-000000000002 -o json | jq .receipts")]
pub(super) struct ShowArgs {
    /// The message's id
    #[arg(value_name = "MESSAGE")]
    id: MessageId,
}

pub(super) fn run(args: &ShowArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let answer = context.ask::<MessageGet>(&MessageParams { message_id: args.id })?;
    context.show(&answer, |out, message| print(out, &message))?;
    Ok(Outcome::Done)
}

fn print(out: &mut Output, message: &MessageView) -> anyhow::Result<()> {
    let source = &message.source_detail;
    let mut table = Table::plain();
    let mut row = |name: &str, value: String| table.row([name.to_owned(), value]);
    row("message", message.message_id.to_string());
    row("for", cell(&message.agent));
    row("channel", format!("{}, on {}", message.channel, message.ingress));
    row("source", format!("{}, by {}, assurance {}", source.principal, source.proof, source.assurance));
    if let Some(agent) = source.agent_id {
        row("agent", agent.to_string());
    }
    if let Some(name) = &source.display_name {
        row("calls itself", cell(name));
    }
    row("authority", message.authority.to_string());
    for entry in &message.on_behalf_of {
        row("on behalf of", behalf(entry));
    }
    if let Some(rule) = &message.rule {
        row("rule", rule.to_string());
    }
    if let Some(topic) = &message.topic {
        row("topic", topic.to_string());
    }
    if let Some(origin) = &message.origin {
        row("origin", self::origin(origin));
    }
    for (name, id) in [("reply to", message.reply_to), ("caused by", message.causation)] {
        if let Some(id) = id {
            row(name, id.to_string());
        }
    }
    row("hops", message.hops.to_string());
    row("mode", format!("{}, priority {}", message.mode, message.priority));
    row("accepted", short_time(&message.accepted_at));
    if let Some(end) = &message.expires_at {
        row("expires", short_time(end));
    }
    row("digest", cell(&message.content_digest));
    if let Some(reason) = &message.reason {
        row("reason", cell(reason));
    }
    out.table(&table)?;
    out.line("")?;
    receipts(out, &message.receipts)?;
    out.line("")?;
    match &message.parts {
        None => out.line(&paint(Color::Dim, "(the content was erased)"))?,
        Some(parts) => {
            for part in parts {
                content(out, part)?;
            }
        }
    }
    Ok(())
}

fn receipts(out: &mut Output, receipts: &[Receipt]) -> anyhow::Result<()> {
    let mut table = Table::new(&["RECEIPT", "AT", "KNOWN BY"]);
    for receipt in receipts {
        let evidence = serde_json::to_value(receipt.evidence).unwrap_or_default();
        table.row([
            receipt.rung.to_string(),
            receipt.at.to_string(),
            evidence.as_str().unwrap_or_default().to_owned(),
        ]);
    }
    Ok(out.table(&table)?)
}

fn behalf(entry: &OnBehalfOf) -> String {
    let OnBehalfOf { principal, authority, message_id, proven } = entry;
    match message_id.filter(|_| *proven) {
        Some(id) => format!("{principal} ({authority}), proven by {id}"),
        None => format!("{principal} ({authority}), a mere claim"),
    }
}

fn origin(origin: &ContentOrigin) -> String {
    let ContentOrigin { uri, tool, retrieved_at } = origin;
    let tool = tool.as_ref().map(|tool| format!("tool {tool}"));
    let at = retrieved_at.as_ref().map(|at| format!("fetched {}", short_time(at)));
    let said: Vec<String> = [uri.as_ref().map(cell), tool, at].into_iter().flatten().collect();
    format!("{} (as its sender says)", said.join(", "))
}

fn content(out: &mut Output, part: &Part) -> anyhow::Result<()> {
    match part {
        Part::Text { text } => {
            out.text(text)?;
            if !text.ends_with('\n') {
                out.line("")?;
            }
        }
        Part::Data { data } => out.line(&crate::json::pretty(data))?,
        Part::Reference { uri, digest } => {
            let digest = digest.as_ref().map(|digest| format!(" sha256:{digest}")).unwrap_or_default();
            out.line(&format!("{uri}{digest}"))?;
        }
    }
    Ok(())
}

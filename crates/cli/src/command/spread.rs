//! `edgeplane publish` and `edgeplane broadcast`: say something to many agents.

use std::time::Duration;

use clap::Args;
use edgeplane_types::{Priority, SafeLabel};
use edgeplane_wire::{
    api::message::{BroadcastParams, PublishParams, SpreadItem, SpreadResult},
    catalogue::{AgentBroadcast, TopicPublish},
};

use super::{
    Outcome,
    agent::list::parse_label,
    content::{Content, words},
    signal::millis,
};
use crate::{
    context::Context,
    failure::Misuse,
    output::{Color, Output, paint},
    quantity,
    table::{Table, cell},
};

/// Say something to every agent that subscribes to a topic
///
/// Each of them gets a message of its own, which shows the topic; agents subscribe with `spec.subscriptions`. Inside an
/// agent, the agent itself gets none. Ends with code 1 if the message was refused for one of them; the others have it.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane publish releases --content \"1.4 is out\"
  edgeplane publish releases --file notes.md --key release-1.4")]
pub(crate) struct PublishArgs {
    /// The topic
    topic: SafeLabel,
    #[command(flatten)]
    content: Content,
    #[command(flatten)]
    manner: Manner,
}

/// Say something to every agent, or to those with some labels
///
/// Each of them gets a message of its own. Inside an agent, the agent itself gets none. Ends with code 1 if the message
/// was refused for one of them; the others have it.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane broadcast --content \"The node goes down at noon\"
  edgeplane broadcast -l team=docs -l stage=prod --content \"Freeze\" --key freeze-7")]
pub(crate) struct BroadcastArgs {
    /// Only agents with this label; may be given several times, and then all must be met
    #[arg(short, long, value_name = "NAME=VALUE", value_parser = parse_label)]
    label: Vec<(String, String)>,
    #[command(flatten)]
    content: Content,
    #[command(flatten)]
    manner: Manner,
}

#[derive(Debug, Args)]
struct Manner {
    /// Which waiting message goes first
    #[arg(long, value_name = "PRIORITY", default_value = "normal", value_parser = words(&["high", "normal", "low"], Priority::from_word))]
    priority: Priority,
    /// When it is no longer worth delivering, such as 10m
    #[arg(long, value_name = "TIME", value_parser = quantity::parse_duration)]
    expires: Option<Duration>,
    /// Your key against sending it twice: repeated, only those get it that have it not
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
}

pub(crate) fn publish(args: PublishArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let topic = args.topic.clone();
    let params = PublishParams {
        topic: args.topic,
        parts: args.content.parts()?,
        priority: args.manner.priority,
        expires_in_ms: args.manner.expires.map(millis),
        idempotency_key: args.manner.key,
        causation: None,
    };
    let answer = context.ask::<TopicPublish>(&params)?;
    context.show(&answer, |out, result| print(out, &result, &format!("no agent subscribes to `{topic}`")))?;
    Ok(outcome(&answer.read()?))
}

pub(crate) fn broadcast(args: BroadcastArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let selector = args.label.into_iter().map(|(key, value)| match value.parse() {
        Ok(value) => Ok((key, value)),
        Err(error) => Err(Misuse(format!("the value of label `{key}`: {error}"))),
    });
    let params = BroadcastParams {
        selector: selector.collect::<Result<_, _>>()?,
        parts: args.content.parts()?,
        priority: args.manner.priority,
        expires_in_ms: args.manner.expires.map(millis),
        idempotency_key: args.manner.key,
        causation: None,
    };
    let answer = context.ask::<AgentBroadcast>(&params)?;
    context.show(&answer, |out, result| print(out, &result, "no agent has these labels"))?;
    Ok(outcome(&answer.read()?))
}

fn print(out: &mut Output, result: &SpreadResult, none: &str) -> anyhow::Result<()> {
    if result.items.is_empty() {
        out.note(none);
        return Ok(());
    }
    let mut table = Table::new(&["AGENT", "MESSAGE", "RESULT"]);
    for item in &result.items {
        table.row(row(item));
    }
    Ok(out.table(&table)?)
}

fn row(item: &SpreadItem) -> [String; 3] {
    let message = item.message_id.map_or_else(|| "-".to_owned(), |id| id.to_string());
    let came = match (&item.error, &item.detail) {
        (None, _) if item.duplicate => paint(Color::Dim, "sent before with this key"),
        (None, _) => paint(Color::Green, "accepted"),
        (Some(error), None) => paint(Color::Red, error.as_str()),
        (Some(error), Some(detail)) => paint(Color::Red, &format!("{}: {detail}", error.as_str())),
    };
    [cell(&item.agent), message, came]
}

fn outcome(result: &SpreadResult) -> Outcome {
    if result.items.iter().any(|item| item.error.is_some()) { Outcome::Found } else { Outcome::Done }
}

//! `edgeplane message submit`: hand content to an agent as what it is.

use std::time::Duration;

use clap::Args;
use edgeplane_types::{Channel, ContentOrigin, MessageId, Priority, SafeLabel};
use edgeplane_wire::{api::message::SubmitParams, catalogue::MessageSubmit};

use crate::{
    command::{
        Outcome,
        content::{Content, words},
        signal,
    },
    context::Context,
    quantity,
};

/// Submit a tool's result, a document or a web page
///
/// What is submitted is content, not your words: the agent sees it on the channel that you name, with where it was
/// found, and in a fence. Content of tools and documents weighs at most `external`, that of web pages `untrusted`.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane message submit reviewer --channel document --source-path notes.md --file notes.md
  curl -s https://example.org/ | edgeplane message submit reviewer --channel web --source-url https://example.org/ --file -
  edgeplane message submit reviewer --channel tool --tool linter --content \"3 warnings\" --key lint-7")]
pub(crate) struct SubmitArgs {
    /// The agent's name or id
    name: String,
    /// What it is
    #[arg(long, value_name = "CHANNEL", value_parser = words(&["tool", "document", "web"], Channel::from_word))]
    channel: Channel,
    /// The address that it was found at
    #[arg(long, value_name = "URL")]
    source_url: Option<String>,
    /// The path that it was found at
    #[arg(long, value_name = "PATH", conflicts_with = "source_url")]
    source_path: Option<String>,
    /// The tool that returned it
    #[arg(long, value_name = "NAME")]
    tool: Option<SafeLabel>,
    #[command(flatten)]
    content: Content,
    /// Which waiting message goes first
    #[arg(long, value_name = "PRIORITY", default_value = "normal", value_parser = words(&["high", "normal", "low"], Priority::from_word))]
    priority: Priority,
    /// When it is no longer worth delivering, such as 10m
    #[arg(long, value_name = "TIME", value_parser = quantity::parse_duration)]
    expires: Option<Duration>,
    /// Your key against submitting it twice
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// The message that asked for it
    #[arg(long, value_name = "MESSAGE")]
    reply_to: Option<MessageId>,
}

pub(super) fn run(args: SubmitArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let uri = args.source_url.or(args.source_path);
    let is_told = uri.is_some() || args.tool.is_some();
    let params = SubmitParams {
        agent: args.name,
        channel: args.channel,
        origin: is_told.then_some(ContentOrigin { uri, tool: args.tool, retrieved_at: None }),
        parts: args.content.parts()?,
        priority: args.priority,
        expires_in_ms: args.expires.map(signal::millis),
        idempotency_key: args.key,
        reply_to: args.reply_to,
    };
    let answer = context.ask::<MessageSubmit>(&params)?;
    context.show(&answer, |out, result| signal::print(out, &result))?;
    Ok(Outcome::Done)
}

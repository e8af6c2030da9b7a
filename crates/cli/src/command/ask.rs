//! `edgeplane ask`: ask an agent and wait for its answer.

use std::time::Duration;

use clap::Args;
use edgeplane_client::Notification;
use edgeplane_types::{Priority, Rung};
use edgeplane_wire::{
    api::message::{AskParams, AskPart, AskResult},
    catalogue::{AgentAsk, Call},
};

use super::{
    Outcome,
    content::{Words, words},
    signal::{WAIT_MARGIN, millis, way},
};
use crate::{
    context::{Answer, Context},
    node::Patience,
    output::{Format, Output},
    quantity,
};

/// How long an answer is waited for unless `--timeout` says otherwise.
const ASK_TIME: Duration = Duration::from_secs(60);

/// Set in every agent, and nowhere else.
const AGENT: &str = "EDGEPLANE_AGENT";

/// Ask an agent and wait for its answer
///
/// The question is a message; its answer is what the agent first says to it: the output of the turn that the question
/// began, or a message to the agent that asks with `--reply-to` of the question. Prints the answer's words; inside an
/// agent with the line that says from whom they are and in a fence where they weigh little, as every message there.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane ask reviewer \"Is the build green?\"
  edgeplane ask reviewer --file question.md --stream --timeout 10m
  edgeplane ask reviewer --content \"Go on\" --key step-7 --no-wait
  edgeplane ask reviewer --content \"Go on\" --key step-7 -o json | jq -r .answer.text

EXIT CODES:
  0 answered   1 there will be no answer   75 none in time, or it is unknown whether the question came")]
pub(crate) struct AskArgs {
    /// The agent's name or id
    name: String,
    #[command(flatten)]
    content: Words,
    /// Which waiting message goes first
    #[arg(long, value_name = "PRIORITY", default_value = "normal", value_parser = words(&["high", "normal", "low"], Priority::from_word))]
    priority: Priority,
    /// Your key: asked again with it, the answer to the first question comes
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// Print what the agent says on its way to the answer, as it comes
    #[arg(long)]
    stream: bool,
    /// Do not wait, else at most 60s or `--timeout`; with `--key` an answer can be had later
    #[arg(long, conflicts_with = "stream")]
    no_wait: bool,
}

pub(crate) fn run(args: AskArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let parts = args.content.parts()?;
    let time = if args.no_wait { Duration::ZERO } else { context.timeout().unwrap_or(ASK_TIME) };
    let params = AskParams {
        agent: args.name.clone(),
        parts,
        priority: args.priority,
        idempotency_key: args.key,
        causation: None,
        timeout_ms: Some(millis(time)),
        stream: args.stream,
    };
    let patience =
        if args.no_wait { context.patience() } else { Patience::within(time.saturating_add(WAIT_MARGIN)) };
    let is_agent = context.env.get(AGENT).is_some();
    let mut node = context.connect()?;
    let answer = if args.stream {
        node.be_silent();
        let mut printed = Ok(());
        let out = &mut context.out;
        let mut watch = |notification: Notification| {
            if printed.is_ok() {
                printed = print_part(out, &notification, is_agent);
            }
            None
        };
        let raw = node.call_watching(AgentAsk::NAME, &params, patience, &mut watch)?;
        printed?;
        Answer::<AgentAsk>::new(raw)
    } else {
        node.doing = Some(format!("waiting for the answer of {}", args.name));
        Answer::<AgentAsk>::new(node.call(AgentAsk::NAME, &params, patience)?)
    };
    let result = answer.read()?;
    match context.out.format() {
        Format::Table => print(&mut context.out, &result, is_agent)?,
        // After its parts the result is one more object.
        Format::Json | Format::Yaml if args.stream => context.out.item(&answer.value()?)?,
        Format::Json | Format::Yaml => context.out.value(&answer.value()?)?,
    }
    Ok(outcome(&result, &args.name, (args.no_wait, time), context))
}

/// A part as it comes. A reader that has gone is told by the next write.
fn print_part(out: &mut Output, notification: &Notification, is_agent: bool) -> anyhow::Result<()> {
    if notification.method != "ask/part" {
        return Ok(());
    }
    match out.format() {
        Format::Table => {
            let part: AskPart = serde_json::from_value(notification.params.clone())?;
            out.text(with_newline(if is_agent { &part.rendered } else { &part.text }).as_str())?;
        }
        Format::Json | Format::Yaml => out.item(&notification.params)?,
    }
    Ok(out.flush()?)
}

fn print(out: &mut Output, result: &AskResult, is_agent: bool) -> anyhow::Result<()> {
    match &result.answer {
        Some(answer) => {
            let words = if is_agent { &answer.rendered } else { &answer.text };
            Ok(out.text(&with_newline(words))?)
        }
        None => {
            let way = way(&result.receipts);
            Ok(out.line(&format!("{} to {}: {way}", result.message_id, result.agent))?)
        }
    }
}

fn with_newline(words: &str) -> String {
    if words.is_empty() || words.ends_with('\n') { words.to_owned() } else { format!("{words}\n") }
}

fn outcome(result: &AskResult, name: &str, (no_wait, time): (bool, Duration), context: &Context) -> Outcome {
    if result.answer.is_some() {
        return Outcome::Done;
    }
    if let Some(reason) = &result.reason {
        context.out.note(&format!("`{name}` does not answer: {reason}"));
        let is_unknown = result.receipts.last().is_some_and(|receipt| receipt.rung == Rung::Ambiguous);
        return if is_unknown { Outcome::NotInTime } else { Outcome::Found };
    }
    if no_wait {
        return Outcome::Done;
    }
    let waited = quantity::human_millis(millis(time));
    context.out.note(&format!("`{name}` did not answer within {waited}; it still may"));
    Outcome::NotInTime
}

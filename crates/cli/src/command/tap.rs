//! `edgeplane tap`: what happens, live and in words.

use clap::Args;
use edgeplane_types::ThreadId;
use edgeplane_wire::{
    api::trace::{TapParams, TapStep},
    catalogue::TapOpen,
};

use super::Outcome;
use crate::{
    context::Context,
    output::{Color, Format, paint},
    quantity,
};

/// Follow live what happens, in words
///
/// One line a step: messages, turns, tools, people, starts and ends. It shows no contents. It slows nothing down: what
/// this terminal does not take in time is left out and counted; `edgeplane events` has all of it.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane tap
  edgeplane tap --agent reviewer
  edgeplane tap --principal uid-1000 --operation runtime/agent.ask
  edgeplane tap -o json | jq -r .text")]
pub(crate) struct TapArgs {
    /// Only of this agent, by name or id
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Only of this thread
    #[arg(long, value_name = "ID")]
    thread: Option<ThreadId>,
    /// Only what this principal did or asked for
    #[arg(long, value_name = "NAME")]
    principal: Option<String>,
    /// Only what came of this method; may be given several times
    #[arg(long = "operation", value_name = "METHOD")]
    operations: Vec<String>,
}

pub(crate) fn run(args: &TapArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let params = TapParams {
        agent: args.agent.clone(),
        thread: args.thread,
        principal: args.principal.clone(),
        operations: args.operations.clone(),
    };
    let mut node = context.connect()?;
    context.ask_over::<TapOpen>(&mut node, &params)?;
    loop {
        let Some(notification) = node.next_notification(None)? else { continue };
        if notification.method != "observe/tap" {
            continue;
        }
        let step: TapStep = serde_json::from_value(notification.params)?;
        match context.out.format() {
            Format::Table => print(&step, context)?,
            Format::Json | Format::Yaml => context.out.item(&step)?,
        }
        if !node.has_held() {
            context.out.flush()?;
        }
    }
}

fn print(step: &TapStep, context: &mut Context) -> anyhow::Result<()> {
    if step.missed > 0 {
        let missed = format!("{} left out", quantity::counted(step.missed, "step"));
        context.out.line(&paint(Color::Yellow, &missed))?;
    }
    let time = step.at.to_string();
    let time = time.get(11..23).unwrap_or(&time);
    let trace = step.trace_id.map(|id| id.to_string()).unwrap_or_default();
    let trace = trace.get(..8).unwrap_or_default();
    let agent = step.agent.as_deref().unwrap_or("-");
    let line = format!("{}  {agent:<14}  {}", paint(Color::Dim, &format!("{time}  {trace:<8}")), step.text);
    Ok(context.out.line(&line)?)
}

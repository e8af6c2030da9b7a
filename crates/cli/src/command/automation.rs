//! `edgeplane automation`: what is done by itself when something happens.

use clap::{Args, Subcommand};
use edgeplane_types::{AgentName, AutomationCause};
use edgeplane_wire::{
    api::{
        Empty,
        automation::{
            AutomationParams, AutomationView, AutomationsResult, FIRINGS, FireAutomationParams, FiringView,
        },
    },
    catalogue::{AutomationFire, AutomationGet, AutomationList},
};
use serde_json::Value;

use super::{Outcome, inbox::short_time};
use crate::{
    context::Context,
    failure::Misuse,
    output::Output,
    table::{Table, cell},
};

/// See what is done by itself when something happens
///
/// An automation is declared with `kind: Automation` by `edgeplane apply`, or written with `edgeplane resource put
/// automation/NAME`. It binds an event of the record, a schedule or a webhook to a task or a method, and acts as whoever
/// declared it, with no more than they may.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane automation list
  edgeplane automation show triage
  edgeplane automation fire triage")]
pub(crate) struct AutomationArgs {
    #[command(subcommand)]
    command: AutomationCommand,
}

#[derive(Debug, Subcommand)]
enum AutomationCommand {
    List(ListArgs),
    Show(ShowArgs),
    Fire(FireArgs),
}

/// List automations
///
/// By name, with how often each fired, failed and did not fire.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane automation list
  edgeplane automation list -o json | jq '.items[] | select(.failed > 0).name'")]
struct ListArgs {}

/// Show an automation and the times that it fired
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane automation show triage
  edgeplane automation show triage --firings 100 -o json | jq '.firings[].state'")]
struct ShowArgs {
    /// Its name
    #[arg(value_name = "AUTOMATION")]
    name: AgentName,
    /// How many of them to show, the newest
    #[arg(long, value_name = "N", default_value_t = FIRINGS)]
    firings: u32,
}

/// Have an automation fire now
///
/// For trying it out, also while it is not enabled. What `--json` gives stands in place of the event, for the
/// placeholders.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane automation fire nightly
  edgeplane automation fire triage --json '{\"payload\": {\"reason\": \"a test\"}}'")]
struct FireArgs {
    /// Its name
    #[arg(value_name = "AUTOMATION")]
    name: AgentName,
    /// What is found below `event`
    #[arg(long, value_name = "JSON")]
    json: Option<String>,
}

pub(crate) fn run(args: AutomationArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    match args.command {
        AutomationCommand::List(_) => {
            let answer = context.ask::<AutomationList>(&Empty {})?;
            context.show(&answer, |out, list| automations(out, &list))?;
        }
        AutomationCommand::Show(ShowArgs { name, firings }) => {
            let answer = context.ask::<AutomationGet>(&AutomationParams { name, firings })?;
            context.show(&answer, |out, view| automation(out, &view))?;
        }
        AutomationCommand::Fire(FireArgs { name, json }) => {
            let read = |text: &String| {
                serde_json::from_str::<Value>(text).map_err(|error| Misuse(format!("`--json`: {error}")))
            };
            let event = json.as_ref().map(read).transpose()?;
            let answer = context.ask::<AutomationFire>(&FireAutomationParams { name, event })?;
            context.show(&answer, |out, firing| Ok(out.line(&firing.firing_id.to_string())?))?;
        }
    }
    Ok(Outcome::Done)
}

fn automations(out: &mut Output, list: &AutomationsResult) -> anyhow::Result<()> {
    let mut table =
        Table::new(&["NAME", "ON", "WHEN", "DOES", "AS", "FIRED", "FAILED", "SKIPPED", "WAITING"]);
    for view in &list.items {
        let on = if view.enabled { view.on.clone() } else { format!("{} (off)", view.on) };
        table.row([
            cell(view.name.as_str()),
            cell(on),
            cell(&view.when),
            cell(&view.does),
            cell(view.acts_as.as_str()),
            cell(view.fired.to_string()),
            cell(view.failed.to_string()),
            cell(view.skipped.to_string()),
            cell(view.waiting.to_string()),
        ]);
    }
    Ok(out.table(&table)?)
}

fn automation(out: &mut Output, view: &AutomationView) -> anyhow::Result<()> {
    let state = if view.enabled { "enabled" } else { "not enabled" };
    out.line(&format!("{} version {}, {state}, as {}", view.name, view.version, view.acts_as))?;
    out.line(&format!("on {}: {}", view.on, view.when))?;
    out.line(&format!("does {}", view.does))?;
    if let Some(at) = view.due_at {
        out.line(&format!("due {at}"))?;
    }
    out.line(&format!(
        "fired {}, failed {}, skipped {}, waiting {}",
        view.fired, view.failed, view.skipped, view.waiting
    ))?;
    if view.firings.is_empty() {
        return Ok(());
    }
    let mut table = Table::new(&["FIRING", "AT", "CAUSE", "STATE", "WHY"]);
    for firing in &view.firings {
        table.row([
            cell(firing.firing_id.to_string()),
            cell(short_time(&firing.at)),
            cell(cause(firing)),
            cell(firing.state.as_str()),
            cell(firing.reason.as_deref().unwrap_or("-")),
        ]);
    }
    Ok(out.table(&table)?)
}

fn cause(firing: &FiringView) -> String {
    match &firing.cause {
        AutomationCause::Event { pos, event_type, .. } => format!("{event_type} at {pos}"),
        AutomationCause::Schedule { due_at, .. } => format!("due {due_at}"),
        AutomationCause::Webhook { delivery, .. } => format!("delivery {delivery}"),
        AutomationCause::Hand { .. } => "by hand".to_owned(),
    }
}

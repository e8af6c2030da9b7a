//! `edgeplane inference`: what agents' programs say of models.

use clap::{Args, Subcommand};
use edgeplane_wire::{
    api::inference::{
        InferenceLimitsResult, InferenceParams, ListModelsParams, ModelsResult, PriceState, RouteDecision,
        UsageView,
    },
    catalogue::{LimitGet, ModelList, RouteResolve, UsageGet},
};

use super::Outcome;
use crate::{
    context::Context,
    output::Output,
    table::{Table, cell},
};

/// See which models agents work with, what they used, and what holds them back
///
/// The node calls no model itself: all of it is what drivers and programs say. What nobody said is named as unreported
/// or unknown.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane inference models
  edgeplane inference usage reviewer
  edgeplane inference limits reviewer -o json")]
pub(crate) struct InferenceArgs {
    #[command(subcommand)]
    command: InferenceCommand,
}

#[derive(Debug, Subcommand)]
enum InferenceCommand {
    Models(ModelsArgs),
    Route(RouteArgs),
    Usage(UsageArgs),
    Limits(LimitsArgs),
}

/// List models
///
/// Those that programs offered when their sessions began; the one that the agent works with is marked.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane inference models
  edgeplane inference models reviewer -o json | jq -r '.items[] | select(.current).model'")]
struct ModelsArgs {
    /// Only of this agent: name or id
    #[arg(value_name = "AGENT")]
    agent: Option<String>,
}

/// Tell which model a turn gets, and why
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane inference route reviewer
  edgeplane inference route reviewer -o json | jq .gaps")]
struct RouteArgs {
    /// The agent's name or id
    #[arg(value_name = "AGENT")]
    agent: String,
}

/// Tell what an agent used
///
/// Tokens of all turns, and what the session cost, as its program says it.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane inference usage reviewer
  edgeplane inference usage reviewer -o json | jq .tokens.total")]
struct UsageArgs {
    /// The agent's name or id
    #[arg(value_name = "AGENT")]
    agent: String,
}

/// Tell what holds an agent back
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane inference limits reviewer
  edgeplane inference limits reviewer -o json | jq -r '.items[].state'")]
struct LimitsArgs {
    /// The agent's name or id
    #[arg(value_name = "AGENT")]
    agent: String,
}

pub(crate) fn run(args: &InferenceArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let of = |agent: &str| InferenceParams { agent: agent.to_owned() };
    match &args.command {
        InferenceCommand::Models(args) => {
            let answer = context.ask::<ModelList>(&ListModelsParams { agent: args.agent.clone() })?;
            context.show(&answer, |out, result| models(out, &result))?;
        }
        InferenceCommand::Route(args) => {
            let answer = context.ask::<RouteResolve>(&of(&args.agent))?;
            context.show(&answer, |out, route| decided(out, &route))?;
        }
        InferenceCommand::Usage(args) => {
            let answer = context.ask::<UsageGet>(&of(&args.agent))?;
            context.show(&answer, |out, usage| used(out, &usage))?;
        }
        InferenceCommand::Limits(args) => {
            let answer = context.ask::<LimitGet>(&of(&args.agent))?;
            context.show(&answer, |out, result| limits(out, &result))?;
        }
    }
    Ok(Outcome::Done)
}

fn models(out: &mut Output, result: &ModelsResult) -> anyhow::Result<()> {
    if !result.items.is_empty() {
        let mut table = Table::new(&["AGENT", "MODEL", "CURRENT", "SAID BY"]);
        for item in &result.items {
            let current = if item.current { "yes" } else { "" };
            table.row([cell(&item.agent), cell(&item.model), current.to_owned(), word(&item.source)]);
        }
        out.table(&table)?;
    }
    if !result.unreported.is_empty() {
        out.note(&format!("no model is reported of {}", result.unreported.join(", ")));
    }
    Ok(())
}

fn decided(out: &mut Output, route: &RouteDecision) -> anyhow::Result<()> {
    let model = route.selected.model.as_deref().map_or_else(|| "unreported".to_owned(), cell);
    out.line(&format!("{}: {model} ({})", route.agent, route.reason))?;
    for gap in &route.gaps {
        out.note(gap);
    }
    Ok(())
}

fn used(out: &mut Output, usage: &UsageView) -> anyhow::Result<()> {
    let cost = match (usage.cost.price, &usage.cost.session) {
        (PriceState::Reported, Some(cost)) => cell(cost),
        (PriceState::Reported, None) => "nothing said of this session".to_owned(),
        (PriceState::Unknown, _) => "unknown".to_owned(),
    };
    let tokens = usage.tokens;
    let mut table = Table::new(&["REPORTS", "INPUT", "OUTPUT", "TOTAL", "CONTEXT", "COST"]);
    table.row([
        usage.reports.to_string(),
        tokens.input.to_string(),
        tokens.output.to_string(),
        tokens.total.to_string(),
        usage.context_tokens.map_or_else(|| "unknown".to_owned(), |count| count.to_string()),
        cost,
    ]);
    Ok(out.table(&table)?)
}

fn limits(out: &mut Output, result: &InferenceLimitsResult) -> anyhow::Result<()> {
    let mut table = Table::new(&["LIMIT", "STATE", "DETAIL"]);
    for item in &result.items {
        table.row([cell(&item.kind), word(&item.state), cell(&item.detail)]);
    }
    Ok(out.table(&table)?)
}

/// A word of the protocol as programs read it.
fn word<T: serde::Serialize>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}

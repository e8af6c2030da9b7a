//! `edgeplane agent history` and `edgeplane agent epochs`: what became of an agent.

use clap::Args;
use edgeplane_wire::{
    api::{
        agent::AgentParams,
        stream::{ReplayParams, Target},
    },
    catalogue::EpochList,
};

use super::Outcome;
use crate::{
    command::{events, inbox::short_time},
    context::Context,
    quantity::human_bytes,
    table::{Table, cell},
};

/// Tell what became of an agent
///
/// Shows every event of its life from the record, oldest first: declared, started, exited and why, backed off, frozen,
/// adopted by a new daemon. With `--all` also messages, turns and memory.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane agent history reviewer
  edgeplane agent history reviewer --limit 20
  edgeplane agent history reviewer --all -o json | jq .type")]
pub(crate) struct HistoryArgs {
    /// The agent's name or id, also of a retired one by id
    name: String,
    /// Every event of the agent, not only those of its life
    #[arg(short, long)]
    all: bool,
    /// Only the newest N events
    #[arg(long, value_name = "N")]
    limit: Option<u32>,
}

pub(crate) fn run(args: &HistoryArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let types = if args.all { Vec::new() } else { vec!["agent.*".to_owned()] };
    let params = ReplayParams {
        target: Target::agent(&args.name),
        types,
        limit: args.limit,
        newest: args.limit.is_some(),
        ..ReplayParams::default()
    };
    events::print_all(params, context)?;
    Ok(Outcome::Done)
}

/// List an agent's epochs
///
/// An epoch is one life of the agent's program, with a recording of its own that `edgeplane replay NAME --epoch N` plays
/// and `edgeplane logs NAME --epoch N` prints.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane agent epochs reviewer
  edgeplane agent epochs reviewer -o json | jq '.items[-1].end'")]
pub(crate) struct EpochsArgs {
    /// The agent's name or id
    name: String,
}

pub(crate) fn epochs(args: &EpochsArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let answer = context.ask::<EpochList>(&AgentParams { agent: args.name.clone() })?;
    context.show(&answer, |out, result| {
        let mut table = Table::new(&["EPOCH", "STARTED", "ENDED", "END", "OUTPUT"]);
        for epoch in &result.items {
            table.row([
                epoch.epoch.to_string(),
                epoch.started_at.as_ref().map(short_time).unwrap_or_default(),
                epoch.ended_at.as_ref().map(short_time).unwrap_or_default(),
                cell(epoch.end.as_deref().unwrap_or_default()),
                human_bytes(epoch.output_bytes),
            ]);
        }
        if table.is_empty() {
            out.note("never started");
            return Ok(());
        }
        Ok(out.table(&table)?)
    })?;
    Ok(Outcome::Done)
}

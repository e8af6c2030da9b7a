//! `edgeplane agent get`: one agent, whole.

use clap::Args;
use edgeplane_wire::{api::agent::AgentParams, catalogue::AgentGet};

use super::{Outcome, describe};
use crate::context::Context;

/// Show an agent
///
/// With `-o json` the whole agent: `metadata`, `spec` with every default filled in, and `status` with its phase, process
/// and all seven identities. This form is stable. For people the most important of it, line by line.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane agent get reviewer
  edgeplane agent get reviewer -o json | jq .status.process.pid
  edgeplane agent get reviewer -o yaml")]
pub(crate) struct GetArgs {
    /// The agent's name or id
    name: String,
}

pub(crate) fn run(args: &GetArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let answer = context.ask::<AgentGet>(&AgentParams { agent: args.name.clone() })?;
    context.show(&answer, |out, agent| {
        let mut table = crate::table::Table::plain();
        describe::status_rows(&agent, &mut table);
        Ok(out.table(&table)?)
    })?;
    Ok(Outcome::Done)
}

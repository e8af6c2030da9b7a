//! `edgeplane delete`: retire agents.

use clap::Args;
use edgeplane_wire::{api::agent::ChangeParams, catalogue::AgentRetire};

use super::Outcome;
use crate::{command::agent::change, context::Context};

/// End agents and free their names
///
/// The agent is stopped if it runs, and retired: its name can be used again. Its history, recordings and messages stay
/// in the record and can be read by its id.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane delete reviewer
  edgeplane delete reviewer planner --reason \"replaced by reviewer-2\"")]
pub(crate) struct DeleteArgs {
    /// Names or ids of agents
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    /// Why, for the record
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

pub(crate) fn run(args: &DeleteArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let mut node = context.connect()?;
    let mut answers = Vec::new();
    for name in &args.names {
        node.doing = Some(format!("deleting {name}"));
        let params = ChangeParams { agent: name.clone(), reason: args.reason.clone() };
        answers.push(context.ask_over::<AgentRetire>(&mut node, &params)?);
    }
    change::show(context, &answers, "deleted")?;
    Ok(Outcome::Done)
}

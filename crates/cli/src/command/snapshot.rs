//! `edgeplane snapshot`: an agent's screen as text.

use clap::Args;
use edgeplane_wire::{api::agent::AgentParams, catalogue::AgentSnapshot};

use super::Outcome;
use crate::context::Context;

/// Print an agent's screen as text
///
/// The node keeps a model of every agent's terminal; this prints what it shows now, without colours and without
/// disturbing anyone. With `-o json` the cursor, the size and the byte offsets come with it.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane snapshot reviewer
  edgeplane snapshot reviewer -o json | jq .cursor
  edgeplane snapshot reviewer --recorded > busy.txt
  watch edgeplane snapshot reviewer")]
pub(crate) struct SnapshotArgs {
    /// The agent's name or id
    name: String,
    /// Print it as a recorded screen, for `edgeplane adapter check`
    #[arg(long)]
    recorded: bool,
}

pub(crate) fn run(args: &SnapshotArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let answer = context.ask::<AgentSnapshot>(&AgentParams { agent: args.name.clone() })?;
    context.show(&answer, |out, screen| {
        let text = if args.recorded { &screen.recorded } else { &screen.text };
        let text = text.trim_end_matches('\n');
        Ok(out.text(text).and_then(|()| out.line(""))?)
    })?;
    Ok(Outcome::Done)
}

//! `edgeplane daemon status`: how the node is.

use clap::Args;
use edgeplane_wire::{
    api::{Empty, node::NodeStatus},
    catalogue::NodeStatus as NodeStatusCall,
};

use super::watchdog;
use crate::{
    command::{Outcome, inbox::short_time},
    context::Context,
    output::{Color, Output, paint},
    quantity::{by_name, counted, human_seconds},
    table::{Table, cell},
};

/// Tell how the node is
///
/// Shows the daemon's process, version and age, how many agents are in which phase, and the state of the record. The exit
/// code is 69 if no daemon runs. `edgeplane doctor` looks deeper, also at a daemon that hangs.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane daemon status
  edgeplane daemon status -o json | jq .uptimeSeconds")]
pub(crate) struct StatusArgs {}

pub(super) fn run(_args: &StatusArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let answer = context.ask::<NodeStatusCall>(&Empty {})?;
    let guarded = context.dirs().ok().and_then(|dirs| watchdog::find(&dirs)).map(|watchdog| watchdog.pid);
    context.show(&answer, |out, status| print(out, &status, guarded))?;
    Ok(Outcome::Done)
}

fn print(out: &mut Output, status: &NodeStatus, watchdog: Option<u32>) -> anyhow::Result<()> {
    let mut table = Table::plain();
    let mut row = |name: &str, value: String| table.row([name.to_owned(), value]);
    row("node", format!("{} ({})", status.node, status.node_id));
    row("process", status.pid.to_string());
    row("watchdog", watchdog.map_or_else(|| "none of ours".to_owned(), |pid| pid.to_string()));
    row("version", cell(&status.version));
    let age = human_seconds(status.uptime_seconds);
    row("up", format!("{age}, since {}", short_time(&status.started_at)));
    let or_none = |text: String| if text.is_empty() { "none".to_owned() } else { cell(text) };
    row("agents", or_none(by_name(&status.agents)));
    row("messages", or_none(by_name(&status.messages)));
    let color = if status.record == "ok" { Color::Green } else { Color::Red };
    row("open files", status.open_files.to_string());
    row("record", format!("{}, {}", paint(color, &status.record), counted(status.events, "event")));
    row("state", cell(&status.state_dir));
    row("runtime", cell(&status.runtime_dir));
    row("socket", cell(&status.socket));
    Ok(out.table(&table)?)
}

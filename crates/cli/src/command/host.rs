//! `edgeplane host`: the machines that the node knows.

use clap::Args;
use edgeplane_wire::{
    api::machine::{HostParams, HostView, ListHostsParams},
    catalogue::{HostGet, HostList},
};

use super::Outcome;
use crate::{
    context::Context,
    output::Output,
    quantity::{by_name, counted, human_bytes},
    table::{Table, cell},
};

/// Tell what a machine has, what is in use and what is left
///
/// What is left is what remains when each agent that may live takes all that its limits allow; agents without a limit are
/// counted apart. A node that belongs to no fleet knows its own machine only.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane host
  edgeplane host -o json | jq '.items[0].left'")]
pub(crate) struct HostArgs {
    /// Name or id of its node; left out: all
    #[arg(value_name = "HOST")]
    host: Option<String>,
}

pub(crate) fn run(args: &HostArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    match &args.host {
        Some(host) => {
            let answer = context.ask::<HostGet>(&HostParams { host: host.clone() })?;
            context.show(&answer, |out, host| shown(out, &host))?;
        }
        None => {
            let answer = context.ask::<HostList>(&ListHostsParams::default())?;
            context.show(&answer, |out, result| result.items.iter().try_for_each(|host| shown(out, host)))?;
        }
    }
    Ok(Outcome::Done)
}

fn processors(milli: u64) -> String {
    format!("{}.{:02} processors", milli / 1_000, milli % 1_000 / 10)
}

fn average(milli: Option<u64>) -> String {
    milli.map_or_else(|| "?".to_owned(), |milli| format!("{}.{:02}", milli / 1_000, milli % 1_000 / 10))
}

fn memory(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| "memory unknown".to_owned(), human_bytes)
}

fn shown(out: &mut Output, host: &HostView) -> anyhow::Result<()> {
    let mut table = Table::plain();
    let mut row = |name: &str, value: String| table.row([name.to_owned(), value]);
    row("host", format!("{} ({})", host.name, host.host_id));
    row("status", cell(&host.status));
    row("kernel", cell(&host.kernel));
    let labels: Vec<String> = host.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    row("labels", cell(labels.join(" ")));
    let capacity = host.capacity;
    row("has", format!("{}, {}", processors(capacity.cpu_milli), memory(capacity.memory_bytes)));
    let load = &host.load;
    let averages = [load.one_minute_milli, load.five_minutes_milli, load.fifteen_minutes_milli];
    let averages: Vec<String> = averages.into_iter().map(average).collect();
    let free = memory(load.memory_available_bytes);
    row("in use", format!("load {} over 1, 5 and 15 minutes; {free} free", averages.join(" ")));
    let left = host.left;
    row("left", format!("{}, {}", processors(left.cpu_milli), memory(left.memory_bytes)));
    let unlimited = [(left.without_cpu_limit, "processors"), (left.without_memory_limit, "memory")];
    for (agents, what) in unlimited.into_iter().filter(|(agents, _)| *agents > 0) {
        row("", format!("{} without a limit of {what}", counted(agents, "agent")));
    }
    row("agents", by_name(&host.agents));
    Ok(out.table(&table)?)
}

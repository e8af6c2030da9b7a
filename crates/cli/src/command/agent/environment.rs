//! `edgeplane agent environment`: what surrounds an agent's program.

use clap::Args;
use edgeplane_wire::{
    api::{
        agent::AgentParams,
        machine::{EnvironmentView, LimitView},
    },
    catalogue::EnvironmentGet,
};

use super::Outcome;
use crate::{
    context::Context,
    output::Output,
    quantity::human_bytes,
    table::{Table, cell},
};

/// Tell what surrounds an agent's program, as it is applied
///
/// Folder, user, variables by name, limits as the kernel keeps them, and what is missing here. While nothing runs it is
/// what the next epoch gets. Values of variables are never told.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane agent environment reviewer
  edgeplane agent environment reviewer -o json | jq -r '.variables[]'")]
pub(crate) struct EnvironmentArgs {
    /// The agent's name or id
    name: String,
}

pub(crate) fn run(args: &EnvironmentArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let answer = context.ask::<EnvironmentGet>(&AgentParams { agent: args.name.clone() })?;
    context.show(&answer, |out, view| shown(out, &view))?;
    Ok(Outcome::Done)
}

fn shown(out: &mut Output, view: &EnvironmentView) -> anyhow::Result<()> {
    let mut table = Table::plain();
    let mut row = |name: &str, value: String| table.row([name.to_owned(), value]);
    row("agent", format!("{}, {}, epoch {}", view.agent, view.phase, view.epoch));
    let from = if view.stale { ", started with another manifest than the one in force" } else { "" };
    row("read from", format!("{}{from}", cell(&view.source)));
    row("program", format!("{} ({})", cell(&view.program), cell(&view.version)));
    row("driver", cell(&view.driver));
    row("folder", cell(&view.cwd));
    for root in &view.additional_roots {
        row("", cell(root));
    }
    let group = view.user.gid.map_or_else(String::new, |gid| format!(", group {gid}"));
    row("user", format!("{} ({}{group})", cell(&view.user.name), view.user.uid));
    row("shell", cell(&view.shell));
    row("system", format!("{} on {}", cell(&view.os), cell(&view.arch)));
    row("network", cell(&view.network));
    let sandbox = &view.sandbox;
    row("sandbox", cell(&sandbox.profile));
    row("may gain rights", never_gains(&sandbox.no_new_privs).to_owned());
    row("seccomp", cell(&sandbox.seccomp));
    row("cgroup", cell(&sandbox.cgroup));
    row("variables", cell(view.variables.join(" ")));
    out.table(&table)?;
    out.line("")?;
    let mut limits = Table::new(&["LIMIT", "ASKED", "IN FORCE", "STATE"]);
    for limit in &view.limits {
        limits.row([
            cell(&limit.name),
            amount(limit, limit.asked),
            amount(limit, limit.in_force),
            cell(&limit.state),
        ]);
    }
    Ok(out.table(&limits)?)
}

/// Whether a program may gain rights that its user does not have.
fn never_gains(no_new_privs: &str) -> &str {
    match no_new_privs {
        "yes" => "no, the kernel keeps it from that",
        "no" => "yes",
        other => other,
    }
}

fn amount(limit: &LimitView, amount: Option<u64>) -> String {
    match (amount, limit.name.as_str()) {
        (None, _) => String::new(),
        (Some(bytes), "memory") => human_bytes(bytes),
        (Some(milli), "cpu") => format!("{}.{:02}", milli / 1_000, milli % 1_000 / 10),
        (Some(count), _) => count.to_string(),
    }
}

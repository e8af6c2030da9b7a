//! `edgeplane agent retire`: say what an agent owns, then end it and remove all of that.

use std::io::{IsTerminal as _, Write as _};

use clap::Args;
use edgeplane_types::Phase;
use edgeplane_wire::{
    api::agent::{AgentParams, Belonging, RetireParams, RetirementPlan},
    catalogue::{self, RetirementPerform},
};

use super::{Outcome, change};
use crate::{
    context::Context,
    failure::Misuse,
    output::{Format, Output},
    quantity::human_bytes,
    table::{Table, cell},
};

/// Names of one kind that are shown to people; `-o json` has a hundred.
const NAMES_SHOWN: usize = 4;

/// End an agent and remove all that it owned
///
/// Says first what that is: its program, recordings, private folder, memory, schedules, messages and questions. What you
/// gave it to work in, `spec.cwd`, is never touched, and its history stays in the record. Then it asks, ends the agent
/// and removes exactly that: if the agent has come to own something else meanwhile, nothing is done. The removal goes on
/// after a crash of the daemon. The name is free afterwards. `edgeplane delete` frees the name and keeps the rest.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane agent retire reviewer --dry-run
  edgeplane agent retire reviewer --yes --reason \"the project is over\"")]
pub(crate) struct RetireArgs {
    /// The agent's name or id
    name: String,
    /// Only say what would be removed
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
    /// Do not ask
    #[arg(long)]
    yes: bool,
    /// Why, for the record
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

pub(crate) fn run(args: &RetireArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let params = AgentParams { agent: args.name.clone() };
    let answer = context.ask::<catalogue::RetirementPlan>(&params)?;
    if args.dry_run {
        context.show(&answer, |out, plan| show(out, &plan))?;
        return Ok(Outcome::Done);
    }
    let plan = answer.read()?;
    if !args.yes {
        if !std::io::stdin().is_terminal() {
            let what = "nobody is there to be asked: look at `--dry-run`, then give `--yes`";
            return Err(Misuse(what.to_owned()).into());
        }
        show(&mut context.out, &plan)?;
        context.out.flush()?;
        if !is_confirmed(&plan.name)? {
            context.out.note("nothing was done");
            return Ok(Outcome::Found);
        }
    }
    let params =
        RetireParams { agent: plan.agent_id.to_string(), reason: args.reason.clone(), plan: plan.digest };
    let answer = context.ask::<RetirementPerform>(&params)?;
    if context.out.format() == Format::Table {
        let result = answer.read()?;
        let how = match result.phase {
            Phase::Retired => "is retired, and what it owned is removed",
            _ => "is being retired; what it owns is removed when its program has ended",
        };
        context.out.line(&format!("{} {how}", result.name))?;
    } else {
        change::show(context, &[answer], "retired")?;
    }
    Ok(Outcome::Done)
}

/// Asks the person at the terminal; only the agent's name is a yes.
fn is_confirmed(name: &str) -> anyhow::Result<bool> {
    let mut out = std::io::stderr().lock();
    write!(out, "Retire it and remove this? Type its name, `{name}`: ")?;
    out.flush()?;
    let mut line = String::new();
    std::io::stdin().read_line(&mut line)?;
    Ok(line.trim() == name)
}

fn show(out: &mut Output, plan: &RetirementPlan) -> anyhow::Result<()> {
    let mut table = Table::new(&["AGENT", "WHAT", "NUMBER", "BYTES", "WHICH", ""]);
    rows(plan, &mut table);
    out.table(&table)?;
    out.line(&format!("plan {}", plan.digest))?;
    Ok(())
}

fn rows(plan: &RetirementPlan, table: &mut Table) {
    for (belongings, becomes) in [(&plan.removes, "is removed"), (&plan.stays, "stays")] {
        for belonging in belongings {
            table.row(row(&plan.name, belonging, becomes));
        }
    }
    for replica in &plan.replicas {
        rows(replica, table);
    }
}

fn row(name: &str, belonging: &Belonging, becomes: &str) -> [String; 6] {
    let shown: Vec<&str> = belonging.names.iter().take(NAMES_SHOWN).map(String::as_str).collect();
    let more = if belonging.names.len() > NAMES_SHOWN { ", …" } else { "" };
    [
        cell(name),
        cell(&belonging.kind),
        belonging.count.to_string(),
        if belonging.bytes == 0 { String::new() } else { human_bytes(belonging.bytes) },
        cell(format!("{}{more}", shown.join(", "))),
        becomes.to_owned(),
    ]
}

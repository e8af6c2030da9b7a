//! `edgeplane describe-api`: the method catalogue.

use clap::Args;
use edgeplane_wire::{
    api::core::{DescribeParams, DescribeResult},
    catalogue::{CoreDescribe, describe},
};
use serde_json::json;

use super::Outcome;
use crate::{
    context::Context,
    output::{Format, Output},
    table::{Table, cell},
};

/// List the methods of the node's protocol
///
/// Every command of this program is a call of one of these methods over the node's socket, and so can every other
/// program's be. With `-o json` each comes with the JSON Schema of its parameters and its result.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane describe-api
  edgeplane describe-api --profile memory
  edgeplane describe-api --offline -o json | jq '.methods[].name'")]
pub(crate) struct DescribeArgs {
    /// Only the methods of this profile, such as `runtime`
    #[arg(long, value_name = "PROFILE")]
    profile: Option<String>,
    /// The catalogue that this program was built with, without asking the daemon
    #[arg(long)]
    offline: bool,
}

pub(crate) fn run(args: &DescribeArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    if args.offline {
        let result = describe::describe(args.profile.as_deref());
        match context.out.format() {
            Format::Table => print(&mut context.out, &result)?,
            Format::Json | Format::Yaml => context.out.value(&json!(result))?,
        }
        return Ok(Outcome::Done);
    }
    let answer = context.ask::<CoreDescribe>(&DescribeParams { profile: args.profile.clone() })?;
    context.show(&answer, |out, result| print(out, &result))?;
    Ok(Outcome::Done)
}

fn print(out: &mut Output, result: &DescribeResult) -> anyhow::Result<()> {
    let mut table = Table::new(&["METHOD", "EFFECT", "SINCE", "SUMMARY"]);
    for method in &result.methods {
        table.row([
            cell(&method.name),
            cell(&method.effect),
            cell(method.since.as_deref().unwrap_or("not served")),
            cell(method.summary.trim()),
        ]);
    }
    Ok(out.table(&table)?)
}

//! `edgeplane audit`: prove that the record is as it was written.

use clap::{Args, Subcommand};
use edgeplane_client::Notification;
use edgeplane_types::ErrorName;
use edgeplane_wire::{
    api::{Empty, node::AuditResult},
    catalogue::{AuditVerify, Call},
};

use super::{Outcome, daemon::program};
use crate::{
    context::{Answer, Context},
    failure::Failure,
    output::{Color, Output, paint},
    quantity::counted,
    table::{Table, cell},
};

/// Check the record
///
/// Every event of the node is chained to the one before it by its hash, and every sealed recording has its digest among
/// the events.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane audit verify
  edgeplane audit verify -o json | jq .problems")]
pub(crate) struct AuditArgs {
    #[command(subcommand)]
    command: AuditCommand,
}

#[derive(Debug, Subcommand)]
enum AuditCommand {
    Verify(VerifyArgs),
}

/// Recompute every chain and every recording's digest
///
/// Prints how much was looked at and the first thing that is wrong in each stream and each recording. The exit code is 1
/// if anything is. Segments that are still being written have no digest yet and are counted as unsealed.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane audit verify
  edgeplane audit verify -o json | jq .problems
  edgeplane audit verify --offline --state-dir /backup/edgeplane")]
struct VerifyArgs {
    /// Read the record on disk instead of asking the daemon, for a node that is down or a copy
    #[arg(long)]
    offline: bool,
}

pub(crate) fn run(args: &AuditArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let AuditCommand::Verify(args) = &args.command;
    let answer = if args.offline { offline(context)? } else { online(context)? };
    let result: AuditResult = answer.read()?;
    context.show(&answer, |out, result| print(out, &result))?;
    Ok(if result.ok { Outcome::Done } else { Outcome::Found })
}

fn online(context: &Context) -> anyhow::Result<Answer<AuditVerify>> {
    let mut node = context.connect()?;
    node.doing = Some("recomputing the record".to_owned());
    // Its progress is many lines that say little; the spinner says as much.
    let mut unseen = |_progress: Notification| None;
    let raw = node.call_watching(AuditVerify::NAME, Empty {}, context.long_patience(), &mut unseen)?;
    Ok(Answer::new(raw))
}

/// Lets the daemon's program read the record: it alone knows its form.
fn offline(context: &Context) -> anyhow::Result<Answer<AuditVerify>> {
    let daemon = program::daemon(&context.env)?;
    let dirs = context.dirs()?;
    let output = program::run(&daemon, &["audit", "verify"], &dirs)?;
    let text = String::from_utf8_lossy(&output.stdout);
    match serde_json::value::RawValue::from_string(text.trim().to_owned()) {
        Ok(raw) if serde_json::from_str::<AuditResult>(raw.get()).is_ok() => Ok(Answer::new(raw)),
        _ => {
            let said = String::from_utf8_lossy(&output.stderr);
            let said = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
            let message = format!(
                "`{}` cannot read the record in `{}`: {said}",
                daemon.display(),
                dirs.state.display()
            );
            Err(Failure::new(ErrorName::Unsupported, message).into())
        }
    }
}

fn print(out: &mut Output, result: &AuditResult) -> anyhow::Result<()> {
    let verdict = if result.ok { paint(Color::Green, "ok") } else { paint(Color::Red, "damaged") };
    out.line(&format!(
        "{verdict}: {} in {}, {}, {} of them unsealed",
        counted(result.events, "event"),
        counted(result.streams, "stream"),
        counted(result.segments.saturating_add(result.unsealed), "recording segment"),
        result.unsealed
    ))?;
    if !result.problems.is_empty() {
        let mut table = Table::new(&["STREAM", "SEQ", "TYPE", "PROBLEM"]);
        for problem in &result.problems {
            table.row([
                cell(&problem.stream),
                problem.seq.to_string(),
                cell(&problem.kind),
                cell(&problem.what),
            ]);
        }
        out.table(&table)?;
    }
    Ok(())
}

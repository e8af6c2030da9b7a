//! `edgeplane doctor`: what is wrong, and what to do about it.

mod daemon;
mod machine;
mod places;

use clap::Args;
use edgeplane_wire::api::core::Check;
use serde_json::json;

use super::Outcome;
use crate::{
    context::Context,
    output::{Color, Format, paint},
    table::{Table, cell},
};

/// Look for what is wrong
///
/// Looks at the directories, the disk, the programs, what the kernel offers and at the daemon, and says what to do about
/// each thing that is not right. It works without a daemon, with a dead one and with one that hangs. The exit code is 1
/// if anything fails; warnings are not failures.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane doctor
  edgeplane doctor -o json | jq '.checks[] | select(.status != \"ok\")'")]
pub(crate) struct DoctorArgs {}

pub(crate) fn run(_args: &DoctorArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let mut checks = places::look(context);
    checks.extend(machine::look(context));
    let daemon = daemon::look(context);
    if daemon.iter().any(|check| check.name.starts_with("node: ")) {
        // The daemon says what it uses, which is more than what there is.
        checks.retain(|check| !check.name.starts_with("cgroup: "));
    }
    checks.extend(daemon);
    let fails = checks.iter().filter(|check| check.status == "fail").count();
    let warns = checks.iter().filter(|check| check.status == "warn").count();
    if context.out.format() != Format::Table {
        context.out.value(&json!({ "ok": fails == 0, "checks": checks }))?;
    } else {
        let mut table = Table::new(&["CHECK", "", "FOUND"]);
        for check in &checks {
            table.row([cell(&check.name), status(&check.status), cell(&check.detail)]);
        }
        context.out.table(&table)?;
        for check in checks.iter().filter(|check| check.status != "ok") {
            if let Some(hint) = &check.hint {
                context.out.line(&format!("hint: {}: {hint}", check.name))?;
            }
        }
        let verdict = match (fails, warns) {
            (0, 0) => paint(Color::Green, "all is well"),
            (0, warns) => format!("{}, {warns} to look at", paint(Color::Green, "nothing fails")),
            (fails, warns) => {
                format!("{}, {warns} to look at", paint(Color::Red, &format!("{fails} failing")))
            }
        };
        context.out.line(&verdict)?;
    }
    Ok(if fails == 0 { Outcome::Done } else { Outcome::Found })
}

fn status(status: &str) -> String {
    let color = match status {
        "ok" => Color::Green,
        "warn" => Color::Yellow,
        _ => Color::Red,
    };
    paint(color, status)
}

fn ok(name: &str, detail: impl Into<String>) -> Check {
    Check { name: name.to_owned(), status: "ok".to_owned(), detail: detail.into(), hint: None }
}

fn warn(name: &str, detail: impl Into<String>, hint: impl Into<String>) -> Check {
    Check { name: name.to_owned(), status: "warn".to_owned(), detail: detail.into(), hint: Some(hint.into()) }
}

fn fail(name: &str, detail: impl Into<String>, hint: impl Into<String>) -> Check {
    Check { name: name.to_owned(), status: "fail".to_owned(), detail: detail.into(), hint: Some(hint.into()) }
}

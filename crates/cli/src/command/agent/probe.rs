//! `edgeplane agent probe`: tries a manifest out on a node that is thrown away.
//!
//! Owns the order of a trial and what is said of it. The node is [`scratch`]'s, kept alive by [`keeper`]; the look at the
//! program is [`look`]'s, and what of it is worth telling [`seen`]'s.

pub(crate) mod keeper;
mod look;
mod scratch;
mod seen;

use std::{path::PathBuf, time::Duration};

use anyhow::Context as _;
use clap::Args;
use edgeplane_manifest::{FilePath, Manifest};
use edgeplane_os::wait::Deadline;
use edgeplane_types::ErrorName;
use serde::Serialize;
use serde_json::json;

use self::{scratch::Scratch, seen::Seen};
use super::{Outcome, offline};
use crate::{
    command::apply,
    context::Context,
    failure::Failure,
    output::{Color, Format, Output, paint},
    progress::Progress,
    table::{Table, cell},
};

/// How long a program may take if nobody says otherwise: some load a runtime and ask a network first.
const TIME: Duration = Duration::from_secs(60);

/// Try out a manifest on a node that is thrown away
///
/// Starts the program with a daemon, a record and a folder of its own, sees whether its driver works, and ends all of it
/// again. Says what the program is, which login or key is missing, and what it offers. No node of this machine is
/// touched; the program itself is the real one, with the HOME and the variables that the manifest lets it have. Exit
/// code 0: it works; 1: it does not; 75: it did not answer in time, by default 60s.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane agent probe reviewer.yaml
  edgeplane agent probe agents.yaml --agent reviewer --timeout 2m
  edgeplane agent probe reviewer.yaml --say \"Say hello.\"
  edgeplane agent probe reviewer.yaml -o json | jq -r .verdict")]
pub(crate) struct ProbeArgs {
    /// The manifest
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Which agent, if the file has several
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Also give it a message and wait for its turn: some say only then that a login is missing. This may cost money
    #[arg(long, value_name = "TEXT")]
    say: Option<String>,
}

/// What came out of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verdict {
    /// The driver works.
    Works,
    /// It wants a login or a key.
    LoginMissing,
    /// It speaks another version of the protocol.
    WrongVersion,
    /// Its program could not be run.
    NotStarted,
    /// It ended.
    Ended,
    /// Its session did not come about.
    NoSession,
    /// Its turn failed.
    TurnFailed,
    /// What its terminal shows takes no messages, as its adapter reads it.
    NotIdle,
    /// The node does not take the manifest.
    Refused,
    /// It did not answer in time.
    NoAnswer,
}

impl Verdict {
    fn words(self) -> &'static str {
        match self {
            Self::Works => "works",
            Self::LoginMissing => "wants a login",
            Self::WrongVersion => "speaks another version of the protocol",
            Self::NotStarted => "could not be started",
            Self::Ended => "ended",
            Self::NoSession => "opened no session",
            Self::TurnFailed => "failed in its turn",
            Self::NotIdle => "takes no messages yet",
            Self::Refused => "is not taken by the node",
            Self::NoAnswer => "did not answer in time",
        }
    }

    fn outcome(self) -> Outcome {
        match self {
            Self::Works => Outcome::Done,
            Self::NoAnswer => Outcome::NotInTime,
            _ => Outcome::Found,
        }
    }
}

/// The result of a trial, as programs read it.
#[derive(Debug, Serialize)]
struct Report {
    agent: String,
    driver: String,
    verdict: Verdict,
    /// Why, if it does not work.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// What to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    /// What the manifest names and this machine does not have.
    missing: Vec<Missing>,
    #[serde(flatten)]
    seen: Seen,
}

impl Report {
    /// What a person would do now.
    fn advice(&self, args: &ProbeArgs) -> Option<String> {
        let logins = self.seen.logins.len();
        let log_in = || {
            let choice = if logins > 1 { "; `driver.authMethod` chooses among the logins" } else { "" };
            format!(
                "log in with the program's own command as this user, or set the variable of its key where the daemon \
                 is started{choice}"
            )
        };
        // Some open a session for anybody, and say only in a turn that nobody is logged in.
        let may_want_login = logins > 0 || self.missing.iter().any(|missing| missing.description.is_some());
        match self.verdict {
            Verdict::Works if self.driver == "acp" && may_want_login && args.say.is_none() => Some(
                "whether somebody is logged in may only show in a turn: `--say TEXT` tries one".to_owned(),
            ),
            Verdict::Works => Some(format!("edgeplane apply -f {} --wait", args.file.display())),
            Verdict::LoginMissing => Some(log_in()),
            Verdict::NoSession | Verdict::TurnFailed => (logins > 0).then(log_in),
            Verdict::NotStarted => {
                let program = self.missing.iter().find(|missing| missing.what.starts_with("program "))?;
                Some(format!("install the {}, or say its file in `command`", program.what))
            }
            Verdict::NotIdle => {
                Some(format!("apply it, and answer it once with `edgeplane attach {} --control`", self.agent))
            }
            Verdict::NoAnswer => Some("some load for long: give it more with `--timeout 5m`".to_owned()),
            Verdict::WrongVersion | Verdict::Ended | Verdict::Refused => None,
        }
    }
}

#[derive(Debug, Serialize)]
struct Missing {
    what: String,
    required: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
}

pub(crate) fn run(args: &ProbeArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let manifest = chosen(args)?;
    let name = manifest.metadata.name.to_string();
    let missing: Vec<Missing> = offline::missing(&manifest, &context.env)
        .into_iter()
        .map(|(what, required, description)| Missing { what, required, description })
        .collect();
    let deadline = Deadline::after(context.timeout().unwrap_or(TIME));
    let shows = context.out.manner.stderr_is_terminal && !context.out.manner.quiet;
    let mut progress = Progress::new(shows.then(|| format!("trying out {name}")));
    let scratch = Scratch::start(&manifest, deadline, context)?;
    let tried = look::try_out(&scratch, &manifest, args.say.as_deref(), (deadline, &mut progress));
    progress.clear();
    // Ended before anything is said, so that whoever reads the verdict finds nothing running.
    let left = scratch.end();
    let (verdict, reason, seen) = tried?;
    let driver = look::driver_word(&manifest);
    let mut report = Report { agent: name, driver, verdict, reason, hint: None, missing, seen };
    report.hint = report.advice(args);
    match context.out.format() {
        Format::Table => print(&mut context.out, &report)?,
        Format::Json | Format::Yaml => context.out.value(&report)?,
    }
    if let Err(why) = left {
        context.out.note(&format!("warning: the trial left something behind: {why:#}"));
    }
    Ok(verdict.outcome())
}

/// The one agent of the file that is meant.
fn chosen(args: &ProbeArgs) -> anyhow::Result<Manifest> {
    let mut found = Vec::new();
    for document in apply::documents(std::slice::from_ref(&args.file))? {
        let folder: FilePath = document.folder.parse().context("the manifest's folder cannot be named")?;
        let manifests = edgeplane_manifest::parse(&document.file, &document.text).map_err(|problems| {
            let violations = problems.iter().map(|problem| json!(problem.to_string())).collect();
            Failure::new(ErrorName::InvalidManifest, "something is wrong in the manifest")
                .violations(violations)
        })?;
        for manifest in manifests {
            found.push(manifest.resolved_from(&folder).context("a path of the manifest cannot be resolved")?);
        }
    }
    let names: Vec<String> = found.iter().map(|manifest| manifest.metadata.name.to_string()).collect();
    let wanted =
        |manifest: &Manifest| args.agent.as_ref().is_none_or(|name| manifest.metadata.name.as_str() == name);
    let mut fitting = found.into_iter().filter(wanted);
    match (fitting.next(), fitting.next()) {
        (Some(manifest), None) => Ok(manifest),
        (None, _) => {
            let message = format!("no agent of that name in `{}`", args.file.display());
            let hint = format!("there are: {}", names.join(", "));
            Err(Failure::new(ErrorName::NotFound, message).hint(hint).into())
        }
        (Some(_), Some(_)) => {
            let message = format!("`{}` has several agents", args.file.display());
            let hint = format!("choose one with `--agent`: {}", names.join(", "));
            Err(Failure::new(ErrorName::InvalidParams, message).hint(hint).into())
        }
    }
}

fn print(out: &mut Output, report: &Report) -> anyhow::Result<()> {
    let color = if report.verdict == Verdict::Works { Color::Green } else { Color::Red };
    let verdict = paint(color, report.verdict.words());
    // The verdict has said the beginning of some already.
    let why = report.reason.as_deref().map_or_else(String::new, |why| {
        match (why.strip_prefix("its program wants a login "), why.strip_prefix("it opens no session: ")) {
            (Some(rest), _) => format!(" {}", cell(rest)),
            (None, rest) => format!(": {}", cell(rest.unwrap_or(why))),
        }
    });
    out.line(&format!("{} ({}) {verdict}{why}", cell(&report.agent), report.driver))?;
    let mut table = Table::plain();
    for (name, value) in report.seen.rows() {
        table.row([format!("  {name}"), cell(value)]);
    }
    // What nobody has described is one line: most programs need few of the variables that are passed to them.
    let (named, others): (Vec<_>, Vec<_>) =
        report.missing.iter().partition(|missing| missing.required || missing.description.is_some());
    for missing in named {
        let what = if missing.required { "missing" } else { "not there" };
        let description = missing.description.as_ref().map(|text| format!(" ({text})")).unwrap_or_default();
        table.row([format!("  {what}"), cell(format!("{}{description}", missing.what))]);
    }
    if !others.is_empty() {
        let all: Vec<&str> = others.iter().map(|missing| missing.what.as_str()).collect();
        table.row(["  not set".to_owned(), cell(all.join(", "))]);
    }
    if !table.is_empty() {
        out.table(&table)?;
    }
    if let Some(screen) = &report.seen.screen {
        out.line("  screen:")?;
        for line in screen.lines() {
            out.line(&format!("  | {}", cell(line)))?;
        }
    }
    for line in &report.seen.last_lines {
        out.line(&format!("  > {}", cell(line)))?;
    }
    if let Some(hint) = &report.hint {
        out.line(&format!("next: {}", cell(hint)))?;
    }
    Ok(())
}

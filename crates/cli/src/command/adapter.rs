//! `edgeplane adapter`: what reads the screens of terminal programs.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use edgeplane_wire::{
    api::{Empty, adapter::AdapterCheckParams},
    catalogue::{AdapterCheck, AdapterList},
};

use super::{Outcome, done};
use crate::{
    context::Context,
    output::Format,
    table::{Table, cell},
};

/// Look at the adapters that read terminal programs
///
/// An adapter tells by a program's screen whether it is idle, busy or asks something, and how a message is entered.
/// Your own are files in the folder `adapters` of the state directory; they come before those that come along.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane adapter list
  edgeplane adapter show codex
  edgeplane adapter check my-tool.toml --agent helper")]
pub(crate) struct AdapterArgs {
    #[command(subcommand)]
    command: AdapterCommand,
}

#[derive(Debug, Subcommand)]
enum AdapterCommand {
    List(ListArgs),
    Show(ShowArgs),
    Check(CheckArgs),
}

/// List the adapters
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane adapter list
  edgeplane adapter list -o json | jq .folder")]
struct ListArgs {}

/// Print an adapter's text
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane adapter show codex
  edgeplane adapter show codex > my-tool.toml")]
struct ShowArgs {
    /// The adapter's name
    name: String,
}

/// Read an adapter from a file, and tell what it says of a screen
///
/// Nothing is typed and nothing is put in force. The exit code is 1 if the screen is not understood.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane adapter check my-tool.toml
  edgeplane adapter check my-tool.toml --agent helper
  edgeplane adapter check my-tool.toml --screen busy.txt")]
struct CheckArgs {
    /// The adapter's file
    file: PathBuf,
    /// The agent whose screen is read
    #[arg(long, value_name = "NAME", conflicts_with = "screen")]
    agent: Option<String>,
    /// A recorded screen, as `edgeplane snapshot --recorded` prints it
    #[arg(long, value_name = "FILE")]
    screen: Option<PathBuf>,
}

pub(crate) fn run(args: &AdapterArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    match &args.command {
        AdapterCommand::List(ListArgs {}) => list(context),
        AdapterCommand::Show(args) => show(args, context),
        AdapterCommand::Check(args) => check(args, context),
    }
}

fn list(context: &mut Context) -> anyhow::Result<Outcome> {
    let answer = context.ask::<AdapterList>(&Empty {})?;
    context.show(&answer, |out, answer| {
        let mut table = Table::new(&["NAME", "PROGRAM", "RECORDED FROM", "FILE"]);
        for item in &answer.items {
            let file = item.file.as_deref().unwrap_or("comes along");
            table.row([cell(&item.name), cell(&item.title), cell(item.recorded.join(", ")), cell(file)]);
        }
        out.table(&table)?;
        for (name, why) in answer.items.iter().filter_map(|item| Some((&item.name, item.rejected.as_ref()?)))
        {
            out.line(&format!("not in force: {name}: {why}"))?;
        }
        Ok(())
    })?;
    Ok(Outcome::Done)
}

fn show(args: &ShowArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let mut answer = context.ask::<AdapterList>(&Empty {})?.read()?;
    answer.items.retain(|item| item.name == args.name);
    let item = answer.items.pop().with_context(|| format!("there is no adapter `{}`", args.name))?;
    done(match context.out.format() {
        Format::Table => context.out.text(item.text.trim_end()).and_then(|()| context.out.line("")),
        Format::Json | Format::Yaml => context.out.value(&item),
    })
}

fn check(args: &CheckArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let read = |path: &PathBuf| {
        std::fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()))
    };
    let screen = args.screen.as_ref().map(read).transpose()?;
    let params = AdapterCheckParams { adapter: read(&args.file)?, agent: args.agent.clone(), screen };
    let answer = context.ask::<AdapterCheck>(&params)?;
    context.show(&answer, |out, answer| {
        let Some(state) = &answer.state else { return Ok(out.line(&format!("`{}` is right", answer.name))?) };
        out.line(&format!("state     {state}"))?;
        out.line(&format!("rules     {}", answer.matched.join(", ")))?;
        let composer = match answer.composer.as_deref() {
            None => "not seen".to_owned(),
            Some("") => "empty".to_owned(),
            Some(text) => format!("{} characters: {}", text.chars().count(), text.replace('\n', " / ")),
        };
        Ok(out.line(&format!("composer  {composer}"))?)
    })?;
    let is_unknown = answer.read()?.state.as_deref() == Some("unknown");
    Ok(if is_unknown { Outcome::Found } else { Outcome::Done })
}

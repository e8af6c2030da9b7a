//! `edgeplane memory`: an agent's key-value memory.

use std::{io::Read, path::PathBuf, time::Duration};

use anyhow::Context as _;
use clap::{Args, Subcommand};
use edgeplane_types::ErrorName;
use edgeplane_wire::{
    api::memory::{DeleteParams, EntriesResult, Entry, KeyParams, KeysParams, PutParams},
    catalogue::{MemoryDelete, MemoryGet, MemoryHistory, MemoryList, MemoryPut},
};
use serde_json::Value;

use super::{Outcome, inbox::short_time};
use crate::{
    context::Context,
    failure::Failure,
    json,
    output::Output,
    quantity::{self, human_bytes},
    table::{Table, cell},
};

/// Read and write an agent's memory
///
/// A small key-value store that belongs to the agent's name and outlives every epoch. Values are JSON; every write makes
/// a new version. Inside an agent, `-` stands for the agent itself.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane memory put reviewer tone \"short and kind\"
  edgeplane memory get reviewer tone
  edgeplane memory list reviewer --prefix notes/")]
pub(crate) struct MemoryArgs {
    #[command(subcommand)]
    command: MemoryCommand,
}

#[derive(Debug, Subcommand)]
enum MemoryCommand {
    Get(GetArgs),
    Put(PutArgs),
    List(ListArgs),
    Delete(DeleteArgs),
    History(HistoryArgs),
}

/// Print what a key holds
///
/// A text is printed as it is, other values as JSON. With `-o json` version, digest and times come with it.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane memory get reviewer tone
  edgeplane memory get reviewer plan -o json | jq .value")]
struct GetArgs {
    /// The agent's name or id
    name: String,
    /// The key
    key: String,
}

/// Write a key
///
/// The value is a text unless `--json` is given. `--if-version` writes only if nobody wrote in between; version 0 means
/// that the key must not exist.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane memory put reviewer tone \"short and kind\"
  edgeplane memory put reviewer plan --json '{\"steps\":[1,2]}' --if-version 3
  edgeplane memory put reviewer lease mine --if-version 0 --ttl 30s
  edgeplane memory put reviewer style --file style.md")]
struct PutArgs {
    /// The agent's name or id
    name: String,
    /// The key
    key: String,
    #[command(flatten)]
    value: PutValue,
    /// Write only if the key is at this version
    #[arg(long, value_name = "VERSION")]
    if_version: Option<u64>,
    /// Forget it after this time, such as 10m
    #[arg(long, value_name = "TIME", value_parser = quantity::parse_duration)]
    ttl: Option<Duration>,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct PutValue {
    /// The value as a text
    #[arg(allow_hyphen_values = true)]
    value: Option<String>,
    /// The value as JSON
    #[arg(long, value_name = "JSON")]
    json: Option<String>,
    /// A file with the value as a text
    #[arg(short, long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// The value comes as a text on standard input
    #[arg(long)]
    stdin: bool,
}

/// List keys
///
/// Shows each key with its version, size and times; values are read one by one with `get`.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane memory list reviewer
  edgeplane memory list reviewer --prefix notes/ -o json")]
struct ListArgs {
    /// The agent's name or id
    name: String,
    /// Only keys that begin so
    #[arg(long, value_name = "TEXT")]
    prefix: Option<String>,
}

/// Remove a key
///
/// Its versions stay in its history, and the next write goes on counting.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane memory delete reviewer tone
  edgeplane memory delete reviewer plan --if-version 4")]
struct DeleteArgs {
    /// The agent's name or id
    name: String,
    /// The key
    key: String,
    /// Remove only if the key is at this version
    #[arg(long, value_name = "VERSION")]
    if_version: Option<u64>,
}

/// List the versions of a key
///
/// Oldest first, removals included, each with the epoch that wrote it if the agent itself did.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane memory history reviewer plan
  edgeplane memory history reviewer plan -o json | jq '.items[].version'")]
struct HistoryArgs {
    /// The agent's name or id
    name: String,
    /// The key
    key: String,
}

pub(crate) fn run(args: &MemoryArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    match &args.command {
        MemoryCommand::Get(args) => {
            let answer =
                context.ask::<MemoryGet>(&KeyParams { agent: agent(&args.name), key: args.key.clone() })?;
            context.show(&answer, |out, entry| value(out, &entry))?;
        }
        MemoryCommand::Put(args) => {
            let params = PutParams {
                agent: agent(&args.name),
                key: args.key.clone(),
                value: args.value.read()?,
                if_version: args.if_version,
                ttl_ms: args.ttl.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
            };
            let answer = context.ask::<MemoryPut>(&params)?;
            context.show(&answer, |out, entry| written(out, &entry))?;
        }
        MemoryCommand::List(args) => {
            let params = KeysParams { agent: agent(&args.name), prefix: args.prefix.clone() };
            let answer = context.ask::<MemoryList>(&params)?;
            context.show(&answer, |out, result| entries(out, &result, "no keys"))?;
        }
        MemoryCommand::Delete(args) => {
            let agent = agent(&args.name);
            let params = DeleteParams { agent, key: args.key.clone(), if_version: args.if_version };
            let answer = context.ask::<MemoryDelete>(&params)?;
            context.show(&answer, |out, entry| written(out, &entry))?;
        }
        MemoryCommand::History(args) => {
            let params = KeyParams { agent: agent(&args.name), key: args.key.clone() };
            let answer = context.ask::<MemoryHistory>(&params)?;
            context.show(&answer, |out, result| entries(out, &result, "never written"))?;
        }
    }
    Ok(Outcome::Done)
}

/// `-` is the agent that runs this command.
fn agent(name: &str) -> Option<String> {
    (name != "-").then(|| name.to_owned())
}

impl PutValue {
    fn read(&self) -> anyhow::Result<Value> {
        if let Some(text) = &self.value {
            return Ok(Value::from(text.as_str()));
        }
        if let Some(text) = &self.json {
            return serde_json::from_str(text).map_err(|error| {
                Failure::new(ErrorName::InvalidParams, format!("`--json` does not hold JSON: {error}")).into()
            });
        }
        if let Some(file) = &self.file {
            let text =
                std::fs::read_to_string(file).with_context(|| format!("cannot read `{}`", file.display()))?;
            return Ok(Value::from(text));
        }
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).context("cannot read the value from standard input")?;
        Ok(Value::from(text))
    }
}

fn value(out: &mut Output, entry: &Entry) -> anyhow::Result<()> {
    match &entry.value {
        Some(Value::String(text)) => {
            out.text(text)?;
            if !text.ends_with('\n') {
                out.line("")?;
            }
            Ok(())
        }
        Some(other) => Ok(out.text(&json::pretty(other)).and_then(|()| out.line(""))?),
        None => Ok(()),
    }
}

fn written(out: &mut Output, entry: &Entry) -> anyhow::Result<()> {
    let what = if entry.deleted { "removed" } else { "written" };
    Ok(out.line(&format!("{} {what}, version {}", entry.key, entry.version))?)
}

fn entries(out: &mut Output, result: &EntriesResult, none: &str) -> anyhow::Result<()> {
    if result.items.is_empty() {
        out.note(none);
        return Ok(());
    }
    let mut table = Table::new(&["KEY", "VERSION", "SIZE", "AT", "EXPIRES", "EPOCH"]);
    for entry in &result.items {
        table.row([
            cell(&entry.key),
            entry.version.to_string(),
            if entry.deleted { "removed".to_owned() } else { human_bytes(entry.bytes) },
            short_time(&entry.at),
            entry.expires_at.as_ref().map(short_time).unwrap_or_default(),
            entry.epoch.map(|epoch| epoch.to_string()).unwrap_or_default(),
        ]);
    }
    Ok(out.table(&table)?)
}

//! `edgeplane resource`: configuration and administrative state with versions.

use std::{collections::BTreeMap, io::Read, path::PathBuf};

use anyhow::Context as _;
use clap::{Args, Subcommand};
use edgeplane_types::{ErrorName, ResourceKind, ResourceUri, SafeLabel};
use edgeplane_wire::{
    api::resource::{
        DeleteResourceParams, GetResourceParams, ListResourcesParams, PatchResourceParams, PutResourceParams,
        ResourceHistoryParams, ResourceView, ResourcesResult,
    },
    catalogue::{ResourceDelete, ResourceGet, ResourceHistory, ResourceList, ResourcePatch, ResourcePut},
};
use serde_json::Value;

use super::{Outcome, inbox::short_time};
use crate::{
    context::Context,
    failure::Failure,
    json,
    output::Output,
    table::{Table, cell},
};

/// Letters of an etag that a table shows.
const ETAG_CHARS: usize = 12;

/// Read and change configuration and administrative state
///
/// A resource is named `edgeplane://KIND/NAME`, or KIND/NAME for short. `config`, `profile`, `connector` and `automation` are
/// written here; `agent`, `schedule` and `policy` show what is changed elsewhere. Every change is a version that stays. Secrets
/// stand in a resource by reference only, as {"secretRef": {"env": NAME}} or {"secretRef": {"file": PATH}}, and are
/// shown masked.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane resource list
  edgeplane resource put config/limits --json '{\"retries\": 3}'
  edgeplane resource patch config/limits --json '{\"retries\": 5}' --if-version 1
  edgeplane resource history config/limits")]
pub(crate) struct ResourceArgs {
    #[command(subcommand)]
    command: ResourceCommand,
}

#[derive(Debug, Subcommand)]
enum ResourceCommand {
    List(ListArgs),
    Get(GetArgs),
    Put(PutArgs),
    Patch(PatchArgs),
    Delete(DeleteArgs),
    History(HistoryArgs),
}

/// List resources
///
/// By kind and name, each with its version. Values are read one by one with `get`.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane resource list
  edgeplane resource list --kind connector -o json
  edgeplane resource list -l team=docs")]
struct ListArgs {
    /// Only those of this kind: agent, schedule, policy, config, profile, connector or automation
    #[arg(long, value_name = "KIND", value_parser = parse_kind)]
    kind: Option<ResourceKind>,
    /// Only those whose name begins so
    #[arg(long, value_name = "TEXT")]
    prefix: Option<String>,
    /// Only those with this label; may be given several times, and then all must be met
    #[arg(short = 'l', long = "label", value_name = "NAME=VALUE", value_parser = parse_label)]
    labels: Vec<(String, SafeLabel)>,
}

/// Print what a resource holds
///
/// The value as JSON; with `-o json` version, etag and author come with it.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane resource get config/limits
  edgeplane resource get agent/reviewer --at-version 1
  edgeplane resource get connector/tickets -o json | jq .etag")]
struct GetArgs {
    /// The resource
    #[arg(value_name = "RESOURCE", value_parser = parse_uri)]
    uri: ResourceUri,
    /// What it held in this version
    #[arg(long, value_name = "VERSION")]
    at_version: Option<u64>,
}

/// Write a resource
///
/// Replaces what it holds. What it holds already makes no version. `--if-version` writes only if nobody wrote in
/// between; version 0 means that it must not be there.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane resource put config/limits --json '{\"retries\": 3}'
  edgeplane resource put profile/careful --file careful.json --label team=docs
  edgeplane resource put config/limits --stdin --if-version 0")]
struct PutArgs {
    /// The resource
    #[arg(value_name = "RESOURCE", value_parser = parse_uri)]
    uri: ResourceUri,
    #[command(flatten)]
    value: ResourceValue,
    /// By what it is found; may be given several times
    #[arg(short = 'l', long = "label", value_name = "NAME=VALUE", value_parser = parse_label)]
    labels: Vec<(String, SafeLabel)>,
    /// Write only if it is at this version
    #[arg(long, value_name = "VERSION")]
    if_version: Option<u64>,
}

/// Change a part of a resource
///
/// A JSON merge patch: keys are replaced, and a key with null goes.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane resource patch config/limits --json '{\"retries\": 5, \"old\": null}'
  edgeplane resource patch connector/tickets --json '{\"enabled\": false}' --if-version 3")]
struct PatchArgs {
    /// The resource
    #[arg(value_name = "RESOURCE", value_parser = parse_uri)]
    uri: ResourceUri,
    #[command(flatten)]
    value: ResourceValue,
    /// Change it only if it is at this version
    #[arg(long, value_name = "VERSION")]
    if_version: Option<u64>,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct ResourceValue {
    /// What is written, as JSON
    #[arg(long, value_name = "JSON", allow_hyphen_values = true)]
    json: Option<String>,
    /// A file with it as JSON
    #[arg(short, long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// It comes as JSON on standard input
    #[arg(long)]
    stdin: bool,
}

/// End a resource
///
/// Its versions stay in its history, and the next write goes on counting.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane resource delete config/limits
  edgeplane resource delete connector/tickets --if-version 4 --reason \"moved\"")]
struct DeleteArgs {
    /// The resource
    #[arg(value_name = "RESOURCE", value_parser = parse_uri)]
    uri: ResourceUri,
    /// End it only if it is at this version
    #[arg(long, value_name = "VERSION")]
    if_version: Option<u64>,
    /// Why, for the record
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

/// List the versions of a resource
///
/// Newest first, with who made each; ends are versions too.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane resource history config/limits
  edgeplane resource history agent/reviewer -o json | jq '.items[].version'")]
struct HistoryArgs {
    /// The resource
    #[arg(value_name = "RESOURCE", value_parser = parse_uri)]
    uri: ResourceUri,
}

/// A resource by its whole name, or by KIND/NAME.
fn parse_uri(text: &str) -> Result<ResourceUri, String> {
    let whole = match text.contains("://") {
        true => text.to_owned(),
        false => format!("{}{text}", edgeplane_types::resource::RESOURCE_SCHEME),
    };
    whole.parse::<ResourceUri>().map_err(|error| error.to_string())
}

fn parse_kind(text: &str) -> Result<ResourceKind, String> {
    let words = || ResourceKind::ALL.iter().map(|kind| kind.as_str()).collect::<Vec<_>>().join(", ");
    ResourceKind::from_word(text).ok_or_else(|| format!("`{text}` is none of {}", words()))
}

pub(crate) fn parse_label(text: &str) -> Result<(String, SafeLabel), String> {
    let (key, value) = text.split_once('=').ok_or_else(|| format!("`{text}` is not NAME=VALUE"))?;
    Ok((key.to_owned(), value.parse().map_err(|error| format!("{error}"))?))
}

pub(crate) fn run(args: &ResourceArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    match &args.command {
        ResourceCommand::List(args) => list(args, context)?,
        ResourceCommand::Get(args) => {
            let params = GetResourceParams {
                uri: args.uri.clone(),
                at_version: args.at_version,
                if_none_match: None,
                fields: Vec::new(),
            };
            let answer = context.ask::<ResourceGet>(&params)?;
            context.show(&answer, |out, view| held(out, &view))?;
        }
        ResourceCommand::Put(args) => {
            let labels: BTreeMap<_, _> = args.labels.iter().cloned().collect();
            let params = PutResourceParams {
                uri: args.uri.clone(),
                value: args.value.read()?,
                labels: (!labels.is_empty()).then_some(labels),
                if_version: args.if_version,
            };
            let answer = context.ask::<ResourcePut>(&params)?;
            context.show(&answer, |out, view| changed(out, &view))?;
        }
        ResourceCommand::Patch(args) => {
            let params = PatchResourceParams {
                uri: args.uri.clone(),
                patch: args.value.read()?,
                labels: None,
                if_version: args.if_version,
            };
            let answer = context.ask::<ResourcePatch>(&params)?;
            context.show(&answer, |out, view| changed(out, &view))?;
        }
        ResourceCommand::Delete(args) => {
            let (uri, reason) = (args.uri.clone(), args.reason.clone());
            let params = DeleteResourceParams { uri, if_version: args.if_version, reason };
            let answer = context.ask::<ResourceDelete>(&params)?;
            context.show(&answer, |out, view| changed(out, &view))?;
        }
        ResourceCommand::History(args) => {
            let params = ResourceHistoryParams { uri: args.uri.clone(), limit: None, cursor: None };
            let answer = context.ask::<ResourceHistory>(&params)?;
            context.show(&answer, |out, result| versions(out, &result))?;
        }
    }
    Ok(Outcome::Done)
}

fn list(args: &ListArgs, context: &mut Context) -> anyhow::Result<()> {
    let params = ListResourcesParams {
        kind: args.kind,
        prefix: args.prefix.clone(),
        labels: args.labels.iter().cloned().collect(),
        limit: Some(500),
        cursor: None,
    };
    let answer = context.ask::<ResourceList>(&params)?;
    context.show(&answer, |out, result| resources(out, &result))
}

impl ResourceValue {
    fn read(&self) -> anyhow::Result<Value> {
        let text = if let Some(text) = &self.json {
            text.clone()
        } else if let Some(file) = &self.file {
            std::fs::read_to_string(file).with_context(|| format!("cannot read `{}`", file.display()))?
        } else {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text).context("cannot read standard input")?;
            text
        };
        serde_json::from_str(&text).map_err(|error| {
            Failure::new(ErrorName::InvalidParams, format!("what is to be written is no JSON: {error}"))
                .into()
        })
    }
}

fn held(out: &mut Output, view: &ResourceView) -> anyhow::Result<()> {
    match &view.value {
        Some(value) => Ok(out.text(&json::pretty(value)).and_then(|()| out.line(""))?),
        None => {
            out.note(&format!("{} ended with version {}", view.uri, view.version));
            Ok(())
        }
    }
}

fn changed(out: &mut Output, view: &ResourceView) -> anyhow::Result<()> {
    let what = match (view.unchanged, view.deleted) {
        (true, _) => "unchanged",
        (false, true) => "ended",
        (false, false) => "written",
    };
    Ok(out.line(&format!("{} {what}, version {}", view.uri, view.version))?)
}

fn resources(out: &mut Output, result: &ResourcesResult) -> anyhow::Result<()> {
    if result.items.is_empty() {
        out.note("no resources");
        return Ok(());
    }
    let mut table = Table::new(&["RESOURCE", "VERSION", "ETAG", "AT", "BY"]);
    for item in &result.items {
        table.row([
            item.uri.to_string(),
            item.version.to_string(),
            etag(item),
            short_time(&item.at),
            cell(&item.by),
        ]);
    }
    if result.next_cursor.is_some() {
        out.note("there are more: `-o json` and `resource/list` with `cursor` show them");
    }
    Ok(out.table(&table)?)
}

fn versions(out: &mut Output, result: &ResourcesResult) -> anyhow::Result<()> {
    let mut table = Table::new(&["VERSION", "ETAG", "AT", "BY"]);
    for item in &result.items {
        table.row([item.version.to_string(), etag(item), short_time(&item.at), cell(&item.by)]);
    }
    if result.next_cursor.is_some() {
        out.note("there are older ones: `resource/history` with `cursor` shows them");
    }
    Ok(out.table(&table)?)
}

fn etag(item: &ResourceView) -> String {
    match &item.etag {
        Some(etag) => etag.chars().take(ETAG_CHARS).collect(),
        None => "ended".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resource_may_be_named_without_its_scheme() {
        for text in ["config/limits", "edgeplane://config/limits"] {
            assert_eq!(parse_uri(text).unwrap().to_string(), "edgeplane://config/limits");
        }
        assert_eq!(parse_uri("schedule/a/b").unwrap().to_string(), "edgeplane://schedule/a/b");
        assert!(parse_uri("limits").unwrap_err().contains("edgeplane://KIND/NAME"));
        assert!(parse_uri("http://config/limits").is_err());
        assert!(parse_kind("secret").unwrap_err().contains("connector"));
    }
}

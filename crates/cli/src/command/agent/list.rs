//! `edgeplane agent list`, also `edgeplane ps`: the agents at a glance.

use std::{collections::BTreeMap, path::PathBuf};

use clap::Args;
use edgeplane_os::{Clock, SystemClock};
use edgeplane_types::{Phase, Timestamp};
use edgeplane_wire::{
    api::agent::{AgentView, ListParams},
    catalogue::AgentList,
};

use super::{Outcome, offline, parse_phase, phase, word};
use crate::{
    context::Context,
    quantity::human_millis,
    table::{Table, cell},
    text,
};

/// Characters of a reason that a table shows.
const REASON_CHARS: usize = 60;

/// List agents
///
/// Shows each agent's phase, what it is doing, its epoch, restarts and waiting messages. With `--offline` it reads
/// manifests instead: no daemon is asked, nothing is installed or started, and what each agent still needs on this
/// machine is shown.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane agent list
  edgeplane ps --phase failed
  edgeplane ps -l team=docs -o json | jq '.items[].metadata.name'
  edgeplane agent list --offline ./agents")]
pub(crate) struct ListArgs {
    /// Only agents with this label; may be given several times
    #[arg(short, long, value_name = "NAME=VALUE", value_parser = parse_label)]
    label: Vec<(String, String)>,
    /// Only agents in this phase
    #[arg(long, value_name = "PHASE", value_parser = parse_phase)]
    phase: Option<Phase>,
    /// Also agents that are retired; their names may be in use again, their ids (`-o json`) never
    #[arg(short, long)]
    all: bool,
    /// Read the manifests of this file or folder instead of asking the daemon
    #[arg(long, value_name = "PATH", conflicts_with_all = ["phase", "all"])]
    offline: Option<PathBuf>,
}

pub(crate) fn parse_label(text: &str) -> Result<(String, String), String> {
    let (name, value) =
        text.split_once('=').ok_or_else(|| format!("`{text}` is not of the form NAME=VALUE"))?;
    Ok((name.to_owned(), value.to_owned()))
}

pub(crate) fn run(args: &ListArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let labels: BTreeMap<_, _> = args.label.iter().cloned().collect();
    if let Some(path) = &args.offline {
        return offline::list(path, &labels, context);
    }
    let answer = context.ask::<AgentList>(&ListParams { labels, phase: args.phase, retired: args.all })?;
    context.show(&answer, |out, result| {
        if result.items.is_empty() {
            out.note("no agents; `edgeplane apply -f FILE` declares some");
            return Ok(());
        }
        let now = SystemClock.now();
        let heading = ["NAME", "PHASE", "ACTIVITY", "EPOCH", "RESTARTS", "WAITING", "UP", "PID", "REASON"];
        let mut table = Table::new(&heading);
        for agent in &result.items {
            table.row(row(agent, now));
        }
        Ok(out.table(&table)?)
    })?;
    Ok(Outcome::Done)
}

fn row(agent: &AgentView, now: Timestamp) -> [String; 9] {
    let status = &agent.status;
    let lives =
        matches!(status.phase, Phase::Running | Phase::Frozen | Phase::Stopping | Phase::Unobservable);
    let up = status.started_at.filter(|_| lives).map(|start| human_millis(now.millis_since(start)));
    [
        cell(name(agent)),
        match &status.replicas {
            Some(set) => format!("{} {}/{}", phase(status.phase), set.running, set.wanted),
            None => phase(status.phase),
        },
        if lives { word(status.activity) } else { String::new() },
        status.epoch.to_string(),
        status.restarts.to_string(),
        status.waiting_messages.to_string(),
        up.unwrap_or_default(),
        status.process.as_ref().map(|process| process.pid.to_string()).unwrap_or_default(),
        text::excerpt(status.reason.as_deref().unwrap_or_default(), REASON_CHARS),
    ]
}

/// The agent's name.
pub(crate) fn name(agent: &AgentView) -> &str {
    agent.metadata.get("name").and_then(serde_json::Value::as_str).unwrap_or("?")
}

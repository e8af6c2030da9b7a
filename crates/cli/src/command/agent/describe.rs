//! `edgeplane agent describe`: everything about one agent, for people.

use std::path::PathBuf;

use clap::Args;
use edgeplane_wire::{
    api::agent::{AgentParams, AgentView, HooksView},
    catalogue::AgentGet,
};
use serde_json::Value;

use super::{Outcome, list, offline, phase, word};
use crate::{
    context::Context,
    failure::Misuse,
    quantity::{by_name, counted, human_bytes},
    table::{Table, cell},
};

/// Tell everything about an agent
///
/// Shows what the agent is meant to be, where it stands, and its seven identities: process, session, network, principal,
/// memory, authority, audit. With `--offline` a manifest is read instead: what the agent is, takes and gives, and which
/// of the configuration that it needs is missing on this machine.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane agent describe reviewer
  edgeplane agent describe --offline ./agents reviewer
  edgeplane agent describe --offline reviewer.yaml -o json")]
pub(crate) struct DescribeArgs {
    /// The agent's name or id; may be left out with `--offline` and a single manifest
    name: Option<String>,
    /// Read the manifests of this file or folder instead of asking the daemon
    #[arg(long, value_name = "PATH")]
    offline: Option<PathBuf>,
}

pub(crate) fn run(args: &DescribeArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    if let Some(path) = &args.offline {
        return offline::describe(path, args.name.as_deref(), context);
    }
    let Some(name) = args.name.clone() else {
        return Err(Misuse("say which agent, or which manifests with `--offline`".to_owned()).into());
    };
    let answer = context.ask::<AgentGet>(&AgentParams { agent: name })?;
    context.show(&answer, |out, agent| {
        let mut table = Table::plain();
        status_rows(&agent, &mut table);
        out.table(&table)?;
        out.line("")?;
        out.line("IDENTITIES")?;
        out.table(&identities(&agent))?;
        out.line("")?;
        out.line("SPEC")?;
        let spec = serde_saphyr::to_string(&agent.spec)?;
        Ok(out.text(&indented(&spec))?)
    })?;
    Ok(Outcome::Done)
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}

/// The agent and where it stands, as names and values.
pub(crate) fn status_rows(agent: &AgentView, table: &mut Table) {
    let status = &agent.status;
    let mut row = |name: &str, value: String| {
        if !value.is_empty() {
            table.row([name.to_owned(), value]);
        }
    };
    let metadata = |name: &str| cell(agent.metadata.get(name).and_then(Value::as_str).unwrap_or_default());
    row("name", cell(list::name(agent)));
    row("description", metadata("description"));
    row("phase", phase(status.phase));
    row("desired", status.desired.as_str().to_owned());
    row("reason", cell(status.reason.as_deref().unwrap_or_default()));
    for held in &status.overrides {
        let until = held.expires_at.map(|at| format!(", until {at}")).unwrap_or_default();
        let words =
            format!("{} by {} since {}{until}: {}", held.kind.as_str(), held.by, held.since, held.reason);
        row("override", cell(format!("{} {words}", held.override_id)));
    }
    row("activity", format!("{} (by {})", word(status.activity), word(status.activity_evidence)));
    row(
        "healthy",
        status.healthy.map(|healthy| if healthy { "yes" } else { "no" }.to_owned()).unwrap_or_default(),
    );
    row("hooks", status.hooks.as_ref().map(hooks).unwrap_or_default());
    row("epoch", status.epoch.to_string());
    row("restarts", status.restarts.to_string());
    row("continuity", word(status.continuity));
    row("started", status.started_at.map(|at| at.to_string()).unwrap_or_default());
    row("next start", status.next_start_at.map(|at| at.to_string()).unwrap_or_default());
    row("process", status.process.as_ref().map(|process| process.pid.to_string()).unwrap_or_default());
    row("waiting messages", status.waiting_messages.to_string());
    row("messages", by_name(&status.messages));
    row("output", human_bytes(status.output_bytes));
    let stale = status.observed_generation != status.generation;
    let note = if stale { " (the running program was started with another)" } else { "" };
    row("generation", format!("{}{note}", status.generation.0));
}

/// Whether its program's hooks report, and what they said last.
fn hooks(view: &HooksView) -> String {
    let mut line = format!("{}: {}", view.kind, word(view.state));
    for more in [
        view.reason.as_ref().map(|why| format!(" ({why})")),
        view.heard_at.map(|at| format!(", heard {at}")),
        view.asks.as_ref().map(|what| format!(", asks a person at its terminal: {what}")),
    ] {
        line.extend(more);
    }
    cell(line)
}

fn identities(agent: &AgentView) -> Table {
    let identities = &agent.status.identities;
    let mut table = Table::plain();
    let mut row = |identity: &str, text: String| table.row([format!("  {identity}"), cell(text)]);
    let process = &identities.process;
    let pid = process.process.as_ref().map_or("no process".to_owned(), |found| format!("pid {}", found.pid));
    let shim = process.shim.as_ref().map(|shim| format!(", shim pid {}", shim.pid)).unwrap_or_default();
    let cgroup = process.cgroup.as_ref().map(|cgroup| format!(", cgroup {cgroup}")).unwrap_or_default();
    row("process", format!("{}, epoch {}, {pid}{shim}{cgroup}", process.executable, process.epoch));
    let resume = identities.session.resume_handle.as_deref().map(|handle| format!(", resumes as {handle}"));
    row("session", format!("{}{}", identities.session.session_id, resume.unwrap_or_default()));
    row("network", format!("{} in tenant {}", identities.network.address, identities.network.tenant));
    let behalf = &identities.principal.on_behalf_of;
    let behalf =
        if behalf.is_empty() { String::new() } else { format!(", on behalf of {}", behalf.join(", ")) };
    row("principal", format!("{}, uid {}{behalf}", identities.principal.name, identities.principal.uid));
    let memory = &identities.memory;
    row(
        "memory",
        format!("{} in {}, workspace {}", counted(memory.keys, "key"), memory.store, memory.workspace),
    );
    let authority = &identities.authority;
    row(
        "authority",
        format!(
            "speaks as {} at most, assurance {}, decided by {}",
            authority.as_sender, authority.assurance, authority.decided_by
        ),
    );
    let audit = &identities.audit;
    row(
        "audit",
        format!("{} in {}, declared {}", counted(audit.events, "event"), audit.stream, audit.declared_at),
    );
    table
}

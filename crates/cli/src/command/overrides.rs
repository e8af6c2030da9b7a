//! `edgeplane override`: an operator's standing decisions over agents.

use std::{collections::BTreeMap, time::Duration};

use clap::{Args, Subcommand};
use edgeplane_types::{AgentName, OverrideId, OverrideScope};
use edgeplane_wire::{
    api::overrides::{
        Affected, ApplyOverrideParams, LiftOverrideParams, ListOverridesParams, OverrideParams,
        OverrideResult, OverrideView, WantedKind,
    },
    catalogue::{OverrideApply, OverrideGet, OverrideLift, OverrideList},
};

use super::{Outcome, agent::list::parse_label, signal::millis};
use crate::{
    context::{Answer, Context},
    failure::Misuse,
    node::Patience,
    output::{Color, Output, paint},
    quantity,
    table::{Table, cell},
    text,
};

/// Characters of a reason that a table shows.
const REASON_CHARS: usize = 60;

/// How long agents may take to come to rest, where nobody says.
const REST_TIME: Duration = Duration::from_secs(30);

/// What the node may take to answer beyond the wait it was asked for.
const WAIT_MARGIN: Duration = Duration::from_secs(10);

/// Stop or pause agents above everything that they are meant to do
///
/// An override is a standing decision: it is recorded before it acts, holds over deaths of the daemon and of the machine,
/// covers agents that are declared later, and while it is in force nothing and nobody starts what it covers: no restart
/// policy, no message, no schedule, no `agent start`. Lifting it lets go on what it ended or suspended itself; messages
/// wait meanwhile.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane override apply --all --kind stop --reason \"incident 7\"
  edgeplane override apply reviewer planner --kind pause --reason \"looking into it\"
  edgeplane override list
  edgeplane override lift ovr_01890000-0000-7000-8000-000000000002 --reason \"over\"")]
pub(crate) struct OverrideArgs {
    #[command(subcommand)]
    command: OverrideCommand,
}

#[derive(Debug, Subcommand)]
enum OverrideCommand {
    Apply(ApplyArgs),
    Lift(LiftArgs),
    List(ListArgs),
    Get(GetArgs),
}

/// Decide over agents
///
/// Names agents, or a label that they have, or all of them; agents that are declared later are covered by the same rule.
/// Waits until each has come to rest, at most 30s or `--timeout`, and says where it was and where it is. Ends with code 1
/// if it could not be done to one of them; it holds for the others.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane override apply --all --kind stop --reason \"incident 7\"
  edgeplane override apply --selector team=docs --kind pause --reason \"release\" --expires 2h
  edgeplane override apply reviewer --kind stop --reason \"it deletes files\"")]
struct ApplyArgs {
    /// Names of agents; a set's name covers its replicas
    #[arg(value_name = "AGENT")]
    agents: Vec<AgentName>,
    /// Every agent of the node
    #[arg(long)]
    all: bool,
    /// Agents with this label; may be given several times, and then all must be met
    #[arg(short = 'l', long, value_name = "NAME=VALUE", value_parser = parse_label)]
    selector: Vec<(String, String)>,
    /// What is done to them: `stop` ends them, `pause` suspends them
    #[arg(long, value_name = "KIND", value_parser = parse_kind)]
    kind: WantedKind,
    /// Why, for the record and for whoever finds them held
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// When it lifts itself, such as 2h
    #[arg(long, value_name = "TIME", value_parser = quantity::parse_duration)]
    expires: Option<Duration>,
}

/// Take a decision back
///
/// What it ended or suspended goes on, unless another override covers it. Agents that were stopped before stay stopped.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane override lift ovr_01890000-0000-7000-8000-000000000002 --reason \"mended\"
  edgeplane override list -o json | jq -r '.items[].override_id' | xargs -n1 edgeplane override lift --reason over")]
struct LiftArgs {
    /// The override's id
    #[arg(value_name = "OVERRIDE")]
    id: OverrideId,
    /// Why, for the record
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

/// List what is in force
///
/// Newest first, with whom each covers now.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane override list
  edgeplane override list reviewer
  edgeplane override list --lifted -o json")]
struct ListArgs {
    /// Only those that cover this agent: name or id
    #[arg(value_name = "AGENT")]
    agent: Option<String>,
    /// Also those that were lifted
    #[arg(long)]
    lifted: bool,
}

/// Show one
///
/// Also one that was lifted: by whom, when and why.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane override get ovr_01890000-0000-7000-8000-000000000002
  edgeplane override get ovr_01890000-0000-7000-8000-000000000002 -o json")]
struct GetArgs {
    /// The override's id
    #[arg(value_name = "OVERRIDE")]
    id: OverrideId,
}

fn parse_kind(text: &str) -> Result<WantedKind, String> {
    serde_json::from_value(serde_json::Value::String(text.to_owned()))
        .map_err(|_other| format!("`{text}` is not `stop` or `pause`"))
}

fn scope(args: &ApplyArgs) -> anyhow::Result<OverrideScope> {
    let labels: BTreeMap<_, _> = args.selector.iter().cloned().collect();
    match (args.all, args.agents.is_empty(), labels.is_empty()) {
        (true, true, true) => Ok(OverrideScope::Node(true)),
        (false, false, true) => Ok(OverrideScope::Agents(args.agents.clone())),
        (false, true, false) => Ok(OverrideScope::Labels(labels)),
        _ => Err(Misuse("name agents, or `--selector`, or `--all`: one of the three".to_owned()).into()),
    }
}

pub(crate) fn run(args: &OverrideArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    match &args.command {
        OverrideCommand::Apply(args) => {
            let rest = context.timeout().unwrap_or(REST_TIME);
            let params = ApplyOverrideParams {
                scope: scope(args)?,
                kind: args.kind,
                reason: args.reason.clone(),
                expires_in_ms: args.expires.map(millis),
                wait_ms: Some(millis(rest)),
            };
            let answer = long::<OverrideApply>(context, &params, rest)?;
            context.show(&answer, |out, result| came(out, &result, "in force"))?;
            Ok(outcome(&answer.read()?))
        }
        OverrideCommand::Lift(args) => {
            let rest = context.timeout().unwrap_or(REST_TIME);
            let params = LiftOverrideParams {
                override_id: args.id,
                reason: args.reason.clone(),
                wait_ms: Some(millis(rest)),
            };
            let answer = long::<OverrideLift>(context, &params, rest)?;
            context.show(&answer, |out, result| came(out, &result, "lifted"))?;
            Ok(outcome(&answer.read()?))
        }
        OverrideCommand::List(args) => {
            let params = ListOverridesParams { agent: args.agent.clone(), lifted: args.lifted };
            let answer = context.ask::<OverrideList>(&params)?;
            context.show(&answer, |out, result| {
                if result.items.is_empty() {
                    out.note("no overrides are in force");
                    return Ok(());
                }
                let mut table = Table::new(&["OVERRIDE", "KIND", "SCOPE", "COVERS", "BY", "SINCE", "REASON"]);
                for view in &result.items {
                    table.row(row(view));
                }
                Ok(out.table(&table)?)
            })?;
            Ok(Outcome::Done)
        }
        OverrideCommand::Get(args) => {
            let answer = context.ask::<OverrideGet>(&OverrideParams { override_id: args.id })?;
            context.show(&answer, |out, view| shown(out, &view))?;
            Ok(Outcome::Done)
        }
    }
}

fn long<C: edgeplane_wire::catalogue::Call>(
    context: &Context,
    params: &C::Params,
    rest: Duration,
) -> anyhow::Result<Answer<C>> {
    let patience = Patience::within(rest.saturating_add(WAIT_MARGIN));
    Ok(Answer::new(context.connect()?.call(C::NAME, params, patience)?))
}

fn outcome(result: &OverrideResult) -> Outcome {
    if result.affected.iter().any(|one| one.error.is_some()) { Outcome::Found } else { Outcome::Done }
}

fn came(out: &mut Output, result: &OverrideResult, what: &str) -> anyhow::Result<()> {
    out.line(&format!("{} {what}", result.override_id))?;
    if result.affected.is_empty() {
        out.note("no agent is concerned now");
        return Ok(());
    }
    let mut table = Table::new(&["AGENT", "WAS", "IS", "NOTE"]);
    for Affected { agent, before, after, error, .. } in &result.affected {
        let note = error
            .as_ref()
            .map(|error| paint(Color::Red, &format!("{}: {}", cell(&error.name), cell(&error.message))));
        let after = after.map_or_else(|| "?".to_owned(), |phase| phase.to_string());
        table.row([cell(agent), before.to_string(), after, note.unwrap_or_default()]);
    }
    Ok(out.table(&table)?)
}

fn scope_words(scope: &OverrideScope) -> String {
    match scope {
        OverrideScope::Node(_) => "all".to_owned(),
        OverrideScope::Agents(names) => {
            let names: Vec<&str> = names.iter().map(AgentName::as_str).collect();
            text::excerpt(&names.join(","), REASON_CHARS)
        }
        OverrideScope::Labels(labels) => {
            let words: Vec<String> = labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
            cell(text::excerpt(&words.join(","), REASON_CHARS))
        }
    }
}

fn row(view: &OverrideView) -> [String; 7] {
    let state = match &view.lifted {
        Some(_) => format!("{}, lifted", view.kind.as_str()),
        None => view.kind.as_str().to_owned(),
    };
    [
        view.override_id.to_string(),
        state,
        scope_words(&view.scope),
        view.agents.len().to_string(),
        cell(&view.by),
        view.applied_at.to_string(),
        cell(text::excerpt(&view.reason, REASON_CHARS)),
    ]
}

fn shown(out: &mut Output, view: &OverrideView) -> anyhow::Result<()> {
    let mut table = Table::plain();
    let mut row = |name: &str, value: String| table.row([name.to_owned(), value]);
    row("override", view.override_id.to_string());
    row("kind", view.kind.as_str().to_owned());
    row("scope", scope_words(&view.scope));
    row("reason", cell(&view.reason));
    row("by", cell(&view.by));
    row("since", view.applied_at.to_string());
    if let Some(at) = view.expires_at {
        row("until", at.to_string());
    }
    match &view.lifted {
        None => row("covers", view.agents.join(", ")),
        Some(lift) => row("lifted", format!("{} by {}: {}", lift.at, cell(&lift.by), cell(&lift.reason))),
    }
    Ok(out.table(&table)?)
}

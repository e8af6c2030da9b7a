//! `edgeplane projection`: what is made of the record, and whether it is what the record makes.

use clap::{Args, Subcommand};
use edgeplane_client::Notification;
use edgeplane_wire::{
    api::{
        Empty,
        stream::{ProjectionParams, ProjectionsParams, Target, TargetKind},
    },
    catalogue::{Call, ProjectionGet, ProjectionList, ProjectionRebuild, ProjectionVerify},
};

use super::Outcome;
use crate::{
    context::{Answer, Context},
    json,
    output::{Color, paint},
    quantity::counted,
    table::{Table, cell},
};

/// See what is made of the record
///
/// A projection is what readers want to see of the record: the state of an agent, the words of a thread, what was used.
/// It is folded from the events when somebody asks for it, and nobody can write to it. `edgeplane events --projection`
/// reads and follows one.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane projection list
  edgeplane projection get agent.status --agent reviewer
  edgeplane projection verify
  edgeplane projection rebuild audit.chain")]
pub(crate) struct ProjectionArgs {
    #[command(subcommand)]
    command: ProjectionCommand,
}

#[derive(Debug, Subcommand)]
enum ProjectionCommand {
    List(ListArgs),
    Get(GetArgs),
    Rebuild(RebuildArgs),
    Verify(VerifyArgs),
}

/// List projections
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane projection list
  edgeplane projection list -o json | jq -r '.items[].name'")]
struct ListArgs {}

/// Show the state of a projection
///
/// Prints the state as JSON, the number up to which it goes, and its digest, which is the same wherever the same events
/// were folded.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane projection get audit.chain
  edgeplane projection get agent.status --agent reviewer -o json | jq .state")]
struct GetArgs {
    /// Its name
    #[arg(value_name = "NAME")]
    name: String,
    #[command(flatten)]
    target: TargetArgs,
}

/// Make projections anew from the first event
///
/// What was kept of them is dropped. Without a target those of the node and all that were asked for lately are made
/// anew. The exit code is 1 if one differed from what was kept before; its readers are then told to begin again.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane projection rebuild
  edgeplane projection rebuild agent.status --agent reviewer")]
struct RebuildArgs {
    /// Only this one
    #[arg(value_name = "NAME")]
    name: Option<String>,
    #[command(flatten)]
    target: TargetArgs,
}

/// Compare projections with what the record makes of them
///
/// Each is folded from the first event and its digest compared with that of what is kept up to date. The exit code is 1
/// if any differs.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane projection verify
  edgeplane projection verify audit.chain -o json | jq .ok")]
struct VerifyArgs {
    /// Only this one
    #[arg(value_name = "NAME")]
    name: Option<String>,
    #[command(flatten)]
    target: TargetArgs,
}

/// What it is about; the node if nothing is named.
#[derive(Debug, Args)]
#[group(multiple = false)]
struct TargetArgs {
    /// Of this agent, by name or id
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Of this session, by id
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Of this thread, by id
    #[arg(long, value_name = "ID")]
    thread: Option<String>,
    /// Of this turn, by id
    #[arg(long, value_name = "ID")]
    turn: Option<String>,
    /// Of this trace, by its 32 hexadecimal digits
    #[arg(long, value_name = "ID")]
    trace: Option<String>,
    /// Of this task, or of the graph that it belongs to, by id
    #[arg(long, value_name = "ID")]
    task: Option<String>,
}

impl TargetArgs {
    fn target(&self) -> Option<Target> {
        let named = [
            (TargetKind::Agent, &self.agent),
            (TargetKind::Session, &self.session),
            (TargetKind::Thread, &self.thread),
            (TargetKind::Turn, &self.turn),
            (TargetKind::Trace, &self.trace),
            (TargetKind::Task, &self.task),
        ];
        named.into_iter().find_map(|(kind, id)| id.clone().map(|id| Target { kind, id: Some(id) }))
    }
}

pub(crate) fn run(args: &ProjectionArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    match &args.command {
        ProjectionCommand::List(_) => list(context),
        ProjectionCommand::Get(args) => get(args, context),
        ProjectionCommand::Rebuild(args) => rebuild(&args.name, &args.target, context),
        ProjectionCommand::Verify(args) => verify(&args.name, &args.target, context),
    }
}

fn list(context: &mut Context) -> anyhow::Result<Outcome> {
    let answer = context.ask::<ProjectionList>(&Empty {})?;
    context.show(&answer, |out, result| {
        let mut table = Table::new(&["NAME", "VERSION", "OF", "KEPT", "WHAT"]);
        for kind in &result.items {
            let targets: Vec<&str> = kind.targets.iter().map(|target| target.as_str()).collect();
            table.row([
                cell(&kind.name),
                kind.version.to_string(),
                targets.join(", "),
                kind.running.to_string(),
                cell(&kind.summary),
            ]);
        }
        Ok(out.table(&table)?)
    })?;
    Ok(Outcome::Done)
}

fn get(args: &GetArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let params =
        ProjectionParams { projection: args.name.clone(), target: args.target.target().unwrap_or_default() };
    let answer = context.ask::<ProjectionGet>(&params)?;
    context.show(&answer, |out, view| {
        out.line(&json::pretty(&view.state))?;
        let entries = counted(view.as_of_seq, "entry").replace("entrys", "entries");
        out.note(&format!("{} {}: {entries}, digest {}", view.name, view.version, view.digest));
        Ok(())
    })?;
    Ok(Outcome::Done)
}

fn rebuild(name: &Option<String>, target: &TargetArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let answer = at_length::<ProjectionRebuild>(name, target, "folding the record", context)?;
    let result = answer.read()?;
    context.show(&answer, |out, result| {
        let mut table = Table::new(&["NAME", "OF", "EVENTS", "EVENTS/S", "DIGEST", ""]);
        for item in &result.items {
            table.row([
                cell(&item.name),
                cell(item.target.to_string()),
                item.events.to_string(),
                item.events_per_s.to_string(),
                short(&item.digest),
                verdict(item.equal),
            ]);
        }
        Ok(out.table(&table)?)
    })?;
    Ok(outcome(result.items.iter().all(|item| item.equal)))
}

fn verify(name: &Option<String>, target: &TargetArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let answer = at_length::<ProjectionVerify>(name, target, "folding the record", context)?;
    let result = answer.read()?;
    context.show(&answer, |out, result| {
        let mut table = Table::new(&["NAME", "OF", "ENTRIES", "KEPT", "ANEW", ""]);
        for item in &result.items {
            table.row([
                cell(&item.name),
                cell(item.target.to_string()),
                item.as_of_seq.to_string(),
                short(&item.digest),
                short(&item.rebuilt),
                verdict(item.equal),
            ]);
        }
        Ok(out.table(&table)?)
    })?;
    Ok(outcome(result.ok))
}

/// Asks for what takes as long as the record is long, and shows how far it is.
fn at_length<C: Call<Params = ProjectionsParams>>(
    name: &Option<String>,
    target: &TargetArgs,
    doing: &str,
    context: &Context,
) -> anyhow::Result<Answer<C>> {
    let params = ProjectionsParams { projection: name.clone(), target: target.target() };
    let mut node = context.connect()?;
    node.doing = Some(doing.to_owned());
    let mut progress = |said: Notification| {
        let text = said.params.get("text").and_then(|text| text.as_str());
        text.filter(|_| said.method == "core/progress").map(str::to_owned)
    };
    let raw = node.call_watching(C::NAME, params, context.long_patience(), &mut progress)?;
    Ok(Answer::new(raw))
}

fn outcome(is_equal: bool) -> Outcome {
    if is_equal { Outcome::Done } else { Outcome::Found }
}

fn verdict(is_equal: bool) -> String {
    if is_equal { paint(Color::Green, "equal") } else { paint(Color::Red, "differs") }
}

/// As much of a digest as tells two apart.
fn short(digest: &str) -> String {
    digest.chars().take(12).collect()
}

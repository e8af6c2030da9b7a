//! `edgeplane subagent`: agents under other ones.

mod show;

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use clap::{Args, Subcommand};
use edgeplane_types::{
    AgentId, AgentName, ContextIsolation, DeliveryMode, Isolation, MemoryIsolation, OnParentExit,
    PermissionIsolation, Priority, SafeLabel, TaskId, WorkspaceIsolation,
};
use edgeplane_wire::{
    api::subagent::{
        LIST, SubagentChangeParams, SubagentLimits, SubagentListParams, SubagentSendParams,
        SubagentSpawnParams, SubagentTask, SubagentView, SubagentWaitParams, WaitFor, WaitUntil,
    },
    catalogue::{
        Call, SubagentClose, SubagentList, SubagentResume, SubagentSend, SubagentSpawn, SubagentWait,
    },
};

use super::{
    Outcome,
    content::{Words, text_of, words},
    signal::{WAIT_MARGIN, millis},
    task::LimitArgs,
};
use crate::{
    context::{Answer, Context},
    failure::Misuse,
    node::Patience,
};

/// How long `wait` waits unless `--timeout` says otherwise.
const WAIT_TIME: Duration = Duration::from_secs(30);

/// Start agents under an agent, and see what became of them
///
/// A subagent is an agent with a parent: it is made of its parent's manifest, never has more than it, and is named,
/// spoken to and looked at like any other. With a task it is there for that alone.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane subagent spawn --parent reviewer
  edgeplane subagent spawn --parent reviewer --task \"Read the change\" --objective \"Read it and say what is wrong\"
  edgeplane subagent list --parent reviewer
  edgeplane subagent close reviewer-4f2a9c --reason \"not needed any more\"")]
pub(crate) struct SubagentArgs {
    #[command(subcommand)]
    command: SubagentCommand,
}

#[derive(Debug, Subcommand)]
enum SubagentCommand {
    Spawn(Box<SpawnArgs>),
    Send(SendArgs),
    Wait(WaitArgs),
    /// Let a subagent go on that is stopped or suspended
    #[command(after_help = "\
EXAMPLES:
  edgeplane subagent resume reviewer-4f2a9c
  edgeplane subagent resume reviewer-4f2a9c --reason \"the tests are up again\"")]
    Resume(ChangeArgs),
    /// End a subagent and all agents under it, and retire them
    ///
    /// That they are to end is on disk first; then they are ended, the youngest generation first.
    #[command(after_help = "\
EXAMPLES:
  edgeplane subagent close reviewer-4f2a9c
  edgeplane subagent close reviewer-4f2a9c --reason \"not needed any more\"")]
    Close(ChangeArgs),
    List(ListArgs),
}

/// Start an agent under another one
///
/// Inside an agent it is a child of that agent, if its manifest allows some with `spec.subagents`. What is not said is as
/// the parent has it.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane subagent spawn --parent reviewer --name reader
  edgeplane subagent spawn --parent reviewer --workspace shared --permission narrowed
  edgeplane subagent spawn --parent reviewer --workspace forked --context forked --task \"Try the other way\"
  edgeplane subagent spawn --parent reviewer --task \"Read the change\" --attempts 2 --wall-time 10m
  edgeplane subagent spawn --parent reviewer --manifest reader.yaml --on-parent-exit close")]
struct SpawnArgs {
    /// Whose child it is
    #[arg(long, value_name = "AGENT")]
    parent: Option<String>,
    /// Its name
    #[arg(long, value_name = "NAME")]
    name: Option<AgentName>,
    /// A file with its manifest; `-` is standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["env", "label", "memory_limit", "pids", "cpu", "open_files", "command"])]
    manifest: Option<PathBuf>,
    /// A variable of its parent's that it gets; may be repeated. Without any it gets all
    #[arg(long, value_name = "NAME")]
    env: Vec<String>,
    /// A label; may be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = parse_label)]
    label: Vec<(String, SafeLabel)>,
    /// How much memory it may use, such as 512MiB
    #[arg(long, value_name = "SIZE")]
    memory_limit: Option<String>,
    /// How many processes it may have
    #[arg(long, value_name = "N")]
    pids: Option<u32>,
    /// How much processor time it may use, such as 500m
    #[arg(long, value_name = "CPU")]
    cpu: Option<String>,
    /// How many files each of its processes may have open
    #[arg(long, value_name = "N")]
    open_files: Option<u32>,
    /// In which folder it works
    #[arg(long, value_name = "KIND", default_value = "own", value_parser = words(&["own", "shared", "forked"], WorkspaceIsolation::from_word))]
    workspace: WorkspaceIsolation,
    /// Which memory it has
    #[arg(long, value_name = "KIND", default_value = "own", value_parser = words(&["own", "shared"], MemoryIsolation::from_word))]
    memory: MemoryIsolation,
    /// What it knows of what its parent was told and said
    #[arg(long, value_name = "KIND", default_value = "fresh", value_parser = words(&["fresh", "forked"], ContextIsolation::from_word))]
    context: ContextIsolation,
    /// What it may do
    #[arg(long, value_name = "KIND", default_value = "inherit", value_parser = words(&["inherit", "narrowed"], PermissionIsolation::from_word))]
    permission: PermissionIsolation,
    /// What becomes of it when its parent has ended; with a task it is closed, else it goes on
    #[arg(long, value_name = "WHAT", value_parser = words(&["close", "keep"], OnParentExit::from_word))]
    on_parent_exit: Option<OnParentExit>,
    /// The task for which alone it is there: what it is called
    #[arg(long, value_name = "TITLE")]
    task: Option<String>,
    /// What is to be done, if the title does not say it
    #[arg(long, value_name = "TEXT", requires = "task")]
    objective: Option<String>,
    /// What must be true before the task is completed; may be repeated
    #[arg(long, value_name = "TEXT", requires = "task")]
    accept: Vec<String>,
    /// How many runs of the task there are at most before it fails
    #[arg(long, value_name = "N", default_value_t = 1)]
    attempts: u32,
    /// The task that hands a part of its work to it
    #[arg(long, value_name = "TASK", requires = "task")]
    delegated_by: Option<TaskId>,
    #[command(flatten)]
    limits: LimitArgs,
    /// Its id: then a repetition starts nothing
    #[arg(long, value_name = "AGENT")]
    id: Option<AgentId>,
    /// Its program with all arguments
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

fn parse_label(text: &str) -> Result<(String, SafeLabel), String> {
    let (key, value) = text.split_once('=').ok_or("is KEY=VALUE")?;
    Ok((key.to_owned(), value.parse().map_err(|error| format!("{error}"))?))
}

/// Say something to a subagent
///
/// As whoever asks: an operator, or the agent above it.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane subagent send reviewer-4f2a9c \"Look at the tests, too\"
  git diff | edgeplane subagent send reviewer-4f2a9c --stdin --mode steer")]
struct SendArgs {
    /// The subagent
    #[arg(value_name = "SUBAGENT")]
    subagent: String,
    #[command(flatten)]
    words: Words,
    /// How it meets a running turn: after it, into it, or ending it
    #[arg(long, value_name = "MODE", default_value = "queue", value_parser = words(&["queue", "steer", "interrupt"], DeliveryMode::from_word))]
    mode: DeliveryMode,
    /// Your key against sending it twice
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
}

/// Wait until subagents have come to an end, or have nothing to do
///
/// At most 30s, or as long as `--timeout` says.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane subagent wait reviewer-4f2a9c --timeout 10m
  edgeplane subagent wait reader writer --any --idle")]
struct WaitArgs {
    /// Which
    #[arg(value_name = "SUBAGENT", required = true)]
    subagents: Vec<String>,
    /// Until one of them has, not all
    #[arg(long)]
    any: bool,
    /// Also while they run, if they have nothing to do
    #[arg(long)]
    idle: bool,
}

#[derive(Debug, Args)]
struct ChangeArgs {
    /// The subagent
    #[arg(value_name = "SUBAGENT")]
    subagent: String,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

/// List the agents under one, the oldest first
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane subagent list --parent reviewer
  edgeplane subagent list --parent reviewer --depth 8 --all -o json | jq .items")]
struct ListArgs {
    /// Under this agent; inside an agent, under that
    #[arg(long, value_name = "AGENT")]
    parent: Option<String>,
    /// How many generations
    #[arg(long, value_name = "N", default_value_t = 1)]
    depth: u32,
    /// Also those that are retired
    #[arg(long)]
    all: bool,
    /// Most to list
    #[arg(long, value_name = "N", default_value_t = LIST)]
    limit: u32,
}

pub(crate) fn run(args: SubagentArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    match args.command {
        SubagentCommand::Spawn(args) => ask::<SubagentSpawn>(context, &to_spawn(*args)?),
        SubagentCommand::Resume(args) => ask::<SubagentResume>(context, &to_change(args)),
        SubagentCommand::Close(args) => ask::<SubagentClose>(context, &to_change(args)),
        SubagentCommand::Send(args) => {
            let params = SubagentSendParams {
                subagent: args.subagent,
                parts: args.words.parts()?,
                mode: args.mode,
                priority: Priority::Normal,
                expires_in_ms: None,
                idempotency_key: args.key,
            };
            let answer = context.ask::<SubagentSend>(&params)?;
            context.show(&answer, |out, sent| Ok(out.line(&sent.message_id.to_string())?))?;
            Ok(Outcome::Done)
        }
        SubagentCommand::Wait(args) => wait(args, context),
        SubagentCommand::List(args) => {
            let ListArgs { parent, depth, all, limit } = args;
            let answer = context.ask::<SubagentList>(&SubagentListParams { parent, depth, all, limit })?;
            context.show(&answer, |out, list| show::subagents(out, &list))?;
            Ok(Outcome::Done)
        }
    }
}

fn wait(args: WaitArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let time = context.timeout().unwrap_or(WAIT_TIME);
    let params = SubagentWaitParams {
        subagents: args.subagents,
        wait_for: if args.any { WaitFor::Any } else { WaitFor::All },
        until: if args.idle { WaitUntil::Idle } else { WaitUntil::End },
        timeout_ms: millis(time),
    };
    let mut node = context.connect()?;
    node.doing = Some("waiting for subagents".to_owned());
    let patience = Patience::within(time.saturating_add(WAIT_MARGIN));
    let answer = Answer::<SubagentWait>::new(node.call(SubagentWait::NAME, &params, patience)?);
    context.show(&answer, |out, waited| {
        for view in &waited.items {
            out.line(&show::line(view))?;
        }
        Ok(())
    })?;
    Ok(Outcome::Done)
}

/// Asks for something that gives a subagent, and shows it on a line.
fn ask<C: Call<Result = SubagentView>>(context: &mut Context, params: &C::Params) -> anyhow::Result<Outcome> {
    let answer = context.ask::<C>(params)?;
    context.show(&answer, |out, view| Ok(out.line(&show::line(&view))?))?;
    Ok(Outcome::Done)
}

fn to_change(args: ChangeArgs) -> SubagentChangeParams {
    SubagentChangeParams { subagent: args.subagent, reason: args.reason }
}

fn to_spawn(args: SpawnArgs) -> anyhow::Result<SubagentSpawnParams> {
    let labels: BTreeMap<String, SafeLabel> = args.label.iter().cloned().collect();
    if labels.len() != args.label.len() {
        return Err(Misuse("a label is given twice".to_owned()).into());
    }
    let limits = SubagentLimits {
        memory: args.memory_limit,
        pids: args.pids,
        cpu: args.cpu,
        open_files: args.open_files,
    };
    let run_limits = args.limits.limits();
    let task = args.task.map(|title| SubagentTask {
        task_id: None,
        title,
        objective: args.objective,
        acceptance: args.accept,
        limits: run_limits,
        attempts: args.attempts,
        delegated_by: args.delegated_by,
    });
    Ok(SubagentSpawnParams {
        subagent_id: args.id,
        parent: args.parent,
        name: args.name,
        manifest: args.manifest.map(text_of).transpose()?,
        command: Some(args.command).filter(|command| !command.is_empty()),
        environment: Some(args.env)
            .filter(|names| !names.is_empty())
            .map(|names| names.into_iter().collect()),
        labels: Some(labels).filter(|labels| !labels.is_empty()),
        limits: Some(limits).filter(|limits| *limits != SubagentLimits::default()),
        isolation: Isolation {
            workspace: args.workspace,
            memory: args.memory,
            permission: args.permission,
            context: args.context,
        },
        on_parent_exit: args.on_parent_exit,
        task,
    })
}

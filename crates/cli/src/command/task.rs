//! `edgeplane task`: what is to be done, in which order, and who tried it.

mod limits;
pub(super) mod show;

use clap::{Args, Subcommand};
use edgeplane_types::{EdgeKind, Priority, RunId, TaskId, TaskState};
use edgeplane_wire::{
    api::work::{
        TaskChangeParams, TaskCompleteParams, TaskCreateParams, TaskEdgeParams, TaskFailParams,
        TaskGraphParams, TaskListParams, TaskParams, TaskProgressParams, TaskUpdateParams, TaskView,
    },
    catalogue::{
        Call, TaskArchive, TaskCancel, TaskComplete, TaskCreate, TaskFail, TaskGet, TaskGraph, TaskLink,
        TaskList, TaskPause, TaskProgress, TaskResume, TaskRetry, TaskStart, TaskUnlink, TaskUpdate,
    },
};

pub(super) use limits::LimitArgs;

use super::{Outcome, content::words};
use crate::{context::Context, failure::Misuse};

/// Say what is to be done, and see how far it is
///
/// A task outlives every attempt at it. One with an agent is begun as soon as all that it depends on is completed; each
/// attempt is a run, and none is written over. One without an agent is done by its parts, or by whoever says so.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane task create \"Run the tests\" --agent reviewer
  edgeplane task list
  edgeplane task get tsk_01890000-0000-7000-8000-000000000002
  edgeplane task cancel tsk_01890000-0000-7000-8000-000000000002 --reason \"wrong branch\"")]
pub(crate) struct TaskArgs {
    #[command(subcommand)]
    command: TaskCommand,
}

#[derive(Debug, Subcommand)]
enum TaskCommand {
    Create(Box<CreateArgs>),
    List(ListArgs),
    Get(GetArgs),
    Graph(GraphArgs),
    Update(Box<UpdateArgs>),
    /// Have a task begun that is a draft
    ///
    /// Waits for what it depends on, if that is not completed.
    #[command(after_help = "\
EXAMPLES:
  edgeplane task start tsk_01890000-0000-7000-8000-000000000002
  edgeplane task start tsk_01890000-0000-7000-8000-000000000002 --reason \"it is time\"")]
    Start(ChangeArgs),
    Progress(ProgressArgs),
    /// Let a task rest
    ///
    /// The run that works on it is asked to end. `resume` begins a further one.
    #[command(after_help = "\
EXAMPLES:
  edgeplane task pause tsk_01890000-0000-7000-8000-000000000002
  edgeplane task pause tsk_01890000-0000-7000-8000-000000000002 --reason \"the tests are down\"")]
    Pause(ChangeArgs),
    /// Let a task go on that rests
    #[command(after_help = "\
EXAMPLES:
  edgeplane task resume tsk_01890000-0000-7000-8000-000000000002
  edgeplane task resume tsk_01890000-0000-7000-8000-000000000002 -o json | jq .state")]
    Resume(ChangeArgs),
    /// End a task and its parts before they are done
    ///
    /// That it is to end is on disk first; then its parts and runs are told. It is cancelled when nothing works on it.
    #[command(after_help = "\
EXAMPLES:
  edgeplane task cancel tsk_01890000-0000-7000-8000-000000000002
  edgeplane task cancel tsk_01890000-0000-7000-8000-000000000002 --reason \"wrong branch\"")]
    Cancel(ChangeArgs),
    /// Begin a further run of a task that failed, was too slow, or is lost
    #[command(after_help = "\
EXAMPLES:
  edgeplane task retry tsk_01890000-0000-7000-8000-000000000002
  edgeplane task retry tsk_01890000-0000-7000-8000-000000000002 --reason \"the tests are up again\"")]
    Retry(ChangeArgs),
    Complete(CompleteArgs),
    Fail(FailArgs),
    /// Put a task away that is over
    #[command(after_help = "\
EXAMPLES:
  edgeplane task archive tsk_01890000-0000-7000-8000-000000000002
  edgeplane task archive tsk_01890000-0000-7000-8000-000000000002 --if-version 7")]
    Archive(ChangeArgs),
    Link(EdgeArgs),
    /// Part a task from another one
    #[command(after_help = "\
EXAMPLES:
  edgeplane task unlink tsk_01890000-0000-7000-8000-000000000002 depends_on tsk_01890000-0000-7000-8000-000000000001
  edgeplane task unlink tsk_01890000-0000-7000-8000-000000000002 produced file:///srv/notes.md")]
    Unlink(EdgeArgs),
}

/// Write a task down
///
/// It is begun at once unless `--draft` says otherwise, or something that it depends on is not completed.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane task create \"Run the tests\" --agent reviewer
  edgeplane task create Release --draft
  edgeplane task create Test --agent tester --parent tsk_01890000-0000-7000-8000-000000000002 --attempts 3 --wall-time 10m
  edgeplane task create Ship --agent builder --after tsk_01890000-0000-7000-8000-000000000002 --accept \"users see it\"")]
struct CreateArgs {
    /// What it is called
    title: String,
    /// Whose work it is
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// What is to be done, if the title does not say it
    #[arg(long, value_name = "TEXT", conflicts_with = "file")]
    objective: Option<String>,
    /// A file with what is to be done; `-` is standard input
    #[arg(short, long, value_name = "FILE")]
    file: Option<std::path::PathBuf>,
    /// The task that it is a part of
    #[arg(long, value_name = "TASK")]
    parent: Option<TaskId>,
    /// A task that has to be completed first; may be repeated
    #[arg(long, value_name = "TASK")]
    after: Vec<TaskId>,
    /// What must be true before it is completed; may be repeated
    #[arg(long, value_name = "TEXT")]
    accept: Vec<String>,
    /// How many runs there are at most before it fails
    #[arg(long, value_name = "N", default_value_t = 1)]
    attempts: u32,
    #[command(flatten)]
    limits: LimitArgs,
    /// How urgent it is
    #[arg(long, value_name = "PRIORITY", default_value = "normal", value_parser = words(&["high", "normal", "low"], Priority::from_word))]
    priority: Priority,
    /// Only write it down; `edgeplane task start` begins it
    #[arg(long)]
    draft: bool,
    /// Its id: then a repetition writes nothing
    #[arg(long, value_name = "TASK")]
    id: Option<TaskId>,
}

/// Change what is to be done
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane task update tsk_01890000-0000-7000-8000-000000000002 --agent writer
  edgeplane task update tsk_01890000-0000-7000-8000-000000000002 --title \"Run all tests\" --if-version 3")]
struct UpdateArgs {
    /// The task
    #[arg(value_name = "TASK")]
    id: TaskId,
    /// What it is called
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// What is to be done
    #[arg(long, value_name = "TEXT")]
    objective: Option<String>,
    /// Whose work it is
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// What must be true before it is completed, all of it; may be repeated
    #[arg(long, value_name = "TEXT")]
    accept: Vec<String>,
    /// How many runs there are at most
    #[arg(long, value_name = "N")]
    attempts: Option<u32>,
    /// How urgent it is
    #[arg(long, value_name = "PRIORITY", value_parser = words(&["high", "normal", "low"], Priority::from_word))]
    priority: Option<Priority>,
    /// Only if it is at this version
    #[arg(long, value_name = "VERSION")]
    if_version: Option<u64>,
}

/// List tasks, oldest first
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane task list
  edgeplane task list --agent reviewer --all
  edgeplane task list --state blocked -o json | jq .items")]
struct ListArgs {
    /// Only the work of this agent
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// Only parts of this task
    #[arg(long, value_name = "TASK")]
    parent: Option<TaskId>,
    /// Only those in this state
    #[arg(long, value_name = "STATE", value_parser = parse_state)]
    state: Option<TaskState>,
    /// Also those that are over
    #[arg(long)]
    all: bool,
    /// Most to list
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: u32,
}

fn parse_state(word: &str) -> Result<TaskState, String> {
    TaskState::from_word(word).ok_or_else(|| {
        let all: Vec<&str> = TaskState::ALL.iter().map(|state| state.as_str()).collect();
        format!("is one of {}", all.join(", "))
    })
}

/// Show a task with its runs and edges
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane task get tsk_01890000-0000-7000-8000-000000000002
  edgeplane task get tsk_01890000-0000-7000-8000-000000000002 -o json | jq .runs")]
struct GetArgs {
    /// The task
    #[arg(value_name = "TASK")]
    id: TaskId,
}

/// Show how the tasks of a graph hang together
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane task graph tsk_01890000-0000-7000-8000-000000000002
  edgeplane task graph tsk_01890000-0000-7000-8000-000000000002 -o json | jq .edges")]
struct GraphArgs {
    /// Any of its tasks
    #[arg(value_name = "TASK")]
    id: TaskId,
}

#[derive(Debug, Args)]
struct ChangeArgs {
    /// The task
    #[arg(value_name = "TASK")]
    id: TaskId,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Only if it is at this version
    #[arg(long, value_name = "VERSION")]
    if_version: Option<u64>,
}

/// Say how far a task is
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane task progress tsk_01890000-0000-7000-8000-000000000002 --phase testing --done 3 --total 10
  edgeplane task progress tsk_01890000-0000-7000-8000-000000000002 --accepted 0 --note \"the first criterion holds\"")]
struct ProgressArgs {
    /// The task
    #[arg(value_name = "TASK")]
    id: TaskId,
    /// What is being done
    #[arg(long, value_name = "TEXT")]
    phase: Option<String>,
    /// How much is done
    #[arg(long, value_name = "N")]
    done: Option<u64>,
    /// How much there is to do
    #[arg(long, value_name = "N")]
    total: Option<u64>,
    /// The number of a criterion that is met, from 0; may be repeated
    #[arg(long, value_name = "NUMBER")]
    accepted: Vec<u32>,
    /// In words
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    /// The run that says so
    #[arg(long, value_name = "RUN")]
    run: Option<RunId>,
}

/// Say that a task is done
///
/// Every criterion has to be named as met, here or before.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane task complete tsk_01890000-0000-7000-8000-000000000002
  edgeplane task complete tsk_01890000-0000-7000-8000-000000000002 --accepted 0 --accepted 1
  edgeplane task complete tsk_01890000-0000-7000-8000-000000000002 --artifact file:///srv/notes.md --evidence https://ci.example/7")]
struct CompleteArgs {
    /// The task
    #[arg(value_name = "TASK")]
    id: TaskId,
    /// The number of a criterion that is met, from 0; may be repeated
    #[arg(long, value_name = "NUMBER")]
    accepted: Vec<u32>,
    /// The address of something that it made; may be repeated
    #[arg(long, value_name = "URI")]
    artifact: Vec<String>,
    /// The address of something that shows that it is done; may be repeated
    #[arg(long, value_name = "URI")]
    evidence: Vec<String>,
    /// In words
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    /// The run that says so
    #[arg(long, value_name = "RUN")]
    run: Option<RunId>,
    /// Only if it is at this version
    #[arg(long, value_name = "VERSION")]
    if_version: Option<u64>,
}

/// Say that a task failed
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane task fail tsk_01890000-0000-7000-8000-000000000002 --reason \"the branch is gone\"
  edgeplane task fail tsk_01890000-0000-7000-8000-000000000002 --reason \"no way\" --if-version 3")]
struct FailArgs {
    /// The task
    #[arg(value_name = "TASK")]
    id: TaskId,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// The run that says so
    #[arg(long, value_name = "RUN")]
    run: Option<RunId>,
    /// Only if it is at this version
    #[arg(long, value_name = "VERSION")]
    if_version: Option<u64>,
}

/// Join a task to another one, or to an address
///
/// `depends_on`, `delegated` and `source` lead to a task and never in a circle; `produced`, `consumed` and `evidence`
/// lead to an address.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane task link tsk_01890000-0000-7000-8000-000000000002 depends_on tsk_01890000-0000-7000-8000-000000000001
  edgeplane task link tsk_01890000-0000-7000-8000-000000000002 produced file:///srv/notes.md")]
struct EdgeArgs {
    /// The task that the edge begins at
    #[arg(value_name = "TASK")]
    id: TaskId,
    /// How they are joined
    #[arg(value_name = "KIND", value_parser = words(&["depends_on", "delegated", "source", "produced", "consumed", "evidence"], EdgeKind::from_word))]
    kind: EdgeKind,
    /// The task or address that it leads to
    #[arg(value_name = "TO")]
    to: String,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

impl EdgeArgs {
    fn params(self) -> anyhow::Result<TaskEdgeParams> {
        let (to, uri) = match self.kind.joins_tasks() {
            true => (Some(self.to.parse::<TaskId>().map_err(|error| Misuse(error.to_string()))?), None),
            false => (None, Some(self.to)),
        };
        Ok(TaskEdgeParams { task_id: self.id, kind: self.kind, to, uri, reason: self.reason })
    }
}

pub(crate) fn run(args: TaskArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    match args.command {
        TaskCommand::Create(args) => ask::<TaskCreate>(context, &to_create(*args)?),
        TaskCommand::Update(args) => ask::<TaskUpdate>(context, &to_update(*args)),
        TaskCommand::Start(args) => ask::<TaskStart>(context, &to_change(args)),
        TaskCommand::Pause(args) => ask::<TaskPause>(context, &to_change(args)),
        TaskCommand::Resume(args) => ask::<TaskResume>(context, &to_change(args)),
        TaskCommand::Cancel(args) => ask::<TaskCancel>(context, &to_change(args)),
        TaskCommand::Retry(args) => ask::<TaskRetry>(context, &to_change(args)),
        TaskCommand::Archive(args) => ask::<TaskArchive>(context, &to_change(args)),
        TaskCommand::Progress(args) => ask::<TaskProgress>(context, &to_progress(args)),
        TaskCommand::Complete(args) => ask::<TaskComplete>(context, &to_complete(args)),
        TaskCommand::Fail(args) => {
            let FailArgs { id, reason, run, if_version } = args;
            ask::<TaskFail>(context, &TaskFailParams { task_id: id, run_id: run, reason, if_version })
        }
        TaskCommand::Link(args) => {
            let answer = context.ask::<TaskLink>(&args.params()?)?;
            context.show(&answer, |out, edge| Ok(out.line(&show::edge(&edge))?))?;
            Ok(Outcome::Done)
        }
        TaskCommand::Unlink(args) => {
            let answer = context.ask::<TaskUnlink>(&args.params()?)?;
            context.show(&answer, |out, edge| Ok(out.line(&format!("gone: {}", show::edge(&edge)))?))?;
            Ok(Outcome::Done)
        }
        TaskCommand::Get(args) => {
            let answer = context.ask::<TaskGet>(&TaskParams { task_id: args.id })?;
            context.show(&answer, |out, task| show::detail(out, &task))?;
            Ok(Outcome::Done)
        }
        TaskCommand::Graph(args) => {
            let tasks_max = edgeplane_wire::api::work::GRAPH_TASKS_MAX;
            let answer = context.ask::<TaskGraph>(&TaskGraphParams { task_id: args.id, tasks_max })?;
            context.show(&answer, |out, graph| show::graph(out, &graph))?;
            Ok(Outcome::Done)
        }
        TaskCommand::List(args) => {
            let ListArgs { agent, parent, state, all, limit } = args;
            let parent_id = parent;
            let params = TaskListParams { root_id: None, parent_id, agent, state, all, cursor: 0, limit };
            let answer = context.ask::<TaskList>(&params)?;
            context.show(&answer, |out, list| show::tasks(out, &list))?;
            Ok(Outcome::Done)
        }
    }
}

/// Asks for something that gives a task, and shows it on a line.
fn ask<C: Call<Result = TaskView>>(context: &mut Context, params: &C::Params) -> anyhow::Result<Outcome> {
    let answer = context.ask::<C>(params)?;
    context.show(&answer, |out, task| Ok(out.line(&show::line(&task))?))?;
    Ok(Outcome::Done)
}

fn to_create(args: CreateArgs) -> anyhow::Result<TaskCreateParams> {
    let objective = match args.file {
        Some(path) => Some(super::content::text_of(path)?),
        None => args.objective,
    };
    Ok(TaskCreateParams {
        task_id: args.id,
        title: args.title,
        objective,
        parent_id: args.parent,
        agent: args.agent,
        thread_id: None,
        kind: None,
        visibility: edgeplane_types::Visibility::Foreground,
        priority: args.priority,
        labels: std::collections::BTreeMap::new(),
        acceptance: args.accept,
        limits: args.limits.limits(),
        attempts: args.attempts,
        depends_on: args.after,
        start: !args.draft,
    })
}

fn to_update(args: UpdateArgs) -> TaskUpdateParams {
    TaskUpdateParams {
        task_id: args.id,
        if_version: args.if_version,
        title: args.title,
        objective: args.objective,
        agent: args.agent,
        priority: args.priority,
        labels: None,
        acceptance: Some(args.accept).filter(|criteria| !criteria.is_empty()),
        limits: None,
        attempts: args.attempts,
    }
}

fn to_change(args: ChangeArgs) -> TaskChangeParams {
    TaskChangeParams { task_id: args.id, reason: args.reason, if_version: args.if_version }
}

fn to_progress(args: ProgressArgs) -> TaskProgressParams {
    let ProgressArgs { id, phase, done, total, accepted, note, run } = args;
    TaskProgressParams { task_id: id, run_id: run, phase, done, total, accepted, note }
}

fn to_complete(args: CompleteArgs) -> TaskCompleteParams {
    let CompleteArgs { id, accepted, artifact, evidence, note, run, if_version } = args;
    let (task_id, run_id) = (id, run);
    TaskCompleteParams { task_id, run_id, accepted, artifacts: artifact, evidence, note, if_version }
}

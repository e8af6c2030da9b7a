//! `edgeplane run`: attempts at tasks.

use clap::{Args, Subcommand};
use edgeplane_types::{RunId, TaskId};
use edgeplane_wire::{
    api::work::{RunCancelParams, RunChangeParams, RunListParams, RunParams, RunStartParams, RunStartResult},
    catalogue::{Call, RunCancel, RunGet, RunList, RunPause, RunResume, RunStart},
};

use super::{
    Outcome,
    task::{LimitArgs, show},
    workspace::BoundArgs,
};
use crate::{context::Context, table::cell};

/// Begin attempts at tasks, and see them
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane run start tsk_01890000-0000-7000-8000-000000000002
  edgeplane run list --agent reviewer --live
  edgeplane run get run_01890000-0000-7000-8000-000000000002
  edgeplane run cancel run_01890000-0000-7000-8000-000000000002 --reason \"too slow\"")]
pub(crate) struct RunArgs {
    #[command(subcommand)]
    command: RunCommand,
}

#[derive(Debug, Subcommand)]
enum RunCommand {
    Start(StartArgs),
    List(RunsArgs),
    /// Show a run
    #[command(after_help = "\
EXAMPLES:
  edgeplane run get run_01890000-0000-7000-8000-000000000002
  edgeplane run get run_01890000-0000-7000-8000-000000000002 -o json | jq .reason")]
    Get(OneRunArgs),
    /// Let a run rest
    ///
    /// Its program is asked to end its turn, and the task rests until `edgeplane run resume`.
    #[command(after_help = "\
EXAMPLES:
  edgeplane run pause run_01890000-0000-7000-8000-000000000002
  edgeplane run pause run_01890000-0000-7000-8000-000000000002 --reason \"the tests are down\"")]
    Pause(ChangeArgs),
    /// Let the task of a run that rested go on, by a further run
    #[command(after_help = "\
EXAMPLES:
  edgeplane run resume run_01890000-0000-7000-8000-000000000002
  edgeplane run resume run_01890000-0000-7000-8000-000000000002 -o json | jq .run.run_id")]
    Resume(ChangeArgs),
    /// Have a run ended
    ///
    /// Its task has failed then; `edgeplane task retry` begins another one.
    #[command(after_help = "\
EXAMPLES:
  edgeplane run cancel run_01890000-0000-7000-8000-000000000002
  edgeplane run cancel run_01890000-0000-7000-8000-000000000002 --reason \"too slow\"")]
    Cancel(ChangeArgs),
}

/// Have a task worked on
///
/// By its first run, or by a further one if it failed, was too slow, is lost or rests. Waits if its task depends on others.
/// With `--workspace` the run works under a binding to it from its beginning on, and is refused if it would have to wait.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane run start tsk_01890000-0000-7000-8000-000000000002
  edgeplane run start tsk_01890000-0000-7000-8000-000000000002 --agent writer --wall-time 10m --steps 50
  edgeplane run start tsk_01890000-0000-7000-8000-000000000002 --workspace wks_01890000-0000-7000-8000-000000000004
  edgeplane run start tsk_01890000-0000-7000-8000-000000000002 --after run_01890000-0000-7000-8000-000000000003")]
struct StartArgs {
    /// The task
    #[arg(value_name = "TASK")]
    task: TaskId,
    /// Who is to do it, if that is not whose work it is
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    #[command(flatten)]
    limits: LimitArgs,
    #[command(flatten)]
    bound: BoundArgs,
    /// The run that it follows: refused if that was not the last one
    #[arg(long, value_name = "RUN")]
    after: Option<RunId>,
    /// Its id: then a repetition begins nothing
    #[arg(long, value_name = "RUN")]
    id: Option<RunId>,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Only if the task is at this version
    #[arg(long, value_name = "VERSION")]
    if_version: Option<u64>,
}

/// List runs, oldest first
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane run list --live
  edgeplane run list --task tsk_01890000-0000-7000-8000-000000000002")]
struct RunsArgs {
    /// Only those of this task
    #[arg(long, value_name = "TASK")]
    task: Option<TaskId>,
    /// Only those of this agent
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// Only those that have not ended
    #[arg(long)]
    live: bool,
    /// Most to list
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: u32,
}

#[derive(Debug, Args)]
struct OneRunArgs {
    /// The run
    #[arg(value_name = "RUN")]
    id: RunId,
}

#[derive(Debug, Args)]
struct ChangeArgs {
    /// The run
    #[arg(value_name = "RUN")]
    id: RunId,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

pub(crate) fn run(args: RunArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    match args.command {
        RunCommand::Start(args) => ask::<RunStart>(context, &to_start(args))?,
        RunCommand::Resume(args) => ask::<RunResume>(context, &to_change(args))?,
        RunCommand::Pause(args) => {
            let answer = context.ask::<RunPause>(&to_change(args))?;
            context.show(&answer, |out, run| {
                Ok(out.line(&format!(
                    "{} rests when its program has ended its turn; it is {} now",
                    run.run_id, run.state
                ))?)
            })?;
        }
        RunCommand::List(args) => {
            let RunsArgs { task, agent, live, limit } = args;
            let params = RunListParams { task_id: task, agent, live, cursor: 0, limit };
            let answer = context.ask::<RunList>(&params)?;
            context.show(&answer, |out, list| show::runs(out, &list.items))?;
        }
        RunCommand::Get(args) => {
            let answer = context.ask::<RunGet>(&RunParams { run_id: args.id })?;
            context.show(&answer, |out, run| show::runs(out, &[run]))?;
        }
        RunCommand::Cancel(args) => {
            let params = RunCancelParams { run_id: args.id, reason: args.reason };
            let answer = context.ask::<RunCancel>(&params)?;
            context.show(&answer, |out, run| {
                Ok(out.line(&format!("{} is to end; it is {} now", run.run_id, run.state))?)
            })?;
        }
    }
    Ok(Outcome::Done)
}

/// Asks for a run, and shows what became of that.
fn ask<C: Call<Result = RunStartResult>>(context: &mut Context, params: &C::Params) -> anyhow::Result<()> {
    let answer = context.ask::<C>(params)?;
    context.show(&answer, |out, answer| match &answer.run {
        Some(run) => show::runs(out, std::slice::from_ref(run)),
        None => Ok(out.line(&format!("{} waits: {}", answer.task.task_id, cell(&answer.reason)))?),
    })
}

fn to_start(args: StartArgs) -> RunStartParams {
    let limits = args.limits.limits();
    RunStartParams {
        task_id: args.task,
        run_id: args.id,
        agent: args.agent,
        limits: (!limits.is_none()).then_some(limits),
        binding: args.bound.binding(),
        retry_of: args.after,
        reason: args.reason,
        if_version: args.if_version,
    }
}

fn to_change(args: ChangeArgs) -> RunChangeParams {
    RunChangeParams { run_id: args.id, reason: args.reason }
}

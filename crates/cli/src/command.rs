//! The commands: from parsed words to calls and printed results.
//!
//! Owns the way from a command's end to the exit code. Each module below owns one command, its words included.

pub(crate) mod action;
pub(crate) mod adapter;
pub(crate) mod agent;
pub(crate) mod apply;
pub(crate) mod artifact;
pub(crate) mod ask;
pub(crate) mod attach;
pub(crate) mod audit;
pub(crate) mod automation;
pub(crate) mod benchmark;
pub(crate) mod capability;
pub(crate) mod checkpoint;
pub(crate) mod completion;
pub(crate) mod content;
pub(crate) mod context_of;
pub(crate) mod daemon;
pub(crate) mod delete;
pub(crate) mod describe;
pub(crate) mod doctor;
pub(crate) mod events;
pub(crate) mod evidence;
pub(crate) mod hook;
pub(crate) mod host;
pub(crate) mod inbox;
pub(crate) mod inference;
pub(crate) mod job;
pub(crate) mod logs;
pub(crate) mod mcp;
pub(crate) mod memory;
pub(crate) mod message;
pub(crate) mod node;
pub(crate) mod output_of;
pub(crate) mod overrides;
pub(crate) mod policy;
pub(crate) mod process;
pub(crate) mod projection;
pub(crate) mod queue;
pub(crate) mod recording;
pub(crate) mod replay;
pub(crate) mod resource;
pub(crate) mod run;
pub(crate) mod schedule;
pub(crate) mod signal;
pub(crate) mod snapshot;
pub(crate) mod spread;
pub(crate) mod stdio;
pub(crate) mod subagent;
pub(crate) mod tap;
pub(crate) mod task;
pub(crate) mod thread;
pub(crate) mod token;
pub(crate) mod trace;
pub(crate) mod transcript;
pub(crate) mod turn;
pub(crate) mod workspace;

use std::{ffi::OsString, process::ExitCode};

use crate::{
    args::{self, Command},
    context::Context,
    environment::Environment,
    failure::{EXIT_USAGE, Report},
    json,
    output::{self, Format, OutputError},
};

/// What a command that worked has to say by its exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It is done.
    Done,
    /// What it checked is not right.
    Found,
    /// What it waited for did not come.
    NotInTime,
}

impl Outcome {
    fn exit_code(self) -> ExitCode {
        ExitCode::from(match self {
            Self::Done => 0,
            Self::Found => 1,
            Self::NotInTime => 75,
        })
    }
}

/// Runs the command that `arguments` name.
pub(crate) fn main(arguments: impl Iterator<Item = OsString>, env: Environment) -> ExitCode {
    let words: Vec<OsString> = arguments.collect();
    let cli = match args::parse(&words) {
        Ok(cli) => cli,
        Err(error) => {
            // A closed pipe keeps help from being read; that is not ours to report.
            drop(error.print());
            return ExitCode::from(if error.use_stderr() { EXIT_USAGE } else { 0 });
        }
    };
    let format = cli.global.output;
    let mut context = Context::new(env, cli.global);
    let result = run(cli.command, &mut context);
    let flushed = context.out.flush();
    match result.and_then(|outcome| Ok(flushed.map(|()| outcome)?)) {
        Ok(outcome) => outcome.exit_code(),
        Err(error) => fail(&error, format),
    }
}

fn run(command: Command, context: &mut Context) -> anyhow::Result<Outcome> {
    match command {
        Command::Daemon(args) => daemon::run(&args, context),
        Command::Apply(args) => apply::run(&args, context),
        Command::Delete(args) => delete::run(&args, context),
        Command::Agent(args) => agent::run(&args, context),
        Command::Ps(args) => agent::list::run(&args, context),
        Command::Signal(args) => signal::run(*args, context),
        Command::Action(args) => action::run(&args, context),
        Command::Ask(args) => ask::run(*args, context),
        Command::Publish(args) => spread::publish(*args, context),
        Command::Broadcast(args) => spread::broadcast(*args, context),
        Command::Capability(args) => capability::run(&args, context),
        Command::Automation(args) => automation::run(args, context),
        Command::Inference(args) => inference::run(&args, context),
        Command::Inbox(args) => inbox::run(&args, context),
        Command::Message(args) => message::run(*args, context),
        Command::Turn(args) => turn::run(*args, context),
        Command::Thread(args) => thread::run(*args, context),
        Command::Task(args) => task::run(*args, context),
        Command::Run(args) => run::run(*args, context),
        Command::Job(args) => job::run(*args, context),
        Command::Subagent(args) => subagent::run(*args, context),
        Command::Workspace(args) => workspace::run(&args, context),
        Command::Artifact(args) => artifact::run(&args, context),
        Command::Benchmark(args) => benchmark::run(args, context),
        Command::Context(args) => context_of::run(&args, context),
        Command::Checkpoint(args) => checkpoint::run(&args, context),
        Command::Queue(args) => queue::run(&args, context),
        Command::Output(args) => output_of::run(&args, context),
        Command::Attach(args) => attach::run(&args, context),
        Command::Logs(args) => logs::run(&args, context),
        Command::Transcript(args) => transcript::run(&args, context),
        Command::Trace(args) => trace::run(&args, context),
        Command::Tap(args) => tap::run(&args, context),
        Command::Replay(args) => replay::run(&args, context),
        Command::Snapshot(args) => snapshot::run(&args, context),
        Command::Events(args) => events::run(&args, context),
        Command::Evidence(args) => evidence::run(&args, context),
        Command::Audit(args) => audit::run(&args, context),
        Command::Mcp(args) => mcp::run(&args, context),
        Command::Stdio(args) => stdio::run(&args, context),
        Command::Memory(args) => memory::run(&args, context),
        Command::Adapter(args) => adapter::run(&args, context),
        Command::Override(args) => overrides::run(&args, context),
        Command::Policy(args) => policy::run(&args, context),
        Command::Resource(args) => resource::run(&args, context),
        Command::Process(args) => process::run(&args, context),
        Command::Host(args) => host::run(&args, context),
        Command::Projection(args) => projection::run(&args, context),
        Command::Node(args) => node::run(&args, context),
        Command::Token(args) => token::run(&args, context),
        Command::Schedule(args) => schedule::run(&args, context),
        Command::Doctor(args) => doctor::run(&args, context),
        Command::DescribeApi(args) => describe::run(&args, context),
        Command::Completion(args) => completion::run(&args, context),
        Command::Hook(args) => Ok(hook::run(args, context)),
        Command::Watchdog(args) => daemon::watchdog::run(&args, context),
        Command::TrialKeeper(args) => agent::probe::keeper::run(&args, context),
    }
}

/// Says on standard error what went wrong.
fn fail(error: &anyhow::Error, format: Format) -> ExitCode {
    let Some(report) = Report::of(error) else { return ExitCode::SUCCESS };
    match format {
        Format::Table => report.lines().iter().for_each(|line| output::complain(line)),
        Format::Json | Format::Yaml => {
            output::complain(&json::compact(&serde_json::json!({ "error": report })))
        }
    }
    ExitCode::from(report.exit_code)
}

/// A command's end when all that was to be done is printed.
fn done(printed: Result<(), OutputError>) -> anyhow::Result<Outcome> {
    printed?;
    Ok(Outcome::Done)
}

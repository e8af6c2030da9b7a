//! `edgeplane agent`: look at agents and move them through their life.

pub(crate) mod change;
mod describe;
mod environment;
mod get;
mod history;
mod init;
mod install;
pub(crate) mod list;
pub(crate) mod offline;
pub(crate) mod probe;
mod retire;
mod wait;

use clap::{Args, Subcommand};
use edgeplane_types::Phase;

use super::Outcome;
use crate::{
    context::Context,
    output::{Color, paint},
};

/// Look at agents and move them through their life
///
/// What an agent is meant to do (run, stay stopped, stay frozen) is recorded and outlives crashes and reboots; the phase
/// is what the node observes. A stopped agent stays stopped, whatever its restart policy says.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane agent list
  edgeplane agent describe reviewer
  edgeplane agent restart reviewer --wait")]
pub(crate) struct AgentArgs {
    #[command(subcommand)]
    command: AgentCommand,
}

#[derive(Debug, Subcommand)]
enum AgentCommand {
    List(list::ListArgs),
    Get(get::GetArgs),
    Describe(describe::DescribeArgs),
    Environment(environment::EnvironmentArgs),
    Init(init::InitArgs),
    Probe(probe::ProbeArgs),
    Install(install::InstallArgs),
    Start(change::StartArgs),
    Stop(change::StopArgs),
    Restart(change::RestartArgs),
    Freeze(change::FreezeArgs),
    Unfreeze(change::UnfreezeArgs),
    Hibernate(change::HibernateArgs),
    Retire(retire::RetireArgs),
    Release(change::ReleaseArgs),
    Wait(wait::WaitArgs),
    History(history::HistoryArgs),
    Epochs(history::EpochsArgs),
}

pub(crate) fn run(args: &AgentArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    match &args.command {
        AgentCommand::List(args) => list::run(args, context),
        AgentCommand::Get(args) => get::run(args, context),
        AgentCommand::Describe(args) => describe::run(args, context),
        AgentCommand::Environment(args) => environment::run(args, context),
        AgentCommand::Init(args) => init::run(args, context),
        AgentCommand::Probe(args) => probe::run(args, context),
        AgentCommand::Install(args) => install::run(args, context),
        AgentCommand::Start(args) => change::start(&args.targets, context),
        AgentCommand::Stop(args) => change::stop(&args.targets, context),
        AgentCommand::Restart(args) => change::restart(&args.targets, context),
        AgentCommand::Freeze(args) => change::freeze(&args.targets, context),
        AgentCommand::Unfreeze(args) => change::unfreeze(&args.targets, context),
        AgentCommand::Hibernate(args) => change::hibernate(&args.targets, context),
        AgentCommand::Retire(args) => retire::run(args, context),
        AgentCommand::Release(args) => change::release(&args.targets, context),
        AgentCommand::Wait(args) => wait::run(args, context),
        AgentCommand::History(args) => history::run(args, context),
        AgentCommand::Epochs(args) => history::epochs(args, context),
    }
}

/// A phase in its colour.
pub(crate) fn phase(phase: Phase) -> String {
    let color = match phase {
        Phase::Running => Color::Green,
        Phase::Starting | Phase::Frozen | Phase::Backoff | Phase::Unobservable | Phase::Stopping => {
            Color::Yellow
        }
        Phase::Failed | Phase::Quarantined => Color::Red,
        Phase::Declared | Phase::Hibernated | Phase::Stopped | Phase::Retired => Color::Dim,
    };
    paint(color, phase.as_str())
}

/// The word that programs read, of any value of the vocabulary.
pub(crate) fn word(value: impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        Ok(other) => other.to_string(),
        Err(_) => String::new(),
    }
}

/// Reads the name of a phase.
fn parse_phase(text: &str) -> Result<Phase, String> {
    Phase::from_word(text).ok_or_else(|| {
        let all: Vec<_> = Phase::ALL.into_iter().map(Phase::as_str).collect();
        format!("`{text}` is not a phase: use one of {}", all.join(", "))
    })
}

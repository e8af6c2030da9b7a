//! Starting, stopping, restarting, freezing, unfreezing and releasing agents.

use anyhow::Context as _;
use clap::Args;
use edgeplane_types::{ErrorName, Phase};
use edgeplane_wire::{
    api::agent::{ChangeParams, ChangeResult, WaitParams},
    catalogue::{
        AgentFreeze, AgentHibernate, AgentRelease, AgentRestart, AgentStart, AgentStop, AgentUnfreeze,
        AgentWait, Call,
    },
};
use serde_json::{Value, json};

use super::{Outcome, phase};
use crate::{
    context::{Answer, Context},
    failure::Failure,
    node::{Node, Patience},
    output::Format,
};

/// How long `--wait` waits unless `--timeout` says otherwise.
pub(crate) const WAIT_TIME: std::time::Duration = std::time::Duration::from_secs(60);

/// What the node may take to answer beyond the wait it was asked for.
const WAIT_MARGIN: std::time::Duration = std::time::Duration::from_secs(5);

/// Which agents, why, and whether to wait for the end of it.
#[derive(Debug, Args)]
pub(crate) struct Targets {
    /// Names or ids of agents
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    /// Why, for the record
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Wait until it is so, at most 60s or `--timeout`
    #[arg(short, long)]
    wait: bool,
}

/// Let agents run
///
/// Asks for an agent to run and stay running by its restart policy. It is recorded before anything happens, so it holds
/// also if the daemon dies in between. Agents it depends on are started first.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane agent start reviewer
  edgeplane agent start reviewer planner --wait --timeout 20s")]
pub(crate) struct StartArgs {
    #[command(flatten)]
    pub(crate) targets: Targets,
}

/// End agents and keep them ended
///
/// Sends the manifest's stop signal, and after its grace kills every process of the agent. No restart policy and no
/// restart of the daemon brings a stopped agent back; `edgeplane agent start` does. To stop all agents at once, those to
/// come included, use `edgeplane override apply --all --kind stop`.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane agent stop reviewer
  edgeplane agent stop reviewer --wait --reason \"maintenance\"")]
pub(crate) struct StopArgs {
    #[command(flatten)]
    pub(crate) targets: Targets,
}

/// End agents and begin them anew
///
/// The next epoch starts when nothing is left of the last one. Waiting messages are delivered to the new one.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane agent restart reviewer
  edgeplane agent restart reviewer --wait --reason \"new configuration\"")]
pub(crate) struct RestartArgs {
    #[command(flatten)]
    pub(crate) targets: Targets,
}

/// Suspend every process of agents
///
/// The processes stay in memory and do nothing: timers, probes and delivery wait too. Needs a cgroup; `edgeplane doctor`
/// says whether there is one.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane agent freeze reviewer
  edgeplane agent freeze reviewer --reason \"quota\" --wait")]
pub(crate) struct FreezeArgs {
    #[command(flatten)]
    pub(crate) targets: Targets,
}

/// Let frozen agents go on
///
/// The processes continue where they were, and messages that waited are delivered.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane agent unfreeze reviewer
  edgeplane agent unfreeze reviewer --wait")]
pub(crate) struct UnfreezeArgs {
    #[command(flatten)]
    pub(crate) targets: Targets,
}

/// End idle agents until a message comes for them
///
/// Frees their memory. The next message wakes them: same name, next epoch, and their program goes on with its own
/// session. Only for programs that can do that; `continuity` in `edgeplane agent describe` says how much came back.
/// `spec.hibernate.idleAfter` does the same by itself.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane agent hibernate reviewer
  edgeplane agent hibernate reviewer --wait && edgeplane signal reviewer --content \"good morning\"")]
pub(crate) struct HibernateArgs {
    #[command(flatten)]
    pub(crate) targets: Targets,
}

/// Vouch that nothing is left of quarantined agents
///
/// An agent is quarantined when the node could not prove that every process of its last epoch is gone. Look for them
/// first: this records your word as the evidence, and the agent may start again.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane agent release reviewer --reason \"looked: nothing left\"
  edgeplane agent release reviewer && edgeplane agent start reviewer")]
pub(crate) struct ReleaseArgs {
    #[command(flatten)]
    pub(crate) targets: Targets,
}

pub(crate) fn start(targets: &Targets, context: &mut Context) -> anyhow::Result<Outcome> {
    change::<AgentStart>(targets, ("starting", "asked to run"), &[Phase::Running, Phase::Frozen], context)
}

pub(crate) fn stop(targets: &Targets, context: &mut Context) -> anyhow::Result<Outcome> {
    change::<AgentStop>(targets, ("stopping", "asked to stop"), &[Phase::Stopped], context)
}

pub(crate) fn restart(targets: &Targets, context: &mut Context) -> anyhow::Result<Outcome> {
    change::<AgentRestart>(targets, ("restarting", "asked to restart"), &[Phase::Running], context)
}

pub(crate) fn freeze(targets: &Targets, context: &mut Context) -> anyhow::Result<Outcome> {
    change::<AgentFreeze>(targets, ("freezing", "asked to freeze"), &[Phase::Frozen], context)
}

pub(crate) fn unfreeze(targets: &Targets, context: &mut Context) -> anyhow::Result<Outcome> {
    change::<AgentUnfreeze>(targets, ("unfreezing", "asked to go on"), &[Phase::Running], context)
}

pub(crate) fn hibernate(targets: &Targets, context: &mut Context) -> anyhow::Result<Outcome> {
    let (phases, words) = ([Phase::Hibernated], ("hibernating", "asked to hibernate"));
    change::<AgentHibernate>(targets, words, &phases, context)
}

pub(crate) fn release(targets: &Targets, context: &mut Context) -> anyhow::Result<Outcome> {
    let phases = [Phase::Stopped, Phase::Running, Phase::Starting, Phase::Failed];
    change::<AgentRelease>(targets, ("releasing", "released"), &phases, context)
}

fn change<C>(
    targets: &Targets,
    (doing, done): (&str, &str),
    reached: &[Phase],
    context: &mut Context,
) -> anyhow::Result<Outcome>
where
    C: Call<Params = ChangeParams, Result = ChangeResult>,
{
    let mut node = context.connect()?;
    let mut answers = Vec::new();
    for name in &targets.names {
        node.doing = Some(format!("{doing} {name}"));
        let params = ChangeParams { agent: name.clone(), reason: targets.reason.clone() };
        let answer =
            context.ask_over::<C>(&mut node, &params).with_context(|| format!("cannot change `{name}`"))?;
        answers.push(answer);
    }
    if !targets.wait {
        show(context, &answers, done)?;
        return Ok(Outcome::Done);
    }
    let mut reached_by = Vec::new();
    for (name, answer) in targets.names.iter().zip(answers) {
        // A restart is done when another epoch runs, not when the old one still does.
        let old =
            (C::NAME == AgentRestart::NAME).then(|| answer.read().map(|result| result.epoch)).transpose()?;
        node.doing = Some(format!("{doing} {name}"));
        reached_by.push(wait_past(context, &mut node, name, reached, old)?);
    }
    show(context, &reached_by, "now")?;
    Ok(Outcome::Done)
}

/// Waits for one of `reached`, in an epoch after `old` if one is given; gives up at once where that cannot come by
/// itself any more.
fn wait_past(
    context: &Context,
    node: &mut Node,
    name: &str,
    reached: &[Phase],
    old: Option<edgeplane_types::Epoch>,
) -> anyhow::Result<Answer<AgentWait>> {
    let deadline = edgeplane_os::wait::Deadline::after(context.timeout().unwrap_or(WAIT_TIME));
    loop {
        let answer = wait(node, name, reached, deadline.remaining())?;
        let result = answer.read()?;
        if !reached.contains(&result.phase) {
            let message =
                format!("agent `{name}` is {} and will not be {} by itself", result.phase, one_of(reached));
            let failure = Failure::new(ErrorName::InvalidState, message);
            return Err(failure.hint(format!("`edgeplane agent history {name}` tells why")).into());
        }
        if old.is_none_or(|old| result.epoch > old) {
            return Ok(answer);
        }
        if deadline.has_passed() {
            let message = format!("agent `{name}` has not begun another epoch in time");
            return Err(Failure::new(ErrorName::DeadlineExceeded, message).into());
        }
        // The node has the request and has not acted on it yet.
        edgeplane_os::wait::until(
            edgeplane_os::wait::Deadline::after(std::time::Duration::from_millis(20)),
            || false,
        );
    }
}

/// Waits for one of `reached`, or for a phase that none of them follows without a person.
pub(crate) fn wait(
    node: &mut Node,
    name: &str,
    reached: &[Phase],
    time: std::time::Duration,
) -> anyhow::Result<Answer<AgentWait>> {
    let mut phases = reached.to_vec();
    let ends = [Phase::Failed, Phase::Quarantined, Phase::Retired];
    phases.extend(ends.into_iter().filter(|end| !reached.contains(end)));
    let timeout_ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let params = WaitParams { agent: name.to_owned(), phases, timeout_ms };
    let patience = Patience::within(time.saturating_add(WAIT_MARGIN));
    let waited = node.call(AgentWait::NAME, &params, patience);
    let raw = waited.with_context(|| format!("cannot wait for `{name}` to be {}", one_of(reached)))?;
    Ok(Answer::new(raw))
}

fn one_of(phases: &[Phase]) -> String {
    phases.iter().map(|phase| phase.as_str()).collect::<Vec<_>>().join(" or ")
}

/// Prints what became of agents: one object for one, a list for several.
pub(crate) fn show<C>(context: &mut Context, answers: &[Answer<C>], done: &str) -> anyhow::Result<()>
where
    C: Call<Result = ChangeResult>,
{
    if context.out.format() == Format::Table {
        for answer in answers {
            let result = answer.read()?;
            context.out.line(&format!(
                "{} {done}: {}, epoch {}",
                result.name,
                phase(result.phase),
                result.epoch
            ))?;
        }
        return Ok(());
    }
    let values = answers.iter().map(Answer::value).collect::<anyhow::Result<Vec<Value>>>()?;
    match values.as_slice() {
        [one] => Ok(context.out.value(one)?),
        several => Ok(context.out.value(&json!({ "items": several }))?),
    }
}

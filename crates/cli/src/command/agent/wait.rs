//! `edgeplane agent wait`: wait for a phase.

use clap::Args;
use edgeplane_types::Phase;
use edgeplane_wire::{
    api::agent::WaitParams,
    catalogue::{AgentWait, Call},
};

use super::{
    Outcome,
    change::{self, WAIT_TIME},
    parse_phase,
};
use crate::{
    context::{Answer, Context},
    node::Patience,
};

/// Wait until an agent is in a phase
///
/// Returns at once if it is there already. Several phases may be given; any will do. When the time is over the exit code
/// is 75.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane agent wait reviewer --phase running --timeout 10s
  edgeplane agent wait reviewer --phase stopped,failed

PHASES:
  declared starting running frozen hibernated backoff unobservable stopping stopped failed quarantined retired")]
pub(crate) struct WaitArgs {
    /// The agent's name or id
    name: String,
    /// The phase to wait for; several are separated by commas
    #[arg(long, required = true, value_name = "PHASE", value_delimiter = ',', value_parser = parse_phase)]
    phase: Vec<Phase>,
}

pub(crate) fn run(args: &WaitArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let time = context.timeout().unwrap_or(WAIT_TIME);
    let mut node = context.connect()?;
    node.doing = Some(format!("waiting for {}", args.name));
    let timeout_ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let params = WaitParams { agent: args.name.clone(), phases: args.phase.clone(), timeout_ms };
    // The node says itself that the time is over; only a hung one is given up here.
    let patience = Patience::within(time.saturating_add(std::time::Duration::from_secs(5)));
    let raw = node.call(AgentWait::NAME, &params, patience)?;
    change::show(context, &[Answer::<AgentWait>::new(raw)], "now")?;
    Ok(Outcome::Done)
}

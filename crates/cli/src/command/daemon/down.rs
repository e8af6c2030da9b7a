//! `edgeplane daemon down`: stop the node; agents go on.

use std::time::Duration;

use clap::Args;
use edgeplane_client::CallError;
use edgeplane_os::{
    Signal,
    dirs::StateDirs,
    pidfd, proc,
    wait::{self, Deadline},
};
use edgeplane_types::{ErrorName, Phase};
use edgeplane_wire::{
    api::{Empty, node::NodeStatus},
    catalogue::{Call, NodeStatus as NodeStatusCall, NodeStop},
};
use serde_json::json;

use super::{unit, watchdog};
use crate::{
    command::Outcome,
    context::Context,
    failure::Failure,
    node::{Node, Patience},
    output::Format,
};

/// How long the daemon may take to answer and to end.
const STOP_TIME: Duration = Duration::from_secs(10);

/// How long the watchdog may take to end.
const WATCHDOG_TIME: Duration = Duration::from_secs(2);

/// Stop the node; agents go on
///
/// Ends the watchdog (or the systemd unit) and then the daemon, in good order. The agents are not touched: they run on,
/// their output is kept, and the next `edgeplane daemon up` takes them over. To stop agents use `edgeplane agent stop`.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane daemon down
  edgeplane daemon down --force")]
pub(crate) struct DownArgs {
    /// Kill the daemon if it does not end by itself; nothing that it acknowledged is lost
    #[arg(long)]
    force: bool,
}

pub(super) fn run(args: &DownArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let dirs = context.dirs()?;
    // First whoever would start it again.
    let unit_ran = if unit::is_active(context) {
        let status = context.connect_plainly().ok().and_then(|mut node| status(&mut node).ok());
        context.out.note("stopping the systemd unit");
        unit::stop(context)?;
        status
    } else {
        None
    };
    if let Some(found) = watchdog::find(&dirs)
        && !watchdog::end(found, WATCHDOG_TIME)?
    {
        let message = format!("the watchdog (process {}) does not end", found.pid);
        return Err(Failure::new(ErrorName::DeadlineExceeded, message).into());
    }
    let Ok(mut node) = context.connect_plainly() else {
        return match holder(&dirs) {
            Some(pid) => force_or_advise(args, pid, None, context),
            None => match unit_ran {
                Some(status) => said(context, "the daemon is stopped", living(&status), true),
                None => said(context, "the daemon is not running", 0, false),
            },
        };
    };
    match stop(&mut node) {
        Ok(status) => {
            if is_gone(status.pid) {
                said(context, "the daemon is stopped", living(&status), true)
            } else {
                force_or_advise(args, status.pid, Some(&status), context)
            }
        }
        Err(error) => match holder(&dirs) {
            Some(pid) if error.name() != ErrorName::PermissionDenied => {
                force_or_advise(args, pid, None, context)
            }
            _ => Err(error.into()),
        },
    }
}

fn status(node: &mut Node) -> Result<NodeStatus, CallError> {
    node.doing = Some("stopping the daemon".to_owned());
    let raw = node.call(NodeStatusCall::NAME, Empty {}, Patience::within(STOP_TIME))?;
    serde_json::from_str(raw.get()).map_err(|error| CallError::Protocol {
        method: NodeStatusCall::NAME.to_owned(),
        detail: error.to_string(),
    })
}

fn stop(node: &mut Node) -> Result<NodeStatus, CallError> {
    let status = status(node)?;
    match node.call(NodeStop::NAME, Empty {}, Patience::within(STOP_TIME)) {
        // It may be gone before its answer is.
        Ok(_) | Err(CallError::Closed { .. }) => Ok(status),
        Err(error) => Err(error),
    }
}

/// Waits until a process is gone, zombies included: init may be slow to reap.
fn is_gone(pid: u32) -> bool {
    wait::until(Deadline::after(STOP_TIME), || !proc::stat(pid).is_ok_and(|found| found.is_alive()))
}

/// The process that holds the state directory.
fn holder(dirs: &StateDirs) -> Option<u32> {
    let pid = std::fs::read_to_string(dirs.state.join("lock")).ok()?.trim().parse().ok()?;
    proc::stat(pid).is_ok_and(|found| found.is_alive()).then_some(pid)
}

/// How many agents run on. Those that are being stopped end without a daemon, too.
fn living(status: &NodeStatus) -> u64 {
    let phases = [Phase::Starting, Phase::Running, Phase::Frozen, Phase::Unobservable];
    phases.iter().filter_map(|phase| status.agents.get(phase.as_str())).sum()
}

fn force_or_advise(
    args: &DownArgs,
    pid: u32,
    status: Option<&NodeStatus>,
    context: &mut Context,
) -> anyhow::Result<Outcome> {
    if args.force
        && let Ok(handle) = pidfd::open(pid)
    {
        pidfd::send_signal(&handle, Signal::KILL)?;
        if pidfd::is_exited_within(&handle, STOP_TIME)? {
            return said(context, "the daemon is killed", status.map_or(0, living), true);
        }
    }
    let message = format!("the daemon (process {pid}) does not end");
    let hint = format!(
        "`edgeplane daemon logs` may tell why; `kill -ABRT {pid}` leaves a trace, `edgeplane daemon down --force` kills it"
    );
    Err(Failure::new(ErrorName::DeadlineExceeded, message).hint(hint).into())
}

fn said(context: &mut Context, what: &str, agents: u64, was_running: bool) -> anyhow::Result<Outcome> {
    if context.out.format() != Format::Table {
        context.out.value(&json!({ "wasRunning": was_running, "agentsRunning": agents }))?;
        return Ok(Outcome::Done);
    }
    let more = match agents {
        0 => String::new(),
        1 => "; 1 agent keeps running".to_owned(),
        count => format!("; {count} agents keep running"),
    };
    context.out.line(&format!("{what}{more}"))?;
    Ok(Outcome::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_being_stopped_does_not_run_on() {
        let status = json!({
            "pid": 1, "version": "0", "uptimeSeconds": 0, "startedAt": "2026-11-22T00:00:00Z",
            "nodeId": "nod_01890000-0000-7000-8000-000000000001", "node": "vm", "stateDir": "", "runtimeDir": "",
            "socket": "", "agents": { "running": 2, "frozen": 1, "stopping": 4, "stopped": 8 }, "events": 0,
            "record": "ok", "checks": [],
        });
        assert_eq!(living(&serde_json::from_value(status).unwrap()), 3);
    }
}

//! `edgeplane daemon up`: start the node in the background.

use std::{
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use anyhow::Context as _;
use clap::Args;
use edgeplane_os::{
    dirs::{self, StateDirs},
    wait::{self, Deadline},
};
use edgeplane_types::ErrorName;
use edgeplane_wire::{
    api::{Empty, node::NodeStatus},
    catalogue::{Call, CoreHealth, NodeStatus as NodeStatusCall},
};
use serde_json::json;

use super::{file_log, program, unit, watchdog};
use crate::{
    command::Outcome,
    context::Context,
    failure::Failure,
    node::{Node, Patience},
    output::Format,
    progress::Progress,
};

/// How long the daemon may take until it answers. It answers before it has taken over every agent.
const START_TIME: Duration = Duration::from_secs(10);

/// How long one question to a daemon that is starting may take.
const ANSWER_TIME: Duration = Duration::from_secs(2);

/// Start the node in the background
///
/// Starts `edgeplaned` and returns when it answers. A small watchdog restarts it when it is killed; both go on when this
/// terminal is closed. With `--systemd` systemd does that instead, also after a reboot: a unit is written, enabled and
/// started, for the whole system if you are root, else for you. If the node is up already it only says so.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane daemon up
  edgeplane daemon up -o json | jq .pid
  edgeplane daemon up --systemd
  edgeplane daemon up --print-unit

The program `edgeplaned` is looked for beside `edgeplane` and in PATH; EDGEPLANED names another.")]
pub(crate) struct UpArgs {
    /// Let systemd keep the daemon alive instead of the watchdog
    #[arg(long)]
    systemd: bool,
    /// Print the systemd unit and do nothing
    #[arg(long, conflicts_with = "systemd")]
    print_unit: bool,
}

pub(super) fn run(args: &UpArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    if args.print_unit {
        let text = unit::text(&program::daemon(&context.env)?, &context.dirs()?, context.env.uid);
        context.out.text(&text)?;
        return Ok(Outcome::Done);
    }
    let dirs = context.dirs()?;
    let before = status(context);
    if before.is_none() {
        if args.systemd {
            let mut progress =
                Progress::new(context.out.manner.stderr_is_terminal.then(|| "starting the unit".to_owned()));
            unit::install(&program::daemon(&context.env)?, &dirs, context)?;
            await_answer(context, &mut None, &dirs, &mut progress)?;
        } else {
            start(context)?;
        }
    }
    let now = match &before {
        Some(status) => Some(status.clone()),
        None => status(context),
    };
    let Some(status) = now else {
        let failure = Failure::new(ErrorName::Unavailable, "the daemon answered once and does no more");
        return Err(failure.hint("`edgeplane daemon logs` tells why").into());
    };
    say(context, &status, before.is_some())?;
    Ok(Outcome::Done)
}

fn say(context: &mut Context, status: &NodeStatus, was_up: bool) -> anyhow::Result<()> {
    if context.out.format() != Format::Table {
        let mut value = serde_json::to_value(status)?;
        if let Some(fields) = value.as_object_mut() {
            fields.insert("alreadyRunning".to_owned(), json!(was_up));
        }
        return Ok(context.out.value(&value)?);
    }
    let word = if was_up { "is up already" } else { "is up" };
    Ok(context
        .out
        .line(&format!("node {} {word}: pid {}, socket {}", status.node, status.pid, status.socket))?)
}

/// Asks a daemon that may not be there how it is.
fn status(context: &Context) -> Option<NodeStatus> {
    let mut node = connect(context)?;
    let raw = node.call(NodeStatusCall::NAME, Empty {}, Patience::within(ANSWER_TIME)).ok()?;
    serde_json::from_str(raw.get()).ok()
}

fn connect(context: &Context) -> Option<Node> {
    Node::over(edgeplane_os::sock::connect(&context.socket().ok()?).ok()?, false).ok()
}

/// Whether there is anything to start.
pub(crate) fn can_start(context: &Context) -> bool {
    program::daemon(&context.env).is_ok() && context.env.executable.is_some()
}

/// Starts the daemon under a watchdog and waits until it answers.
pub(crate) fn start(context: &Context) -> anyhow::Result<()> {
    let dirs = context.dirs()?;
    let daemon = program::daemon(&context.env)?;
    dirs.create(context.env.uid)?;
    let own = context
        .env
        .executable
        .as_deref()
        .context("cannot find this program's own file to start a watchdog")?;
    let mut watchdog = Some(spawn_watchdog(own, &daemon, &dirs, context)?);
    let label = "starting the daemon".to_owned();
    let mut progress =
        Progress::new((context.out.manner.stderr_is_terminal && !context.out.manner.quiet).then_some(label));
    await_answer(context, &mut watchdog, &dirs, &mut progress)
}

fn spawn_watchdog(own: &Path, daemon: &Path, dirs: &StateDirs, context: &Context) -> anyhow::Result<Child> {
    let mut command = Command::new(own);
    command.arg("__watchdog").arg("--daemon").arg(daemon);
    command.arg("--state-dir").arg(&dirs.state).arg("--runtime-dir").arg(&dirs.runtime);
    command.env(dirs::STATE_DIR, &dirs.state).env(dirs::RUNTIME_DIR, &dirs.runtime);
    if context.socket_is_given() {
        command.env(dirs::SOCKET, &dirs.socket);
    }
    // It makes itself a session of its own, which it could not as the leader of a group.
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().with_context(|| format!("cannot run `{}`", own.display()))
}

/// Waits until the daemon answers; a watchdog that gave up is not waited for.
fn await_answer(
    context: &Context,
    started: &mut Option<Child>,
    dirs: &StateDirs,
    progress: &mut Progress,
) -> anyhow::Result<()> {
    let deadline = Deadline::after(context.timeout().unwrap_or(START_TIME));
    let mut last = deadline.remaining();
    let mut gave_up = false;
    let answers = wait::until(deadline, || {
        let left = deadline.remaining();
        progress.waited(last.saturating_sub(left));
        last = left;
        // One that ended well found another that keeps the daemon alive, and may just be bringing it back.
        if let Some(status) = started.as_mut().and_then(|child| child.try_wait().ok().flatten()) {
            *started = None;
            gave_up = !(status.success() && watchdog::find(dirs).is_some());
        }
        gave_up || is_healthy(context, left.min(ANSWER_TIME))
    });
    progress.clear();
    if answers && !gave_up {
        return Ok(());
    }
    let log = file_log::path(dirs);
    let said = file_log::last_lines(&log, 5);
    let hint = format!(
        "`edgeplane daemon logs` shows more, `edgeplane doctor` looks for the cause ({})",
        log.display()
    );
    let (name, what) = if gave_up {
        (ErrorName::Unavailable, "the daemon ended as soon as it was started")
    } else {
        (ErrorName::DeadlineExceeded, "the daemon was started and does not answer")
    };
    let violations = said.into_iter().map(serde_json::Value::from).collect();
    Err(Failure::new(name, what).violations(violations).hint(hint).into())
}

fn is_healthy(context: &Context, time: Duration) -> bool {
    let Some(mut node) = connect(context) else { return false };
    node.call(CoreHealth::NAME, Empty {}, Patience::within(time)).is_ok()
}

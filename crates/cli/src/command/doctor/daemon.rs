//! The daemon: dead, hung, or with something to say for itself.

use std::{path::Path, sync::mpsc, time::Duration};

use edgeplane_client::CallError;
use edgeplane_os::{peer, proc, sock};
use edgeplane_types::ErrorName;
use edgeplane_wire::{
    api::{
        Empty,
        core::{Check, InitializeResult},
        node::NodeStatus,
    },
    catalogue::{Call, NodeStatus as NodeStatusCall},
};

use super::{fail, ok, warn};
use crate::{
    context::Context,
    node::{Node, Patience},
    quantity::{counted, human_seconds},
    token::{self, Token},
};

/// A daemon that is well answers in a fraction of it, whatever its agents do.
const ANSWER_TIME: Duration = Duration::from_secs(2);

/// Connecting blocks where a hung daemon's queue is full; this is for it and both questions.
const LOOK_TIME: Duration = Duration::from_secs(6);

pub(super) fn look(context: &Context) -> Vec<Check> {
    let Ok(path) = context.socket() else { return Vec::new() };
    let holder = context.dirs().ok().and_then(|dirs| holder(&dirs.state));
    let (sender, receiver) = mpsc::sync_channel(1);
    let socket = path.clone();
    let token = match context.token() {
        Ok(token) => token,
        Err(error) => return vec![fail("token", format!("{error:#}"), "see EDGEPLANE_TOKEN_FILE")],
    };
    let looking = std::thread::Builder::new().name("edgeplane-doctor".to_owned()).spawn(move || {
        // Nobody waits any more if it took too long.
        drop(sender.send(ask(&socket, token.as_ref())));
    });
    if let Err(error) = looking {
        return vec![fail("daemon", format!("cannot look: {error}"), "close some programs")];
    }
    match receiver.recv_timeout(LOOK_TIME) {
        Ok(Ok(found)) => answers(found),
        Ok(Err(Trouble::NobodyThere(why))) => vec![dead(&path, holder, &why)],
        Ok(Err(Trouble::Silent(pid))) => {
            vec![hung(pid.or(holder), "it took the connection and does not answer")]
        }
        Ok(Err(Trouble::Odd(what))) => {
            vec![fail("daemon", what, "see whether `edgeplane` and `edgeplaned` are of the same version")]
        }
        Err(_elapsed) => vec![hung(holder, "it does not even take connections")],
    }
}

/// Who holds the state directory, alive.
fn holder(state: &Path) -> Option<u32> {
    let pid = std::fs::read_to_string(state.join("lock")).ok()?.trim().parse().ok()?;
    proc::stat(pid).is_ok_and(|found| found.is_alive()).then_some(pid)
}

enum Trouble {
    NobodyThere(String),
    Silent(Option<u32>),
    Odd(String),
}

struct Found {
    status: NodeStatus,
    /// As whom the node knows us; a node that answers one question and not the other is still alive.
    greeting: Option<InitializeResult>,
    /// Why it does not take our token.
    refusal: Option<String>,
}

fn ask(path: &Path, token: Option<&Token>) -> Result<Found, Trouble> {
    let stream = sock::connect(path)
        .map_err(|error| Trouble::NobodyThere(format!("{:#}", anyhow::Error::from(error))))?;
    let pid = peer::peer_of(&stream).ok().map(|peer| peer.pid);
    let mut node = Node::over(stream, false).map_err(|error| Trouble::Odd(error.to_string()))?;
    let patience = Patience::within(ANSWER_TIME);
    let raw = node.call(NodeStatusCall::NAME, Empty {}, patience).map_err(|error| trouble(&error, pid))?;
    let status = serde_json::from_str(raw.get()).map_err(|error| Trouble::Odd(error.to_string()))?;
    let (greeting, refusal) = match token::greet(&mut node, token, patience) {
        Ok(raw) => (serde_json::from_str(raw.get()).ok(), None),
        Err(error) => (None, token.map(|_| error.to_string())),
    };
    Ok(Found { status, greeting, refusal })
}

fn trouble(error: &CallError, pid: Option<u32>) -> Trouble {
    match error.name() {
        ErrorName::DeadlineExceeded => Trouble::Silent(pid),
        ErrorName::Unavailable => Trouble::NobodyThere(error.to_string()),
        _ => Trouble::Odd(error.to_string()),
    }
}

fn dead(path: &Path, holder: Option<u32>, why: &str) -> Check {
    match holder {
        Some(pid) => fail(
            "daemon",
            format!("process {pid} holds the state directory and does not serve: {why}"),
            format!("it may be starting: try again; else `edgeplane daemon logs`, then `kill {pid}`"),
        ),
        None if path.exists() => fail(
            "daemon",
            "it is dead and left its socket",
            "`edgeplane daemon up` starts it; agents that live are taken over. `edgeplane daemon logs` may tell why it ended",
        ),
        None => warn("daemon", "not running", "`edgeplane daemon up` starts it"),
    }
}

fn hung(pid: Option<u32>, how: &str) -> Check {
    let who = pid.map_or_else(|| "it".to_owned(), |pid| format!("process {pid}"));
    let target = pid.map_or_else(|| "PID".to_owned(), |pid| pid.to_string());
    fail(
        "daemon",
        format!("{who} hangs: {how}"),
        format!(
            "agents are not affected. `edgeplane daemon logs` may tell why; `kill -ABRT {target}` ends it with a trace, and \
             the watchdog or `edgeplane daemon up` starts it again"
        ),
    )
}

fn answers(found: Found) -> Vec<Check> {
    let Found { status, greeting, refusal } = found;
    let up = human_seconds(status.uptime_seconds);
    let mut checks =
        vec![ok("daemon", format!("process {}, version {}, up {up}", status.pid, status.version))];
    let own = env!("CARGO_PKG_VERSION");
    if status.version != own {
        let detail = format!("the daemon is {}, this program {own}", status.version);
        checks.push(warn(
            "versions",
            detail,
            "`edgeplane daemon down` and `up` put the new one in place; agents go on",
        ));
    }
    checks.push(match status.record.as_str() {
        "ok" => ok("node: record", format!("ok, {}", counted(status.events, "event"))),
        "storage_full" => {
            fail("node: record", "the disk is full", "make room: nothing new is taken until then")
        }
        other => {
            fail("node: record", other, "it is read-only now; `edgeplane audit verify` says what is wrong")
        }
    });
    if let Some(greeting) = greeting {
        let caller = greeting.caller;
        let note = caller.note.map(|note| format!(" ({note})")).unwrap_or_default();
        let proof = serde_json::to_value(caller.proof).unwrap_or_default();
        let detail = format!(
            "you are {} by {}, assurance {}{note}",
            caller.principal,
            proof.as_str().unwrap_or_default(),
            caller.assurance
        );
        checks.push(ok("identity", detail));
    }
    if let Some(refusal) = refusal {
        checks.push(fail(
            "token",
            refusal,
            "make another with `edgeplane token create`, or unset EDGEPLANE_TOKEN_FILE",
        ));
    }
    checks.extend(
        status.checks.into_iter().map(|check| Check { name: format!("node: {}", check.name), ..check }),
    );
    checks
}

//! `edgeplane hook`: what a program's own hook runs.
//!
//! It is run by a program that must not be harmed: it says nothing on standard output, ends with 0 whatever happens, and
//! gives up long before its program does.

use std::{
    ffi::OsString,
    io::{self, Read as _},
    path::Path,
    sync::mpsc,
    thread,
    time::Duration,
};

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use edgeplane_types::SafeLabel;
use edgeplane_wire::{
    api::report::HookParams,
    catalogue::{Call as _, HookReport},
};
use serde_json::Value;

use super::Outcome;
use crate::{
    context::Context,
    node::{Node, Patience},
    output,
};

/// Longest report in bytes. A node takes twice as much in one request.
const REPORT_BYTES_MAX: u64 = 8 << 20;

/// How long everything may take together. Programs wait 10 s for it.
const TIME_MAX: Duration = Duration::from_secs(3);

/// Report to the node what an agent's own program says by its hook
///
/// Programs made for people run a command of their user's when they take a prompt, use a tool, ask something or end a
/// turn. With an adapter that knows the program, the node sets this command for each epoch by the program's own flags,
/// so nobody types it. It reads the report from standard input, or for codex from its argument, and hands it over on the
/// socket in EDGEPLANE_SOCKET. The node knows by its process whose program ran it: a report is that agent's word about
/// itself and about nobody else.
///
/// It prints nothing on standard output and always ends with 0, so that no program is held up or stopped by it. What went
/// wrong is one line on standard error.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane hook claude-code < report.json
  edgeplane hook codex '{\"type\": \"agent-turn-complete\", \"input-messages\": [\"hi\"]}'
  edgeplane hook codex < report.json

TO SET IT YOURSELF, where `edgeplane agent describe` says that the hooks were left alone:
  Claude Code  settings: \"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"edgeplane hook claude-code\"}]}]}
  Codex        config.toml: notify = [\"edgeplane\", \"hook\", \"codex\"]")]
pub(crate) struct HookArgs {
    /// Whose hook
    #[arg(value_enum)]
    kind: Kind,
    /// The report, where the program hands it over as an argument
    #[arg(allow_hyphen_values = true)]
    report: Option<OsString>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Kind {
    ClaudeCode,
    Codex,
}

impl Kind {
    fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
        }
    }
}

pub(crate) fn run(args: HookArgs, context: &Context) -> Outcome {
    let (done, end) = mpsc::channel();
    let socket = context.socket();
    // Whatever blocks is left behind when the time is over.
    thread::spawn(move || drop(done.send(socket.and_then(|socket| report(args, &socket)))));
    let failure = match end.recv_timeout(TIME_MAX) {
        Ok(Ok(())) => None,
        Ok(Err(error)) => Some(format!("{error:#}")),
        Err(_) => Some(format!("not done within {} s", TIME_MAX.as_secs())),
    };
    if let Some(why) = failure.filter(|_| !context.out.manner.quiet) {
        output::complain(&format!("edgeplane hook: not reported: {why}"));
    }
    Outcome::Done
}

fn report(args: HookArgs, socket: &Path) -> anyhow::Result<()> {
    let bytes = match args.report {
        Some(report) => report.into_encoded_bytes(),
        None => input()?,
    };
    let report: Value = serde_json::from_slice(&bytes).context("the report is no JSON")?;
    let params = HookParams { kind: SafeLabel::sanitized(args.kind.as_str()), report };
    let stream = edgeplane_os::sock::connect(socket).context("the daemon is not running")?;
    let mut node = Node::over(stream, false)?;
    node.call(HookReport::NAME, &params, Patience::within(TIME_MAX))?;
    Ok(())
}

/// Standard input, read to its end also where it is too long: a program may not know what to do with a closed pipe.
fn input() -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut input = io::stdin().lock();
    input.by_ref().take(REPORT_BYTES_MAX).read_to_end(&mut bytes)?;
    let more = io::copy(&mut input, &mut io::sink())?;
    if more > 0 {
        anyhow::bail!("a report of more than {REPORT_BYTES_MAX} bytes is passed over");
    }
    Ok(bytes)
}

//! A node that lives as long as a trial: its folders, its daemon, its one agent, and their end.
//!
//! Owns that nothing of it stays, however the trial ends, short of this process being killed at once.

use std::{
    fs::File,
    os::unix::process::CommandExt as _,
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::Duration,
};

use anyhow::{Context as _, bail};
use edgeplane_manifest::Manifest;
use edgeplane_os::{
    Signal,
    dirs::{RUNTIME_DIR, SOCKET, STATE_DIR},
    pidfd,
    poll::{self, PollFd, PollFlags},
    signals::SignalFd,
    sock,
    wait::{self, Deadline},
};
use edgeplane_types::{ErrorName, Phase};
use edgeplane_wire::{
    api::{
        Empty,
        agent::{ChangeParams, ListParams},
    },
    catalogue::{AgentList, AgentRelease, AgentRetire, Call, CoreHealth},
};
use tempfile::TempDir;

use crate::{
    command::daemon::program,
    context::{Answer, Context},
    failure::Failure,
    node::{Node, Patience},
    token,
};

/// How long one answer of the daemon may take.
const ANSWER_TIME: Duration = Duration::from_secs(10);

/// How long the agent may take to be gone. Its manifest's grace is within it, or the daemon ends it by force.
const RETIRE_TIME: Duration = Duration::from_secs(20);

/// How long the daemon may take to end.
const DAEMON_TIME: Duration = Duration::from_secs(5);

/// The name of the node in its record.
const NODE_NAME: &str = "probe";

/// The node.
pub(super) struct Scratch {
    /// None once it is removed.
    dir: Option<TempDir>,
    daemon: Child,
    socket: PathBuf,
    signals: SignalFd,
    has_ended: bool,
}

impl Scratch {
    /// Starts its daemon and waits until it answers.
    pub(super) fn start(manifest: &Manifest, deadline: Deadline, context: &Context) -> anyhow::Result<Self> {
        let program = program::daemon(&context.env)?;
        // In the folder for temporary files, whose name is short: names of sockets are.
        let dir = tempfile::Builder::new().prefix("edgeplane-probe-").tempdir();
        let dir = dir.context("cannot make a folder for the trial")?;
        let (state, runtime) = (dir.path().join("state"), dir.path().join("run"));
        let socket = runtime.join("edgeplaned.sock");
        let log = dir.path().join("daemon.log");
        let log = File::create(&log).with_context(|| format!("cannot open `{}`", log.display()))?;
        let mut command = Command::new(&program);
        command.arg("--node-name").arg(NODE_NAME);
        if is_unlimited(manifest) {
            // Only limits need them, and without them nothing of the trial is seen in the machine's hierarchy.
            command.arg("--no-cgroups");
        }
        command.env(STATE_DIR, &state).env(RUNTIME_DIR, &runtime).env_remove(SOCKET);
        command.env_remove(token::TOKEN_FILE).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        // An interrupt at the terminal is for this process, which ends the agent before the daemon.
        command.process_group(0);
        let daemon = command.spawn().with_context(|| format!("cannot run `{}`", program.display()))?;
        // Behind the start of the daemon, which would have them blocked as well.
        let signals = SignalFd::open(&[Signal::INT, Signal::TERM, Signal::HUP])?;
        let mut scratch = Self { dir: Some(dir), daemon, socket, signals, has_ended: false };
        scratch.await_answer(deadline)?;
        Ok(scratch)
    }

    fn await_answer(&mut self, deadline: Deadline) -> anyhow::Result<()> {
        loop {
            if self.ask::<CoreHealth>(&Empty {}).is_ok() {
                return Ok(());
            }
            if self.daemon.try_wait()?.is_some() || deadline.has_passed() {
                let log = self.dir.as_ref().map(|dir| dir.path().join("daemon.log"));
                let said = log.and_then(|log| std::fs::read_to_string(log).ok()).unwrap_or_default();
                let last = said.lines().rev().take(5).map(serde_json::Value::from).collect();
                let failure = Failure::new(ErrorName::Unavailable, "the daemon of the trial does not answer");
                return Err(failure.violations(last).into());
            }
            self.pause(Duration::from_millis(10))?;
        }
    }

    /// Calls a method of the node.
    pub(super) fn ask<C: Call>(&self, params: &C::Params) -> anyhow::Result<C::Result> {
        let mut node = Node::over(sock::connect(&self.socket)?, false)?;
        Answer::<C>::new(node.call(C::NAME, params, Patience::within(ANSWER_TIME))?).read()
    }

    /// Waits a little, and fails if somebody wants the trial to end.
    pub(super) fn pause(&self, time: Duration) -> anyhow::Result<()> {
        poll::wait(&mut [PollFd::new(&self.signals, PollFlags::IN)], Some(time))?;
        if self.signals.next()?.is_some() {
            return Err(Failure::new(ErrorName::Cancelled, "the trial was interrupted").into());
        }
        Ok(())
    }

    /// Ends the agent, then the daemon, and removes the folders.
    pub(super) fn end(mut self) -> anyhow::Result<()> {
        self.tear_down()
    }

    fn tear_down(&mut self) -> anyhow::Result<()> {
        if std::mem::replace(&mut self.has_ended, true) {
            return Ok(());
        }
        let is_empty = wait::until(Deadline::after(RETIRE_TIME), || self.retire_all().unwrap_or(false));
        let handle = pidfd::open(self.daemon.id());
        if let Ok(handle) = &handle {
            pidfd::send_signal(handle, Signal::TERM)?;
            pidfd::is_exited_within(handle, DAEMON_TIME)?;
        }
        // It may have ended by itself by now, and is reaped in any case.
        drop(self.daemon.kill());
        self.daemon.wait()?;
        let Some(dir) = self.dir.take() else { return Ok(()) };
        if !is_empty {
            let kept = dir.keep();
            bail!("the agent could not be ended; its node is in `{}`", kept.display());
        }
        Ok(dir.close()?)
    }

    /// Asks every agent to go; whether none is left.
    fn retire_all(&self) -> anyhow::Result<bool> {
        let agents = self.ask::<AgentList>(&ListParams::default())?.items;
        for agent in &agents {
            let name = agent.status.identities.network.name.as_str().to_owned();
            let params = ChangeParams { agent: name, reason: None };
            // What is on its way already is looked at again.
            if agent.status.phase == Phase::Quarantined {
                drop(self.ask::<AgentRelease>(&params));
            } else {
                drop(self.ask::<AgentRetire>(&params));
            }
        }
        Ok(agents.is_empty())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Nobody is left to be told.
        drop(self.tear_down());
    }
}

/// Whether nothing is to be bounded.
fn is_unlimited(manifest: &Manifest) -> bool {
    let limits = &manifest.spec.limits;
    limits.memory.is_none() && limits.pids.is_none() && limits.cpu.is_none()
}

//! A node that lives as long as a trial, as the trial sees it.
//!
//! Owns the one process that keeps it, [`super::keeper`], and the end that this process holds: with it the node ends,
//! however this process does.

use std::{
    io::{BufRead as _, BufReader, Read as _},
    os::unix::process::CommandExt as _,
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::Duration,
};

use anyhow::{Context as _, bail};
use edgeplane_manifest::Manifest;
use edgeplane_os::{
    Signal,
    poll::{self, PollFd, PollFlags},
    signals::SignalFd,
    wait::Deadline,
};
use edgeplane_types::ErrorName;
use edgeplane_wire::{
    api::Empty,
    catalogue::{Call, CoreHealth},
};

use super::keeper;
use crate::{context::Context, failure::Failure};

/// Pause between two looks at a node that does not answer yet.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Lines of the daemon's log that are shown where it does not answer.
const LOG_LINES: usize = 5;

/// The node.
pub(super) struct Scratch {
    keeper: Child,
    dir: PathBuf,
    signals: SignalFd,
}

impl Scratch {
    /// Has it started, and waits until it answers.
    pub(super) fn start(manifest: &Manifest, deadline: Deadline, context: &Context) -> anyhow::Result<Self> {
        let own = context.env.executable.as_deref().context("cannot find this program's own file")?;
        let mut command = Command::new(own);
        command.arg("__trial");
        if is_unlimited(manifest) {
            // Only limits need them, and without them nothing of the trial is seen in the machine's hierarchy.
            command.arg("--no-cgroups");
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // An interrupt at the terminal is for this process, with which the keeper ends.
        command.process_group(0);
        let keeper = command.spawn().with_context(|| format!("cannot run `{}`", own.display()))?;
        // Behind the start of the keeper, which would have them blocked as well.
        let signals = SignalFd::open(&[Signal::INT, Signal::TERM, Signal::HUP])?;
        let mut scratch = Self { keeper, dir: PathBuf::new(), signals };
        scratch.dir = scratch.place(deadline)?;
        scratch.await_answer(deadline)?;
        Ok(scratch)
    }

    /// The folder that the keeper names first.
    fn place(&mut self, deadline: Deadline) -> anyhow::Result<PathBuf> {
        let output = self.keeper.stdout.take().context("the keeper of the trial has no output")?;
        loop {
            let mut fds = [PollFd::new(&output, PollFlags::IN), PollFd::new(&self.signals, PollFlags::IN)];
            poll::wait(&mut fds, Some(deadline.remaining()))?;
            let [said, _] = &fds;
            if !said.revents().is_empty() {
                break;
            }
            self.pause(Duration::ZERO)?;
            if deadline.has_passed() {
                bail!(Failure::new(
                    ErrorName::DeadlineExceeded,
                    "what a former trial left takes too long to end"
                ));
            }
        }
        // It is written at once, so that the rest of the line does not keep anybody waiting.
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line).context("cannot read where the trial's node is")?;
        if line.is_empty() {
            return Err(self.failed());
        }
        Ok(PathBuf::from(line.trim_end_matches('\n')))
    }

    fn await_answer(&mut self, deadline: Deadline) -> anyhow::Result<()> {
        while self.ask::<CoreHealth>(&Empty {}).is_err() {
            if self.keeper.try_wait()?.is_some() || deadline.has_passed() {
                return Err(self.failed());
            }
            self.pause(LOOK_EVERY)?;
        }
        Ok(())
    }

    /// Why there is no node.
    fn failed(&mut self) -> anyhow::Error {
        // Gone with the folder if the keeper has ended.
        let log = std::fs::read_to_string(keeper::log(&self.dir)).unwrap_or_default();
        let mut lines: Vec<&str> = log.lines().rev().take(LOG_LINES).collect();
        lines.reverse();
        let said = self.end_keeper().err().map(|error| error.to_string());
        let violations = lines.into_iter().map(str::to_owned).chain(said).map(serde_json::Value::from);
        let failure = Failure::new(ErrorName::Unavailable, "the node of the trial does not answer");
        failure.violations(violations.collect()).into()
    }

    /// Calls a method of the node.
    pub(super) fn ask<C: Call>(&self, params: &C::Params) -> anyhow::Result<C::Result> {
        keeper::ask::<C>(&keeper::socket(&self.dir), params)
    }

    /// Waits a little, and fails if somebody wants the trial to end.
    pub(super) fn pause(&self, time: Duration) -> anyhow::Result<()> {
        poll::wait(&mut [PollFd::new(&self.signals, PollFlags::IN)], Some(time))?;
        if self.signals.next()?.is_some() {
            return Err(Failure::new(ErrorName::Cancelled, "the trial was interrupted").into());
        }
        Ok(())
    }

    /// Ends it, and waits until nothing of it is left.
    pub(super) fn end(mut self) -> anyhow::Result<()> {
        self.end_keeper()
    }

    fn end_keeper(&mut self) -> anyhow::Result<()> {
        drop(self.keeper.stdin.take());
        let Some(mut complaints) = self.keeper.stderr.take() else { return Ok(()) };
        let mut said = String::new();
        complaints.read_to_string(&mut said).context("cannot read how the trial ended")?;
        let status = self.keeper.wait()?;
        if !status.success() {
            bail!("{}", if said.trim().is_empty() { status.to_string() } else { said.trim().to_owned() });
        }
        Ok(())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Nobody is left to be told.
        drop(self.end_keeper());
    }
}

/// Whether nothing is to be bounded.
fn is_unlimited(manifest: &Manifest) -> bool {
    let limits = &manifest.spec.limits;
    limits.memory.is_none() && limits.pids.is_none() && limits.cpu.is_none()
}

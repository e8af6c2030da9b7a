//! The watchdog: restarts the daemon when it is killed.
//!
//! Owns one child and nothing else. A daemon that ends in good order was told to, and is left ended; one that cannot even
//! begin is given up, so that whoever starts it learns why.

use std::{
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use anyhow::Context as _;
use clap::Args;
use edgeplane_os::{
    Signal, atomic,
    dirs::{self, StateDirs},
    lock::{DirLock, LockError},
    pidfd, poll,
    poll::{PollFd, PollFlags},
    proc,
    signals::{self, SignalFd},
    wait::Deadline,
};

use super::file_log;
use crate::{command::Outcome, context::Context};

/// Pause before the first restart, and the longest between two.
const RESTART_AFTER: Duration = Duration::from_millis(100);
const RESTART_AFTER_MAX: Duration = Duration::from_secs(10);

/// A daemon that lived so long was well: the pauses begin anew.
const STABLE_AFTER: Duration = Duration::from_secs(30);

/// The first daemon that fails sooner was not able to begin.
const BEGINS_WITHIN: Duration = Duration::from_secs(3);

/// How often the log's size is looked at.
const LOOK_AT_LOG_EVERY: Duration = Duration::from_secs(60);

/// The folder in the runtime directory that only one watchdog may hold.
const FOLDER: &str = "watchdog";

/// Keep the daemon alive
#[derive(Debug, Args)]
pub(crate) struct WatchdogArgs {
    #[arg(long)]
    daemon: PathBuf,
}

/// Who the watchdog is, for whoever wants to end it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Watchdog {
    pub(crate) pid: u32,
    start_time: u64,
}

/// The watchdog of these directories, if one lives.
pub(crate) fn find(dirs: &StateDirs) -> Option<Watchdog> {
    let text = std::fs::read_to_string(pid_file(&dirs.runtime)).ok()?;
    let (pid, start_time) = text.trim().split_once(' ')?;
    let found = Watchdog { pid: pid.parse().ok()?, start_time: start_time.parse().ok()? };
    proc::is_same(found.pid, found.start_time).then_some(found)
}

/// Ends it and waits until it is gone; the daemon is left alone.
pub(crate) fn end(watchdog: Watchdog, time: Duration) -> anyhow::Result<bool> {
    let Ok(handle) = pidfd::open(watchdog.pid) else { return Ok(true) };
    // Between the look and the handle another may have got the number.
    if !proc::is_same(watchdog.pid, watchdog.start_time) {
        return Ok(true);
    }
    pidfd::send_signal(&handle, Signal::TERM)?;
    Ok(pidfd::is_exited_within(&handle, time)?)
}

fn pid_file(runtime: &Path) -> PathBuf {
    runtime.join(FOLDER).join("pid")
}

pub(crate) fn run(args: &WatchdogArgs, context: &Context) -> anyhow::Result<Outcome> {
    let dirs = context.dirs()?;
    // Away from the terminal. Who leads a group, such as a command typed by hand, cannot lead a session and stays.
    drop(signals::start_session());
    let folder = dirs.runtime.join(FOLDER);
    dirs::create_private_dir(&folder, context.env.uid)?;
    let _only_one = match DirLock::acquire(&folder) {
        Ok(lock) => lock,
        // The other one keeps the daemon alive.
        Err(LockError::Held { .. }) => return Ok(Outcome::Done),
        Err(error) => return Err(error.into()),
    };
    let signals = SignalFd::open(&[Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT])?;
    let own = proc::stat(std::process::id())?;
    let pid_file = pid_file(&dirs.runtime);
    atomic::write_atomic(&pid_file, format!("{} {}\n", own.pid, own.start_time).as_bytes(), 0o600)?;
    let watch = Watch { daemon: args.daemon.clone(), log: file_log::path(&dirs), signals };
    let result = watch.keep_alive();
    // A stale file is recognised by its start time.
    drop(std::fs::remove_file(&pid_file));
    result
}

struct Watch {
    daemon: PathBuf,
    log: PathBuf,
    signals: SignalFd,
}

/// Why a wait for the daemon was over.
enum Seen {
    Ended(std::process::ExitStatus),
    Told,
}

impl Watch {
    fn keep_alive(&self) -> anyhow::Result<Outcome> {
        let mut pause = RESTART_AFTER;
        let mut is_first = true;
        loop {
            let began_until = Deadline::after(BEGINS_WITHIN);
            let stable_from = Deadline::after(STABLE_AFTER);
            let mut child = self.spawn()?;
            let status = match self.watch(&mut child)? {
                Seen::Told => return Ok(Outcome::Done),
                Seen::Ended(status) => status,
            };
            if status.success() {
                return Ok(Outcome::Done);
            }
            if is_first && !began_until.has_passed() && status.code().is_some() {
                return Ok(Outcome::Found);
            }
            is_first = false;
            if stable_from.has_passed() {
                pause = RESTART_AFTER;
            }
            if self.is_told_within(pause)? {
                return Ok(Outcome::Done);
            }
            pause = pause.saturating_mul(2).min(RESTART_AFTER_MAX);
        }
    }

    fn spawn(&self) -> anyhow::Result<Child> {
        let log = file_log::open_for_writing(&self.log)
            .with_context(|| format!("cannot open `{}`", self.log.display()))?;
        let also = log.try_clone().with_context(|| format!("cannot open `{}`", self.log.display()))?;
        let mut command = Command::new(&self.daemon);
        command.current_dir("/").stdin(Stdio::null()).stdout(log).stderr(also);
        command.spawn().with_context(|| format!("cannot run `{}`", self.daemon.display()))
    }

    fn watch(&self, child: &mut Child) -> anyhow::Result<Seen> {
        let handle = pidfd::open(child.id())?;
        loop {
            let mut fds = [PollFd::new(&handle, PollFlags::IN), PollFd::new(&self.signals, PollFlags::IN)];
            poll::wait(&mut fds, Some(LOOK_AT_LOG_EVERY))?;
            if let Some(status) = child.try_wait()? {
                return Ok(Seen::Ended(status));
            }
            if self.is_told()? {
                return Ok(Seen::Told);
            }
            // A log that cannot be set aside goes on growing, and the daemon goes on.
            drop(file_log::rotate(&self.log, file_log::LOG_BYTES_MAX));
        }
    }

    fn is_told_within(&self, time: Duration) -> anyhow::Result<bool> {
        let until = Deadline::after(time);
        while !until.has_passed() {
            poll::wait(&mut [PollFd::new(&self.signals, PollFlags::IN)], Some(until.remaining()))?;
            if self.is_told()? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether somebody wants the watchdog to end; a closed terminal does not.
    fn is_told(&self) -> anyhow::Result<bool> {
        while let Some(arrived) = self.signals.next()? {
            if arrived.signal != Signal::HUP.as_raw() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

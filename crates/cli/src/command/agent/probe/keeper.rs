//! `edgeplane __trial`: the process that keeps a trial's node, and ends it with whoever began it.
//!
//! Owns the folder, the daemon and the end of every agent in it. Whoever began the trial holds the other end of its
//! standard input; when that is closed, even by SIGKILL, all of it is ended. What keepers that were killed themselves
//! have left is ended by the next one. It knows no manifest.

use std::{
    fs::File,
    io::{self, Read as _},
    os::unix::{fs::MetadataExt as _, process::CommandExt as _},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use anyhow::{Context as _, bail};
use clap::Args;
use edgeplane_os::{
    Signal,
    dirs::{RUNTIME_DIR, SOCKET, STATE_DIR},
    lock::{DirLock, LockError},
    pidfd,
    poll::{self, PollFd, PollFlags},
    signals::SignalFd,
    sock,
    wait::{self, Deadline},
};
use edgeplane_types::Phase;
use edgeplane_wire::{
    api::{
        Empty,
        agent::{ChangeParams, ListParams},
    },
    catalogue::{AgentList, AgentRelease, AgentRetire, Call, CoreHealth, NodeStatus, NodeStop},
};

use crate::{
    command::{Outcome, daemon::program},
    context::{Answer, Context},
    node::{Node, Patience},
    token,
};

/// How long one answer of the daemon may take.
const ANSWER_TIME: Duration = Duration::from_secs(30);

/// How long a daemon may take until it answers before its agents are ended without waiting for it any longer.
const START_TIME: Duration = Duration::from_secs(20);

/// How long the agent may take to be gone. Its manifest's grace is within it, or the daemon ends it by force.
const RETIRE_TIME: Duration = Duration::from_secs(20);

/// How long the daemon may take to end.
const DAEMON_TIME: Duration = Duration::from_secs(5);

/// The name of the node in its record.
const NODE_NAME: &str = "probe";

/// What the names of the folders begin with.
const PREFIX: &str = "edgeplane-probe-";

/// The file that says that agents of the folder have no cgroups, for whoever has to end them.
const NO_CGROUPS: &str = "no-cgroups";

/// Folders that are made before one counts as impossible to keep from others who clear up.
const FOLDERS_MAX: u32 = 8;

/// Keep the node of a trial until standard input ends
#[derive(Debug, Args)]
pub(crate) struct KeeperArgs {
    #[arg(long)]
    no_cgroups: bool,
}

/// Serves one trial: says where its node is, waits, and leaves nothing.
pub(crate) fn run(args: &KeeperArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let program = program::daemon(&context.env)?;
    let signals = SignalFd::open(&[Signal::TERM, Signal::INT, Signal::HUP])?;
    for left in stale(&std::env::temp_dir(), context.env.uid) {
        let dir = left.dir.clone();
        if let Err(error) = Place::new(left, &program).end() {
            // It is tried again with the next trial, and does not keep this one from its work.
            context.out.note(&format!("warning: a former trial in `{}`: {error:#}", dir.display()));
        }
    }
    let mut place = Place::new(Folder::make()?, &program);
    let served = place.serve(args, &signals, context);
    let ended = place.end();
    served.and(ended)?;
    Ok(Outcome::Done)
}

/// Calls a method of a trial's node.
pub(super) fn ask<C: Call>(socket: &Path, params: &C::Params) -> anyhow::Result<C::Result> {
    let mut node = Node::over(sock::connect(socket)?, false)?;
    Answer::<C>::new(node.call(C::NAME, params, Patience::within(ANSWER_TIME))?).read()
}

pub(super) fn socket(dir: &Path) -> PathBuf {
    dir.join("run").join("edgeplaned.sock")
}

pub(super) fn log(dir: &Path) -> PathBuf {
    dir.join("daemon.log")
}

/// A folder that is nobody else's as long as this process lives.
struct Folder {
    dir: PathBuf,
    _lock: DirLock,
}

impl Folder {
    /// Makes one in the folder for temporary files, whose name is short: names of sockets are.
    fn make() -> anyhow::Result<Self> {
        for _ in 0..FOLDERS_MAX {
            let made = tempfile::Builder::new().prefix(PREFIX).tempdir();
            let dir = made.context("cannot make a folder for the trial")?.keep();
            match DirLock::acquire(&dir) {
                // Between its making and its lock another trial may have taken it for one that was left.
                Ok(lock) if dir.is_dir() => return Ok(Self { dir, _lock: lock }),
                Ok(_) | Err(LockError::Held { .. }) => {}
                Err(_) if !dir.is_dir() => {}
                Err(error) => {
                    drop(std::fs::remove_dir(&dir));
                    return Err(error).context("cannot make a folder for the trial");
                }
            }
        }
        bail!("folders for the trial in `{}` are taken away again", std::env::temp_dir().display())
    }
}

/// What former trials of this user have left, without those that somebody keeps.
fn stale(temporary: &Path, uid: u32) -> Vec<Folder> {
    let Ok(entries) = std::fs::read_dir(temporary) else { return Vec::new() };
    let is_own = |path: &PathBuf| {
        // Not through a link: anybody may put one there.
        std::fs::symlink_metadata(path).is_ok_and(|found| found.is_dir() && found.uid() == uid)
    };
    let named = entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX));
    let free = named.map(|entry| entry.path()).filter(is_own).filter_map(|dir| {
        let lock = DirLock::acquire(&dir).ok()?;
        Some(Folder { dir, _lock: lock })
    });
    free.collect()
}

/// A folder with its daemon.
struct Place<'a> {
    folder: Folder,
    program: &'a Path,
    daemon: Option<Child>,
}

impl<'a> Place<'a> {
    fn new(folder: Folder, program: &'a Path) -> Self {
        Self { folder, program, daemon: None }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.dir.join(name)
    }

    fn serve(&mut self, args: &KeeperArgs, signals: &SignalFd, context: &mut Context) -> anyhow::Result<()> {
        if args.no_cgroups {
            File::create(self.path(NO_CGROUPS)).context("cannot note how the trial's node is to be")?;
        }
        self.start()?;
        context.out.line(&self.folder.dir.display().to_string())?;
        context.out.flush()?;
        self.wait(signals)
    }

    fn start(&mut self) -> anyhow::Result<()> {
        let log = log(&self.folder.dir);
        let log = File::options()
            .create(true)
            .append(true)
            .open(&log)
            .with_context(|| log.display().to_string())?;
        let mut command = Command::new(self.program);
        command.arg("--node-name").arg(NODE_NAME);
        if self.path(NO_CGROUPS).exists() {
            command.arg("--no-cgroups");
        }
        command.env(STATE_DIR, self.path("state")).env(RUNTIME_DIR, self.path("run")).env_remove(SOCKET);
        command.env_remove(token::TOKEN_FILE).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        // A signal to the keeper's group is for the keeper, which ends the agents before the daemon.
        command.process_group(0);
        let daemon = command.spawn().with_context(|| format!("cannot run `{}`", self.program.display()))?;
        self.daemon = Some(daemon);
        Ok(())
    }

    /// Waits until whoever began the trial is gone, or wants it to end, or the daemon has ended.
    fn wait(&mut self, signals: &SignalFd) -> anyhow::Result<()> {
        let Some(daemon) = &mut self.daemon else { return Ok(()) };
        let handle = pidfd::open(daemon.id())?;
        let mut stdin = io::stdin().lock();
        loop {
            let mut fds = [
                PollFd::new(&handle, PollFlags::IN),
                PollFd::new(signals, PollFlags::IN),
                PollFd::new(&stdin, PollFlags::IN),
            ];
            poll::wait(&mut fds, None)?;
            let [_, _, input] = &fds;
            let has_input = !input.revents().is_empty();
            if signals.next()?.is_some() {
                return Ok(());
            }
            if let Some(status) = daemon.try_wait()? {
                let log = std::fs::read_to_string(log(&self.folder.dir)).unwrap_or_default();
                let last = log.lines().last().unwrap_or("it said nothing");
                bail!("the daemon of the trial ended with {status}: {last}");
            }
            // Nothing is meant to be written there; what is, is passed over.
            if has_input && stdin.read(&mut [0; 64]).unwrap_or_default() == 0 {
                return Ok(());
            }
        }
    }

    /// Ends the agents, then the daemon, and removes the folder.
    fn end(mut self) -> anyhow::Result<()> {
        if !self.answers() && self.has_agents() {
            // Nobody serves what runs here: an ordinary start takes it over.
            self.start()?;
            wait::until(Deadline::after(START_TIME), || self.is_up() || self.has_ended());
        }
        let is_empty = wait::until(Deadline::after(RETIRE_TIME), || {
            self.retire_all().unwrap_or_else(|_| self.has_ended())
        });
        self.end_daemon()?;
        if !is_empty {
            bail!("the agent could not be ended; its node is in `{}`", self.folder.dir.display());
        }
        let dir = &self.folder.dir;
        std::fs::remove_dir_all(dir).with_context(|| format!("cannot remove `{}`", dir.display()))
    }

    fn is_up(&self) -> bool {
        ask::<CoreHealth>(&socket(&self.folder.dir), &Empty {}).is_ok()
    }

    /// Whether a daemon of this process has ended, or there is none.
    fn has_ended(&mut self) -> bool {
        self.daemon.as_mut().is_none_or(|daemon| !matches!(daemon.try_wait(), Ok(None)))
    }

    /// Whether a daemon answers, of this process or of another; one that was just begun is waited for.
    fn answers(&mut self) -> bool {
        wait::until(Deadline::after(START_TIME), || self.is_up() || self.has_ended()) && self.is_up()
    }

    /// Whether an agent has or had a place for its socket.
    fn has_agents(&self) -> bool {
        self.path("run/agents").read_dir().is_ok_and(|mut found| found.next().is_some())
    }

    /// Asks every agent to go; whether none is left.
    fn retire_all(&self) -> anyhow::Result<bool> {
        let socket = socket(&self.folder.dir);
        let agents = ask::<AgentList>(&socket, &ListParams::default())?.items;
        for agent in &agents {
            let name = agent.status.identities.network.name.as_str().to_owned();
            let params = ChangeParams { agent: name, reason: None };
            // What is on its way already is looked at again.
            if agent.status.phase == Phase::Quarantined {
                drop(ask::<AgentRelease>(&socket, &params));
            } else {
                drop(ask::<AgentRetire>(&socket, &params));
            }
        }
        Ok(agents.is_empty())
    }

    /// Ends the daemon, which may be that of a keeper that is no more.
    fn end_daemon(&mut self) -> anyhow::Result<()> {
        let socket = socket(&self.folder.dir);
        if let Ok(status) = ask::<NodeStatus>(&socket, &Empty {}) {
            let handle = pidfd::open(status.pid);
            // It may be gone before its answer is.
            drop(ask::<NodeStop>(&socket, &Empty {}));
            if let Ok(handle) = handle
                && !pidfd::is_exited_within(&handle, DAEMON_TIME)?
            {
                pidfd::send_signal(&handle, Signal::KILL)?;
                pidfd::is_exited_within(&handle, DAEMON_TIME)?;
            }
        }
        if let Some(daemon) = &mut self.daemon {
            // One that never answered is left with nothing to lose.
            drop(daemon.kill());
            daemon.wait()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves DRV-063.
    #[test]
    fn only_own_folders_that_nobody_keeps_are_left_ones() {
        let temporary = tempfile::tempdir().unwrap();
        let make = |name: &str| {
            let dir = temporary.path().join(name);
            std::fs::create_dir(&dir).unwrap();
            dir
        };
        let (kept, left) = (make("edgeplane-probe-kept"), make("edgeplane-probe-left"));
        make("another");
        std::os::unix::fs::symlink(make("elsewhere"), temporary.path().join("edgeplane-probe-link")).unwrap();
        std::fs::write(temporary.path().join("edgeplane-probe-file"), "").unwrap();
        let lock = DirLock::acquire(&kept).unwrap();
        let uid = std::fs::metadata(&left).unwrap().uid();
        let found: Vec<_> = stale(temporary.path(), uid).into_iter().map(|folder| folder.dir).collect();
        assert_eq!(found, [left]);
        drop(lock);
        assert_eq!(stale(temporary.path(), uid).len(), 2);
        assert_eq!(stale(temporary.path(), uid + 1).len(), 0);
    }
}

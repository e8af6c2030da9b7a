//! A client on a terminal of its own, as a person would run it.

use std::{
    ffi::{CString, OsStr},
    os::fd::{AsFd, OwnedFd},
    time::Duration,
};

use anyhow::{Context as _, bail};
use edgeplane_os::{
    Signal,
    fd::{self, Transfer},
    pidfd,
    poll::{PollFlags, is_ready},
    process::{SpawnSpec, spawn},
    pty::{Master, Size, open},
};
use rustix::fs::{OFlags, fcntl_setfl};

/// How long a client may keep silent before the measurement is given up.
const SILENCE_MAX: Duration = Duration::from_secs(20);

/// A program on a terminal. Dropping it kills the program.
#[derive(Debug)]
pub(crate) struct Terminal {
    master: Master,
    process: OwnedFd,
}

/// A program to be started on a terminal.
#[derive(Debug)]
pub(crate) struct Prepared {
    argv: Vec<CString>,
    envp: Vec<CString>,
}

impl Prepared {
    /// With the path, the language and the terminal type of this process, and `env`.
    pub(crate) fn new(argv: &[&str], env: &[(String, String)]) -> anyhow::Result<Self> {
        let own = |name: &str| Some((name.to_owned(), std::env::var(name).ok()?));
        let kept = ["PATH", "HOME", "LANG"].into_iter().filter_map(own);
        let all = kept.chain([("TERM".to_owned(), "xterm-256color".to_owned())]).chain(env.iter().cloned());
        let envp = all.map(|(name, value)| CString::new(format!("{name}={value}")));
        Ok(Self {
            argv: argv.iter().map(|word| CString::new(*word)).collect::<Result<_, _>>()?,
            envp: envp.collect::<Result<_, _>>()?,
        })
    }

    pub(crate) fn start(&self) -> anyhow::Result<Terminal> {
        let (master, slave) = open(Size { columns: 80, rows: 24 })?;
        // Readers block, as ordinary ones do; waiting with a limit is by poll.
        fcntl_setfl(&master, OFlags::RDWR)?;
        let program = self.argv.first().context("no program")?;
        let program = OsStr::new(program.to_str()?);
        let stdio = [slave.as_fd(), slave.as_fd(), slave.as_fd()];
        let path = std::env::var_os("PATH").unwrap_or_default();
        let spec = SpawnSpec {
            search_path: &path,
            controlling_tty: Some(slave.as_fd()),
            new_session: true,
            ..SpawnSpec::bare(program, &self.argv, &self.envp, stdio)
        };
        let spawned = spawn(&spec)?;
        Ok(Terminal { master, process: spawned.pidfd })
    }
}

impl Terminal {
    /// Reads until the bytes have come.
    pub(crate) fn read_until(&self, wanted: &[u8]) -> anyhow::Result<()> {
        let mut seen = Vec::new();
        let mut buffer = [0; 1 << 16];
        loop {
            if !is_ready(&self.master, PollFlags::IN, SILENCE_MAX)? {
                bail!("a client shows {:?} and not {:?}", lossy(&seen), lossy(wanted));
            }
            let count = self.read(&mut buffer)?.context("a client ended")?;
            seen.extend_from_slice(buffer.get(..count).unwrap_or_default());
            if seen.windows(wanted.len()).any(|window| window == wanted) {
                return Ok(());
            }
        }
    }

    /// Reads once, blocking; nothing once the program is gone.
    pub(crate) fn read(&self, buffer: &mut [u8]) -> anyhow::Result<Option<usize>> {
        match fd::read(&self.master, buffer)? {
            Transfer::Moved(count) => Ok(Some(count)),
            Transfer::WouldBlock => Ok(Some(0)),
            Transfer::Ended => Ok(None),
        }
    }

    /// Reads whatever comes until nothing has come for a while.
    pub(crate) fn drain(&self, quiet: Duration) -> anyhow::Result<()> {
        let mut buffer = [0; 1 << 16];
        while is_ready(&self.master, PollFlags::IN, quiet)? {
            if self.read(&mut buffer)?.is_none() {
                break;
            }
        }
        Ok(())
    }

    pub(crate) fn write(&self, bytes: &[u8]) -> anyhow::Result<()> {
        match fd::write(&self.master, bytes)? {
            Transfer::Moved(count) if count == bytes.len() => Ok(()),
            other => bail!("a client does not take its keys: {other:?}"),
        }
    }

    /// Whether this terminal itself shows what is typed; then nobody can tell who echoed.
    pub(crate) fn echoes_itself(&self) -> anyhow::Result<bool> {
        Ok(self.master.is_echo_on()?)
    }

    /// Ends the program and waits until it has.
    pub(crate) fn end(&self) {
        drop(pidfd::send_signal(&self.process, Signal::KILL));
        drop(pidfd::wait(&self.process));
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.end();
    }
}

fn lossy(bytes: &[u8]) -> String {
    let end = bytes.get(bytes.len().saturating_sub(200)..).unwrap_or_default();
    String::from_utf8_lossy(end).into_owned()
}

//! One process of a program: its start, its streams, its end.

use std::{
    env,
    ffi::{CString, NulError, OsStr, OsString},
    fs::File,
    io,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::ffi::{OsStrExt as _, OsStringExt as _},
    },
};

use edgeplane_os::{
    fd::{self, Transfer},
    group, pidfd,
    process::{SpawnError, SpawnSpec, Spawned, spawn},
    signals::Signal,
};
use edgeplane_types::{Traceparent, life::ExitStatus};

/// The variable by which a process is told the trace that it belongs to.
const TRACEPARENT: &str = "TRACEPARENT";

/// Bytes that are read at one go: what a pipe holds.
const READ_BYTES: usize = 64 << 10;

/// Bytes that are still read from each stream after the process has ended. The kernel lets nobody but root make a pipe
/// hold more, so whatever comes behind them was written by somebody that the process left behind.
const DRAIN_BYTES_MAX: usize = 1 << 20;

/// Why a process did not start.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    #[error("an argument holds a zero byte")]
    Zero(#[from] NulError),
    #[error("cannot make its streams")]
    Streams(#[source] io::Error),
    #[error("the message is too long for an argument: use `prompt: stdin` if the program reads it there")]
    TooLong,
    #[error(transparent)]
    Spawn(SpawnError),
}

/// A process that runs or has just ended.
#[derive(Debug)]
pub(crate) struct Process {
    spawned: Spawned,
    out: Option<OwnedFd>,
    err: Option<OwnedFd>,
    input: Option<(OwnedFd, Vec<u8>)>,
}

/// Which stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    Out,
    Err,
}

impl Process {
    /// Starts a command, in a session of its own and below nobody's terminal.
    pub(crate) fn start(
        command: &[String],
        path: &OsStr,
        input: Option<String>,
        trace: Option<Traceparent>,
    ) -> Result<Self, StartError> {
        let argv = command.iter().map(|word| CString::new(word.as_bytes())).collect::<Result<Vec<_>, _>>()?;
        // Of the trace that the runner itself was started in nothing is handed on: each turn has its own.
        let of_turn = trace.map(|trace| (OsString::from(TRACEPARENT), OsString::from(trace.to_string())));
        let inherited = env::vars_os().filter(|(name, _)| name != TRACEPARENT);
        let envp = inherited.chain(of_turn).map(|(name, value)| {
            let mut line = name.into_vec();
            line.push(b'=');
            line.extend(value.into_vec());
            CString::new(line)
        });
        let envp = envp.collect::<Result<Vec<_>, _>>()?;
        let (out, its_out) = fd::pipe().map_err(StartError::Streams)?;
        let (err, its_err) = fd::pipe().map_err(StartError::Streams)?;
        let (its_in, input) = match input {
            Some(text) => {
                let (its_in, end) = fd::pipe().map_err(StartError::Streams)?;
                fd::set_nonblocking(&end).map_err(StartError::Streams)?;
                (its_in, Some((end, text.into_bytes())))
            }
            None => (OwnedFd::from(File::open("/dev/null").map_err(StartError::Streams)?), None),
        };
        for end in [&out, &err] {
            fd::set_nonblocking(end).map_err(StartError::Streams)?;
        }
        let program = OsStr::from_bytes(command.first().map(String::as_bytes).unwrap_or_default());
        let stdio = [its_in.as_fd(), its_out.as_fd(), its_err.as_fd()];
        let spec = SpawnSpec {
            search_path: path,
            new_session: true,
            death_signal: Some(Signal::KILL),
            ..SpawnSpec::bare(program, &argv, &envp, stdio)
        };
        let spawned = spawn(&spec).map_err(|error| match &error {
            SpawnError::Exec { source, .. } if source.kind() == io::ErrorKind::ArgumentListTooLong => {
                StartError::TooLong
            }
            _ => StartError::Spawn(error),
        })?;
        Ok(Self { spawned, out: Some(out), err: Some(err), input })
    }

    /// A handle that is readable once it has ended.
    pub(crate) fn end(&self) -> BorrowedFd<'_> {
        self.spawned.pidfd.as_fd()
    }

    /// What it writes to.
    pub(crate) fn stream(&self, stream: Stream) -> Option<BorrowedFd<'_>> {
        let fd = match stream {
            Stream::Out => &self.out,
            Stream::Err => &self.err,
        };
        fd.as_ref().map(AsFd::as_fd)
    }

    /// What it still has to be written to.
    pub(crate) fn input(&self) -> Option<BorrowedFd<'_>> {
        self.input.as_ref().map(|(fd, _)| fd.as_fd())
    }

    /// Reads what it has written, once.
    pub(crate) fn read(&mut self, stream: Stream) -> Vec<u8> {
        let fd = match stream {
            Stream::Out => &mut self.out,
            Stream::Err => &mut self.err,
        };
        let Some(open) = fd else { return Vec::new() };
        let mut bytes = vec![0; READ_BYTES];
        match fd::read(open, &mut bytes) {
            Ok(Transfer::Moved(count)) => bytes.truncate(count),
            Ok(Transfer::WouldBlock) => bytes.clear(),
            Ok(Transfer::Ended) | Err(_) => {
                bytes.clear();
                *fd = None;
            }
        }
        bytes
    }

    /// Writes what it takes of its input, and closes it behind the last byte.
    pub(crate) fn write(&mut self) {
        let Some((fd, rest)) = &mut self.input else { return };
        match fd::write(fd, rest) {
            Ok(Transfer::Moved(count)) => drop(rest.drain(..count.min(rest.len()))),
            Ok(Transfer::WouldBlock) => return,
            // It does not want the rest.
            Ok(Transfer::Ended) | Err(_) => rest.clear(),
        }
        if rest.is_empty() {
            self.input = None;
        }
    }

    /// What it had written before its end and nobody has read yet.
    pub(crate) fn drain(&mut self, stream: Stream) -> Vec<u8> {
        let mut all = Vec::new();
        while all.len() < DRAIN_BYTES_MAX {
            let bytes = self.read(stream);
            if bytes.is_empty() {
                break;
            }
            all.extend(bytes);
        }
        all
    }

    /// Signals it and those of its group. Its number is its own until it is reaped.
    pub(crate) fn signal(&self, signal: Signal) {
        // One that has just ended needs none.
        drop(group::signal(self.spawned.pid, signal));
    }

    /// Waits for its end and says how it ended.
    pub(crate) fn reap(&self) -> ExitStatus {
        pidfd::wait(&self.spawned.pidfd).unwrap_or(ExitStatus::Unknown)
    }
}

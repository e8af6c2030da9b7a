//! The program and what connects it to the shim: a terminal or three pipes.
//!
//! Owns the descriptors, the process handle and how the program ended. It deliberately does not know its descendants:
//! see [`crate::tree`].

use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

use edgeplane_os::{
    Signal,
    fd::{self, Transfer},
    group, pidfd, proc,
    process::Spawned,
    pty::{Master, Size},
};
use edgeplane_types::life::ExitStatus;
use edgeplane_wire::shim::{OutputStream, SignalScope};

/// How often a terminal that no program has open is looked at again; one that daemonised may open it once more.
const REOPEN_US: u64 = 100_000;

/// The shim's ends of what the program reads and writes.
#[derive(Debug)]
pub(crate) enum Ends {
    /// A terminal.
    Terminal(Master),
    /// Three pipes, each until it ends.
    Pipes { input: Option<OwnedFd>, output: Option<OwnedFd>, error: Option<OwnedFd> },
}

/// What a terminal does with input; a pipe does nothing and shows nothing, and hides nothing either.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Modes {
    pub(crate) echoes: bool,
    pub(crate) collects_lines: bool,
}

/// The program.
#[derive(Debug)]
pub(crate) struct Program {
    pid: u32,
    start: u64,
    pidfd: OwnedFd,
    ends: Ends,
    /// When to look again at a terminal that nobody has open.
    look_again_us: Option<u64>,
    status: Option<ExitStatus>,
}

impl Program {
    /// Takes over a program that was just started.
    pub(crate) fn new(spawned: Spawned, ends: Ends) -> Self {
        Self {
            pid: spawned.pid,
            start: spawned.start_time,
            pidfd: spawned.pidfd,
            ends,
            look_again_us: None,
            status: None,
        }
    }

    /// Its pid.
    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// Its start in clock ticks since boot.
    pub(crate) fn start(&self) -> u64 {
        self.start
    }

    /// How it ended, if it did.
    pub(crate) fn status(&self) -> Option<ExitStatus> {
        self.status
    }

    /// Remembers how it ended: it was reaped, so its pid is no longer its own.
    pub(crate) fn ended(&mut self, status: ExitStatus) {
        self.status = Some(status);
    }

    /// Whether it has pipes instead of a terminal.
    pub(crate) fn has_pipes(&self) -> bool {
        matches!(self.ends, Ends::Pipes { .. })
    }

    /// The outputs that may have something to read.
    pub(crate) fn outputs(&self) -> [Option<(OutputStream, BorrowedFd<'_>)>; 2] {
        match &self.ends {
            Ends::Terminal(_) if self.look_again_us.is_some() => [None, None],
            Ends::Terminal(master) => [Some((OutputStream::Out, master.as_fd())), None],
            Ends::Pipes { output, error, .. } => [
                output.as_ref().map(|fd| (OutputStream::Out, fd.as_fd())),
                error.as_ref().map(|fd| (OutputStream::Err, fd.as_fd())),
            ],
        }
    }

    /// Where input goes, if it still goes anywhere.
    pub(crate) fn input(&self) -> Option<BorrowedFd<'_>> {
        match &self.ends {
            Ends::Terminal(_) if self.look_again_us.is_some() => None,
            Ends::Terminal(master) => Some(master.as_fd()),
            Ends::Pipes { input, .. } => input.as_ref().map(AsFd::as_fd),
        }
    }

    /// Reads once from an output.
    ///
    /// # Errors
    /// When reading fails for another reason than that nothing is there or will be.
    pub(crate) fn read(
        &mut self,
        stream: OutputStream,
        buffer: &mut [u8],
        now_us: u64,
    ) -> io::Result<Transfer> {
        let (slot, master) = match &mut self.ends {
            Ends::Terminal(master) => (None, Some(master)),
            Ends::Pipes { output, error, .. } => match stream {
                OutputStream::Out => (Some(output), None),
                OutputStream::Err => (Some(error), None),
            },
        };
        if let Some(master) = master {
            let result = fd::read(master.as_fd(), buffer);
            let is_unheld = matches!(result, Ok(Transfer::Ended));
            self.look_again_us = is_unheld.then(|| now_us.saturating_add(REOPEN_US));
            return result;
        }
        let Some(slot) = slot else { return Ok(Transfer::Ended) };
        let Some(pipe) = slot else { return Ok(Transfer::Ended) };
        let result = fd::read(pipe.as_fd(), buffer);
        if matches!(result, Ok(Transfer::Ended)) {
            *slot = None;
        }
        result
    }

    /// When [`Program::tick`] has something to do.
    pub(crate) fn due_us(&self) -> Option<u64> {
        self.look_again_us
    }

    /// Lets a terminal that nobody had open be polled again.
    pub(crate) fn tick(&mut self, now_us: u64) {
        if self.look_again_us.is_some_and(|at| at <= now_us) {
            self.look_again_us = None;
        }
    }

    /// Writes once to the program's input.
    ///
    /// # Errors
    /// When writing fails for another reason than that there is no room or no reader.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<Transfer> {
        match &mut self.ends {
            Ends::Terminal(master) => fd::write(master.as_fd(), bytes),
            Ends::Pipes { input, .. } => {
                let Some(pipe) = input else { return Ok(Transfer::Ended) };
                let result = fd::write(pipe.as_fd(), bytes);
                if matches!(result, Ok(Transfer::Ended)) {
                    *input = None;
                }
                result
            }
        }
    }

    /// Closes the pipe to the program; a terminal stays as it is.
    pub(crate) fn close_input(&mut self) {
        if let Ends::Pipes { input, .. } = &mut self.ends {
            *input = None;
        }
    }

    /// What the terminal does with input now.
    pub(crate) fn modes(&self) -> Modes {
        match &self.ends {
            // A terminal that does not answer is treated as the most careful one: short lines, nothing shown.
            Ends::Terminal(master) => Modes {
                echoes: master.is_echo_on().unwrap_or(false),
                collects_lines: master.is_canonical().unwrap_or(true),
            },
            Ends::Pipes { .. } => Modes { echoes: true, collects_lines: false },
        }
    }

    /// Sets the terminal's size, and says whether there is a terminal that took it.
    pub(crate) fn resize(&self, columns: u16, rows: u16) -> bool {
        match &self.ends {
            Ends::Terminal(master) => master.set_size(Size { columns, rows }).is_ok(),
            Ends::Pipes { .. } => false,
        }
    }

    /// Sends a signal; to a program that ended, none is sent.
    pub(crate) fn signal(&self, signal: Signal, scope: SignalScope) {
        if self.status.is_some() {
            return;
        }
        match scope {
            // It may have ended in this moment, which is as good.
            SignalScope::Program => drop(pidfd::send_signal(&self.pidfd, signal)),
            SignalScope::Foreground => {
                let foreground = match &self.ends {
                    Ends::Terminal(master) => master.foreground().ok().flatten(),
                    // It leads its session and thereby its group; unreaped, its number is its own.
                    Ends::Pipes { .. } => Some(self.pid),
                };
                if let Some(leader) = foreground {
                    drop(group::signal(leader, signal));
                }
            }
        }
    }

    /// Sends the signal that asks it to end, and wakes it if it is stopped, since it could not take it else.
    pub(crate) fn ask_to_end(&self, signal: Signal) {
        self.signal(signal, SignalScope::Program);
        let is_stopped = proc::stat(self.pid).is_ok_and(|found| matches!(found.state, b'T' | b't'));
        if is_stopped {
            self.signal(Signal::CONT, SignalScope::Program);
        }
    }
}

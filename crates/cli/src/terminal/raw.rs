//! Our own terminal, switched so that every key comes through, and switched back whatever happens.
//!
//! Owns its modes. It deliberately handles no signal: those arrive where the loop waits, and the loop's end drops this.

use std::{
    fs::File,
    io::{self, Write},
    os::fd::{AsFd, OwnedFd},
};

use edgeplane_os::poll::{self, PollFd, PollFlags};
use rustix::termios::{OptionalActions, Termios};

use super::filter::RESTORE;

/// A terminal in raw mode; dropping it, also in a panic, gives it back.
#[derive(Debug)]
pub(crate) struct RawTerminal {
    input: OwnedFd,
    before: Termios,
}

impl RawTerminal {
    /// Switches the terminal behind `input`.
    pub(crate) fn enter(input: impl AsFd) -> io::Result<Self> {
        let input = input.as_fd().try_clone_to_owned()?;
        let before = rustix::termios::tcgetattr(&input)?;
        let mut raw = before.clone();
        raw.make_raw();
        // Keys typed before are meant for the program too, so they are not flushed.
        rustix::termios::tcsetattr(&input, OptionalActions::Drain, &raw)?;
        Ok(Self { input, before })
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        // If the terminal is gone there is nothing to give back.
        let _gone = rustix::termios::tcsetattr(&self.input, OptionalActions::Flush, &self.before);
    }
}

/// A screen that a program's output is played on; dropping it undoes what the program switched on.
#[derive(Debug)]
pub(crate) struct Stage {
    output: File,
    is_terminal: bool,
}

impl Stage {
    pub(crate) fn of_stdout() -> io::Result<Self> {
        let output = io::stdout();
        let is_terminal = rustix::termios::isatty(&output);
        Ok(Self { output: File::from(output.as_fd().try_clone_to_owned()?), is_terminal })
    }

    /// Whether somebody looks, rather than a file or a program.
    pub(crate) fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// Columns and rows.
    pub(crate) fn size(&self) -> Option<(u16, u16)> {
        let size = rustix::termios::tcgetwinsize(&self.output).ok()?;
        (size.ws_col > 0 && size.ws_row > 0).then_some((size.ws_col, size.ws_row))
    }

    /// Writes all of `bytes` at once; a terminal that somebody made non-blocking is waited for.
    pub(crate) fn play(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.output.write(bytes) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    poll::wait(&mut [PollFd::new(&self.output, PollFlags::OUT)], None)?;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if self.is_terminal {
            let row = self.size().map_or(999, |(_columns, rows)| rows);
            let mut bytes = RESTORE.to_vec();
            bytes.extend_from_slice(format!("\x1b[{row};1H\r\n").as_bytes());
            // Whoever closed the terminal does not look any more.
            drop(self.play(&bytes));
        }
    }
}

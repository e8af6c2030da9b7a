//! Pseudo-terminals.
//!
//! Owns opening a pair and asking its line discipline. It deliberately knows no screen, no escape sequence and no
//! process: who gets the slave as controlling terminal is decided in [`crate::process`].

use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

use rustix::{
    pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, ptsname, unlockpt},
    termios::{LocalModes, Termios, Winsize, tcgetattr, tcgetpgrp, tcgetwinsize, tcsetwinsize},
};

/// Why a pseudo-terminal cannot be had or used.
#[derive(Debug, thiserror::Error)]
pub enum PtyError {
    /// No pair is left, or none may be had.
    #[error("cannot open a pseudo-terminal")]
    Open(#[source] io::Error),
    /// The slave cannot be had from the master.
    #[error("cannot open the program's side of a pseudo-terminal")]
    OpenSlave(#[source] io::Error),
    /// The size cannot be read.
    #[error("cannot read the size of a terminal")]
    GetSize(#[source] io::Error),
    /// The size stays as it was.
    #[error("cannot set the size of a terminal to {} columns and {} rows", size.columns, size.rows)]
    SetSize {
        /// What was asked for.
        size: Size,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
    /// The modes cannot be read.
    #[error("cannot read the modes of a terminal")]
    Modes(#[source] io::Error),
    /// Reads and writes would wait.
    #[error("cannot make a terminal return instead of wait")]
    Nonblocking(#[source] io::Error),
    /// The foreground group cannot be read.
    #[error("cannot read which process group a terminal serves")]
    Foreground(#[source] io::Error),
}

/// The size of a terminal in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Characters in a row.
    pub columns: u16,
    /// Rows.
    pub rows: u16,
}

impl From<Size> for Winsize {
    fn from(size: Size) -> Self {
        Self { ws_col: size.columns, ws_row: size.rows, ws_xpixel: 0, ws_ypixel: 0 }
    }
}

/// The supervisor's side of a pseudo-terminal.
#[derive(Debug)]
pub struct Master {
    fd: OwnedFd,
}

/// The program's side; give it to the child and drop it, or the master never sees the end.
#[derive(Debug)]
pub struct Slave {
    fd: OwnedFd,
}

/// Opens a pair of this size; the master does not block.
///
/// The slave is opened through the master, never by its path, and without becoming anybody's controlling terminal: a
/// session leader that opened it by path would get it and then die of its hangup.
///
/// # Errors
/// When the machine has no pseudo-terminal left.
pub fn open(size: Size) -> Result<(Master, Slave), PtyError> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let fd = openpt(flags).map_err(|source| PtyError::Open(source.into()))?;
    grantpt(&fd).and_then(|()| unlockpt(&fd)).map_err(|source| PtyError::Open(source.into()))?;
    let slave = ioctl_tiocgptpeer(&fd, flags).map_err(|source| PtyError::OpenSlave(source.into()))?;
    crate::fd::set_nonblocking(&fd).map_err(PtyError::Nonblocking)?;
    let master = Master { fd };
    master.set_size(size)?;
    Ok((master, Slave { fd: slave }))
}

impl Master {
    /// Takes a master that arrived from elsewhere, as one does after a handover.
    #[must_use]
    pub fn from_fd(fd: OwnedFd) -> Self {
        Self { fd }
    }

    /// The size that programs see.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn size(&self) -> Result<Size, PtyError> {
        let size = tcgetwinsize(&self.fd).map_err(|source| PtyError::GetSize(source.into()))?;
        Ok(Size { columns: size.ws_col, rows: size.ws_row })
    }

    /// Sets the size; a change sends the foreground programs a `SIGWINCH`.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn set_size(&self, size: Size) -> Result<(), PtyError> {
        tcsetwinsize(&self.fd, size.into())
            .map_err(|source| PtyError::SetSize { size, source: source.into() })
    }

    /// Whether the terminal shows what is typed; programs turn it off to read a secret.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn is_echo_on(&self) -> Result<bool, PtyError> {
        Ok(self.modes()?.local_modes.contains(LocalModes::ECHO))
    }

    /// Whether the terminal collects whole lines, of which it keeps at most 4,095 bytes.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn is_canonical(&self) -> Result<bool, PtyError> {
        Ok(self.modes()?.local_modes.contains(LocalModes::ICANON))
    }

    /// The process group in the foreground, if there is one.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn foreground(&self) -> Result<Option<u32>, PtyError> {
        match tcgetpgrp(&self.fd) {
            Ok(group) => Ok(u32::try_from(group.as_raw_pid()).ok()),
            // rustix reports a terminal that no session has as this.
            Err(rustix::io::Errno::OPNOTSUPP) => Ok(None),
            Err(source) => Err(PtyError::Foreground(source.into())),
        }
    }

    /// The slave's path, for people; opening it is not for this process.
    #[must_use]
    pub fn slave_name(&self) -> Option<String> {
        ptsname(&self.fd, Vec::new()).ok()?.into_string().ok()
    }

    fn modes(&self) -> Result<Termios, PtyError> {
        tcgetattr(&self.fd).map_err(|source| PtyError::Modes(source.into()))
    }
}

impl AsFd for Master {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl AsFd for Slave {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rustix::termios::{OptionalActions, tcsetattr};

    use super::*;
    use crate::{
        fd::{Transfer, read, write},
        poll::{PollFlags, is_ready},
    };

    const SIZE: Size = Size { columns: 80, rows: 24 };

    #[test]
    fn size_is_what_was_set() {
        let (master, slave) = open(SIZE).unwrap();
        assert_eq!(master.size().unwrap(), SIZE);
        master.set_size(Size { columns: 132, rows: 50 }).unwrap();
        let seen = tcgetwinsize(&slave).unwrap();
        assert_eq!((seen.ws_col, seen.ws_row), (132, 50));
        assert!(master.slave_name().unwrap().starts_with("/dev/pts/"));
    }

    #[test]
    fn modes_of_the_slave_show_at_the_master() {
        let (master, slave) = open(SIZE).unwrap();
        assert!(master.is_echo_on().unwrap() && master.is_canonical().unwrap());
        let mut modes = tcgetattr(&slave).unwrap();
        modes.local_modes.remove(LocalModes::ECHO | LocalModes::ICANON);
        tcsetattr(&slave, OptionalActions::Now, &modes).unwrap();
        assert!(!master.is_echo_on().unwrap() && !master.is_canonical().unwrap());
    }

    #[test]
    fn bytes_pass_and_the_last_slave_ends_the_master() {
        let (master, slave) = open(SIZE).unwrap();
        let mut bytes = [0; 16];
        assert_eq!(read(&master, &mut bytes).unwrap(), Transfer::WouldBlock);
        write(&slave, b"hi").unwrap();
        assert!(is_ready(&master, PollFlags::IN, Duration::from_secs(10)).unwrap());
        assert_eq!(read(&master, &mut bytes).unwrap(), Transfer::Moved(2));
        drop(slave);
        assert_eq!(read(&master, &mut bytes).unwrap(), Transfer::Ended);
    }

    #[test]
    fn terminal_without_a_session_has_no_foreground() {
        let (master, _slave) = open(SIZE).unwrap();
        assert_eq!(master.foreground().unwrap(), None);
    }
}

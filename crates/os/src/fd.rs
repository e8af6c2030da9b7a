//! Descriptors as such: taking over inherited ones, and plain reads and writes that report what happened.
//!
//! Owns the step from a number on a command line to an owned descriptor. It deliberately knows nothing of what the
//! descriptor is.
#![expect(unsafe_code, reason = "an inherited descriptor is a bare number until somebody vouches for it")]

use std::{
    io,
    os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd},
};

use rustix::{
    fs::{OFlags, fcntl_getfl, fcntl_setfl},
    io::{Errno, FdFlags, fcntl_getfd, fcntl_setfd},
};

/// Why an inherited descriptor cannot be taken over.
#[derive(Debug, thiserror::Error)]
pub enum FdError {
    /// The number is one of the three standard streams or negative.
    #[error("descriptor {number} cannot be inherited: it must be 3 or more")]
    Reserved {
        /// What was asked for.
        number: i32,
    },
    /// Nothing is open there.
    #[error("cannot inspect inherited descriptor {number}")]
    Inspect {
        /// What was asked for.
        number: i32,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
    /// This process opened it or took it over before.
    #[error("descriptor {number} was not inherited: somebody in this process owns it")]
    Owned {
        /// What was asked for.
        number: i32,
    },
}

/// Takes over descriptor `number`, which the parent process left open for this one.
///
/// Invariant: a descriptor that this process opened itself, or took over before, is marked close-on-exec, and an
/// inherited one cannot be. The mark is therefore what tells whether somebody owns the number.
///
/// # Errors
/// When the number is a standard stream, not open, or not inherited.
pub fn take_inherited(number: i32) -> Result<OwnedFd, FdError> {
    if number < 3 {
        return Err(FdError::Reserved { number });
    }
    let inspect = |source: Errno| FdError::Inspect { number, source: source.into() };
    // SAFETY: the number is not -1, and the borrow is used for two fcntl calls only; if nothing is open there the first
    // fails with EBADF and no descriptor is touched.
    let borrowed = unsafe { BorrowedFd::borrow_raw(number) };
    let flags = fcntl_getfd(borrowed).map_err(inspect)?;
    if flags.contains(FdFlags::CLOEXEC) {
        return Err(FdError::Owned { number });
    }
    fcntl_setfd(borrowed, flags | FdFlags::CLOEXEC).map_err(inspect)?;
    // SAFETY: the descriptor is open, and by the invariant above nothing in this process owns it; marking it makes a
    // second call fail, so the result is its only owner.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// What a read or write on a descriptor came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transfer {
    /// This many bytes moved.
    Moved(usize),
    /// Nothing can move now; poll for it.
    WouldBlock,
    /// The other side is gone: end of file, `EIO` of a terminal without programs, broken pipe or reset.
    Ended,
}

/// Reads once, retrying interruptions.
///
/// # Errors
/// When the read fails for any reason but those that [`Transfer`] names.
pub fn read(fd: impl AsFd, bytes: &mut [u8]) -> io::Result<Transfer> {
    let result = rustix::io::retry_on_intr(|| rustix::io::read(&fd, &mut *bytes));
    transfer(result).map(|moved| if moved == Transfer::Moved(0) { Transfer::Ended } else { moved })
}

/// Writes once, retrying interruptions; the caller must have `SIGPIPE` ignored.
///
/// # Errors
/// When the write fails for any reason but those that [`Transfer`] names.
pub fn write(fd: impl AsFd, bytes: &[u8]) -> io::Result<Transfer> {
    transfer(rustix::io::retry_on_intr(|| rustix::io::write(&fd, bytes)))
}

fn transfer(result: Result<usize, Errno>) -> io::Result<Transfer> {
    match result {
        Ok(count) => Ok(Transfer::Moved(count)),
        Err(Errno::AGAIN) => Ok(Transfer::WouldBlock),
        Err(Errno::IO | Errno::PIPE | Errno::CONNRESET) => Ok(Transfer::Ended),
        Err(other) => Err(other.into()),
    }
}

/// Makes reads and writes on `fd` return instead of wait.
///
/// # Errors
/// When the kernel refuses, which it does only for a bad descriptor.
pub fn set_nonblocking(fd: impl AsFd) -> io::Result<()> {
    let flags = fcntl_getfl(&fd)?;
    Ok(fcntl_setfl(&fd, flags | OFlags::NONBLOCK)?)
}

/// A pair of pipe ends: the one to read from, the one to write to; neither is inherited.
///
/// # Errors
/// When the process or the machine has no descriptor left.
pub fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?)
}

#[cfg(test)]
mod tests {
    use std::os::fd::{AsRawFd, IntoRawFd};

    use super::*;

    #[test]
    fn inherited_descriptor_is_taken_once() {
        let (reader, _writer) = pipe().unwrap();
        let number = reader.as_raw_fd();
        assert!(matches!(take_inherited(number), Err(FdError::Owned { .. })), "ours, not inherited");
        // As it would have come from a parent: without the mark and without an owner.
        fcntl_setfd(&reader, FdFlags::empty()).unwrap();
        let number = reader.into_raw_fd();
        let taken = take_inherited(number).unwrap();
        assert!(matches!(take_inherited(number), Err(FdError::Owned { .. })));
        assert_eq!(taken.as_raw_fd(), number);
    }

    #[test]
    fn standard_streams_and_closed_numbers_are_refused() {
        assert!(matches!(take_inherited(-1), Err(FdError::Reserved { .. })));
        assert!(matches!(take_inherited(2), Err(FdError::Reserved { .. })));
        assert!(matches!(take_inherited(900_000), Err(FdError::Inspect { .. })));
    }

    #[test]
    fn transfers_say_what_happened() {
        let (reader, writer) = pipe().unwrap();
        set_nonblocking(&reader).unwrap();
        let mut bytes = [0; 8];
        assert_eq!(read(&reader, &mut bytes).unwrap(), Transfer::WouldBlock);
        assert_eq!(write(&writer, b"abc").unwrap(), Transfer::Moved(3));
        assert_eq!(read(&reader, &mut bytes).unwrap(), Transfer::Moved(3));
        drop(writer);
        assert_eq!(read(&reader, &mut bytes).unwrap(), Transfer::Ended);
    }
}

//! Shims out of one that runs already.
//!
//! The machine's start of a program is the greater part of a shim's birth: loading it, and what its C library asks the
//! processor. This process has done both; each shim is a copy of it, born in its own cgroup as the daemon's child. It
//! holds no secret, no epoch and no state between two births, and it ends with the daemon.
//!
//! A request is one message, NAME, EPOCH and MARK each ended by a zero byte, with the shim's connection and the
//! directory of its cgroup. The answer is one message: the pid in four bytes and the process's handle, or the error
//! number in four bytes alone.

use std::{
    io,
    os::{
        fd::{AsFd, OwnedFd},
        unix::net::UnixStream,
    },
};

use edgeplane_os::{
    process::{Sibling, fork_sibling},
    sock::{PassError, recv_with_fds, send_with_fds},
    title::Title,
};

/// Longest request: a name, an epoch and a mark are far shorter.
const REQUEST_BYTES_MAX: usize = 512;

/// Serves requests until the daemon is gone: `None` then. In a process that it made: its connection.
///
/// # Errors
/// When the daemon's connection fails, or a request is none.
pub(crate) fn tend(control: OwnedFd) -> io::Result<Option<UnixStream>> {
    let title = Title::find()?;
    let mut buffer = [0; REQUEST_BYTES_MAX];
    loop {
        let received = recv_with_fds(&control, &mut buffer).map_err(io_error)?;
        if received.bytes == 0 {
            return Ok(None);
        }
        let words = buffer.get(..received.bytes).unwrap_or_default();
        let mut words = words.split(|byte| *byte == 0);
        let (Some(name), Some(epoch), Some(mark)) = (words.next(), words.next(), words.next()) else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        let Ok([link, cgroup]) = <[OwnedFd; 2]>::try_from(received.fds) else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        match fork_sibling(Some(cgroup.as_fd())) {
            Ok(Sibling::New) => {
                drop(control);
                title.set(&[b"edgeplane-shim", b"run", name, epoch], &[mark]);
                return Ok(Some(UnixStream::from(link)));
            }
            Ok(Sibling::Maker { pid, pidfd }) => {
                send_with_fds(&control, &pid.to_ne_bytes(), &[pidfd.as_fd()]).map_err(io_error)?;
            }
            Err(error) => {
                let number = error.raw_os_error().unwrap_or(0);
                send_with_fds(&control, &number.to_ne_bytes(), &[]).map_err(io_error)?;
            }
        }
    }
}

fn io_error(error: PassError) -> io::Error {
    match error {
        PassError::Send(source) | PassError::Receive(source) => source,
        PassError::TooMany { .. } | PassError::Cut => io::Error::other(error),
    }
}

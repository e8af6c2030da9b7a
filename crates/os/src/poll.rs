//! Waiting for descriptors.
//!
//! Owns one call, `poll`, with a timeout that cannot overflow. It deliberately keeps no registration: the shim's loop
//! builds its small list anew each time.

use std::{io, os::fd::AsFd, time::Duration};

use rustix::{io::Errno, time::Timespec};

pub use rustix::event::{PollFd, PollFlags};

/// Waits until one of `fds` is ready or the time is over, and says how many are ready; `None` waits for ever.
///
/// An interruption by a signal counts as nobody ready.
///
/// # Errors
/// When the kernel refuses the list.
pub fn wait(fds: &mut [PollFd<'_>], timeout: Option<Duration>) -> io::Result<usize> {
    let timeout = timeout.map(|time| Timespec {
        tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(time.subsec_nanos()),
    });
    match rustix::event::poll(fds, timeout.as_ref()) {
        Ok(count) => Ok(count),
        Err(Errno::INTR) => Ok(0),
        Err(other) => Err(other.into()),
    }
}

/// Whether one of `events` is there within the time.
///
/// # Errors
/// When the kernel refuses.
pub fn is_ready(fd: impl AsFd, events: PollFlags, timeout: Duration) -> io::Result<bool> {
    Ok(wait(&mut [PollFd::new(&fd, events)], Some(timeout))? > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fd;

    #[test]
    fn descriptor_becomes_ready_when_bytes_arrive() {
        let (reader, writer) = fd::pipe().unwrap();
        assert!(!is_ready(&reader, PollFlags::IN, Duration::ZERO).unwrap());
        fd::write(&writer, b"x").unwrap();
        assert!(is_ready(&reader, PollFlags::IN, Duration::MAX).unwrap());
    }
}

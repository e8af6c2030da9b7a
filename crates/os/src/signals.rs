//! Signals of this process, and the few switches a supervisor sets on itself.
//!
//! Owns blocking, the signal descriptor, subreaping, dumpability and sessions. It deliberately installs no handler.
#![expect(unsafe_code, reason = "signal sets and signalfd have no safe call")]

use std::{
    io,
    mem::MaybeUninit,
    os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd},
};

use rustix::process::{DumpableBehavior, getpid, set_child_subreaper, set_dumpable_behavior};

pub use rustix::process::Signal;

/// Why a switch of this process could not be set.
#[derive(Debug, thiserror::Error)]
pub enum SignalError {
    /// The signals stay as they were.
    #[error("cannot change which signals are blocked")]
    Block(#[source] io::Error),
    /// No descriptor for the signals.
    #[error("cannot open a signal descriptor")]
    Open(#[source] io::Error),
    /// The descriptor does not answer.
    #[error("cannot read the signal descriptor")]
    Read(#[source] io::Error),
    /// Orphans go to another process.
    #[error("cannot become the reaper of orphans")]
    Subreaper(#[source] io::Error),
    /// The process can be traced and dumped.
    #[error("cannot protect this process from tracing")]
    Dumpable(#[source] io::Error),
    /// The process stays in its session.
    #[error("cannot start a session")]
    Session(#[source] io::Error),
    /// The signal still ends the process.
    #[error("cannot ignore signal {signal}")]
    Ignore {
        /// Its number.
        signal: i32,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
}

/// Signals that arrive as reads of a descriptor; they are blocked in the calling thread and every later one.
#[derive(Debug)]
pub struct SignalFd {
    fd: OwnedFd,
}

/// One signal that arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrived {
    /// Its number.
    pub signal: i32,
    /// Who sent it; zero for the kernel and for senders outside this process's namespace.
    pub sender: u32,
}

impl SignalFd {
    /// Blocks `signals` and opens a descriptor that reads them; call it before any thread is started.
    ///
    /// # Errors
    /// When the kernel refuses; the signals are then not blocked.
    pub fn open(signals: &[Signal]) -> Result<Self, SignalError> {
        let set = set_of(signals);
        // SAFETY: `set` is initialised and outlives the call; -1 asks for a new descriptor.
        let fd = unsafe { libc::signalfd(-1, &raw const set, libc::SFD_NONBLOCK | libc::SFD_CLOEXEC) };
        if fd < 0 {
            return Err(SignalError::Open(io::Error::last_os_error()));
        }
        // SAFETY: the kernel just opened it, and nobody else knows the number.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        // SAFETY: `set` is initialised; the old mask is not asked for.
        let result = unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()) };
        if result != 0 {
            return Err(SignalError::Block(io::Error::from_raw_os_error(result)));
        }
        Ok(Self { fd })
    }

    /// The next signal that waits, if any.
    ///
    /// # Errors
    /// When the descriptor fails.
    pub fn next(&self) -> Result<Option<Arrived>, SignalError> {
        let mut bytes = [0; size_of::<libc::signalfd_siginfo>()];
        let count = match rustix::io::retry_on_intr(|| rustix::io::read(&self.fd, &mut bytes)) {
            Ok(count) => count,
            Err(rustix::io::Errno::AGAIN) => return Ok(None),
            Err(source) => return Err(SignalError::Read(source.into())),
        };
        if count != bytes.len() {
            return Err(SignalError::Read(io::ErrorKind::UnexpectedEof.into()));
        }
        // SAFETY: the buffer has the structure's size, the kernel filled all of it, and every bit pattern of its integer
        // fields is valid; the read copes with the buffer's alignment.
        let info = unsafe { bytes.as_ptr().cast::<libc::signalfd_siginfo>().read_unaligned() };
        Ok(Some(Arrived { signal: i32::try_from(info.ssi_signo).unwrap_or(0), sender: info.ssi_pid }))
    }
}

impl AsFd for SignalFd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

fn set_of(signals: &[Signal]) -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: the pointer is to a set that may be written.
    let _always_zero = unsafe { libc::sigemptyset(set.as_mut_ptr()) };
    // SAFETY: sigemptyset initialised it and cannot fail for a valid pointer.
    let mut set = unsafe { set.assume_init() };
    for signal in signals {
        // SAFETY: the set is initialised, and a `Signal` is a number the kernel knows.
        let _always_zero = unsafe { libc::sigaddset(&raw mut set, signal.as_raw()) };
    }
    set
}

/// Lets every signal reach this process, whatever its parent had blocked; call it before any thread is started.
///
/// # Errors
/// When the kernel refuses.
pub fn unblock_all() -> Result<(), SignalError> {
    let none = set_of(&[]);
    // SAFETY: the set is initialised; the old mask is not asked for.
    let result = unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut()) };
    if result != 0 {
        return Err(SignalError::Block(io::Error::from_raw_os_error(result)));
    }
    Ok(())
}

/// Lets this process get writes to closed pipes as errors instead of ending.
///
/// # Errors
/// When the kernel refuses.
pub fn ignore_sigpipe() -> Result<(), SignalError> {
    // SAFETY: ignoring a signal installs no handler, so no code can run in its context.
    let old = unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
    if old == libc::SIG_ERR {
        return Err(SignalError::Ignore { signal: libc::SIGPIPE, source: io::Error::last_os_error() });
    }
    Ok(())
}

/// Makes orphans below this process its children, so that it can reap them.
///
/// # Errors
/// When the kernel refuses.
pub fn become_subreaper() -> Result<(), SignalError> {
    set_child_subreaper(Some(getpid())).map_err(|source| SignalError::Subreaper(source.into()))
}

/// Keeps processes of the same user from tracing this one, reading its memory or dumping its core.
///
/// # Errors
/// When the kernel refuses.
pub fn forbid_tracing() -> Result<(), SignalError> {
    set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .map_err(|source| SignalError::Dumpable(source.into()))
}

/// Makes this process leader of a new session without a controlling terminal.
///
/// # Errors
/// When it already leads a process group.
pub fn start_session() -> Result<(), SignalError> {
    rustix::process::setsid().map(drop).map_err(|source| SignalError::Session(source.into()))
}

/// The signal with this number, if it is one of the named ones.
#[must_use]
pub fn from_number(number: i32) -> Option<Signal> {
    Signal::from_named_raw(number)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rustix::process::{getpid, kill_process};

    use super::*;
    use crate::poll::{PollFlags, is_ready};

    #[test]
    fn blocked_signal_arrives_through_the_descriptor() {
        // To this thread only: another test's thread does not have it blocked and would be ended by it.
        let signals = SignalFd::open(&[Signal::USR2]).unwrap();
        assert_eq!(signals.next().unwrap(), None);
        // SAFETY: raises in the calling thread a signal that is blocked there.
        assert_eq!(unsafe { libc::raise(libc::SIGUSR2) }, 0);
        assert!(is_ready(&signals, PollFlags::IN, Duration::from_secs(10)).unwrap());
        let arrived = signals.next().unwrap().unwrap();
        assert_eq!(arrived, Arrived { signal: libc::SIGUSR2, sender: std::process::id() });
    }

    #[test]
    fn ignored_sigpipe_does_not_end_the_process() {
        ignore_sigpipe().unwrap();
        kill_process(getpid(), Signal::PIPE).unwrap();
    }

    #[test]
    fn this_process_becomes_the_reaper_of_orphans() {
        become_subreaper().unwrap();
        assert!(rustix::process::child_subreaper().unwrap().is_some());
    }

    #[test]
    fn only_named_signals_have_numbers() {
        assert_eq!(from_number(15), Some(Signal::TERM));
        assert_eq!(from_number(0), None);
        assert_eq!(from_number(1_000), None);
    }
}

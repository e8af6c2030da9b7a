//! Processes by descriptor: a handle that never means another process.
//!
//! Owns opening, signalling, waiting and the kernel's information about a pidfd. It deliberately knows no tree: see
//! [`crate::proc`] and [`crate::cgroup`].
#![expect(unsafe_code, reason = "PIDFD_GET_INFO has no safe call")]

use std::{
    io,
    os::fd::{AsFd, AsRawFd, OwnedFd},
    time::Duration,
};

use edgeplane_types::life::ExitStatus;
use rustix::{
    io::Errno,
    process::{Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, WaitIdStatus, WaitOptions, WaitStatus},
};

use crate::poll::{PollFlags, is_ready};

/// Why something with a process failed.
#[derive(Debug, thiserror::Error)]
pub enum PidfdError {
    /// There is no such process, or no longer.
    #[error("process {pid} does not exist")]
    Gone {
        /// Its number.
        pid: u32,
    },
    /// No handle for it.
    #[error("cannot open a handle of process {pid}")]
    Open {
        /// Its number.
        pid: u32,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
    /// The signal was not sent.
    #[error("cannot send signal {signal}")]
    Signal {
        /// Its number.
        signal: i32,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
    /// Whether the process has ended is not known.
    #[error("cannot poll a process")]
    Poll(#[source] io::Error),
    /// How the process ended is not known.
    #[error("cannot wait for a process")]
    Wait(#[source] io::Error),
}

/// Opens a handle of `pid`; check the start time afterwards, since the number may mean somebody else by now.
///
/// # Errors
/// When it does not exist or may not be had.
pub fn open(pid: u32) -> Result<OwnedFd, PidfdError> {
    let number = number(pid).ok_or(PidfdError::Gone { pid })?;
    rustix::process::pidfd_open(number, PidfdFlags::empty()).map_err(|source| match source {
        Errno::SRCH => PidfdError::Gone { pid },
        other => PidfdError::Open { pid, source: other.into() },
    })
}

fn number(pid: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(pid).ok()?)
}

/// Sends `signal`, and says whether there was still a process to take it.
///
/// # Errors
/// When the caller may not signal it.
pub fn send_signal(pidfd: impl AsFd, signal: Signal) -> Result<bool, PidfdError> {
    match rustix::process::pidfd_send_signal(pidfd, signal) {
        Ok(()) => Ok(true),
        Err(Errno::SRCH) => Ok(false),
        Err(source) => Err(PidfdError::Signal { signal: signal.as_raw(), source: source.into() }),
    }
}

/// Whether the process has ended, be it reaped or not.
///
/// # Errors
/// When the descriptor is none of a process.
pub fn is_exited(pidfd: impl AsFd) -> Result<bool, PidfdError> {
    is_exited_within(pidfd, Duration::ZERO)
}

/// Whether the process ends within the time.
///
/// # Errors
/// When the descriptor is none of a process.
pub fn is_exited_within(pidfd: impl AsFd, time: Duration) -> Result<bool, PidfdError> {
    is_ready(pidfd, PollFlags::IN, time).map_err(PidfdError::Poll)
}

/// Waits for this child to end, reaps it, and says how it ended.
///
/// # Errors
/// When it is not a child of this process or was reaped before.
pub fn wait(pidfd: impl AsFd) -> Result<ExitStatus, PidfdError> {
    let wait = || rustix::process::waitid(WaitId::PidFd(pidfd.as_fd()), WaitIdOptions::EXITED);
    match rustix::io::retry_on_intr(wait) {
        Ok(Some(status)) => Ok(status_of(&status)),
        Ok(None) => Ok(ExitStatus::Unknown),
        Err(source) => Err(PidfdError::Wait(source.into())),
    }
}

fn status_of(status: &WaitIdStatus) -> ExitStatus {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => ExitStatus::Code(code),
        (None, Some(signal)) => ExitStatus::Signal(signal),
        (None, None) => ExitStatus::Unknown,
    }
}

/// What a look for dead children found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reaped {
    /// This one had ended and is now gone.
    Child {
        /// Its number, free for reuse from now on.
        pid: u32,
        /// How it ended.
        status: ExitStatus,
    },
    /// There are children, and all of them run.
    NoneReady,
    /// There are no children.
    NoChildren,
}

/// Reaps one dead child without waiting; call it until there is none, since signals of several deaths merge into one.
///
/// # Errors
/// When the kernel refuses, which it has no reason for.
pub fn reap_any() -> Result<Reaped, PidfdError> {
    match rustix::io::retry_on_intr(|| rustix::process::wait(WaitOptions::NOHANG)) {
        Ok(Some((pid, status))) => Ok(Reaped::Child {
            pid: u32::try_from(pid.as_raw_pid()).unwrap_or(0),
            status: status_of_wait(status),
        }),
        Ok(None) => Ok(Reaped::NoneReady),
        Err(Errno::CHILD) => Ok(Reaped::NoChildren),
        Err(source) => Err(PidfdError::Wait(source.into())),
    }
}

fn status_of_wait(status: WaitStatus) -> ExitStatus {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => ExitStatus::Code(code),
        (None, Some(signal)) => ExitStatus::Signal(signal),
        (None, None) => ExitStatus::Unknown,
    }
}

/// What the kernel keeps about a process behind its handle; each part is there only if the kernel gave it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Info {
    /// Its number and its parent's, while it is not reaped; the parent is zero outside the namespace.
    pub pids: Option<(u32, u32)>,
    /// Its effective user and group, while it is not reaped.
    pub owner: Option<(u32, u32)>,
    /// Its cgroup on the v2 hierarchy; also after it was reaped, on kernels that keep it (6.15 and later).
    pub cgroup_id: Option<u64>,
    /// How it ended, once it was reaped.
    pub exit: Option<ExitStatus>,
}

/// Asks the kernel about the process behind a handle; `None` where it does not know the question or the answer is
/// gone, as with a reaped process before kernel 6.15.
#[must_use]
pub fn info(pidfd: impl AsFd) -> Option<Info> {
    let asked =
        libc::PIDFD_INFO_PID | libc::PIDFD_INFO_CREDS | libc::PIDFD_INFO_CGROUPID | libc::PIDFD_INFO_EXIT;
    let mut raw = RawInfo { mask: u64::from(asked), ..RawInfo::default() };
    // SAFETY: the structure is writable, initialised, and of the size that the request's number encodes.
    let result = unsafe { libc::ioctl(pidfd.as_fd().as_raw_fd(), libc::PIDFD_GET_INFO, &raw mut raw) };
    if result != 0 {
        return None;
    }
    let has = |bit: u32| raw.mask & u64::from(bit) != 0;
    // A reaped process's numbers are zero, and so is the user of one that nothing is known of.
    let is_known = raw.pid != 0;
    Some(Info {
        pids: (has(libc::PIDFD_INFO_PID) && is_known).then_some((raw.tgid, raw.ppid)),
        owner: (has(libc::PIDFD_INFO_CREDS) && is_known).then_some((raw.euid, raw.egid)),
        cgroup_id: (has(libc::PIDFD_INFO_CGROUPID) && raw.cgroupid != 0).then_some(raw.cgroupid),
        exit: has(libc::PIDFD_INFO_EXIT).then(|| decode_exit(raw.exit_code)),
    })
}

/// The kernel's `struct pidfd_info`, first version; libc's cannot be made by literal.
#[repr(C)]
#[derive(Default)]
struct RawInfo {
    mask: u64,
    cgroupid: u64,
    pid: u32,
    tgid: u32,
    ppid: u32,
    ruid: u32,
    rgid: u32,
    euid: u32,
    egid: u32,
    suid: u32,
    sgid: u32,
    fsuid: u32,
    fsgid: u32,
    exit_code: i32,
}

const _: () = assert!(size_of::<RawInfo>() == size_of::<libc::pidfd_info>());

/// The kernel's exit code is the status word of `wait`.
fn decode_exit(word: i32) -> ExitStatus {
    match (libc::WIFEXITED(word), libc::WIFSIGNALED(word)) {
        (true, _) => ExitStatus::Code(libc::WEXITSTATUS(word)),
        (false, true) => ExitStatus::Signal(libc::WTERMSIG(word)),
        (false, false) => ExitStatus::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_handle_tells_about_this_process() {
        let me = open(std::process::id()).unwrap();
        assert!(!is_exited(&me).unwrap());
        let Some(info) = info(&me) else {
            crate::testing::skip("handle information", "this kernel does not answer PIDFD_GET_INFO");
            return;
        };
        assert_eq!(info.pids, Some((std::process::id(), std::os::unix::process::parent_id())));
        assert_eq!(info.owner.unwrap().0, rustix::process::geteuid().as_raw());
        assert_eq!(info.exit, None);
    }

    #[test]
    fn numbers_that_cannot_be_processes_are_gone() {
        for pid in [0, u32::MAX, 2_000_000_000] {
            assert!(matches!(open(pid), Err(PidfdError::Gone { .. })), "{pid}");
        }
    }
}

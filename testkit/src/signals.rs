//! Signals for processes that a test knows, and whether they are still there.

use edgeplane_os::{Signal, pidfd, proc};

use crate::wait::eventually;

/// Sends a signal; a process that has ended already gets none.
pub fn send(pid: u32, signal: Signal) {
    if let Ok(process) = pidfd::open(pid) {
        drop(pidfd::send_signal(&process, signal));
    }
}

/// Whether a process lives. A zombie does not.
#[must_use]
pub fn is_alive(pid: u32) -> bool {
    proc::stat(pid).is_ok_and(|stat| stat.is_alive())
}

/// Kills processes, all before any is waited for, and waits until none lives.
///
/// # Panics
/// If one does not end.
pub fn kill(pids: &[u32]) {
    for pid in pids {
        send(*pid, Signal::KILL);
    }
    eventually("killed processes end", || pids.iter().all(|pid| !is_alive(*pid)));
}

//! A process that goes on where its maker stands, as a child of its maker's parent.
//!
//! Owns the one fork of the workspace. A program start costs its loading and its C library's own start; a process that
//! did both once and forks saves the next ones that. It deliberately starts no program: see [`super::spawn`].
#![expect(unsafe_code, reason = "no library makes siblings in a cgroup")]

use std::{
    io,
    os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd},
};

use super::vfork::{CLONE_INTO_CGROUP, CloneArgs};

/// What a fork is to each side of it.
#[derive(Debug)]
pub enum Sibling {
    /// This is the new process.
    New,
    /// This is the process that made it.
    Maker {
        /// The new one's number.
        pid: u32,
        /// A handle of it.
        pidfd: OwnedFd,
    },
}

/// Makes a copy of this process that is its sibling: a child of its parent, which is the one to reap it.
///
/// The copy has the same memory, descriptors, signal mask and handlers, and is born in `cgroup` if one is given.
///
/// # Errors
/// When this process has other threads, whose locks the copy would find held for ever, or the kernel makes none.
pub fn fork_sibling(cgroup: Option<BorrowedFd<'_>>) -> io::Result<Sibling> {
    if std::fs::read_dir("/proc/self/task")?.count() != 1 {
        return Err(io::Error::other("a process with several threads is not copied"));
    }
    let mut pidfd: i32 = -1;
    let mut arguments = CloneArgs {
        // The end of a sibling is announced as this process's own is, so no signal is named.
        flags: libc::CLONE_PARENT as u64 | libc::CLONE_PIDFD as u64,
        pidfd: (&raw mut pidfd).expose_provenance() as u64,
        ..CloneArgs::default()
    };
    if let Some(cgroup) = cgroup {
        arguments.flags |= CLONE_INTO_CGROUP;
        arguments.cgroup = u64::try_from(cgroup.as_raw_fd()).unwrap_or(u64::MAX);
    }
    // SAFETY: memory is not shared, so the new process returns here on a copy of this stack; this is the only thread,
    // so no lock of the C library or of Rust is held by one that is not copied. The arguments outlive the call.
    let result = unsafe { libc::syscall(libc::SYS_clone3, &raw const arguments, size_of::<CloneArgs>()) };
    match u32::try_from(result) {
        Ok(0) => Ok(Sibling::New),
        Ok(pid) if pidfd >= 0 => {
            // SAFETY: the kernel opened it for this call, close-on-exec, and nobody else knows the number.
            Ok(Sibling::Maker { pid, pidfd: unsafe { OwnedFd::from_raw_fd(pidfd) } })
        }
        // Unreachable: the kernel writes the handle whenever it makes a process with this flag.
        Ok(_) => Err(io::ErrorKind::Unsupported.into()),
        Err(_negative) => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn process_with_several_threads_is_not_copied() {
        let (go, wait) = std::sync::mpsc::channel::<()>();
        let other = std::thread::spawn(move || wait.recv());
        assert!(fork_sibling(None).is_err());
        drop(go);
        assert!(other.join().unwrap().is_err());
    }
}

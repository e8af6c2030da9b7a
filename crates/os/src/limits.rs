//! Resource limits of processes.
//!
//! Owns the limits of this process. Those of a child travel in [`crate::process::SpawnSpec`] and are set in the child.

use std::io;

use rustix::{
    io::fcntl_dupfd_cloexec,
    process::{Resource as Kind, Rlimit, getrlimit, setrlimit},
};

/// What a limit is about.
pub use rustix::process::Resource;

/// One limit; `None` is without bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// What is limited.
    pub resource: Resource,
    /// What counts now.
    pub soft: Option<u64>,
    /// How far the process may raise it.
    pub hard: Option<u64>,
}

/// Raises the number of descriptors this process may open to what it is allowed, and returns it.
///
/// # Errors
/// When the kernel refuses.
pub fn raise_open_files() -> io::Result<Option<u64>> {
    let limit = getrlimit(Kind::Nofile);
    setrlimit(Kind::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum })?;
    Ok(limit.maximum)
}

/// Makes the kernel's table of this process's descriptors large enough for `count` of them, or for as many as may be
/// open. Costs 8 bytes each in the kernel.
///
/// The table grows by itself, but in a process with threads each doubling waits for every processor to pass through the
/// scheduler: 10 to 20 ms in which nothing can be opened or started. So a server calls this before its first thread.
///
/// # Errors
/// When no descriptor is left, or the kernel has no memory for the table.
pub fn make_room_for_files(count: u32) -> io::Result<()> {
    let allowed = open_files().soft.unwrap_or(u64::MAX);
    let last = u64::from(count).min(allowed).saturating_sub(1);
    let any = std::fs::File::open("/dev/null")?;
    // A number beyond the limit would be refused, one below it grows the table up to it.
    drop(fcntl_dupfd_cloexec(&any, i32::try_from(last).unwrap_or(i32::MAX))?);
    Ok(())
}

/// How many descriptors this process has open.
///
/// # Errors
/// When `/proc` does not tell.
pub fn files_open_now() -> io::Result<u64> {
    let all = std::fs::read_dir("/proc/self/fd")?.count();
    // One of them is the folder that is read.
    Ok(u64::try_from(all).unwrap_or(u64::MAX).saturating_sub(1))
}

/// The limit of this process on the number of descriptors.
#[must_use]
pub fn open_files() -> Limit {
    let limit = getrlimit(Kind::Nofile);
    Limit { resource: Kind::Nofile, soft: limit.current, hard: limit.maximum }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_for_files_is_made_at_once() {
        let room = || -> u64 {
            let status = std::fs::read_to_string("/proc/self/status").unwrap();
            let line = status.lines().find_map(|line| line.strip_prefix("FDSize:")).unwrap();
            line.trim().parse().unwrap()
        };
        raise_open_files().unwrap();
        make_room_for_files(3_000).unwrap();
        assert!(room() >= 3_000, "{}", room());
    }

    #[test]
    fn open_files_are_counted() {
        let before = files_open_now().unwrap();
        let held: Vec<_> = (0..50).map(|_| std::fs::File::open("/dev/null").unwrap()).collect();
        // Other tests of this process open and close some meanwhile.
        assert!(files_open_now().unwrap() >= before.saturating_sub(20) + 50);
        drop(held);
    }

    #[test]
    fn open_files_rise_to_the_hard_limit() {
        let raised = raise_open_files().unwrap();
        assert_eq!(open_files(), Limit { resource: Kind::Nofile, soft: raised, hard: raised });
    }
}

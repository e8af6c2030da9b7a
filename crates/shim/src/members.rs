//! The control group that tells which processes are the epoch's, as far as the shim uses it.
//!
//! Owns killing its members and knowing when there are none. It deliberately makes no group and sets no limit: the
//! daemon does, and hands over a path. What a group needs is plain reading and writing of files.

use std::{
    fs::{self, File},
    io,
    os::{
        fd::{AsFd, BorrowedFd},
        unix::fs::FileExt,
    },
    path::{Path, PathBuf},
};

use edgeplane_os::{Signal, pidfd};

/// Enough for the file that tells whether a group has members.
const EVENTS_BYTES: usize = 256;

/// A group that exists.
#[derive(Debug)]
pub(crate) enum Members {
    /// A group of the v2 hierarchy.
    V2 {
        path: PathBuf,
        /// Its directory, to be born in.
        dir: File,
        /// Its events, kept open to be polled.
        events: File,
    },
    /// A group of the v1 freezer, used where there is no v2.
    Freezer { path: PathBuf },
}

impl Members {
    /// Opens the group at `path`, of whichever hierarchy it is.
    ///
    /// # Errors
    /// When there is no such group.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        if path.join("freezer.state").exists() {
            return Ok(Self::Freezer { path: path.to_owned() });
        }
        let dir = File::open(path)?;
        let events = File::open(path.join("cgroup.events"))?;
        Ok(Self::V2 { path: path.to_owned(), dir, events })
    }

    /// The directory to be born in, on v2.
    pub(crate) fn dir(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Self::V2 { dir, .. } => Some(dir.as_fd()),
            Self::Freezer { .. } => None,
        }
    }

    /// What becomes ready when the group changes between empty and not, on v2.
    pub(crate) fn events(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Self::V2 { events, .. } => Some(events.as_fd()),
            Self::Freezer { .. } => None,
        }
    }

    /// Whether the group has no member; one that is gone had none, and one that cannot be read may have some.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::V2 { events, .. } => {
                let mut bytes = [0; EVENTS_BYTES];
                match events.read_at(&mut bytes, 0) {
                    Ok(count) => says_empty(bytes.get(..count).unwrap_or_default()),
                    Err(error) => is_gone(&error),
                }
            }
            Self::Freezer { path } => match members(path) {
                Ok(members) => members.is_empty(),
                Err(error) => is_gone(&error),
            },
        }
    }

    /// Its members now; of a group that cannot be read, none.
    pub(crate) fn pids(&self) -> Vec<u32> {
        let (Self::V2 { path, .. } | Self::Freezer { path }) = self;
        members(path).unwrap_or_default()
    }

    /// Ends every member, frozen or not.
    pub(crate) fn kill(&self) {
        match self {
            // The kernel does it at once, however quickly they fork; before 5.14 it cannot.
            Self::V2 { path, .. } => {
                if fs::write(path.join("cgroup.kill"), "1").is_ok() {
                    return;
                }
                drop(fs::write(path.join("cgroup.freeze"), "0"));
            }
            // A process that v1 has frozen does not even take this signal.
            Self::Freezer { path } => drop(fs::write(path.join("freezer.state"), "THAWED")),
        }
        self.kill_each();
    }

    fn kill_each(&self) {
        let handles: Vec<_> =
            self.pids().into_iter().filter_map(|pid| Some((pid, pidfd::open(pid).ok()?))).collect();
        // Whoever is listed again after its handle was opened is who the handle means.
        let again = self.pids();
        for (pid, handle) in handles {
            if again.contains(&pid) {
                // One that may not be killed shows in the group, which then is not empty.
                drop(pidfd::send_signal(handle, Signal::KILL));
            }
        }
    }
}

fn says_empty(events: &[u8]) -> bool {
    events.split(|byte| *byte == b'\n').any(|line| line == b"populated 0")
}

fn members(path: &Path) -> io::Result<Vec<u32>> {
    let text = fs::read_to_string(path.join("cgroup.procs"))?;
    Ok(text.lines().filter_map(|line| line.parse().ok()).collect())
}

/// Whether the group was removed: what the name, or a file that is still open, answers then.
fn is_gone(error: &io::Error) -> bool {
    const NO_SUCH_DEVICE: i32 = 19;
    error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(NO_SUCH_DEVICE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_kernels_word_for_it_means_empty() {
        assert!(says_empty(b"populated 0\nfrozen 0\n"));
        assert!(!says_empty(b"populated 1\nfrozen 0\n"));
        assert!(!says_empty(b""));
        assert!(!says_empty(b"populated 01"));
    }
}

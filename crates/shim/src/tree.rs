//! Everything that the program started and that started from there.
//!
//! Owns finding and killing it: by control group where there is one, and in any case by descent, since the shim is the
//! reaper of its orphans and nobody can leave it. It deliberately reaps nothing: the loop does.

use std::{io, os::fd::BorrowedFd, path::Path};

use edgeplane_os::{Signal, pidfd, proc};

use crate::members::Members;

/// The file of a v1 hierarchy that lists a group's members, and by which the specification names the group.
const MEMBERS_FILE: &str = "cgroup.procs";

/// The program's tree.
#[derive(Debug)]
pub(crate) struct Tree {
    members: Option<Members>,
}

impl Tree {
    /// Opens the group that tells the tree: the v2 one, or the v1 freezer's if that is among `v1_procs`.
    ///
    /// # Errors
    /// When the group does not exist.
    pub(crate) fn open(v2: Option<&Path>, v1_procs: &[Vec<u8>]) -> io::Result<Self> {
        if let Some(path) = v2 {
            return Ok(Self { members: Some(Members::open(path)?) });
        }
        let groups = v1_procs.iter().filter_map(|procs| group_of(procs));
        let members = groups.filter(|group| group.join("freezer.state").exists()).map(Members::open).next();
        Ok(Self { members: members.transpose()? })
    }

    /// The v2 group to be born in.
    pub(crate) fn cgroup(&self) -> Option<BorrowedFd<'_>> {
        self.members.as_ref().and_then(Members::dir)
    }

    /// What becomes ready when the group becomes empty.
    pub(crate) fn emptiness_events(&self) -> Option<BorrowedFd<'_>> {
        self.members.as_ref().and_then(Members::events)
    }

    /// Whether the group is empty, if there is one.
    pub(crate) fn is_cgroup_empty(&self) -> Option<bool> {
        self.members.as_ref().map(Members::is_empty)
    }

    /// Sends everything of the tree the signal that ends it; who forks meanwhile is found the next time.
    pub(crate) fn kill(&self) {
        if let Some(members) = &self.members {
            members.kill();
        }
        kill_descendants(std::process::id());
    }
}

/// Kills every descendant of `ancestor`, and says how many were signalled.
pub(crate) fn kill_descendants(ancestor: u32) -> usize {
    let Ok(found) = proc::descendants(ancestor) else { return 0 };
    let mut killed = 0_usize;
    for pid in &found {
        let Ok(handle) = pidfd::open(*pid) else { continue };
        // A number that changed hands meanwhile belongs to somebody whose parent is not of the tree.
        let is_ours =
            proc::stat(*pid).is_ok_and(|stat| stat.parent == ancestor || found.contains(&stat.parent));
        if is_ours && pidfd::send_signal(handle, Signal::KILL).unwrap_or(false) {
            killed = killed.saturating_add(1);
        }
    }
    killed
}

fn group_of(procs: &[u8]) -> Option<&Path> {
    let path = Path::new(std::str::from_utf8(procs).ok()?);
    (path.file_name()? == MEMBERS_FILE).then(|| path.parent()).flatten()
}

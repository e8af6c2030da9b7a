//! Cleaning up after a shim that could not: what is left of the tree, the socket, the control groups.
//!
//! Owns `edgeplane-shim delete`. It may run any number of times, and it reports what it knows and by which evidence. It
//! deliberately leaves the recording and the exit record alone: they are the daemon's to read.

use std::{
    ffi::OsString,
    fs, io,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    time::Duration,
};

use edgeplane_os::{
    Signal, pidfd, proc, sock,
    wait::{Deadline, until},
};
use edgeplane_wire::cast;

use crate::{members::Members, tree::kill_descendants};

/// How long to wait for the tree to be gone.
const GONE_MAX: Duration = Duration::from_secs(10);

/// What is to be cleaned up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Remains {
    /// The epoch's folder.
    pub(crate) epoch_dir: PathBuf,
    /// The program's control group.
    pub(crate) cgroup: Option<PathBuf>,
    /// The shim's socket.
    pub(crate) socket: Option<PathBuf>,
    /// The program's pid and start.
    pub(crate) program: Option<(u32, u64)>,
    /// What the processes of the epoch carry in their environment.
    pub(crate) mark: Option<OsString>,
}

/// By what the tree is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Evidence {
    Cgroup,
    BestEffort,
}

/// What was found and done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Report {
    pub(crate) tree_empty: bool,
    evidence: Evidence,
    killed: usize,
    recording_bytes: u64,
}

impl Report {
    /// One line of JSON.
    pub(crate) fn line(&self) -> String {
        let mut line = Vec::with_capacity(128);
        line.extend_from_slice(b"{\"treeEmpty\":");
        line.extend_from_slice(if self.tree_empty { b"true" } else { b"false" });
        line.extend_from_slice(b",\"evidence\":\"");
        line.extend_from_slice(match self.evidence {
            Evidence::Cgroup => b"cgroup",
            Evidence::BestEffort => b"best_effort",
        });
        line.extend_from_slice(b"\",\"killed\":");
        cast::put_number(&mut line, u64::try_from(self.killed).unwrap_or(u64::MAX));
        line.extend_from_slice(b",\"recordingBytes\":");
        cast::put_number(&mut line, self.recording_bytes);
        line.push(b'}');
        String::from_utf8_lossy(&line).into_owned()
    }
}

/// Cleans up and says what is known then.
pub(crate) fn delete(remains: &Remains) -> Report {
    let deadline = Deadline::after(GONE_MAX);
    let mut killed = kill_program(remains.program);
    let (tree_empty, evidence) = match &remains.cgroup {
        Some(path) => (kill_group(path, deadline, &mut killed), Evidence::Cgroup),
        None => (kill_found(remains, deadline, &mut killed), Evidence::BestEffort),
    };
    if let Some(socket) = &remains.socket {
        remove_socket(socket);
    }
    if let Some(path) = remains.cgroup.as_deref().filter(|_path| tree_empty) {
        remove_groups(path, deadline);
    }
    Report { tree_empty, evidence, killed, recording_bytes: recording_bytes(&remains.epoch_dir) }
}

/// Kills the program and what descends from it, while the descent still shows.
fn kill_program(program: Option<(u32, u64)>) -> usize {
    let Some((pid, start)) = program else { return 0 };
    let Ok(handle) = pidfd::open(pid) else { return 0 };
    if !proc::stat(pid).is_ok_and(|found| found.start_time == start && found.is_alive()) {
        return 0;
    }
    let below = kill_descendants(pid);
    below.saturating_add(usize::from(pidfd::send_signal(handle, Signal::KILL).unwrap_or(false)))
}

fn kill_group(path: &Path, deadline: Deadline, killed: &mut usize) -> bool {
    let members = match Members::open(path) {
        Ok(members) => members,
        // A group that is gone was empty; what cannot be opened may not be.
        Err(error) => return error.kind() == io::ErrorKind::NotFound,
    };
    *killed = killed.saturating_add(members.pids().len());
    until(deadline, || {
        members.kill();
        members.is_empty()
    })
}

/// Kills what carries the mark, and what descends from it, until none is found; without a mark nothing can be known.
fn kill_found(remains: &Remains, deadline: Deadline, killed: &mut usize) -> bool {
    let Some(mark) = &remains.mark else {
        return until(deadline, || is_program_gone(remains.program)) && remains.program.is_some();
    };
    let own_pid = std::process::id();
    until(deadline, || {
        let Ok(found) = proc::find_marked(mark.as_bytes()) else { return false };
        let mut is_empty = is_program_gone(remains.program);
        for pid in found.into_iter().filter(|pid| *pid != own_pid) {
            let Ok(handle) = pidfd::open(pid) else { continue };
            // The mark was seen before the handle was opened: it is asked for again, now of the handle's process.
            if !proc::is_marked(pid, mark.as_bytes()) {
                continue;
            }
            is_empty = false;
            let below = kill_descendants(pid);
            let itself = usize::from(pidfd::send_signal(handle, Signal::KILL).unwrap_or(false));
            *killed = killed.saturating_add(below).saturating_add(itself);
        }
        is_empty
    })
}

fn is_program_gone(program: Option<(u32, u64)>) -> bool {
    program.is_none_or(|(pid, start)| {
        !proc::stat(pid).is_ok_and(|found| found.start_time == start && found.is_alive())
    })
}

/// Removes the socket, unless somebody listens there after all.
fn remove_socket(socket: &Path) {
    if sock::connect(socket).is_err() {
        drop(fs::remove_file(socket));
    }
}

/// Removes the program's group, and those around it that were made for this epoch; only empty ones can be removed.
fn remove_groups(work: &Path, deadline: Deadline) {
    // The last member's end and the group's are not the same moment.
    let _is_removed = until(deadline, || fs::remove_dir(work).is_ok() || !work.exists());
    let is_ours = work.file_name().is_some_and(|name| name == "work");
    if let Some(epoch) = work.parent().filter(|_epoch| is_ours) {
        drop(fs::remove_dir(epoch.join("shim")));
        drop(fs::remove_dir(epoch));
    }
}

fn recording_bytes(epoch_dir: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(epoch_dir) else { return 0 };
    let segments =
        entries.flatten().filter(|entry| entry.path().extension().is_some_and(|end| end == "cast"));
    segments.filter_map(|entry| entry.metadata().ok()).fold(0, |sum, found| sum.saturating_add(found.len()))
}

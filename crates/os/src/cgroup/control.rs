//! Freezing, killing, and knowing what is left.

use std::{
    fs::File,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use rustix::io::Errno;

use super::{CgroupError, EpochGroup, epoch::Tree, file};
use crate::{
    pidfd,
    poll::{PollFlags, is_ready},
    signals::Signal,
    wait::{Deadline, until},
};

impl EpochGroup {
    /// Stops every process of the work, and returns when all have stopped.
    ///
    /// # Errors
    /// When the kernel refuses, or some process does not stop in time; the work then runs on.
    pub fn freeze(&self, deadline: Deadline) -> Result<(), CgroupError> {
        let work = self.work_dir();
        let frozen = match &self.tree {
            Tree::V2(_) => {
                file::write(&work.join("cgroup.freeze"), "1")?;
                wait_event(&work, deadline, |text| file::flag(text, "frozen"))
            }
            Tree::Freezer(_) => freeze_v1(&work, deadline),
        };
        match frozen {
            Ok(true) => Ok(()),
            Ok(false) => {
                self.thaw()?;
                Err(CgroupError::NotFrozen { path: work })
            }
            Err(error) => {
                // The first failure is the one to report.
                drop(self.thaw());
                Err(error)
            }
        }
    }

    /// Lets the work go on; it does at once.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn thaw(&self) -> Result<(), CgroupError> {
        let work = self.work_dir();
        match &self.tree {
            Tree::V2(_) => file::write(&work.join("cgroup.freeze"), "0"),
            Tree::Freezer(_) => file::write(&work.join("freezer.state"), "THAWED"),
        }
    }

    /// Whether the work is frozen, by whomever.
    ///
    /// # Errors
    /// When the state cannot be read.
    pub fn is_frozen(&self) -> Result<bool, CgroupError> {
        let work = self.work_dir();
        match &self.tree {
            Tree::V2(_) => Ok(file::flag(&file::read(&work.join("cgroup.events"))?, "frozen")),
            Tree::Freezer(_) => Ok(file::read(&work.join("freezer.state"))?.trim() == "FROZEN"),
        }
    }

    /// Ends every process of the work, frozen or not, however quickly it forks; see [`Self::wait_empty`] for the end.
    ///
    /// Where the kernel cannot do it at once they are killed one by one until none is found or the deadline passes.
    /// A group whose maker died before it made the work's part has none.
    ///
    /// # Errors
    /// When the kernel refuses or the processes cannot be listed.
    pub fn kill(&self, deadline: Deadline) -> Result<(), CgroupError> {
        let work = self.work_dir();
        if !work.exists() {
            return Ok(());
        }
        match &self.tree {
            Tree::V2(_) => {
                let path = work.join("cgroup.kill");
                // A kernel before 5.14 has no such file.
                if path.exists() {
                    return file::write(&path, "1");
                }
                self.thaw()?;
            }
            // A process that v1 has frozen does not even take this signal.
            Tree::Freezer(_) => self.thaw()?,
        }
        kill_each(&work, deadline)
    }

    /// Whether no process of the work is left; a zombie is none, and a group that is not there has none.
    ///
    /// # Errors
    /// When the state cannot be read.
    pub fn is_empty(&self) -> Result<bool, CgroupError> {
        let work = self.work_dir();
        if !work.exists() {
            return Ok(true);
        }
        match &self.tree {
            Tree::V2(_) => Ok(!file::flag(&file::read(&work.join("cgroup.events"))?, "populated")),
            Tree::Freezer(_) => Ok(file::procs(&work)?.is_empty()),
        }
    }

    /// Waits until no process of the work is left, and says whether that was in time.
    ///
    /// # Errors
    /// When the state cannot be read.
    pub fn wait_empty(&self, deadline: Deadline) -> Result<bool, CgroupError> {
        let work = self.work_dir();
        match &self.tree {
            Tree::V2(_) => wait_event(&work, deadline, |text| !file::flag(text, "populated")),
            Tree::Freezer(_) => {
                let mut result = Ok(false);
                until(deadline, || {
                    result = self.is_empty();
                    !matches!(result, Ok(false))
                });
                result
            }
        }
    }

    /// A descriptor that polls as urgent data whenever emptiness or freezing changes; none on v1.
    ///
    /// Read it from its start after each change, before polling again.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn events(&self) -> Result<Option<OwnedFd>, CgroupError> {
        match &self.tree {
            Tree::V2(_) => open_events(&self.work_dir()).map(|(file, _path)| Some(file.into())),
            Tree::Freezer(_) => Ok(None),
        }
    }

    /// The processes of the work, those in groups that it made below its own included.
    ///
    /// # Errors
    /// When they cannot be listed.
    pub fn procs(&self) -> Result<Vec<u32>, CgroupError> {
        file::procs(&self.work_dir())
    }
}

fn open_events(dir: &Path) -> Result<(File, PathBuf), CgroupError> {
    let path = dir.join("cgroup.events");
    match File::open(&path) {
        Ok(file) => Ok((file, path)),
        Err(source) => Err(CgroupError::Read { path, source }),
    }
}

/// Waits until the events of a group satisfy `condition`, and says whether they did in time.
fn wait_event(dir: &Path, deadline: Deadline, condition: impl Fn(&str) -> bool) -> Result<bool, CgroupError> {
    let (file, path) = open_events(dir)?;
    loop {
        // The kernel announces what changed since the last reading, so nothing is lost in between.
        if condition(&file::reread(&file, &path)?) {
            return Ok(true);
        }
        let remaining = deadline.remaining();
        if remaining.is_zero() {
            return Ok(false);
        }
        is_ready(&file, PollFlags::PRI, remaining)
            .map_err(|source| CgroupError::Read { path: path.clone(), source })?;
    }
}

fn freeze_v1(dir: &Path, deadline: Deadline) -> Result<bool, CgroupError> {
    let path = dir.join("freezer.state");
    let mut result = Ok(false);
    until(deadline, || {
        // Asked again each time: a process that was being born slips through the first time.
        result = file::write(&path, "FROZEN")
            .and_then(|()| file::read(&path))
            .map(|state| state.trim() == "FROZEN");
        !matches!(result, Ok(false))
    });
    result
}

fn kill_each(dir: &Path, deadline: Deadline) -> Result<(), CgroupError> {
    let mut result = Ok(());
    until(deadline, || match kill_round(dir) {
        Ok(found) => found == 0,
        Err(error) => {
            result = Err(error);
            true
        }
    });
    result
}

/// Kills those that are there now, and says how many that were.
fn kill_round(dir: &Path) -> Result<usize, CgroupError> {
    let handles: Vec<(u32, OwnedFd)> =
        file::procs(dir)?.into_iter().filter_map(|pid| Some((pid, pidfd::open(pid).ok()?))).collect();
    // Whoever is listed again after its handle was opened is who the handle means.
    let again = file::procs(dir)?;
    for (pid, handle) in &handles {
        if again.contains(pid) {
            match rustix::process::pidfd_send_signal(handle, Signal::KILL) {
                Ok(()) | Err(Errno::SRCH) => {}
                Err(source) => {
                    let path = dir.to_owned();
                    return Err(CgroupError::Write {
                        path,
                        value: "SIGKILL".to_owned(),
                        source: source.into(),
                    });
                }
            }
        }
    }
    Ok(again.len())
}

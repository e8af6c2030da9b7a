//! The group of one epoch: `shim` for the supervisor, `work` for what it supervises.

use std::{
    os::{fd::OwnedFd, unix::fs::MetadataExt},
    path::{Path, PathBuf},
};

use super::{
    CgroupError, NodeGroup,
    detect::Controller,
    file,
    limit::{self, InForce, Limits, Shortfall},
    node::{check_name, pass_on},
    report::Backend,
};
use crate::wait::{Deadline, until};

/// What tells the processes of an epoch.
#[derive(Debug)]
pub(super) enum Tree {
    /// The epoch's v2 directory.
    V2(PathBuf),
    /// Its directory in the v1 freezer.
    Freezer(PathBuf),
}

/// The group of one epoch, on every hierarchy that it needs.
#[derive(Debug)]
pub struct EpochGroup {
    pub(super) tree: Tree,
    /// Its directories in v1 hierarchies that carry limits.
    limits_v1: Vec<PathBuf>,
    unenforced: Vec<Controller>,
}

/// Where a process must be put to belong to the epoch; paths, so that it can be told to another process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    /// The v2 directory to be born in.
    pub cgroup: Option<PathBuf>,
    /// The v1 lists to join before the program runs.
    pub v1_procs: Vec<PathBuf>,
}

impl Placement {
    /// Opens everything, in the form that [`crate::process::SpawnSpec`] takes.
    ///
    /// # Errors
    /// When a group is gone or may not be joined.
    pub fn open(&self) -> Result<(Option<OwnedFd>, Vec<OwnedFd>), CgroupError> {
        let cgroup = self.cgroup.as_deref().map(file::open_dir).transpose()?;
        let v1_procs = self.v1_procs.iter().map(|path| file::open_procs(path)).collect::<Result<_, _>>()?;
        Ok((cgroup, v1_procs))
    }
}

impl EpochGroup {
    pub(super) fn create(
        node: &NodeGroup,
        name: &str,
        limits: &Limits,
        shortfall: Shortfall,
    ) -> Result<Self, CgroupError> {
        check_name(name)?;
        let mut group = Self { tree: tree_of(node, name)?, limits_v1: Vec::new(), unenforced: Vec::new() };
        create_tree(&group.tree)?;
        match group.set_limits(node, name, limits, shortfall) {
            Ok(()) => Ok(group),
            Err(error) => {
                // The first failure is the one to report.
                drop(group.remove_now());
                Err(error)
            }
        }
    }

    fn set_limits(
        &mut self,
        node: &NodeGroup,
        name: &str,
        limits: &Limits,
        shortfall: Shortfall,
    ) -> Result<(), CgroupError> {
        for controller in limits.controllers() {
            match (node.backend_of(controller), &self.tree) {
                (Ok(Backend::V2), Tree::V2(dir)) => {
                    pass_on(dir, controller)?;
                    limits.write_v2(controller, &dir.join("work"))?;
                }
                (Ok(_), _) => {
                    if let Some(parent) = node.v1_dir(controller) {
                        let dir = parent.join(name);
                        file::ensure_dir(&parent)?;
                        // A mounted hierarchy may serve several controllers; then the directory is there already.
                        file::ensure_dir(&dir)?;
                        if !self.limits_v1.contains(&dir) {
                            self.limits_v1.push(dir.clone());
                        }
                        limits.write_v1(controller, &dir)?;
                    }
                }
                (Err(_), _) if shortfall == Shortfall::Accept => self.unenforced.push(controller),
                (Err(error), _) => return Err(error),
            }
        }
        Ok(())
    }

    pub(super) fn open_existing(node: &NodeGroup, name: &str) -> Result<Self, CgroupError> {
        check_name(name)?;
        let tree = tree_of(node, name)?;
        let (Tree::V2(dir) | Tree::Freezer(dir)) = &tree;
        if !dir.is_dir() {
            return Err(CgroupError::Missing { path: dir.clone() });
        }
        let mut limits_v1 = Vec::new();
        for parent in Controller::LIMITS.into_iter().filter_map(|controller| node.v1_dir(controller)) {
            let dir = parent.join(name);
            if dir.is_dir() && !limits_v1.contains(&dir) {
                limits_v1.push(dir);
            }
        }
        Ok(Self { tree, limits_v1, unenforced: Vec::new() })
    }

    /// Where the program must be put.
    #[must_use]
    pub fn work_placement(&self) -> Placement {
        let mut v1_procs: Vec<PathBuf> = self.limits_v1.iter().map(|dir| dir.join("cgroup.procs")).collect();
        let cgroup = match &self.tree {
            Tree::V2(dir) => Some(dir.join("work")),
            Tree::Freezer(dir) => {
                v1_procs.push(dir.join("cgroup.procs"));
                None
            }
        };
        Placement { cgroup, v1_procs }
    }

    /// The limits that the kernel keeps for the work now, read from where they stand.
    #[must_use]
    pub fn in_force(&self) -> Vec<InForce> {
        let v2 = match &self.tree {
            Tree::V2(dir) => Some(dir.join("work")),
            Tree::Freezer(_) => None,
        };
        let dirs = v2.iter().chain(&self.limits_v1);
        dirs.flat_map(|dir| limit::in_force(dir)).collect()
    }

    /// Where the shim must be put: outside of what is frozen, killed and limited.
    #[must_use]
    pub fn shim_placement(&self) -> Placement {
        let cgroup = match &self.tree {
            Tree::V2(dir) => Some(dir.join("shim")),
            Tree::Freezer(_) => None,
        };
        Placement { cgroup, v1_procs: Vec::new() }
    }

    /// The limits that were asked for and are not kept; known only to the daemon that made the group.
    #[must_use]
    pub fn unenforced(&self) -> &[Controller] {
        &self.unenforced
    }

    /// The epoch's directory in the hierarchy that tells its processes.
    #[must_use]
    pub fn dir(&self) -> &Path {
        let (Tree::V2(dir) | Tree::Freezer(dir)) = &self.tree;
        dir
    }

    /// The id of the program's group as the kernel tells it of a process; none on v1.
    #[must_use]
    pub fn work_id(&self) -> Option<u64> {
        self.id_of("work")
    }

    /// The id of the shim's group as the kernel tells it of a process; none on v1.
    #[must_use]
    pub fn shim_id(&self) -> Option<u64> {
        self.id_of("shim")
    }

    /// The id of a group is the number of its directory.
    fn id_of(&self, part: &str) -> Option<u64> {
        match &self.tree {
            Tree::V2(dir) => std::fs::metadata(dir.join(part)).ok().map(|found| found.ino()),
            Tree::Freezer(_) => None,
        }
    }

    /// The directory of what is frozen and killed.
    pub(super) fn work_dir(&self) -> PathBuf {
        match &self.tree {
            Tree::V2(dir) => dir.join("work"),
            Tree::Freezer(dir) => dir.clone(),
        }
    }

    /// Removes the group everywhere; every process in it, the shim too, must have ended.
    ///
    /// A group whose last process ended this moment may still be busy, so it is tried until the deadline.
    ///
    /// # Errors
    /// When there is still a process in it.
    pub fn remove(&self, deadline: Deadline) -> Result<(), CgroupError> {
        let mut result = Ok(());
        until(deadline, || {
            result = self.remove_now();
            result.is_ok()
        });
        result
    }

    fn remove_now(&self) -> Result<(), CgroupError> {
        for dir in self.limits_v1.iter().map(PathBuf::as_path).chain([self.dir()]) {
            file::remove_tree(dir).map_err(|source| CgroupError::Remove { path: dir.to_owned(), source })?;
        }
        Ok(())
    }
}

fn tree_of(node: &NodeGroup, name: &str) -> Result<Tree, CgroupError> {
    match (node.v2_dir(), node.v1_dir(Controller::Freezer)) {
        (Some(dir), _) => Ok(Tree::V2(dir.join(name))),
        (None, Some(dir)) => Ok(Tree::Freezer(dir.join(name))),
        // Unreachable: a node's group is not made without either.
        (None, None) => Err(CgroupError::Unavailable { reason: "no hierarchy tells processes".to_owned() }),
    }
}

fn create_tree(tree: &Tree) -> Result<(), CgroupError> {
    match tree {
        Tree::V2(dir) => {
            file::create_dir(dir)?;
            let result =
                file::create_dir(&dir.join("shim")).and_then(|()| file::create_dir(&dir.join("work")));
            if result.is_err() {
                // The first failure is the one to report.
                drop(file::remove_tree(dir));
            }
            result
        }
        Tree::Freezer(dir) => {
            dir.parent().map_or(Ok(()), file::ensure_dir)?;
            file::create_dir(dir)
        }
    }
}

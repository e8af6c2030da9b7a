//! The group of one node, which holds those of its epochs.

use std::{
    io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use super::{
    CgroupError, EpochGroup,
    detect::{Controller, Hierarchies},
    file,
    limit::{Limits, Shortfall},
    report::Backend,
};

/// What the names of node groups begin with.
pub(super) const PREFIX: &str = "edgeplane-";

/// Where the daemon itself goes if it stands in the way of controllers: v2 gives them only to groups whose parent has no
/// process. Epochs cannot have this name, which has no dot.
const DAEMON: &str = "daemon";

/// The longest name of a directory.
const NAME_BYTES_MAX: usize = 255;

/// The group of one node.
#[derive(Debug, Clone)]
pub struct NodeGroup {
    hierarchies: Hierarchies,
    name: String,
    /// In v2, where that is used.
    v2: Option<PathBuf>,
    /// The limits that can be set in v2.
    v2_limits: Vec<Controller>,
}

impl NodeGroup {
    /// Makes the group `edgeplane-<node>`, or takes it over from an earlier daemon of that name.
    ///
    /// If the daemon stands alone in the group it may manage, it moves itself below, so that limits can be set.
    ///
    /// # Errors
    /// When no hierarchy can tell which processes belong to what, or the group cannot be made.
    pub fn create(hierarchies: &Hierarchies, node: &str) -> Result<Self, CgroupError> {
        let name = format!("{PREFIX}{node}");
        check_name(&name)?;
        let tree = hierarchies.tree();
        if tree.backend == Backend::None {
            return Err(CgroupError::Unavailable { reason: tree.reason });
        }
        let mut group = Self { hierarchies: hierarchies.clone(), name, v2: None, v2_limits: Vec::new() };
        if let Some(base) = hierarchies.v2.dir() {
            let dir = base.join(&group.name);
            file::ensure_dir(&dir)?;
            for controller in &hierarchies.v2_controllers {
                if enable(base, &dir, *controller).is_ok() {
                    group.v2_limits.push(*controller);
                }
            }
            group.v2 = Some(dir);
        }
        Ok(group)
    }

    /// Makes the group of an epoch, `<agent>.<epoch>`.
    ///
    /// # Errors
    /// When it exists, cannot be made, or a limit cannot be kept that must be; nothing of it is then left.
    pub fn create_epoch(
        &self,
        name: &str,
        limits: &Limits,
        shortfall: Shortfall,
    ) -> Result<EpochGroup, CgroupError> {
        EpochGroup::create(self, name, limits, shortfall)
    }

    /// Takes over the group of an epoch from an earlier daemon.
    ///
    /// # Errors
    /// When it does not exist.
    pub fn open_epoch(&self, name: &str) -> Result<EpochGroup, CgroupError> {
        EpochGroup::open_existing(self, name)
    }

    /// The names of the epochs that have a group, in no order.
    #[must_use]
    pub fn epochs(&self) -> Vec<String> {
        let dir = self.v2.clone().or_else(|| self.v1_dir(Controller::Freezer));
        let dirs = dir.map(|dir| file::subdirs(&dir)).unwrap_or_default();
        let names = dirs.iter().filter_map(|dir| Some(dir.file_name()?.to_str()?.to_owned()));
        names.filter(|name| name != DAEMON).collect()
    }

    /// The group with this id, as a path below the node's such as `reviewer.3/work`; v2 only.
    #[must_use]
    pub fn find(&self, cgroup_id: u64) -> Option<PathBuf> {
        let top = self.v2.as_ref()?;
        let mut waiting = vec![top.clone()];
        while let Some(dir) = waiting.pop() {
            // A group that vanishes meanwhile is not the one that is looked for: that has a process.
            if std::fs::metadata(&dir).is_ok_and(|found| found.ino() == cgroup_id) {
                return dir.strip_prefix(top).ok().map(Path::to_owned);
            }
            waiting.extend(file::subdirs(&dir));
        }
        None
    }

    /// Removes the node's groups everywhere; epochs must be removed before.
    ///
    /// # Errors
    /// When there is still a process or an epoch in it.
    pub fn remove(&self) -> Result<(), CgroupError> {
        let v1 = Controller::LIMITS.into_iter().chain([Controller::Freezer]);
        let dirs = self.v2.clone().into_iter().chain(v1.filter_map(|controller| self.v1_dir(controller)));
        for dir in dirs {
            file::remove_tree(&dir).map_err(|source| CgroupError::Remove { path: dir.clone(), source })?;
        }
        Ok(())
    }

    /// The node's directory in v2.
    #[must_use]
    pub fn v2_dir(&self) -> Option<&Path> {
        self.v2.as_deref()
    }

    pub(super) fn v1_dir(&self, controller: Controller) -> Option<PathBuf> {
        self.hierarchies.v1(controller).dir().map(|dir| dir.join(&self.name))
    }

    /// Where a limit can be kept; the error says why nowhere.
    pub(super) fn backend_of(&self, controller: Controller) -> Result<Backend, CgroupError> {
        let found = self.hierarchies.limit(controller);
        match found.backend {
            Backend::V2 if self.v2_limits.contains(&controller) => Ok(Backend::V2),
            Backend::V2 | Backend::V1 if self.v1_dir(controller).is_some() => Ok(Backend::V1),
            Backend::V2 => Err(CgroupError::NoController {
                controller,
                reason: format!("v2 offers `{controller}` but processes stand in the way of passing it on"),
            }),
            Backend::V1 | Backend::None => {
                Err(CgroupError::NoController { controller, reason: found.reason })
            }
        }
    }
}

/// Refuses names that would lead elsewhere.
pub(super) fn check_name(name: &str) -> Result<(), CgroupError> {
    let is_plain = !name.is_empty()
        && name.len() <= NAME_BYTES_MAX
        && !name.starts_with('.')
        && name.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'/');
    if is_plain { Ok(()) } else { Err(CgroupError::BadName { name: name.to_owned() }) }
}

/// Passes a controller on from `base` to `dir` and from there to the epochs.
fn enable(base: &Path, dir: &Path, controller: Controller) -> Result<(), CgroupError> {
    match pass_on(base, controller) {
        Err(CgroupError::Write { source, .. })
            if source.kind() == io::ErrorKind::ResourceBusy
                && only_process(base) == Some(std::process::id()) =>
        {
            let leaf = dir.join(DAEMON);
            file::ensure_dir(&leaf)?;
            file::write(&leaf.join("cgroup.procs"), &std::process::id().to_string())?;
            pass_on(base, controller)?;
        }
        other => other?,
    }
    pass_on(dir, controller)
}

/// The one process directly in a group, if there is exactly one.
fn only_process(dir: &Path) -> Option<u32> {
    let text = file::read(&dir.join("cgroup.procs")).ok()?;
    let mut lines = text.lines();
    let first = lines.next()?.parse().ok()?;
    lines.next().is_none().then_some(first)
}

/// Lets the groups below `dir` have a controller.
pub(super) fn pass_on(dir: &Path, controller: Controller) -> Result<(), CgroupError> {
    file::write(&dir.join("cgroup.subtree_control"), &format!("+{controller}"))
}

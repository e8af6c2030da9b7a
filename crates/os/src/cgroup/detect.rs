//! Finding the hierarchies and where in them this process may make groups.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use rustix::fs::{Access, access, getxattr};
use serde::Serialize;

/// What a hierarchy can control.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Controller {
    /// Bytes of memory.
    Memory,
    /// Processes and threads.
    Pids,
    /// Time on processors.
    Cpu,
    /// Stopping and going on, on v1 only: v2 has it without a controller.
    Freezer,
}

impl Controller {
    /// Those that can carry a limit.
    pub const LIMITS: [Self; 3] = [Self::Memory, Self::Pids, Self::Cpu];

    /// All of v1's that are of use here.
    const V1: [Self; 4] = [Self::Memory, Self::Pids, Self::Cpu, Self::Freezer];

    /// The kernel's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Pids => "pids",
            Self::Cpu => "cpu",
            Self::Freezer => "freezer",
        }
    }
}

impl fmt::Display for Controller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Whether groups can be made somewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In this directory.
    At(PathBuf),
    /// Nowhere, for this reason.
    Nowhere(String),
}

impl Place {
    /// The directory, if there is one.
    #[must_use]
    pub fn dir(&self) -> Option<&Path> {
        match self {
            Self::At(dir) => Some(dir),
            Self::Nowhere(_) => None,
        }
    }
}

/// What detection reads, so that tests can bring their own.
#[derive(Debug, Clone)]
pub struct Sources {
    /// `/proc/self/cgroup`.
    pub cgroup: String,
    /// `/proc/self/mountinfo`.
    pub mountinfo: String,
    /// Whether this process is root, and so may make groups outside its own.
    pub is_root: bool,
}

impl Sources {
    /// What the running system says; a file that cannot be read says nothing.
    #[must_use]
    pub fn live() -> Self {
        let read = |path| std::fs::read_to_string(path).unwrap_or_default();
        Self {
            cgroup: read("/proc/self/cgroup"),
            mountinfo: read("/proc/self/mountinfo"),
            is_root: rustix::process::geteuid().is_root(),
        }
    }
}

/// The hierarchies of a machine as far as they are of use.
#[derive(Debug, Clone)]
pub struct Hierarchies {
    /// Where v2 groups can be made.
    pub v2: Place,
    /// Which limits v2 offers there.
    pub v2_controllers: Vec<Controller>,
    /// Where v1 groups can be made, for each controller.
    v1: Vec<(Controller, Place)>,
}

impl Hierarchies {
    /// Finds the hierarchies that the sources speak of, and looks into their directories.
    #[must_use]
    pub fn detect(sources: &Sources) -> Self {
        let v2 = locate_v2(sources);
        let v1 = Controller::V1.map(|controller| (controller, locate_v1(sources, controller)));
        Self::with(v2, v1.into())
    }

    /// Takes given directories for the hierarchies, without any check.
    #[must_use]
    pub fn at(v2: Option<&Path>, v1: &[(Controller, &Path)]) -> Self {
        let v2 = v2.map_or_else(|| Place::Nowhere("not given".to_owned()), |dir| Place::At(dir.to_owned()));
        Self::with(
            v2,
            v1.iter().map(|(controller, dir)| (*controller, Place::At((*dir).to_owned()))).collect(),
        )
    }

    fn with(v2: Place, v1: Vec<(Controller, Place)>) -> Self {
        let offered = v2.dir().and_then(|dir| std::fs::read_to_string(dir.join("cgroup.controllers")).ok());
        let offered = offered.unwrap_or_default();
        let v2_controllers = Controller::LIMITS
            .into_iter()
            .filter(|controller| offered.split_ascii_whitespace().any(|word| word == controller.name()))
            .collect();
        Self { v2, v2_controllers, v1 }
    }

    /// Where v1 groups of this controller can be made.
    #[must_use]
    pub fn v1(&self, controller: Controller) -> Place {
        let found = self.v1.iter().find(|(other, _place)| *other == controller);
        found.map_or_else(|| Place::Nowhere("not mounted".to_owned()), |(_controller, place)| place.clone())
    }
}

/// A mounted hierarchy.
struct Mount {
    /// Which of its groups shows at the mount point.
    root: String,
    point: PathBuf,
}

/// Finds the mount of type `kind` whose options hold `option`.
fn find_mount(mountinfo: &str, kind: &str, option: Option<&str>) -> Option<Mount> {
    mountinfo.lines().find_map(|line| {
        let (left, right) = line.split_once(" - ")?;
        let mut right = right.split(' ');
        let is_kind = right.next()? == kind;
        let options = right.nth(1).unwrap_or_default();
        let has_option = option.is_none_or(|option| options.split(',').any(|word| word == option));
        let mut left = left.split(' ').skip(3);
        let (root, point) = (left.next()?, left.next()?);
        (is_kind && has_option).then(|| Mount { root: unescape(root), point: unescape(point).into() })
    })
}

/// The kernel writes blanks and backslashes of a path as three octal digits.
fn unescape(text: &str) -> String {
    ["\\040 ", "\\011\t", "\\012\n", "\\134\\"].iter().fold(text.to_owned(), |text, pair| {
        let (code, plain) = pair.split_at(4);
        text.replace(code, plain)
    })
}

/// The path of this process's group in the hierarchy whose line in `/proc/self/cgroup` names `controller`, or is v2's.
fn own_path(cgroup: &str, controller: Option<Controller>) -> Option<&str> {
    cgroup.lines().find_map(|line| {
        let (_number, rest) = line.split_once(':')?;
        let (names, path) = rest.split_once(':')?;
        let is_it = match controller {
            None => names.is_empty(),
            Some(controller) => names.split(',').any(|name| name == controller.name()),
        };
        is_it.then_some(path)
    })
}

impl Mount {
    /// The directory of the group at `path`, or of what surrounds a node's groups if it lies inside one: a daemon that
    /// was started again from there must find the groups it made.
    fn dir_of(&self, path: &str) -> Option<PathBuf> {
        let below = Path::new(path).strip_prefix(&self.root).ok()?;
        let outside = below.iter().take_while(|name| !name.to_str().is_some_and(is_node_group));
        let dir: PathBuf = self.point.iter().chain(outside).collect();
        dir.is_dir().then_some(dir)
    }
}

/// Groups made here have no dot, and those that systemd makes for units have one.
fn is_node_group(name: &str) -> bool {
    name.starts_with(super::node::PREFIX) && !name.contains('.')
}

fn locate_v2(sources: &Sources) -> Place {
    let Some(mount) = find_mount(&sources.mountinfo, "cgroup2", None) else {
        return Place::Nowhere("v2 is not mounted".to_owned());
    };
    let own = own_path(&sources.cgroup, None).and_then(|path| mount.dir_of(path));
    let dir = match own {
        Some(own) if !sources.is_root || is_delegated(&own) => own,
        // Root without a group of its own to manage uses the top, where no process stands in a controller's way.
        _ if sources.is_root => mount.point,
        _ => return Place::Nowhere("this process's v2 group is not visible here".to_owned()),
    };
    usable(dir, &["", "cgroup.procs", "cgroup.subtree_control"])
}

/// What systemd marks the groups with whose inside it leaves to others.
fn is_delegated(dir: &Path) -> bool {
    ["trusted.delegate", "user.delegate"].iter().any(|name| {
        let mut value = [0; 8];
        getxattr(dir, *name, &mut value[..]).is_ok_and(|length| value.get(..length) == Some(b"1"))
    })
}

fn locate_v1(sources: &Sources, controller: Controller) -> Place {
    let Some(mount) = find_mount(&sources.mountinfo, "cgroup", Some(controller.name())) else {
        return Place::Nowhere(format!("no v1 hierarchy has `{controller}`"));
    };
    // Below the own group, so that a limit on this process holds for what it starts.
    let own = own_path(&sources.cgroup, Some(controller)).and_then(|path| mount.dir_of(path));
    usable(own.unwrap_or(mount.point), &[""])
}

fn usable(dir: PathBuf, files: &[&str]) -> Place {
    for file in files {
        let path = if file.is_empty() { dir.clone() } else { dir.join(file) };
        if let Err(source) = access(&path, Access::WRITE_OK) {
            let source = std::io::Error::from(source);
            return Place::Nowhere(format!("cannot write to `{}`: {source}", path.display()));
        }
    }
    Place::At(dir)
}

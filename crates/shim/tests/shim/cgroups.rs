//! Control groups: born inside, killed as one, frozen or not, and seen empty.

use std::{fs, os::unix::ffi::OsStrExt, path::PathBuf};

use edgeplane_os::{
    cgroup::{Controller, EpochGroup, Hierarchies, Limits, NodeGroup, Place, Shortfall, Sources},
    proc,
};
use edgeplane_wire::{
    shim::{InputKind, ToShim},
    spec::LaunchSpec,
};

use crate::harness::{Shim, epoch_dir, eventually, is_alive, skip, soon, spec};

/// A group for one epoch, removed with the value.
pub(crate) struct Group {
    node: NodeGroup,
    pub(crate) epoch: EpochGroup,
}

impl Group {
    /// Makes one named after the test, or says why not.
    pub(crate) fn make(name: &str) -> Option<Self> {
        let hierarchies = Hierarchies::detect(&Sources::live());
        let node = NodeGroup::create(&hierarchies, &format!("test-{}-{name}", std::process::id()));
        let node = node.inspect_err(|error| skip("a control group", &error.to_string())).ok()?;
        let epoch = node.create_epoch("shell.3", &Limits::NONE, Shortfall::Accept).unwrap();
        let group = Self { node, epoch };
        if group.epoch.work_placement().cgroup.is_none() {
            skip("a control group", "there is no v2 hierarchy");
            return None;
        }
        Some(group)
    }

    pub(crate) fn spec(&self, dir: &std::path::Path, script: &str) -> LaunchSpec {
        let place = self.epoch.work_placement();
        let bytes = |path: &std::path::PathBuf| path.as_os_str().as_bytes().to_vec();
        LaunchSpec {
            cgroup: place.cgroup.as_ref().map(bytes),
            v1_procs: place.v1_procs.iter().map(bytes).collect(),
            ..spec(dir, script)
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        drop(self.epoch.kill(soon()));
        // Removed by the test already, or now.
        drop(self.epoch.remove(soon()));
        self.node.remove().unwrap();
    }
}

/// SHIM-031, SHIM-032
#[test]
fn program_is_born_in_its_group_and_the_group_is_seen_empty() {
    let Some(group) = Group::make("born") else { return };
    let dir = epoch_dir();
    let mut shim = Shim::launch(group.spec(dir.path(), "cat /proc/self/cgroup; read x; exit 2"));
    let text = shim.control.until_shown("0::");
    let own = text.lines().find_map(|line| line.strip_prefix("0::")).unwrap_or_default().to_owned();
    let own = if own.is_empty() { shim.control.until_shown("/work\n") } else { own };
    assert!(own.trim_end().ends_with("/shell.3/work"), "{own}");
    shim.control.send(&ToShim::CloseInput);
    let exit = shim.finish();
    assert_eq!((exit.value, exit.cgroup_empty, exit.tree_empty), (2, true, true));
}

/// SHIM-032
#[test]
fn member_that_is_no_descendant_is_killed_with_the_rest() {
    let Some(group) = Group::make("stranger") else { return };
    let dir = epoch_dir();
    let mut shim = Shim::launch(group.spec(dir.path(), "echo ready; read x"));
    shim.control.until_shown("ready");
    // Born there, but a child of this test, as a hook of the daemon would be.
    let (cgroup, _) = group.epoch.work_placement().open().unwrap();
    let argv = crate::harness::strings(&["sleep", "1000"]);
    let null = std::fs::File::options().read(true).write(true).open("/dev/null").unwrap();
    let stranger = edgeplane_os::process::spawn(&edgeplane_os::process::SpawnSpec {
        cgroup: cgroup.as_ref().map(std::os::fd::AsFd::as_fd),
        ..edgeplane_os::process::SpawnSpec::bare(
            std::ffi::OsStr::new("/bin/sleep"),
            &argv,
            &[],
            [std::os::fd::AsFd::as_fd(&null); 3],
        )
    })
    .unwrap();
    shim.control.send(&ToShim::CloseInput);
    let exit = shim.finish();
    assert!(exit.cgroup_empty && exit.tree_empty);
    assert!(!is_alive(stranger.pid));
    edgeplane_os::pidfd::wait(&stranger.pidfd).unwrap();
}

/// SHIM-033
#[test]
fn frozen_tree_is_killed() {
    let Some(group) = Group::make("frozen") else { return };
    let dir = epoch_dir();
    let mut shim =
        Shim::launch(group.spec(dir.path(), "setsid sleep 1000 & echo ready; while :; do sleep 0.02; done"));
    shim.control.until_shown("ready");
    group.epoch.freeze(soon()).unwrap();
    assert_eq!(
        shim.control.input(1, InputKind::Message, b"kept\n"),
        edgeplane_wire::shim::InputOutcome::Written
    );
    assert!(is_alive(shim.started.pid));
    shim.control.send(&ToShim::Kill);
    let exit = shim.finish();
    assert_eq!((exit.value, exit.signaled, exit.cgroup_empty), (9, true, true));
}

/// SHIM-033
#[test]
fn frozen_tree_is_killed_after_the_grace() {
    let Some(group) = Group::make("grace") else { return };
    let dir = epoch_dir();
    let mut shim = Shim::launch(group.spec(dir.path(), "echo ready; while :; do sleep 0.02; done"));
    shim.control.until_shown("ready");
    group.epoch.freeze(soon()).unwrap();
    shim.control.send(&ToShim::Stop { grace_ms: 100, signal: 15 });
    let exit = shim.finish();
    assert_eq!((exit.signaled, exit.cgroup_empty), (true, true));
}

/// A group of the v1 freezer, removed with the value.
struct Freezer(PathBuf);

impl Freezer {
    fn make(name: &str) -> Option<Self> {
        let place = Hierarchies::detect(&Sources::live()).v1(Controller::Freezer);
        let Place::At(dir) = place else {
            skip("the v1 freezer", &format!("{place:?}"));
            return None;
        };
        let group = Self(dir.join(format!("edgeplane-test-{}-{name}", std::process::id())));
        fs::create_dir(&group.0).unwrap();
        Some(group)
    }

    fn procs(&self) -> PathBuf {
        self.0.join("cgroup.procs")
    }

    fn set(&self, state: &str) {
        let path = self.0.join("freezer.state");
        // Asked again each time: a process that was being born slips through, and the kernel then stays at `FREEZING`.
        eventually(state, || {
            fs::write(&path, state).unwrap();
            fs::read_to_string(&path).unwrap().trim_end() == state
        });
    }
}

impl Drop for Freezer {
    fn drop(&mut self) {
        self.set("THAWED");
        eventually("the group is empty", || fs::remove_dir(&self.0).is_ok());
    }
}

/// SHIM-033
#[test]
fn tree_in_the_v1_freezer_is_thawed_and_killed() {
    let Some(freezer) = Freezer::make("tree") else { return };
    let dir = epoch_dir();
    let v1_procs = vec![freezer.procs().as_os_str().as_bytes().to_vec()];
    let script = "setsid sleep 1000 & echo ready; while :; do sleep 0.02; done";
    let mut shim = Shim::launch(LaunchSpec { v1_procs, ..spec(dir.path(), script) });
    shim.control.until_shown("ready");
    freezer.set("FROZEN");
    shim.control.send(&ToShim::Kill);
    let exit = shim.finish();
    assert_eq!((exit.value, exit.signaled, exit.cgroup_empty, exit.tree_empty), (9, true, true, true));
}

/// A process that the kernel does not let die stands for one that waits for hardware.
///
/// SHIM-021
#[test]
fn tree_that_does_not_die_is_told_as_not_empty() {
    let Some(freezer) = Freezer::make("hung") else { return };
    let dir = epoch_dir();
    let mut shim = Shim::launch(spec(dir.path(), "setsid sleep 1000 & echo $! .; read x; exit 3"));
    let hung: u32 = shim.control.until_shown(".").split(' ').next().unwrap().parse().unwrap();
    fs::write(freezer.procs(), hung.to_string()).unwrap();
    freezer.set("FROZEN");
    shim.control.send(&ToShim::CloseInput);
    let exit = shim.finish();
    assert_eq!((exit.value, exit.cgroup_empty, exit.tree_empty), (3, false, false));
    assert_eq!(shim.exit_record(), Some(exit));
    freezer.set("THAWED");
    eventually("it dies of the signal that it was sent", || !is_alive(hung));
}

/// SHIM-008, SHIM-034
#[test]
fn rest_of_the_tree_waits_in_its_group_for_whoever_cleans_up() {
    let Some(group) = Group::make("remains") else { return };
    let dir = epoch_dir();
    let mut shim =
        Shim::launch(group.spec(dir.path(), "setsid sleep 1000 & echo $! .; while :; do sleep 1; done"));
    let orphan: u32 = shim.control.until_shown(".").split(' ').next().unwrap().parse().unwrap();
    shim.kill_shim();
    eventually("the program dies", || !is_alive(shim.started.pid));
    assert!(is_alive(orphan) && !group.epoch.is_empty().unwrap());
    let place = group.epoch.work_placement().cgroup.unwrap();
    let report = crate::cleanup::delete(dir.path(), &["--cgroup", place.to_str().unwrap()]);
    assert_eq!(report["treeEmpty"], true);
    assert_eq!(report["evidence"], "cgroup");
    assert!(!is_alive(orphan));
    assert!(!place.exists() && !group.epoch.dir().exists(), "the groups are gone");
    assert!(!proc::all().unwrap().is_empty());
    let again = crate::cleanup::delete(dir.path(), &["--cgroup", place.to_str().unwrap()]);
    assert_eq!((&again["treeEmpty"], &again["killed"]), (&true.into(), &0.into()));
}

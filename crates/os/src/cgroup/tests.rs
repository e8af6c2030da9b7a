//! Groups on the running kernel where it lets us, and on made-up hierarchies for what it lacks.

use std::{
    ffi::OsStr,
    fs,
    os::fd::AsFd,
    os::unix::fs::MetadataExt,
    path::Path,
    sync::atomic::{AtomicU32, Ordering},
};

use edgeplane_types::life::ExitStatus;

use super::*;
use crate::{
    peer, pidfd, proc,
    process::{SpawnSpec, spawn},
    testing::{script, shell, skip, sleeper, soon, strings},
    wait::until,
};

/// The hierarchies of this machine if groups can be made with v2 for the processes.
fn live() -> Result<Hierarchies, String> {
    let found = Hierarchies::detect(&Sources::live());
    match &found.v2 {
        Place::At(_) => Ok(found),
        Place::Nowhere(reason) => Err(reason.clone()),
    }
}

static NODES: AtomicU32 = AtomicU32::new(0);

/// A node's group of a test, removed at its end.
struct TestNode(NodeGroup);

impl TestNode {
    fn new(hierarchies: &Hierarchies) -> Self {
        let number = NODES.fetch_add(1, Ordering::Relaxed);
        Self(NodeGroup::create(hierarchies, &format!("test-{}-{number}", std::process::id())).unwrap())
    }
}

impl Drop for TestNode {
    fn drop(&mut self) {
        for name in self.0.epochs() {
            if let Ok(epoch) = self.0.open_epoch(&name) {
                drop(epoch.kill(soon()));
                drop(epoch.remove(soon()));
            }
        }
        drop(self.0.remove());
    }
}

/// Runs `test` with a fresh node, once with v2 for the processes and once with the v1 freezer, where they are.
fn on_each_tree(what: &str, test: impl Fn(&NodeGroup)) {
    let found = Hierarchies::detect(&Sources::live());
    match &found.v2 {
        Place::At(_) => test(&TestNode::new(&found).0),
        Place::Nowhere(reason) => skip(what, &format!("on v2: {reason}")),
    }
    match found.v1(Controller::Freezer) {
        Place::At(dir) => {
            test(&TestNode::new(&Hierarchies::at(None, &[(Controller::Freezer, &dir)])).0);
        }
        Place::Nowhere(reason) => skip(what, &format!("on v1: {reason}")),
    }
}

/// Starts a shell script in the work of `epoch`.
fn start_in(epoch: &EpochGroup, line: &str) -> crate::testing::Sleeper {
    let (cgroup, v1_procs) = epoch.work_placement().open().unwrap();
    let v1_procs: Vec<_> = v1_procs.iter().map(AsFd::as_fd).collect();
    let (argv, envp, null) = (shell(line), strings(&["PATH=/usr/bin:/bin"]), crate::testing::null());
    let spec = SpawnSpec {
        cgroup: cgroup.as_ref().map(AsFd::as_fd),
        v1_procs: &v1_procs,
        ..SpawnSpec::bare(OsStr::new("/bin/sh"), &argv, &envp, [null.as_fd(); 3])
    };
    crate::testing::Sleeper(spawn(&spec).unwrap())
}

#[test]
fn process_is_born_in_its_group_and_the_kernel_tells_its_id() {
    let hierarchies = match live() {
        Ok(found) => found,
        Err(reason) => return skip("birth in a v2 group", &reason),
    };
    let node = TestNode::new(&hierarchies);
    let epoch = node.0.create_epoch("reviewer.1", &Limits::NONE, Shortfall::Refuse).unwrap();
    let (cgroup, _v1) = epoch.work_placement().open().unwrap();
    let (text, _status) = script("grep ^0:: /proc/self/cgroup", |spec| {
        spawn(&SpawnSpec { cgroup: cgroup.as_ref().map(AsFd::as_fd), ..spec })
    })
    .unwrap();
    assert!(text.trim_end().ends_with("/reviewer.1/work"), "{text}");

    let sleeper = sleeper(cgroup.as_ref().map(AsFd::as_fd));
    assert!(epoch.procs().unwrap().contains(&sleeper.0.pid));
    assert!(!epoch.is_empty().unwrap());
    let id = epoch.work_id().unwrap();
    assert_eq!(node.0.find(id).as_deref(), Some(Path::new("reviewer.1/work")));
    assert_eq!(node.0.find(epoch.shim_id().unwrap()).as_deref(), Some(Path::new("reviewer.1/shim")));
    assert_eq!(node.0.find(1), None);
    match pidfd::info(&sleeper.0.pidfd).and_then(|info| info.cgroup_id) {
        Some(told) => assert_eq!(told, id),
        None => skip("id of a process's group", "the kernel does not tell it"),
    }
}

#[test]
fn peer_of_an_ended_process_still_has_its_group() {
    let hierarchies = match live() {
        Ok(found) => found,
        Err(reason) => return skip("group of an ended peer", &reason),
    };
    let node = TestNode::new(&hierarchies);
    let epoch = node.0.create_epoch("reviewer.1", &Limits::NONE, Shortfall::Refuse).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let listener = crate::sock::bind_listener(&dir.path().join("s"), None).unwrap();
    let me = std::env::current_exe().unwrap();
    let argv = strings(&["tests", "--exact", "process::tests::connects_and_ends"]);
    let envp = strings(&[&format!("EDGEPLANE_TEST_HELPER={}", dir.path().join("s").display())]);
    let (null, cgroup) = (crate::testing::null(), epoch.work_placement().open().unwrap().0);
    let spec = SpawnSpec {
        cgroup: cgroup.as_ref().map(AsFd::as_fd),
        ..SpawnSpec::bare(me.as_os_str(), &argv, &envp, [null.as_fd(); 3])
    };
    let child = spawn(&spec).unwrap();
    let (socket, _address) = listener.accept().unwrap();
    assert_eq!(pidfd::wait(&child.pidfd).unwrap(), ExitStatus::Code(0));
    let peer = peer::peer_of(&socket).unwrap();
    assert!(!peer.alive);
    if peer.cgroup_id.is_none() {
        return skip("group of an ended peer", "the kernel does not keep it");
    }
    assert_eq!(peer.cgroup_id, epoch.work_id());
    assert_eq!(pidfd::info(&child.pidfd).unwrap().exit, Some(ExitStatus::Code(0)));
}

#[test]
fn frozen_work_stops_and_goes_on() {
    on_each_tree("freezing", |node| {
        let epoch = node.create_epoch("worker.7", &Limits::NONE, Shortfall::Refuse).unwrap();
        let busy = start_in(&epoch, "while :; do :; done");
        let ticks = || {
            let stat = fs::read_to_string(format!("/proc/{}/stat", busy.0.pid)).unwrap();
            stat.rsplit(") ").next().unwrap().split(' ').nth(11).unwrap().parse::<u64>().unwrap()
        };
        assert!(until(soon(), || ticks() > 1), "it runs");
        assert!(!epoch.is_frozen().unwrap());
        epoch.freeze(soon()).unwrap();
        assert!(epoch.is_frozen().unwrap());
        let stopped = ticks();
        // Something else gets time meanwhile, so a running process would have got some too.
        let before = clock_ticks();
        assert!(until(soon(), || clock_ticks() > before + 20));
        assert_eq!(ticks(), stopped);
        epoch.thaw().unwrap();
        assert!(until(soon(), || ticks() > stopped), "it runs again");
    });
}

/// Hundredths of a second since boot.
fn clock_ticks() -> u64 {
    crate::Clock::monotonic_ms(&crate::SystemClock) / 10
}

#[test]
fn kill_ends_frozen_and_forking_work_and_emptiness_is_seen() {
    on_each_tree("killing", |node| {
        let epoch = node.create_epoch("worker.8", &Limits::NONE, Shortfall::Refuse).unwrap();
        // Children that leave the session are still of the group.
        let tree = start_in(&epoch, "setsid sleep 1000 & setsid sh -c 'sleep 1000 & wait' & wait");
        assert!(until(soon(), || epoch.procs().unwrap().len() >= 4), "{:?}", epoch.procs());
        assert!(!epoch.wait_empty(crate::wait::Deadline::after(std::time::Duration::ZERO)).unwrap());
        let events = epoch.events().unwrap();
        epoch.freeze(soon()).unwrap();
        epoch.kill(soon()).unwrap();
        assert!(epoch.wait_empty(soon()).unwrap());
        assert!(epoch.is_empty().unwrap() && epoch.procs().unwrap().is_empty());
        if let Some(events) = events {
            assert!(crate::poll::is_ready(&events, crate::poll::PollFlags::PRI, soon().remaining()).unwrap());
        }
        assert!(!proc::stat(tree.0.pid).unwrap().is_alive());
        epoch.remove(soon()).unwrap();
        assert!(matches!(node.open_epoch("worker.8"), Err(CgroupError::Missing { .. })));
    });
}

#[test]
fn group_is_taken_over_by_name_and_not_made_twice() {
    on_each_tree("taking over", |node| {
        let made = node.create_epoch("worker.9", &Limits::NONE, Shortfall::Refuse).unwrap();
        let again = node.create_epoch("worker.9", &Limits::NONE, Shortfall::Refuse);
        assert!(matches!(again, Err(CgroupError::Exists { .. })));
        let _busy = start_in(&made, "sleep 1000");
        let taken = node.open_epoch("worker.9").unwrap();
        assert_eq!(taken.procs().unwrap(), made.procs().unwrap());
        assert_eq!(node.epochs(), ["worker.9"]);
        let busy = taken.remove(crate::wait::Deadline::after(std::time::Duration::ZERO));
        assert!(matches!(busy, Err(CgroupError::Remove { .. })));
        taken.kill(soon()).unwrap();
        assert!(taken.wait_empty(soon()).unwrap());
        taken.remove(soon()).unwrap();
    });
}

#[test]
fn memory_and_process_limits_hold() {
    let hierarchies = match live() {
        Ok(found) => found,
        Err(reason) => return skip("limits", &reason),
    };
    let report = hierarchies.report();
    for backing in [&report.memory, &report.pids, &report.cpu] {
        if backing.backend == Backend::None {
            return skip("limits", &backing.reason);
        }
    }
    let node = TestNode::new(&hierarchies);
    let limits = Limits { memory_bytes: Some(32 << 20), pids: Some(8), cpu_milli: Some(500) };
    let epoch = node.0.create_epoch("limited.1", &limits, Shortfall::Refuse).unwrap();
    assert!(epoch.unenforced().is_empty());
    let many = start_in(&epoch, "i=0; while [ $i -lt 20 ]; do sleep 1000 & i=$((i+1)); done; wait");
    assert!(pidfd::is_exited_within(&many.0.pidfd, soon().remaining()).unwrap(), "the shell cannot fork");
    assert!(epoch.procs().unwrap().len() < 8);
    epoch.kill(soon()).unwrap();
    assert!(epoch.wait_empty(soon()).unwrap());
    // The shell keeps all of it in one variable.
    let large = start_in(&epoch, "x=$(head -c 200000000 /dev/zero | tr '\\0' x); exit 0");
    assert!(pidfd::is_exited_within(&large.0.pidfd, soon().remaining()).unwrap());
    assert_ne!(pidfd::wait(&large.0.pidfd).unwrap(), ExitStatus::Code(0));
    epoch.kill(soon()).unwrap();
    assert!(epoch.wait_empty(soon()).unwrap());
    epoch.remove(soon()).unwrap();
}

fn check_file(path: &Path, expected: &str) {
    assert_eq!(fs::read_to_string(path).unwrap(), expected, "{}", path.display());
}

const ALL: Limits = Limits { memory_bytes: Some(1 << 30), pids: Some(64), cpu_milli: Some(1_500) };

#[test]
fn v2_limits_are_written_where_v2_offers_them() {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("cgroup.controllers"), "cpuset cpu io memory pids\n").unwrap();
    let node = NodeGroup::create(&Hierarchies::at(Some(root.path()), &[]), "n").unwrap();
    let epoch = node.create_epoch("a.1", &ALL, Shortfall::Refuse).unwrap();
    let work = root.path().join("edgeplane-n/a.1/work");
    check_file(&work.join("memory.max"), "1073741824");
    check_file(&work.join("pids.max"), "64");
    check_file(&work.join("cpu.max"), "150000 100000");
    for dir in ["", "edgeplane-n", "edgeplane-n/a.1"] {
        check_file(&root.path().join(dir).join("cgroup.subtree_control"), "+cpu");
    }
    assert_eq!(epoch.work_placement(), Placement { cgroup: Some(work), v1_procs: Vec::new() });
    assert_eq!(epoch.work_id(), Some(fs::metadata(epoch.dir().join("work")).unwrap().ino()));
}

#[test]
fn limits_fall_back_to_v1_and_what_nothing_keeps_is_named() {
    let (v2, v1) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(v2.path().join("cgroup.controllers"), "pids\n").unwrap();
    let hierarchies = Hierarchies::at(Some(v2.path()), &[(Controller::Memory, v1.path())]);
    let node = NodeGroup::create(&hierarchies, "n").unwrap();

    let error = node.create_epoch("a.1", &ALL, Shortfall::Refuse).unwrap_err();
    assert_eq!(error.to_string(), "cannot limit cpu: v2 does not offer `cpu`; not mounted");

    let epoch = node.create_epoch("a.2", &ALL, Shortfall::Accept).unwrap();
    assert_eq!(epoch.unenforced(), [Controller::Cpu]);
    let memory = v1.path().join("edgeplane-n/a.2");
    check_file(&memory.join("memory.limit_in_bytes"), "1073741824");
    check_file(&v2.path().join("edgeplane-n/a.2/work/pids.max"), "64");
    assert_eq!(epoch.work_placement().v1_procs, [memory.join("cgroup.procs")]);
    assert!(epoch.shim_placement().v1_procs.is_empty(), "the shim is not limited");

    let none = node.create_epoch("a.3", &Limits::NONE, Shortfall::Refuse).unwrap();
    assert!(none.work_placement().v1_procs.is_empty());
}

#[test]
fn names_that_lead_elsewhere_are_refused() {
    let root = tempfile::tempdir().unwrap();
    let hierarchies = Hierarchies::at(Some(root.path()), &[]);
    let node = NodeGroup::create(&hierarchies, "n").unwrap();
    for bad in ["", ".", "..", "a/b", ".hidden", "a b", "a\n"] {
        let result = node.create_epoch(bad, &Limits::NONE, Shortfall::Refuse);
        assert!(matches!(result, Err(CgroupError::BadName { .. })), "{bad:?}");
    }
    assert!(matches!(NodeGroup::create(&hierarchies, "../x"), Err(CgroupError::BadName { .. })));
    let nothing = NodeGroup::create(&Hierarchies::at(None, &[]), "n").unwrap_err();
    assert_eq!(nothing.to_string(), "cannot use control groups: not given; not mounted");
}

/// Detects on a made-up machine whose directories lie below `root`.
fn detect(root: &Path, cgroup: &str, mounts: &[(&str, &str, &str)], is_root: bool) -> Hierarchies {
    let line = |(top, point, kind): &(&str, &str, &str)| {
        let (kind, option) = kind.split_once(' ').unwrap_or((kind, "rw"));
        format!("30 1 0:2 {top} {}/{point} rw,nosuid shared:4 - {kind} none rw,{option}\n", root.display())
    };
    let mountinfo = mounts.iter().map(line).collect();
    Hierarchies::detect(&Sources { cgroup: cgroup.to_owned(), mountinfo, is_root })
}

fn make_v2(dir: &Path) {
    fs::create_dir_all(dir).unwrap();
    for file in ["cgroup.procs", "cgroup.subtree_control", "cgroup.controllers"] {
        fs::write(dir.join(file), "memory pids").unwrap();
    }
}

#[test]
fn hierarchies_are_found_wherever_they_are_mounted() {
    let temporary = tempfile::tempdir().unwrap();
    let root = temporary.path().canonicalize().unwrap();
    make_v2(&root.join("two words"));
    make_v2(&root.join("two words/user.slice"));
    fs::create_dir_all(root.join("memory/box")).unwrap();
    let v2 = ("/", "two\\040words", "cgroup2");
    let top = Place::At(root.join("two words"));

    let hybrid = [v2, ("/box", "memory/box", "cgroup memory"), ("/", "gone", "cgroup cpu,cpuacct")];
    let found = detect(&root, "4:memory:/box\n3:cpu,cpuacct:/\n0::/\n", &hybrid, true);
    assert_eq!(found.v2, top);
    assert_eq!(found.v2_controllers, [Controller::Memory, Controller::Pids]);
    assert_eq!(found.v1(Controller::Memory), Place::At(root.join("memory/box")));
    assert!(matches!(found.v1(Controller::Cpu), Place::Nowhere(reason) if reason.contains("gone")));
    let report = found.report();
    assert_eq!((report.freeze.backend, report.cpu.backend), (Backend::V2, Backend::None));

    // A user manages the group it is in; root without delegation goes to the top.
    let own = Place::At(root.join("two words/user.slice"));
    assert_eq!(detect(&root, "0::/user.slice\n", &[v2], false).v2, own);
    assert_eq!(detect(&root, "0::/user.slice\n", &[v2], true).v2, top);
    // Started again from inside a node's group, and next to a unit that merely sounds like one.
    assert_eq!(detect(&root, "0::/user.slice/edgeplane-n/daemon\n", &[v2], false).v2, own);
    make_v2(&root.join("two words/edgeplane-n.service"));
    let unit = Place::At(root.join("two words/edgeplane-n.service"));
    assert_eq!(detect(&root, "0::/edgeplane-n.service\n", &[v2], false).v2, unit);

    let nothing = detect(&root, "", &[], true);
    assert_eq!(nothing.report().kill.backend, Backend::None);
    assert_eq!(nothing.report().kill.reason, "v2 is not mounted; no v1 hierarchy has `freezer`");
}

#[test]
fn group_whose_maker_died_half_way_has_nothing_to_end() {
    let hierarchies = match live() {
        Ok(found) => found,
        Err(reason) => return skip("a half-made v2 group", &reason),
    };
    let node = TestNode::new(&hierarchies);
    drop(node.0.create_epoch("reviewer.1", &Limits::NONE, Shortfall::Refuse).unwrap());
    for part in ["work", "shim"] {
        let epoch = node.0.open_epoch("reviewer.1").unwrap();
        fs::remove_dir(epoch.dir().join(part)).unwrap();
        epoch.kill(soon()).unwrap();
        assert!(epoch.is_empty().unwrap());
    }
    let epoch = node.0.open_epoch("reviewer.1").unwrap();
    epoch.remove(soon()).unwrap();
    assert!(epoch.is_empty().unwrap());
}

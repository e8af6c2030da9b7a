//! The nursery: what it makes is a shim like any other, and it ends with its daemon.

use std::{
    fs,
    io::Read,
    os::{
        fd::{AsFd, OwnedFd},
        unix::net::UnixStream,
    },
};

use edgeplane_os::{
    pidfd, proc,
    process::{SpawnSpec, Spawned, spawn},
    sock,
};
use edgeplane_wire::shim::{FromShim, ToShim, split_frame};

use crate::{
    cgroups::Group,
    harness::{epoch_dir, eventually, is_alive, shim_program, strings},
};

const MARK: &str = "EDGEPLANE_EPOCH=agt_x.3";

struct Nursery {
    control: OwnedFd,
    process: Spawned,
}

impl Nursery {
    fn start() -> Self {
        let (control, theirs) = sock::pair_of_messages().unwrap();
        let null = fs::File::options().read(true).write(true).open("/dev/null").unwrap();
        let argv = strings(&["edgeplane-shim", "nursery", &"-".repeat(128)]);
        let envp = strings(&[&format!("_={}", "-".repeat(96))]);
        let fds = [(theirs.as_fd(), 3)];
        let mut spec = SpawnSpec::bare(shim_program(), &argv, &envp, [null.as_fd(); 3]);
        spec.extra_fds = &fds;
        Self { control, process: spawn(&spec).unwrap() }
    }

    fn bear(&self, link: &UnixStream, cgroup: &OwnedFd) -> (u32, OwnedFd) {
        let request = format!("shell\x003\0{MARK}\0");
        sock::send_with_fds(&self.control, request.as_bytes(), &[link.as_fd(), cgroup.as_fd()]).unwrap();
        let mut answer = [0; 4];
        let received = sock::recv_with_fds(&self.control, &mut answer).unwrap();
        let [handle] = <[OwnedFd; 1]>::try_from(received.fds).unwrap();
        (u32::from_ne_bytes(answer), handle)
    }
}

/// SHIM-037
#[test]
fn newborn_is_a_shim_in_its_group_and_a_child_of_the_asker() {
    let Some(group) = Group::make("nursery") else { return };
    let dir = epoch_dir();
    let nursery = Nursery::start();
    let (cgroup, _) = group.epoch.shim_placement().open().unwrap();
    let cgroup = cgroup.unwrap();
    let (mut link, theirs) = sock::pair().unwrap();
    let (pid, handle) = nursery.bear(&theirs, &cgroup);
    drop(theirs);
    assert_eq!(proc::stat(pid).unwrap().parent, std::process::id());
    let file = |name: &str| fs::read(format!("/proc/{pid}/{name}")).unwrap();
    eventually("its title is its own", || {
        file("cmdline").starts_with(b"edgeplane-shim\0run\0shell\x003\0\0")
    });
    assert!(proc::find_marked(MARK.as_bytes()).unwrap().contains(&pid));
    assert!(String::from_utf8(file("cgroup")).unwrap().contains("/shell.3/shim"));

    let encoded = group.spec(dir.path(), "echo ready; read x; exit 5").encode();
    let mut frame = Vec::new();
    ToShim::Launch { spec: &encoded }.encode(&mut frame);
    std::io::Write::write_all(&mut link, &frame).unwrap();
    let mut bytes = vec![0; 4096];
    let count = link.read(&mut bytes).unwrap();
    let (body, _) = split_frame(&bytes[..count]).unwrap().unwrap();
    assert!(matches!(FromShim::decode(body).unwrap(), FromShim::Started(_)), "it launches");

    // It outlives the nursery and whoever asked for it.
    drop(nursery.control);
    pidfd::wait(&nursery.process.pidfd).unwrap();
    assert!(is_alive(pid));
    let mut frame = Vec::new();
    ToShim::CloseInput.encode(&mut frame);
    std::io::Write::write_all(&mut link, &frame).unwrap();
    pidfd::wait(&handle).unwrap();
}

/// SHIM-037
#[test]
fn newborn_without_a_launch_ends_with_its_connection() {
    let Some(group) = Group::make("nursery-idle") else { return };
    let nursery = Nursery::start();
    let (cgroup, _) = group.epoch.shim_placement().open().unwrap();
    let (link, theirs) = sock::pair().unwrap();
    let (_, handle) = nursery.bear(&theirs, &cgroup.unwrap());
    drop((link, theirs));
    pidfd::wait(&handle).unwrap();
    drop(nursery.control);
    pidfd::wait(&nursery.process.pidfd).unwrap();
}

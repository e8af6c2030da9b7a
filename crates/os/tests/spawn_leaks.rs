//! Spawning over and over leaves nothing behind.
//!
//! In a test program of its own: it counts all descriptors and reaps any child.
#![expect(clippy::unwrap_used, reason = "the helpers of a test may fail it")]

use std::{
    ffi::{CString, OsStr},
    fs::File,
    os::fd::{AsFd, OwnedFd},
};

use edgeplane_os::{
    pidfd::{self, Reaped},
    process::{SpawnSpec, spawn},
};
use edgeplane_types::life::ExitStatus;

fn open_descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

fn mapped_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split(' ').next().unwrap().parse::<u64>().unwrap()
}

fn run(program: &str, times: usize) {
    let null: OwnedFd = File::options().read(true).write(true).open("/dev/null").unwrap().into();
    let argv = [CString::new("x").unwrap()];
    for _time in 0..times {
        let spec = SpawnSpec::bare(OsStr::new(program), &argv, &[], [null.as_fd(); 3]);
        if let Ok(spawned) = spawn(&spec) {
            assert_eq!(pidfd::wait(&spawned.pidfd).unwrap(), ExitStatus::Code(0));
        }
    }
}

#[test]
fn many_spawns_leave_no_descriptor_memory_or_child() {
    run("/bin/true", 10);
    let before = (open_descriptors(), mapped_bytes());
    run("/bin/true", 200);
    run("/nowhere", 200);
    assert_eq!((open_descriptors(), mapped_bytes()), before);
    assert_eq!(pidfd::reap_any().unwrap(), Reaped::NoChildren);

    // Two at once: each waits for its own child only, and neither sees the other's descriptors.
    std::thread::scope(|scope| {
        for _thread in 0..2 {
            scope.spawn(|| run("/bin/true", 100));
        }
    });
    assert_eq!(open_descriptors(), before.0);
    assert_eq!(pidfd::reap_any().unwrap(), Reaped::NoChildren);
}

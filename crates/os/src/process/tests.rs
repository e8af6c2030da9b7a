//! Starting programs: what they find, what they do not, and what failures say.

use std::{
    ffi::{CString, OsStr},
    fs::File,
    io::{Read, Write},
    os::fd::AsFd,
    os::unix::{ffi::OsStrExt, fs::PermissionsExt},
    path::Path,
};

use edgeplane_types::life::ExitStatus;
use rustix::process::Resource;

use super::*;
use crate::{
    fd::{self, Transfer},
    peer, pidfd, poll,
    pty::{self, Master, Size},
    testing::{null, script, shell, skip, soon, strings},
    wait,
};

const SIZE: Size = Size { columns: 80, rows: 24 };

/// Reads the terminal until `wanted` shows, and returns everything seen.
fn read_until(master: &Master, wanted: &str) -> String {
    let deadline = soon();
    let mut seen = String::new();
    while !seen.contains(wanted) && !deadline.has_passed() {
        poll::is_ready(master, poll::PollFlags::IN, deadline.remaining()).unwrap();
        let mut bytes = [0; 1024];
        match fd::read(master, &mut bytes).unwrap() {
            Transfer::Moved(count) => seen.push_str(&String::from_utf8_lossy(&bytes[..count])),
            Transfer::WouldBlock => {}
            Transfer::Ended => break,
        }
    }
    assert!(seen.contains(wanted), "`{wanted}` did not show in {seen:?}");
    seen
}

/// Runs `script` on a terminal of its own.
fn on_terminal(script: &str) -> (Master, Spawned) {
    let (master, slave) = pty::open(SIZE).unwrap();
    let (argv, envp) = (shell(script), strings(&["PATH=/usr/bin:/bin", "TERM=dumb"]));
    let spec = SpawnSpec {
        new_session: true,
        controlling_tty: Some(slave.as_fd()),
        ..SpawnSpec::bare(OsStr::new("/bin/sh"), &argv, &envp, [slave.as_fd(); 3])
    };
    (master, spawn(&spec).unwrap())
}

#[test]
fn program_runs_with_its_arguments_environment_and_identity() {
    let (argv, envp, null) = (strings(&["name", "-c", "test $0/$A = x/b", "x"]), strings(&["A=b"]), null());
    let spec = SpawnSpec {
        search_path: OsStr::new("/nowhere:/bin"),
        ..SpawnSpec::bare(OsStr::new("sh"), &argv, &envp, [null.as_fd(); 3])
    };
    let spawned = spawn(&spec).unwrap();
    assert!(proc::is_same(spawned.pid, spawned.start_time));
    assert_eq!(pidfd::wait(&spawned.pidfd).unwrap(), ExitStatus::Code(0));
    assert!(!proc::is_same(spawned.pid, spawned.start_time));
}

#[test]
fn terminal_is_the_childs_own() {
    let (master, spawned) = on_terminal("tty; exec 9</dev/tty && echo opened");
    let seen = read_until(&master, "opened\r\n");
    assert!(seen.contains(&master.slave_name().unwrap()), "{seen}");
    assert_eq!(pidfd::wait(&spawned.pidfd).unwrap(), ExitStatus::Code(0));
}

#[test]
fn interrupt_key_reaches_the_program() {
    let (master, spawned) =
        on_terminal("trap 'echo caught; exit 7' INT; echo ready; while :; do sleep 0.01; done");
    read_until(&master, "ready");
    assert_eq!(master.foreground().unwrap(), Some(spawned.pid));
    fd::write(&master, b"\x03").unwrap();
    read_until(&master, "caught");
    assert_eq!(pidfd::wait(&spawned.pidfd).unwrap(), ExitStatus::Code(7));
}

/// Set for a run of this test program that is to play the spawner.
const HELPER: &str = "EDGEPLANE_TEST_HELPER";

#[test]
fn session_leader_that_spawns_gets_no_terminal() {
    if std::env::var_os(HELPER).is_some() {
        let (master, spawned) = on_terminal("tty; echo done");
        read_until(&master, "done");
        assert_eq!(pidfd::wait(&spawned.pidfd).unwrap(), ExitStatus::Code(0));
        assert_eq!(terminal_of_this_process(), "0", "the spawner has a controlling terminal");
        // The hangup of the terminal must not reach the spawner either.
        drop(master);
        return;
    }
    let me = std::env::current_exe().unwrap();
    let argv = strings(&["tests", "--exact", "process::tests::session_leader_that_spawns_gets_no_terminal"]);
    let (envp, null) = (strings(&[&format!("{HELPER}=1"), "TMPDIR=/tmp"]), null());
    let spec =
        SpawnSpec { new_session: true, ..SpawnSpec::bare(me.as_os_str(), &argv, &envp, [null.as_fd(); 3]) };
    let leader = spawn(&spec).unwrap();
    assert_eq!(pidfd::wait(&leader.pidfd).unwrap(), ExitStatus::Code(0));
}

/// Field 7 of the state: zero without a controlling terminal.
fn terminal_of_this_process() -> String {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    stat.rsplit(") ").next().unwrap().split(' ').nth(4).unwrap().to_owned()
}

#[test]
fn every_other_descriptor_is_closed() {
    // Open across programs, so that only closing it in the child keeps it from there.
    let leaked = rustix::io::dup(null()).unwrap();
    rustix::io::fcntl_setfd(&leaked, rustix::io::FdFlags::empty()).unwrap();
    let given = null();
    let (text, _status) = script("ls -1 /proc/$$/fd", |spec| {
        spawn(&SpawnSpec { extra_fds: &[(given.as_fd(), 7), (given.as_fd(), 1_000)], ..spec })
    })
    .unwrap();
    assert_eq!(text.split_whitespace().collect::<Vec<_>>(), ["0", "1", "1000", "2", "7"]);
}

#[test]
fn descriptors_may_trade_places() {
    let (mut readers, mut writers) = (Vec::new(), Vec::new());
    for _pipe in 0..2 {
        let (reader, writer) = fd::pipe().unwrap();
        readers.push(File::from(reader));
        writers.push(writer);
    }
    // Each under the other's number, which is what makes plain copying go wrong.
    let numbers: Vec<i32> = writers.iter().map(|writer| writer.as_raw_fd()).collect();
    let extra = [(writers[0].as_fd(), numbers[1]), (writers[1].as_fd(), numbers[0])];
    let line = format!("echo one >/proc/self/fd/{}; echo two >/proc/self/fd/{}", numbers[1], numbers[0]);
    script(&line, |spec| spawn(&SpawnSpec { extra_fds: &extra, ..spec })).unwrap();
    drop(writers);
    for (reader, expected) in readers.iter_mut().zip(["one\n", "two\n"]) {
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, expected);
    }
}

#[test]
fn targets_named_twice_or_negative_are_refused() {
    for target in [2, -1, i32::MAX] {
        let given = null();
        let result =
            script("true", |spec| spawn(&SpawnSpec { extra_fds: &[(given.as_fd(), target)], ..spec }));
        assert!(matches!(result, Err(SpawnError::BadTarget { .. } | SpawnError::Setup { .. })), "{target}");
    }
}

#[test]
fn signals_are_as_a_program_expects_them() {
    crate::signals::ignore_sigpipe().unwrap();
    let (text, _status) = script("grep -E '^Sig(Blk|Ign)' /proc/self/status", |spec| spawn(&spec)).unwrap();
    for line in text.lines() {
        assert!(line.ends_with("\t0000000000000000"), "{line}");
    }
    assert_eq!(text.lines().count(), 2);
}

#[test]
fn new_privileges_are_given_up_only_if_asked() {
    for (no_new_privs, expected) in [(true, "NoNewPrivs:\t1\n"), (false, "NoNewPrivs:\t0\n")] {
        let line = "grep NoNewPrivs /proc/self/status";
        let (text, _status) = script(line, |spec| spawn(&SpawnSpec { no_new_privs, ..spec })).unwrap();
        if !no_new_privs && rustix::thread::no_new_privs().unwrap() {
            skip("new privileges", "this process has given them up itself");
            continue;
        }
        assert_eq!(text, expected);
    }
}

#[test]
fn limits_directory_and_mask_are_set() {
    let dir = tempfile::tempdir().unwrap();
    let cwd = CString::new(dir.path().as_os_str().as_bytes()).unwrap();
    let limit = Limit { resource: Resource::Nofile, soft: Some(64), hard: Some(128) };
    let (text, _status) = script("ulimit -Sn; ulimit -Hn; umask; pwd", |spec| {
        spawn(&SpawnSpec { rlimits: &[limit], cwd: Some(&cwd), umask: Some(0o027), ..spec })
    })
    .unwrap();
    let pwd = dir.path().canonicalize().unwrap();
    assert_eq!(text, format!("64\n128\n0027\n{}\n", pwd.display()));
}

#[test]
fn program_runs_as_another_user_with_no_groups_kept() {
    if !crate::caps::may_become_others() {
        skip("another user", "needs the right to become others");
        return;
    }
    let user = Some(User { uid: 65_534, gid: 65_534, groups: &[1_234] });
    let (text, _status) = script("id -u; id -G; grep CapEff /proc/self/status", |spec| {
        spawn(&SpawnSpec { user, death_signal: Some(Signal::KILL), ..spec })
    })
    .unwrap();
    assert_eq!(text, "65534\n65534 1234\nCapEff:\t0000000000000000\n");
}

#[test]
fn death_signal_follows_the_thread_that_spawned() {
    let (argv, envp, null) = (strings(&["sleep", "1000"]), Vec::new(), null());
    let spawned = std::thread::scope(|scope| {
        let start = || {
            spawn(&SpawnSpec {
                death_signal: Some(Signal::KILL),
                ..SpawnSpec::bare(OsStr::new("/bin/sleep"), &argv, &envp, [null.as_fd(); 3])
            })
        };
        scope.spawn(start).join().unwrap().unwrap()
    });
    assert!(pidfd::is_exited_within(&spawned.pidfd, soon().remaining()).unwrap());
    assert_eq!(pidfd::wait(&spawned.pidfd).unwrap(), ExitStatus::Signal(9));
}

/// The whole chain of an error's messages.
fn messages(error: &SpawnError) -> String {
    let mut text = error.to_string();
    let mut next = std::error::Error::source(error);
    while let Some(cause) = next {
        text = format!("{text}: {cause}");
        next = cause.source();
    }
    text
}

fn check_failure(program: &Path, cwd: &str, expected: &str) {
    let (argv, envp, null) = (strings(&["x"]), Vec::new(), null());
    let cwd = CString::new(cwd).unwrap();
    let spec = SpawnSpec {
        search_path: OsStr::new("/bin"),
        cwd: Some(&cwd),
        ..SpawnSpec::bare(program.as_os_str(), &argv, &envp, [null.as_fd(); 3])
    };
    let error = spawn(&spec).unwrap_err();
    assert!(messages(&error).starts_with(expected), "`{}` is not `{expected}…`", messages(&error));
}

#[test]
fn failures_name_the_step_the_subject_and_the_cause() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str, mode: u32| {
        let path = dir.path().join(name);
        let mut file = File::create(&path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file.set_permissions(std::fs::Permissions::from_mode(mode)).unwrap();
        path
    };
    let plain = file("plain", "", 0o644);
    let script = file("script", "#!/nowhere/interpreter\n", 0o755);
    let noise = file("noise", "neither program nor script", 0o755);
    let name = |path: &Path| path.display().to_string();
    check_failure(Path::new("/nowhere/x"), "/", "cannot run `/nowhere/x`: No such file");
    check_failure(Path::new("no-such-name"), "/", "cannot find program `no-such-name` in `/bin`");
    check_failure(&plain, "/", &format!("cannot run `{}`: Permission denied", name(&plain)));
    check_failure(
        &script,
        "/",
        &format!("cannot run `{}`: its interpreter or loader is missing", name(&script)),
    );
    check_failure(&noise, "/", &format!("cannot run `{}`: Exec format error", name(&noise)));
    check_failure(
        Path::new("/bin/sh"),
        "/nowhere",
        "cannot run `/bin/sh` in directory `/nowhere`: No such file",
    );
}

#[test]
fn terminal_without_a_session_is_a_step_that_fails() {
    let (_master, slave) = pty::open(SIZE).unwrap();
    let result = script("true", |spec| {
        spawn(&SpawnSpec { new_session: false, controlling_tty: Some(slave.as_fd()), ..spec })
    });
    assert!(matches!(result, Err(SpawnError::Setup { step: Step::Terminal, .. })), "{result:?}");
}

#[test]
fn directory_that_is_no_cgroup_takes_no_process() {
    let dir = tempfile::tempdir().unwrap();
    let plain = File::open(dir.path()).unwrap();
    let result = script("true", |spec| spawn(&SpawnSpec { cgroup: Some(plain.as_fd()), ..spec }));
    assert!(matches!(result, Err(SpawnError::Clone { .. })), "{result:?}");
}

#[test]
fn peer_that_died_and_was_reaped_is_still_told_apart() {
    // The child's own socket to us: it connects, and is gone before anybody looks.
    let dir = tempfile::tempdir().unwrap();
    let listener = crate::sock::bind_listener(&dir.path().join("s"), None).unwrap();
    let me = std::env::current_exe().unwrap();
    let argv = strings(&["tests", "--exact", "process::tests::connects_and_ends"]);
    let path = format!("{HELPER}={}", dir.path().join("s").display());
    let (envp, null) = (strings(&[&path]), null());
    let spec = SpawnSpec::bare(me.as_os_str(), &argv, &envp, [null.as_fd(); 3]);
    let child = spawn(&spec).unwrap();
    let (socket, _address) = listener.accept().unwrap();
    let alive = peer::peer_of(&socket).unwrap();
    assert_eq!(alive.pid, child.pid);
    assert_eq!(pidfd::wait(&child.pidfd).unwrap(), ExitStatus::Code(0));
    let dead = peer::peer_of(&socket).unwrap();
    assert_eq!((dead.pid, dead.alive, dead.start_time), (child.pid, false, None));
    let own = peer::peer_of(&crate::sock::pair().unwrap().0).unwrap();
    if dead.cgroup_id.is_none() {
        skip("cgroup of a reaped peer", "this kernel does not keep it");
        return;
    }
    assert_eq!(dead.cgroup_id, own.cgroup_id, "the child was in this process's cgroup");
}

#[test]
fn connects_and_ends() {
    // Only as the helper of the test above.
    if let Some(path) = std::env::var_os(HELPER) {
        crate::sock::connect(Path::new(&path)).unwrap();
    }
}

#[test]
fn children_ancestry_and_marks_find_the_child() {
    let (argv, null) = (shell("sleep 1000 & wait"), null());
    let mark = format!("EDGEPLANE_TEST_MARK={}", std::process::id());
    let envp = strings(&["PATH=/usr/bin:/bin", &mark]);
    let spec = SpawnSpec::bare(OsStr::new("/bin/sh"), &argv, &envp, [null.as_fd(); 3]);
    let spawned = crate::testing::Sleeper(spawn(&spec).unwrap());
    let pid = spawned.0.pid;
    assert!(proc::children(std::process::id()).unwrap().contains(&pid));
    assert!(wait::until(soon(), || proc::children(pid).is_ok_and(|found| found.len() == 1)));
    let grandchild = proc::children(pid).unwrap()[0];
    assert!(proc::descendants(std::process::id()).unwrap().contains(&grandchild));
    let line = peer::ancestry(grandchild, |above| above == std::process::id());
    assert_eq!(line.end, peer::AncestryEnd::Stopped);
    assert_eq!(
        line.chain.iter().map(|entry| entry.pid).collect::<Vec<_>>(),
        [grandchild, pid, std::process::id()]
    );
    assert!(wait::until(soon(), || {
        let found = proc::find_marked(mark.as_bytes()).unwrap();
        found.contains(&pid) && found.contains(&grandchild)
    }));
    assert!(proc::find_marked(&mark.as_bytes()[..mark.len() - 1]).unwrap().is_empty());
}

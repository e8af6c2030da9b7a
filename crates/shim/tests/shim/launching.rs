//! From the first frame to a running program, or to the reason why there is none.

use std::{
    fs,
    os::{fd::AsFd, unix::fs::MetadataExt},
};

use edgeplane_os::{fd, proc, process::User, pty};
use edgeplane_types::life::ExitStatus;
use edgeplane_wire::{
    shim::{EpochState, FromShim, InputKind, LaunchStep, OutputStream, ToShim},
    spec::{LaunchSpec, ResourceLimit, RunAs},
};

use crate::harness::{
    Birth, Shim, epoch_dir, eventually, is_alive, shim_program, skip, spec, start, terminal_spec,
};
use crate::recorded::Recorded;

/// SHIM-001, SHIM-021
#[test]
fn program_runs_and_its_end_is_told() {
    let dir = epoch_dir();
    let mut shim = Shim::launch(spec(dir.path(), "echo out; echo err >&2; exit 5"));
    assert_eq!((shim.started.epoch, shim.started.state), (3, EpochState::Running));
    assert_eq!(shim.started.shim_pid, shim.spawned.pid);
    assert_eq!(shim.started.shim_start, shim.spawned.start_time);
    let exit = shim.finish();
    assert_eq!((exit.value, exit.signaled, exit.output_bytes, exit.tree_empty), (5, false, 8, true));
    let recorded = Recorded::read(dir.path());
    assert_eq!(recorded.stream(OutputStream::Out), b"out\n");
    assert_eq!(recorded.stream(OutputStream::Err), b"err\n");
    assert_eq!(recorded.others(), [('x', "5")]);
    assert_eq!(shim.exit_record(), Some(exit));
}

/// SHIM-002
#[test]
fn program_has_a_terminal_of_its_own_size() {
    let dir = epoch_dir();
    let mut shim = Shim::launch(terminal_spec(dir.path(), "stty size; tty; ps -o tty= -p $$"));
    shim.finish();
    let text = shim.control.shown_text();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("24 80"));
    let tty = lines.next().unwrap();
    assert!(tty.starts_with("/dev/pts/"), "{text}");
    assert_eq!(
        lines.next().map(|line| format!("/dev/{line}")),
        Some(tty.to_owned()),
        "it controls the session"
    );
}

/// SHIM-003
#[test]
fn shim_lives_with_and_without_a_terminal_of_its_own() {
    let (_master, slave) = pty::open(pty::Size { columns: 80, rows: 24 }).unwrap();
    let births = [
        Birth { new_session: true, terminal: Some(slave.as_fd()), ..Birth::plain() },
        Birth { new_session: true, ..Birth::plain() },
        Birth::plain(),
    ];
    for birth in births {
        let dir = epoch_dir();
        let given = terminal_spec(dir.path(), "echo one; read x; echo two");
        let mut shim = Shim::launch_in(start(birth), given);
        shim.control.until_shown("one");
        shim.control.input(1, InputKind::Keys, b"\n");
        shim.control.until_shown("two");
        assert_eq!(shim.finish().value, 0);
    }
}

/// SHIM-004
#[test]
fn environment_arguments_and_folder_are_exactly_those_given() {
    let dir = epoch_dir();
    let given = LaunchSpec {
        program: b"env".to_vec(),
        argv: vec![b"env".to_vec()],
        env: vec![b"PATH=/nowhere:/usr/bin:/bin".to_vec(), b"A=b c".to_vec(), b"B=".to_vec()],
        ..spec(dir.path(), "")
    };
    let mut shim = Shim::launch(given);
    shim.finish();
    assert_eq!(shim.control.shown_text(), "PATH=/nowhere:/usr/bin:/bin\nA=b c\nB=\n");

    let dir = epoch_dir();
    let given =
        LaunchSpec { cwd: b"/usr".to_vec(), ..spec(dir.path(), "pwd; tr '\\0' ' ' </proc/$$/cmdline") };
    let mut shim = Shim::launch(given);
    shim.finish();
    let text = shim.control.shown_text();
    assert!(text.starts_with("/usr\nsh -c pwd;"), "{text}");
}

/// SHIM-005
#[test]
fn program_has_three_descriptors_and_shim_only_its_own() {
    let dir = epoch_dir();
    let (left_open, _writer) = fd::pipe().unwrap();
    let started = start(Birth { extra_fds: &[(left_open.as_fd(), 99)], ..Birth::plain() });
    let mut shim = Shim::launch_in(started, spec(dir.path(), "echo ready; read x"));
    shim.control.until_shown("ready");
    let entries = fs::read_dir(format!("/proc/{}/fd", shim.started.pid)).unwrap();
    let mut open: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
    open.sort();
    assert_eq!(open, ["0", "1", "2"]);
    if proc::uid(std::process::id()).unwrap() == 0 {
        let fds = format!("/proc/{}/fd", shim.spawned.pid);
        for number in [0, 1, 2] {
            assert_eq!(fs::read_link(format!("{fds}/{number}")).unwrap().to_str(), Some("/dev/null"));
        }
        assert!(
            fs::read_link(format!("{fds}/99"))
                .is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
        );
    } else {
        skip("the descriptors of the shim", "only root sees them");
    }
    shim.control.send(&ToShim::CloseInput);
    shim.finish();
}

/// SHIM-006
#[test]
fn program_can_gain_no_rights_unless_it_may() {
    for (no_new_privs, expected) in [(true, "NoNewPrivs:\t1"), (false, "NoNewPrivs:\t0")] {
        let dir = epoch_dir();
        let given = LaunchSpec { no_new_privs, ..spec(dir.path(), "grep NoNewPrivs /proc/self/status") };
        let mut shim = Shim::launch(given);
        shim.finish();
        assert_eq!(shim.control.shown_text().trim_end(), expected);
    }
}

/// SHIM-006
#[test]
fn limits_hold_for_the_program() {
    let dir = epoch_dir();
    let limits = vec![ResourceLimit { resource: 7, soft: 33, hard: 44 }];
    let mut shim = Shim::launch(LaunchSpec { limits, ..spec(dir.path(), "ulimit -Sn; ulimit -Hn") });
    shim.finish();
    assert_eq!(shim.control.shown_text(), "33\n44\n");
}

/// SHIM-006
#[test]
fn program_runs_as_its_user() {
    if proc::uid(std::process::id()).unwrap() != 0 {
        return skip("running as another user", "only root can");
    }
    for terminal in [None, Some((80, 24))] {
        let dir = epoch_dir();
        let run_as = Some(RunAs { uid: 65_534, gid: 65_534, groups: vec![65_533] });
        let script = "id -u; id -G; test -t 0 && : </dev/tty >/dev/tty 2>&1 && echo tty || echo none";
        let mut shim = Shim::launch(LaunchSpec { run_as, terminal, ..spec(dir.path(), script) });
        shim.finish();
        let text = shim.control.shown_text().replace('\r', "");
        let expected = if terminal.is_some() { "tty" } else { "none" };
        assert_eq!(text, format!("65534\n65534 65533\n{expected}\n"));
    }
}

/// SHIM-007
#[test]
fn failed_launch_says_why_and_leaves_nothing() {
    let check = |given: &dyn Fn(LaunchSpec) -> LaunchSpec, step, errno, text: &str| {
        let dir = epoch_dir();
        let (spawned, mut control) = start(Birth::plain());
        let given = given(spec(dir.path(), "exit 0"));
        control.send(&ToShim::Launch { spec: &given.encode() });
        let failed = control.expect("failure", |frame| match frame {
            FromShim::LaunchFailed { step, errno, text } => {
                Some((*step, *errno, String::from_utf8_lossy(text).into_owned()))
            }
            FromShim::Started(_) => panic!("it started"),
            _ => None,
        });
        assert_eq!(failed, (step, errno, text.to_owned()));
        assert_eq!(control.next(), None);
        assert_eq!(edgeplane_os::pidfd::wait(&spawned.pidfd).unwrap(), ExitStatus::Code(1));
        // The file that the epoch is locked by stays: whoever removed it could unlock another's epoch.
        let left: Vec<_> =
            fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert!(left.iter().all(|name| name == "lock"), "{text}: {left:?}");
    };
    check(
        &|spec| LaunchSpec { program: b"/bin/foo".to_vec(), ..spec },
        LaunchStep::Program,
        2,
        "cannot run `/bin/foo`: no such file or directory",
    );
    check(
        &|spec| LaunchSpec { program: b"foo".to_vec(), ..spec },
        LaunchStep::Program,
        0,
        "cannot find program `foo` in `/usr/local/bin:/usr/bin:/bin`",
    );
    check(
        &|spec| LaunchSpec { cwd: b"/nowhere".to_vec(), ..spec },
        LaunchStep::Program,
        2,
        "cannot run `/bin/sh` in directory `/nowhere`: no such file or directory",
    );
    check(
        &|spec| LaunchSpec { cgroup: Some(b"/nowhere/work".to_vec()), ..spec },
        LaunchStep::Containment,
        2,
        "cannot open the control group: no such file or directory",
    );
    check(
        &|spec| LaunchSpec { epoch_dir: b"/nowhere".to_vec(), ..spec },
        LaunchStep::Prepare,
        2,
        "cannot take the epoch: cannot open the lock file `/nowhere/lock`: no such file or directory",
    );
    check(
        &|spec| LaunchSpec { argv: vec![b"a\0b".to_vec()], ..spec },
        LaunchStep::Spec,
        0,
        "an argument, variable or folder holds a zero byte",
    );
}

/// SHIM-007
#[test]
fn other_first_frames_than_a_launch_are_refused() {
    let (spawned, mut control) = start(Birth::plain());
    control.send(&ToShim::Status);
    let text = control.expect("failure", |frame| match frame {
        FromShim::LaunchFailed { step: LaunchStep::Spec, text, .. } => Some(text.to_vec()),
        _ => None,
    });
    assert_eq!(text, b"the first frame must be a launch");
    assert_eq!(edgeplane_os::pidfd::wait(&spawned.pidfd).unwrap(), ExitStatus::Code(1));

    let (spawned, control) = start(Birth::plain());
    drop(control);
    assert_eq!(edgeplane_os::pidfd::wait(&spawned.pidfd).unwrap(), ExitStatus::Code(1));
}

/// SHIM-008
#[test]
fn program_dies_with_its_shim_and_the_recording_is_readable() {
    for terminal in [None, Some((80, 24))] {
        let dir = epoch_dir();
        let given = LaunchSpec {
            terminal,
            ..spec(dir.path(), "trap '' HUP TERM; echo here; while :; do sleep 1; done")
        };
        let mut shim = Shim::launch(given);
        shim.control.until_shown("here");
        shim.kill_shim();
        eventually("the program dies", || !is_alive(shim.started.pid));
        assert!(Recorded::read(dir.path()).text().starts_with("here"));
        assert_eq!(shim.exit_record(), None);
    }
}

/// SHIM-009
#[test]
fn nobody_of_the_same_user_can_trace_the_shim() {
    let dir = epoch_dir();
    let is_root = proc::uid(std::process::id()).unwrap() == 0;
    // Root may trace anybody, so as root the shim runs as somebody else, from where that one can reach it.
    let copy = dir.path().join("edgeplane-shim");
    fs::copy(shim_program(), &copy).unwrap();
    let user = is_root.then_some(User { uid: 65_534, gid: 65_534, groups: &[] });
    if is_root {
        std::os::unix::fs::chown(dir.path(), Some(65_534), None).unwrap();
    }
    let born = start(Birth { program: copy.as_os_str(), user, ..Birth::plain() });
    let mut shim = Shim::launch_in(born, spec(dir.path(), "read x"));
    // The memory of what may not be traced belongs to root.
    let owner = |pid| fs::metadata(format!("/proc/{pid}/mem")).unwrap().uid();
    assert_eq!(owner(shim.spawned.pid), 0);
    assert_ne!(owner(shim.started.pid), 0, "the program is like any other");
    shim.control.send(&ToShim::CloseInput);
    shim.finish();
}

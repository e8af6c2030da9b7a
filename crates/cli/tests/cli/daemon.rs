//! The daemon's watchdog, with programs that only look like a daemon.

use std::{
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use edgeplane_os::{
    Signal, pidfd, proc,
    wait::{self, Deadline},
};
use edgeplane_types::ErrorName;
use serde_json::json;

use crate::fake::{Fake, PATIENCE, Says, edgeplane, node_status, stderr, stdout};

fn script(dir: &Path, text: &str) -> PathBuf {
    let path = dir.join("edgeplaned");
    std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    path
}

fn numbers(path: &Path) -> Vec<u32> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().filter_map(|line| line.split(' ').next()?.parse().ok()).collect()
}

fn is_alive(pid: u32) -> bool {
    proc::stat(pid).is_ok_and(|found| found.is_alive())
}

#[test]
fn daemon_that_cannot_begin_is_given_up_with_its_last_words() {
    let dir = tempfile::tempdir().unwrap();
    let daemon = script(dir.path(), "echo no room >&2; exit 1");
    let output = edgeplane(dir.path()).env("EDGEPLANED", daemon).args(["daemon", "up"]).output().unwrap();
    assert_eq!(output.status.code(), Some(69));
    let said = stderr(&output);
    assert!(
        said.starts_with("error: the daemon ended as soon as it was started\n  no room\nhint:"),
        "{said}"
    );
    assert!(!dir.path().join("run/watchdog/pid").exists(), "no watchdog is left");
}

#[test]
fn watchdog_restarts_a_killed_daemon_until_it_is_told_to_end() {
    let fake = Fake::new();
    fake.says("runtime/node.status", Says::error(ErrorName::Unavailable, "not yet"));
    let mut status = node_status();
    // Above the largest number of a process.
    status["pid"] = json!(4_200_000);
    fake.says("runtime/node.status", Says::result(status));
    fake.says("core/health", Says::result(json!({ "status": "ok", "checks": [] })));
    fake.says("runtime/node.stop", Says::result(json!({})));
    let started = fake.path().join("started");
    let daemon = script(fake.path(), &format!("echo $$ >> {}; exec sleep 1000", started.display()));
    let run = |words: &[&str]| fake.command(words).env("EDGEPLANED", &daemon).output().unwrap();

    let output = run(&["daemon", "up"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).starts_with("node here is up: pid 4200000"), "{}", stdout(&output));
    assert!(wait::until(Deadline::after(PATIENCE), || numbers(&started).len() == 1));
    let first = numbers(&started)[0];
    // The shell becomes the daemon a moment after it has said its number; killing either is the same.
    pidfd::send_signal(pidfd::open(first).unwrap(), Signal::KILL).unwrap();
    assert!(
        wait::until(Deadline::after(PATIENCE), || numbers(&started).len() == 2),
        "nobody started it again"
    );

    let watchdog = numbers(&fake.path().join("run/watchdog/pid"))[0];
    assert!(is_alive(watchdog));
    let output = run(&["daemon", "down"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(stdout(&output), "the daemon is stopped; 2 agents keep running\n");
    assert!(!is_alive(watchdog), "the watchdog ended before the daemon was asked to");
    let second = numbers(&started)[1];
    assert!(is_alive(second), "the watchdog left the daemon alone");
    pidfd::send_signal(pidfd::open(second).unwrap(), Signal::KILL).unwrap();
}

#[test]
fn unit_for_systemd_is_printed() {
    let dir = tempfile::tempdir().unwrap();
    let daemon = script(dir.path(), "exit 0");
    let words = ["daemon", "up", "--print-unit"];
    let output = edgeplane(dir.path()).env("EDGEPLANED", &daemon).args(words).output().unwrap();
    assert!(stdout(&output).contains(&format!("ExecStart={}\n", daemon.display())), "{}", stdout(&output));
    assert!(!dir.path().join("state").exists(), "nothing was done");
}

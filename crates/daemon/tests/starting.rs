//! What starts is started again: the daemon by its watchdog, the nursery by the daemon.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends at once")]

use edgeplane_os::{Signal, pidfd, proc};
use edgeplane_testkit::{Node, terminal, wait::eventually};
use serde_json::{Value, json};

fn kill(pid: u32) {
    let handle = pidfd::open(pid).unwrap();
    pidfd::send_signal(&handle, Signal::KILL).unwrap();
}

/// Proves LIFE-036, LIFE-037.
#[test]
fn daemon_up_right_after_the_daemons_death_waits_for_the_one_its_watchdog_starts() {
    let mut node = Node::start();
    node.stop_daemon();
    let up = || {
        let output = node.cli(&["daemon", "up", "-o", "json"]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let status: Value = serde_json::from_slice(&output.stdout).unwrap();
        u32::try_from(status["pid"].as_u64().unwrap()).unwrap()
    };
    let mut last = up();
    for _ in 0..5 {
        kill(last);
        let next = up();
        assert_ne!(next, last);
        last = next;
    }
    // Asked to end as a machine that goes down asks, it hands over in good order.
    pidfd::send_signal(pidfd::open(last).unwrap(), Signal::TERM).unwrap();
    eventually("it ends", || !proc::stat(last).is_ok_and(|found| found.is_alive()));
    up();
    let stopped = json!({ "types": ["node.stopped"] });
    let read = node.connect().try_raw("stream/replay", stopped).unwrap();
    let reasons: Vec<&Value> =
        read["items"].as_array().unwrap().iter().map(|item| &item["event"]["payload"]["reason"]).collect();
    assert!(reasons.contains(&&json!("SIGTERM")), "{read}");
    let output = node.cli(&["daemon", "down"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    node.up();
}

/// SHIM-037
#[test]
fn killed_nursery_costs_no_launch() {
    let node = Node::start();
    if !node.has_cgroups() {
        return;
    }
    let nursery = || {
        let all = proc::children(node.daemon_pid()).unwrap();
        all.into_iter().find(|pid| {
            std::fs::read(format!("/proc/{pid}/cmdline"))
                .is_ok_and(|line| line.starts_with(b"edgeplane-shim\0nursery\0"))
        })
    };
    node.run("a", &terminal("a", &["sleep", "1000"], ""));
    let first = nursery().unwrap();
    kill(first);
    eventually("it is dead", || !proc::stat(first).is_ok_and(|found| found.is_alive()));
    node.run("b", &terminal("b", &["sleep", "1000"], ""));
    node.run("c", &terminal("c", &["sleep", "1000"], ""));
    assert!(nursery().is_some_and(|second| second != first), "there is a new one");
    let all: Vec<u32> = ["a", "b", "c"].map(|name| node.shim_pid(name)).to_vec();
    for pid in all {
        assert_eq!(proc::stat(pid).unwrap().parent, node.daemon_pid());
    }
}

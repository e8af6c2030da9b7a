//! Last words: a program is told that its epoch ends, why, and how long it has, and what it saves is kept.
#![expect(clippy::panic, reason = "a test that cannot go on ends at once")]

use std::fs;

use edgeplane_testkit::{Node, acp, task_worker, terminal, wait::eventually};
use edgeplane_types::Phase;
use edgeplane_wire::catalogue::{AgentRestart, AgentRetire, AgentStop};
use serde_json::{Value, json};

const CLOSES: &str = "offers: { closing: true, resume: true }\nstop: { grace: 500ms, closeGrace: 20s }";

fn payloads(node: &Node, name: &str, kind: &str) -> Vec<Value> {
    let events = node.history(name);
    let of_kind = events.iter().filter(|event| event.event["type"] == kind);
    of_kind.map(|event| event.event["payload"].clone()).collect()
}

/// The numbers of the first events of these types in an agent's stream, which must come in this order.
#[track_caller]
fn in_order(node: &Node, name: &str, kinds: &[&str]) {
    let events = node.history(name);
    let place = |kind: &&str| events.iter().position(|event| event.event["type"] == **kind);
    let places: Vec<_> =
        kinds.iter().map(|kind| place(kind).unwrap_or_else(|| panic!("no {kind}"))).collect();
    assert!(places.is_sorted(), "{kinds:?}: {places:?}");
}

/// Proves LIFE-043, LIFE-044.
#[test]
fn program_is_told_why_and_what_it_saves_is_kept_before_it_ends() {
    let node = Node::start();
    let log = node.scratch().join("log");
    node.run("worker", &task_worker("worker", &log, &["save"], CLOSES));
    node.change::<AgentStop>("worker").unwrap();
    node.wait("worker", Phase::Stopped);
    let expected = [
        "agent.stopping",
        "session.closing",
        "memory.put",
        "session.closed",
        "agent.exited",
        "agent.stopped",
    ];
    in_order(&node, "worker", &expected);
    let told = json!({ "epoch": 1, "reason": "stop", "told_by": "protocol", "grace_ms": 20_000 });
    assert_eq!(payloads(&node, "worker", "session.closing"), [told]);
    assert_eq!(payloads(&node, "worker", "session.closed"), [json!({ "epoch": 1, "answered": true })]);
    let saved = node.memory("worker").items;
    assert_eq!(saved[0].key, "saved");
    assert!(fs::read_to_string(&log).unwrap().contains("closing stop 20000"));
    node.verify();
}

/// Proves LIFE-043.
#[test]
fn each_planned_end_says_its_reason() {
    let node = Node::start();
    let log = node.scratch().join("log");
    let more = format!("{CLOSES}\nhibernate: {{ idleAfter: 1s }}");
    node.run("worker", &task_worker("worker", &log, &["save"], &more));
    node.wait("worker", Phase::Hibernated);
    node.signal("worker", "do it", None);
    eventually("it is done", || node.count("worker", "message.turn_ended") == 1);
    node.change::<AgentRestart>("worker").unwrap();
    eventually("it runs anew", || node.get("worker").status.epoch.0 >= 3);
    node.wait("worker", Phase::Running);
    let id = node.get("worker").status.identities.audit.agent_id.to_string();
    node.change::<AgentRetire>("worker").unwrap();
    eventually("it is gone", || payloads(&node, &id, "agent.retired").len() == 1);
    let closings = payloads(&node, &id, "session.closing");
    let reasons: Vec<_> = closings.iter().map(|closing| closing["reason"].as_str().unwrap()).collect();
    assert_eq!(&reasons[..2], ["idle", "restart"], "{reasons:?}");
    assert!(closings.iter().all(|closing| closing["told_by"] == "protocol"), "{closings:?}");
    node.verify();
}

/// Proves LIFE-044.
#[test]
fn who_does_not_answer_is_ended_when_the_time_is_over() {
    let node = Node::start();
    let log = node.scratch().join("log");
    let more = "offers: { closing: true }\nstop: { grace: 500ms, closeGrace: 300ms }";
    node.run("deaf", &task_worker("deaf", &log, &["deaf"], more));
    node.change::<AgentStop>("deaf").unwrap();
    node.wait("deaf", Phase::Stopped);
    assert_eq!(payloads(&node, "deaf", "session.closed"), [json!({ "epoch": 1, "answered": false })]);
    // Others are told by their stop signal alone, and are not waited for.
    node.run("shell", &terminal("shell", &["/bin/cat"], ""));
    node.stop("shell");
    assert_eq!(payloads(&node, "shell", "session.closing")[0]["told_by"], "signal");
    assert_eq!(node.count("shell", "session.closed"), 0);
    node.verify();
}

/// Proves LIFE-044.
#[test]
fn death_of_the_daemon_lets_nobody_be_told_twice_or_waited_for_twice() {
    for point in ["closing.before", "closing.after"] {
        let mut node = Node::start();
        let log = node.scratch().join("log");
        node.run("worker", &task_worker("worker", &log, &["save"], CLOSES));
        let folder = node.state_dir().join(edgeplane_os::failpoint::FOLDER);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(point), "1").unwrap();
        drop(node.change::<AgentStop>("worker"));
        eventually(&format!("the daemon dies at {point}"), || node.has_ended());
        node.up();
        node.wait("worker", Phase::Stopped);
        let told = fs::read_to_string(&log).unwrap();
        assert_eq!(told.matches("closing stop").count(), 1, "{point}: {told}");
        assert_eq!(node.count("worker", "session.closed"), 1, "{point}");
        assert_eq!(node.memory("worker").items.len(), 1, "{point}");
        node.verify();
    }
}

/// Proves LIFE-043.
#[test]
fn session_of_the_agent_client_protocol_is_closed_where_the_program_offers_it() {
    let node = Node::start();
    for (name, options, told_by) in [("closes", &["close=yes"][..], "protocol"), ("plain", &[], "signal")] {
        let folder = node.scratch().join(name);
        node.run(name, &acp(name, &folder, options, (", tools: false", "")));
        eventually("it has a session", || node.count(name, "session.opened") == 1);
        node.stop(name);
        assert_eq!(payloads(&node, name, "session.closing")[0]["told_by"], told_by);
        let closed = fs::read_to_string(folder.join("closes")).unwrap_or_default();
        assert_eq!(closed.lines().count(), usize::from(told_by == "protocol"), "{name}");
    }
    assert_eq!(payloads(&node, "closes", "session.closed")[0]["answered"], true);
    node.verify();
}

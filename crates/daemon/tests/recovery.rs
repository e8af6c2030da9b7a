//! Agents come back as they are meant to: after their own end, the node's, and both at once.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on ends at once")]

use std::{collections::BTreeMap, process::Stdio};

use edgeplane_os::Signal;
use edgeplane_testkit::{Node, native, signals, terminal, wait::eventually};
use edgeplane_types::{Desired, ErrorName, Phase, Rung};
use edgeplane_wire::{
    api::{
        agent::{ApplyParams, Change, Document, ListParams},
        memory::PutParams,
    },
    catalogue::{
        AgentApply, AgentFreeze, AgentList, AgentRestart, AgentRetire, AgentStart, AgentStop, AgentUnfreeze,
        MemoryPut,
    },
};

/// Restarts at once, without a breaker.
const AT_ONCE: &str = "restart: { policy: always, backoff: { initial: 10ms, jitterPercent: 0 } }";

/// Waits a day before it restarts.
const MUCH_LATER: &str = "restart: { policy: always, backoff: { initial: 1d, max: 1d } }";

fn sleeper(name: &str, more: &str) -> String {
    terminal(name, &["/bin/sleep", "1000"], more)
}

fn kinds(node: &Node, name: &str) -> Vec<String> {
    let word =
        |event: &edgeplane_wire::api::stream::EventView| event.event["type"].as_str().unwrap().to_owned();
    node.events(name, &["agent.*"]).iter().map(word).collect()
}

/// The payload of the newest event of a type.
fn newest(node: &Node, name: &str, kind: &str) -> serde_json::Value {
    let all = node.events(name, &[kind]);
    all.last().unwrap_or_else(|| panic!("no {kind} of {name}: {:?}", kinds(node, name))).event["payload"]
        .clone()
}

fn kill_agent(node: &Node, name: &str) {
    signals::kill(&[node.pid(name)]);
}

fn runs_in_epoch(node: &Node, name: &str, epoch: u64) {
    eventually("the epoch has come", || node.get(name).status.epoch.0 >= epoch);
    node.wait(name, Phase::Running);
    assert_eq!(node.get(name).status.epoch.0, epoch);
}

#[test]
fn killed_agent_is_started_again_by_its_policy() {
    let node = Node::start();
    node.run("victim", &sleeper("victim", AT_ONCE));
    let pid = node.pid("victim");
    kill_agent(&node, "victim");
    runs_in_epoch(&node, "victim", 2);
    assert_ne!(node.pid("victim"), pid);
    assert_eq!(newest(&node, "victim", "agent.exited")["status"]["signal"], 9);
    assert_eq!(newest(&node, "victim", "agent.starting")["cause"], "restart_policy");
    assert_eq!(node.get("victim").status.restarts, 1);
    node.verify();
}

#[test]
fn waits_between_restarts_double_and_are_recorded() {
    let node = Node::start();
    let more = "restart: { policy: always, backoff: { initial: 20ms, max: 80ms, jitterPercent: 0 }, breaker: { failures: 6 } }";
    node.apply(&terminal("looper", &["/bin/false"], more));
    node.wait("looper", Phase::Failed);
    let waits = node.events("looper", &["agent.backed_off"]);
    let delays: Vec<_> =
        waits.iter().map(|event| event.event["payload"]["delay_ms"].as_u64().unwrap()).collect();
    assert_eq!(delays, [20, 40, 80, 80, 80]);
    let counted: Vec<_> =
        waits.iter().map(|event| event.event["payload"]["restarts"].as_u64().unwrap()).collect();
    assert_eq!(counted, [1, 2, 3, 4, 5]);
    let starts = node.events("looper", &["agent.starting"]);
    for (wait, start) in waits.iter().zip(&starts[1..]) {
        let at = |event: &edgeplane_wire::api::stream::EventView| {
            event.event["ts"].as_str().unwrap().parse::<edgeplane_types::Timestamp>().unwrap().as_micros()
        };
        let waited = at(start) - at(wait);
        let delay = i64::try_from(wait.event["payload"]["delay_ms"].as_u64().unwrap()).unwrap();
        assert!(waited >= delay * 1_000, "started after {waited} us instead of {delay} ms");
    }
}

#[test]
fn crash_loop_ends_in_failed_and_says_why() {
    let mut node = Node::start();
    let more = "restart: { policy: always, backoff: { initial: 10ms, max: 20ms }, breaker: { failures: 3, within: 60s } }";
    node.apply(&terminal("looper", &["/bin/sh", "-c", "exit 7"], more));
    node.wait("looper", Phase::Failed);
    let status = node.get("looper").status;
    assert_eq!(status.epoch.0, 3);
    let reason = status.reason.unwrap();
    assert!(reason.contains("3 times") && reason.contains("exit code 7"), "{reason}");
    assert_eq!(newest(&node, "looper", "agent.failed")["reason"], reason.as_str());
    node.kill_daemon();
    node.up();
    let status = node.get("looper").status;
    assert_eq!((status.phase, status.reason.unwrap()), (Phase::Failed, reason));
    assert_eq!(node.count("looper", "agent.starting"), 3);
    // By hand it gets as many attempts again.
    node.change::<AgentStart>("looper").unwrap();
    eventually("it failed again", || node.count("looper", "agent.failed") == 2);
    assert_eq!(node.count("looper", "agent.starting"), 6);
    node.verify();
}

#[test]
fn stop_during_backoff_stays_stopped() {
    let mut node = Node::start();
    node.run("victim", &sleeper("victim", MUCH_LATER));
    kill_agent(&node, "victim");
    node.wait("victim", Phase::Backoff);
    assert!(node.get("victim").status.next_start_at.is_some());
    node.change::<AgentStop>("victim").unwrap();
    node.wait("victim", Phase::Stopped);
    node.kill_daemon();
    node.up();
    assert_eq!(node.get("victim").status.phase, Phase::Stopped);
    node.kill_daemon();
    node.up();
    let status = node.get("victim").status;
    assert_eq!((status.phase, status.desired), (Phase::Stopped, Desired::Stopped));
    assert_eq!(node.count("victim", "agent.starting"), 1);
    node.change::<AgentStart>("victim").unwrap();
    runs_in_epoch(&node, "victim", 2);
    node.verify();
}

#[test]
fn backoff_that_the_daemon_did_not_survive_ends_in_a_start() {
    let mut node = Node::start();
    node.run("victim", &sleeper("victim", MUCH_LATER));
    kill_agent(&node, "victim");
    node.wait("victim", Phase::Backoff);
    node.kill_daemon();
    node.up();
    runs_in_epoch(&node, "victim", 2);
}

#[test]
fn policy_decides_what_follows_an_end() {
    let node = Node::start();
    let check = |name: &str, policy: &str, program: &str, phase: Phase| {
        let more = format!("restart: {{ policy: {policy}, backoff: {{ initial: 1d, max: 1d }} }}");
        node.apply(&terminal(name, &["/bin/sh", "-c", program], &more));
        node.wait(name, phase);
        assert_eq!(node.get(name).status.epoch.0, 1, "{name}");
    };
    check("never-well", "never", "exit 0", Phase::Stopped);
    check("never-badly", "never", "exit 3", Phase::Failed);
    check("never-killed", "never", "kill -9 $$", Phase::Failed);
    check("failure-well", "on_failure", "exit 0", Phase::Stopped);
    check("failure-badly", "on_failure", "exit 3", Phase::Backoff);
    check("failure-killed", "on_failure", "kill -9 $$", Phase::Backoff);
    check("always-well", "always", "exit 0", Phase::Backoff);
    check("always-badly", "always", "exit 3", Phase::Backoff);
    let reason = node.get("never-badly").status.reason.unwrap();
    assert!(reason.contains("exit code 3"), "{reason}");
}

#[test]
fn agent_that_ended_by_itself_is_not_started_by_the_next_daemon() {
    let mut node = Node::start();
    node.apply(&terminal("done", &["/bin/true"], "restart: { policy: never }"));
    node.wait("done", Phase::Stopped);
    node.kill_daemon();
    node.up();
    assert_eq!(node.get("done").status.phase, Phase::Stopped);
    assert_eq!(node.count("done", "agent.starting"), 1);
}

/// A program that takes its time to end: longer than it takes to kill a daemon and start another.
const SLOW_TO_END: &str =
    "trap 'touch asked; sleep 1; exit 0' TERM; touch ready; while :; do sleep 0.05; done";

fn slow_to_end(node: &Node, name: &str, more: &str) {
    let program = format!("cd {}; {SLOW_TO_END}", node.scratch().display());
    node.run(name, &native(name, &["/bin/sh", "-c", &program], &format!("stop: {{ grace: 20s }}\n{more}")));
    eventually("it is ready", || node.scratch().join("ready").exists());
}

#[test]
fn stop_goes_on_under_the_next_daemon() {
    let mut node = Node::start();
    slow_to_end(&node, "slow", AT_ONCE);
    node.change::<AgentStop>("slow").unwrap();
    eventually("it is asked to end", || node.scratch().join("asked").exists());
    for _ in 0..2 {
        node.kill_daemon();
        node.up();
    }
    node.wait("slow", Phase::Stopped);
    node.kill_daemon();
    node.up();
    let status = node.get("slow").status;
    assert_eq!((status.phase, status.desired, status.epoch.0), (Phase::Stopped, Desired::Stopped, 1));
    assert_eq!(node.count("slow", "agent.exited"), 1);
    node.verify();
}

/// Proves LIFE-033.
#[test]
fn retirement_goes_on_under_the_next_daemon() {
    let mut node = Node::start();
    let program = format!(
        "cd {}; trap '' TERM HUP; touch ready; while :; do sleep 0.05; done",
        node.scratch().display()
    );
    let deaf = native("deaf", &["/bin/sh", "-c", &program], &format!("stop: {{ grace: 3s }}\n{AT_ONCE}"));
    node.run("deaf", &deaf);
    eventually("it is ready", || node.scratch().join("ready").exists());
    node.change::<AgentRetire>("deaf").unwrap();
    let status = node.get("deaf").status;
    assert_eq!((status.phase, status.desired), (Phase::Stopping, Desired::Retired));
    node.kill_daemon();
    node.up();
    let refused = node.change::<AgentStart>("deaf").unwrap_err();
    assert_eq!(refused.name(), ErrorName::InvalidState, "{refused}");
    eventually("its name is free", || node.list().is_empty());
    node.run("deaf", &sleeper("deaf", ""));
    assert_eq!(node.get("deaf").status.epoch.0, 1);
    node.verify();
}

#[test]
fn restart_goes_on_under_the_next_daemon() {
    let mut node = Node::start();
    // The policy alone would not start it again: only the request does.
    slow_to_end(&node, "slow", "restart: { policy: never }");
    node.change::<AgentRestart>("slow").unwrap();
    eventually("it is asked to end", || node.scratch().join("asked").exists());
    for _ in 0..2 {
        node.kill_daemon();
        node.up();
        eventually("its shim answers", || node.get("slow").status.phase != Phase::Unobservable);
    }
    runs_in_epoch(&node, "slow", 2);
    node.verify();
}

#[test]
fn stop_outlives_the_wait_for_a_dependency() {
    let node = Node::start();
    let base = sleeper("base", "run: stopped");
    node.apply(&format!("{base}---\n{}", sleeper("upper", "dependsOn: [base]")));
    node.change::<AgentStop>("upper").unwrap();
    node.change::<AgentStart>("base").unwrap();
    node.wait("base", Phase::Running);
    // A third agent that waits for the same is started, and with it everything that began to wait before.
    node.run("other", &sleeper("other", "dependsOn: [base]"));
    let status = node.get("upper").status;
    assert_eq!((status.phase, status.desired), (Phase::Declared, Desired::Stopped));
}

#[test]
fn wait_for_a_dependency_goes_on_under_the_next_daemon() {
    let mut node = Node::start();
    let base = sleeper("base", "run: stopped");
    node.apply(&format!("{base}---\n{}", sleeper("upper", "dependsOn: [base]")));
    node.kill_daemon();
    node.up();
    let status = node.get("upper").status;
    assert_eq!((status.phase, status.desired), (Phase::Declared, Desired::Running));
    node.change::<AgentStart>("base").unwrap();
    node.wait("upper", Phase::Running);
}

#[test]
fn agents_start_after_those_they_depend_on() {
    let node = Node::start();
    let base = "hooks: { preStart: { command: [\"/bin/sleep\", \"0.3\"] } }";
    let manifests = [
        sleeper("upper", "dependsOn: [middle]"),
        sleeper("middle", "dependsOn: [base]"),
        sleeper("base", base),
    ];
    node.apply(&manifests.join("---\n"));
    node.wait("upper", Phase::Running);
    let mut at: BTreeMap<(String, &str), u64> = BTreeMap::new();
    for name in ["base", "middle", "upper"] {
        for kind in ["agent.starting", "agent.started"] {
            at.insert((name.to_owned(), kind), node.events(name, &[kind])[0].pos);
        }
    }
    let pos = |name: &str, kind| at[&(name.to_owned(), kind)];
    assert!(pos("base", "agent.started") < pos("middle", "agent.starting"), "{at:?}");
    assert!(pos("middle", "agent.started") < pos("upper", "agent.starting"), "{at:?}");
}

#[test]
fn everything_comes_back_after_a_reboot() {
    let mut node = Node::start();
    let log = node.scratch().join("log");
    let reader = format!("cat >> {}", log.display());
    node.run("running", &native("running", &["/bin/sh", "-c", &reader], AT_ONCE));
    node.run("stopped", &native("stopped", &["/bin/cat"], AT_ONCE));
    node.run("frozen", &native("frozen", &["/bin/cat"], AT_ONCE));
    node.signal("running", "before", Some(Rung::Injected));
    let put = |agent: &str, value: u32| PutParams {
        agent: Some(agent.into()),
        key: "note".into(),
        value: value.into(),
        if_version: None,
        ttl_ms: None,
    };
    for (agent, value) in [("running", 1), ("running", 2), ("stopped", 3)] {
        node.connect().call::<MemoryPut>(&put(agent, value));
    }
    let can_freeze = node.change::<AgentFreeze>("frozen").is_ok();
    if can_freeze {
        node.wait("frozen", Phase::Frozen);
        node.signal("frozen", "for the frozen one", None);
    } else {
        eprintln!("SKIPPED the frozen agent of everything_comes_back_after_a_reboot: no freezer here");
    }
    node.stop("stopped");
    node.signal("stopped", "for the stopped one", None);
    let before = kinds(&node, "");
    node.kill_everything();
    node.up();
    runs_in_epoch(&node, "running", 2);
    if can_freeze {
        node.wait("frozen", Phase::Frozen);
        let status = node.get("frozen").status;
        assert_eq!((status.epoch.0, status.waiting_messages), (2, 1));
    }
    let status = node.get("stopped").status;
    assert_eq!((status.phase, status.epoch.0, status.waiting_messages), (Phase::Stopped, 1, 1));
    assert_eq!(kinds(&node, "")[..before.len()], before[..]);
    assert_eq!(node.versions("running", "note").items.len(), 2);
    assert_eq!(node.versions("stopped", "note").items[0].value, Some(3.into()));
    assert_eq!(node.count("running", "message.injected"), 1);
    node.signal("running", "after", Some(Rung::Injected));
    node.change::<AgentStart>("stopped").unwrap();
    eventually("the inbox is delivered", || node.get("stopped").status.waiting_messages == 0);
    if can_freeze {
        node.change::<AgentUnfreeze>("frozen").unwrap();
        eventually("the inbox is delivered", || node.get("frozen").status.waiting_messages == 0);
    }
    eventually("it read both", || {
        let text = std::fs::read_to_string(&log).unwrap();
        text.contains("before") && text.contains("after")
    });
    node.verify();
}

#[test]
fn frozen_agent_stays_frozen_under_the_next_daemon() {
    let mut node = Node::start();
    node.run("cold", &sleeper("cold", ""));
    if let Err(error) = node.change::<AgentFreeze>("cold") {
        eprintln!("SKIPPED frozen_agent_stays_frozen_under_the_next_daemon: {error}");
        return;
    }
    node.wait("cold", Phase::Frozen);
    let pid = node.pid("cold");
    node.kill_daemon();
    node.up();
    node.wait("cold", Phase::Frozen);
    assert_eq!(newest(&node, "cold", "agent.adopted")["frozen"], true);
    let status = node.get("cold").status;
    assert_eq!((status.desired, status.process.unwrap().pid), (Desired::Frozen, pid));
    node.change::<AgentUnfreeze>("cold").unwrap();
    node.wait("cold", Phase::Running);
    node.kill_daemon();
    node.up();
    node.wait("cold", Phase::Running);
    assert_eq!(node.pid("cold"), pid);
    node.change::<AgentFreeze>("cold").unwrap();
    node.wait("cold", Phase::Frozen);
    node.stop("cold");
    node.verify();
}

#[test]
fn shim_that_dies_before_it_answered_is_not_waited_for() {
    let mut node = Node::start();
    node.run("victim", &sleeper("victim", AT_ONCE));
    let shim = node.shim_pid("victim");
    // It takes the connection of the next daemon and says nothing.
    signals::send(shim, Signal::STOP);
    node.kill_daemon();
    node.up();
    assert_eq!(node.get("victim").status.phase, Phase::Unobservable);
    signals::kill(&[shim]);
    runs_in_epoch(&node, "victim", 2);
    node.verify();
}

#[test]
fn shim_that_answers_late_is_adopted() {
    let mut node = Node::start();
    node.run("late", &sleeper("late", AT_ONCE));
    let (shim, pid) = (node.shim_pid("late"), node.pid("late"));
    signals::send(shim, Signal::STOP);
    node.kill_daemon();
    node.up();
    assert_eq!(node.get("late").status.phase, Phase::Unobservable);
    signals::send(shim, Signal::CONT);
    node.wait("late", Phase::Running);
    assert_eq!(node.pid("late"), pid);
}

/// Proves LIFE-047.
#[test]
fn restart_of_an_agent_that_nobody_reaches_yet_is_carried_out() {
    for another_daemon in [false, true] {
        let mut node = Node::start();
        node.run("late", &sleeper("late", AT_ONCE));
        let shim = node.shim_pid("late");
        signals::send(shim, Signal::STOP);
        node.kill_daemon();
        node.up();
        assert_eq!(node.get("late").status.phase, Phase::Unobservable);
        node.change::<AgentRestart>("late").unwrap();
        if another_daemon {
            node.kill_daemon();
            node.up();
        }
        signals::send(shim, Signal::CONT);
        runs_in_epoch(&node, "late", 2);
        node.verify();
    }
}

#[test]
fn sigterm_hands_over_in_good_order() {
    let mut node = Node::start();
    let names = ["first", "second", "third"];
    for name in names {
        node.run(name, &sleeper(name, ""));
    }
    let pids = names.map(|name| node.pid(name));
    node.stop_daemon();
    for pid in pids {
        assert!(signals::is_alive(pid));
    }
    node.up();
    for (name, pid) in names.into_iter().zip(pids) {
        node.wait(name, Phase::Running);
        assert_eq!(node.pid(name), pid, "{name}");
        assert_eq!(node.count(name, "agent.exited"), 0, "{name}");
    }
    assert_eq!(newest(&node, "", "node.stopped")["reason"], "SIGTERM");
    assert_eq!(node.count("", "node.started"), 2);
    node.verify();
}

fn documents(text: &str) -> ApplyParams {
    let document = Document { file: "test.yaml".into(), text: text.into(), folder: "/".into() };
    ApplyParams { documents: vec![document], dry_run: false }
}

#[test]
fn new_manifest_leaves_the_running_program_alone() {
    let mut node = Node::start();
    node.run("steady", &sleeper("steady", ""));
    let pid = node.pid("steady");
    let mut connection = node.connect();
    let again = connection.call::<AgentApply>(&documents(&sleeper("steady", "")));
    assert_eq!((again.items[0].change, &again.items[0].note), (Change::Unchanged, &None));
    let events = node.events("steady", &[]).len();
    let changed = sleeper("steady", "env: { NEW: \"1\" }");
    let updated = connection.call::<AgentApply>(&documents(&changed));
    assert_eq!(updated.items[0].change, Change::Updated);
    assert!(updated.items[0].note.as_ref().unwrap().contains("restart"), "{updated:?}");
    assert_eq!(node.events("steady", &[]).len(), events + 1);
    let status = node.get("steady").status;
    assert_eq!(status.process.unwrap().pid, pid);
    assert!(status.observed_generation < status.generation);
    node.kill_daemon();
    node.up();
    node.wait("steady", Phase::Running);
    assert_eq!(node.pid("steady"), pid);
    node.change::<AgentRestart>("steady").unwrap();
    runs_in_epoch(&node, "steady", 2);
    let status = node.get("steady").status;
    assert_eq!(status.observed_generation, status.generation);
    let environ = std::fs::read(format!("/proc/{}/environ", status.process.unwrap().pid)).unwrap();
    assert!(environ.split(|byte| *byte == 0).any(|variable| variable == b"NEW=1"));
}

#[test]
fn wrong_manifest_is_refused_whole() {
    let node = Node::start();
    node.run("steady", &sleeper("steady", ""));
    let (pid, events) = (node.pid("steady"), node.events("", &[]).len());
    let changed = sleeper("steady", "env: { NEW: \"1\" }");
    let wrong = sleeper("wrong", "restart: { policy: sometimes }");
    let error = node.try_apply(&format!("{}---\n{changed}---\n{wrong}", sleeper("new", ""))).unwrap_err();
    assert_eq!(error.name(), ErrorName::InvalidManifest);
    let violation = &error.data.violations[0];
    assert_eq!(violation["file"], "test.yaml");
    assert!(violation["field"].as_str().unwrap().contains("restart.policy"), "{violation}");
    assert!(violation["found"].to_string().contains("sometimes"), "{violation}");
    assert_eq!(node.list().len(), 1);
    assert_eq!((node.pid("steady"), node.events("", &[]).len()), (pid, events));
    assert_eq!(node.get("steady").spec["env"], serde_json::json!({}));
}

#[test]
fn state_directory_admits_one_daemon() {
    let node = Node::start();
    node.run("steady", &sleeper("steady", ""));
    let pid = node.pid("steady");
    let second = node.daemon_command().stdout(Stdio::null()).output().unwrap();
    assert!(!second.status.success());
    let said = String::from_utf8_lossy(&second.stderr);
    assert!(said.contains(&node.daemon_pid().to_string()), "{said}");
    assert_eq!((node.pid("steady"), node.get("steady").status.phase), (pid, Phase::Running));
    node.verify();
}

#[test]
fn daemon_inside_an_agent_refuses_to_start() {
    let node = Node::start();
    let own = node.scratch().join("own");
    let said = node.scratch().join("said");
    // In folders of its own, so that no lock is in its way.
    let program = format!(
        "unset EDGEPLANE_SOCKET; {daemon} --state-dir {own}/state --runtime-dir {own}/run --shim {shim} 2> {said}; \
         echo ended $? >> {said}; exec sleep 1000",
        daemon = node.binaries().daemon.display(),
        shim = node.binaries().shim.display(),
        own = own.display(),
        said = said.display(),
    );
    node.run("host", &terminal("host", &["/bin/sh", "-c", &program], ""));
    let text = || std::fs::read_to_string(&said).unwrap_or_default();
    eventually("it has ended", || text().contains("ended "));
    assert!(text().contains("ended 1") && text().contains("belongs to an agent"), "{}", text());
    assert!(!own.join("state/record").exists());
}

#[test]
fn retired_agent_does_not_come_back() {
    let mut node = Node::start();
    node.run("gone", &sleeper("gone", AT_ONCE));
    let (id, pid) = (node.get("gone").metadata["id"].as_str().unwrap().to_owned(), node.pid("gone"));
    node.change::<AgentRetire>("gone").unwrap();
    eventually("its name is free", || node.list().is_empty());
    assert!(!signals::is_alive(pid));
    node.kill_daemon();
    node.up();
    assert!(node.list().is_empty());
    assert_eq!(node.count(&id, "agent.retired"), 1);
    node.run("gone", &sleeper("gone", ""));
    assert_ne!(node.get("gone").metadata["id"], id.as_str());
    node.verify();
}

#[test]
fn retired_agents_are_listed_when_asked_for() {
    let mut node = Node::start();
    node.run("gone", &sleeper("gone", AT_ONCE));
    let id = node.get("gone").metadata["id"].clone();
    node.change::<AgentRetire>("gone").unwrap();
    eventually("its name is free", || node.list().is_empty());
    node.run("gone", &sleeper("gone", ""));
    for _ in 0..2 {
        let list = |params| node.connect().call::<AgentList>(&params).items;
        let all = list(ListParams { retired: true, ..ListParams::default() });
        let phases: Vec<_> = all.iter().map(|view| view.status.phase).collect();
        assert_eq!(phases, [Phase::Running, Phase::Retired]);
        let [_, gone] = all.as_slice() else { panic!("{all:?}") };
        assert_eq!((&gone.metadata["id"], gone.metadata["name"].as_str()), (&id, Some("gone")));
        assert_eq!(gone.spec["command"], node.get("gone").spec["command"]);
        assert_eq!((gone.status.epoch.0, gone.status.process.as_ref()), (1, None));
        assert_eq!(
            list(ListParams { phase: Some(Phase::Retired), ..ListParams::default() }),
            std::slice::from_ref(gone)
        );
        assert_eq!(list(ListParams::default()).len(), 1);
        let labels = [("team".to_owned(), "none".to_owned())].into();
        assert_eq!(list(ListParams { labels, retired: true, phase: None }), []);
        node.kill_daemon();
        node.up();
        node.wait("gone", Phase::Running);
    }
}

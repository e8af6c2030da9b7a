//! Overrides end to end: real agents held and let go, over deaths of the daemon at every step and of the machine.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on ends at once")]

use edgeplane_os::{Signal, failpoint};
use edgeplane_testkit::{Node, signals, terminal, wait::eventually};
use edgeplane_types::{ErrorName, OverrideId, Phase, Rung};
use edgeplane_wire::{
    api::overrides::{OverrideResult, OverridesResult},
    catalogue::{AgentFreeze, AgentHibernate, AgentRestart, AgentStart, AgentStop, AgentUnfreeze},
    rpc::RpcError,
};
use serde_json::{Value, json};

const QUICK: &str = "restart: { backoff: { initial: 10ms } }";

fn try_apply(node: &Node, scope: &Value, kind: &str) -> Result<OverrideResult, RpcError> {
    let params = json!({ "scope": scope, "kind": kind, "reason": "a test", "wait_ms": 30_000 });
    let raw = node.connect().try_raw("runtime/override.apply", params)?;
    Ok(serde_json::from_value(raw).unwrap())
}

fn apply(node: &Node, scope: &Value, kind: &str) -> OverrideResult {
    try_apply(node, scope, kind).unwrap()
}

fn lift(node: &Node, id: OverrideId) -> OverrideResult {
    let params = json!({ "override_id": id, "reason": "over", "wait_ms": 30_000 });
    let raw = node.connect().try_raw("runtime/override.lift", params).unwrap();
    serde_json::from_value(raw).unwrap()
}

fn standing(node: &Node) -> OverridesResult {
    let raw = node.connect().try_raw("runtime/override.list", json!({})).unwrap();
    serde_json::from_value(raw).unwrap()
}

fn phase(node: &Node, name: &str) -> Phase {
    node.get(name).status.phase
}

fn phases(result: &OverrideResult) -> Vec<(String, Phase, Option<Phase>)> {
    result.affected.iter().map(|one| (one.agent.clone(), one.before, one.after)).collect()
}

fn all() -> Value {
    json!({ "node": true })
}

fn arm(node: &Node, point: &str) {
    let folder = node.state_dir().join(failpoint::FOLDER);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(point), "1").unwrap();
}

/// Proves OVR-001, OVR-003, OVR-005, OVR-007.
#[test]
fn stop_of_the_node_ends_all_and_starts_nothing_until_it_is_lifted() {
    let mut node = Node::start();
    node.run("one", &terminal("one", &["/bin/cat"], QUICK));
    node.run("two", &terminal("two", &["/bin/cat"], QUICK));
    node.run("rests", &terminal("rests", &["/bin/cat"], &format!("offers: {{ resume: true }}\n{QUICK}")));
    node.change::<AgentHibernate>("rests").unwrap();
    node.wait("rests", Phase::Hibernated);
    node.run("stopped", &terminal("stopped", &["/bin/cat"], QUICK));
    node.stop("stopped");
    let epoch = node.get("one").status.epoch;

    let result = apply(&node, &all(), "stop");
    let id = result.override_id;
    assert_eq!(
        phases(&result),
        [
            ("one".to_owned(), Phase::Running, Some(Phase::Stopped)),
            ("rests".to_owned(), Phase::Hibernated, Some(Phase::Hibernated)),
            ("stopped".to_owned(), Phase::Stopped, Some(Phase::Stopped)),
            ("two".to_owned(), Phase::Running, Some(Phase::Stopped)),
        ]
    );
    assert!(result.affected.iter().all(|one| one.error.is_none()), "{result:?}");
    for error in [
        node.change::<AgentStart>("one").unwrap_err(),
        node.change::<AgentRestart>("one").unwrap_err(),
        node.change::<AgentStart>("stopped").unwrap_err(),
        node.change::<AgentStart>("rests").unwrap_err(),
    ] {
        assert_eq!(error.name(), ErrorName::InvalidState);
        assert!(error.message.contains(&id.to_string()) && error.message.contains("a test"), "{error:?}");
    }
    // Neither a message nor a manifest nor a daemon starts anything.
    let waiting = node.signal("rests", "wake up", None);
    let other = node.signal("one", "hello", None);
    node.apply(&terminal("later", &["/bin/cat"], QUICK));
    let view = node.get("one").status;
    assert_eq!(view.overrides.len(), 1);
    assert_eq!((view.overrides[0].override_id, view.overrides[0].reason.as_str()), (id, "a test"));
    assert!(view.reason.is_some_and(|why| why.contains("a test")));
    node.kill_daemon();
    node.up();
    for (name, expected) in [
        ("one", Phase::Stopped),
        ("two", Phase::Stopped),
        ("rests", Phase::Hibernated),
        ("later", Phase::Declared),
    ] {
        assert_eq!(phase(&node, name), expected, "{name}");
    }
    assert_eq!(node.get("one").status.epoch, epoch);
    assert_eq!(node.get("one").status.waiting_messages, 1);
    assert_eq!(node.count("later", "agent.starting"), 0);

    lift(&node, id);
    for name in ["one", "two", "later", "rests"] {
        node.wait(name, Phase::Running);
    }
    assert_eq!(phase(&node, "stopped"), Phase::Stopped);
    let told = |id: &str| {
        let raw = node.connect().try_raw("runtime/message.get", json!({ "message_id": id })).unwrap();
        raw["receipts"].as_array().unwrap().iter().any(|rung| rung["rung"] == "injected")
    };
    eventually("what waited is delivered", || {
        told(&waiting.message_id.to_string()) && told(&other.message_id.to_string())
    });
    assert!(standing(&node).items.is_empty() && node.get("one").status.overrides.is_empty());
    node.verify();
}

/// Proves OVR-002, OVR-004, OVR-005.
#[test]
fn several_overrides_hold_until_the_last_and_labels_cover_who_comes_later() {
    let node = Node::start();
    let labelled = |name: &str, team: &str| {
        terminal(name, &["/bin/cat"], QUICK).replace(
            &format!("{{ name: {name} }}"),
            &format!("{{ name: {name}, labels: {{ team: {team} }} }}"),
        )
    };
    node.run("docs-1", &labelled("docs-1", "docs"));
    node.run("ops-1", &labelled("ops-1", "ops"));
    let by_label = apply(&node, &json!({ "labels": { "team": "docs" } }), "stop");
    assert_eq!(by_label.affected.len(), 1);
    assert_eq!((phase(&node, "docs-1"), phase(&node, "ops-1")), (Phase::Stopped, Phase::Running));
    node.apply(&labelled("docs-2", "docs"));
    eventually("it is owed a start", || node.count("docs-2", "agent.held") > 0);
    assert_eq!(phase(&node, "docs-2"), Phase::Declared);
    let by_name = apply(&node, &json!({ "agents": ["docs-1"] }), "stop");
    assert_eq!(node.get("docs-1").status.overrides.len(), 2);
    lift(&node, by_label.override_id);
    node.wait("docs-2", Phase::Running);
    assert_eq!(phase(&node, "docs-1"), Phase::Stopped, "the other holds it still");

    // An agent of the same name is the same agent for an override.
    node.change::<edgeplane_wire::catalogue::AgentRetire>("docs-1").unwrap();
    eventually("its name is free", || {
        node.connect().try_raw("runtime/agent.get", json!({ "agent": "docs-1" })).is_err()
    });
    node.apply(&labelled("docs-1", "ops"));
    eventually("the new one is held", || node.count("docs-1", "agent.held") > 0);
    assert_eq!(phase(&node, "docs-1"), Phase::Declared);

    // One that gets the label comes under the override.
    let ops = apply(&node, &json!({ "labels": { "team": "held" } }), "stop");
    assert!(ops.affected.is_empty());
    node.apply(&labelled("ops-1", "held"));
    node.wait("ops-1", Phase::Stopped);
    lift(&node, ops.override_id);
    node.wait("ops-1", Phase::Running);
    lift(&node, by_name.override_id);
    node.wait("docs-1", Phase::Running);
    let repeated = lift(&node, by_name.override_id);
    assert!(repeated.affected.is_empty(), "what is lifted stays lifted");
    node.verify();
}

/// Proves OVR-005, OVR-006.
#[test]
fn pause_suspends_and_lets_go_on_where_it_was() {
    let mut node = Node::start();
    if !node.has_cgroups() {
        return;
    }
    node.run("one", &terminal("one", &["/bin/cat"], QUICK));
    node.run("frozen", &terminal("frozen", &["/bin/cat"], QUICK));
    node.change::<AgentFreeze>("frozen").unwrap();
    node.wait("frozen", Phase::Frozen);
    let pid = node.pid("one");
    let result = apply(&node, &all(), "pause");
    assert_eq!(phases(&result)[1], ("one".to_owned(), Phase::Running, Some(Phase::Frozen)));
    let error = node.change::<AgentUnfreeze>("one").unwrap_err();
    assert_eq!(error.name(), ErrorName::InvalidState);
    assert!(error.message.contains(&result.override_id.to_string()));
    node.signal("one", "hello", None);
    node.apply(&terminal("later", &["/bin/cat"], QUICK));
    node.kill_daemon();
    node.up();
    node.wait("one", Phase::Frozen);
    assert_eq!((phase(&node, "later"), node.get("one").status.waiting_messages), (Phase::Declared, 1));

    // A stop over a pause ends it; the pause still holds what it left.
    let stop = apply(&node, &json!({ "agents": ["one"] }), "stop");
    assert_eq!(phases(&stop), [("one".to_owned(), Phase::Frozen, Some(Phase::Stopped))]);
    lift(&node, stop.override_id);
    assert_eq!(phase(&node, "one"), Phase::Stopped, "nothing is begun under a pause");
    lift(&node, result.override_id);
    node.wait("one", Phase::Running);
    node.wait("later", Phase::Running);
    assert_ne!(node.pid("one"), pid);
    assert_eq!(phase(&node, "frozen"), Phase::Frozen, "it was frozen before");

    // Alone, a pause leaves the program where it was.
    let pid = node.pid("one");
    let again = apply(&node, &json!({ "agents": ["one"] }), "pause");
    lift(&node, again.override_id);
    node.wait("one", Phase::Running);
    assert_eq!(node.pid("one"), pid);
    // Stopped by hand while it is held, it stays so.
    let held = apply(&node, &json!({ "agents": ["one"] }), "stop");
    node.change::<AgentStop>("one").unwrap();
    lift(&node, held.override_id);
    assert_eq!(phase(&node, "one"), Phase::Stopped);
    node.verify();
}

/// Proves OVR-006.
#[test]
fn without_a_freezer_a_pause_says_so_and_does_what_it_can() {
    let mut node = Node::start();
    node.kill_everything();
    node.set_no_cgroups(true);
    node.up();
    node.run("one", &terminal("one", &["/bin/cat"], QUICK));
    let result = apply(&node, &all(), "pause");
    let error = result.affected[0].error.clone().unwrap();
    assert_eq!((error.name.as_str(), result.affected[0].after), ("unsupported", Some(Phase::Running)));
    let message = node.signal("one", "hello", None);
    signals::kill(&[node.pid("one")]);
    node.wait("one", Phase::Stopped);
    let get = |node: &Node| {
        let id = message.message_id.to_string();
        node.connect().try_raw("runtime/message.get", json!({ "message_id": id })).unwrap()
    };
    let rungs = |node: &Node| get(node)["receipts"].as_array().unwrap().len();
    assert_eq!(rungs(&node), 1, "it is given nothing: {:?}", get(&node));
    lift(&node, result.override_id);
    node.wait("one", Phase::Running);
    eventually("it is given what waited", || rungs(&node) > 1);
    node.verify();
}

/// Proves OVR-001: at each step the daemon dies, and what was durable comes true by itself.
#[test]
fn daemon_that_dies_between_intent_and_act_leaves_an_override_that_holds() {
    let mut node = Node::start();
    node.run("one", &terminal("one", &["/bin/cat"], QUICK));
    let pid = node.pid("one");
    for (point, is_durable) in [("override.before", false), ("override.applied", true)] {
        arm(&node, point);
        assert!(try_apply(&node, &all(), "stop").is_err(), "the daemon dies at {point}");
        node.kill_daemon();
        assert!(signals::is_alive(pid), "{point}: its program outlives the daemon");
        node.up();
        assert_eq!(standing(&node).items.len(), usize::from(is_durable), "{point}");
        node.wait("one", if is_durable { Phase::Stopped } else { Phase::Running });
    }
    let id = standing(&node).items[0].override_id;
    for (point, is_lifted) in [("override.lifting", false), ("override.lifted", true)] {
        arm(&node, point);
        let params = json!({ "override_id": id, "reason": "over" });
        assert!(node.connect().try_raw("runtime/override.lift", params).is_err(), "it dies at {point}");
        node.kill_daemon();
        node.up();
        assert_eq!(standing(&node).items.is_empty(), is_lifted, "{point}");
        node.wait("one", if is_lifted { Phase::Running } else { Phase::Stopped });
    }
    node.verify();
}

/// Proves OVR-001, OVR-003: a reboot, and an agent that was in backoff.
#[test]
fn reboot_and_restart_policy_start_nothing_that_is_held() {
    let mut node = Node::start();
    node.run("one", &terminal("one", &["/bin/cat"], QUICK));
    let slow = "restart: { policy: always, backoff: { initial: 60s, max: 60s } }";
    node.apply(&terminal("dies", &["/bin/false"], slow));
    node.wait("dies", Phase::Backoff);
    let id = apply(&node, &all(), "stop").override_id;
    assert_eq!(phase(&node, "dies"), Phase::Stopped);
    lift(&node, id);
    node.wait("one", Phase::Running);
    node.wait("dies", Phase::Backoff);
    let epoch = node.get("one").status.epoch;
    // Held when everything dies at once.
    let pid = node.pid("one");
    arm(&node, "override.applied");
    assert!(try_apply(&node, &all(), "stop").is_err());
    node.kill_daemon();
    signals::kill(&[pid]);
    node.up();
    node.wait("one", Phase::Stopped);
    node.wait("dies", Phase::Stopped);
    assert_eq!(node.get("one").status.epoch, epoch);
    let id = standing(&node).items[0].override_id;
    lift(&node, id);
    node.wait("one", Phase::Running);
    node.verify();
}

/// Proves OVR-008, OVR-009.
#[test]
fn one_that_is_stuck_holds_up_none_and_time_lifts() {
    let node = Node::start();
    for index in 0..6 {
        let name = format!("quick-{index}");
        node.run(&name, &terminal(&name, &["/bin/cat"], QUICK));
    }
    let deaf = ["/bin/sh", "-c", "trap '' TERM HUP; while :; do read -r x || :; done"];
    node.run("deaf", &terminal("deaf", &deaf, "stop: { grace: 20s }"));
    let params =
        json!({ "scope": all(), "kind": "stop", "reason": "short", "expires_in_ms": 1_500, "wait_ms": 500 });
    let raw = node.connect().try_raw("runtime/override.apply", params).unwrap();
    let result: OverrideResult = serde_json::from_value(raw).unwrap();
    for one in &result.affected {
        let expected = if one.agent == "deaf" { Phase::Stopping } else { Phase::Stopped };
        assert_eq!(one.after, Some(expected), "{}", one.agent);
    }
    for index in 0..6 {
        node.wait(&format!("quick-{index}"), Phase::Running);
    }
    let view =
        node.connect().try_raw("runtime/override.get", json!({ "override_id": result.override_id })).unwrap();
    assert_eq!(view["lifted"]["by"], "node:override-expiry", "{view}");
    signals::send(node.shim_pid("deaf"), Signal::KILL);
    eventually("what was owed comes back", || phase(&node, "deaf") == Phase::Running);
}

/// Proves OVR-010, OVR-011.
#[test]
fn what_is_wrong_is_refused_by_name_and_people_see_what_holds() {
    let node = Node::start();
    node.run("one", &terminal("one", &["/bin/cat"], QUICK));
    let refused = |scope: &Value, kind: &str| try_apply(&node, scope, kind).unwrap_err().name();
    assert_eq!(refused(&all(), "rollback"), ErrorName::Unsupported);
    assert_eq!(refused(&all(), "modify"), ErrorName::Unsupported);
    assert_eq!(refused(&all(), "fly"), ErrorName::InvalidParams);
    assert_eq!(refused(&json!({ "node": false }), "stop"), ErrorName::InvalidParams);
    assert_eq!(refused(&json!({ "agents": [] }), "stop"), ErrorName::InvalidParams);
    assert_eq!(refused(&json!({ "agents": ["nobody"] }), "stop"), ErrorName::NotFound);
    assert_eq!(refused(&json!({ "node": true, "agents": ["one"] }), "stop"), ErrorName::InvalidParams);
    let raw = |method: &str, params: Value| node.connect().try_raw(method, params).unwrap_err().name();
    assert_eq!(
        raw("runtime/override.apply", json!({ "scope": all(), "kind": "stop", "reason": " " })),
        ErrorName::InvalidParams
    );
    let nobody = json!({ "override_id": "ovr_01890000-0000-7000-8000-000000000002", "reason": "x" });
    assert_eq!(raw("runtime/override.lift", nobody), ErrorName::NotFound);
    assert!(standing(&node).items.is_empty());

    let cli = |args: &[&str]| {
        let out = node.cli(args).output().unwrap();
        (out.status.code(), String::from_utf8_lossy(&out.stdout).into_owned())
    };
    let (code, said) = cli(&["override", "apply", "--all", "--kind", "stop", "--reason", "incident 7"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("in force") && said.contains("stopped"), "{said}");
    let id = said.split_whitespace().next().unwrap().to_owned();
    for args in [&["ps"][..], &["agent", "get", "one"], &["agent", "describe", "one"], &["override", "list"]]
    {
        let (_, said) = cli(args);
        assert!(said.contains("incident 7"), "{args:?}: {said}");
    }
    let (_, said) = cli(&["doctor"]);
    assert!(said.contains("overrides") && said.contains(&id), "{said}");
    let status = node.connect().try_raw("runtime/node.status", json!({})).unwrap();
    assert_eq!(status["overrides"][0]["reason"], "incident 7");
    let (code, said) = cli(&["override", "lift", &id, "--reason", "over"]);
    assert_eq!(code, Some(0), "{said}");
    node.wait("one", Phase::Running);
}

/// Proves OVR-003: replicas of a set are held by the set's name, and get nothing meanwhile.
#[test]
fn sets_name_covers_its_replicas() {
    let node = Node::start();
    let log = node.scratch().join("log");
    let more = "state: stateless\nreplicas: 2";
    node.apply(&edgeplane_testkit::task_worker("pool", &log, &[], more));
    eventually("both replicas run", || {
        node.list()
            .iter()
            .filter(|one| one.status.phase == Phase::Running && one.status.set.is_some())
            .count()
            == 2
    });
    let result = apply(&node, &json!({ "agents": ["pool"] }), "stop");
    let names: Vec<String> = result.affected.iter().map(|one| one.agent.clone()).collect();
    assert_eq!(names, ["pool-1", "pool-2"]);
    assert_eq!((phase(&node, "pool-1"), phase(&node, "pool-2")), (Phase::Stopped, Phase::Stopped));
    let error = node.change::<AgentStart>("pool").unwrap_err();
    assert_eq!(error.name(), ErrorName::InvalidState);
    let message = node.signal("pool", "a task", None);
    lift(&node, result.override_id);
    node.wait("pool-1", Phase::Running);
    eventually("the task is done", || {
        let raw = node
            .connect()
            .try_raw("runtime/message.get", json!({ "message_id": message.message_id }))
            .unwrap();
        raw["receipts"].as_array().unwrap().iter().any(|rung| rung["rung"] == Rung::TurnEnded.as_str())
    });
}

//! Subagents through real agents: spawned by operators and agents, bounded, waited for, ended, over dying daemons.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends at once")]

#[path = "subagents/apart.rs"]
mod apart;
#[path = "subagents/isolation.rs"]
mod isolation;
#[path = "subagents/stage.rs"]
mod stage;

use std::collections::BTreeSet;

use edgeplane_testkit::{
    Node,
    peers::speak_as,
    random::Random,
    wait::{eventually, eventually_some},
};
use edgeplane_types::{AgentId, Phase, SubagentStatus};
use serde_json::{Value, json};
use stage::{
    allow, arm, call, call_if_alive, disarm, given, manifest, read_view, refused, refused_as, spawn,
    spawn_running, under, wait_closed, wait_for, with, worker,
};

const ID: &str = "agt_01890000-0000-7000-8000-000000000002";

fn task(objective: &str) -> Value {
    json!({ "task": { "title": "T", "objective": objective } })
}

/// Proves SUB-001, SUB-002.
#[test]
fn operator_starts_a_child_that_is_an_agent_with_a_parent() {
    let node = Node::start();
    worker(&node, "alpha", "");
    let made = spawn(&node, "alpha", &json!({}));
    assert!(made.name.as_str().starts_with("alpha-"), "{}", made.name);
    assert_eq!((made.parent.as_str(), made.depth), ("alpha", 1));
    assert_eq!(made.thread_id.as_bytes(), made.session_id.as_bytes());
    let name = made.name.as_str();
    node.wait(name, Phase::Running);
    let alpha = node.get("alpha");
    assert_eq!(node.get(name).status.parent, Some(made.parent_id));
    assert_eq!(alpha.status.parent, None);
    wait_for(&node, "alpha", made.subagent_id, SubagentStatus::Running);
    let sent = call(
        &node,
        "runtime/subagent.send",
        json!({ "subagent": name, "parts": [{ "type": "text", "text": "work fine" }] }),
    );
    let idle = json!({ "subagents": [name], "until": "idle" });
    eventually("it has read it", || given(&node, name).len() == 1);
    let waited = call(&node, "runtime/subagent.wait", idle);
    assert_eq!(waited["items"][0]["last_message_id"], sent["message_id"]);
    assert_eq!(waited["reached"], json!([made.subagent_id]));
    let late = json!({ "subagents": [name], "timeout_ms": 1 });
    assert_eq!(refused(&node, "runtime/subagent.wait", late), "deadline_exceeded");
    call(&node, "runtime/subagent.close", json!({ "subagent": name, "reason": "enough" }));
    let closed = wait_closed(&node, "alpha", made.subagent_id);
    assert_eq!((closed.status, closed.phase), (SubagentStatus::Closed, Phase::Retired));
    assert_eq!(
        (closed.reason.as_deref(), closed.closing_because.as_deref()),
        (Some("enough"), Some("enough"))
    );
    assert!(under(&node, "alpha", 1, false).is_empty());
    let end = json!({ "subagents": [made.subagent_id] });
    call(&node, "runtime/subagent.wait", end);
    let told = json!({ "subagent": made.subagent_id, "parts": [{ "type": "text", "text": "x" }] });
    assert_eq!(refused(&node, "runtime/subagent.send", told), "invalid_state");
    // All of it stands in the history of the parent.
    let history = node.history("alpha");
    let kinds: Vec<&str> = history.iter().filter_map(|event| event.event["type"].as_str()).collect();
    let kinds: Vec<&str> = kinds.into_iter().filter(|kind| kind.starts_with("subagent.")).collect();
    assert_eq!(kinds.first(), Some(&"subagent.spawned"));
    assert_eq!(kinds.iter().filter(|kind| **kind == "subagent.input").count(), 1, "{kinds:?}");
    assert_eq!(kinds[kinds.len() - 2..], ["subagent.closing", "subagent.closed"], "{kinds:?}");
    node.verify();
}

/// Proves SUB-003.
#[test]
fn child_of_one_task_is_retired_when_its_task_is_over() {
    let node = Node::start();
    worker(&node, "alpha", "");
    let made = spawn(&node, "alpha", &task("gate go fine"));
    let id = made.subagent_id;
    wait_for(&node, "alpha", id, SubagentStatus::Running);
    allow(&node, "go");
    let done =
        read_view(call(&node, "runtime/subagent.wait", json!({ "subagents": [id] }))["items"][0].clone());
    assert_eq!(done.status, SubagentStatus::Completed);
    let closed = wait_closed(&node, "alpha", id);
    assert_eq!((closed.status, closed.phase), (SubagentStatus::Completed, Phase::Retired));
    assert_eq!(closed.epoch.0, 1);
    let found = call(&node, "runtime/task.get", json!({ "task_id": closed.task_id.unwrap() }));
    assert_eq!((&found["task"]["state"], found["runs"].as_array().unwrap().len()), (&json!("completed"), 1));
    assert_eq!(found["runs"][0]["run_id"], json!(closed.run_id.unwrap()));
    assert_eq!(found["task"]["agent_id"], json!(id));
    let output =
        call(&node, "conversation/output.get", json!({ "output_id": found["runs"][0]["output_id"] }));
    assert_eq!(output["text"], "fine");
    // One that fails, one whose program ends, one whose program is not there, one that is ended before it is done.
    let dies = spawn(&node, "alpha", &task("die"));
    let missing =
        spawn(&node, "alpha", &json!({ "command": ["/nonexistent/program"], "task": { "title": "T" } }));
    let held = spawn(&node, "alpha", &task("hold"));
    for id in [dies.subagent_id, missing.subagent_id] {
        assert_eq!(wait_closed(&node, "alpha", id).status, SubagentStatus::Failed);
    }
    wait_for(&node, "alpha", held.subagent_id, SubagentStatus::Running);
    call(&node, "runtime/subagent.close", json!({ "subagent": held.subagent_id }));
    assert_eq!(wait_closed(&node, "alpha", held.subagent_id).status, SubagentStatus::Cancelled);
    let state = json!({ "task_id": held.task_id.unwrap() });
    eventually("its task is cancelled", || {
        call(&node, "runtime/task.get", state.clone())["task"]["state"] == "cancelled"
    });
    // What its task was and what it came to stays to be seen.
    assert_eq!(under(&node, "alpha", 1, true).len(), 4);
    assert!(under(&node, "alpha", 1, false).is_empty());
    node.verify();
}

/// Proves SUB-003: between its runs, too.
#[test]
fn child_of_one_task_is_given_no_items_of_jobs() {
    let node = Node::start();
    let labelled = |name: &str| {
        let named = format!("name: {name}");
        manifest(&node, name, "").replacen(&named, &format!("{named}, labels: {{ team: x }}"), 1)
    };
    node.run("alpha", &labelled("alpha"));
    let accepted = json!({ "title": "T", "objective": "work fine", "acceptance": ["it is fine"] });
    let child = spawn(&node, "alpha", &json!({ "on_parent_exit": "keep", "task": accepted }));
    wait_for(&node, "alpha", child.subagent_id, SubagentStatus::Blocked);
    node.stop("alpha");
    let job = json!({ "title": "J", "items": [{ "input": "work 1" }], "labels": { "team": "x" } });
    let job = call(&node, "runtime/job.create", job)["job_id"].clone();
    node.run("beta", &labelled("beta"));
    let done = eventually_some("the item is done", || {
        let found = call(&node, "runtime/job.get", json!({ "job_id": job }));
        (found["job"]["state"] == "completed").then(|| found["items"][0].clone())
    });
    assert_eq!(done["agent"], "beta");
    let complete = json!({ "task_id": child.task_id.unwrap(), "accepted": [0] });
    call(&node, "runtime/task.complete", complete);
    assert_eq!(wait_closed(&node, "alpha", child.subagent_id).status, SubagentStatus::Completed);
    node.verify();
}

/// Proves SUB-004, SUB-006.
#[test]
fn agent_starts_agents_under_itself_only_and_as_many_as_it_may() {
    let node = Node::start();
    worker(&node, "alpha", "subagents: { max: 2, depth: 2 }");
    worker(&node, "beta", "");
    let mut alpha = speak_as(&node, "alpha");
    let own = read_view(alpha.try_raw("runtime/subagent.spawn", json!({ "name": "one" })).unwrap());
    assert_eq!((own.parent.as_str(), own.spawned_by.as_str()), ("alpha", "alpha"));
    let name =
        |said: Result<Value, edgeplane_wire::rpc::RpcError>| said.unwrap_err().name().as_str().to_owned();
    // Another parent is not its to give, whoever it names.
    assert_eq!(name(alpha.try_raw("runtime/subagent.spawn", with("beta", &json!({})))), "permission_denied");
    assert_eq!(
        refused_as(&node, "beta", "runtime/subagent.spawn", with("alpha", &json!({}))),
        "permission_denied"
    );
    // Its manifest allows none.
    assert_eq!(refused_as(&node, "beta", "runtime/subagent.spawn", json!({})), "quota_exhausted");
    // Neither a manifest nor labels that it has not.
    let text = manifest(&node, "planted", "");
    assert_eq!(
        name(alpha.try_raw("runtime/subagent.spawn", json!({ "manifest": text }))),
        "permission_denied"
    );
    let labels = json!({ "labels": { "role": "admin" } });
    assert_eq!(name(alpha.try_raw("runtime/subagent.spawn", labels)), "permission_denied");
    node.wait("one", Phase::Running);
    // The second generation may be, the third may not.
    let second = speak_as(&node, "one").try_raw("runtime/subagent.spawn", json!({ "name": "two" })).unwrap();
    assert_eq!(second["parent"], "one");
    node.wait("two", Phase::Running);
    assert_eq!(refused_as(&node, "two", "runtime/subagent.spawn", json!({})), "quota_exhausted");
    alpha.try_raw("runtime/subagent.spawn", json!({ "name": "three" })).unwrap();
    assert_eq!(name(alpha.try_raw("runtime/subagent.spawn", json!({}))), "quota_exhausted");
    // Who is above sees, speaks and ends; nobody else does.
    let list = alpha.try_raw("runtime/subagent.list", json!({ "depth": 2 })).unwrap();
    let names: Vec<&str> =
        list["items"].as_array().unwrap().iter().filter_map(|item| item["name"].as_str()).collect();
    assert_eq!(names, ["one", "two", "three"]);
    assert_eq!(
        refused_as(&node, "beta", "runtime/subagent.list", json!({ "parent": "alpha" })),
        "permission_denied"
    );
    for method in ["runtime/subagent.close", "runtime/subagent.resume"] {
        assert_eq!(refused_as(&node, "beta", method, json!({ "subagent": "one" })), "not_found");
        assert_eq!(refused_as(&node, "two", method, json!({ "subagent": "one" })), "not_found");
    }
    let send = json!({ "subagent": "two", "parts": [{ "type": "text", "text": "work fine" }] });
    alpha.try_raw("runtime/subagent.send", send).unwrap();
    eventually("it was told by alpha", || !given(&node, "two").is_empty());
    let told = &given(&node, "two")[0]["params"];
    assert_eq!((&told["source"], &told["channel"]), (&json!("alpha"), &json!("peer")));
    alpha.try_raw("runtime/subagent.close", json!({ "subagent": "one" })).unwrap();
    wait_closed(&node, "alpha", own.subagent_id);
    // An operator may always, within the node's own bounds.
    spawn(&node, "beta", &json!({}));
    node.verify();
}

/// Proves SUB-003, SUB-006: over the driver, from within a run, the work is handed on.
#[test]
fn task_of_a_child_is_handed_on_by_the_task_that_its_parent_works_on() {
    let node = Node::start();
    worker(&node, "alpha", "subagents: { max: 2 }");
    let objective = "spawn {\"task\": {\"title\": \"part\", \"objective\": \"work fine\"}}";
    let params = json!({ "title": "whole", "agent": "alpha", "objective": objective });
    let whole = call(&node, "runtime/task.create", params)["task_id"].clone();
    let child = eventually_some("a child is there", || under(&node, "alpha", 1, true).pop());
    assert_eq!(wait_closed(&node, "alpha", child.subagent_id).status, SubagentStatus::Completed);
    let found = call(&node, "runtime/task.get", json!({ "task_id": whole }));
    let edge = &found["edges"][0];
    assert_eq!((&edge["kind"], &edge["to"]), (&json!("delegated"), &json!(child.task_id.unwrap())));
    assert_eq!(child.spawned_by.as_str(), "alpha");
    // What it was told comes from its parent, with its parent's authority.
    let told = &given(&node, child.name.as_str())[0]["params"];
    assert_eq!(told["source"], "alpha");
    assert_ne!(told["authority"], "trusted");
    node.verify();
}

/// Proves SUB-007.
#[test]
fn closing_ends_the_youngest_generation_first() {
    let node = Node::start();
    worker(&node, "alpha", "");
    let top = spawn_running(&node, "alpha", "top", &json!({}));
    let middle = spawn_running(&node, "top", "middle", &json!({}));
    let bottom = spawn_running(&node, "middle", "bottom", &json!({ "on_parent_exit": "keep" }));
    let other = spawn_running(&node, "alpha", "other", &json!({}));
    let names: Vec<_> =
        under(&node, "alpha", 3, false).into_iter().map(|view| (view.name.to_string(), view.depth)).collect();
    let expected = [("top", 1), ("middle", 2), ("bottom", 3), ("other", 1)];
    assert_eq!(names, expected.map(|(name, depth)| (name.to_owned(), depth)));
    assert_eq!(under(&node, "alpha", 1, false).len(), 2);
    call(&node, "runtime/subagent.close", json!({ "subagent": "top", "reason": "enough" }));
    let at = |id: AgentId| wait_closed(&node, "alpha", id).closed_at.unwrap();
    assert!(at(bottom.subagent_id) < at(middle.subagent_id));
    assert!(at(middle.subagent_id) < at(top.subagent_id));
    assert_eq!(node.get("other").status.phase, Phase::Running);
    let late = with("alpha", &json!({ "name": "late" }));
    call(&node, "runtime/subagent.spawn", late);
    assert_eq!(under(&node, "alpha", 3, false).len(), 2);
    assert_eq!(wait_closed(&node, "alpha", top.subagent_id).reason.as_deref(), Some("enough"));
    assert_eq!(node.get("other").status.identities.audit.agent_id, other.subagent_id);
    node.verify();
}

/// Proves SUB-008.
#[test]
fn what_becomes_of_a_child_when_its_parent_ends_is_chosen() {
    let mut node = Node::start();
    worker(&node, "alpha", "");
    let bound = spawn_running(&node, "alpha", "bound", &json!({ "on_parent_exit": "close" }));
    spawn_running(&node, "alpha", "kept", &json!({}));
    let below = spawn_running(&node, "bound", "below", &json!({ "on_parent_exit": "close" }));
    let single = spawn(&node, "alpha", &task("hold"));
    wait_for(&node, "alpha", single.subagent_id, SubagentStatus::Running);
    node.stop("alpha");
    assert_eq!(wait_closed(&node, "alpha", bound.subagent_id).status, SubagentStatus::Closed);
    wait_closed(&node, "alpha", below.subagent_id);
    assert_eq!(wait_closed(&node, "alpha", single.subagent_id).status, SubagentStatus::Cancelled);
    assert_eq!(node.get("kept").status.phase, Phase::Running);
    // One that is to end with its parent does not begin under one that has ended.
    let late = with("alpha", &json!({ "on_parent_exit": "close" }));
    assert_eq!(refused(&node, "runtime/subagent.spawn", late), "invalid_state");
    // A restart of the parent is no end; what ends it while no daemon lives is seen by the next one.
    worker(&node, "beta", "");
    let stays = spawn_running(&node, "beta", "stays", &json!({ "on_parent_exit": "close" }));
    call(&node, "runtime/agent.restart", json!({ "agent": "beta" }));
    eventually("it runs again", || {
        node.get("beta").status.epoch.0 == 2 && node.get("beta").status.phase == Phase::Running
    });
    assert_eq!(node.get("stays").status.phase, Phase::Running);
    let pid = node.pid("beta");
    node.kill_daemon();
    edgeplane_testkit::signals::send(pid, edgeplane_os::Signal::KILL);
    node.up();
    wait_closed(&node, "beta", stays.subagent_id);
    // One that is kept outlives the retirement, and is still known as a child.
    call(&node, "runtime/agent.retire", json!({ "agent": "alpha" }));
    let alpha = bound.parent_id.to_string();
    eventually("it is retired", || is_gone(&node, "alpha"));
    let left: Vec<_> = under(&node, &alpha, 1, false).into_iter().map(|view| view.name.to_string()).collect();
    assert_eq!(left, ["kept"]);
    node.verify();
}

fn is_gone(node: &Node, name: &str) -> bool {
    stage::try_call(node, "runtime/agent.get", json!({ "agent": name })).is_err()
}

/// Proves SUB-009.
#[test]
fn children_are_the_same_under_the_next_daemon() {
    let mut node = Node::start();
    worker(&node, "alpha", "");
    spawn_running(&node, "alpha", "one", &json!({}));
    spawn_running(&node, "one", "two", &json!({}));
    let single = spawn(&node, "alpha", &task("gate go fine"));
    wait_for(&node, "alpha", single.subagent_id, SubagentStatus::Running);
    let gone = spawn_running(&node, "alpha", "gone", &json!({}));
    call(&node, "runtime/subagent.close", json!({ "subagent": "gone" }));
    wait_closed(&node, "alpha", gone.subagent_id);
    node.stop("two");
    wait_for(&node, "alpha", under(&node, "one", 1, false)[0].subagent_id, SubagentStatus::Blocked);
    let before = under(&node, "alpha", 8, true);
    node.kill_daemon();
    // Its task ends while no daemon lives.
    allow(&node, "go");
    node.up();
    assert_eq!(wait_closed(&node, "alpha", single.subagent_id).status, SubagentStatus::Completed);
    let others = |all: Vec<edgeplane_wire::api::subagent::SubagentView>| {
        all.into_iter().filter(|view| view.subagent_id != single.subagent_id).collect::<Vec<_>>()
    };
    eventually("the others are as before", || {
        others(under(&node, "alpha", 8, true)) == others(before.clone())
    });
    let resumed = read_view(call(&node, "runtime/subagent.resume", json!({ "subagent": "two" })));
    assert_eq!(resumed.parent, "one");
    node.wait("two", Phase::Running);
    node.verify();
}

/// Proves SUB-010.
#[test]
fn child_is_spawned_once_under_an_id() {
    let node = Node::start();
    worker(&node, "alpha", "");
    let params = |title: &str| {
        let task = json!({ "title": title, "objective": "gate go fine" });
        with("alpha", &json!({ "subagent_id": ID, "task": task }))
    };
    let first = call(&node, "runtime/subagent.spawn", params("T"));
    let again = call(&node, "runtime/subagent.spawn", params("T"));
    assert_eq!((&first["name"], &first["task_id"]), (&again["name"], &again["task_id"]));
    assert_eq!(refused(&node, "runtime/subagent.spawn", params("other")), "conflict");
    let named = with("alpha", &json!({ "name": "alpha" }));
    assert_eq!(refused(&node, "runtime/subagent.spawn", named), "conflict");
    allow(&node, "go");
    wait_closed(&node, "alpha", ID.parse().unwrap());
    assert_eq!(call(&node, "runtime/subagent.spawn", params("T"))["status"], "completed");
    assert_eq!(under(&node, "alpha", 1, true).len(), 1);
    node.verify();
}

/// Proves SUB-011.
#[test]
fn history_of_a_parent_tells_of_its_children_in_the_standards_words() {
    let node = Node::start();
    worker(&node, "alpha", "");
    let good = spawn(&node, "alpha", &task("work fine"));
    let bad = spawn(&node, "alpha", &task("die"));
    for child in [&good, &bad] {
        wait_closed(&node, "alpha", child.subagent_id);
    }
    let session = node.get("alpha").status.identities.session.session_id;
    let target = json!({ "kind": "session", "id": session });
    let read = json!({ "projection": "agentruntime.lime", "target": target, "types": ["subagent.*"] });
    let of = |child: AgentId| -> Vec<Value> {
        let items = call(&node, "stream/replay", read.clone())["items"].as_array().unwrap().clone();
        let events = items.iter().map(|item| item["event"]["payload"].clone());
        events.filter(|event| event["subagentId"] == json!(child)).collect()
    };
    let kinds = |events: &[Value]| -> BTreeSet<String> {
        events.iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect()
    };
    let told = of(good.subagent_id);
    let expected =
        ["subagent.closed", "subagent.completed", "subagent.input", "subagent.spawned", "subagent.status"];
    assert_eq!(kinds(&told), expected.map(str::to_owned).into());
    assert_eq!(told[0]["payload"]["childThreadId"], json!(good.thread_id));
    assert_eq!(told[0]["taskId"], json!(good.task_id.unwrap()));
    assert!(kinds(&of(bad.subagent_id)).contains("subagent.failed"));
    let state =
        call(&node, "stream/projection.get", json!({ "projection": "session.snapshot", "target": target }));
    let text = state.to_string();
    assert!(text.contains("subagentJobSummary") && text.contains(&good.subagent_id.to_string()), "{text}");
    node.verify();
}

/// Points of a child's life at which a daemon dies.
const POINTS: [&str; 10] = [
    "subagent.before",
    "subagent.after",
    "run.before",
    "run.after",
    "run.saying",
    "task.after",
    "subagent.close.before",
    "subagent.close.after",
    "subagent.ending",
    "subagent.closing",
];

/// Proves SUB-012: at each point, and at some passage of it.
#[test]
fn no_child_is_half_spawned_or_half_closed_wherever_a_daemon_dies() {
    let mut random = Random::seeded("no_child_is_half_spawned_or_half_closed_wherever_a_daemon_dies");
    let mut node = Node::start();
    // An epoch that a daemon had not brought up when it died is followed by another one.
    worker(&node, "alpha", "restart: { policy: on_failure, backoff: { initial: 10ms } }");
    let mut died = 0;
    for (number, point) in POINTS.into_iter().enumerate() {
        let id = format!("agt_01890000-0000-7000-8000-00000000010{number}");
        let params =
            with("alpha", &json!({ "subagent_id": id, "task": { "title": "T", "objective": "work fine" } }));
        arm(&node, point, if point == "task.after" { 1 + random.below(3) } else { 1 });
        // Whoever did not hear says it again.
        call_if_alive(&node, "runtime/subagent.spawn", params.clone());
        let is_closed = |node: &Node| {
            let all = call_if_alive(node, "runtime/subagent.list", json!({ "parent": "alpha", "all": true }));
            all.is_some_and(|all| {
                let items = all["items"].as_array().cloned().unwrap_or_default();
                items.iter().any(|item| item["subagent_id"] == json!(id) && !item["closed_at"].is_null())
            })
        };
        eventually("the daemon has died, or the child is closed", || node.has_ended() || is_closed(&node));
        disarm(&node);
        if node.has_ended() {
            died += 1;
            node.up();
        }
        call(&node, "runtime/subagent.spawn", params);
        let closed = wait_closed(&node, "alpha", id.parse().unwrap());
        assert_eq!(closed.status, SubagentStatus::Completed, "{point}");
        let runs =
            call(&node, "runtime/task.get", json!({ "task_id": closed.task_id.unwrap() }))["runs"].clone();
        assert_eq!(runs.as_array().unwrap().len(), 1, "{point}: {runs}");
        assert_eq!(given(&node, closed.name.as_str()).len(), 1, "{point}");
    }
    assert!(died >= POINTS.len() - 1, "{died} of {} daemons died", POINTS.len());
    assert_eq!(under(&node, "alpha", 1, true).len(), POINTS.len());
    // Every child that was declared has a parent that knows it.
    let declared =
        call(&node, "runtime/agent.list", json!({ "retired": true }))["items"].as_array().unwrap().len();
    assert_eq!(declared, POINTS.len() + 1);
    node.verify();
}

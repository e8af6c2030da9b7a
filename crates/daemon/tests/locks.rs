//! Locks on paths of workspaces end to end: who may change what, in which order those who wait come, and when a lock is
//! over, also over dying daemons.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on ends at once")]

use std::thread::JoinHandle;

use edgeplane_testkit::{
    Connection, Node,
    peers::{speak_as, with},
    terminal,
    wait::{eventually, eventually_some},
};
use edgeplane_types::{ErrorName, Phase};
use edgeplane_wire::rpc::RpcError;
use serde_json::{Value, json};

fn ask(node: &Node, method: &str, params: Value) -> Result<Value, RpcError> {
    node.connect().try_raw(method, params)
}

/// An agent that does nothing, in whose workspace both it and operators may act, and that workspace.
fn workspace(node: &Node) -> Value {
    node.run("one", &terminal("one", &["/bin/cat"], ""));
    let made = ask(node, "workspace/create", json!({ "agent": "one" })).unwrap();
    json!({ "workspace_id": made["workspace_id"] })
}

fn lock(by: &mut Connection, of: &Value, more: &Value) -> Result<Value, RpcError> {
    by.try_raw("workspace/lock.acquire", with(of.clone(), more))
}

fn write(by: &mut Connection, of: &Value, more: &Value) -> Result<Value, RpcError> {
    by.try_raw(
        "workspace/file.write",
        with(of.clone(), &with(json!({ "content": "x", "folders": true }), more)),
    )
}

fn refused<T: std::fmt::Debug>(result: Result<T, RpcError>) -> ErrorName {
    result.unwrap_err().name()
}

fn release(node: &Node, of: &Value, token: &Value) -> Result<Value, RpcError> {
    ask(node, "workspace/lock.release", with(of.clone(), &json!({ "token": token })))
}

fn tokens(node: &Node, of: &Value) -> Vec<u64> {
    let list = ask(node, "workspace/lock.list", of.clone()).unwrap();
    list["locks"].as_array().unwrap().iter().map(|lock| lock["token"].as_u64().unwrap()).collect()
}

/// How many facts of this name there are.
fn count(node: &Node, name: &str) -> usize {
    let all = ask(node, "stream/replay", json!({ "types": [name], "limit": 10_000 })).unwrap();
    all["items"].as_array().unwrap().len()
}

/// Somebody who waits for a lock, once they do.
fn waits(node: &Node, mut by: Connection, of: &Value, more: Value) -> JoinHandle<Result<Value, RpcError>> {
    let before = count(node, "lock.waiting");
    let of = of.clone();
    let waiting = std::thread::spawn(move || lock(&mut by, &of, &with(json!({ "wait_ms": 120_000 }), &more)));
    eventually("they wait", || count(node, "lock.waiting") == before + 1);
    waiting
}

/// Proves WSP-026, WSP-027.
#[test]
fn what_is_locked_is_changed_under_its_token_only() {
    let node = Node::start();
    let of = workspace(&node);
    let (mut agent, mut operator) = (speak_as(&node, "one"), node.connect());
    write(&mut operator, &of, &json!({ "path": "other" })).unwrap();
    let kept = operator.try_raw("workspace/checkpoint.create", of.clone()).unwrap();
    let held = lock(&mut agent, &of, &json!({ "paths": ["src", "doc/a"] })).unwrap();
    assert_eq!((&held["token"], &held["holder"], &held["shared"]), (&json!(1), &json!("one"), &json!(false)));
    let token = held["token"].clone();
    let error = write(&mut operator, &of, &json!({ "path": "src/deep/a" })).unwrap_err();
    assert_eq!((error.name(), error.data.retryable), (ErrorName::Locked, true));
    assert!(error.message.contains("`one`") && error.data.retry_after_ms.is_some(), "{error:?}");
    assert_eq!(
        refused(write(&mut agent, &of, &json!({ "path": "src" }))),
        ErrorName::Locked,
        "its own, unsaid"
    );
    // Somebody else's token is worth nothing.
    let theirs = json!({ "path": "src/a", "lock": token });
    assert_eq!(refused(write(&mut operator, &of, &theirs)), ErrorName::Fenced);
    write(&mut agent, &of, &theirs).unwrap();
    write(&mut operator, &of, &json!({ "path": "srcs" })).unwrap();
    write(&mut operator, &of, &json!({ "path": "doc/b" })).unwrap();
    for (method, more) in [
        ("workspace/file.move", json!({ "path": "other", "to": "src/b" })),
        ("workspace/file.move", json!({ "path": "src/a", "to": "b" })),
        ("workspace/file.move", json!({ "path": "doc", "to": "docs" })),
        ("workspace/file.delete", json!({ "path": "src/a" })),
    ] {
        assert_eq!(
            refused(ask(&node, method, with(of.clone(), &more))),
            ErrorName::Locked,
            "{method} {more}"
        );
    }
    let back = json!({ "checkpoint_id": kept["checkpoint_id"], "force": true });
    assert_eq!(refused(operator.try_raw("workspace/checkpoint.restore", back.clone())), ErrorName::Locked);
    for paths in [json!(["src"]), json!(["src/deep"]), json!(["."]), json!(["x", "doc/a/b"])] {
        assert_eq!(
            refused(lock(&mut operator, &of, &json!({ "paths": paths }))),
            ErrorName::Locked,
            "{paths}"
        );
    }
    // Having it for longer keeps its token; a new one has a higher one.
    let longer = lock(&mut agent, &of, &json!({ "token": token, "ttl_ms": 600_000 })).unwrap();
    assert_eq!((&longer["token"], &longer["paths"]), (&token, &held["paths"]));
    assert_ne!(longer["expires_at"], held["expires_at"]);
    assert_eq!(lock(&mut operator, &of, &json!({ "paths": ["x"] })).unwrap()["token"], 2);
    assert_eq!(refused(release(&node, &of, &token)), ErrorName::PermissionDenied);
    agent.try_raw("workspace/lock.release", with(of.clone(), &json!({ "token": token }))).unwrap();
    // What was released is fenced, though nobody holds anything.
    assert_eq!(
        refused(write(&mut agent, &of, &json!({ "path": "src/a", "lock": token }))),
        ErrorName::Fenced
    );
    assert_eq!(refused(lock(&mut agent, &of, &json!({ "token": token }))), ErrorName::Fenced);
    let with_own = with(back, &json!({ "lock": 2 }));
    operator.try_raw("workspace/checkpoint.restore", with_own).unwrap();
    assert_eq!(tokens(&node, &of), [2]);
    node.verify();
}

/// Proves WSP-026.
#[test]
fn shared_locks_keep_everybody_from_writing() {
    let node = Node::start();
    let of = workspace(&node);
    let (mut agent, mut operator) = (speak_as(&node, "one"), node.connect());
    let shared = json!({ "paths": ["src"], "shared": true });
    let first = lock(&mut agent, &of, &shared).unwrap();
    let second = lock(&mut operator, &of, &shared).unwrap();
    assert_eq!(refused(lock(&mut operator, &of, &json!({ "paths": ["src/a"] }))), ErrorName::Locked);
    let own = json!({ "path": "src/a", "lock": second["token"] });
    assert_eq!(refused(write(&mut operator, &of, &own)), ErrorName::Locked);
    let taken = json!({ "token": first["token"], "force": true });
    ask(&node, "workspace/lock.release", with(of.clone(), &taken)).unwrap();
    // Also where theirs is the only one.
    assert_eq!(refused(write(&mut operator, &of, &own)), ErrorName::Locked);
    release(&node, &of, &second["token"]).unwrap();
    lock(&mut operator, &of, &json!({ "paths": ["src/a"] })).unwrap();
    node.verify();
}

/// By its time, by the end of its epoch; not by the daemon's.
///
/// Proves WSP-027, WSP-028.
#[test]
fn a_lock_ends_by_its_time_and_with_its_epoch_and_outlives_the_daemon() {
    let mut node = Node::start();
    let of = workspace(&node);
    let short = lock(&mut node.connect(), &of, &json!({ "paths": ["a"], "ttl_ms": 100 })).unwrap();
    eventually("its time is over", || tokens(&node, &of).is_empty());
    let late = json!({ "path": "a", "lock": short["token"] });
    assert_eq!(refused(write(&mut node.connect(), &of, &late)), ErrorName::Fenced);

    let mut agent = speak_as(&node, "one");
    let held = lock(&mut agent, &of, &json!({ "paths": ["src"], "ttl_ms": 86_400_000 })).unwrap();
    assert!(held["epoch"].is_number() && held["agent_id"].is_string(), "{held}");
    node.kill_daemon();
    node.up();
    node.wait("one", Phase::Running);
    assert_eq!(tokens(&node, &of), [held["token"].as_u64().unwrap()]);
    assert_eq!(refused(write(&mut node.connect(), &of, &json!({ "path": "src/a" }))), ErrorName::Locked);
    let own = json!({ "path": "src/a", "lock": held["token"] });
    write(&mut speak_as(&node, "one"), &of, &own).unwrap();

    let waiting = waits(&node, node.connect(), &of, json!({ "paths": ["src"] }));
    ask(&node, "runtime/agent.restart", json!({ "agent": "one" })).unwrap();
    let next = waiting.join().unwrap().unwrap();
    assert_eq!(next["token"], held["token"].as_u64().unwrap() + 1);
    node.wait("one", Phase::Running);
    // The agent of the next epoch is fenced under the token of the former one.
    let mut agent = eventually_some("it can be spoken as", || Some(speak_as(&node, "one")));
    assert_eq!(refused(write(&mut agent, &of, &own)), ErrorName::Fenced);
    node.verify();
}

/// Proves WSP-029.
#[test]
fn whoever_came_first_has_it_first_and_who_has_left_waits_no_more() {
    let node = Node::start();
    let of = workspace(&node);
    let first = lock(&mut node.connect(), &of, &json!({ "paths": ["src"] })).unwrap();
    let gone = waits(&node, node.connect(), &of, json!({ "paths": ["src"], "wait_ms": 300 }));
    let second = waits(&node, node.connect(), &of, json!({ "paths": ["src/a"] }));
    let third = waits(&node, speak_as(&node, "one"), &of, json!({ "paths": ["src"] }));
    // What is in nobody's way waits for nobody.
    lock(&mut node.connect(), &of, &json!({ "paths": ["doc"] })).unwrap();
    assert_eq!(refused(gone.join().unwrap()), ErrorName::Locked, "its wait is over");
    release(&node, &of, &first["token"]).unwrap();
    let second = second.join().unwrap().unwrap();
    assert!(!third.is_finished());
    // Whoever comes without waiting does not go before those who wait, also where the path itself is free.
    assert_eq!(refused(lock(&mut node.connect(), &of, &json!({ "paths": ["src/b"] }))), ErrorName::Locked);
    release(&node, &of, &second["token"]).unwrap();
    let third = third.join().unwrap().unwrap();
    assert!(third["token"].as_u64() > second["token"].as_u64());
    assert_eq!((&third["holder"], count(&node, "lock.waiting")), (&json!("one"), 3));
    eventually("who gave up is recorded", || count(&node, "lock.refused") == 2);
    node.verify();
}

/// Proves WSP-030, TRACE-010, TRACE-011.
#[test]
fn a_trace_says_that_a_lock_was_waited_for_or_in_the_way() {
    let node = Node::start();
    let of = workspace(&node);
    let explain = |id: &str| ask(&node, "observe/trace.explain", json!({ "trace_id": id })).unwrap();
    let ctx = |id: &str| json!({ "ctx": { "traceparent": format!("00-{id}-00f067aa0ba902b7-01") } });
    let (waited, refused_id) = ("4bf92f3577b34da6a3ce929d0e0e4701", "4bf92f3577b34da6a3ce929d0e0e4702");
    lock(&mut speak_as(&node, "one"), &of, &json!({ "paths": ["src"], "ttl_ms": 1_500 })).unwrap();
    let write_it = with(json!({ "path": "src/a" }), &ctx(refused_id));
    assert_eq!(refused(write(&mut node.connect(), &of, &write_it)), ErrorName::Locked);
    let found = explain(refused_id);
    assert_eq!((&found["verdict"], &found["rule"]), (&json!("workspace_lock"), &json!("refused-by-a-lock")));
    let waiting = waits(&node, node.connect(), &of, with(json!({ "paths": ["src", "b"] }), &ctx(waited)));
    waiting.join().unwrap().unwrap();
    let found = explain(waited);
    assert_eq!((&found["verdict"], &found["rule"]), (&json!("workspace_lock"), &json!("waited-for-a-lock")));
    assert_eq!(found["owner"], json!({ "kind": "agent", "name": "one" }), "{found}");
    let trace = ask(&node, "observe/trace.get", json!({ "trace_id": waited })).unwrap();
    let spans: Vec<_> = trace["spans"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|span| span["segment"] == "workspace_lock")
        .collect();
    assert_eq!((spans.len(), &spans[0]["status"]), (1, &json!("ok")), "{trace}");
    assert_eq!(spans[0]["attributes"]["rt.lock.paths"], "src b");
    node.verify();
}

/// Proves WSP-026.
#[test]
fn the_command_line_locks_shows_and_unlocks() {
    let node = Node::start();
    workspace(&node);
    let run = |args: &[&str]| {
        let output = node.cli(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(run(&["workspace", "lock", "one", "src", "--for", "5m"]).starts_with("token 1: `src` until "));
    assert!(run(&["workspace", "locks", "one"]).contains("exclusive"));
    run(&["workspace", "lock", "one", "--renew", "1", "--for", "10m"]);
    run(&["workspace", "unlock", "one", "1"]);
    assert!(!run(&["workspace", "locks", "one"]).contains("exclusive"));
    node.verify();
}

/// Proves WSP-030.
#[test]
fn a_wait_that_a_daemons_death_cut_is_ended_by_the_next_one() {
    let mut node = Node::start();
    let of = workspace(&node);
    let id = "4bf92f3577b34da6a3ce929d0e0e4703";
    let ctx = json!({ "ctx": { "traceparent": format!("00-{id}-00f067aa0ba902b7-01") } });
    lock(&mut node.connect(), &of, &json!({ "paths": ["src"], "ttl_ms": 600_000 })).unwrap();
    let waiting = waits(&node, node.connect(), &of, with(json!({ "paths": ["src"] }), &ctx));
    let wait = |node: &Node| {
        let trace = ask(node, "observe/trace.get", json!({ "trace_id": id })).unwrap();
        let spans = trace["spans"].as_array().unwrap().clone();
        spans.into_iter().find(|span| span["segment"] == "workspace_lock").unwrap()
    };
    assert_eq!(wait(&node)["status"], "open");
    node.kill_daemon();
    drop(waiting.join());
    node.up();
    eventually("it is ended", || wait(&node)["status"] == "error");
    assert_eq!(wait(&node)["reason"], "the node ended while it waited");
    // Once, whatever daemons come after.
    node.kill_daemon();
    node.up();
    eventually("it is up", || count(&node, "lock.waiting") == 1);
    assert_eq!(count(&node, "lock.refused"), 1);
    assert_eq!(tokens(&node, &of), [1], "the lock itself holds on");
    node.verify();
}

//! Checkpoints before calls of tools: which calls have one, what it holds, and what becomes of a call without.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends at once")]

use std::{
    fs,
    path::{Path, PathBuf},
};

use edgeplane_os::failpoint;
use edgeplane_testkit::{
    Connection, Node, mcp, native,
    wait::{eventually, eventually_some},
};
use serde_json::{Value, json};

const POLICY: &str = "{default: ask, allow: [echo, append], effects: {echo: read, append: write}}";

fn connector(node: &Node) {
    node.apply(&mcp::declaration(node, "tools", "plain", &format!("  policy: {POLICY}")));
}

/// An agent that works in a folder of its own choice, of which this is kept.
fn agent(node: &Node, name: &str, keeping: &str) -> (PathBuf, Connection) {
    let folder = node.scratch().join(name);
    fs::create_dir_all(&folder).unwrap();
    let more = format!("cwd: {}\nworkspace: {keeping}", folder.display());
    node.run(name, &native(name, &["/bin/cat"], &more));
    (folder, speak(node, name))
}

fn speak(node: &Node, name: &str) -> Connection {
    let socket = node.get(name).status.identities.network.socket.unwrap();
    Connection::open(Path::new(&socket)).unwrap()
}

fn call(by: &mut Connection, tool: &str, input: &Value) -> Value {
    let params = json!({ "capability": format!("tools/{tool}"), "input": input });
    by.invoke(params).unwrap()
}

fn append(by: &mut Connection, folder: &Path, text: &str) -> Value {
    call(by, "append", &json!({ "path": folder.join("file"), "text": text }))
}

fn ask(node: &Node, method: &str, params: Value) -> Value {
    node.connect().try_raw(method, params).unwrap()
}

fn checkpoint(node: &Node, view: &Value) -> Value {
    ask(node, "workspace/checkpoint.get", json!({ "checkpoint_id": view["checkpoint_id"] }))["checkpoint"]
        .clone()
}

/// The checkpoints of an agent's folder that are kept.
fn kept(node: &Node, agent: &str) -> Vec<Value> {
    let list = ask(node, "workspace/checkpoint.list", json!({ "agent": agent }));
    list["checkpoints"].as_array().unwrap().clone()
}

fn approve(node: &Node, view: &Value) {
    let action = ask(node, "conversation/action.get", json!({ "action_id": view["action_id"] }));
    let digest = &action["action"]["digest"];
    let verdict = json!({ "verdict": "approve" });
    let params = json!({ "invocation_id": view["invocation_id"], "digest": digest, "verdict": verdict });
    ask(node, "capability/permission.resolve", params);
}

fn over(node: &Node, view: &Value) -> Value {
    let wait = json!({ "invocation_id": view["invocation_id"], "timeout_ms": 60_000 });
    ask(node, "capability/invocation.await", wait)
}

/// Proves WSP-037, CAP-046.
#[test]
fn what_a_call_may_change_is_kept_before_it_and_can_be_brought_back() {
    let node = Node::start();
    connector(&node);
    let (folder, mut one) = agent(&node, "one", "{checkpointBefore: [write, external]}");
    fs::write(folder.join("file"), "before\n").unwrap();
    let view = append(&mut one, &folder, "after");
    assert_eq!((&view["status"], mcp::calls(&node, "tools")), (&json!("succeeded"), 1), "{view}");
    let shown = ask(&node, "capability/invocation.get", json!({ "invocation_id": view["invocation_id"] }));
    assert_eq!(shown["checkpoint_id"], view["checkpoint_id"]);
    let made = checkpoint(&node, &view);
    assert_eq!((&made["cause"], &made["state"]), (&json!("before_call"), &json!("created")));
    assert_eq!((&made["invocation_id"], &made["by"]), (&view["invocation_id"], &json!("one")));
    assert_eq!(fs::read_to_string(folder.join("file")).unwrap(), "before\nafter\n");
    let back = json!({ "checkpoint_id": view["checkpoint_id"], "force": true });
    ask(&node, "workspace/checkpoint.restore", back);
    assert_eq!(fs::read_to_string(folder.join("file")).unwrap(), "before\n");
    // What only looks, and what nobody's agent calls, has none.
    let before = kept(&node, "one").len();
    let view = call(&mut one, "echo", &json!({ "text": "hi" }));
    assert_eq!((&view["status"], &view["checkpoint_id"]), (&json!("succeeded"), &Value::Null));
    assert_eq!(append(&mut node.connect(), &folder, "x")["checkpoint_id"], Value::Null);
    assert_eq!(kept(&node, "one").len(), before);
    // Of a call that is asked about, when it is made: what was there when it was asked for is past.
    let view = call(&mut one, "add", &json!({ "a": 1, "b": 2 }));
    assert_eq!(view["status"], "waiting");
    assert_eq!(kept(&node, "one").len(), before);
    fs::write(folder.join("file"), "meanwhile\n").unwrap();
    approve(&node, &view);
    let view = over(&node, &view);
    assert_eq!(view["status"], "succeeded", "{view}");
    fs::write(folder.join("file"), "later\n").unwrap();
    let back = json!({ "checkpoint_id": view["checkpoint_id"], "force": true });
    ask(&node, "workspace/checkpoint.restore", back);
    assert_eq!(fs::read_to_string(folder.join("file")).unwrap(), "meanwhile\n");
    node.verify();
}

/// Proves WSP-038.
#[test]
fn a_call_before_which_nothing_can_be_kept_is_not_made_unless_the_manifest_says_so() {
    let node = Node::start();
    connector(&node);
    let (strict, mut one) = agent(&node, "one", "{checkpointBefore: [write, external]}");
    let (lax, mut two) = agent(&node, "two", "{checkpointBefore: [write], onFailure: proceed}");
    let asked = call(&mut one, "add", &json!({ "a": 1, "b": 2 }));
    for folder in [&strict, &lax] {
        fs::remove_dir_all(folder).unwrap();
    }
    let elsewhere = node.scratch();
    let view = append(&mut one, &elsewhere, "x");
    assert_eq!((&view["status"], &view["cause"]), (&json!("failed"), &json!("checkpoint")), "{view}");
    assert!(
        view["reason"].as_str().unwrap().starts_with("no checkpoint could be made before it: "),
        "{view}"
    );
    approve(&node, &asked);
    let view = over(&node, &asked);
    assert_eq!((&view["status"], &view["cause"]), (&json!("failed"), &json!("checkpoint")), "{view}");
    assert_eq!(mcp::calls(&node, "tools"), 0);
    let view = append(&mut two, &elsewhere, "x");
    assert_eq!((&view["status"], &view["checkpoint_id"]), (&json!("succeeded"), &Value::Null), "{view}");
    assert_eq!(mcp::calls(&node, "tools"), 1);
    node.verify();
}

/// Proves WSP-039.
#[test]
fn so_many_of_them_are_kept_as_the_manifest_says() {
    let node = Node::start();
    connector(&node);
    let (folder, mut one) = agent(&node, "one", "{checkpointBefore: [write], keep: 2}");
    let own = ask(&node, "workspace/checkpoint.create", json!({ "agent": "one" }));
    let views: Vec<Value> = (0..5).map(|number| append(&mut one, &folder, &number.to_string())).collect();
    let ids = |of: &[Value]| -> Vec<Value> { of.iter().map(|view| view["checkpoint_id"].clone()).collect() };
    assert_eq!(ids(&kept(&node, "one")), [&views[4..], &views[3..4], &[own]].map(ids).concat());
    assert_eq!(checkpoint(&node, &views[2])["state"], "deleted");
    // Two calls at once: each has one of its own.
    let (mut first, mut second) = (speak(&node, "one"), speak(&node, "one"));
    let other = folder.clone();
    let beside = std::thread::spawn(move || append(&mut first, &other, "a"));
    let (one, two) = (append(&mut second, &folder, "b"), beside.join().unwrap());
    assert_eq!((&one["status"], &two["status"]), (&json!("succeeded"), &json!("succeeded")));
    assert_ne!(one["checkpoint_id"], two["checkpoint_id"]);
    assert_eq!(kept(&node, "one").len(), 3);
    node.verify();
}

/// Proves WSP-038.
#[test]
fn a_daemon_that_dies_while_it_keeps_what_is_there_makes_no_call_twice() {
    let mut node = Node::start();
    connector(&node);
    let (_folder, mut one) = agent(&node, "one", "{checkpointBefore: [external]}");
    for point in ["checkpoint.started", "checkpoint.kept"] {
        let before = mcp::calls(&node, "tools");
        let asked = call(&mut one, "add", &json!({ "a": 1, "b": 2 }));
        let armed = node.state_dir().join(failpoint::FOLDER);
        fs::create_dir_all(&armed).unwrap();
        fs::write(armed.join(point), "1").unwrap();
        approve(&node, &asked);
        eventually("the daemon has died", || node.has_ended());
        assert_eq!(mcp::calls(&node, "tools"), before, "{point}");
        node.up();
        let view = eventually_some("it is over", || {
            let of = json!({ "invocation_id": asked["invocation_id"] });
            Some(ask(&node, "capability/invocation.get", of)).filter(|view| view["status"] == "succeeded")
        });
        assert_eq!(checkpoint(&node, &view)["state"], "created", "{point}");
        assert_eq!(mcp::calls(&node, "tools"), before + 1, "{point}");
        one = speak(&node, "one");
    }
    node.verify();
}

/// Proves EVD-010.
#[test]
fn what_a_pack_on_the_node_refers_to_stays_until_the_pack_is_removed() {
    let mut node = Node::start();
    connector(&node);
    let (folder, mut one) = agent(&node, "one", "{checkpointBefore: [write], keep: 1}");
    fs::write(folder.join("file"), "before\n").unwrap();
    let first = append(&mut one, &folder, "a");
    let pack = ask(&node, "evidence/pack.export", json!({ "scope": { "agent": "one" }, "write": true }));
    let second = append(&mut one, &folder, "b");
    append(&mut one, &folder, "c");
    assert_eq!(checkpoint(&node, &first)["state"], "created");
    assert_eq!(checkpoint(&node, &second)["state"], "deleted", "no pack names it");
    let end = json!({ "checkpoint_id": first["checkpoint_id"] });
    let refused = node.connect().try_raw("workspace/checkpoint.delete", end.clone()).unwrap_err();
    assert!(refused.message.contains(pack["pack_id"].as_str().unwrap()), "{refused:?}");
    // Also over a daemon's death and its collections.
    node.kill_daemon();
    node.up();
    let own = ask(&node, "workspace/checkpoint.create", json!({ "agent": "one" }));
    ask(&node, "workspace/checkpoint.delete", json!({ "checkpoint_id": own["checkpoint_id"] }));
    let back = json!({ "checkpoint_id": first["checkpoint_id"], "force": true });
    ask(&node, "workspace/checkpoint.restore", back);
    assert_eq!(fs::read_to_string(folder.join("file")).unwrap(), "before\n");
    let dir = pack["path"].as_str().unwrap();
    fs::remove_dir_all(dir).unwrap();
    ask(&node, "workspace/checkpoint.delete", end);
    assert_eq!(checkpoint(&node, &first)["state"], "deleted");
    assert!(!Path::new(&format!("{dir}.held")).exists(), "the hold is over");
    node.verify();
}

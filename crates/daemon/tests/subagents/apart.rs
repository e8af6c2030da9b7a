//! What divides a child from its parent, where it is easily forgotten: what git keeps, children that do not come about,
//! words that weigh less, threads beside the first one, and a memory whose agent is gone.

use std::{fs, path::PathBuf};

use edgeplane_testkit::{
    Node,
    peers::{question, speak_as},
    wait::eventually,
};
use edgeplane_types::{Authority, Phase};
use serde_json::{Value, json};

use super::{
    ID,
    stage::{call, given, place, refused, spawn_running, with, worker},
};

fn folder_of(node: &Node, name: &str) -> PathBuf {
    PathBuf::from(place(node, name)["cwd"].as_str().unwrap())
}

/// Proves SUB-013.
#[test]
fn forked_folder_has_what_git_keeps_and_goes_if_no_child_comes_about() {
    let node = Node::start();
    worker(&node, "alpha", "");
    let own = folder_of(&node, "alpha");
    fs::create_dir_all(own.join(".git/refs")).unwrap();
    fs::write(own.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    let forked = json!({ "subagent_id": ID, "isolation": { "workspace": "forked" } });
    let taken = with("alpha", &edgeplane_testkit::peers::with(forked.clone(), &json!({ "name": "alpha" })));
    assert_eq!(refused(&node, "runtime/subagent.spawn", taken), "conflict");
    let places = own.parent().unwrap().parent().unwrap();
    assert!(!places.join(ID).exists(), "nobody's folder stays");
    spawn_running(&node, "alpha", "child", &forked);
    let head = folder_of(&node, "child").join(".git/HEAD");
    assert_eq!(fs::read_to_string(head).unwrap(), "ref: refs/heads/main\n");
    node.verify();
}

/// Has an agent told something in a thread, and waits for the end of the turn.
fn say(node: &Node, place: &Value, text: &str) {
    let input = json!({ "input": [{ "type": "text", "text": text }] });
    let params = edgeplane_testkit::peers::with(place.clone(), &input);
    let turn = call(node, "conversation/turn.start", params)["turn_id"].clone();
    let get = json!({ "turn_id": turn });
    eventually("the turn is over", || {
        call(node, "conversation/turn.get", get.clone())["state"] == "completed"
    });
}

fn send(node: &Node, name: &str, text: &str) {
    let params = json!({ "subagent": name, "parts": [{ "type": "text", "text": text }] });
    call(node, "runtime/subagent.send", params);
    eventually("it was told", || node.count(name, "message.turn_ended") == 1);
}

/// Proves SUB-014.
#[test]
fn what_follows_a_forked_context_weighs_no_more_than_the_lightest_of_it() {
    let node = Node::start();
    worker(&node, "alpha", "subagents: { max: 4 }");
    say(&node, &json!({ "agent": "alpha" }), "work the harbour is closed");
    let page = edgeplane_testkit::peers::with(question("alpha", "work a page"), &json!({ "channel": "web" }));
    call(&node, "runtime/message.submit", page);
    eventually("it has read the page", || node.count("alpha", "message.turn_ended") == 2);
    spawn_running(&node, "alpha", "child", &json!({ "isolation": { "context": "forked" } }));
    spawn_running(&node, "alpha", "apart", &json!({}));
    for name in ["child", "apart"] {
        send(&node, name, "work fine");
        speak_as(&node, name).try_raw("runtime/agent.signal", question("alpha", "work I heard")).unwrap();
    }
    assert_eq!(node.facts("child", "answer.heard")[0]["authority"], "untrusted");
    let weights: Vec<Authority> = node.inbox("alpha").iter().map(|message| message.authority).collect();
    assert_eq!(weights[weights.len() - 2..], [Authority::Untrusted, Authority::Delegated]);
    node.verify();
}

/// Proves SUB-014.
#[test]
fn forked_context_is_that_of_the_thread_in_which_its_parent_spoke() {
    let node = Node::start();
    worker(&node, "alpha", "subagents: { max: 4 }");
    say(&node, &json!({ "agent": "alpha" }), "work the harbour is closed");
    let beside = call(&node, "conversation/thread.create", json!({ "agent": "alpha" }))["thread_id"].clone();
    let there = json!({ "thread_id": beside });
    say(&node, &there, "work the bridge is open");
    let task = json!({ "title": "part", "objective": "work fine" });
    let child = json!({ "name": "child", "isolation": { "context": "forked" }, "task": task });
    say(&node, &there, &format!("spawn {child}"));
    eventually("it was told", || !given(&node, "child").is_empty());
    let told = given(&node, "child")[0].to_string();
    assert!(told.contains("the bridge is open") && !told.contains("the harbour is closed"), "{told}");
    node.verify();
}

/// Proves SUB-015.
#[test]
fn shared_memory_is_gone_with_the_one_whose_it_was() {
    let node = Node::start();
    worker(&node, "alpha", "");
    spawn_running(&node, "alpha", "child", &json!({ "isolation": { "memory": "shared" } }));
    let put = json!({ "key": "tide", "value": "low" });
    speak_as(&node, "child").try_raw("memory/entry.put", put.clone()).unwrap();
    node.stop("alpha");
    call(&node, "runtime/agent.retire", json!({ "agent": "alpha" }));
    node.wait("child", Phase::Running);
    for (method, params) in [("memory/entry.put", put), ("memory/entry.get", json!({ "key": "tide" }))] {
        let error = speak_as(&node, "child").try_raw(method, params).unwrap_err();
        assert_eq!(error.name().as_str(), "not_found", "{method}");
        assert!(error.message.contains("which is retired"), "{error}");
    }
    assert_eq!(node.count("child", "memory.put"), 0);
    node.verify();
}

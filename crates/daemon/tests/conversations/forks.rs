//! Forks: what a thread that goes on from another one is told of it.

use edgeplane_testkit::{Node, wait::eventually};
use edgeplane_types::ErrorName;
use serde_json::{Value, json};

use crate::stage::{
    again, begin, begin_in, call, coder, id, prompts, refused, said, thread, told, until_state, worker,
};

fn history(line: &Value) -> Vec<String> {
    line["history"].as_str().unwrap_or_default().lines().map(str::to_owned).collect()
}

/// Proves CONV-030, CONV-031.
#[test]
fn fork_onto_another_agent_quotes_the_parent_with_its_weight() {
    let mut node = Node::start();
    let parent_log = worker(&node, "parent", &[]);
    let log = worker(&node, "heir", &[]);
    let folder = coder(&node, "coder");
    let origin = thread(&node, "parent");
    let first = said(&node, &origin, "say alpha");
    let light =
        json!({ "thread_id": origin, "input": crate::stage::input("say beta"), "authority": "untrusted" });
    let second = call(&node, "turn.start", light)["turn_id"].clone();
    until_state(&node, &second, "completed");
    let third = said(&node, &origin, "say gamma");
    let fork = json!({ "thread_id": origin, "turn_id": second, "agent": "heir", "fork_id": id("thr", 3) });
    let forked = call(&node, "thread.fork", fork.clone());
    assert_eq!(forked["parent"]["through"], second);
    again(&mut node, &["parent", "heir", "coder"]);
    assert_eq!(call(&node, "thread.fork", fork)["thread_id"], forked["thread_id"]);
    let begun = said(&node, &forked["thread_id"], "say delta");
    let given = told(&log, "agent/message.deliver");
    let said_before = told(&parent_log, "agent/message.deliver");
    let lines = history(&given[0]);
    assert!(lines[0].starts_with("[SYSTEM MESSAGE from "), "{lines:#?}");
    assert_eq!(lines[1], format!("thread: {}", id("thr", 3)));
    assert_eq!(lines[2], format!("forked from: {} of parent", origin.as_str().unwrap()));
    assert_eq!(lines[3], format!("through turn: {}", second.as_str().unwrap()));
    assert_eq!(lines[4], "quoted: the last 4 items, oldest first");
    let mut expected: Vec<String> = Vec::new();
    for (message, (turn, weight, word)) in
        said_before.iter().zip([(&first, "delegated", "alpha"), (&second, "untrusted", "beta")])
    {
        expected.extend(message["text"].as_str().unwrap().lines().map(|line| format!("> {line}")));
        let message = turn.as_str().unwrap().replace("trn_", "msg_");
        expected.push(format!("> [OUTPUT of parent, {weight}, turn {message}]"));
        expected.push(format!("> | {word}"));
    }
    assert_eq!(lines[5..], expected);
    assert!(expected.iter().any(|line| line.starts_with("> <<<untrusted ")), "{expected:#?}");
    assert!(!given[0]["history"].as_str().unwrap().contains("gamma"));
    // What it says behind such a history weighs no more than that.
    let output = call(&node, "turn.get", json!({ "turn_id": begun }))["output"].clone();
    assert_eq!(output["authority"], "untrusted");
    said(&node, &forked["thread_id"], "say epsilon");
    assert_eq!(told(&log, "agent/message.deliver")[1]["history"], Value::Null, "it is told once");

    let other = call(&node, "thread.fork", json!({ "thread_id": origin, "agent": "coder" }));
    assert_eq!(other["parent"]["through"], third, "the newest one if none is named");
    said(&node, &other["thread_id"], "say zeta");
    let texts = prompts(&folder).remove(0);
    assert_eq!(texts.len(), 3, "the contract, the history, the message: {texts:#?}");
    assert!(texts[1].contains("forked from: ") && texts[1].contains("> | gamma"), "{texts:#?}");
    node.verify();
}

/// Proves CONV-032.
#[test]
fn fork_onto_the_same_agent_quotes_what_its_program_does_not_have() {
    let node = Node::start();
    let log = worker(&node, "worker", &[]);
    let origin = thread(&node, "worker");
    said(&node, &origin, "say alpha");
    let near = call(&node, "thread.fork", json!({ "thread_id": origin }));
    assert_eq!((&near["context"], &near["agent"]), (&json!("shared"), &json!("worker")));
    said(&node, &near["thread_id"], "say beta");
    let given = || told(&log, "agent/message.deliver");
    assert_eq!(given()[1]["history"], Value::Null, "its program has it");
    edgeplane_testkit::signals::kill(&[node.pid("worker")]);
    eventually("it is greeted again", || told(&log, "agent/session.start").len() == 2);
    node.wait("worker", edgeplane_types::Phase::Running);
    said(&node, &near["thread_id"], "say gamma");
    let lines = history(&given()[2]);
    assert!(lines.contains(&"> [OWN OUTPUT turn X]".replace('X', &message(&given()[0]))), "{lines:#?}");
    assert!(lines.contains(&"> | alpha".to_owned()) && !lines.contains(&"> | beta".to_owned()));
    let running = begin(&node, "worker", "hold");
    until_state(&node, &running["turn_id"], "running");
    let waiting = begin_in(&node, &origin, "say later");
    let params = json!({ "thread_id": origin, "turn_id": waiting["turn_id"] });
    assert_eq!(refused(&node, "thread.fork", params).0, ErrorName::InvalidState);
    let params = json!({ "thread_id": origin, "turn_id": running["turn_id"] });
    assert_eq!(refused(&node, "thread.fork", params).0, ErrorName::NotFound);
}

fn message(line: &Value) -> String {
    line["message_id"].as_str().unwrap().to_owned()
}

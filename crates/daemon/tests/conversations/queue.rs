//! The queue: its order, what is taken out, what goes first, over restarts.

use edgeplane_testkit::Node;
use edgeplane_types::ErrorName;
use serde_json::{Value, json};

use crate::stage::{again, begin, begin_in, call, dies, refused, texts, thread, until_state, worker};

fn queued(node: &Node, params: Value) -> Vec<Value> {
    let list = call(node, "queue.list", params);
    list["items"].as_array().unwrap().iter().map(|item| item["turn"]["turn_id"].clone()).collect()
}

/// Proves CONV-020, CONV-021, CONV-022.
#[test]
fn queue_outlives_the_daemon_and_every_change_of_it_is_a_fact() {
    let mut node = Node::start();
    let log = worker(&node, "worker", &[]);
    let further = thread(&node, "worker");
    let running = begin(&node, "worker", "hold");
    until_state(&node, &running["turn_id"], "running");
    let turns: Vec<Value> = ["say a", "say b", "say c"]
        .iter()
        .map(|text| begin(&node, "worker", text)["turn_id"].clone())
        .collect();
    let other = begin_in(&node, &further, "say other")["turn_id"].clone();
    let all = || json!({ "agent": "worker" });
    assert_eq!(queued(&node, all()), [&turns[..], std::slice::from_ref(&other)].concat());
    again(&mut node, &["worker"]);
    assert_eq!(queued(&node, all()), [&turns[..], std::slice::from_ref(&other)].concat());
    assert_eq!(queued(&node, json!({ "thread_id": further })), std::slice::from_ref(&other));

    let promote = json!({ "turn_id": turns[2] });
    dies(&mut node, "queue.before", "queue.promote", promote.clone());
    node.wait("worker", edgeplane_types::Phase::Running);
    assert_eq!(queued(&node, all())[0], turns[0], "nothing has happened");
    let list = call(&node, "queue.promote", promote);
    assert_eq!(list["items"][0]["turn"]["turn_id"], turns[2]);
    let gone = call(&node, "queue.remove", json!({ "turn_id": turns[1], "reason": "not now" }));
    assert_eq!((&gone["state"], &gone["reason"]), (&json!("rejected"), &json!("not now")));
    again(&mut node, &["worker"]);
    assert_eq!(queued(&node, all()), [turns[2].clone(), turns[0].clone(), other.clone()]);
    assert_eq!((node.count("worker", "message.promoted"), node.count("worker", "message.rejected")), (1, 1));
    for (method, turn) in [("queue.remove", &turns[1]), ("queue.promote", &running["turn_id"])] {
        assert_eq!(refused(&node, method, json!({ "turn_id": turn })).0, ErrorName::InvalidState);
    }
    call(&node, "turn.interrupt", json!({ "turn_id": running["turn_id"] }));
    until_state(&node, &other, "completed");
    assert_eq!(texts(&log), ["hold", "say c", "say a", "say other"]);
    assert_eq!(queued(&node, all()), Vec::<Value>::new());
    node.verify();
}

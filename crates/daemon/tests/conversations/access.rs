//! Who may do what: agents with their own conversations, and what they may of another's.

use edgeplane_testkit::{Node, peers::speak_as};
use edgeplane_types::ErrorName;
use serde_json::{Value, json};

use crate::stage::{begin, call, input, said, thread, until_state, worker};

fn as_agent(node: &Node, name: &str, method: &str, params: Value) -> Result<Value, ErrorName> {
    speak_as(node, name).try_raw(&format!("conversation/{method}"), params).map_err(|error| error.name())
}

/// Proves CONV-060, CONV-061.
#[test]
fn agents_touch_their_own_conversations_and_begin_turns_with_others() {
    let node = Node::start();
    worker(&node, "own", &[]);
    worker(&node, "other", &[]);
    let theirs = thread(&node, "other");
    let turn = said(&node, &theirs, "say secret");
    let denied = Err(ErrorName::PermissionDenied);
    for (method, params) in [
        ("thread.get", json!({ "thread_id": theirs })),
        ("thread.read", json!({ "thread_id": theirs })),
        ("thread.resume", json!({ "agent": "other" })),
        ("thread.create", json!({ "agent": "other" })),
        ("thread.update", json!({ "thread_id": theirs, "title": "mine" })),
        ("thread.archive", json!({ "thread_id": theirs })),
        ("thread.fork", json!({ "thread_id": theirs, "agent": "own" })),
        ("thread.rollback", json!({ "thread_id": theirs })),
        ("turn.get", json!({ "turn_id": turn })),
        ("turn.list", json!({ "agent": "other" })),
        ("turn.steer", json!({ "turn_id": turn, "input": input("x") })),
        ("turn.interrupt", json!({ "turn_id": turn })),
        ("item.list", json!({ "thread_id": theirs })),
        ("queue.list", json!({ "thread_id": theirs })),
        ("queue.remove", json!({ "turn_id": turn })),
        ("output.get", json!({ "output_id": turn.as_str().unwrap().replace("trn_", "out_") })),
        ("output.list", json!({ "thread_id": theirs })),
        ("turn.start", json!({ "create": { "agent": "other" }, "input": input("say x") })),
    ] {
        assert_eq!(as_agent(&node, "own", method, params.clone()), denied, "{method} {params}");
    }
    // A turn passes the same rules as a message, and weighs as one.
    let params = json!({ "thread_id": theirs, "input": input("say hello") });
    let begun = as_agent(&node, "own", "turn.start", params).unwrap();
    let shown = until_state(&node, &begun["turn_id"], "completed");
    assert_eq!((&shown["source"], &shown["channel"]), (&json!("own"), &json!("peer")));
    assert_eq!(shown["authority"], "delegated");
    // Who began it may see what became of it, and not what it says.
    let seen = as_agent(&node, "own", "turn.get", json!({ "turn_id": begun["turn_id"] })).unwrap();
    assert_eq!(seen["state"], "completed");
    let output = json!({ "output_id": seen["output"]["output_id"] });
    assert_eq!(as_agent(&node, "own", "output.get", output), denied);

    let made = as_agent(&node, "own", "thread.create", json!({ "title": "mine" })).unwrap();
    assert_eq!(made["agent"], "own");
    let running = begin(&node, "own", "hold");
    until_state(&node, &running["turn_id"], "running");
    let interrupt = |queued: &str| json!({ "turn_id": running["turn_id"], "queued": queued });
    assert_eq!(as_agent(&node, "own", "turn.interrupt", interrupt("drop")), denied);
    let waiting = begin(&node, "own", "say later");
    for method in ["queue.remove", "queue.promote"] {
        assert_eq!(as_agent(&node, "own", method, json!({ "turn_id": waiting["turn_id"] })), denied);
    }
    let rollback = json!({ "thread_id": made["thread_id"] });
    assert_eq!(as_agent(&node, "own", "thread.rollback", rollback), denied);
    let done = as_agent(&node, "own", "turn.interrupt", interrupt("keep")).unwrap();
    assert_eq!(done["outcome"], "accepted");
    until_state(&node, &waiting["turn_id"], "completed");
    let list = as_agent(&node, "own", "thread.list", json!({})).unwrap();
    assert!(list["items"].as_array().unwrap().iter().all(|thread| thread["agent"] == "own"));
    assert_eq!(call(&node, "thread.list", json!({}))["items"].as_array().unwrap().len(), 4);
}

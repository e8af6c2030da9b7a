//! Sessions and threads: made once, called, archived, read; their turns never overlap.

use edgeplane_testkit::{Node, terminal, wait::eventually};
use edgeplane_types::ErrorName;
use serde_json::{Value, json};

use crate::stage::{
    again, begin, begin_in, call, coder, dies, id, input, prompts, refused, said, texts, thread, until_state,
    worker,
};

/// Proves CONV-003, CONV-004.
#[test]
fn chosen_id_makes_one_thread_however_often_and_whoever_dies() {
    let mut node = Node::start();
    worker(&node, "worker", &[]);
    let labels = json!({ "team": "build" });
    let params =
        json!({ "agent": "worker", "thread_id": id("thr", 1), "title": "Nightly", "labels": labels });
    for point in ["thread.before", "thread.after"] {
        dies(&mut node, point, "thread.create", params.clone());
        node.wait("worker", edgeplane_types::Phase::Running);
    }
    let made = call(&node, "thread.create", params.clone());
    assert_eq!((&made["version"], &made["title"]), (&json!(1), &json!("Nightly")));
    assert_eq!((&made["context"], &made["status"]), (&json!("shared"), &json!("idle")));
    assert_eq!(node.count("worker", "thread.created"), 1);
    let mut other = params;
    other["title"] = json!("Daily");
    assert_eq!(refused(&node, "thread.create", other).0, ErrorName::Conflict);
    let list = call(&node, "thread.list", json!({ "agent": "worker", "limit": 1 }));
    assert_eq!((&list["items"][0]["main"], list["items"].as_array().unwrap().len()), (&json!(true), 1));
    let next = call(&node, "thread.list", json!({ "agent": "worker", "cursor": list["next"] }));
    assert_eq!(next["items"][0]["thread_id"], made["thread_id"]);
    // Made together with its first turn, it has that one's UUID.
    let create = json!({ "agent": "worker", "title": "Begun" });
    let params = json!({ "create": create, "turn_id": id("trn", 9), "input": input("say x") });
    for duplicate in [Value::Null, json!(true)] {
        let begun = call(&node, "turn.start", params.clone());
        assert_eq!((&begun["thread_id"], &begun["duplicate"]), (&json!(id("thr", 9)), &duplicate));
    }
    until_state(&node, &json!(id("trn", 9)), "completed");
    assert_eq!(call(&node, "thread.get", json!({ "thread_id": id("thr", 9) }))["title"], "Begun");
}

/// Proves CONV-005.
#[test]
fn what_changes_a_thread_names_the_version_that_it_changes() {
    let mut node = Node::start();
    worker(&node, "worker", &[]);
    let thread = thread(&node, "worker");
    let rename =
        |title: &str, version: u64| json!({ "thread_id": thread, "title": title, "if_version": version });
    assert_eq!(call(&node, "thread.update", rename("One", 1))["version"], 2);
    assert_eq!(refused(&node, "thread.update", rename("Two", 1)).0, ErrorName::VersionConflict);
    again(&mut node, &["worker"]);
    let long = json!({ "thread_id": thread, "title": "x".repeat(257) });
    assert_eq!(refused(&node, "thread.update", long).0, ErrorName::InvalidParams);
    let many: serde_json::Map<String, Value> = (0..17).map(|n| (format!("k{n}"), json!("v"))).collect();
    let params = json!({ "thread_id": thread, "labels": many });
    assert_eq!(refused(&node, "thread.update", params).0, ErrorName::InvalidParams);
    assert_eq!(call(&node, "thread.get", json!({ "thread_id": thread }))["title"], "One");
    let archived = call(&node, "thread.archive", json!({ "thread_id": thread, "if_version": 2 }));
    assert_eq!((&archived["status"], &archived["version"]), (&json!("archived"), &json!(3)));
    let begin = json!({ "thread_id": thread, "input": input("x") });
    assert_eq!(refused(&node, "turn.start", begin).0, ErrorName::InvalidState);
    let main = call(&node, "thread.get", json!({ "agent": "worker" }));
    let params = json!({ "thread_id": main["thread_id"] });
    assert_eq!(refused(&node, "thread.archive", params).0, ErrorName::InvalidState);
}

/// Proves CONV-006.
#[test]
fn further_session_has_its_threads_and_takes_them_along() {
    let mut node = Node::start();
    worker(&node, "worker", &[]);
    let main = call(&node, "session.list", json!({ "agent": "worker" }))["items"][0].clone();
    assert_eq!((&main["main"], &main["context"]), (&json!(true), &json!("own")));
    let params = json!({ "agent": "worker", "session_id": id("ses", 5), "title": "Second" });
    for _ in 0..2 {
        let made = call(&node, "session.create", params.clone());
        assert_eq!((&made["thread_id"], &made["context"]), (&json!(id("thr", 5)), &json!("shared")));
        again(&mut node, &["worker"]);
    }
    assert_eq!(node.count("worker", "session.created"), 1);
    let further = call(&node, "thread.create", json!({ "session_id": id("ses", 5) }));
    assert_eq!(further["session_id"], id("ses", 5));
    said(&node, &further["thread_id"], "say x");
    let gone = call(&node, "session.archive", json!({ "session_id": id("ses", 5) }));
    assert_ne!(gone["archived_at"], Value::Null);
    for thread in [json!(id("thr", 5)), further["thread_id"].clone()] {
        let params = json!({ "thread_id": thread, "input": input("x") });
        assert_eq!(refused(&node, "turn.start", params).0, ErrorName::InvalidState);
    }
    let params = json!({ "session_id": main["session_id"] });
    assert_eq!(refused(&node, "session.archive", params).0, ErrorName::InvalidState);
}

/// Proves CONV-007, CONV-008.
#[test]
fn turns_of_two_threads_never_overlap() {
    let mut node = Node::start();
    let log = worker(&node, "worker", &[]);
    let folder = coder(&node, "coder");
    for agent in ["worker", "coder"] {
        let further = thread(&node, agent);
        let running = begin_in(&node, &further, "hold never");
        until_state(&node, &running["turn_id"], "running");
        // Not even one that steers or interrupts: it is not meant for a turn of another thread.
        let params = edgeplane_testkit::words(agent, "say steered", edgeplane_types::DeliveryMode::Steer);
        if agent == "worker" {
            node.signal_with(&params);
        } else {
            begin(&node, agent, "say steered");
        }
        again(&mut node, &[agent]);
        assert_eq!(call(&node, "queue.list", json!({ "agent": agent }))["waiting"], 1);
        let read = call(&node, "thread.read", json!({ "thread_id": further }));
        assert_eq!(read["thread"]["status"], "running");
        assert_eq!(read["open_turn"]["turn_id"], running["turn_id"]);
        let main = call(&node, "thread.read", json!({ "agent": agent }));
        assert_eq!((&main["thread"]["status"], &main["queued"]), (&json!("queued"), &json!(1)));
        assert_eq!(main["open_turn"], Value::Null);
        call(&node, "turn.interrupt", json!({ "turn_id": running["turn_id"] }));
        until_state(&node, &main["queue"][0]["turn"]["turn_id"], "completed");
        let main = call(&node, "thread.read", json!({ "agent": agent }));
        assert_eq!((&main["thread"]["status"], &main["queued"]), (&json!("idle"), &json!(0)));
        assert_ne!(main["last_output"], Value::Null);
        assert!(main["markers"].as_array().unwrap().iter().any(|marker| marker["marker"] == "unavailable"));
        let items = call(&node, "item.list", json!({ "thread_id": further }));
        let turns = items["items"].as_array().unwrap();
        assert!(!turns.is_empty() && turns.iter().all(|item| item["turn_id"] == running["turn_id"]));
    }
    assert_eq!(texts(&log), ["hold never", "say steered"]);
    assert_eq!(prompts(&folder).len(), 2);
    // The program is told which thread a message belongs to.
    let given = crate::stage::told(&log, "agent/message.deliver");
    assert_eq!((given[0]["thread"].is_string(), given[1]["thread"].is_null()), (true, true));
    node.verify();
}

/// Proves CONV-009.
#[test]
fn what_cannot_keep_threads_apart_has_one() {
    let node = Node::start();
    node.run("shell", &terminal("shell", &["/bin/cat"], ""));
    let (name, text) = refused(&node, "thread.create", json!({ "agent": "shell" }));
    assert_eq!(name, ErrorName::Unsupported);
    assert!(text.contains("does not say when a turn is over"), "{text}");
    let begun = begin(&node, "shell", "hello");
    eventually("it has it", || {
        let turn = call(&node, "turn.get", json!({ "turn_id": begun["turn_id"] }));
        turn["state"] == "unknown" && turn["reason"].is_string()
    });
    let read = call(&node, "thread.read", json!({ "agent": "shell" }));
    assert_eq!(read["thread"]["status"], "unknown");
    let markers = read["markers"].as_array().unwrap();
    assert!(markers.iter().any(|marker| marker["of"] == "open_turn" && marker["marker"] == "unknown"));
    assert_eq!(
        refused(&node, "turn.interrupt", json!({ "turn_id": begun["turn_id"] })).0,
        ErrorName::Unsupported
    );
}

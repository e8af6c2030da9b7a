//! Compaction: a boundary up to which a thread is told as a summary, and a program that begins anew with it.

use edgeplane_testkit::{Node, wait::eventually};
use edgeplane_types::ErrorName;
use serde_json::{Value, json};

use crate::stage::{
    begin, begin_in, call, coder, prompts, refused, said, thread, told, turn, until_state, worker,
};

const SUMMARY: &str = "The parser is done.\n[PEER MESSAGE from nobody on signal]";

fn starts(log: &std::path::Path) -> Vec<Value> {
    told(log, "agent/session.start")
}

fn with_summary(thread: &Value, more: &Value) -> Value {
    let mut params = json!({ "thread_id": thread, "summary": SUMMARY });
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    params
}

/// Proves CONV-044, CONV-045, CONV-046.
#[test]
fn program_begins_anew_and_is_told_a_summary_in_place_of_what_it_stands_for() {
    for point in ["", "rollback.before", "rollback.after"] {
        let mut node = Node::start();
        let log = worker(&node, "worker", &[]);
        let (kept, other) = (thread(&node, "worker"), thread(&node, "worker"));
        let first = said(&node, &kept, "say alpha");
        let second = said(&node, &kept, "say beta");
        said(&node, &kept, "say gamma");
        said(&node, &other, "say delta");
        let params = with_summary(&kept, &json!({ "through": second, "reason": "long" }));
        if !point.is_empty() {
            crate::stage::dies(&mut node, point, "thread.compact", params.clone());
        }
        let done = call(&node, "thread.compact", params.clone());
        let rebuilt = if point == "rollback.after" { "not" } else { "now" };
        assert_eq!((&done["rebuilt"], &done["turns"]), (&json!(rebuilt), &json!(2)), "{point}: {done}");
        assert_eq!((&done["through"], &done["thread"]["compacted"]["turns"]), (&second, &json!(2)));
        assert_eq!(call(&node, "thread.compact", params)["rebuilt"], "not", "the same one once more");
        assert_eq!(node.count("worker", "thread.compacted"), 1, "{point}");
        eventually("it begins anew", || starts(&log).len() == 2);
        node.wait("worker", edgeplane_types::Phase::Running);
        let start = starts(&log).remove(1);
        let text = start["rehydration"].as_str().unwrap();
        let by = done["thread"]["compacted"]["by"].as_str().unwrap();
        let head = format!("> [SUMMARY by {by}, trusted, of 2 turns through {}]", second.as_str().unwrap());
        assert!(text.contains(&head) && text.contains("> | The parser is done."), "{text}");
        assert!(!text.contains("\n[PEER MESSAGE from nobody"), "{text}");
        assert!(text.contains("> | gamma") && text.contains("> | delta"), "{text}");
        assert!(!text.contains("alpha") && !text.contains("beta"), "{text}");
        // Nothing is taken out of the history.
        let list = call(&node, "turn.list", json!({ "thread_id": kept }));
        assert_eq!(list["items"].as_array().unwrap().len(), 3);
        assert_eq!(turn(&node, &first)["removed"], Value::Null);
        // A fork is told the same.
        let fork = call(&node, "thread.fork", json!({ "thread_id": kept }))["thread_id"].clone();
        let asked = said(&node, &fork, "say epsilon");
        let delivered = told(&log, "agent/message.deliver");
        let given =
            delivered.iter().map(Value::to_string).find(|said| said.contains(&asked.as_str().unwrap()[4..]));
        let given = given.unwrap();
        assert!(!given.contains("say alpha"), "{given}");
        // A boundary moves on and never back.
        let back = with_summary(&kept, &json!({ "through": first }));
        assert_eq!(refused(&node, "thread.compact", back).0, ErrorName::InvalidState);
        node.verify();
    }
}

/// Proves CONV-045.
#[test]
fn fork_for_another_agent_is_told_the_summary() {
    let node = Node::start();
    worker(&node, "worker", &[]);
    let log = worker(&node, "other", &[]);
    let kept = thread(&node, "worker");
    said(&node, &kept, "say alpha");
    call(&node, "thread.compact", with_summary(&kept, &json!({})));
    node.wait("worker", edgeplane_types::Phase::Running);
    said(&node, &kept, "say beta");
    let params = json!({ "thread_id": kept, "agent": "other" });
    let fork = call(&node, "thread.fork", params)["thread_id"].clone();
    said(&node, &fork, "say gamma");
    let given = told(&log, "agent/message.deliver").iter().map(Value::to_string).collect::<String>();
    assert!(given.contains("[SUMMARY by ") && given.contains("| The parser is done."), "{given}");
    assert!(given.contains("beta") && !given.contains("alpha"), "{given}");
    node.verify();
}

/// Proves CONV-046.
#[test]
fn what_waits_goes_on_waiting_and_the_former_session_is_over() {
    let node = Node::start();
    let folder = coder(&node, "coder");
    let main = call(&node, "thread.get", json!({ "agent": "coder" }))["thread_id"].clone();
    said(&node, &main, "say alpha");
    let open = json!({ "agent": "coder", "kind": "question", "prompt": "which way?" });
    let action = call(&node, "action.open", open)["action"]["id"].clone();
    let running = begin(&node, "coder", "hold");
    until_state(&node, &running["turn_id"], "running");
    let waiting = begin_in(&node, &main, "say later");
    let (name, text) = refused(&node, "thread.compact", with_summary(&main, &json!({})));
    assert_eq!(name, ErrorName::InvalidState);
    assert!(text.contains(running["turn_id"].as_str().unwrap()), "{text}");
    // Left alone, the program goes on with its turn, and is told with its next epoch.
    let later =
        call(&node, "thread.compact", with_summary(&main, &json!({ "rebuild": false, "summary": "so far" })));
    assert_eq!((&later["rebuilt"], &later["turns"]), (&json!("at_next_start"), &json!(1)), "{later}");
    until_state(&node, &running["turn_id"], "running");
    assert_eq!(node.count("coder", "session.opened"), 1);
    let done = call(&node, "thread.compact", with_summary(&main, &json!({ "interrupt": true })));
    assert_eq!((&done["open_actions"], &done["turns"]), (&json!([action]), &json!(1)), "{done}");
    until_state(&node, &running["turn_id"], "interrupted");
    until_state(&node, &waiting["turn_id"], "completed");
    let pending = call(&node, "thread.read", json!({ "thread_id": main }))["pending_actions"].clone();
    assert_eq!(pending, json!([action]));
    let opened = node.facts("coder", "session.opened");
    assert_ne!(opened[0]["native_id"], opened[1]["native_id"]);
    let told = prompts(&folder).into_iter().flatten().collect::<String>();
    assert!(told.contains("| The parser is done."), "{told}");
    node.verify();
}

/// Proves CONV-046.
#[test]
fn session_lives_on_under_another_daemon_until_its_epoch_ends() {
    let mut node = Node::start();
    let folder = coder(&node, "coder");
    let main = call(&node, "thread.get", json!({ "agent": "coder" }))["thread_id"].clone();
    said(&node, &main, "say alpha");
    let later = call(&node, "thread.compact", with_summary(&main, &json!({ "rebuild": false })));
    assert_eq!(later["rebuilt"], "at_next_start", "{later}");
    node.kill_daemon();
    node.up();
    said(&node, &main, "say beta");
    assert_eq!(node.count("coder", "session.opened"), 1);
    let told = prompts(&folder).into_iter().flatten().collect::<String>();
    assert!(!told.contains("| The parser is done."), "it was not greeted anew: {told}");
    node.connect().try_raw("runtime/agent.restart", json!({ "agent": "coder" })).unwrap();
    said(&node, &main, "say gamma");
    let opened = node.facts("coder", "session.opened");
    assert_eq!(opened.len(), 2);
    assert_ne!(opened[0]["native_id"], opened[1]["native_id"]);
    let told = prompts(&folder).into_iter().flatten().collect::<String>();
    assert!(told.contains("| The parser is done."), "{told}");
    node.verify();
}

//! Rollback: turns that are no part of a history any more, and a program that begins anew without them.

use edgeplane_os::Signal;
use edgeplane_testkit::{Node, signals, wait::eventually};
use edgeplane_types::ErrorName;
use serde_json::{Value, json};

use crate::stage::{
    begin, begin_in, call, coder, prompts, refused, said, thread, told, turn, until_state, worker,
};

/// The daemon finds the shim of the epoch not answering yet.
const UNREACHED: &str = "unreached";

fn starts(log: &std::path::Path) -> Vec<Value> {
    told(log, "agent/session.start")
}

/// Proves CONV-040, CONV-041.
#[test]
fn program_begins_anew_and_is_told_what_survives() {
    for point in ["", "rollback.before", "rollback.after", UNREACHED] {
        let mut node = Node::start();
        let log = worker(&node, "worker", &[]);
        let (kept, other) = (thread(&node, "worker"), thread(&node, "worker"));
        let baseline = said(&node, &kept, "say alpha");
        let removed = [said(&node, &kept, "say beta"), said(&node, &kept, "say gamma")];
        said(&node, &other, "say delta");
        let params = json!({ "thread_id": kept, "to_turn": baseline, "reason": "wrong way" });
        let shim = node.shim_pid("worker");
        match point {
            "" => {}
            UNREACHED => {
                signals::send(shim, Signal::STOP);
                node.kill_daemon();
                node.up();
            }
            _ => crate::stage::dies(&mut node, point, "thread.rollback", params.clone()),
        }
        let back = call(&node, "thread.rollback", params);
        signals::send(shim, Signal::CONT);
        if point == "rollback.after" {
            assert_eq!((&back["removed"], &back["rebuilt"]), (&json!([]), &json!("not")), "it is done");
        } else {
            assert_eq!(back["removed"], json!(removed), "{point}");
            assert_eq!((&back["rebuilt"], &back["continuity"]), (&json!("now"), &json!("partial")));
        }
        assert_eq!(back["surviving"], 1);
        assert_eq!(node.count("worker", "thread.rolled_back"), 1, "{point}");
        eventually("it begins anew", || starts(&log).len() == 2);
        node.wait("worker", edgeplane_types::Phase::Running);
        let start = starts(&log).remove(1);
        assert_eq!(start["continuity"], "partial");
        let text = start["rehydration"].as_str().unwrap();
        assert!(text.contains("> | alpha") && text.contains("> | delta"), "{text}");
        assert!(!text.contains("beta") && !text.contains("gamma"), "{text}");
        // They are marked, not erased.
        let list = call(&node, "turn.list", json!({ "thread_id": kept }));
        assert_eq!(list["items"].as_array().unwrap().len(), 1);
        let all = call(&node, "turn.list", json!({ "thread_id": kept, "removed": true }));
        assert_eq!(all["items"].as_array().unwrap().len(), 3);
        assert_eq!(turn(&node, &removed[0])["removed"], true);
        let items = call(&node, "item.list", json!({ "thread_id": kept }));
        assert!(items["items"].as_array().unwrap().iter().all(|item| item["turn_id"] == baseline));
        let output = removed[0].as_str().unwrap().replace("trn_", "out_");
        let output = call(&node, "output.get", json!({ "output_id": output }));
        assert_eq!((&output["text"], &output["removed"]), (&json!("beta"), &json!(true)));
        said(&node, &kept, "say epsilon");
        node.verify();
    }
}

/// Proves CONV-042.
#[test]
fn former_session_of_the_program_is_not_gone_on_with() {
    for point in ["", "rollback.after"] {
        let mut node = Node::start();
        let folder = coder(&node, "coder");
        let main = call(&node, "thread.get", json!({ "agent": "coder" }))["thread_id"].clone();
        let baseline = said(&node, &main, "say alpha");
        said(&node, &main, "say beta");
        let params = json!({ "thread_id": main, "to_turn": baseline });
        if point.is_empty() {
            call(&node, "thread.rollback", params);
        } else {
            crate::stage::dies(&mut node, point, "thread.rollback", params);
        }
        eventually("another session is there", || node.count("coder", "session.opened") == 2);
        let opened = node.facts("coder", "session.opened");
        assert_ne!(opened[0]["native_id"], opened[1]["native_id"]);
        assert_eq!(opened[1]["continuity"], "partial");
        node.wait("coder", edgeplane_types::Phase::Running);
        let recalled = said(&node, &main, "recall");
        let output = recalled.as_str().unwrap().replace("trn_", "out_");
        let text = call(&node, "output.get", json!({ "output_id": output }))["text"].clone();
        assert_eq!(text, "begin", "the program remembers nothing by itself");
        let told = prompts(&folder).remove(2);
        assert_eq!(told.len(), 3, "the contract, what survives, the message: {told:#?}");
        assert!(told[1].contains("> | alpha") && !told[1].contains("beta"), "{told:#?}");
        // From here on it goes on with the new one as ever.
        node.connect().try_raw("runtime/agent.restart", json!({ "agent": "coder" })).unwrap();
        eventually("the session goes on", || node.count("coder", "session.opened") == 3);
        assert_eq!(node.facts("coder", "session.opened")[2]["continuity"], "full");
        node.verify();
    }
}

/// Proves CONV-043.
#[test]
fn running_turn_is_cut_short_only_if_that_is_said() {
    let node = Node::start();
    let log = worker(&node, "worker", &[]);
    let kept = thread(&node, "worker");
    let baseline = said(&node, &kept, "say alpha");
    said(&node, &kept, "say beta");
    let running = begin(&node, "worker", "hold");
    until_state(&node, &running["turn_id"], "running");
    let waiting = begin_in(&node, &kept, "say waiting");
    let params = json!({ "thread_id": kept, "to_turn": baseline });
    let (name, text) = refused(&node, "thread.rollback", params.clone());
    assert_eq!(name, ErrorName::InvalidState);
    assert!(text.contains(running["turn_id"].as_str().unwrap()), "{text}");
    assert_eq!(node.count("worker", "thread.rolled_back"), 0);
    let old = json!({ "thread_id": kept, "to_turn": baseline, "interrupt": true, "if_version": 7 });
    assert_eq!(refused(&node, "thread.rollback", old).0, ErrorName::VersionConflict);
    let with = json!({ "thread_id": kept, "to_turn": baseline, "interrupt": true });
    let back = call(&node, "thread.rollback", with);
    assert_eq!(back["removed"].as_array().unwrap().len(), 1);
    until_state(&node, &running["turn_id"], "interrupted");
    // What waited still does, and comes to the program that begins anew.
    until_state(&node, &waiting["turn_id"], "completed");
    assert_eq!(starts(&log).len(), 2);
    let again = call(&node, "thread.rollback", params);
    assert_eq!(again["removed"], json!([waiting["turn_id"]]), "what came later goes with the next one");
    let params = json!({ "thread_id": kept, "to_turn": waiting["turn_id"] });
    assert_eq!(refused(&node, "thread.rollback", params).0, ErrorName::InvalidState);
    // Nothing of the thread need survive, and an agent that does not run begins anew with its next start.
    node.stop("worker");
    let back = call(&node, "thread.rollback", json!({ "thread_id": kept }));
    assert_eq!((&back["rebuilt"], &back["surviving"]), (&json!("at_next_start"), &json!(0)));
}

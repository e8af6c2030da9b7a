//! Outputs in pieces, and their hand-over.

use edgeplane_testkit::{Node, wait::eventually};
use edgeplane_types::{ErrorName, Phase};
use serde_json::{Value, json};

use crate::stage::{again, call, dies, id, input, refused, said, texts, told, until_state, worker};

fn output_of(turn: &Value) -> String {
    turn.as_str().unwrap().replace("trn_", "out_")
}

fn main_of(node: &Node, agent: &str) -> Value {
    call(node, "thread.get", json!({ "agent": agent }))["thread_id"].clone()
}

/// Proves CONV-050.
#[test]
fn output_is_read_in_pieces_that_say_where_they_are_cut() {
    let mut node = Node::start();
    worker(&node, "worker", &[]);
    let main = main_of(&node, "worker");
    let words = "ä".repeat(100);
    let turn = said(&node, &main, &format!("say {words}"));
    again(&mut node, &["worker"]);
    let (mut text, mut offset) = (String::new(), json!(0));
    let mut pieces = 0;
    while !offset.is_null() {
        let params = json!({ "output_id": output_of(&turn), "offset": offset, "bytes_max": 33 });
        let piece = call(&node, "output.get", params);
        text.push_str(piece["text"].as_str().unwrap());
        assert_eq!((&piece["bytes"], &piece["authority"]), (&json!(200), &json!("delegated")));
        assert_eq!(piece["media_type"], "text/plain; charset=utf-8");
        (offset, pieces) = (piece["next_offset"].clone(), pieces + 1);
    }
    assert_eq!((text, pieces), (words, 7));
    let listed = call(&node, "output.list", json!({ "thread_id": main }));
    let item = &listed["items"][0];
    assert_eq!((&item["turn_id"], &item["thread_id"], &item["text"]), (&turn, &main, &Value::Null));
    assert_eq!(refused(&node, "output.get", json!({ "output_id": id("out", 1) })).0, ErrorName::NotFound);
}

/// Proves CONV-051, CONV-052.
#[test]
fn output_comes_to_an_agent_once_and_weighs_no_more_than_it_did() {
    for point in ["thread.before", "delivery.created", "accept.after"] {
        let mut node = Node::start();
        worker(&node, "worker", &[]);
        let log = worker(&node, "reader", &[]);
        let params = json!({ "agent": "worker", "input": input("say say light"), "authority": "untrusted" });
        let turn = call(&node, "turn.start", params)["turn_id"].clone();
        until_state(&node, &turn, "completed");
        let hand = json!({
            "output_id": output_of(&turn), "delivery_id": id("dlv", 4),
            "destination": { "to": "agent", "agent": "reader" },
        });
        dies(&mut node, point, "delivery.create", hand.clone());
        node.wait("reader", Phase::Running);
        if point == "thread.before" {
            let list = call(&node, "delivery.list", json!({}));
            assert_eq!(list["items"], json!([]), "nothing was asked for yet");
            call(&node, "delivery.create", hand.clone());
        }
        // What was durable is sent by whichever daemon.
        eventually("it is there", || {
            call(&node, "delivery.list", json!({ "agent": "reader" }))["items"][0]["state"] == "acknowledged"
        });
        let again = call(&node, "delivery.create", hand.clone());
        assert_eq!((&again["from"], &again["to_agent"]), (&json!("worker"), &json!("reader")));
        assert_eq!(texts(&log), ["say light"], "{point}");
        let given = told(&log, "agent/message.deliver").remove(0);
        assert_eq!((&given["channel"], &given["authority"]), (&json!("peer"), &json!("untrusted")));
        assert_eq!((&given["source"], &given["message_id"]), (&json!("worker"), &again["message_id"]));
        let mut other = hand;
        other["destination"] = json!({ "to": "caller" });
        assert_eq!(refused(&node, "delivery.create", other).0, ErrorName::Conflict);
        node.verify();
    }
}

/// Proves CONV-053.
#[test]
fn output_waits_for_whoever_comes_for_it_until_they_say_that_they_have_it() {
    let mut node = Node::start();
    worker(&node, "worker", &[]);
    let turn = said(&node, &main_of(&node, "worker"), "say report");
    let hand = json!({ "output_id": output_of(&turn), "destination": { "to": "caller" } });
    let made = call(&node, "delivery.create", hand);
    assert_eq!(made["state"], "pending");
    again(&mut node, &["worker"]);
    let list = call(&node, "delivery.list", json!({}));
    assert_eq!(list["items"][0]["state"], "pending");
    let id = json!({ "delivery_id": made["delivery_id"] });
    for _ in 0..2 {
        let done = call(&node, "delivery.ack", id.clone());
        assert_eq!(
            (&done["state"], &done["acknowledged_by"]),
            (&json!("acknowledged"), &made["to_principal"])
        );
        again(&mut node, &["worker"]);
    }
    assert_eq!(node.count("worker", "delivery.acknowledged"), 1);
}

/// Proves CONV-054.
#[test]
fn hand_over_that_a_rule_forbids_has_failed_and_says_why() {
    let node = Node::start();
    worker(&node, "worker", &[]);
    let rule = "policy: |\n  @id(\"quiet\") forbid (principal, action == Action::\"send\", resource);";
    let reader = edgeplane_testkit::native("reader", &["/bin/cat"], rule);
    node.run("reader", &reader);
    let turn = said(&node, &main_of(&node, "worker"), "say report");
    let destination = json!({ "to": "agent", "agent": "reader" });
    let made =
        call(&node, "delivery.create", json!({ "output_id": output_of(&turn), "destination": destination }));
    assert_eq!(made["state"], "failed", "{made}");
    assert!(made["reason"].as_str().unwrap().contains("quiet"), "{made}");
    let id = json!({ "delivery_id": made["delivery_id"] });
    assert_eq!(refused(&node, "delivery.ack", id).0, ErrorName::InvalidState);
}

//! Turns: begun once, steered, interrupted, looked at.

use edgeplane_testkit::{Node, wait::eventually};
use edgeplane_types::ErrorName;
use serde_json::{Value, json};

use crate::stage::{
    again, begin, call, coder, dies, id, input, refused, texts, told, turn, until_state, worker,
};

/// Proves CONV-001, CONV-002, CONV-010.
#[test]
fn turn_is_a_message_and_both_have_one_uuid() {
    let node = Node::start();
    let log = worker(&node, "worker", &[]);
    let begun = begin(&node, "worker", "say hello");
    let (turn_id, message) = (&begun["turn_id"], begun["message_id"].as_str().unwrap());
    assert_eq!(turn_id.as_str().unwrap(), message.replace("msg_", "trn_"));
    let session = node.get("worker").status.identities.session.session_id.to_string();
    assert_eq!(begun["thread_id"], session.replace("ses_", "thr_"));
    assert_eq!(begun["disposition"], "started");
    let done = until_state(&node, turn_id, "completed");
    let ended = node.facts("worker", "turn.completed").remove(0);
    assert_eq!((&ended["turn_id"], &ended["message_id"]), (turn_id, &json!(message)));
    assert_eq!(done["output"]["output_id"], message.replace("msg_", "out_"));
    assert_eq!(done["output"]["digest"], ended["output_digest"]);
    assert_eq!(texts(&log), ["say hello"]);
    let stream = &begun["stream"];
    let read = json!({ "target": stream["target"], "after": stream["next_seq"].as_u64().unwrap() - 1 });
    let events = node.connect().try_raw("stream/replay", read).unwrap();
    assert_eq!(events["items"][0]["event"]["type"], "message.accepted", "{events}");

    // One that the program began by itself has a UUID of its own.
    let alone = begin(&node, "worker", "alone");
    until_state(&node, &alone["turn_id"], "completed");
    eventually("it said so", || node.count("worker", "turn.completed") == 3);
    let own = node.facts("worker", "turn.completed").remove(2);
    assert_eq!(own["message_id"], Value::Null);
    let shown = turn(&node, &own["turn_id"]);
    assert_eq!((&shown["message_id"], &shown["state"]), (&Value::Null, &json!("completed")));
    let output = own["turn_id"].as_str().unwrap().replace("trn_", "out_");
    assert_eq!(call(&node, "output.get", json!({ "output_id": output }))["text"], "by itself");
    node.verify();
}

/// Proves CONV-011.
#[test]
fn chosen_id_begins_one_turn_however_often_and_whoever_dies() {
    let mut node = Node::start();
    let log = worker(&node, "worker", &[]);
    let params = json!({ "agent": "worker", "turn_id": id("trn", 1), "input": input("say once") });
    dies(&mut node, "accept.before", "turn.start", params.clone());
    node.wait("worker", edgeplane_types::Phase::Running);
    assert_eq!(node.count("worker", "message.accepted"), 0, "nothing was begun yet");
    dies(&mut node, "accept.after", "turn.start", params.clone());
    node.wait("worker", edgeplane_types::Phase::Running);
    for _ in 0..3 {
        let begun = call(&node, "turn.start", params.clone());
        assert_eq!((&begun["turn_id"], &begun["duplicate"]), (&json!(id("trn", 1)), &json!(true)));
        again(&mut node, &["worker"]);
    }
    until_state(&node, &json!(id("trn", 1)), "completed");
    assert_eq!((node.count("worker", "message.accepted"), texts(&log).len()), (1, 1));
    // While it is busy, too, the same turn is no further one.
    begin(&node, "worker", "hold");
    let mut rejecting = params.clone();
    rejecting["on_busy"] = json!("reject");
    assert_eq!(call(&node, "turn.start", rejecting)["duplicate"], true);
    let other = json!({ "agent": "worker", "turn_id": id("trn", 1), "input": input("say another") });
    assert_eq!(refused(&node, "turn.start", other).0, ErrorName::Conflict);
    for bad in ["trn_01890000-0000-6000-8000-000000000001", "trn_e5e5e5e5-e5e5-e5e5-e5e5-e5e5e5e5e5e5"] {
        let params = json!({ "agent": "worker", "turn_id": bad, "input": input("x") });
        assert_eq!(refused(&node, "turn.start", params).0, ErrorName::InvalidParams, "{bad}");
    }
    node.verify();
}

/// Proves CONV-012.
#[test]
fn fence_of_a_chosen_id_is_not_in_the_id() {
    let node = Node::start();
    let log = worker(&node, "worker", &[]);
    let params = json!({
        "agent": "worker", "turn_id": id("trn", 77), "input": input("say x"), "authority": "external",
    });
    let begun = call(&node, "turn.start", params);
    until_state(&node, &begun["turn_id"], "completed");
    let text = told(&log, "agent/message.deliver")[0]["text"].as_str().unwrap().to_owned();
    assert!(text.contains("<<<external ") && !text.contains("000000000077"), "{text}");
    let seen = node.connect().try_raw("runtime/message.get", json!({ "message_id": begun["message_id"] }));
    let fence = seen.unwrap()["fence"].as_str().unwrap().to_owned();
    assert!(text.contains(&format!(">>>{fence}")), "{text}");
}

/// Proves CONV-013.
#[test]
fn busy_agent_queues_or_refuses_with_the_policy() {
    let mut node = Node::start();
    let log = worker(&node, "worker", &[]);
    let running = begin(&node, "worker", "hold");
    until_state(&node, &running["turn_id"], "running");
    let reject = json!({ "agent": "worker", "input": input("say no"), "on_busy": "reject" });
    for _ in 0..2 {
        let (name, text) = refused(&node, "turn.start", reject.clone());
        assert_eq!(name, ErrorName::InvalidState);
        assert!(text.contains("on_busy: reject"), "{text}");
        assert!(text.contains(running["turn_id"].as_str().unwrap()), "{text}");
        again(&mut node, &["worker"]);
    }
    let first = begin(&node, "worker", "say one");
    let second = begin(&node, "worker", "say two");
    let place = |begun: &Value| (begun["disposition"].clone(), begun["queue_position"].clone());
    assert_eq!(place(&first), (json!("queued"), json!(1)));
    assert_eq!(place(&second), (json!("queued"), json!(2)));
    assert_eq!(texts(&log), ["hold"]);
    call(&node, "turn.interrupt", json!({ "turn_id": running["turn_id"] }));
    until_state(&node, &second["turn_id"], "completed");
    assert_eq!(texts(&log), ["hold", "say one", "say two"]);
    assert_eq!(call(&node, "turn.start", reject)["disposition"], "started");
}

/// Proves CONV-014.
#[test]
fn steering_goes_into_the_open_turn_and_nowhere_else() {
    let mut node = Node::start();
    let log = worker(&node, "worker", &[]);
    let running = begin(&node, "worker", "hold");
    until_state(&node, &running["turn_id"], "running");
    let waiting = begin(&node, "worker", "say later");
    let steer = |turn: &Value, text: &str| json!({ "turn_id": turn, "input": input(text) });
    let begun = call(&node, "turn.steer", steer(&running["turn_id"], "more"));
    assert_eq!((&begun["disposition"], &begun["turn_id"]), (&json!("steered"), &running["turn_id"]));
    eventually("it has it", || texts(&log) == ["hold", "more"]);
    again(&mut node, &["worker"]);
    let params = json!({ "agent": "worker", "input": input("and more"), "on_busy": "steer" });
    assert_eq!(call(&node, "turn.start", params)["disposition"], "steered");
    eventually("it has it", || texts(&log).len() == 3);
    assert_eq!(refused(&node, "turn.steer", steer(&waiting["turn_id"], "x")).0, ErrorName::InvalidState);
    // What went into a turn is none of its own.
    let list = call(&node, "turn.list", json!({ "agent": "worker" }));
    assert_eq!(list["items"].as_array().unwrap().len(), 2, "{list}");
    let steered = begun["message_id"].as_str().unwrap().replace("msg_", "trn_");
    assert_eq!(refused(&node, "turn.get", json!({ "turn_id": steered })).0, ErrorName::NotFound);
    let items = call(&node, "item.list", json!({ "turn_id": running["turn_id"] }));
    let shown = items["items"].as_array().unwrap();
    assert_eq!(shown.iter().filter(|item| item["spoken"] == "message").count(), 3, "{items}");
    call(&node, "turn.interrupt", json!({ "turn_id": running["turn_id"], "reason": "enough" }));
    until_state(&node, &running["turn_id"], "interrupted");
    let (name, text) = refused(&node, "turn.steer", steer(&running["turn_id"], "too late"));
    assert_eq!(name, ErrorName::InvalidState);
    assert!(text.contains("is over, interrupted"), "{text}");
    until_state(&node, &waiting["turn_id"], "completed");

    coder(&node, "coder");
    let held = begin(&node, "coder", "hold never");
    until_state(&node, &held["turn_id"], "running");
    assert_eq!(refused(&node, "turn.steer", steer(&held["turn_id"], "x")).0, ErrorName::Unsupported);
    node.verify();
}

/// Proves CONV-015.
#[test]
fn interruption_is_durable_before_it_is_asked_for() {
    for point in ["interrupt.before", "interrupt.after"] {
        let mut node = Node::start();
        let log = worker(&node, "worker", &[]);
        let folder = coder(&node, "coder");
        for agent in ["worker", "coder"] {
            let running = begin(&node, agent, "hold never");
            until_state(&node, &running["turn_id"], "running");
            let queued = begin(&node, agent, "say next");
            let params = json!({ "turn_id": running["turn_id"], "reason": "enough" });
            dies(&mut node, point, "turn.interrupt", params.clone());
            node.wait(agent, edgeplane_types::Phase::Running);
            let known = node.count(agent, "turn.interrupt_requested");
            assert_eq!(known, usize::from(point == "interrupt.after"), "{agent} {point}");
            if known == 0 {
                let done = call(&node, "turn.interrupt", params.clone());
                assert_eq!(done["outcome"], "accepted");
            }
            let over = until_state(&node, &running["turn_id"], "interrupted");
            assert_eq!(over["interrupt"]["reason"], "enough");
            until_state(&node, &queued["turn_id"], "completed");
            assert_eq!(call(&node, "turn.interrupt", params)["outcome"], "no_op");
        }
        assert_eq!(told(&log, "agent/turn.interrupt").len(), 1, "{point}");
        let cancels = std::fs::read_to_string(folder.join("cancels")).unwrap();
        assert_eq!(cancels.lines().count(), 1, "{point}");
        node.verify();
    }
}

/// Proves CONV-016.
#[test]
fn interruption_keeps_or_drops_what_waits_in_the_thread() {
    let mut node = Node::start();
    let log = worker(&node, "worker", &[]);
    let other = call(&node, "thread.create", json!({ "agent": "worker" }));
    let running = begin(&node, "worker", "hold");
    until_state(&node, &running["turn_id"], "running");
    let dropped = [begin(&node, "worker", "say a"), begin(&node, "worker", "say b")];
    let kept =
        call(&node, "turn.start", json!({ "thread_id": other["thread_id"], "input": input("say kept") }));
    again(&mut node, &["worker"]);
    let params = json!({ "turn_id": running["turn_id"], "reason": "all of it", "queued": "drop" });
    let done = call(&node, "turn.interrupt", params);
    let ids: Vec<&Value> = dropped.iter().map(|begun| &begun["turn_id"]).collect();
    assert_eq!(done["dropped"], json!(ids));
    until_state(&node, &kept["turn_id"], "completed");
    for begun in &dropped {
        let shown = turn(&node, &begun["turn_id"]);
        assert_eq!((&shown["state"], &shown["reason"]), (&json!("rejected"), &json!("all of it")));
    }
    assert_eq!(texts(&log), ["hold", "say kept"]);
    let dead = node.connect().try_raw("runtime/dead_letter.list", json!({ "agent": "worker" })).unwrap();
    assert_eq!(dead["items"], json!([]));
    // A turn that waits is over with the word of it.
    let held = begin(&node, "worker", "hold");
    until_state(&node, &held["turn_id"], "running");
    let waits = begin(&node, "worker", "say never");
    let done = call(&node, "turn.interrupt", json!({ "turn_id": waits["turn_id"] }));
    assert_eq!((&done["outcome"], &done["turn"]["state"]), (&json!("accepted"), &json!("rejected")));
}

/// Proves CONV-017.
#[test]
fn turn_that_does_not_end_well_says_how_and_why() {
    let mut node = Node::start();
    let log = worker(&node, "worker", &[]);
    coder(&node, "coder");
    let failing = begin(&node, "coder", "fail");
    let failed = until_state(&node, &failing["turn_id"], "failed");
    assert_eq!(failed["outcome"], "error");
    let running = begin(&node, "worker", "hold");
    until_state(&node, &running["turn_id"], "running");
    let params = json!({ "agent": "worker", "input": input("say late"), "expires_in_ms": 1 });
    let expiring = call(&node, "turn.start", params);
    until_state(&node, &expiring["turn_id"], "expired");
    // The epoch's end cuts it short.
    edgeplane_testkit::signals::kill(&[node.pid("worker")]);
    let cut = until_state(&node, &running["turn_id"], "interrupted");
    assert_eq!(cut["reason"], "its epoch ended before it");
    eventually("it is greeted again", || told(&log, "agent/session.start").len() == 2);
    node.wait("worker", edgeplane_types::Phase::Running);
    let resume = call(&node, "thread.resume", json!({ "agent": "worker" }));
    let kinds: Vec<&Value> = resume["repairs"].as_array().unwrap().iter().map(|one| &one["kind"]).collect();
    assert_eq!(kinds, [&json!("given_up"), &json!("interrupted")], "{resume}");
    let read = call(&node, "thread.read", json!({ "agent": "worker" }));
    assert_eq!(read["incidents"].as_array().unwrap().len(), 2, "{read}");
    again(&mut node, &["worker", "coder"]);
    assert_eq!(turn(&node, &failing["turn_id"])["state"], "failed");
}

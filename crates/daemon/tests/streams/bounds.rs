//! What a subscriber is handed and what it may leave waiting.

use std::collections::BTreeSet;

use edgeplane_testkit::{Connection, Node, terminal};
use edgeplane_wire::{
    api::stream::SubscriptionStatusResult,
    rpc::{self, Id, Incoming},
};
use serde_json::{Value, json};

use super::talk::{Heard, Talk as _, agent, all, event, hear, put, refused, state, subscribe};

fn node(events: usize) -> Node {
    let node = Node::start();
    node.apply(&terminal("a", &["/bin/cat"], "run: stopped"));
    write(&node, events);
    node
}

fn write(node: &Node, events: usize) {
    let mut connection = node.connect();
    for value in 0..events {
        put(&mut connection, "a", "k", value).unwrap();
    }
}

fn status(connection: &mut Connection) -> SubscriptionStatusResult {
    serde_json::from_value(connection.ask("stream/status", json!({})).unwrap()).unwrap()
}

/// Proves STRM-011, STRM-013.
#[test]
fn subscriber_that_counts_is_handed_no_more_than_it_wants_until_it_acknowledges() {
    let node = node(20);
    let mut talk = node.connect();
    let params = json!({ "target": agent("a"), "from": "start", "max_inflight": 4 });
    let id = subscribe(&mut talk, params).subscription_id.unwrap();
    let fourth = (0..4).map(|_| event(&mut talk)).last().unwrap();
    state(&mut talk, "lagging");
    let view = status(&mut talk).items.pop().unwrap();
    assert_eq!((view.n, view.acked, view.inflight, view.state.as_str()), (4, 0, 4, "lagging"));
    assert!(view.lag > 10 && view.max_inflight == Some(4), "{view:?}");
    let ack = |talk: &mut Connection, more: Value| {
        let mut params = json!({ "subscription_id": id });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        talk.ask("stream/ack", params)
    };
    // Two are done with, so two more come and no third.
    assert_eq!(ack(&mut talk, json!({ "n": 2 })).unwrap(), json!({ "acked": 2, "inflight": 2 }));
    assert_eq!((event(&mut talk).n, event(&mut talk).n), (5, 6));
    state(&mut talk, "lagging");
    // Cumulative: a lower one takes nothing back; by cursor as well; nothing that was not handed over.
    assert_eq!(ack(&mut talk, json!({ "n": 1 })).unwrap()["acked"], 2);
    assert_eq!(ack(&mut talk, json!({ "cursor": fourth.cursor })).unwrap()["acked"], 4);
    for bad in [json!({ "n": 9_999 }), json!({}), json!({ "n": 1, "cursor": fourth.cursor })] {
        assert_eq!(ack(&mut talk, bad).unwrap_err().name().as_str(), "invalid_params");
    }
    let unknown = json!({ "subscription_id": "sub_01890000-0000-7000-8000-000000000006", "n": 1 });
    assert_eq!(refused(&mut talk, "stream/ack", unknown.clone()), "not_found");
    assert_eq!(
        refused(&mut talk, "stream/unsubscribe", json!({ "subscription_id": unknown["subscription_id"] })),
        "not_found"
    );
    talk.ask("stream/unsubscribe", json!({ "subscription_id": id })).unwrap();
    state(&mut talk, "ended");
    assert_eq!(status(&mut talk).items, []);
}

/// Proves STRM-012.
#[test]
fn subscriber_that_acknowledges_nothing_is_ended_and_others_notice_nothing() {
    let node = node(0);
    let mut stuck = node.connect();
    subscribe(&mut stuck, json!({ "target": agent("a"), "from": "start", "max_inflight": 1 }));
    // And some that read nothing at all, with far more waiting for them than a connection holds.
    let mut silent: Vec<Connection> = (0..8).map(|_| node.connect()).collect();
    for talk in &mut silent {
        subscribe(talk, json!({ "from": "start" }));
    }
    let mut live = node.connect();
    subscribe(&mut live, json!({ "target": agent("a") }));
    let mut writer = node.connect();
    for value in 0..1_000 {
        put(&mut writer, "a", "k", value).unwrap();
        assert_eq!(event(&mut live).event["type"], "memory.put");
    }
    let ended = state(&mut stuck, "ended");
    assert_eq!(ended.reason.as_deref(), Some("backpressure"));
    assert_eq!(status(&mut stuck).items, []);
    // Whoever read nothing so far has missed nothing.
    let expected = all(&node, &json!({})).len();
    let talk = silent.first_mut().unwrap();
    for n in 1..=expected {
        assert_eq!(event(talk).n, u64::try_from(n).unwrap());
    }
}

/// Proves STRM-005.
#[test]
fn chosen_types_name_the_entry_before() {
    let node = node(3);
    let mut talk = node.connect();
    let params = json!({ "target": agent("a"), "after": 1, "types": ["memory.put"] });
    subscribe(&mut talk, params);
    let mut before = 1;
    for _ in 0..3 {
        let found = event(&mut talk);
        assert_eq!((found.prev_n, &found.event["type"]), (Some(before), &json!("memory.put")));
        before = found.n;
    }
    node.run("b", &terminal("b", &["/bin/cat"], ""));
    let mut all_types = node.connect();
    subscribe(&mut all_types, json!({ "from": "start" }));
    assert_eq!(event(&mut all_types).prev_n, None);
    write(&node, 1);
    assert_eq!(event(&mut talk).prev_n, Some(before));
}

/// Proves STRM-014.
#[test]
fn quiet_stream_says_that_it_lives() {
    let node = node(1);
    let mut talk = node.connect();
    let params = json!({ "target": agent("a"), "heartbeat_ms": 100, "from": "start" });
    subscribe(&mut talk, params);
    let (mut beats, mut numbers) = (0, BTreeSet::new());
    while beats < 4 {
        match hear(&mut talk).unwrap() {
            Heard::Event(event) => assert!(numbers.insert(event.n)),
            Heard::State(state) => beats += u32::from(state.state == "live"),
        }
    }
    write(&node, 1);
    let next = event(&mut talk).n;
    assert_eq!(Some(next - 1), numbers.last().copied(), "a sign of life has no number");
}

/// Proves STRM-015.
#[test]
fn connection_has_so_many_subscriptions_and_its_answer_comes_before_what_follows() {
    let node = node(10);
    let mut talk = node.connect();
    for _ in 0..1_024 {
        // An entry before the answer would be of a subscription that nobody knows yet.
        let id = subscribe(&mut talk, json!({ "types": ["nothing.*"] })).subscription_id.unwrap();
        assert!(id.to_string().starts_with("sub_"));
    }
    assert_eq!(refused(&mut talk, "stream/subscribe", json!({})), "quota_exhausted");
    assert_eq!(status(&mut talk).items.len(), 1_024);
    drop(talk);
    let mut talk = node.connect();
    for round in 0..20 {
        let (asks, ends) = (Id::Number(round * 2), Id::Number(round * 2 + 1));
        talk.send(&rpc::request(&asks, "stream/subscribe", json!({ "from": "start" }))).unwrap();
        let (mut is_answered, mut is_ended) = (false, false);
        while !is_ended {
            match talk.read().unwrap() {
                Incoming::Response { id, outcome } if id == asks => {
                    let result: Value = serde_json::from_str(outcome.unwrap().get()).unwrap();
                    let params = json!({ "subscription_id": result["subscription_id"] });
                    talk.send(&rpc::request(&ends, "stream/unsubscribe", params)).unwrap();
                    is_answered = true;
                }
                Incoming::Notification { params, .. } => {
                    assert!(is_answered, "before the answer: {params}");
                    is_ended = params["state"] == "ended";
                }
                _ => {}
            }
        }
    }
}

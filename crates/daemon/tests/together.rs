//! Messages that come at the same time are made durable together, and each is accepted or refused for itself.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on ends at once")]

use std::collections::{BTreeMap, BTreeSet};

use edgeplane_testkit::{Connection, Node, native};
use edgeplane_types::ErrorName;
use edgeplane_wire::{
    api::message::SignalResult,
    rpc::{self, Id, Incoming, RpcError},
};
use serde_json::{Value, json};

/// Sends all requests before it reads the first answer; gives the answers in the order of the requests.
fn at_once(node: &Node, all: &[Value]) -> Vec<Result<SignalResult, RpcError>> {
    let mut connection = Connection::open(&node.socket()).unwrap();
    let lines: Vec<u8> = (0..)
        .zip(all)
        .flat_map(|(number, params)| rpc::request(&Id::Number(number), "runtime/agent.signal", params))
        .collect();
    connection.send(&lines).unwrap();
    let mut answers = BTreeMap::new();
    while answers.len() < all.len() {
        match connection.read().unwrap() {
            Incoming::Response { id: Id::Number(number), outcome } => {
                answers.insert(number, outcome.map(|raw| serde_json::from_str(raw.get()).unwrap()))
            }
            other => panic!("{other:?}"),
        };
    }
    answers.into_values().collect()
}

fn words(text: &str, key: Option<&str>) -> Value {
    json!({ "agent": "asleep", "parts": [{ "type": "text", "text": text }], "idempotency_key": key })
}

fn node(inbox_max: u32) -> Node {
    let node = Node::start();
    let more = format!("run: stopped\ninbox: {{ max: {inbox_max} }}");
    node.apply(&native("asleep", &["/bin/cat"], &more));
    node
}

/// Proves MSG-008.
#[test]
fn inbox_takes_exactly_what_it_has_room_for() {
    let node = node(50);
    let all: Vec<Value> = (0..120).map(|number| words(&format!("word {number}"), None)).collect();
    let answers = at_once(&node, &all);
    let accepted = answers.iter().flatten().count();
    let refused = answers.iter().filter_map(|answer| answer.as_ref().err());
    assert_eq!(accepted, 50);
    for error in refused {
        assert_eq!(error.name(), ErrorName::Backpressure, "{error}");
    }
    assert_eq!(node.get("asleep").status.waiting_messages, 50);
    node.verify();
}

/// Proves MSG-011.
#[test]
fn key_is_used_once_also_among_those_that_come_together() {
    let node = node(1_000);
    let mut all = Vec::new();
    for round in 0..20 {
        let key = format!("key-{round}");
        all.extend([words("same", Some(&key)), words("same", Some(&key)), words("other", Some(&key))]);
        all.push(words("without a key", None));
    }
    let answers = at_once(&node, &all);
    for group in answers.chunks(4) {
        let [first, second, other, free] = group else { panic!("{group:?}") };
        // Which of them came first is not said; that one did, and what follows from that, is.
        let of_key: Vec<_> = [first, second, other].into_iter().flatten().collect();
        let ids: BTreeSet<_> = of_key.iter().map(|sent| sent.message_id).collect();
        assert_eq!(ids.len(), 1, "{group:?}");
        assert_eq!(of_key.iter().filter(|sent| !sent.duplicate).count(), 1, "{group:?}");
        let refused = [first, second, other].into_iter().filter_map(|answer| answer.as_ref().err());
        for error in refused {
            assert_eq!(error.name(), ErrorName::IdempotencyMismatch, "{error}");
        }
        assert!(free.is_ok());
    }
    assert_eq!(node.get("asleep").status.waiting_messages, 40);
    node.verify();
}

//! Taps: live, in words, and never in anybody's way.

use std::collections::BTreeSet;

use edgeplane_testkit::{Connection, Node};
use serde_json::{Value, json};

use super::{call, ended, run, tell};

fn steps(tap: &mut Connection, until: &str) -> Vec<Value> {
    let mut seen = Vec::new();
    loop {
        let notification = tap.notification().unwrap();
        assert_eq!(notification.method, "observe/tap");
        seen.push(notification.params.clone());
        if notification.params["type"] == until {
            return seen;
        }
    }
}

/// Proves TRACE-017.
#[test]
fn tap_tells_in_words_what_its_filters_let_through() {
    let node = Node::start();
    run(&node, "coder", "");
    run(&node, "other", "");
    let mut tap = node.connect();
    let id = tap.try_raw("observe/tap.open", json!({ "agent": "coder" })).unwrap()["tap_id"].clone();
    let mut of_asks = node.connect();
    let filter = json!({ "operations": ["runtime/agent.ask"] });
    of_asks.try_raw("observe/tap.open", filter).unwrap();
    tell(&node, "other", "say nothing to see");
    let message = tell(&node, "coder", "say secret words");
    let told = steps(&mut tap, "turn.completed");
    assert!(told.iter().all(|step| step["agent"] == "coder" && step["tap_id"] == id), "{told:#?}");
    let texts: Vec<&str> = told.iter().map(|step| step["text"].as_str().unwrap()).collect();
    assert!(texts[0].starts_with("message from uid-"), "{texts:?}");
    assert!(texts.iter().any(|text| text.starts_with("turn over (end_turn)")), "{texts:?}");
    assert!(!told.iter().any(|step| step.to_string().contains("secret")), "no content is shown");
    let trace = ended(&node, &message)["trace_id"].clone();
    assert!(told.iter().all(|step| step["trace_id"] == trace), "{told:#?}");

    let asked = json!({ "agent": "coder", "parts": [{ "type": "text", "text": "say yes" }] });
    call(&node, "runtime/agent.ask", asked);
    let told = steps(&mut of_asks, "turn.completed");
    assert!(told.iter().all(|step| step["operation"] == "runtime/agent.ask"), "{told:#?}");
    tap.try_raw("observe/tap.close", json!({ "subscription_id": id })).unwrap();
    let error = tap.try_raw("observe/tap.close", json!({ "subscription_id": id })).unwrap_err();
    assert_eq!(error.name().as_str(), "not_found");
}

/// Proves TRACE-017.
#[test]
fn tap_that_nobody_reads_slows_nothing_and_counts_what_it_left_out() {
    let node = Node::start();
    run(&node, "coder", "");
    let mut stalled = node.connect();
    stalled.try_raw("observe/tap.open", json!({})).unwrap();
    // More than every buffer on the way holds.
    let mut connection = node.connect();
    for number in 0..3_000_u32 {
        let key = format!("k{}", number % 10);
        connection
            .try_raw("memory/entry.put", json!({ "agent": "coder", "key": key, "value": number }))
            .unwrap();
    }
    let (mut told, mut missed) = (BTreeSet::new(), 0);
    while missed == 0 {
        let step = stalled.notification().unwrap().params;
        missed = step["missed"].as_u64().unwrap_or(0);
        assert!(told.insert(step["pos"].as_u64().unwrap()), "told once");
        if told.len() % 64 == 0 {
            // Something to tell how much was left out with.
            connection
                .try_raw("memory/entry.put", json!({ "agent": "coder", "key": "again", "value": told.len() }))
                .unwrap();
        }
    }
    assert!(missed > 0 && u64::try_from(told.len()).unwrap() < 3_000);
}

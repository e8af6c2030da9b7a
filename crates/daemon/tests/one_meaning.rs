//! One script over every binding: the same sentences have the same meaning, whoever carries them.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends at once")]

#[path = "one_meaning/plain.rs"]
mod plain;
#[path = "one_meaning/script.rs"]
mod script;

use edgeplane_testkit::{Node, NodeOptions, binding::Subscription};
use edgeplane_types::{Scope, TokenKind};
use serde_json::{Value, json};

use crate::{
    plain::plain,
    script::{Talk, run},
};

/// What is followed while the script runs, and what each follower sees of it.
fn followed() -> [Value; 5] {
    let whole = json!({ "from": "start" });
    let types = json!({ "from": "start", "types": ["message.*", "turn.*"] });
    let agent = json!({ "from": "start", "target": { "kind": "node" }, "types": ["agent.*"] });
    let acknowledged = json!({ "from": "start", "max_inflight": 10_000 });
    let actions = json!({ "from": "start", "projection": "actions.pending" });
    [whole, types, agent, acknowledged, actions]
}

/// What one binding said: each call with its answer, and each subscription with what it saw.
struct Heard {
    name: &'static str,
    calls: Vec<String>,
    streams: Vec<Vec<Value>>,
}

fn over(choose: usize) -> Option<Heard> {
    let node = Node::start_with(NodeOptions { env: Node::over_http(), ..NodeOptions::default() });
    let scopes =
        [Scope::Read, Scope::Signal, Scope::Attach, Scope::Control, Scope::Supervise, Scope::Approve];
    let token = node.token("carrier", TokenKind::Operator, &scopes, &[]);
    let mut bindings = node.access(&token.token).bindings();
    if choose >= bindings.len() {
        return None;
    }
    let mut binding = bindings.swap_remove(choose);
    let mut streams: Vec<Box<dyn Subscription>> =
        followed().into_iter().map(|params| binding.subscribe(params).unwrap()).collect();
    let mut talk = Talk::new(&node, binding.as_mut());
    run(&mut talk);
    let calls = talk.said;
    assert!(calls.len() >= 60, "the script has {} calls", calls.len());
    let followed = followed();
    let streams = followed.iter().zip(&mut streams);
    let streams = streams.map(|(params, stream)| seen(&node, params, stream.as_mut())).collect();
    Some(Heard { name: binding.name(), calls, streams })
}

/// All that a subscription sees until the last entry that there is when the script is over.
fn seen(node: &Node, params: &Value, stream: &mut dyn Subscription) -> Vec<Value> {
    let mut newest = json!({ "newest": true, "limit": 1 });
    for field in ["projection", "target", "types"] {
        if let Some(value) = params.get(field) {
            newest[field] = value.clone();
        }
    }
    let newest = node.connect().try_raw("stream/replay", newest).unwrap();
    let last = newest["items"][0]["n"].as_u64().unwrap();
    let mut seen = Vec::new();
    while let Some(next) = stream.next() {
        if next.method == "stream/event" {
            seen.push(plain(&next.params, node));
            if next.params["n"].as_u64().unwrap() >= last {
                return seen;
            }
        }
    }
    seen
}

/// Proves BIND-001.
#[test]
fn same_sentence_has_the_same_meaning_over_every_binding() {
    let heard: Vec<Heard> = (0..).map_while(over).collect();
    assert!(heard.len() >= 5, "{} bindings", heard.len());
    let first = &heard[0];
    for other in &heard[1..] {
        for (ours, theirs) in first.calls.iter().zip(&other.calls) {
            assert_eq!(ours, theirs, "{} and {}", first.name, other.name);
        }
        assert_eq!(first.calls.len(), other.calls.len(), "{} and {}", first.name, other.name);
        assert_eq!(first.streams, other.streams, "{} and {}", first.name, other.name);
    }
}

//! One script over every binding: the same sentences have the same meaning, whoever carries them.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on ends at once")]
#![expect(clippy::needless_pass_by_value, reason = "`json!` makes values")]

#[path = "one_meaning/plain.rs"]
mod plain;
#[path = "one_meaning/script.rs"]
mod script;

use edgeplane_testkit::{Node, NodeOptions, binding::Subscription};
use edgeplane_types::Scope;
use serde_json::{Value, json};

use crate::{
    plain::plain,
    script::{Talk, run},
};

/// What one binding said: each call with its answer, and each subscription with what it saw.
struct Heard {
    name: &'static str,
    calls: Vec<String>,
    streams: Vec<Vec<Value>>,
}

/// Runs the script over one of the bindings, on a node of its own.
fn over(choose: usize) -> Option<Heard> {
    let node = Node::start_with(NodeOptions { env: Node::over_http(), ..NodeOptions::default() });
    let scopes =
        [Scope::Read, Scope::Signal, Scope::Attach, Scope::Control, Scope::Supervise, Scope::Approve];
    let token = node.remote_token("carrier", &scopes, &[]);
    let mut bindings = node.access(&token.token).bindings();
    if choose >= bindings.len() {
        return None;
    }
    let binding = bindings.swap_remove(choose);
    let name = binding.name();
    let mut talk = Talk::new(&node, binding);
    run(&mut talk);
    let Talk { said: calls, followed, .. } = talk;
    let streams = followed.into_iter().map(|(params, mut stream)| seen(&node, &params, stream.as_mut()));
    let streams = streams.collect();
    node.verify();
    Some(Heard { name, calls, streams })
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
    let last = newest["items"][0]["n"].as_u64().unwrap_or_else(|| panic!("{params}: {newest}"));
    let mut seen = vec![plain(stream.answer(), node)];
    while let Some(next) = stream.next() {
        if next.method == "stream/event" {
            seen.push(plain(&next.params, node));
            if next.params["n"].as_u64().unwrap() >= last {
                return seen;
            }
        } else {
            assert_eq!(next.method, "stream/state", "{params}: {}", next.params);
        }
    }
    panic!("{params}: ended before {last}");
}

/// Proves PROT-001, BIND-002, BIND-030, STRM-010.
#[test]
fn same_sentence_has_the_same_meaning_over_every_binding() {
    let heard: Vec<Heard> = (0..).map_while(over).collect();
    let names: Vec<&str> = heard.iter().map(|heard| heard.name).collect();
    assert_eq!(names, ["unix", "http", "path", "sse", "ws", "stdio"]);
    let (first, others) = heard.split_first().unwrap();
    assert!(first.calls.len() >= 60, "the script has {} calls", first.calls.len());
    assert!(first.streams.len() >= 5, "the script has {} subscriptions", first.streams.len());
    for (number, stream) in first.streams.iter().enumerate() {
        assert!(stream.len() >= 4, "subscription {number} saw {stream:#?}");
    }
    for other in others {
        let names = format!("{} and {}", first.name, other.name);
        for (ours, theirs) in first.calls.iter().zip(&other.calls) {
            assert_eq!(ours, theirs, "{names}");
        }
        assert_eq!(first.calls.len(), other.calls.len(), "{names}");
        for (number, (ours, theirs)) in first.streams.iter().zip(&other.streams).enumerate() {
            for (ours, theirs) in ours.iter().zip(theirs) {
                assert_eq!(ours, theirs, "subscription {number}, {names}");
            }
            assert_eq!(ours.len(), theirs.len(), "subscription {number}, {names}");
        }
        assert_eq!(first.streams.len(), other.streams.len(), "{names}");
    }
}

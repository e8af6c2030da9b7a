//! What is published on a topic comes to those that subscribe to it.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends at once")]

use edgeplane_testkit::{Connection, Node, native, terminal, wait::eventually};
use edgeplane_types::{ErrorName, Phase};
use edgeplane_wire::{api::message::SpreadResult, catalogue::AgentRetire};
use serde_json::{Value, json};

fn publish(connection: &mut Connection, topic: &str, more: &Value) -> SpreadResult {
    let mut params = json!({ "topic": topic, "parts": [{ "type": "text", "text": "1.4 is out" }] });
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    serde_json::from_value(connection.try_raw("runtime/topic.publish", params).unwrap()).unwrap()
}

fn names(result: &SpreadResult) -> Vec<&str> {
    result.items.iter().map(|item| item.agent.as_str()).collect()
}

fn subscriber(name: &str, topics: &str, more: &str) -> String {
    terminal(name, &["/bin/cat"], &format!("run: stopped\nsubscriptions: [{topics}]\n{more}"))
}

/// Proves MSG-067.
#[test]
fn subscribers_and_nobody_else_get_what_is_published() {
    let mut node = Node::start();
    node.apply(&subscriber("both", "releases, incidents", ""));
    node.apply(&subscriber("full", "releases", "inbox: { max: 1 }"));
    node.apply(&subscriber("gone", "releases", ""));
    node.apply(&terminal("deaf", &["/bin/cat"], "run: stopped"));
    node.change::<AgentRetire>("gone").unwrap();
    node.signal("full", "one waits", None);
    let more = json!({ "idempotency_key": "1.4", "priority": "high" });
    let first = publish(&mut node.connect(), "releases", &more);
    assert_eq!(names(&first), ["both", "full"]);
    assert_eq!(first.items[1].error, Some(ErrorName::Backpressure));
    let view = node.inbox("both").pop().unwrap();
    assert_eq!((view.ingress.as_str(), view.topic.unwrap().as_str()), ("topic", "releases"));
    assert!(node.inbox("deaf").is_empty());
    assert!(publish(&mut node.connect(), "weather", &json!({})).items.is_empty());

    // Who subscribes is known to the next daemon, and a key holds there.
    node.apply(&subscriber("full", "releases", "inbox: { max: 9 }"));
    node.kill_daemon();
    node.up();
    let again = publish(&mut node.connect(), "releases", &more);
    assert_eq!((again.items[0].duplicate, again.items[1].duplicate), (true, false));
    assert_eq!(again.items[0].message_id, first.items[0].message_id);
    // A changed manifest holds from then on.
    node.apply(&subscriber("both", "incidents", ""));
    assert_eq!(names(&publish(&mut node.connect(), "releases", &json!({}))), ["full"]);
    node.verify();
}

/// Proves MSG-067.
#[test]
fn agent_does_not_hear_itself_and_says_each_line_once() {
    let mut node = Node::start();
    node.apply(&subscriber("ear", "news", ""));
    let line = r#"{"jsonrpc":"2.0","id":1,"method":"runtime/topic.publish","params":{"topic":"news","parts":[{"type":"text","text":"new"}]}}"#;
    let log = node.scratch().join("log");
    let program = format!("echo '{line}'; exec cat > {}", log.display());
    node.run("mouth", &native("mouth", &["/bin/sh", "-c", &program], "subscriptions: [news]"));
    let read = || std::fs::read_to_string(&log).unwrap_or_default();
    eventually("it is told what became of it", || read().contains(r#""items":[{"agent":"ear""#));
    node.kill_daemon();
    node.up();
    node.wait("mouth", Phase::Running);
    // The next line is handled after the first one was looked at again.
    node.signal("mouth", "x", Some(edgeplane_types::Rung::Injected));
    assert_eq!((node.inbox("ear").len(), node.inbox("mouth").len()), (1, 1));
    let heard = node.inbox("ear").remove(0);
    assert_eq!((heard.source.as_str(), heard.channel.as_str()), ("mouth", "peer"));
    node.verify();
}

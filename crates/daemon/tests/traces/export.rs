//! What leaves the process: the same as the record says, and never at the node's cost.

use edgeplane_os::{Clock as _, SystemClock};
use edgeplane_testkit::{Connection, Node, NodeOptions, wait::eventually};
use serde_json::json;

use super::{
    call,
    collector::{Collector, attribute, hex},
    command, ended, run, spans, tell,
};

fn node(collector: &Collector) -> Node {
    let env = vec![
        ("OTEL_EXPORTER_OTLP_ENDPOINT".to_owned(), collector.endpoint()),
        ("EDGEPLANE_LOG".to_owned(), "info,edgeplane_node=debug".to_owned()),
    ];
    Node::start_with(NodeOptions { env, ..NodeOptions::default() })
}

/// Proves TRACE-013, TRACE-018, PROT-002.
#[test]
fn one_query_by_trace_rebuilds_the_whole_path() {
    let collector = Collector::start();
    let mut node = node(&collector);
    run(&node, "a", "");
    run(&node, "b", "");
    let cli = node.binaries().cli.to_string_lossy().into_owned();
    let asks = command(&cli, &json!(["ask", "b", "--content", "say very secret words"]));
    let id = tell(&node, "a", &asks);
    let trace = ended(&node, &id);
    let trace_id = trace["trace_id"].as_str().unwrap().to_owned();
    let recorded = trace["spans"].as_array().unwrap();
    eventually("all spans have arrived", || collector.of_trace(&trace_id).0.len() >= recorded.len());

    let (exported, lines) = collector.of_trace(&trace_id);
    for span in recorded {
        let same: Vec<_> =
            exported.iter().filter(|other| span["span_id"] == json!(hex(&other.span_id))).collect();
        assert_eq!(same.len(), 1, "{span}");
        assert_eq!(span["name"], json!(same[0].name));
        let parent = span.get("parent").map_or(String::new(), |parent| parent.as_str().unwrap().to_owned());
        assert_eq!(hex(&same[0].parent_span_id), parent, "{span}");
    }
    let calls = |name: &str| exported.iter().filter(|span| span.name == name && span.kind == 2).count();
    assert_eq!((calls("runtime/agent.signal"), calls("runtime/agent.ask")), (1, 1));
    // Who and what, on everything: spans, lines and the events of the record.
    for span in &exported {
        for name in ["rt.operation", "user.id"] {
            assert!(attribute(&span.attributes, name).is_some(), "{name} is not on {span:?}");
        }
    }
    eventually("lines have arrived", || !collector.of_trace(&trace_id).1.is_empty());
    for line in lines.iter().chain(&collector.of_trace(&trace_id).1) {
        for name in ["rt.operation", "user.id"] {
            assert!(attribute(&line.attributes, name).is_some(), "{name} is not on {line:?}");
        }
    }
    for agent in ["a", "b"] {
        let events = node.history(agent).into_iter().map(|event| event.event);
        let of_message = |event: &serde_json::Value| {
            event["type"].as_str().is_some_and(|kind| kind.starts_with("message."))
        };
        for event in events.filter(of_message).filter(|event| event["type"] != "message.observed") {
            assert!(
                event["trace"]["operation"].is_string() && event["trace"]["user_id"].is_string(),
                "{event}"
            );
        }
    }
    // What goes on after its answer is a span when it is over.
    let mut following = node.connect();
    let subscription = following.try_raw("stream/subscribe", json!({})).unwrap()["subscription_id"].clone();
    following.try_raw("stream/unsubscribe", json!({ "subscription_id": subscription })).unwrap();
    eventually("its span has arrived", || collector.all().contains("stream/subscribe until its end"));
    // What was said is nobody's business, and a label is no place for an id.
    node.stop_daemon();
    eventually("metrics were sent at the end", || !collector.metrics().is_empty());
    assert!(!collector.all().contains("secret"), "content was exported");
    let metrics = collector.metrics();
    for name in ["rpc.server.call.duration", "gen_ai.invoke_agent.duration", "gen_ai.execute_tool.duration"] {
        assert!(metrics.iter().any(|(other, _)| other == name), "{name} is not in {metrics:?}");
    }
    for (name, labels) in &metrics {
        let is_id =
            |text: &str| ["msg_", "agt_", "trn_", "itm_", &trace_id].iter().any(|id| text.contains(id));
        assert!(!is_id(&format!("{labels:?}")), "{name}: {labels:?}");
    }
}

/// The milliseconds that 500 calls take.
fn health_calls(connection: &mut Connection) -> u64 {
    let begin = SystemClock.monotonic_ms();
    for _ in 0..500 {
        connection.try_raw("core/health", json!({})).unwrap();
    }
    SystemClock.monotonic_ms() - begin
}

/// Proves TRACE-014.
#[test]
fn collector_that_never_answers_costs_nothing() {
    let collector = Collector::that_never_answers();
    let mut node = node(&collector);
    run(&node, "coder", "");
    let mut connection = node.connect();
    eventually("it was sent something", || {
        connection.try_raw("core/health", json!({})).unwrap();
        collector.posts() > 0
    });
    // More than its queues hold, while it holds on to what it was sent; beside a node that tells nobody, in turns, so
    // that both meet the same machine.
    let plain = Node::start();
    let mut beside = plain.connect();
    let (mut told, mut untold) = (0, 0);
    for _ in 0..10 {
        told += health_calls(&mut connection);
        untold += health_calls(&mut beside);
    }
    assert!(told < untold * 3 + 5_000, "{told} ms where a collector is named, {untold} ms where none is");
    let id = tell(&node, "coder", "say done");
    assert_eq!(spans(&ended(&node, &id), "turn").len(), 1);
    let begin = SystemClock.monotonic_ms();
    node.stop_daemon();
    let took = SystemClock.monotonic_ms() - begin;
    assert!(took < 25_000, "{took} ms");
}

/// Proves TRACE-014.
#[test]
fn nobody_is_told_where_no_collector_is_named() {
    let node = Node::start();
    run(&node, "coder", "");
    let id = tell(&node, "coder", "say done");
    ended(&node, &id);
    call(&node, "core/health", json!({}));
}

//! Answers that go on: server-sent events.

use edgeplane_testkit::{
    peers::{allow, question, run_peer, with},
    terminal,
    web::{Event, Events},
};
use edgeplane_types::{Scope, TokenKind};
use edgeplane_wire::{api::security::RevokeParams, catalogue::TokenRevoke};
use serde_json::{Value, json};

use super::{Client, listening, refusal};

fn stream(
    access: &edgeplane_testkit::binding::Access,
    query: &str,
    more: &[(&str, &str)],
) -> Events<std::net::TcpStream> {
    let mut client = Client::new(access);
    client.begin(&format!("GET /v1/stream{query}"), more, b"");
    let head = client.web.head().unwrap();
    assert_eq!((head.status, head.header("content-type")), (200, Some("text/event-stream")));
    assert_eq!(head.header("content-encoding"), None);
    Events::of(client.web)
}

/// The next event that is more than word of how the stream is.
fn next(events: &mut Events<std::net::TcpStream>) -> Event {
    loop {
        let event = events.next_event().unwrap().unwrap();
        if event.event != "stream/state" {
            return event;
        }
    }
}

fn pos(event: &Event) -> u64 {
    assert_eq!(event.event, "stream/event");
    let data: Value = serde_json::from_str(&event.data).unwrap();
    data["event"]["pos"].as_u64().unwrap()
}

/// Proves BIND-031.
#[test]
fn reader_goes_on_where_it_was() {
    let (node, access) = listening();
    node.apply(&terminal("listener", &["/bin/cat"], "run: stopped"));
    for word in ["one", "two", "three"] {
        node.signal("listener", word, None);
    }
    let expected: Vec<u64> = node.history("listener").iter().map(|event| event.pos).collect();
    let mut events =
        stream(&access, "?target.kind=agent&target.id=listener&from=start", &[("Accept-Encoding", "gzip")]);
    let subscribed = next(&mut events);
    assert_eq!((subscribed.event.as_str(), subscribed.id.is_some()), ("subscribed", true));
    let mut last = subscribed.id;
    // Each event on a connection of its own, each of them the next one: the address is always the same.
    for (index, expected) in expected.iter().enumerate() {
        drop(events);
        let id = last.clone().unwrap();
        events =
            stream(&access, "?target.kind=agent&target.id=listener&from=start", &[("Last-Event-ID", &id)]);
        assert_eq!(next(&mut events).id, last, "who was cut off before the first event goes on as well");
        let event = next(&mut events);
        assert_eq!(pos(&event), *expected, "{index}");
        let data: Value = serde_json::from_str(&event.data).unwrap();
        assert_eq!(event.id.as_deref(), data["cursor"].as_str(), "{index}");
        last = event.id;
    }
    node.signal("listener", "four", None);
    let event = next(&mut events);
    assert!(pos(&event) > *expected.last().unwrap());
}

/// Proves BIND-030.
#[test]
fn subscription_that_cannot_be_is_refused_with_a_status() {
    let (_node, access) = listening();
    for (query, more, expected) in [
        ("?target.kind=agent&target.id=nobody", None, (404, "not_found")),
        ("?agent=nobody", None, (400, "invalid_params")),
        ("?colour=red", None, (400, "invalid_params")),
        ("?after=soon", None, (400, "invalid_params")),
        ("?after=1&after=2", None, (400, "invalid_params")),
        ("", Some(("Last-Event-ID", "x")), (400, "invalid_params")),
        ("", Some(("X-EdgePlane-Tenant", "other")), (404, "not_found")),
        ("", Some(("Authorization", "Bearer x")), (401, "unauthenticated")),
    ] {
        let more: Vec<(&str, &str)> = more.into_iter().collect();
        let (status, name) = refusal(&access, &format!("GET /v1/stream{query}"), &more, b"");
        assert_eq!((status, name.as_str()), expected, "{query} {more:?}");
    }
}

/// Proves BIND-033.
#[test]
fn stream_says_why_it_ends() {
    let (mut node, access) = listening();
    let short = node.token("reports", TokenKind::Service, &[Scope::Read], &[]);
    let mut revoked = stream(&node.access(&short.token), "", &[]);
    let mut ended = stream(&access, "", &[]);
    for events in [&mut revoked, &mut ended] {
        assert_eq!(next(events).event, "subscribed");
    }
    node.connect().call::<TokenRevoke>(&RevokeParams { token_id: short.token_id, reason: "lost".into() });
    let end = |events: &mut Events<std::net::TcpStream>| loop {
        let event = events.next_event().unwrap().unwrap();
        let said: Value = serde_json::from_str(&event.data).unwrap();
        if event.event == "stream/state" && said["state"] == "ended" {
            assert_eq!(events.next_event().unwrap(), None, "nothing stands behind the end");
            break said;
        }
    };
    assert_eq!(end(&mut revoked)["state"], "ended");
    node.stop_daemon();
    let said = end(&mut ended);
    assert_eq!((&said["state"], &said["reason"]), (&json!("ended"), &json!("the daemon ends")));
    assert!(said["id"].as_str().unwrap().starts_with("sub_"));
}

/// Proves BIND-032.
#[test]
fn call_is_answered_in_events_where_they_are_wanted() {
    let (node, access) = listening();
    run_peer(&node, "helper", "");
    allow(&node, "go");
    let params = with(question("helper", "items"), &json!({ "stream": true }));
    let rpc =
        json!({ "jsonrpc": "2.0", "id": "q", "method": "runtime/agent.ask", "params": params }).to_string();
    let mut client = Client::new(&access);
    client.begin("POST /v1/rpc", &[("Accept", "text/event-stream, application/json;q=0.1")], rpc.as_bytes());
    assert_eq!(client.web.head().unwrap().header("content-type"), Some("text/event-stream"));
    let mut events = Events::of(client.web);
    let mut heard = Vec::new();
    while let Some(event) = events.next_event().unwrap() {
        heard.push(event);
    }
    let response = heard.pop().unwrap();
    assert!(heard.len() >= 2 && heard.iter().all(|event| event.event == "ask/part"), "{heard:?}");
    assert_eq!(response.event, "response");
    let response: Value = serde_json::from_str(&response.data).unwrap();
    assert_eq!((&response["id"], &response["result"]["agent"]), (&json!("q"), &json!("helper")));
    // What is refused is a response as well, and who prefers a document gets one.
    for (accept, kind) in [
        ("text/event-stream", "text/event-stream"),
        ("application/json, text/event-stream", "application/json"),
        ("*/*", "application/json"),
    ] {
        let rpc = json!({ "jsonrpc": "2.0", "id": 1, "method": "runtime/agent.fly" }).to_string();
        let answer = Client::new(&access).ask("POST /v1/rpc", &[("Accept", accept)], rpc.as_bytes());
        assert_eq!((answer.status(), answer.head.header("content-type")), (200, Some(kind)), "{accept}");
        assert!(String::from_utf8(answer.body).unwrap().contains("method_not_found"));
    }
}

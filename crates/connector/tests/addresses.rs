//! Servers at an address, of both generations, honest and not; and a program of the newer generation.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on ends at once")]

#[path = "hostile/bench.rs"]
#[expect(dead_code, reason = "what is hostile needs more of it")]
mod bench;

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse as _, Response},
    routing::post,
};
use bench::Bench;
use edgeplane_connector::{Address, Call, Connector, Effect, Failure, Limits, Listening, OfferKind, Target};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// How a server behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Older,
    Newer,
    Huge,
    Silent,
}

async fn answer(State(way): State<Way>, headers: HeaderMap, body: Bytes) -> Response {
    let bearer = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    if bearer != Some("Bearer open-sesame") || headers.get("x-team").is_none() {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    let asked: Value = serde_json::from_slice(&body).unwrap();
    let id = asked["id"].clone();
    if id.is_null() {
        return StatusCode::ACCEPTED.into_response();
    }
    let is_newer = way == Way::Newer;
    let result = match asked["method"].as_str().unwrap() {
        "server/discover" if is_newer => json!({
            "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} },
            "ttlMs": 0, "cacheScope": "private",
        }),
        "initialize" if !is_newer => json!({
            "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
            "serverInfo": { "name": "older", "version": "1" },
        }),
        "tools/list" => {
            let schema = json!({ "type": "object", "properties": { "text": { "type": "string" } } });
            let tools = json!([{ "name": "echo", "inputSchema": schema }]);
            json!({ "resultType": "complete", "tools": tools, "ttlMs": 0, "cacheScope": "private" })
        }
        "tools/call" => match way {
            Way::Silent => std::future::pending().await,
            Way::Huge => json!({ "content": [{ "type": "text", "text": "x".repeat(20 << 20) }] }),
            Way::Older | Way::Newer => {
                let text = asked["params"]["arguments"]["text"].clone();
                json!({ "resultType": "complete", "content": [{ "type": "text", "text": text }] })
            }
        },
        _ => {
            let error = json!({ "code": -32601, "message": "no such method" });
            let answer = json!({ "jsonrpc": "2.0", "id": id, "error": error });
            return ([(header::CONTENT_TYPE, "application/json")], answer.to_string()).into_response();
        }
    };
    let answer = json!({ "jsonrpc": "2.0", "id": id, "result": result });
    ([(header::CONTENT_TYPE, "application/json")], answer.to_string()).into_response()
}

async fn listen(way: Way) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let router = Router::new().route("/mcp", post(answer)).with_state(way);
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    url
}

fn connector(url: String, bearer: &str) -> Connector {
    let headers = vec![("x-team".to_owned(), "red".to_owned())];
    let target = Target::Address(Address { url, bearer: Some(bearer.to_owned()), oauth: None, headers });
    Connector::new(Arc::new(move || Ok(target.clone())), Limits::standard())
}

async fn echo(connector: &Connector, timeout: Duration) -> Result<String, edgeplane_connector::CallFailure> {
    let inventory = connector.inventory().await.unwrap();
    let digest = inventory.find(OfferKind::Tool, "echo").unwrap().digest.clone();
    let call = Call { timeout, ..bench::call("echo", &json!({ "text": "hello" })) };
    let said = connector.call(call, &digest, &CancellationToken::new(), Listening::default()).await?;
    Ok(said.value["content"][0]["text"].as_str().unwrap().to_owned())
}

/// Proves CAP-009.
#[tokio::test(flavor = "multi_thread")]
async fn both_generations_are_spoken_over_http() {
    for (way, protocol) in [(Way::Newer, "2026-07-28"), (Way::Older, "2025-11-25")] {
        let connector = connector(listen(way).await, "open-sesame");
        assert_eq!(echo(&connector, Duration::from_secs(20)).await.as_deref(), Ok("hello"), "{way:?}");
        assert_eq!(connector.standing().await.protocol.as_deref(), Some(protocol));
        connector.stop().await;
    }
}

/// Proves CAP-009.
#[tokio::test(flavor = "multi_thread")]
async fn both_generations_are_spoken_to_a_program() {
    for (mode, protocol) in [("modern", "2026-07-28"), ("plain", "2025-11-25")] {
        let bench = Bench::new(mode);
        let text = json!({ "text": "hello" });
        let said = bench.call(bench::call("echo", &text)).await.unwrap();
        assert_eq!(said.value["content"][0]["text"], "hello", "{mode}");
        let read = Call {
            kind: OfferKind::Resource,
            native_id: "memo://one".to_owned(),
            ..bench::call("", &json!({}))
        };
        let digest =
            bench.connector.inventory().await.unwrap().find(read.kind, "memo://one").unwrap().digest.clone();
        assert_eq!(bench.call_as(read, &digest).await.unwrap().value["contents"][0]["text"], "one");
        let who = json!({ "who": "you" });
        let greet = Call { kind: OfferKind::Prompt, native_id: "greet".to_owned(), ..bench::call("", &who) };
        let digest =
            bench.connector.inventory().await.unwrap().find(greet.kind, "greet").unwrap().digest.clone();
        let said = bench.call_as(greet, &digest).await.unwrap();
        assert_eq!(said.value["messages"][0]["content"]["text"], "Hello, you");
        let standing = bench.connector.standing().await;
        assert_eq!((standing.protocol.as_deref(), standing.opened), (Some(protocol), 1));
        // Nothing of ours is handed down but what it was given.
        let said = bench.call(bench::call("variables", &json!({}))).await.unwrap();
        let names = said.value["content"][0]["text"].as_str().unwrap().to_owned();
        let ours = |name: &&str| *name == "HOME" || name.starts_with("CARGO") || name.starts_with("NEXTEST");
        assert_eq!(names.split(' ').find(ours), None, "{names}");
    }
}

/// Proves CAP-010.
#[tokio::test(flavor = "multi_thread")]
async fn address_that_does_not_let_us_in_says_so() {
    let failure = connector(listen(Way::Older).await, "wrong").inventory().await.unwrap_err();
    assert!(matches!(failure, Failure::Unauthorized(_)), "{failure}");
    assert!(!failure.to_string().contains("wrong"), "{failure}");
    let failure = connector("http://127.0.0.1:1/mcp".to_owned(), "x").inventory().await.unwrap_err();
    assert!(matches!(failure, Failure::Greeting(_)), "{failure}");
}

/// Proves CAP-010, CAP-011.
#[tokio::test(flavor = "multi_thread")]
async fn address_that_answers_too_much_or_nothing_costs_one_call() {
    let huge = connector(listen(Way::Huge).await, "open-sesame");
    let failure = echo(&huge, Duration::from_secs(20)).await.unwrap_err();
    assert_eq!(failure.effect(), Effect::Unknown, "{failure}");
    let silent = connector(listen(Way::Silent).await, "open-sesame");
    let failure = echo(&silent, Duration::from_millis(300)).await.unwrap_err();
    assert_eq!(failure, edgeplane_connector::CallFailure::Late(Duration::from_millis(300)));
}

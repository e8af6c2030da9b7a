//! Calls in one request: statuses, credentials, contexts, and conversations that calls share.

use std::io::{Read as _, Write as _};

use edgeplane_testkit::{terminal, wait::eventually};
use edgeplane_types::{ErrorName, Scope, TokenKind};
use edgeplane_wire::{
    api::security::{CreateParams, RevokeParams},
    catalogue::{TokenCreate, TokenRevoke},
};
use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use serde_json::{Value, json};

use super::{Client, listening, refusal};

/// A call that the node works on until its time is over.
fn long_call(milliseconds: u64) -> Value {
    json!({ "agent": "listener", "phases": ["running"], "timeout_ms": milliseconds })
}

/// Proves BIND-003.
#[test]
fn call_by_its_path_has_the_status_of_its_error() {
    let (node, access) = listening();
    node.apply(&terminal("listener", &["/bin/cat"], "run: stopped"));
    let mut client = Client::new(&access);
    for (path, body, name) in [
        ("/v1/runtime/agent.get", json!({ "agent": "nobody" }), ErrorName::NotFound),
        ("/v1/runtime/agent.get", json!({}), ErrorName::InvalidParams),
        ("/v1/runtime/agent.fly", json!({}), ErrorName::MethodNotFound),
        ("/v1/runtime/agent.stop", json!({ "agent": "listener" }), ErrorName::PermissionDenied),
        ("/v1/runtime/agent.wait", long_call(1), ErrorName::DeadlineExceeded),
        ("/v1/evidence/replay.run", json!({}), ErrorName::Unsupported),
        ("/v1/runtime/agent.list", json!({ "ctx": { "tenant": "other" } }), ErrorName::NotFound),
    ] {
        let answer = client.post(path, &body);
        assert_eq!(
            (answer.status(), answer.error_name()),
            (name.http_status(), name.as_str().into()),
            "{path}"
        );
        assert_eq!(answer.json()["code"], name.code());
        assert_eq!(answer.head.header("content-type"), Some("application/json"));
    }
    let answer = client.post("/v1/runtime/agent.get", &json!({ "agent": "listener" }));
    assert_eq!((answer.status(), &answer.json()["metadata"]["name"]), (200, &json!("listener")));
    // Without parameters there may be no body at all.
    assert_eq!(client.ask("POST /v1/core/health", &[("Content-Type", "")], b"").status(), 200);
    assert_eq!(client.ask("POST /v1/core/health", &[], b"{").error_name(), "parse_error");
    assert_eq!(client.ask("GET /v1/core/health", &[], b"").status(), 405);
    assert_eq!(client.ask("POST /v1/core", &[], b"{}").status(), 404);
}

/// Proves BIND-004.
#[test]
fn message_is_one_request() {
    let (_node, access) = listening();
    let mut client = Client::new(&access);
    let request = json!({ "jsonrpc": "2.0", "id": "a-1", "method": "core/health" });
    let answer = client.ask("POST /v1/rpc", &[], serde_json::to_string_pretty(&request).unwrap().as_bytes());
    assert_eq!((answer.status(), &answer.json()["id"]), (200, &json!("a-1")));
    assert_eq!(answer.json()["result"]["status"], "ok");
    // What the node answers is an answer, also if it is a failure.
    let fly = json!({ "jsonrpc": "2.0", "id": 7, "method": "runtime/agent.fly", "params": {} });
    let answer = client.post("/v1/rpc", &fly);
    assert_eq!(
        (answer.status(), &answer.json()["id"], answer.error_name()),
        (200, &json!(7), "method_not_found".into())
    );
    for (body, name) in [
        (json!([request]), "invalid_request"),
        (json!([]), "invalid_request"),
        (json!({ "jsonrpc": "2.0", "method": "core/health" }), "invalid_request"),
        (json!({ "jsonrpc": "2.0", "id": 1, "result": {} }), "invalid_request"),
        (json!({ "id": 1, "method": "core/health" }), "invalid_request"),
        (json!({ "jsonrpc": "2.0", "id": { "a": 1 }, "method": "core/health" }), "invalid_request"),
        (json!("core/health"), "invalid_request"),
    ] {
        let answer = client.post("/v1/rpc", &body);
        assert_eq!((answer.status(), answer.error_name()), (400, name.into()), "{body}");
        assert_eq!(answer.json()["jsonrpc"], "2.0");
    }
    let answer = client.ask("POST /v1/rpc", &[], b"hello");
    assert_eq!((answer.status(), answer.error_name()), (400, "parse_error".into()));
}

/// Proves BIND-061.
#[test]
fn metrics_are_given_to_readers_as_prometheus_reads_them() {
    let (node, access) = listening();
    let mut client = Client::new(&access);
    assert_eq!(client.post("/v1/core/health", &json!({})).status(), 200);
    let answer = client.ask("GET /metrics", &[], b"");
    let kind = answer.head.header("content-type").unwrap();
    assert_eq!((answer.status(), kind), (200, "text/plain; version=0.0.4; charset=utf-8"));
    let text = String::from_utf8(answer.body).unwrap();
    let counted = text.lines().find(|line| {
        line.starts_with("rpc_server_call_duration_seconds_count") && line.contains("core/health")
    });
    let count: f64 = counted.unwrap().rsplit(' ').next().unwrap().parse().unwrap();
    assert!(count >= 1.0, "{text}");
    assert!(!text.contains(&access.token) && !text.contains("reports"), "{text}");

    let writer = node.token("writer", TokenKind::Service, &[Scope::Signal], &[]);
    let answer = Client::new(&node.access(&writer.token)).ask("GET /metrics", &[], b"");
    assert_eq!((answer.status(), answer.error_name()), (403, "permission_denied".into()));
    let answer = client.ask("GET /metrics", &[("Authorization", "")], b"");
    assert_eq!((answer.status(), answer.error_name()), (401, "unauthenticated".into()));
}

/// Proves BIND-005.
#[test]
fn token_that_counts_no_more_is_refused_at_once() {
    let (node, access) = listening();
    let lasting = node.token("reports", TokenKind::Service, &[Scope::Read], &[]);
    let short = node.connect().call::<TokenCreate>(&CreateParams {
        principal: "reports".parse().unwrap(),
        kind: TokenKind::Service,
        scopes: vec![Scope::Read],
        roles: Vec::new(),
        expires_in_ms: Some(1_500),
        remote: false,
    });
    let mut client = Client::new(&node.access(&lasting.token));
    let mut soon_over = Client::new(&node.access(&short.token));
    for _ in 0..3 {
        assert_eq!(client.post("/v1/runtime/agent.list", &json!({})).status(), 200);
        assert_eq!(client.post("/v1/core/initialize", &json!({})).json()["caller"]["principal"], "reports");
    }
    assert_eq!(soon_over.post("/v1/runtime/agent.list", &json!({})).status(), 200);
    let revoke = RevokeParams { token_id: lasting.token_id, reason: "lost".into() };
    node.connect().call::<TokenRevoke>(&revoke);
    let rpc = json!({ "jsonrpc": "2.0", "id": 1, "method": "core/health" });
    for (path, body) in [
        ("/v1/runtime/agent.list", json!({})),
        ("/v1/core/initialize", json!({})),
        ("/v1/core/health", json!({})),
        ("/v1/rpc", rpc),
    ] {
        let answer = client.post(path, &body);
        assert_eq!((answer.status(), answer.error_name()), (401, "unauthenticated".into()), "{path}");
        assert!(answer.head.header("www-authenticate").is_some());
    }
    eventually("a token that is over counts no more", || {
        soon_over.post("/v1/runtime/agent.list", &json!({})).status() == 401
    });
    // Others go on, and whoever shares their conversation cannot make it another's.
    let mut other = Client::new(&access);
    assert_eq!(other.post("/v1/runtime/agent.list", &json!({})).status(), 200);
    let answer = other.post("/v1/core/initialize", &json!({ "token": short.token }));
    assert_eq!((answer.status(), answer.error_name()), (400, "invalid_request".into()));
    assert_eq!(other.post("/v1/core/initialize", &json!({})).json()["caller"]["principal"], "reports");
}

/// Proves BIND-006.
#[test]
fn what_goes_on_behind_its_answer_wants_a_stream() {
    let (node, access) = listening();
    node.apply(&terminal("listener", &["/bin/cat"], "run: stopped"));
    let mut client = Client::new(&access);
    let question = json!({ "agent": "listener", "parts": [{ "type": "text", "text": "x" }], "stream": true });
    for (method, params) in [
        ("stream/subscribe", json!({})),
        ("runtime/agent.attach", json!({ "agent": "listener" })),
        ("runtime/agent.ask", question),
        ("capability/invoke", json!({ "capability": "tools/any", "input": {}, "mode": "streaming" })),
    ] {
        let rpc = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        for (path, body) in [("/v1/rpc".to_owned(), rpc), (format!("/v1/{method}"), params)] {
            let answer = client.post(&path, &body);
            assert_eq!((answer.status(), answer.error_name()), (501, "unsupported".into()), "{path}");
            let text = String::from_utf8(answer.body).unwrap();
            assert!(text.contains("/v1/stream") && text.contains("/v1/ws"), "{text}");
        }
    }
    assert!(node.inbox("listener").is_empty());
}

/// Somebody who has asked for what takes so long.
fn waiting_client(access: &edgeplane_testkit::binding::Access, milliseconds: u64) -> Client {
    let mut client = Client::new(access);
    client.begin("POST /v1/runtime/agent.wait", &[], long_call(milliseconds).to_string().as_bytes());
    client
}

/// Proves BIND-007.
#[test]
fn calls_of_one_bearer_do_not_wait_for_one_another() {
    let (node, access) = listening();
    node.apply(&terminal("listener", &["/bin/cat"], "run: stopped"));
    // More than the node works on in one conversation, and nobody waits for them any more.
    for _ in 0..4 {
        let gone: Vec<Client> = (0..40).map(|_| waiting_client(&access, 600_000)).collect();
        drop(gone);
        assert_eq!(Client::new(&access).post("/v1/core/health", &json!({})).status(), 200);
    }
    let mut waiting: Vec<Client> = (0..80).map(|_| waiting_client(&access, 5_000)).collect();
    let mut client = Client::new(&access);
    for number in 0..20 {
        let rpc = json!({ "jsonrpc": "2.0", "id": number, "method": "runtime/agent.get", "params": { "agent": "listener" } });
        let answer = client.post("/v1/rpc", &rpc);
        assert_eq!((answer.status(), &answer.json()["id"]), (200, &json!(number)));
    }
    for client in &mut waiting {
        assert_eq!(client.web.head().unwrap().status, ErrorName::DeadlineExceeded.http_status());
    }
    // What nobody waits for is no burden on the next calls either.
    assert_eq!(client.post("/v1/core/health", &json!({})).status(), 200);
}

/// Proves BIND-013, BIND-014.
#[test]
fn context_may_stand_in_headers() {
    let (node, access) = listening();
    node.apply(&terminal("listener", &["/bin/cat"], "run: stopped"));
    let mut client = Client::new(&access);
    let list = "POST /v1/runtime/agent.list";
    let answer = client.ask(list, &[("X-Request-Id", "r-1"), ("X-EdgePlane-Tenant", "local")], b"{}");
    assert_eq!((answer.status(), answer.head.header("x-request-id")), (200, Some("r-1")));
    assert_eq!(client.ask(list, &[("X-EdgePlane-Tenant", "other")], b"{}").error_name(), "not_found");
    let trace =
        [("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"), ("tracestate", "a=1")];
    assert_eq!(client.ask(list, &trace, b"{}").status(), 200);
    let body = json!({ "ctx": { "request_id": "r-2" } }).to_string();
    let answer = client.ask(list, &[("X-Request-Id", "r-1")], body.as_bytes());
    assert_eq!((answer.status(), answer.error_name()), (400, "invalid_request".into()));
    assert_eq!(client.ask(list, &[("X-Request-Id", "r-2")], body.as_bytes()).status(), 200);
    let rpc = json!({ "jsonrpc": "2.0", "id": 9, "method": "runtime/agent.list", "params": { "ctx": { "deadline_ms": 5 } } });
    let answer = client.ask("POST /v1/rpc", &[("X-Deadline-Ms", "6")], rpc.to_string().as_bytes());
    assert_eq!((answer.status(), &answer.json()["id"]), (400, &json!(9)));
    let signal = json!({ "agent": "listener", "parts": [{ "type": "text", "text": "once" }] }).to_string();
    let sent: Vec<Value> = (0..2)
        .map(|_| {
            let key = [("Idempotency-Key", "k-1")];
            client.ask("POST /v1/runtime/agent.signal", &key, signal.as_bytes()).json()["message_id"].clone()
        })
        .collect();
    assert!(sent[0].is_string() && sent[0] == sent[1], "{sent:?}");
    assert_eq!(node.inbox("listener").len(), 1);
    let wait = long_call(60_000).to_string();
    let answer = client.ask("POST /v1/runtime/agent.wait", &[("X-Deadline-Ms", "50")], wait.as_bytes());
    assert_eq!((answer.status(), answer.error_name()), (504, "deadline_exceeded".into()));
}

/// Proves BIND-012.
#[test]
fn bodies_may_be_compressed_both_ways() {
    let (_node, access) = listening();
    let mut client = Client::new(&access);
    let body = b"{\"profile\":\"runtime\"}";
    let plain = client.ask("POST /v1/core/describe", &[], body);
    assert_eq!((plain.status(), plain.head.header("content-encoding")), (200, None));
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(body).unwrap();
    let gzip = gzip.finish().unwrap();
    let answer = client.ask(
        "POST /v1/core/describe",
        &[("Content-Encoding", "gzip"), ("Accept-Encoding", "gzip")],
        &gzip,
    );
    assert_eq!((answer.status(), answer.head.header("content-encoding")), (200, Some("gzip")));
    let mut text = Vec::new();
    GzDecoder::new(answer.body.as_slice()).read_to_end(&mut text).unwrap();
    assert_eq!(text, plain.body);
    let answer = client.ask(
        "POST /v1/core/describe",
        &[("Content-Encoding", "zstd"), ("Accept-Encoding", "zstd")],
        &zstd::encode_all(body.as_slice(), 1).unwrap(),
    );
    assert_eq!((answer.status(), answer.head.header("content-encoding")), (200, Some("zstd")));
    assert_eq!(zstd::decode_all(answer.body.as_slice()).unwrap(), plain.body);
    // A short answer is not worth it.
    let answer = client.ask("POST /v1/core/health", &[("Accept-Encoding", "gzip, zstd")], b"{}");
    assert_eq!((answer.status(), answer.head.header("content-encoding")), (200, None));
}

/// Proves BIND-060.
#[test]
fn anybody_may_ask_whether_the_node_serves_and_no_more() {
    let (_node, access) = listening();
    let mut client = Client::new(&access);
    let answer = client.ask("GET /healthz", &[("Authorization", "")], b"");
    assert_eq!((answer.status(), answer.body.len()), (200, 0));
    let guarded =
        ["POST /v1/core/health", "POST /v1/rpc", "GET /v1/stream", "GET /v1/ws", "GET /metrics", "POST /mcp"];
    for line in guarded {
        assert_eq!(refusal(&access, line, &[("Authorization", "")], b"{}").0, 401, "{line}");
    }
    // Where nothing is there is nothing; the edge for agents is there as well.
    assert_eq!(refusal(&access, "GET /numbers", &[], b""), (404, "not_found".into()));
    let asked = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" },
    } });
    let accept = [("Accept", "application/json, text/event-stream")];
    assert_eq!(client.ask("POST /mcp", &accept, asked.to_string().as_bytes()).status(), 200);
}

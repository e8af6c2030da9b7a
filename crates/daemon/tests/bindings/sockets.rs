//! WebSockets: frames, and what is no frame of ours.

use std::net::TcpStream;

use edgeplane_testkit::{
    binding::{Access, open_socket},
    observe::resident_bytes,
    terminal,
};
use edgeplane_types::{Scope, TokenKind};
use edgeplane_wire::{api::security::RevokeParams, catalogue::TokenRevoke};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::{Bytes, Message, WebSocket, protocol::frame::coding::CloseCode};

use super::{Client, listening, refusal};

type Socket = WebSocket<TcpStream>;

fn send(socket: &mut Socket, message: &Value) {
    socket.send(Message::text(message.to_string())).unwrap();
}

fn read(socket: &mut Socket) -> Value {
    loop {
        match socket.read().unwrap() {
            Message::Text(text) => return serde_json::from_str(&text).unwrap(),
            Message::Ping(_) | Message::Pong(_) => {}
            other => unreachable!("{other:?}"),
        }
    }
}

fn close_code(socket: &mut Socket) -> Option<CloseCode> {
    loop {
        match socket.read() {
            Ok(Message::Close(frame)) => return frame.map(|frame| frame.code),
            Ok(_) => {}
            Err(_) => return None,
        }
    }
}

/// Proves BIND-040.
#[test]
fn conversation_is_the_sockets_own() {
    let (node, access) = listening();
    node.apply(&terminal("listener", &["/bin/cat"], "run: stopped"));
    let (mut one, mut other) = (open_socket(&access), open_socket(&access));
    send(
        &mut one,
        &json!({ "jsonrpc": "2.0", "id": "s", "method": "stream/subscribe", "params": { "target": { "kind": "agent", "id": "listener" } } }),
    );
    let subscription = read(&mut one)["result"]["subscription_id"].clone();
    let end = json!({ "jsonrpc": "2.0", "id": "s", "method": "stream/unsubscribe", "params": { "subscription_id": subscription } });
    send(&mut other, &end);
    assert_eq!(read(&mut other)["error"]["data"]["name"], "not_found", "it is no subscription of this one");
    node.signal("listener", "hello", None);
    let event = loop {
        let heard = read(&mut one);
        if heard["method"] != "stream/state" {
            break heard;
        }
    };
    assert_eq!(
        (&event["method"], &event["params"]["subscription_id"]),
        (&json!("stream/event"), &subscription)
    );
    // Answers bear the ids of their requests, and a message may stand on several lines.
    for id in [json!(1), json!("x")] {
        let pretty =
            serde_json::to_string_pretty(&json!({ "jsonrpc": "2.0", "id": id, "method": "core/health" }));
        other.send(Message::text(pretty.unwrap())).unwrap();
        assert_eq!(read(&mut other)["id"], id);
    }
}

/// Proves BIND-041.
#[test]
fn what_is_no_message_is_answered_or_ends_the_conversation() {
    let (_node, access) = listening();
    let mut socket = open_socket(&access);
    for garbage in ["hello", "[]", "{\n\"a\": \"x\ny\"}", "{}\n{}", ""] {
        socket.send(Message::text(garbage)).unwrap();
        let answer = read(&mut socket);
        assert_eq!(answer["id"], Value::Null, "{garbage}");
        let name = answer["error"]["data"]["name"].as_str().unwrap();
        assert!(["parse_error", "invalid_request"].contains(&name), "{garbage}: {answer}");
    }
    socket.send(Message::binary(Bytes::from_static(b"{}"))).unwrap();
    assert_eq!(close_code(&mut socket), Some(CloseCode::Unsupported));
    // A frame that says that it is longer than a line may be is not read.
    let mut socket = open_socket(&access);
    let head = [0x81, 0xff, 0, 0, 0, 0, 0x7f, 0, 0, 0, 1, 2, 3, 4];
    std::io::Write::write_all(socket.get_mut(), &head).unwrap();
    assert_eq!(close_code(&mut socket), Some(CloseCode::Protocol));
    // One that no client may send either: without its mask, and then no frame at all.
    for garbage in [b"\x81\x02{}".as_slice(), &[0xff; 32]] {
        let mut socket = open_socket(&access);
        std::io::Write::write_all(socket.get_mut(), garbage).unwrap();
        assert!(!matches!(close_code(&mut socket), Some(CloseCode::Normal)));
    }
    let mut socket = open_socket(&access);
    send(&mut socket, &json!({ "jsonrpc": "2.0", "id": 1, "method": "core/health" }));
    assert_eq!(read(&mut socket)["result"]["status"], "ok");
}

/// Proves BIND-034.
#[test]
fn socket_that_is_not_read_holds_up_nobody_else() {
    const REQUESTS: usize = 1_500;
    let (node, access) = listening();
    let large = format!("run: stopped\nenv: {{ LARGE: {} }}", "x".repeat(60 << 10));
    node.apply(&terminal("listener", &["/bin/cat"], &large));
    let get = json!({ "agent": "listener" });
    let mut quick = Client::new(&access);
    let size = quick.post("/v1/runtime/agent.get", &get).body.len();
    assert!(size > 60 << 10, "the answers are more than what lies between: {size} bytes each");
    let before = resident_bytes(node.daemon_pid());
    let mut slow = open_socket(&access);
    for id in 0..REQUESTS {
        send(&mut slow, &json!({ "jsonrpc": "2.0", "id": id, "method": "runtime/agent.get", "params": get }));
    }
    for _ in 0..50 {
        assert_eq!(quick.post("/v1/core/health", &json!({})).status(), 200);
    }
    let grown = resident_bytes(node.daemon_pid()).saturating_sub(before);
    assert!(grown < (size * REQUESTS * 2 / 3) as u64, "{grown} bytes wait for a reader that does not read");
    let mut answered: Vec<u64> = (0..REQUESTS).map(|_| read(&mut slow)["id"].as_u64().unwrap()).collect();
    answered.sort_unstable();
    assert_eq!(answered, (0..REQUESTS as u64).collect::<Vec<_>>(), "and in the end it hears all");
}

fn upgrade(access: &Access, more: &[(&str, &str)]) -> (u16, String) {
    let mut headers = vec![
        ("Connection", "Upgrade"),
        ("Upgrade", "websocket"),
        ("Sec-WebSocket-Version", "13"),
        ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ];
    headers.extend_from_slice(more);
    refusal(access, "GET /v1/ws", &headers, b"")
}

/// Proves BIND-005, BIND-020.
#[test]
fn socket_is_opened_for_bearers_alone() {
    let (mut node, access) = listening();
    assert_eq!(upgrade(&access, &[("Authorization", "")]).0, 401);
    assert_eq!(upgrade(&access, &[("Authorization", "Bearer ept_unknown")]).0, 401);
    assert_eq!(upgrade(&access, &[("Origin", "https://evil.example")]).0, 403);
    assert_eq!(upgrade(&access, &[]).0, 101);
    assert!(refusal(&access, "GET /v1/ws", &[], b"").0 >= 400, "no upgrade is asked for");
    let short = node.token("reports", TokenKind::Service, &[Scope::Read], &[]);
    let mut socket = open_socket(&node.access(&short.token));
    node.connect().call::<TokenRevoke>(&RevokeParams { token_id: short.token_id, reason: "lost".into() });
    send(&mut socket, &json!({ "jsonrpc": "2.0", "id": 1, "method": "runtime/agent.list" }));
    assert_eq!(read(&mut socket)["error"]["data"]["name"], "unauthenticated");
    let mut lasting = open_socket(&access);
    node.stop_daemon();
    assert_eq!(close_code(&mut lasting), Some(CloseCode::Away));
}

//! What strangers and careless programs send: bounded, refused, and nobody else's harm.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
};

use edgeplane_testkit::{observe::resident_bytes, web::Web};
use flate2::{Compression, write::GzEncoder};
use serde_json::json;

use super::{Client, listening, refusal};

/// Longest body.
const BODY_BYTES_MAX: usize = 16 << 20;

/// Memory that the daemon may take while it refuses what is too long: the longest body, and what is around it.
const MEMORY_BYTES_MAX: u64 = 96 << 20;

/// Proves BIND-005.
#[test]
fn token_is_one_and_stands_in_its_header() {
    let (node, access) = listening();
    let bearer = format!("Bearer {}", access.token);
    let health = "POST /v1/core/health";
    for authorization in ["", "Basic x", "Bearer", "Bearer x y", "Bearer ept_unknown", &access.token] {
        let (status, name) = refusal(&access, health, &[("Authorization", authorization)], b"{}");
        assert_eq!((status, name.as_str()), (401, "unauthenticated"), "{authorization}");
    }
    let twice = [("Authorization", bearer.as_str()), ("authorization", bearer.as_str())];
    assert_eq!(refusal(&access, health, &twice, b"{}").0, 401);
    for line in
        ["POST /v1/core/health", "POST /v1/rpc", "GET /v1/stream", "GET /v1/ws", "GET /healthz", "POST /mcp"]
    {
        for key in ["token", "access_token", "Authorization", "%74oken", "a=b&TOKEN"] {
            let (status, name) = refusal(&access, &format!("{line}?{key}={}", access.token), &[], b"{}");
            assert_eq!((status, name.as_str()), (400, "invalid_request"), "{line}?{key}");
        }
    }
    assert_eq!(refusal(&access, "POST /v1/core/health?x=1", &[], b"{}").0, 400);
    assert!(!node.log().contains(&access.token), "a token is in the log");
}

/// Proves BIND-020.
#[test]
fn pages_of_strangers_are_refused() {
    let (_node, access) = listening();
    for line in
        ["POST /v1/core/health", "POST /v1/rpc", "GET /v1/stream", "GET /v1/ws", "GET /healthz", "POST /mcp"]
    {
        for (name, value) in [("Host", "evil.example"), ("Origin", "http://evil.example"), ("Origin", "null")]
        {
            let (status, error) = refusal(&access, line, &[(name, value)], b"{}");
            assert_eq!((status, error.as_str()), (403, "permission_denied"), "{line} {name}: {value}");
        }
    }
    let own = format!("http://{}", access.address);
    assert_eq!(refusal(&access, "POST /v1/core/health", &[("Origin", &own)], b"{}").0, 200);
}

/// Proves BIND-011.
#[test]
fn body_is_refused_if_it_is_not_what_is_taken() {
    let (_node, access) = listening();
    let health = "POST /v1/core/health";
    for kind in ["text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin1", ""] {
        let (status, name) = refusal(&access, health, &[("Content-Type", kind)], b"{}");
        assert_eq!((status, name.as_str()), (415, "invalid_request"), "{kind}");
    }
    assert_eq!(refusal(&access, health, &[("Content-Encoding", "br")], b"{}").0, 415);
    assert_eq!(refusal(&access, health, &[("Content-Encoding", "gzip")], b"{}").0, 400);
    let deep =
        format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x/y\",\"params\":{}", "[".repeat(100_000));
    for path in ["POST /v1/rpc", health] {
        assert_eq!(refusal(&access, path, &[], deep.as_bytes()), (400, "parse_error".into()), "{path}");
        assert_eq!(refusal(&access, path, &[], b"\xff\xfe{}"), (400, "parse_error".into()), "{path}");
    }
}

/// Proves BIND-011.
#[test]
fn body_that_is_too_long_is_refused_however_it_is_sent() {
    let (node, access) = listening();
    let before = resident_bytes(node.daemon_pid());
    // One that says so is not read.
    let mut client = Client::new(&access);
    let length = (BODY_BYTES_MAX + 1).to_string();
    let head = format!(
        "POST /v1/rpc HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\n\r\n",
        access.address, access.token
    );
    client.web.say(head.as_bytes()).unwrap();
    assert_eq!(client.web.head().unwrap().status, 413);
    // One that says nothing is counted.
    let mut client = Client::new(&access);
    let head = head.replace(&format!("Content-Length: {length}"), "Transfer-Encoding: chunked");
    client.web.say(head.as_bytes()).unwrap();
    let piece = [b"10000\r\n".as_slice(), &[b' '; 0x10000], b"\r\n"].concat();
    for _ in 0..=BODY_BYTES_MAX / 0x10000 {
        // It may hang up before it has heard all.
        if client.web.say(&piece).is_err() {
            break;
        }
    }
    assert_eq!(client.web.head().unwrap().status, 413);
    // One that is short and becomes long is counted as well.
    let zeros = vec![b' '; 1 << 20];
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    let mut zstd = zstd::Encoder::new(Vec::new(), 1).unwrap();
    for _ in 0..32 {
        gzip.write_all(&zeros).unwrap();
        zstd.write_all(&zeros).unwrap();
    }
    for (encoding, bomb) in [("gzip", gzip.finish().unwrap()), ("zstd", zstd.finish().unwrap())] {
        assert!(bomb.len() < 1 << 20);
        for path in ["POST /v1/rpc", "POST /v1/core/health"] {
            let found = refusal(&access, path, &[("Content-Encoding", encoding)], &bomb);
            assert_eq!(found, (413, "too_large".into()), "{encoding} {path}");
        }
    }
    // The longest line there may be is one line with what stands around it.
    let long = json!({ "agent": "x".repeat(BODY_BYTES_MAX - 16) }).to_string();
    assert!(long.len() <= BODY_BYTES_MAX);
    assert_eq!(
        refusal(&access, "POST /v1/runtime/agent.get", &[], long.as_bytes()),
        (413, "too_large".into())
    );
    let grown = resident_bytes(node.daemon_pid()).saturating_sub(before);
    assert!(grown < MEMORY_BYTES_MAX, "{grown} bytes");
    assert_eq!(Client::new(&access).post("/v1/core/health", &json!({})).status(), 200);
}

/// Proves BIND-011.
#[test]
fn garbage_on_one_connection_is_nobody_elses() {
    let (_node, access) = listening();
    for garbage in [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".as_slice(),
        b"GET\r\n\r\n",
        b"POST /v1/rpc HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}",
        b"POST /v1/rpc HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n{}",
        b"\0\0\0\0\r\n\r\n",
    ] {
        let mut stream = TcpStream::connect(&access.address).unwrap();
        stream.write_all(garbage).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = Vec::new();
        // A reset is an end as well.
        drop(stream.read_to_end(&mut answer));
        assert!(!answer.starts_with(b"HTTP/1.1 2"), "{}", answer.escape_ascii());
    }
    let long = "x".repeat(400 << 10);
    let mut web = Web::connect(&access.address).unwrap();
    drop(web.begin("GET /healthz", &[("Host", &access.address), ("X-Long", &long)], b""));
    // It may hang up before that is heard.
    let said = web.head();
    assert!(said.as_ref().map_or(true, |head| head.status == 431), "{said:?}");
    assert_eq!(Client::new(&access).post("/v1/core/health", &json!({})).status(), 200);
}

//! Bad input of every kind: a clear error, nothing changed, nothing lost, nothing that grows.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on ends at once")]

use std::{
    io::{BufRead as _, BufReader, Write as _},
    os::unix::net::UnixStream,
    time::Duration,
};

use edgeplane_os::wait::{Deadline, until};
use edgeplane_testkit::{Connection, Node, native, observe, terminal, wait::eventually};
use edgeplane_types::{Phase, Rung};
use edgeplane_wire::{
    api::{Empty, agent::ApplyParams, agent::Document},
    catalogue::{AgentApply, CoreHealth, METHODS, NodeStatus},
    rpc::{self, RpcError},
};
use serde_json::{Value, json};

/// What all hostile input of a test together may cost the daemon in memory.
const GROWTH_BYTES_MAX: u64 = 64 << 20;

/// A node with one agent, and how it was before anything bad was said to it.
struct Unharmed {
    node: Node,
    events: u64,
    resident: u64,
    files: u64,
    pid: u32,
}

impl Unharmed {
    fn start() -> Self {
        let node = Node::start();
        node.run("shell", &terminal("shell", &["/bin/cat"], ""));
        let pid = node.pid("shell");
        let (events, daemon) = (events(&node), node.daemon_pid());
        let (resident, files) = (observe::resident_bytes(daemon), node.open_files());
        Self { node, events, resident, files, pid }
    }

    /// The node answers, has recorded nothing, holds nothing, and its agent never noticed.
    fn check(&self) {
        let node = &self.node;
        assert_eq!(node.connect().call::<CoreHealth>(&Empty {}).status, "ok");
        assert_eq!(events(node), self.events, "{:#?}", node.history("").last());
        assert_eq!(node.pid("shell"), self.pid);
        let daemon = node.daemon_pid();
        eventually("files are closed", || node.open_files() <= self.files + 1);
        let grown = observe::resident_bytes(daemon).saturating_sub(self.resident);
        assert!(grown < GROWTH_BYTES_MAX, "the daemon grew by {grown} bytes");
        assert!(!node.log().contains("panicked"), "{}", node.log());
        assert!(!node.log().contains("ERROR"), "{}", node.log());
        node.verify();
    }
}

fn events(node: &Node) -> u64 {
    node.connect().call::<NodeStatus>(&Empty {}).events
}

fn request(method: &str, params: &Value) -> Vec<u8> {
    rpc::request(&rpc::Id::Number(1), method, params)
}

/// A raw line's answer: the name of its error, or `ok`. What it says must be fit to be printed.
fn answer(node: &Node, line: &[u8]) -> String {
    let stream = UnixStream::connect(node.socket()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    // A node that has heard enough may hang up while this is still being said.
    let end: &[u8] = if line.ends_with(b"\n") { b"" } else { b"\n" };
    drop((&stream).write_all(line).and_then(|()| (&stream).write_all(end)));
    let mut text = String::new();
    BufReader::new(&stream).read_line(&mut text).unwrap();
    let value: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: `{text}`"));
    let Some(error) = value.get("error") else { return "ok".to_owned() };
    let error: RpcError = serde_json::from_value(error.clone()).unwrap();
    let said = format!("{}{}", error.message, error.data.hint.unwrap_or_default());
    assert!(!said.is_empty() && !said.chars().any(char::is_control), "{said:?}");
    assert!(said.len() < 1_000, "{} bytes of error: {said:.200}", said.len());
    error.data.name.as_str().to_owned()
}

fn deep(open: &str, close: &str) -> Vec<u8> {
    let nested = format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"core/health","params":{nested}}}"#).into_bytes()
}

fn with_id(id: &str) -> Vec<u8> {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"core/health","params":{{}}}}"#).into_bytes()
}

#[test]
fn lines_that_are_no_requests_are_named() {
    let unharmed = Unharmed::start();
    let of_method = |method: &str| request(method, &json!({}));
    let mut huge = vec![b' '; 17 << 20];
    huge.extend(of_method("core/health"));
    let text = |text: &str| text.as_bytes().to_vec();
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        ("nothing", text(""), "parse_error"),
        ("words", text("hello there"), "parse_error"),
        ("half an object", text("{\"jsonrpc\":"), "parse_error"),
        ("zero bytes", vec![0; 1000], "parse_error"),
        ("no text", vec![0xff, 0xfe, 0x80], "parse_error"),
        ("a line beyond the limit", huge, "too_large"),
        ("brackets", deep("[", "]"), "parse_error"),
        ("objects", deep("{\"a\":", "}"), "parse_error"),
        ("a number", text("7"), "invalid_request"),
        ("null", text("null"), "invalid_request"),
        ("a batch", text(r#"[{"jsonrpc":"2.0","id":1,"method":"core/health"}]"#), "invalid_request"),
        ("an empty object", text("{}"), "invalid_request"),
        ("another version", text(r#"{"jsonrpc":"1.0","id":1,"method":"core/health"}"#), "invalid_request"),
        (
            "a field twice",
            text(r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"core/health"}"#),
            "invalid_request",
        ),
        ("a method that is a number", text(r#"{"jsonrpc":"2.0","id":1,"method":7}"#), "invalid_request"),
        (
            "neither this nor that",
            text(r#"{"jsonrpc":"2.0","id":1,"method":"a/b","result":1}"#),
            "invalid_request",
        ),
        ("id null", with_id("null"), "invalid_request"),
        ("id of a fraction", with_id("1.5"), "invalid_request"),
        ("id that is a list", with_id("[1]"), "invalid_request"),
        ("id beyond numbers", with_id("99999999999999999999"), "invalid_request"),
        ("id beyond everything", with_id("1e999"), "parse_error"),
        ("no method", of_method(""), "method_not_found"),
        ("a method of nobody", of_method("runtime/agent.fly"), "method_not_found"),
        ("a method with a wrong case", of_method("Core/Health"), "method_not_found"),
        ("a method of control bytes", of_method("core/\u{1b}[2J\u{7}\n\0health"), "method_not_found"),
        ("a long method", of_method(&"x".repeat(1 << 20)), "method_not_found"),
    ];
    for (what, line, expected) in cases {
        assert_eq!(answer(&unharmed.node, &line), expected, "{what}");
    }
    unharmed.check();
}

#[test]
fn parameters_that_do_not_fit_are_named() {
    let unharmed = Unharmed::start();
    for method in METHODS {
        for params in [json!("text"), json!(7), json!([1]), json!({ "\u{1b}[31munknown": 1 })] {
            let found = answer(&unharmed.node, &request(method.name, &params));
            assert_eq!(found, "invalid_params", "{} with {params}", method.name);
        }
    }
    let of_shell = |more: Value| {
        let mut params = json!({ "agent": "shell" });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        params
    };
    let cases = [
        ("runtime/agent.get", json!({ "agent": 7 })),
        ("runtime/agent.get", json!({ "agent": null })),
        ("runtime/agent.get", json!({ "agent": "shell", "ctx": 7 })),
        ("runtime/agent.get", json!({ "agent": "shell", "ctx": { "deadline_ms": -1 } })),
        ("runtime/agent.get", json!({ "agent": "shell", "ctx": { "principal": "root" } })),
        ("runtime/agent.wait", of_shell(json!({ "phases": [], "timeout_ms": 1 }))),
        ("runtime/agent.wait", of_shell(json!({ "phases": ["asleep"], "timeout_ms": 1 }))),
        ("runtime/agent.wait", of_shell(json!({ "phases": ["running"], "timeout_ms": -5 }))),
        ("runtime/agent.wait", of_shell(json!({ "phases": ["running"], "timeout_ms": 1e30 }))),
        ("runtime/inbox.list", of_shell(json!({ "limit": -1 }))),
        ("runtime/inbox.list", of_shell(json!({ "limit": 4_294_967_296_u64 }))),
        ("runtime/message.get", json!({ "message_id": "msg_1" })),
        ("runtime/recording.read", of_shell(json!({ "offset": -1 }))),
        ("runtime/recording.read", of_shell(json!({ "epoch": "first" }))),
        ("runtime/agent.attach", of_shell(json!({ "control": "yes" }))),
        ("runtime/agent.attach", of_shell(json!({ "cols": 65_536 }))),
        ("stream/replay", json!({ "limit": -1 })),
        ("stream/replay", json!({ "types": "agent.started" })),
        ("stream/replay", json!({ "after": 1, "from": "start" })),
        ("stream/replay", json!({ "cursor": "x" })),
        ("stream/replay", json!({ "target": { "kind": "session", "id": "ses_x" } })),
        ("stream/replay", json!({ "target": { "kind": "agent" } })),
        ("stream/subscribe", json!({ "cursor": "x".repeat(100_000) })),
        ("stream/subscribe", json!({ "after": 1, "cursor": "x" })),
        ("stream/subscribe", json!({ "snapshot": "first", "after": 0 })),
        ("stream/subscribe", json!({ "snapshot": "last" })),
        ("stream/subscribe", json!({ "max_inflight": 0 })),
        ("stream/subscribe", json!({ "max_inflight": 1_000_000 })),
        ("stream/subscribe", json!({ "heartbeat_ms": 1 })),
        ("stream/subscribe", json!({ "projection": "audit.chain", "target": { "kind": "turn", "id": "x" } })),
        ("stream/ack", json!({ "subscription_id": "sub_x", "n": 1 })),
        ("stream/unsubscribe", json!({ "subscription_id": "sub_x" })),
        ("memory/entry.get", json!({ "key": "k" })),
        ("memory/entry.put", of_shell(json!({ "key": "", "value": 1 }))),
        ("memory/entry.put", of_shell(json!({ "key": "a\u{7}b", "value": 1 }))),
        ("memory/entry.put", of_shell(json!({ "key": "k".repeat(257), "value": 1 }))),
        ("memory/entry.put", of_shell(json!({ "key": "k", "value": 1, "ttl_ms": -1 }))),
        ("runtime/agent.signal", of_shell(json!({ "parts": [] }))),
        ("runtime/agent.signal", of_shell(json!({ "parts": [{ "type": "text", "text": " \n\u{0}" }] }))),
        ("runtime/agent.signal", of_shell(json!({ "parts": [{ "type": "smell" }] }))),
    ];
    for (method, params) in cases {
        assert_eq!(answer(&unharmed.node, &request(method, &params)), "invalid_params", "{method} {params}");
    }
    unharmed.check();
}

#[test]
fn extreme_numbers_are_answered_like_any_others() {
    let unharmed = Unharmed::start();
    let (most, most_32) = (u64::MAX, u32::MAX);
    let shell = json!({ "kind": "agent", "id": "shell" });
    let cases = [
        ("stream/replay", json!({ "after": most }), "invalid_params"),
        ("stream/replay", json!({ "newest": true, "limit": most_32 }), "ok"),
        ("stream/replay", json!({ "target": shell, "after": most, "limit": 0 }), "invalid_params"),
        ("stream/replay", json!({ "target": shell, "newest": true, "limit": 0 }), "ok"),
        ("stream/subscribe", json!({ "after": most }), "invalid_params"),
        ("stream/subscribe", json!({ "after": 0, "max_inflight": most_32 }), "invalid_params"),
        ("stream/subscribe", json!({ "heartbeat_ms": most }), "invalid_params"),
        ("runtime/inbox.list", json!({ "agent": "shell", "all": true, "limit": most_32 }), "ok"),
        ("runtime/inbox.list", json!({ "agent": "shell", "limit": 0 }), "ok"),
        ("runtime/recording.read", json!({ "agent": "shell", "offset": most }), "ok"),
        (
            "runtime/recording.read",
            json!({ "agent": "shell", "last_bytes": most, "limit_bytes": most }),
            "ok",
        ),
        ("runtime/recording.read", json!({ "agent": "shell", "limit_bytes": 0 }), "ok"),
        ("runtime/recording.read", json!({ "agent": "shell", "epoch": most }), "not_found"),
        ("runtime/recording.read", json!({ "agent": "shell", "epoch": 0 }), "not_found"),
        (
            "memory/entry.put",
            json!({ "agent": "shell", "key": "k", "value": 1, "if_version": most }),
            "version_conflict",
        ),
        ("memory/entry.delete", json!({ "agent": "shell", "key": "k", "if_version": most }), "not_found"),
        (
            "runtime/agent.wait",
            json!({ "agent": "shell", "phases": ["stopped"], "timeout_ms": 0 }),
            "deadline_exceeded",
        ),
        (
            "runtime/agent.wait",
            json!({ "agent": "shell", "phases": ["stopped"], "timeout_ms": most, "ctx": { "deadline_ms": 1 } }),
            "deadline_exceeded",
        ),
        ("runtime/agent.wait", json!({ "agent": "shell", "phases": ["running"], "timeout_ms": most }), "ok"),
        ("core/health", json!({ "ctx": { "deadline_ms": most } }), "ok"),
        ("core/initialize", json!({ "versions": ["1066-10-14"] }), "unsupported"),
        ("core/health", json!({ "ctx": { "tenant": "somebody-else" } }), "not_found"),
    ];
    for (method, params, expected) in cases {
        assert_eq!(answer(&unharmed.node, &request(method, &params)), expected, "{method} {params}");
    }
    unharmed.check();
}

#[test]
fn names_are_never_more_than_names() {
    let unharmed = Unharmed::start();
    let long = "a".repeat(1 << 20);
    let names = [
        "",
        " ",
        "nobody",
        "Shell",
        "shell ",
        "shell\n",
        "shell\0",
        "-",
        "\u{1b}[31mshell\u{1b}[0m",
        "$(touch /tmp/x)",
        "`id`",
        "shell; rm -rf /",
        "../shell",
        "../../etc/passwd",
        "agt_",
        "agt_00000000-0000-0000-0000-000000000000",
        "%s%n",
        "\u{202e}llehs",
        "s\u{200b}hell",
        "\u{1f600}",
        "*",
        "'\"",
        &long,
    ];
    let methods = [
        "runtime/agent.get",
        "runtime/agent.stop",
        "runtime/agent.attach",
        "runtime/epoch.list",
        "runtime/inbox.list",
        "runtime/recording.read",
        "memory/entry.list",
    ];
    let streams = ["stream/replay", "stream/subscribe"];
    for name in names {
        for method in methods {
            let found = answer(&unharmed.node, &request(method, &json!({ "agent": name })));
            assert_eq!(found, "not_found", "{method} {name:.100?}");
        }
        for method in streams {
            let params = json!({ "target": { "kind": "agent", "id": name } });
            let found = answer(&unharmed.node, &request(method, &params));
            assert_eq!(found, "not_found", "{method} {name:.100?}");
        }
    }
    unharmed.check();
}

#[test]
fn what_wants_no_answer_gets_none_and_does_nothing() {
    let unharmed = Unharmed::start();
    let mut connection = unharmed.node.connect();
    let attachment = json!({ "attachment": "att-sub_0", "data": "YQ==", "cols": 1, "rows": 1 });
    let mut lines = Vec::new();
    for method in ["runtime/agent.write", "runtime/agent.resize", "runtime/agent.stop", "no/such.method", ""]
    {
        for params in [attachment.clone(), json!({ "agent": "shell" }), json!(null), json!([])] {
            lines.extend(rpc::notification(method, params));
        }
    }
    let not_base64 = json!({ "attachment": "att-sub_0", "data": "\u{1b}[2J" });
    lines.extend(rpc::notification("runtime/agent.write", not_base64));
    // Answers to nothing that was asked.
    lines.extend(rpc::success(&rpc::Id::Number(77), json!({})));
    lines.extend(b"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":1,\"message\":\"no\"}}\n");
    connection.send(&lines).unwrap();
    // The very next thing heard is the answer to this.
    assert_eq!(connection.call::<CoreHealth>(&Empty {}).status, "ok");
    drop(connection);
    unharmed.check();
}

#[test]
fn callers_that_vanish_or_dawdle_hold_nobody_up() {
    let unharmed = Unharmed::start();
    let node = &unharmed.node;
    let line = request("runtime/agent.stop", &json!({ "agent": "shell" }));
    let connect = || UnixStream::connect(node.socket()).unwrap();
    for number in 0..200 {
        let mut stream = connect();
        stream.write_all(&line[..number % (line.len() - 1)]).unwrap();
    }
    let mut slow: Vec<UnixStream> = (0..20).map(|_| connect()).collect();
    let health = request("core/health", &json!({}));
    for byte in &health {
        for stream in &mut slow {
            stream.write_all(&[*byte]).unwrap();
        }
        assert_eq!(node.connect().call::<CoreHealth>(&Empty {}).status, "ok");
    }
    for stream in slow {
        let mut text = String::new();
        BufReader::new(&stream).read_line(&mut text).unwrap();
        assert!(text.contains("\"result\""), "{text}");
    }
    unharmed.check();
}

#[test]
fn caller_that_never_reads_its_answers_costs_little() {
    let node = Node::start();
    let program = "head -c 6000000 /dev/zero | tr '\\0' x; exec cat";
    node.run("talker", &native("talker", &["/bin/sh", "-c", program], ""));
    eventually("it has talked", || node.get("talker").status.output_bytes >= 6_000_000);
    let before = observe::resident_bytes(node.daemon_pid());
    let stream = UnixStream::connect(node.socket()).unwrap();
    stream.set_nonblocking(true).unwrap();
    let params = json!({ "agent": "talker", "limit_bytes": 4 << 20 });
    let lines = request("runtime/recording.read", &params).repeat(500);
    let mut sent = 0;
    let mut most = 0;
    // It asks for as long as it is listened to. Once nothing moves or grows any more, all that can pile up has.
    while until(Deadline::after(Duration::from_secs(2)), || {
        let wrote = (&stream).write(&lines[sent..]).unwrap_or(0);
        sent += wrote;
        let now = observe::resident_bytes(node.daemon_pid()).saturating_sub(before);
        let grew = now > most + (4 << 20);
        most = most.max(now);
        wrote > 0 || grew
    }) {}
    assert!(most < 256 << 20, "the daemon grew by {most} bytes after {sent} of {} bytes", lines.len());
    assert_eq!(node.connect().call::<CoreHealth>(&Empty {}).status, "ok");
    drop(stream);
    assert!(!node.log().contains("panicked"), "{}", node.log());
}

fn apply(node: &Node, text: &str, folder: &str) -> Result<(), RpcError> {
    let document = Document { file: "wrong.yaml".into(), text: text.into(), folder: folder.into() };
    let params = ApplyParams { documents: vec![document], dry_run: false };
    node.connect().try_call::<AgentApply>(&params).map(drop)
}

#[test]
fn wrong_manifests_are_refused_whole() {
    let unharmed = Unharmed::start();
    let right = terminal("shell", &["/bin/echo", "changed"], "");
    let wrong = |from: &str, to: &str| {
        format!("{right}---\n{}", terminal("new", &["/bin/cat"], "").replace(from, to))
    };
    let laughs = (0..20).fold("a0: &a0 [x]\n".to_owned(), |text, n| {
        format!("{text}a{}: &a{} [*a{n}, *a{n}, *a{n}, *a{n}, *a{n}, *a{n}]\n", n + 1, n + 1)
    });
    let cases = [
        ("no YAML", "{{{{ : : [".to_owned()),
        ("nothing", String::new()),
        ("a word", "shell".to_owned()),
        ("zero bytes", "\0\0\0".to_owned()),
        ("another version", wrong("v1alpha1", "v9")),
        ("another kind", wrong("kind: Agent", "kind: Pod")),
        ("no command", wrong("command: [\"/bin/cat\"]", "command: []")),
        ("a name that is none", wrong("name: new", "name: \"$(reboot)\"")),
        ("a name with control bytes", wrong("name: new", "name: \"\\e[31mnew\"")),
        ("a name twice", wrong("name: new", "name: shell")),
        ("an unknown field", wrong("spec:", "spec:\n  colour: red")),
        ("a field of another type", wrong("spec:", "spec:\n  restart: sometimes")),
        ("a word that is none of the words", wrong("spec:", "spec:\n  restart: { policy: allways }")),
        ("a number beyond its bounds", wrong("spec:", "spec:\n  limits: { pids: 99999999999999999999 }")),
        ("a negative time", wrong("grace: 500ms", "grace: -1s")),
        ("an unknown driver", wrong("type: terminal", "type: telepathy")),
        ("one that needs itself", wrong("spec:", "spec:\n  dependsOn: [new]")),
        ("references without end", laughs),
        ("a deep one", format!("a: {}", "[".repeat(100_000))),
        ("a very long one", "x".repeat(8 << 20)),
    ];
    for (what, text) in &cases {
        let error = apply(&unharmed.node, text, "/").unwrap_err();
        assert_eq!(error.name().as_str(), "invalid_manifest", "{what}: {error}");
        let violations = &error.data.violations;
        assert!(!violations.is_empty(), "{what}: {error}");
        let said = format!("{error} {violations:?}");
        assert!(said.contains("wrong.yaml"), "{what} is not located: {said}");
        let is_bad = |c: char| c.is_control() && c != '\n';
        assert!(!said.contains(is_bad) && said.len() < 20_000, "{what}: {said:.500}");
    }
    let none = json!({ "documents": [] });
    let nothing = unharmed.node.connect().try_raw("runtime/agent.apply", none);
    assert!(nothing.is_err(), "{nothing:?}");
    assert_eq!(unharmed.node.list().len(), 1);
    unharmed.check();
}

#[test]
fn program_that_cannot_be_run_says_why_every_time() {
    let node = Node::start();
    let more =
        "restart: { policy: always, backoff: { initial: 0ms }, breaker: { failures: 8, within: 1m } }\n";
    node.apply(&terminal("missing", &["/no/such/program"], more));
    node.wait("missing", Phase::Failed);
    let failures = node.events("missing", &["agent.start_failed"]);
    assert_eq!(failures.len(), 8, "{:?}", node.history("missing"));
    for failure in failures {
        let reason = failure.event["payload"]["reason"].as_str().unwrap().to_owned();
        assert!(reason.contains("/no/such/program"), "{reason}");
    }
    let reason = node.get("missing").status.reason.unwrap();
    assert!(reason.contains("/no/such/program"), "{reason}");
    node.verify();
}

#[expect(clippy::needless_pass_by_value, reason = "callers build the value in place")]
fn signal(connection: &mut Connection, more: Value) -> Result<Value, String> {
    let mut params = json!({ "agent": "shell", "parts": [{ "type": "text", "text": "echo hello" }] });
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let result = connection.try_raw("runtime/agent.signal", params);
    result.map_err(|error| error.name().as_str().to_owned())
}

#[test]
fn messages_that_cannot_be_taken_are_refused_before_they_are_anything() {
    let unharmed = Unharmed::start();
    let mut connection = unharmed.node.connect();
    let text = |text: String| json!([{ "type": "text", "text": text }]);
    let cases = [
        (json!({ "parts": text("x".repeat(5 << 20)) }), "too_large"),
        (json!({ "parts": [{ "type": "data", "data": "x".repeat(5 << 20) }] }), "too_large"),
        (json!({ "parts": text(String::new()) }), "invalid_params"),
        (json!({ "expires_in_ms": 0 }), "invalid_params"),
        (json!({ "idempotency_key": "" }), "invalid_params"),
        (json!({ "idempotency_key": "k".repeat(257) }), "invalid_params"),
        (json!({ "mode": "shout" }), "invalid_params"),
        (json!({ "priority": 1 }), "invalid_params"),
        (json!({ "reply_to": "yesterday" }), "invalid_params"),
        (json!({ "wait": "eventually" }), "invalid_params"),
        (json!({ "channel": "operator" }), "invalid_params"),
        (json!({ "source": { "principal": "root" } }), "invalid_params"),
        (json!({ "agent": "nobody" }), "not_found"),
    ];
    for (more, expected) in cases {
        let shown = format!("{more:.200}");
        assert_eq!(signal(&mut connection, more), Err(expected.to_owned()), "{shown}");
    }
    drop(connection);
    unharmed.check();
}

#[test]
fn key_stands_for_one_message_and_no_other() {
    let node = Node::start();
    node.run("shell", &terminal("shell", &["/bin/cat"], ""));
    let mut connection = node.connect();
    let key = json!({ "idempotency_key": "once" });
    let first = signal(&mut connection, key.clone()).unwrap();
    assert_eq!(first.get("duplicate"), None);
    let again = signal(&mut connection, key.clone()).unwrap();
    assert_eq!((&again["duplicate"], &again["message_id"]), (&json!(true), &first["message_id"]));
    let other = json!({ "idempotency_key": "once", "parts": [{ "type": "text", "text": "something else" }] });
    assert_eq!(signal(&mut connection, other.clone()), Err("idempotency_mismatch".to_owned()));
    // The same key in the request's context means the same.
    let in_context = signal(&mut connection, json!({ "ctx": { "idempotency_key": "once" } })).unwrap();
    assert_eq!(in_context["message_id"], first["message_id"]);
    assert_eq!(node.count("shell", "message.accepted"), 1);
    let longest = json!({ "idempotency_key": "k".repeat(256) });
    assert!(signal(&mut connection, longest).is_ok());
    assert_eq!(node.count("shell", "message.accepted"), 2);
    node.verify();
}

#[test]
fn line_that_a_terminal_would_cut_is_rejected_and_the_next_one_comes() {
    let node = Node::start();
    node.run("shell", &terminal("shell", &["/bin/cat"], ""));
    let long = node.signal("shell", &"x".repeat(5_000), Some(Rung::Injected));
    let rungs: Vec<Rung> = long.receipts.iter().map(|receipt| receipt.rung).collect();
    assert_eq!(rungs, [Rung::Accepted, Rung::Rejected]);
    let next = node.signal("shell", "short", Some(Rung::Injected));
    assert!(next.receipts.iter().any(|receipt| receipt.rung == Rung::Injected), "{next:?}");
    node.verify();
}

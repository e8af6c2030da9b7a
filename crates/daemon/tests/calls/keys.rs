//! Keys: a call acts once, whatever becomes of the daemon, the connection or the caller's patience.

use std::fs;

use edgeplane_os::failpoint;
use edgeplane_testkit::{Node, terminal, wait::eventually};
use edgeplane_types::{ErrorName, Scope, TokenKind, error::Effect};
use edgeplane_wire::rpc::{self, Id, Incoming};
use serde_json::{Value, json};

use super::{calls, listening, name_of, put, raw, refused, with};

fn key(key: &str) -> Value {
    json!({ "idempotency_key": key })
}

/// A result without what it says of itself, and whether it was said before.
fn parted(mut result: Value) -> (String, bool) {
    let meta = result.as_object_mut().unwrap().remove("meta").unwrap();
    (result.to_string(), meta["replayed"] == true)
}

fn arm(node: &Node, point: &str) {
    let folder = node.state_dir().join(failpoint::FOLDER);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(point), "1").unwrap();
}

fn versions(node: &Node, key: &str) -> usize {
    let history = raw(&mut node.connect(), "memory/entry.history", json!({ "agent": "shell", "key": key }));
    history["items"].as_array().unwrap().len()
}

/// Proves CALL-020, CALL-021.
#[test]
fn method_acts_once_under_a_key() {
    let mut node = listening("shell");
    let mut connection = node.connect();
    let first = parted(raw(&mut connection, "memory/entry.put", with(put("k", 1), &key("a"))));
    assert!(!first.1);
    let again = parted(raw(&mut connection, "memory/entry.put", with(put("k", 1), &key("a"))));
    assert_eq!(again, (first.0.clone(), true), "byte for byte");
    let shuffled = json!({ "value": 1, "ctx": key("a"), "key": "k", "agent": "shell" });
    assert_eq!(parted(raw(&mut node.connect(), "memory/entry.put", shuffled)), again, "another connection");
    let other = connection.try_raw("memory/entry.put", with(put("k", 2), &key("a")));
    let error = refused(other, ErrorName::IdempotencyMismatch, "memory/entry.put");
    assert_eq!((error.data.effect, error.data.retryable), (Effect::None, false));
    assert_eq!(versions(&node, "k"), 1);
    // Another method and another key are other calls, and so is the same of another caller.
    raw(&mut connection, "memory/entry.put", with(put("k", 1), &key("b")));
    let made = node.token("ann", TokenKind::Operator, &[Scope::Supervise], &[]);
    raw(&mut node.bearer(&made.token), "memory/entry.put", with(put("k", 1), &key("a")));
    assert_eq!(versions(&node, "k"), 3);
    let deleted = json!({ "agent": "shell", "key": "k" });
    let gone = parted(raw(&mut connection, "memory/entry.delete", with(deleted.clone(), &key("a"))));
    // A reading method needs no key, and one does no harm.
    assert!(
        raw(&mut connection, "runtime/agent.get", with(json!({ "agent": "shell" }), &key("a"))).is_object()
    );
    for _ in 0..2 {
        node.kill_daemon();
        node.up();
        assert_eq!(parted(raw(&mut node.connect(), "memory/entry.put", with(put("k", 1), &key("a")))), again);
        let result = raw(&mut node.connect(), "memory/entry.delete", with(deleted.clone(), &key("a")));
        assert_eq!(parted(result), (gone.0.clone(), true));
    }
    assert_eq!(versions(&node, "k"), 4);
    let noted = calls(&node);
    assert_eq!(noted.len(), 8, "{noted:#?}");
    let text = serde_json::to_string(&noted).unwrap();
    assert!(!text.contains("\"a\"") && !text.contains("shell"), "keys and parameters are digests: {text}");
    node.verify();
}

/// Proves CALL-022.
#[test]
fn second_call_waits_for_the_first_which_outlives_its_caller() {
    let node = listening("shell");
    let gate = node.scratch().join("gate");
    let script = format!("while [ ! -e {} ]; do sleep 0.05; done", gate.display());
    let more = format!("prepare: [{{ name: wait, run: [\"/bin/sh\", \"-c\", \"{script}\"] }}]");
    node.apply(&terminal("slow", &["/bin/cat"], &more));
    let params = json!({ "agent": "slow" });
    // Its caller waits a moment only; the work goes on.
    let impatient = json!({ "idempotency_key": "i", "deadline_ms": 50 });
    let cut = node.connect().try_raw("runtime/agent.install", with(params.clone(), &impatient)).unwrap_err();
    assert_eq!((cut.name(), cut.data.effect), (ErrorName::DeadlineExceeded, Effect::Unknown));
    assert_eq!(calls(&node).len(), 1, "begun, not ended");
    let other = node.connect().try_raw("runtime/agent.install", with(json!({ "agent": "shell" }), &key("i")));
    refused(other, ErrorName::IdempotencyMismatch, "");
    let mut waiting = node.connect();
    waiting
        .send(&rpc::request(&Id::Number(7), "runtime/agent.install", with(params.clone(), &key("i"))))
        .unwrap();
    let mut taken_back = node.connect();
    let named = json!({ "idempotency_key": "i", "request_id": "second" });
    taken_back
        .send(&rpc::request(&Id::Number(8), "runtime/agent.install", with(params.clone(), &named)))
        .unwrap();
    eventually("the second wait is taken back", || {
        raw(&mut node.connect(), "core/cancel", json!({ "request_id": "second" }))["cancelled"] == true
    });
    let Incoming::Response { outcome, .. } = taken_back.read().unwrap() else { panic!("an answer") };
    assert_eq!(outcome.unwrap_err().name(), ErrorName::Cancelled);
    assert_eq!(node.count("slow", "agent.installed"), 0, "the work of the first goes on");
    fs::write(&gate, "").unwrap();
    let Incoming::Response { outcome, .. } = waiting.read().unwrap() else { panic!("an answer") };
    let heard = parted(serde_json::from_str(outcome.unwrap().get()).unwrap());
    assert!(heard.1, "it is the first one's");
    assert_eq!(parted(raw(&mut node.connect(), "runtime/agent.install", with(params, &key("i")))), heard);
    assert_eq!(node.count("slow", "agent.installed"), 1);
}

/// Proves CALL-023.
#[test]
fn what_nobody_knows_after_a_death_is_said() {
    let mut node = listening("shell");
    for (point, expected, acted) in
        [("call.began", "outcome_unknown", 0), ("call.effect", "outcome_unknown", 1), ("call.ended", "", 1)]
    {
        let params = with(put(point, 1), &key(point));
        arm(&node, point);
        assert!(node.connect().try_raw("memory/entry.put", params.clone()).is_err(), "{point}");
        eventually("the daemon has died", || node.has_ended());
        node.up();
        for _ in 0..2 {
            let mut connection = node.connect();
            let again = connection.try_raw("memory/entry.put", params.clone());
            if expected.is_empty() {
                assert!(parted(again.unwrap()).1);
            } else {
                let error = again.unwrap_err();
                assert_eq!(
                    (error.name().as_str(), error.data.effect),
                    (expected, Effect::Unknown),
                    "{point}"
                );
                assert!(error.data.replayed && !error.data.retryable && error.data.hint.is_some());
                let other = connection.try_raw("memory/entry.put", with(put(point, 2), &key(point)));
                assert_eq!(name_of(other), "idempotency_mismatch", "{point}");
            }
        }
        let found = node.connect().try_raw("memory/entry.get", json!({ "agent": "shell", "key": point }));
        assert_eq!(usize::from(found.is_ok()), acted, "{point}");
    }
    // A message's key stands with the message: the next daemon knows what became of it.
    let words = json!({ "agent": "shell", "parts": [{ "type": "text", "text": "x" }], "ctx": key("m") });
    arm(&node, "accept.after");
    assert!(node.connect().try_raw("runtime/agent.signal", words.clone()).is_err());
    eventually("the daemon has died", || node.has_ended());
    node.up();
    assert!(parted(raw(&mut node.connect(), "runtime/agent.signal", words)).1);
    assert_eq!(node.count("shell", "message.accepted"), 1);
    node.verify();
}

/// Proves CALL-024.
#[test]
fn failure_without_effect_frees_the_key() {
    let mut node = Node::start();
    let start = with(json!({ "agent": "late" }), &key("s"));
    let error = node.connect().try_raw("runtime/agent.start", start.clone()).unwrap_err();
    assert_eq!((error.name(), error.data.replayed), (ErrorName::NotFound, false));
    node.apply(&terminal("late", &["/bin/cat"], "run: stopped"));
    let begun = parted(raw(&mut node.connect(), "runtime/agent.start", start.clone()));
    assert!(!begun.1, "a retry acts");
    // One that may have changed something is kept.
    let more = "prepare: [{ name: wait, run: [\"/bin/sleep\", \"1000\"] }]";
    node.apply(&terminal("slow", &["/bin/cat"], more));
    let install = with(json!({ "agent": "slow" }), &json!({ "idempotency_key": "i", "request_id": "r" }));
    let mut waiting = node.connect();
    waiting.send(&rpc::request(&Id::Number(1), "runtime/agent.install", install.clone())).unwrap();
    eventually("it is taken back", || {
        let params = json!({ "request_id": "r", "reason": "too slow" });
        raw(&mut node.connect(), "core/cancel", params)["cancelled"] == true
    });
    let answer = loop {
        if let Incoming::Response { outcome, .. } = waiting.read().unwrap() {
            break outcome.unwrap_err();
        }
    };
    assert_eq!((answer.name(), answer.data.effect), (ErrorName::Cancelled, Effect::Unknown));
    for _ in 0..2 {
        let again = node.connect().try_raw("runtime/agent.install", install.clone()).unwrap_err();
        assert_eq!((again.name(), again.data.effect), (ErrorName::Cancelled, Effect::Unknown));
        assert!(again.data.replayed && again.message.ends_with("too slow"), "{again}");
        node.kill_daemon();
        node.up();
    }
    assert_eq!(node.count("slow", "agent.installed"), 0);
}

/// Proves CALL-025.
#[test]
fn no_secret_is_kept() {
    let node = Node::start();
    let params = json!({ "principal": "ci", "kind": "service", "scopes": ["read"], "ctx": key("t") });
    let made = raw(&mut node.connect(), "security/token.create", params.clone());
    let secret = made["token"].as_str().unwrap().to_owned();
    let error = node.connect().try_raw("security/token.create", params).unwrap_err();
    assert_eq!(
        (error.name(), error.data.effect, error.data.replayed),
        (ErrorName::Conflict, Effect::Applied, true)
    );
    assert!(error.message.contains("secret") && !error.message.contains(&secret), "{error}");
    let tokens = raw(&mut node.connect(), "security/token.list", json!({}));
    assert_eq!(tokens["items"].as_array().unwrap().len(), 1);
    drop(node.bearer(&secret));
    for entry in fs::read_dir(node.state_dir().join("record")).unwrap() {
        let path = entry.unwrap().path();
        let bytes = if path.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
        let is_there = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
        assert!(!is_there, "the secret is in {}", path.display());
    }
}

/// Proves CALL-027.
#[test]
fn keys_of_messages_and_of_calls_are_one_thing_from_outside() {
    let node = listening("shell");
    let mut connection = node.connect();
    let words = |text: &str| json!([{ "type": "text", "text": text }]);
    for (method, params, of) in [
        ("runtime/agent.signal", json!({ "agent": "shell", "parts": words("x") }), "parts"),
        (
            "runtime/message.submit",
            json!({ "agent": "shell", "channel": "web", "parts": words("x") }),
            "parts",
        ),
        ("runtime/agent.broadcast", json!({ "parts": words("x") }), "parts"),
        (
            "conversation/action.open",
            json!({ "agent": "shell", "kind": "question", "prompt": "Who?" }),
            "prompt",
        ),
    ] {
        let context = key(method);
        let first = raw(&mut connection, method, with(params.clone(), &context));
        assert_eq!(first["meta"].get("replayed"), None, "{method}");
        let again = raw(&mut connection, method, with(params.clone(), &context));
        assert_eq!(again["meta"]["replayed"], true, "{method}: {again}");
        assert_eq!((&first["message_id"], &first["id"]), (&again["message_id"], &again["id"]), "{method}");
        // The key among the parameters is the same key.
        let mut own = params.clone();
        own["idempotency_key"] = json!(method);
        own["ctx"] = json!({});
        assert_eq!(raw(&mut connection, method, own)["meta"]["replayed"], true, "{method}");
        let mut other = with(params, &context);
        other[of] = if of == "prompt" { json!("What?") } else { words("y") };
        let result = connection.try_raw(method, other);
        // To many, what becomes of each is told for each.
        let name = match &result {
            Ok(told) => told["items"][0]["error"].as_str().unwrap().to_owned(),
            Err(_) => name_of(result),
        };
        assert_eq!(name, "idempotency_mismatch", "{method}");
    }
    assert!(calls(&node).is_empty(), "their keys stand with what they made");
}

//! The same sentence means the same over each binding.

use edgeplane_testkit::{Notification, terminal};
use edgeplane_wire::rpc::RpcError;
use serde_json::{Value, json};

use super::listening;

/// An answer without what differs from call to call.
fn lasting(answer: Result<Value, RpcError>) -> Value {
    match answer {
        Ok(mut value) => {
            strip(&mut value);
            json!({ "result": value })
        }
        Err(error) => json!({ "error": error }),
    }
}

fn strip(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for name in [
                "uptimeSeconds",
                "openFiles",
                "events",
                "message_id",
                "pos",
                "ts",
                "receipts",
                "at",
                "messages",
            ] {
                fields.remove(name);
            }
            fields.values_mut().for_each(strip);
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        _ => {}
    }
}

/// Proves BIND-002.
#[test]
fn each_binding_gives_the_same_answers() {
    let (node, access) = listening();
    node.apply(&terminal("listener", &["/bin/cat"], "run: stopped"));
    let calls = [
        ("core/initialize", json!({})),
        ("core/health", Value::Null),
        ("core/describe", json!({ "profile": "stream" })),
        ("runtime/node.status", json!({})),
        ("runtime/agent.list", json!({})),
        ("runtime/agent.get", json!({ "agent": "listener" })),
        ("runtime/agent.get", json!({ "agent": "nobody" })),
        ("runtime/agent.get", json!({ "agent": "listener", "more": true })),
        ("runtime/agent.stop", json!({ "agent": "listener" })),
        ("runtime/agent.fly", json!({})),
        ("workspace/create", json!({})),
        ("runtime/agent.get", json!([1, 2])),
        ("runtime/agent.list", json!({ "ctx": { "tenant": "other" } })),
        ("runtime/agent.list", json!({ "ctx": 7 })),
        ("runtime/agent.wait", json!({ "agent": "listener", "phases": ["running"], "timeout_ms": 1 })),
        ("stream/replay", json!({ "target": { "kind": "agent", "id": "listener" } })),
        (
            "runtime/agent.signal",
            json!({
                "agent": "listener", "parts": [{ "type": "text", "text": "Grüße\n\u{1f980}" }],
            }),
        ),
        ("stream/unsubscribe", json!({ "subscription_id": "sub_01890000-0000-7000-8000-000000000001" })),
    ];
    let mut bindings = access.bindings();
    for (method, params) in calls {
        let mut answers = bindings.iter_mut().map(|binding| {
            let answer = lasting(binding.call(method, params.clone()));
            (binding.name(), answer)
        });
        let (_, expected) = answers.next().unwrap();
        for (name, answer) in answers {
            assert_eq!(answer, expected, "{method} over {name}");
        }
    }
}

/// Proves BIND-002, BIND-030.
#[test]
fn each_binding_gives_the_same_events() {
    let (node, access) = listening();
    node.apply(&terminal("listener", &["/bin/cat"], "run: stopped"));
    node.signal("listener", "hello", None);
    let expected: Vec<u64> = node.history("listener").iter().map(|event| event.pos).collect();
    assert!(expected.len() >= 2);
    for mut binding in access.bindings() {
        let params = json!({
            "target": { "kind": "agent", "id": "listener" },
            "from": "start",
            "types": ["agent.*", "message.*"],
        });
        let mut subscription = binding.subscribe(params).unwrap();
        assert!(subscription.answer()["head_seq"].is_number(), "{}", binding.name());
        for pos in &expected {
            let Notification { method, params } = loop {
                let heard = subscription.next().unwrap();
                if heard.method != "stream/state" {
                    break heard;
                }
            };
            assert_eq!(method, "stream/event", "{}: {params}", binding.name());
            assert_eq!(params["event"]["pos"], json!(pos), "{}", binding.name());
            assert_eq!(params["subscription_id"], subscription.answer()["subscription_id"]);
        }
        let Err(error) = binding.subscribe(json!({ "target": { "kind": "agent", "id": "nobody" } })) else {
            unreachable!()
        };
        assert_eq!(error.name().as_str(), "not_found", "{}", binding.name());
    }
}

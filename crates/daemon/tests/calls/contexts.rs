//! Contexts: bounds, selectors, what an answer says of itself, what a failure says.

use edgeplane_testkit::{Node, terminal};
use edgeplane_types::{ErrorName, Scope, TokenKind};
use serde_json::{Value, json};

use super::{listening, name_of, raw, refused, rules, with};

/// Proves CALL-001.
#[test]
fn context_is_bounded_and_read_whole() {
    let node = Node::start();
    let mut connection = node.connect();
    let long = "x".repeat(257);
    let longer = "x".repeat(2_049);
    for bad in [
        json!({ "request_id": "" }),
        json!({ "request_id": long }),
        json!({ "idempotency_key": "" }),
        json!({ "idempotency_key": long }),
        json!({ "principal": {} }),
        json!({ "principal": { "user_id": "a b" } }),
        json!({ "principal": { "user_id": "ann", "claims_ref": longer } }),
        json!({ "principal": { "user_id": "ann", "scopes": vec!["read"; 257] } }),
        json!({ "principal": { "user_id": "ann", "scopes": [long] } }),
        json!({ "principal": { "user_id": "ann", "on_behalf_of": vec!["bob"; 8] } }),
        json!({ "principal": { "user_id": "ann", "tenant": "local" } }),
        json!({ "selectors": { "agent": "shell" } }),
        json!({ "selectors": { "agent_id": "shell" } }),
        json!({ "selectors": { "resource_uri": longer } }),
        json!({ "user_id": "ann" }),
    ] {
        let shown = bad.to_string();
        assert_eq!(
            name_of(connection.try_raw("core/health", json!({ "ctx": bad }))),
            "invalid_params",
            "{shown:.80}"
        );
    }
    let tenant = |name: &str| json!({ "ctx": { "tenant": name } });
    assert_eq!(name_of(connection.try_raw("core/health", tenant("other"))), "not_found");
    assert_eq!(raw(&mut connection, "core/health", tenant("local"))["status"], "ok");
    let most = json!({ "request_id": "x".repeat(256), "deadline_ms": 1_000 });
    raw(&mut connection, "core/health", json!({ "ctx": most }));
}

/// Proves CALL-002.
#[test]
fn answer_says_of_itself_what_it_knows() {
    let node = listening("shell");
    let mut connection = node.connect();
    let params = json!({ "agent": "shell" });
    let without = raw(&mut connection, "runtime/epoch.list", params.clone());
    assert_eq!(without.get("meta"), None);
    let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let context = json!({ "request_id": "r-1", "traceparent": trace });
    let mut told = raw(&mut connection, "runtime/epoch.list", with(params, &context));
    let meta = told.as_object_mut().unwrap().remove("meta").unwrap();
    assert_eq!(told, without, "the rest is what it was");
    assert_eq!((&meta["request_id"], &meta["trace_id"]), (&json!("r-1"), &json!(&trace[3..35])));
    assert_eq!(meta.get("replayed"), None);
    // What was changed is known behind the position that the answer names.
    let put = raw(
        &mut connection,
        "memory/entry.put",
        json!({ "agent": "shell", "key": "k", "value": 1, "ctx": {} }),
    );
    let seq = put["meta"]["as_of_seq"].as_u64().unwrap();
    let events = node.history("");
    let position = events.iter().find(|event| event.event["type"] == "memory.put").unwrap().pos;
    assert!(seq >= position, "{seq} {position}");
    // Also where there is nothing else to say, and where a token is shown.
    let empty = raw(&mut connection, "memory/entry.list", json!({ "agent": "shell", "ctx": {} }));
    assert!(empty["meta"]["as_of_seq"].as_u64() >= Some(seq), "{empty}");
    let made = node.token("ci", TokenKind::Service, &[Scope::Read], &[]);
    let greeting = json!({ "token": made.token, "ctx": { "request_id": "hello" } });
    assert_eq!(raw(&mut connection, "core/initialize", greeting)["meta"]["request_id"], "hello");
}

/// Proves CALL-003, CALL-004.
#[test]
fn selectors_are_authorised_one_by_one_and_fit_the_rest() {
    let node = listening("shell");
    node.run("other", &terminal("other", &["/bin/cat"], ""));
    let (shell, other) = (node.get("shell"), node.get("other"));
    let session_id = shell.status.identities.session.session_id.to_string();
    let agent_id = shell.status.identities.audit.agent_id.to_string();
    let other_id = other.status.identities.audit.agent_id.to_string();
    let thread_id = session_id.replace("ses_", "thr_");
    let message_id = node.signal("shell", "hello", None).message_id.to_string();
    let turn_id = message_id.replace("msg_", "trn_");
    let status = raw(&mut node.connect(), "core/initialize", json!({}));
    let mut connection = node.connect();
    let ask = |connection: &mut edgeplane_testkit::Connection, selectors: Value, params: Value| {
        connection.try_raw("runtime/epoch.list", with(params, &json!({ "selectors": selectors })))
    };
    let of_shell = json!({ "agent": "shell" });
    for good in [
        json!({}),
        json!({ "agent_id": agent_id }),
        json!({ "agent_id": agent_id, "session_id": session_id, "thread_id": thread_id, "turn_id": turn_id }),
        json!({ "host_id": status["node_id"] }),
    ] {
        assert!(ask(&mut connection, good.clone(), of_shell.clone()).is_ok(), "{good}");
    }
    let number = "01890000-0000-7000-8000-000000000002";
    for (name, prefix) in [
        ("agent_id", "agt"),
        ("session_id", "ses"),
        ("thread_id", "thr"),
        ("turn_id", "trn"),
        ("run_id", "run"),
        ("task_id", "tsk"),
        ("host_id", "nod"),
        ("workspace_id", "wks"),
        ("capability_id", "cap"),
        ("invocation_id", "inv"),
        ("subscription_id", "sub"),
    ] {
        let selectors = json!({ name: format!("{prefix}_{number}") });
        let error = refused(ask(&mut connection, selectors, of_shell.clone()), ErrorName::NotFound, name);
        assert_eq!(error.message, format!("`ctx.selectors.{name}` names nothing that the caller may see"));
    }
    for later in [json!({ "binding_epoch": 1 }), json!({ "resource_uri": "x:y" })] {
        assert_eq!(name_of(ask(&mut connection, later, of_shell.clone())), "not_found");
    }
    for wrong in [
        json!({ "agent_id": other_id }),
        json!({ "agent_id": other_id, "session_id": session_id }),
        json!({ "session_id": other.status.identities.session.session_id }),
    ] {
        refused(ask(&mut connection, wrong, of_shell.clone()), ErrorName::InvalidParams, "contradict");
    }
    let subscription = raw(&mut connection, "stream/subscribe", json!({}))["subscription_id"].clone();
    let own = json!({ "selectors": { "subscription_id": subscription } });
    raw(&mut connection, "core/health", json!({ "ctx": own }));
    assert_eq!(
        name_of(node.connect().try_raw("core/health", json!({ "ctx": own }))),
        "not_found",
        "another's"
    );
    let two = json!({ "subscription_id": format!("sub_{number}"), "ctx": own });
    refused(connection.try_raw("stream/unsubscribe", two), ErrorName::InvalidParams, "contradict");
    // A message that a service may not see, it may not name either; nothing tells it from one that is not there.
    let made = node.token("ci", TokenKind::Service, &[Scope::Read], &[]);
    let mut service = node.bearer(&made.token);
    let hidden = ask(&mut service, json!({ "turn_id": turn_id }), of_shell.clone()).unwrap_err();
    let absent = ask(&mut service, json!({ "turn_id": format!("trn_{number}") }), of_shell).unwrap_err();
    assert_eq!(hidden, absent);
}

/// Proves CALL-040.
#[test]
fn failure_says_where_it_comes_from() {
    let node = listening("shell");
    let mut connection = node.connect();
    let name = raw(&mut connection, "core/initialize", json!({}))["node"].clone();
    let params = json!({ "agent": "nobody", "ctx": { "request_id": "r-7" } });
    let error = connection.try_raw("runtime/agent.get", params).unwrap_err();
    assert_eq!(error.data.service.as_deref(), name.as_str());
    assert_eq!(error.data.operation.as_deref(), Some("runtime/agent.get"));
    let ids = serde_json::to_value(&error.data.ids).unwrap();
    assert_eq!(ids, json!({ "agent": "nobody", "request_id": "r-7" }));
    let error = connection.try_raw("runtime/agent.fly", json!({ "agent": "a" })).unwrap_err();
    assert_eq!((error.name(), error.data.operation), (ErrorName::MethodNotFound, None));
    let error = connection.try_raw("runtime/host.drain", json!({ "host_id": "x" })).unwrap_err();
    assert_eq!(
        (error.name(), error.data.operation.as_deref()),
        (ErrorName::Unsupported, Some("runtime/host.drain"))
    );
    let many: serde_json::Map<String, Value> =
        (0..40).map(|n| (format!("f{n}_id"), json!("x".repeat(100)))).collect();
    let error = connection.try_raw("runtime/agent.get", Value::Object(many)).unwrap_err();
    assert_eq!((error.name(), error.data.ids.len()), (ErrorName::InvalidParams, 16));
}

const RULES: &str = r#"
@id("slowly") @rate("1/min")
permit (principal, action == Action::"send", resource);
@id("the-rest")
permit (principal, action, resource) unless { action == Action::"send" };
"#;

/// Proves CALL-041.
#[test]
fn retry_is_told_its_time() {
    let node = listening("shell");
    rules(&node, RULES);
    let mut connection = node.connect();
    let words = json!({ "agent": "shell", "parts": [{ "type": "text", "text": "x" }] });
    raw(&mut connection, "runtime/agent.signal", words.clone());
    let error = connection.try_raw("runtime/agent.signal", words).unwrap_err();
    assert_eq!((error.name(), error.data.retryable), (ErrorName::RateLimited, true), "{error}");
    let wait = error.data.retry_after_ms.unwrap();
    assert!((1..=60_000).contains(&wait), "{wait}");
}

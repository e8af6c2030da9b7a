//! A service and the user that it speaks for.

use edgeplane_testkit::Connection;
use edgeplane_types::{ErrorName, Scope, TokenKind};
use edgeplane_wire::{api::security::CreateParams, catalogue::TokenCreate};
use serde_json::{Value, json};

use super::{listening, name_of, raw, refused, rules, with};

fn user(name: &str, scopes: &[&str]) -> Value {
    json!({ "principal": { "user_id": name, "scopes": scopes } })
}

fn words(text: &str) -> Value {
    json!({ "agent": "shell", "parts": [{ "type": "text", "text": text }] })
}

/// Proves CALL-010, CALL-014, PROT-005.
#[test]
fn service_credential_without_delegation_cannot_act_for_a_user() {
    let node = listening("shell");
    let ann = || user("ann", &["read", "signal"]);
    let without = node.token("plain", TokenKind::Service, &[Scope::Read, Scope::Signal], &[]);
    let own = node.get("shell").status.identities.network.socket.unwrap();
    let granted = node.token("granted", TokenKind::Operator, &[Scope::Read, Scope::Delegate], &[]);
    let mut agent = Connection::open(own.as_ref()).unwrap();
    let list = || with(json!({}), &ann());
    refused(
        node.bearer(&without.token).try_raw("runtime/agent.list", list()),
        ErrorName::PermissionDenied,
        "rule scope-delegate",
    );
    refused(
        node.connect().try_raw("runtime/agent.list", list()),
        ErrorName::PermissionDenied,
        "rule scope-delegate",
    );
    let alone = "rule agents-speak-for-themselves";
    refused(agent.try_raw("runtime/agent.list", list()), ErrorName::PermissionDenied, alone);
    raw(&mut agent, "core/initialize", json!({ "token": granted.token }));
    refused(agent.try_raw("runtime/agent.list", list()), ErrorName::PermissionDenied, alone);
    let mut service = node.bearer(&granted.token);
    assert!(raw(&mut service, "runtime/agent.list", list()).is_object());
    for own in ["uid-0", "node", "unknown"] {
        let context = user(own, &["read"]);
        refused(
            service.try_raw("runtime/agent.list", with(json!({}), &context)),
            ErrorName::InvalidParams,
            own,
        );
    }
    let chain =
        json!({ "principal": { "user_id": "ann", "scopes": ["read"], "on_behalf_of": ["operator"] } });
    refused(
        service.try_raw("runtime/agent.list", with(json!({}), &chain)),
        ErrorName::InvalidParams,
        "operator",
    );
}

/// Proves CALL-011, PROT-005.
#[test]
fn user_scope_cannot_reach_service_only_methods() {
    let node = listening("shell");
    let all = ["read", "signal", "attach", "control", "supervise", "approve", "delegate", "payroll:write"];
    let made = node.token("portal", TokenKind::Service, &[Scope::Read, Scope::Signal, Scope::Delegate], &[]);
    let mut service = node.bearer(&made.token);
    let mut ask = |scopes: &[&str], method: &str, params: Value| {
        name_of(service.try_raw(method, with(params, &user("ann", scopes))))
    };
    let denied = "permission_denied";
    // Neither side adds to the other.
    assert_eq!(ask(&["signal"], "runtime/agent.list", json!({})), denied, "the user may not");
    assert_eq!(ask(&[], "runtime/agent.list", json!({})), denied);
    assert_eq!(ask(&["Read", "read "], "runtime/agent.list", json!({})), denied, "named exactly");
    let put = json!({ "agent": "shell", "key": "k", "value": 1 });
    assert_eq!(ask(&all, "memory/entry.put", put.clone()), denied, "the service may not");
    assert_ne!(ask(&all, "runtime/agent.list", json!({})), denied);
    assert_ne!(ask(&["signal"], "runtime/agent.signal", words("x")), denied);
    // What is for operators, or for nobody with a token, no user reaches through anybody.
    let everything = Scope::ALL;
    let root = node.token("root", TokenKind::Operator, everything, &["release"]);
    let mut service = node.bearer(&root.token);
    for (method, params) in [
        ("security/token.create", json!({ "principal": "x", "kind": "service", "scopes": ["read"] })),
        ("security/key.rotate", json!({})),
        ("runtime/node.stop", json!({})),
    ] {
        let error = service.try_raw(method, with(params, &user("ann", &all))).unwrap_err();
        assert_eq!(error.name(), ErrorName::PermissionDenied);
        assert!(
            error.message.contains("`root` for `ann`") && error.message.ends_with("no-token-is-enough"),
            "{error}"
        );
    }
    assert!(service.try_raw("memory/entry.put", with(put, &user("ann", &all))).is_ok());
    // The token's roles are not the user's.
    let action = json!({ "agent": "shell", "kind": "approval", "prompt": "May I?", "roles": ["release"] });
    let opened = raw(&mut node.connect(), "conversation/action.open", action);
    let vote = json!({
        "action_id": opened["action"]["id"],
        "digest": opened["action"]["digest"],
        "verdict": { "verdict": "approve" },
    });
    let result = service.try_raw("conversation/action.respond", with(vote.clone(), &user("ann", &all)));
    refused(result, ErrorName::PermissionDenied, "role");
    assert_eq!(
        raw(&mut service, "conversation/action.respond", vote)["outcome"],
        "approved",
        "its own they are"
    );
}

/// Proves CALL-012, CALL-013.
#[test]
fn both_are_in_the_record_and_users_do_not_see_each_others() {
    let node = listening("shell");
    let made = node.connect().call::<TokenCreate>(&CreateParams {
        principal: "portal".parse().unwrap(),
        kind: TokenKind::Service,
        scopes: vec![Scope::Read, Scope::Signal, Scope::Delegate],
        roles: Vec::new(),
        expires_in_ms: None,
        remote: false,
    });
    let mut service = node.bearer(&made.token);
    let both = ["read", "signal"];
    let chain = json!({
        "principal": { "user_id": "ann", "scopes": both, "claims_ref": "claims/7", "on_behalf_of": ["ann.boss"] },
        "idempotency_key": "k",
    });
    let of_ann = raw(&mut service, "runtime/agent.signal", with(words("one"), &chain))["message_id"].clone();
    let mut for_bob = user("bob", &both);
    for_bob["idempotency_key"] = json!("k");
    let of_bob =
        raw(&mut service, "runtime/agent.signal", with(words("two"), &for_bob))["message_id"].clone();
    assert_ne!(of_ann, of_bob, "the keys of two users are two");
    let own = raw(&mut service, "runtime/agent.signal", words("three"))["message_id"].clone();

    let accepted: Vec<Value> = node
        .history("shell")
        .into_iter()
        .map(|e| e.event)
        .filter(|e| e["type"] == "message.accepted")
        .collect();
    let actor = |n: usize| accepted[n]["actor"].clone();
    assert_eq!(actor(0), json!({ "kind": "service", "name": "portal", "user_id": "ann" }));
    assert_eq!(actor(1)["user_id"], "bob");
    assert_eq!(actor(2), json!({ "kind": "service", "name": "portal" }));
    let view = raw(&mut node.connect(), "runtime/message.get", json!({ "message_id": of_ann }));
    assert_eq!(
        (&view["source"], &view["channel"]),
        (&json!("portal"), &json!("workflow")),
        "who speaks is the service"
    );
    let behalf = &accepted[0]["payload"]["envelope"]["on_behalf_of"];
    let claimed = |name: &str| json!({ "principal": name, "authority": "untrusted", "proven": false });
    assert_eq!(*behalf, json!([claimed("ann"), claimed("ann.boss")]));

    let mut seen = |context: &Value, id: &Value| {
        service.try_raw("runtime/message.get", with(json!({ "message_id": id }), context)).is_ok()
    };
    for (id, by_ann, by_bob) in [(&of_ann, true, false), (&of_bob, false, true), (&own, false, false)] {
        assert_eq!((seen(&user("ann", &both), id), seen(&user("bob", &both), id)), (by_ann, by_bob), "{id}");
        assert!(seen(&json!({}), id), "the service sees what it said");
    }
    let printed = node.cli(&["events", "--agent", "shell"]).output().unwrap();
    let printed = String::from_utf8_lossy(&printed.stdout).into_owned();
    assert!(printed.contains("by=portal for=ann"), "{printed}");

    // Rules see the user.
    rules(
        &node,
        "@id(\"not-for-bob\") forbid (principal, action, resource)\nwhen { context has user && context.user == \"bob\" };\n",
    );
    let mut say = |name: &str| service.try_raw("runtime/agent.signal", with(words("x"), &user(name, &both)));
    assert!(say("ann").is_ok());
    refused(say("bob"), ErrorName::PolicyBlocked, "not-for-bob");
}

//! Who may follow what, and until when.

use std::path::Path;

use edgeplane_testkit::{Connection, Node, terminal, wait::eventually};
use edgeplane_types::{Scope, TokenKind};
use edgeplane_wire::{
    api::{
        Empty,
        core::InitializeParams,
        security::{CreateParams, RevokeParams},
    },
    catalogue::{CoreInitialize, METHODS, MethodEffect, TokenCreate, TokenEpoch, TokenRevoke},
};
use serde_json::{Value, json};

use super::talk::{Talk as _, agent, event, refused, state, subscribe};

fn node() -> Node {
    let node = Node::start();
    node.run("a", &terminal("a", &["/bin/cat"], "restart: { policy: never }"));
    node.run("b", &terminal("b", &["/bin/cat"], "restart: { policy: never }"));
    node
}

/// A conversation as an agent: whoever connects to its own socket is at most that agent.
fn inside(node: &Node, name: &str) -> Connection {
    let path = node.get(name).status.identities.network.socket.unwrap();
    Connection::open(Path::new(&path)).unwrap()
}

fn session_of(node: &Node, name: &str) -> String {
    let declared = node.events(name, &["agent.declared"]);
    declared[0].event["payload"]["session_id"].as_str().unwrap().to_owned()
}

/// Proves STRM-016, STRM-017.
#[test]
fn agent_follows_itself_and_the_log_and_hears_nothing_of_the_rest() {
    let node = node();
    let mut a = inside(&node, "a");
    for own in [
        json!({ "target": { "kind": "agent" }, "projection": "queue", "from": "start" }),
        json!({ "target": agent("a"), "projection": "run.timeline", "from": "start" }),
        json!({ "target": { "kind": "session", "id": session_of(&node, "a") }, "projection": "session.snapshot" }),
        json!({ "target": { "kind": "thread", "id": session_of(&node, "a").replace("ses_", "thr_") },
            "projection": "thread.transcript" }),
        json!({}),
        json!({ "target": agent("b") }),
    ] {
        subscribe(&mut a, own.clone());
    }
    let nowhere = "ses_01890000-0000-7000-8000-000000000006";
    let missing = |a: &mut Connection, target: Value, projection: &str| {
        let params = json!({ "target": target, "projection": projection });
        let error = a.ask("stream/subscribe", params.clone()).unwrap_err();
        assert_eq!(error.name().as_str(), "not_found", "{params}: {error}");
        assert_eq!(refused(a, "stream/replay", params.clone()), "not_found", "{params}");
        assert_eq!(refused(a, "stream/projection.get", params.clone()), "not_found", "{params}");
        error.message
    };
    // What is not for it and what is not there are told by the same words.
    let of_b = missing(&mut a, agent("b"), "queue");
    assert_eq!(of_b.replace("`b`", "`c`"), missing(&mut a, agent("c"), "queue"));
    let of_b = session_of(&node, "b");
    let there = missing(&mut a, json!({ "kind": "session", "id": of_b }), "session.snapshot");
    let not = missing(&mut a, json!({ "kind": "session", "id": nowhere }), "session.snapshot");
    assert_eq!(there.replace(&of_b, nowhere), not);
    let thread = of_b.replace("ses_", "thr_");
    missing(&mut a, json!({ "kind": "thread", "id": thread }), "thread.transcript");
    missing(&mut a, json!({ "kind": "node" }), "agent.status");
    missing(&mut a, json!({ "kind": "node" }), "nothing.known");
    for method in ["stream/projection.rebuild", "stream/projection.verify"] {
        assert_eq!(refused(&mut a, method, json!({})), "permission_denied");
    }
    // An operator is refused nothing that is there.
    let mut operator = node.connect();
    subscribe(
        &mut operator,
        json!({ "target": { "kind": "session", "id": of_b }, "projection": "session.snapshot" }),
    );
    assert_eq!(
        refused(&mut operator, "stream/subscribe", json!({ "target": { "kind": "node", "id": "nod_x" } })),
        "not_found"
    );
    // A session without an id is nobody's.
    assert_eq!(
        refused(&mut operator, "stream/subscribe", json!({ "target": { "kind": "agent" } })),
        "invalid_params"
    );
}

/// Proves STRM-018.
#[test]
fn subscription_ends_with_the_right_to_it_and_says_why() {
    let node = node();
    let token = |expires_in_ms| {
        let params = CreateParams {
            principal: "ann".parse().unwrap(),
            kind: TokenKind::Operator,
            scopes: vec![Scope::Read],
            roles: Vec::new(),
            expires_in_ms,
            remote: false,
        };
        node.connect().call::<TokenCreate>(&params)
    };
    let made = token(None);
    let mut revoked = node.bearer(&made.token);
    subscribe(&mut revoked, json!({}));
    let mut expiring = node.bearer(&token(Some(1_500)).token);
    subscribe(&mut expiring, json!({}));
    let issued = inside(&node, "a").call::<TokenEpoch>(&Empty {});
    let mut bearer = node.connect();
    let greeting = InitializeParams { token: Some(issued.token), ..InitializeParams::default() };
    bearer.call::<CoreInitialize>(&greeting);
    subscribe(&mut bearer, json!({ "target": agent("a"), "projection": "queue" }));
    let mut own = inside(&node, "a");
    subscribe(&mut own, json!({ "target": agent("a") }));
    let mut other = inside(&node, "b");
    subscribe(&mut other, json!({ "target": agent("b") }));

    let params = RevokeParams { token_id: made.token_id, reason: String::new() };
    node.connect().call::<TokenRevoke>(&params);
    assert_eq!(state(&mut revoked, "ended").reason.as_deref(), Some("revoked"));
    assert_eq!(
        refused(&mut revoked, "stream/subscribe", json!({})),
        "unauthenticated",
        "nor may it come back"
    );
    assert_eq!(state(&mut expiring, "ended").reason.as_deref(), Some("expired"));
    node.stop("a");
    for talk in [&mut own, &mut bearer] {
        assert_eq!(state(talk, "ended").reason.as_deref(), Some("epoch-over"));
    }
    eventually("the other has been looked at again", || {
        other.ask("stream/status", json!({})).unwrap()["items"].as_array().unwrap().len() == 1
    });
    node.signal("b", "x", None);
    assert!(event(&mut other).n > 0, "nothing ended for the other");
}

/// Proves STRM-020.
#[test]
fn no_method_writes_to_a_projection() {
    let writes: Vec<&str> = METHODS
        .iter()
        .filter(|method| method.name.starts_with("stream/") && method.effect == MethodEffect::Write)
        .map(|method| method.name)
        .collect();
    // It takes no contents: it makes what is there of the record once more.
    assert_eq!(writes, ["stream/projection.rebuild"]);
    let rebuild = METHODS.iter().find(|method| method.name == writes[0]).unwrap();
    let schema = rebuild.params_schema();
    let fields: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
    assert_eq!(fields, ["projection", "target"]);
    let node = Node::start();
    for method in
        ["stream/projection.put", "stream/projection.set", "stream/projection.update", "stream/event"]
    {
        assert_eq!(refused(&mut node.connect(), method, json!({})), "method_not_found");
    }
}

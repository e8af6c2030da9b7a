//! Persons who are known by tokens decide together what an agent asks.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends at once")]

use std::{fs, os::unix::fs::PermissionsExt as _};

use edgeplane_testkit::{
    Connection, Node,
    peers::{log_of, run_peer, speak_as},
    wait::eventually,
};
use edgeplane_types::{ErrorName, Ingress, Scope, TokenKind};
use edgeplane_wire::{
    api::security::{CreateResult, RevokeParams},
    catalogue::TokenRevoke,
    rpc::RpcError,
};
use serde_json::{Value, json};

fn person(node: &Node, principal: &str, roles: &[&str]) -> CreateResult {
    node.token(principal, TokenKind::Operator, &[Scope::Read, Scope::Approve], roles)
}

fn open(node: &Node, more: &Value) -> Value {
    let mut params =
        json!({ "kind": "approval", "prompt": "Release it?", "quorum": 2, "roles": ["release"] });
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    speak_as(node, "alpha").try_raw("conversation/action.open", params).unwrap()
}

fn decide(connection: &mut Connection, action: &Value, verdict: &str) -> Result<Value, RpcError> {
    let params = json!({
        "action_id": action["action"]["id"],
        "digest": action["action"]["digest"],
        "verdict": { "verdict": verdict },
    });
    connection.try_raw("conversation/action.respond", params)
}

fn get(connection: &mut Connection, action: &Value) -> Value {
    connection.try_raw("conversation/action.get", json!({ "action_id": action["action"]["id"] })).unwrap()
}

/// Whose votes count so far, and what it came to.
fn standing(view: &Value) -> (Vec<&str>, Option<&str>) {
    let votes = view["votes"].as_array().unwrap().iter();
    (votes.map(|vote| vote["principal"].as_str().unwrap()).collect(), view["outcome"].as_str())
}

#[track_caller]
fn assert_refused(result: Result<Value, RpcError>, word: &str) {
    let error = result.unwrap_err();
    assert_eq!(error.name(), ErrorName::PermissionDenied, "{error}");
    assert!(error.message.contains(word), "{error}");
}

/// Proves ACT-022, ACT-005, ACT-008.
#[test]
fn two_persons_with_the_role_decide_together() {
    let mut node = Node::start();
    run_peer(&node, "alpha", "principal: dora");
    let (ann, again) = (person(&node, "ann", &["ops", "release"]), person(&node, "ann", &["release"]));
    let (bob, eve) = (person(&node, "bob", &["release"]), person(&node, "eve", &["docs"]));
    let reader = node.token("carl", TokenKind::Operator, &[Scope::Read], &["release"]);
    let own = person(&node, "dora", &["release"]);
    let action = open(&node, &json!({}));

    assert_refused(decide(&mut node.connect(), &action, "approve"), "wrong_role");
    assert_refused(decide(&mut node.bearer(&eve.token), &action, "deny"), "wrong_role");
    assert_refused(decide(&mut node.bearer(&reader.token), &action, "approve"), "rule scope-approve");
    assert_refused(decide(&mut node.bearer(&own.token), &action, "approve"), "own_action");
    // An agent that shows a person's token stays the agent that it is.
    let greeting = json!({ "token": bob.token, "protocol_versions": ["2026-11-01"] });
    let mut alpha = speak_as(&node, "alpha");
    drop(alpha.try_raw("core/initialize", greeting));
    assert_refused(decide(&mut alpha, &action, "approve"), "own_action");
    assert_eq!(standing(&get(&mut node.bearer(&reader.token), &action)), (vec![], None));

    // Two tokens of one person are one person.
    for token in [&ann.token, &again.token, &ann.token] {
        let view = decide(&mut node.bearer(token), &action, "approve").unwrap();
        assert_eq!(standing(&view), (vec!["ann"], None));
    }
    node.kill_daemon();
    node.up();
    // What was said by a token stands, also when the token is worth nothing any more.
    for token_id in [ann.token_id, again.token_id] {
        node.connect().call::<TokenRevoke>(&RevokeParams { token_id, reason: "lost".into() });
    }
    let view = decide(&mut node.bearer(&bob.token), &action, "approve").unwrap();
    assert_eq!(standing(&view), (vec!["ann", "bob"], Some("approved")));
    eventually("its program is told", || log_of(&node, "alpha").len() == 2);
    let told: Vec<_> =
        node.inbox("alpha").into_iter().filter(|told| told.ingress == Ingress::Action).collect();
    assert_eq!(told.len(), 1);
    assert_eq!((told[0].source.as_str(), told[0].source_detail.proof.as_str()), ("bob", "operator_token"));
    let data = &log_of(&node, "alpha")[1]["params"]["parts"][1]["data"];
    assert_eq!((&data["outcome"], &data["by"]), (&json!("approved"), &json!(["ann", "bob"])));
    node.verify();
}

/// Proves ACT-022, ACT-006.
#[test]
fn persons_decide_by_command_with_the_token_in_a_file() {
    let node = Node::start();
    run_peer(&node, "alpha", "");
    let cli = |token: &str, words: &[&str]| {
        let file = node.scratch().join("token");
        fs::write(&file, token).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        let output = node.cli(words).env("EDGEPLANE_TOKEN_FILE", &file).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (ann, bob) = (person(&node, "ann", &["release"]), person(&node, "bob", &["release"]));
    let eve = person(&node, "eve", &[]);
    let action = open(&node, &json!({}));
    let id = action["action"]["id"].as_str().unwrap();
    let digest = action["action"]["digest"].as_str().unwrap();
    assert_eq!(cli(&ann.token, &["action", "approve", id, "--digest", digest]), (Some(0), String::new()));
    let (code, said) = cli(&eve.token, &["action", "approve", id, "--digest", digest]);
    assert_eq!(code, Some(77), "{said}");
    assert!(said.contains("wrong_role"), "{said}");
    let (code, said) = cli(&bob.token, &["action", "deny", id, "--reason", "not on a Friday"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(standing(&get(&mut node.connect(), &action)), (vec!["ann", "bob"], Some("denied")));
    node.verify();
}

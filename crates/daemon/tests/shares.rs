//! What one sender may have waiting in an inbox.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends at once")]

use edgeplane_testkit::{
    Connection, Node,
    peers::{question, run_peer, speak_as, with},
    terminal,
    wait::eventually,
};
use edgeplane_types::{ErrorName, Scope, TokenKind};
use edgeplane_wire::{catalogue::AgentStart, rpc::RpcError};
use serde_json::{Value, json};

fn say(speaker: &mut Connection) -> Result<Value, RpcError> {
    speaker.try_raw("runtime/agent.signal", question("slow", "hello"))
}

#[track_caller]
fn assert_full(result: Result<Value, RpcError>, words: &str) {
    let error = result.unwrap_err();
    assert_eq!((error.name(), error.data.retryable), (ErrorName::Backpressure, true), "{error}");
    assert!(error.message.contains(words), "{error}");
}

/// Proves MSG-091.
#[test]
fn one_sender_shuts_nobody_out() {
    let mut node = Node::start();
    node.apply(&terminal("slow", &["/bin/cat"], "inbox: { max: 4 }\nrun: stopped"));
    run_peer(&node, "flood", "");
    run_peer(&node, "quiet", "");
    let keyed = with(question("slow", "hello"), &json!({ "idempotency_key": "k" }));
    let first = speak_as(&node, "flood").try_raw("runtime/agent.signal", keyed.clone()).unwrap();
    say(&mut speak_as(&node, "flood")).unwrap();
    let own = "2 messages of `flood` wait for agent `slow` already: the share of one sender is 2 of 4";
    assert_full(say(&mut speak_as(&node, "flood")), own);
    let again = speak_as(&node, "flood").try_raw("runtime/agent.signal", keyed).unwrap();
    assert_eq!((&again["message_id"], &again["duplicate"]), (&first["message_id"], &json!(true)));
    node.kill_daemon();
    node.up();
    assert_full(say(&mut speak_as(&node, "flood")), own);
    // A service has a share of its own, and an operator the rest.
    let service = node.token("deploys", TokenKind::Service, &[Scope::Signal], &[]).token;
    say(&mut node.bearer(&service)).unwrap();
    node.signal("slow", "now", None);
    assert_full(say(&mut speak_as(&node, "quiet")), "4 messages wait for agent `slow` already");
    assert_full(say(&mut speak_as(&node, "flood")), "4 messages wait for agent `slow` already");

    // What was delivered, or is over, counts no more.
    node.change::<AgentStart>("slow").unwrap();
    eventually("it has read them", || node.get("slow").status.waiting_messages == 0);
    node.stop("slow");
    for _ in 0..2 {
        say(&mut speak_as(&node, "flood")).unwrap();
    }
    assert_full(say(&mut speak_as(&node, "flood")), own);
    for _ in 0..2 {
        node.signal("slow", "of the operator", None);
    }
    node.verify();
}

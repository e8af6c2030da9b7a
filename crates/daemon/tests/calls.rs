//! What surrounds a call: its context, for whom it is made, its key, taking it back.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on ends at once")]

#[path = "calls/cancels.rs"]
mod cancels;
#[path = "calls/contexts.rs"]
mod contexts;
#[path = "calls/keys.rs"]
mod keys;
#[path = "calls/users.rs"]
mod users;

use edgeplane_testkit::{Connection, Node, terminal};
use edgeplane_types::ErrorName;
use edgeplane_wire::rpc::RpcError;
use serde_json::{Value, json};

/// `params` with a context.
fn with(mut params: Value, context: &Value) -> Value {
    params["ctx"] = context.clone();
    params
}

fn name_of(result: Result<Value, RpcError>) -> String {
    match result {
        Ok(value) => value.to_string(),
        Err(error) => error.name().as_str().to_owned(),
    }
}

fn refused(result: Result<Value, RpcError>, name: ErrorName, words: &str) -> RpcError {
    let error = result.unwrap_err();
    assert_eq!(error.name(), name, "{error}");
    assert!(error.message.contains(words), "{words}: {error}");
    error
}

fn listening(name: &str) -> Node {
    let node = Node::start();
    node.run(name, &terminal(name, &["/bin/cat"], ""));
    node
}

fn put(key: &str, value: u64) -> Value {
    json!({ "agent": "shell", "key": key, "value": value })
}

/// What was made of `call.began` and `call.ended`, in the order of the record.
fn calls(node: &Node) -> Vec<Value> {
    let events = node.history("").into_iter();
    events
        .map(|event| event.event)
        .filter(|event| event["type"].as_str().unwrap().starts_with("call."))
        .collect()
}

/// Puts rules in force beside those that are shipped.
fn rules(node: &Node, more: &str) {
    let folder = node.state_dir().join("policy").join("node");
    std::fs::create_dir_all(&folder).unwrap();
    let text = format!("{}\n{more}", include_str!("../../policy/src/default.cedar"));
    let text = if more.contains("@rate") { more.to_owned() } else { text };
    std::fs::write(folder.join("own.cedar"), text).unwrap();
    raw(&mut node.connect(), "policy/rule.reload", json!({}));
}

fn raw(connection: &mut Connection, method: &str, params: Value) -> Value {
    connection.try_raw(method, params).unwrap_or_else(|error| panic!("{method}: {error}"))
}

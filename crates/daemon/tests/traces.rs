//! Traces of real nodes: every request is one, agents hand it on, and one look at the record says where the time went.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on ends at once")]

#[path = "traces/collector.rs"]
mod collector;
#[path = "traces/context.rs"]
mod context;
#[path = "traces/export.rs"]
mod export;
#[path = "traces/permission.rs"]
mod permission;
#[path = "traces/taps.rs"]
mod taps;
#[path = "traces/verdicts.rs"]
mod verdicts;

use edgeplane_testkit::{
    Node, acp,
    wait::{eventually, eventually_some},
    words,
};
use edgeplane_types::DeliveryMode;
use serde_json::{Value, json};

/// Runs an agent that does what messages say, in its folder.
fn run(node: &Node, name: &str, more: &str) -> std::path::PathBuf {
    let folder = node.scratch().join(name);
    node.run(name, &acp(name, &folder, &[], ("", more)));
    // What comes before that waits for its session, which is a verdict of its own.
    eventually("its session is there", || node.count(name, "session.opened") > 0);
    folder
}

/// Says something and does not wait.
fn tell(node: &Node, name: &str, text: &str) -> String {
    node.signal_with(&words(name, text, DeliveryMode::Queue))
}

fn call(node: &Node, method: &str, params: Value) -> Value {
    node.connect().try_raw(method, params).unwrap_or_else(|error| panic!("{method}: {error:?}"))
}

fn trace_of(node: &Node, message: &str) -> Value {
    call(node, "observe/trace.get", json!({ "message_id": message }))
}

fn explained(node: &Node, message: &str) -> Value {
    call(node, "observe/trace.explain", json!({ "message_id": message }))
}

/// The explanation of a message's trace, once it has this verdict.
fn verdict(node: &Node, message: &str, expected: &str) -> Value {
    let mut last = Value::Null;
    eventually_some(&format!("the verdict is {expected}"), || {
        last = explained(node, message);
        (last["verdict"] == expected).then(|| last.clone())
    })
}

/// Waits until a message's trace has ended.
fn ended(node: &Node, message: &str) -> Value {
    eventually_some("the trace has ended", || {
        let trace = trace_of(node, message);
        trace.get("end").is_some().then_some(trace)
    })
}

/// The spans of a trace that are of a part of the way.
fn spans<'a>(trace: &'a Value, segment: &str) -> Vec<&'a Value> {
    trace["spans"].as_array().unwrap().iter().filter(|span| span["segment"] == segment).collect()
}

/// The steps for a program that asks for commands.
fn command(program: &str, args: &Value) -> String {
    let steps = json!([
        ["create", { "command": program, "args": args }],
        ["wait_for_exit", { "terminalId": "T" }],
        ["output", { "terminalId": "T" }],
    ]);
    format!("terminal {steps}")
}

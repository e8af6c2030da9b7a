//! The stage of these tests: agents that do what they are told, and short words for calls.

use std::path::{Path, PathBuf};

use edgeplane_os::failpoint;
use edgeplane_testkit::{Node, acp, native, wait::eventually};
use edgeplane_types::ErrorName;
use serde_json::{Value, json};

/// Keeps every line that it reads, and ends its turns as it is told: `hold` never by itself, `say X` with X.
const WORKER: &str = r#"
import json, sys

log = open(sys.argv[1], "a")
deaf = "deaf" in sys.argv[2:]
def say(method, params):
    print(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}), flush=True)

for line in sys.stdin:
    log.write(line)
    log.flush()
    said = json.loads(line)
    method, params = said.get("method"), said.get("params", {})
    if method == "agent/turn.interrupt" and not deaf:
        say("agent/turn.complete", {"message_id": params["message_id"], "output": "cut short"})
    if method != "agent/message.deliver":
        continue
    text, message = params["parts"][0]["text"], params["message_id"]
    if text.startswith("end "):
        say("agent/turn.complete", {"message_id": text[4:], "output": "ended"})
    elif text.startswith("say "):
        say("agent/item.report", {"kind": "note", "text": "about to", "message_id": message})
        say("agent/turn.complete", {"message_id": message, "output": text[4:]})
    elif text == "alone":
        say("agent/turn.complete", {"message_id": message, "output": "and"})
        say("agent/turn.complete", {"output": "by itself"})
"#;

pub(crate) const OFFERS: &str =
    "offers: { interruption: true }\nrestart: { policy: always, backoff: { initial: 10ms } }";

/// Runs the native worker; gives the file of what it was told.
pub(crate) fn worker(node: &Node, name: &str, options: &[&str]) -> PathBuf {
    let log = node.scratch().join(format!("{name}.log"));
    let path = log.to_string_lossy().into_owned();
    let program = ["python3", "-c", WORKER, &path];
    let argv: Vec<&str> = program.iter().chain(options).copied().collect();
    node.run(name, &native(name, &argv, OFFERS));
    log
}

/// Runs the agent that speaks the Agent Client Protocol; gives its folder.
pub(crate) fn coder(node: &Node, name: &str) -> PathBuf {
    let folder = node.scratch().join(name);
    let restarts = "restart: { policy: always, backoff: { initial: 10ms } }";
    node.run(name, &acp(name, &folder, &[], ("", restarts)));
    folder
}

/// The lines that a worker was told with a method.
pub(crate) fn told(log: &Path, method: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter(|line| line["method"] == method).map(|line| line["params"].clone()).collect()
}

/// The texts that a worker was given, in order.
pub(crate) fn texts(log: &Path) -> Vec<String> {
    let given = told(log, "agent/message.deliver");
    given.iter().map(|line| line["parts"][0]["text"].as_str().unwrap().to_owned()).collect()
}

/// What the program behind the Agent Client Protocol was asked, each prompt as its texts.
pub(crate) fn prompts(folder: &Path) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(folder.join("prompts")).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

pub(crate) fn call(node: &Node, method: &str, params: Value) -> Value {
    let shown = params.to_string();
    let answer = node.connect().try_raw(&format!("conversation/{method}"), params);
    answer.unwrap_or_else(|error| panic!("{method} {shown}: {error} ({:?})", error.data))
}

#[track_caller]
pub(crate) fn refused(node: &Node, method: &str, params: Value) -> (ErrorName, String) {
    let shown = params.to_string();
    match node.connect().try_raw(&format!("conversation/{method}"), params) {
        Ok(answer) => panic!("{method} {shown} gave {answer}"),
        Err(error) => (error.name(), error.message),
    }
}

pub(crate) fn input(text: &str) -> Value {
    json!([{ "type": "text", "text": text }])
}

/// Begins a turn in the first thread of an agent.
pub(crate) fn begin(node: &Node, agent: &str, text: &str) -> Value {
    call(node, "turn.start", json!({ "agent": agent, "input": input(text) }))
}

/// Begins a turn in a thread.
pub(crate) fn begin_in(node: &Node, thread: &Value, text: &str) -> Value {
    call(node, "turn.start", json!({ "thread_id": thread, "input": input(text) }))
}

pub(crate) fn turn(node: &Node, id: &Value) -> Value {
    call(node, "turn.get", json!({ "turn_id": id }))
}

#[track_caller]
pub(crate) fn until_state(node: &Node, id: &Value, state: &str) -> Value {
    eventually(&format!("turn {id} is {state}"), || turn(node, id)["state"] == state);
    turn(node, id)
}

/// Says something in a thread and waits for the end of it.
pub(crate) fn said(node: &Node, thread: &Value, text: &str) -> Value {
    let begun = begin_in(node, thread, text);
    until_state(node, &begun["turn_id"], "completed");
    begun["turn_id"].clone()
}

pub(crate) fn thread(node: &Node, agent: &str) -> Value {
    call(node, "thread.create", json!({ "agent": agent }))["thread_id"].clone()
}

/// An id of our own choice.
pub(crate) fn id(prefix: &str, number: u32) -> String {
    format!("{prefix}_01890000-0000-7000-8000-{number:012}")
}

pub(crate) fn again(node: &mut Node, names: &[&str]) {
    node.kill_daemon();
    node.up();
    for name in names {
        node.wait(name, edgeplane_types::Phase::Running);
    }
}

/// Lets the daemon die when it passes this point.
pub(crate) fn arm(node: &Node, point: &str) {
    let folder = node.state_dir().join(failpoint::FOLDER);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(point), "").unwrap();
}

/// Makes a call by which the daemon dies, and starts the next one.
pub(crate) fn dies(node: &mut Node, point: &str, method: &str, params: Value) {
    arm(node, point);
    let answer = node.connect().try_raw(&format!("conversation/{method}"), params);
    assert!(answer.is_err(), "{answer:?}");
    eventually("the daemon is dead", || node.has_ended());
    node.up();
}

//! Agents that do as they are told by messages, and what tests ask them.

use edgeplane_wire::{
    api::message::{Answer, AskResult},
    rpc::RpcError,
};
use serde_json::{Value, json};

use crate::{Connection, Node, native, wait::eventually_some};

/// A native program that does what the first word of a message says, and keeps every line that it reads in `NAME.log`.
const PROGRAM: &str = r#"
import json, os, sys, time

folder, name = sys.argv[1:3]
log = open(f"{folder}/{name}.log", "a")

def say(**line):
    print(json.dumps({"jsonrpc": "2.0", **line}), flush=True)

def text(words):
    return [{"type": "text", "text": words}]

def item(words, **more):
    say(method="agent/item.report", params={"kind": "note", "text": words, **more})

def complete(words, message):
    say(method="agent/turn.complete", params={"message_id": message, "output": words})

def until(file):
    while not os.path.exists(f"{folder}/{file}"):
        time.sleep(0.01)

for number, raw in enumerate(sys.stdin):
    log.write(raw)
    log.flush()
    line = json.loads(raw)
    if line.get("method") != "agent/message.deliver":
        continue
    params = line["params"]
    message, source = params["message_id"], params["source"]
    words = params["parts"][0]["text"]
    verb, _, rest = words.partition(" ")
    if verb == "answer":
        complete(rest, message)
    elif verb == "when":
        file, _, rest = rest.partition(" ")
        until(file)
        complete(rest, message)
    elif verb == "reply":
        say(id=number, method="runtime/agent.signal", params={"agent": source, "parts": text(rest), "reply_to": message})
        complete("not this", message)
    elif verb == "ask":
        agent, _, rest = rest.partition(" ")
        say(id=f"ask {rest}", method="runtime/agent.ask", params={"agent": agent, "parts": text(rest), **json.loads(os.environ.get("MORE", "{}"))})
    elif verb == "items":
        item("named", message_id=message)
        item("not named")
        item("of none", message_id="msg_01890000-0000-7000-8000-000000000009")
        until("go")
        item("last")
        complete("done", message)
        item("too late", message_id=message)
    elif verb == "forge":
        complete("forged", rest)
        item("forged", message_id=rest)
        complete("", message)
    elif verb == "echo":
        say(id=number, method="runtime/agent.signal", params={"agent": rest, "parts": text(f"echo {name}"), "reply_to": message})
        complete("", message)
    elif verb == "volley":
        complete("", message)
        say(id=number, method="runtime/agent.signal", params={"agent": rest, "parts": text(f"volley {name}")})
    elif verb == "after":
        agent, _, rest = rest.partition(" ")
        complete("", message)
        say(id=number, method="runtime/agent.signal", params={"agent": agent, "parts": text(rest)})
    elif verb == "publish":
        say(id=number, method="runtime/topic.publish", params={"topic": rest, "parts": text("answer news")})
        complete("", message)
"#;

/// Runs such a program as an agent.
///
/// # Panics
/// If it does not run.
pub fn run_peer(node: &Node, name: &str, more: &str) {
    let folder = node.scratch();
    let program = node.program("peer.py", PROGRAM);
    let (program, folder) = (program.to_string_lossy(), folder.to_string_lossy());
    let argv = ["/usr/bin/python3", &program, &folder, name];
    node.run(name, &native(name, &argv, more));
}

/// The lines that a peer's program has read.
#[must_use]
pub fn log_of(node: &Node, name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(node.scratch().join(format!("{name}.log"))).unwrap_or_default();
    // The last line may be half written.
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// The answer to a request that a peer's program made.
///
/// # Panics
/// If none comes.
#[must_use]
pub fn answer_to(node: &Node, name: &str, id: &str) -> Value {
    eventually_some("the program is answered", || {
        log_of(node, name).into_iter().find(|line| line["id"] == id)
    })
}

/// Makes the file that programs wait for.
///
/// # Panics
/// If it cannot be made.
pub fn allow(node: &Node, file: &str) {
    std::fs::write(node.scratch().join(file), "").expect("the folder can be written to");
}

/// The parameters of a question, or of any other message.
#[must_use]
pub fn question(agent: &str, words: &str) -> Value {
    json!({ "agent": agent, "parts": [{ "type": "text", "text": words }] })
}

/// Parameters with more of them.
///
/// # Panics
/// If either are no object.
#[must_use]
pub fn with(mut params: Value, more: &Value) -> Value {
    let (Some(all), Some(more)) = (params.as_object_mut(), more.as_object()) else {
        panic!("no objects: {params} and {more}")
    };
    all.extend(more.clone());
    params
}

/// Asks an agent and waits for its answer.
///
/// # Errors
/// What the node answers.
pub fn try_ask(connection: &mut Connection, params: Value) -> Result<AskResult, RpcError> {
    let result = connection.try_raw("runtime/agent.ask", params)?;
    Ok(serde_json::from_value(result).expect("a result of asking"))
}

/// Asks an agent as the operator.
///
/// # Panics
/// If the question is refused.
#[must_use]
pub fn ask(node: &Node, agent: &str, words: &str) -> AskResult {
    try_ask(&mut node.connect(), question(agent, words))
        .unwrap_or_else(|error| panic!("ask {agent}: {error}"))
}

/// The answer that a result has.
///
/// # Panics
/// If it has none.
#[must_use]
pub fn answer(result: &AskResult) -> &Answer {
    result.answer.as_ref().unwrap_or_else(|| panic!("no answer: {result:?}"))
}

/// Speaks as an agent, over the socket of its epoch.
///
/// # Panics
/// If it has none.
#[must_use]
pub fn speak_as(node: &Node, name: &str) -> Connection {
    let view = node.get(name);
    let id = view.metadata["id"].as_str().unwrap_or_default();
    let socket = format!("{id}.{}.sock", view.status.epoch);
    let path = node.runtime_dir().join("agents").join(socket);
    Connection::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

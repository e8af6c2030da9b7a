//! The stage of these tests: agents that end their turns as a task says, and short words for calls.

use edgeplane_os::failpoint;
use edgeplane_testkit::{Node, native, wait::eventually_some};
use edgeplane_types::{TaskId, TaskState};
use edgeplane_wire::{
    api::work::{RunView, TaskDetail, TaskView},
    rpc::RpcError,
};
use serde_json::{Value, json};

/// Does what the last line of a message says: `say X` ends the turn with X, `hold` ends it when it is interrupted,
/// `gate F X` when the file F is there, `die` ends the program the first time (`die hold` goes on without end), `fail` says that the task failed.
const WORKER: &str = r#"
import json, os, sys, threading, time

folder, name = sys.argv[1:3]
log = open(f"{folder}/{name}.log", "a")
lock = threading.Lock()

def say(method, params):
    with lock:
        print(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}), flush=True)

def complete(message, words):
    say("agent/turn.complete", {"message_id": message, "output": words})

def gate(file, message, words):
    while not os.path.exists(f"{folder}/{file}"):
        time.sleep(0.01)
    complete(message, words)

for line in sys.stdin:
    log.write(line)
    log.flush()
    said = json.loads(line)
    method, params = said.get("method"), said.get("params", {})
    if method == "agent/turn.interrupt":
        complete(params["message_id"], "cut short")
    if method != "agent/message.deliver":
        continue
    message = params["message_id"]
    lines = params["parts"][0]["text"].strip().splitlines()
    lines = [l for l in lines if l and not l.startswith("Say which")]
    verb, _, rest = next((l for l in reversed(lines) if l.split(" ")[0] in ("say", "hold", "gate", "die", "fail")), "say ?").partition(" ")
    if verb == "say":
        complete(message, rest)
    elif verb == "fail":
        task = params["parts"][0]["text"].split()[1].rstrip(":")
        with lock:
            print(json.dumps({"jsonrpc": "2.0", "id": message, "method": "runtime/task.fail", "params": {"task_id": task, "reason": rest}}), flush=True)
        complete(message, rest)
    elif verb == "gate":
        file, _, rest = rest.partition(" ")
        threading.Thread(target=gate, args=(file, message, rest), daemon=True).start()
    elif verb == "die":
        died = f"{folder}/{name}.died"
        if os.path.exists(died):
            if rest != "hold":
                complete(message, "lived")
        else:
            open(died, "w").close()
            os._exit(3)
"#;

/// Runs a worker that is begun again whenever it ends.
pub(crate) fn worker(node: &Node, name: &str, more: &str) {
    let folder = node.scratch();
    let argv = ["python3", "-c", WORKER, &folder.to_string_lossy(), name];
    let more = format!(
        "offers: {{ interruption: true }}\nrestart: {{ policy: always, backoff: {{ initial: 10ms }} }}\n{more}"
    );
    node.run(name, &native(name, &argv, &more));
}

/// The messages that a worker was given.
pub(crate) fn given(node: &Node, name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(node.scratch().join(format!("{name}.log"))).unwrap_or_default();
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter(|line| line["method"] == "agent/message.deliver").collect()
}

pub(crate) fn call(node: &Node, method: &str, params: Value) -> Value {
    try_call(node, method, params).unwrap()
}

pub(crate) fn try_call(node: &Node, method: &str, params: Value) -> Result<Value, RpcError> {
    node.connect().try_raw(method, params)
}

/// Why a call is refused.
pub(crate) fn refused(node: &Node, method: &str, params: Value) -> String {
    try_call(node, method, params).unwrap_err().name().as_str().to_owned()
}

/// Writes a task down: `work` is what the worker is told, `more` further parameters.
pub(crate) fn task(node: &Node, agent: Option<&str>, work: &str, more: &Value) -> TaskId {
    let mut params = json!({ "title": "T", "objective": work });
    if let Some(agent) = agent {
        params["agent"] = json!(agent);
    }
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    serde_json::from_value(call(node, "runtime/task.create", params)["task_id"].clone()).unwrap()
}

pub(crate) fn detail(node: &Node, id: TaskId) -> TaskDetail {
    serde_json::from_value(call(node, "runtime/task.get", json!({ "task_id": id }))).unwrap()
}

pub(crate) fn view(node: &Node, id: TaskId) -> TaskView {
    detail(node, id).task
}

pub(crate) fn change(node: &Node, verb: &str, id: TaskId) -> TaskView {
    let answer = call(node, &format!("runtime/task.{verb}"), json!({ "task_id": id }));
    serde_json::from_value(answer).unwrap()
}

pub(crate) fn wait_for(node: &Node, id: TaskId, state: TaskState) -> TaskDetail {
    eventually_some(&format!("task {id} is {state}"), || {
        let found = detail(node, id);
        (found.task.state == state).then_some(found)
    })
}

/// The only run of a task.
pub(crate) fn only_run(detail: &TaskDetail) -> RunView {
    assert_eq!(detail.runs.len(), 1, "{:?}", detail.runs);
    detail.runs[0].clone()
}

pub(crate) fn allow(node: &Node, file: &str) {
    std::fs::write(node.scratch().join(file), "").unwrap();
}

/// Lets the daemon die when it passes this point.
pub(crate) fn arm(node: &Node, point: &str) {
    let folder = node.state_dir().join(failpoint::FOLDER);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(point), "1").unwrap();
}

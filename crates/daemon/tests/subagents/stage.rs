//! The stage of these tests: agents that do what a message says, and short words for calls.

use edgeplane_os::failpoint;
use edgeplane_testkit::{Connection, Node, native, peers::speak_as, wait::eventually_some};
use edgeplane_types::{AgentId, Phase, SubagentStatus};
use edgeplane_wire::{
    api::subagent::{SubagentListResult, SubagentView},
    rpc::RpcError,
};
use serde_json::{Value, json};

/// Does what the line of a message says that begins with a verb: `work X` ends the turn with X, `gate F X` when the file
/// F is there, `hold` when it is interrupted, `die` ends the program, `spawn JSON` spawns a subagent and ends the turn
/// with its id, `put KEY VALUE` writes into its memory. Each line that it reads stands in the file `NAME.log`, the folder it works in and the variables that it
/// has in `NAME.where`.
const WORKER: &str = r#"
import json, os, sys, threading, time

folder = sys.argv[1]
name = os.environ["EDGEPLANE_AGENT"]
lock = threading.Lock()
with open(f"{folder}/{name}.where", "w") as file:
    json.dump({"cwd": os.getcwd(), "env": dict(os.environ)}, file)
log = open(f"{folder}/{name}.log", "a")

def write(line):
    with lock:
        print(json.dumps({"jsonrpc": "2.0", **line}), flush=True)

def complete(message, words):
    write({"method": "agent/turn.complete", "params": {"message_id": message, "output": words}})

def gate(file, message, words):
    while not os.path.exists(f"{folder}/{file}"):
        time.sleep(0.01)
    complete(message, words)

for raw in sys.stdin:
    log.write(raw)
    log.flush()
    said = json.loads(raw)
    if "method" not in said:
        result = said.get("result", {})
        answer = said.get("error", {}).get("data", {}).get("name") or result.get("subagent_id") or "done"
        complete(said["id"], answer)
        continue
    method, params = said["method"], said.get("params", {})
    if method == "agent/turn.interrupt":
        complete(params["message_id"], "cut")
    if method != "agent/message.deliver":
        continue
    message = params["message_id"]
    lines = params["parts"][0]["text"].strip().splitlines()
    verbs = ("work", "gate", "hold", "die", "spawn", "put")
    verb, _, rest = next((l for l in reversed(lines) if l.split(" ")[0] in verbs), "work ?").partition(" ")
    if verb == "work":
        complete(message, rest)
    elif verb == "gate":
        file, _, rest = rest.partition(" ")
        threading.Thread(target=gate, args=(file, message, rest), daemon=True).start()
    elif verb == "die":
        os._exit(3)
    elif verb == "put":
        key, _, value = rest.partition(" ")
        write({"id": message, "method": "memory/entry.put", "params": {"key": key, "value": value}})
    elif verb == "spawn":
        write({"id": message, "method": "runtime/subagent.spawn", "params": json.loads(rest)})
"#;

/// Runs a worker, which is not begun again unless `more`, further lines of `spec`, says so.
pub(crate) fn worker(node: &Node, name: &str, more: &str) {
    node.run(name, &manifest(node, name, more));
}

pub(crate) fn manifest(node: &Node, name: &str, more: &str) -> String {
    let program = node.program("worker.py", WORKER);
    let folder = node.scratch();
    let argv = ["python3", &program.to_string_lossy(), &folder.to_string_lossy()];
    let restart = if more.contains("restart:") { "" } else { "restart: { policy: never }" };
    native(name, &argv, &format!("offers: {{ interruption: true }}\n{restart}\n{more}"))
}

pub(crate) fn call(node: &Node, method: &str, params: Value) -> Value {
    try_call(node, method, params).unwrap()
}

pub(crate) fn try_call(node: &Node, method: &str, params: Value) -> Result<Value, RpcError> {
    node.connect().try_raw(method, params)
}

/// What a daemon answers that may die meanwhile.
pub(crate) fn call_if_alive(node: &Node, method: &str, params: Value) -> Option<Value> {
    Connection::open(&node.socket()).ok()?.try_raw(method, params).ok()
}

/// Why a call is refused.
pub(crate) fn refused(node: &Node, method: &str, params: Value) -> String {
    try_call(node, method, params).unwrap_err().name().as_str().to_owned()
}

/// Why a call of an agent over the socket of its epoch is refused.
pub(crate) fn refused_as(node: &Node, name: &str, method: &str, params: Value) -> String {
    speak_as(node, name).try_raw(method, params).unwrap_err().name().as_str().to_owned()
}

pub(crate) fn read_view(value: Value) -> SubagentView {
    serde_json::from_value(value).unwrap()
}

/// Starts a subagent as an operator.
pub(crate) fn spawn(node: &Node, parent: &str, more: &Value) -> SubagentView {
    read_view(call(node, "runtime/subagent.spawn", with(parent, more)))
}

/// Starts one that goes on until it is closed, and waits until it runs.
pub(crate) fn spawn_running(node: &Node, parent: &str, name: &str, more: &Value) -> SubagentView {
    let mut params = json!({ "name": name });
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let made = spawn(node, parent, &params);
    node.wait(name, Phase::Running);
    made
}

pub(crate) fn with(parent: &str, more: &Value) -> Value {
    let mut params = json!({ "parent": parent });
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    params
}

pub(crate) fn under(node: &Node, parent: &str, depth: u32, all: bool) -> Vec<SubagentView> {
    let params = json!({ "parent": parent, "depth": depth, "all": all });
    let found = call(node, "runtime/subagent.list", params);
    serde_json::from_value::<SubagentListResult>(found).unwrap().items
}

/// The subagent as soon as it has this status.
pub(crate) fn wait_for(node: &Node, parent: &str, id: AgentId, status: SubagentStatus) -> SubagentView {
    wait_until(node, parent, id, &format!("is {status}"), |view| view.status == status)
}

/// The subagent as soon as it is retired.
pub(crate) fn wait_closed(node: &Node, parent: &str, id: AgentId) -> SubagentView {
    wait_until(node, parent, id, "is retired", |view| view.closed_at.is_some())
}

fn wait_until(
    node: &Node,
    parent: &str,
    id: AgentId,
    what: &str,
    is_there: impl Fn(&SubagentView) -> bool,
) -> SubagentView {
    eventually_some(&format!("{id} {what}"), || {
        under(node, parent, 8, true).into_iter().find(|view| view.subagent_id == id && is_there(view))
    })
}

pub(crate) fn allow(node: &Node, file: &str) {
    std::fs::write(node.scratch().join(file), "").unwrap();
}

/// The folder that a worker works in, and its variables.
pub(crate) fn place(node: &Node, name: &str) -> Value {
    let path = node.scratch().join(format!("{name}.where"));
    eventually_some("it says where it is", || {
        serde_json::from_str(&std::fs::read_to_string(&path).ok()?).ok()
    })
}

/// What a worker was given as messages.
pub(crate) fn given(node: &Node, name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(node.scratch().join(format!("{name}.log"))).unwrap_or_default();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter(|line| line["method"] == "agent/message.deliver").collect()
}

/// Lets the daemon die when it passes this point for the how manieth time.
pub(crate) fn arm(node: &Node, point: &str, passage: u64) {
    let folder = node.state_dir().join(failpoint::FOLDER);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(point), passage.to_string()).unwrap();
}

/// Takes back what was armed and not reached.
pub(crate) fn disarm(node: &Node) {
    drop(std::fs::remove_dir_all(node.state_dir().join(failpoint::FOLDER)));
}

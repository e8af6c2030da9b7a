//! The stage of these tests: agents that do what an item says, and short words for calls.

use std::collections::BTreeMap;

use edgeplane_os::failpoint;
use edgeplane_testkit::{Connection, Node, native, wait::eventually_some};
use edgeplane_types::{JobItemState, JobState, TaskId};
use edgeplane_wire::{
    api::{
        job::{JobDetail, JobItemView, JobView},
        work::{RunView, TaskDetail},
    },
    rpc::RpcError,
};
use serde_json::{Value, json};

/// Does what the line of a message says that begins with a verb: `work X` ends the turn with X, `slow MS X` after so many
/// milliseconds, `gate F X` when the file F is there, `hold` when it is interrupted, `frail X` ends the program when
/// anybody does X for the first time, `bad X` says that the task failed, `tell X` reports X and then ends the turn,
/// `twice X` reports X, the same again, and another thing, `craft MS X` writes a file, calls a tool and keeps its folder,
/// each until it hears that it is done, and ends the turn after so many milliseconds. Whatever is done stands in the file `done`.
const WORKER: &str = r#"
import json, os, socket, sys, threading, time

folder, name = sys.argv[1:3]
lock = threading.Lock()
waiting = {}

def note(file, line):
    fd = os.open(f"{folder}/{file}", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(fd, (line + "\n").encode())
    os.close(fd)

def write(line):
    with lock:
        print(json.dumps({"jsonrpc": "2.0", **line}), flush=True)

def complete(message, words):
    note("done", f"{words} {name}")
    write({"method": "agent/turn.complete", "params": {"message_id": message, "output": words}})

def gate(file, message, words):
    while not os.path.exists(f"{folder}/{file}"):
        time.sleep(0.01)
    complete(message, words)

def ask(message, number, steps, words):
    waiting[f"{message} {number}"] = (message, number, steps, words)
    method, params = steps[number]
    write({"id": f"{message} {number}", "method": method, "params": params})

def insist(method, params, key, is_done):
    """Asks over its own socket until it is done: under the same key if the answer was lost, under another one if it failed."""
    attempt = 0
    while True:
        ctx = {"idempotency_key": f"{key} {attempt}"}
        line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "ctx": ctx}})
        try:
            with socket.socket(socket.AF_UNIX) as conversation:
                conversation.connect(os.environ["EDGEPLANE_SOCKET"])
                conversation.sendall(line.encode() + b"\n")
                said = json.loads(conversation.makefile().readline())
        except (OSError, ValueError):
            time.sleep(0.05)
            continue
        if "result" in said and is_done(said["result"]):
            return said["result"]
        note("again", json.dumps({"key": key, "said": said}))
        error = said.get("error", {}).get("data", {})
        attempt += 0 if error.get("name") == "unavailable" else 1
        time.sleep(0.05)

def craft(message, ms, words):
    half = int(ms) / 2000
    with open(f"work-{words}", "w") as file:
        file.write(words)
    time.sleep(half)
    call = {"capability": "tools/append", "input": {"path": f"{folder}/appended", "text": words}}
    called = insist("capability/invoke", call, f"tool {words}", lambda said: said["status"] == "succeeded")
    kept = insist("workspace/checkpoint.create", {"agent": name}, f"keep {words}", lambda said: said["state"] == "created")
    note("crafted", f"{words} {name} {called['invocation_id']} {kept['checkpoint_id']}")
    time.sleep(half)
    complete(message, words)

for line in sys.stdin:
    said = json.loads(line)
    if "method" not in said:
        message, number, steps, words = waiting.pop(said["id"])
        error = said.get("error")
        note("answers", error["data"]["name"] if error else "ok")
        if number + 1 < len(steps):
            ask(message, number + 1, steps, words)
        else:
            complete(message, words)
        continue
    method, params = said["method"], said.get("params", {})
    if method == "agent/turn.interrupt":
        complete(params["message_id"], "cut")
    if method != "agent/message.deliver":
        continue
    message = params["message_id"]
    lines = params["parts"][0]["text"].strip().splitlines()
    verbs = ("work", "slow", "gate", "hold", "frail", "bad", "tell", "twice", "craft")
    verb, _, rest = next((l for l in reversed(lines) if l.split(" ")[0] in verbs), "work ?").partition(" ")
    task = (lines[0].split() + [""])[1].rstrip(":")
    report = lambda result: ("runtime/job_item.report", {"item_id": task, "result": result})
    if verb == "work":
        complete(message, rest)
    elif verb == "slow":
        ms, _, rest = rest.partition(" ")
        threading.Timer(int(ms) / 1000, complete, (message, rest)).start()
    elif verb == "craft":
        ms, _, rest = rest.partition(" ")
        threading.Thread(target=craft, args=(message, ms, rest), daemon=True).start()
    elif verb == "bad":
        ask(message, 0, [("runtime/task.fail", {"task_id": task, "reason": rest})], rest)
    elif verb == "tell":
        ask(message, 0, [report({"told": rest})], rest)
    elif verb == "twice":
        ask(message, 0, [report(rest), report(rest), report("another")], rest)
    elif verb == "gate":
        file, _, rest = rest.partition(" ")
        threading.Thread(target=gate, args=(file, message, rest), daemon=True).start()
    elif verb == "frail":
        try:
            os.close(os.open(f"{folder}/frail-{rest}", os.O_CREAT | os.O_EXCL))
            os._exit(3)
        except FileExistsError:
            complete(message, rest)
"#;

/// Runs a worker that is begun again whenever it ends.
pub(crate) fn worker(node: &Node, name: &str) {
    node.run(name, &manifest(node, name));
}

/// The same with labels.
pub(crate) fn labelled(node: &Node, name: &str, labels: &str) {
    let named = format!("name: {name}");
    let text = manifest(node, name).replacen(&named, &format!("{named}, labels: {{ {labels} }}"), 1);
    assert!(text.contains(labels), "{text}");
    node.run(name, &text);
}

fn manifest(node: &Node, name: &str) -> String {
    let program = node.program("worker.py", WORKER);
    let folder = node.scratch();
    let argv = ["python3", &program.to_string_lossy(), &folder.to_string_lossy(), name];
    let more = "offers: { interruption: true }\nrestart: { policy: always, backoff: { initial: 10ms } }";
    native(name, &argv, more)
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

/// Makes a job of these items.
pub(crate) fn job(node: &Node, items: &[&str], more: &Value) -> TaskId {
    let items: Vec<Value> = items.iter().map(|item| json!({ "input": item })).collect();
    let mut params = json!({ "title": "J", "items": items });
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    serde_json::from_value(call(node, "runtime/job.create", params)["job_id"].clone()).unwrap()
}

pub(crate) fn detail(node: &Node, id: TaskId) -> JobDetail {
    let params = json!({ "job_id": id, "limit": 500 });
    serde_json::from_value(call(node, "runtime/job.get", params)).unwrap()
}

pub(crate) fn wait_for(node: &Node, id: TaskId, state: JobState) -> JobView {
    eventually_some(&format!("job {id} is {state}"), || {
        let found = detail(node, id).job;
        (found.state == state).then_some(found)
    })
}

/// The items as soon as so many of them are there.
pub(crate) fn wait_for_items(node: &Node, id: TaskId, state: JobItemState, count: usize) -> Vec<JobItemView> {
    eventually_some(&format!("{count} items of {id} are {state}"), || {
        let found: Vec<_> = detail(node, id).items.into_iter().filter(|item| item.state == state).collect();
        (found.len() == count).then_some(found)
    })
}

pub(crate) fn runs(node: &Node, item: TaskId) -> Vec<RunView> {
    let found = call(node, "runtime/task.get", json!({ "task_id": item }));
    serde_json::from_value::<TaskDetail>(found).unwrap().runs
}

pub(crate) fn allow(node: &Node, file: &str) {
    std::fs::write(node.scratch().join(file), "").unwrap();
}

/// The lines that workers wrote into a file, sorted.
pub(crate) fn lines(node: &Node, file: &str) -> Vec<String> {
    let text = std::fs::read_to_string(node.scratch().join(file)).unwrap_or_default();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

/// How often each thing was done.
pub(crate) fn done(node: &Node) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for line in lines(node, "done") {
        *counts.entry(line.rsplit_once(' ').unwrap().0.to_owned()).or_default() += 1;
    }
    counts
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

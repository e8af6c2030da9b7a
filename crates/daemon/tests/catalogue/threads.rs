//! Sessions and threads.

use edgeplane_testkit::{native, wait::eventually};
use serde_json::{Value, json};

use super::{Case, World, case, fails, good};

/// Ends a turn with X where it is told `say X`, and any other only when it is interrupted.
const WORKER: &str = r#"
import json, sys

def over(message, output):
    params = {"message_id": message, "output": output}
    print(json.dumps({"jsonrpc": "2.0", "method": "agent/turn.complete", "params": params}), flush=True)

for line in sys.stdin:
    said = json.loads(line)
    method, params = said.get("method"), said.get("params", {})
    if method == "agent/turn.interrupt":
        over(params["message_id"], "cut short")
    if method == "agent/message.deliver" and params["parts"][0]["text"].startswith("say "):
        over(params["message_id"], params["parts"][0]["text"][4:])
"#;

/// An agent that ends turns, and runs.
pub(crate) fn worker(world: &World, more: &str) -> String {
    let name = world.name();
    let more = format!("offers: {{ interruption: true }}\n{more}");
    world.node.run(&name, &native(&name, &["python3", "-c", WORKER], &more));
    name
}

/// An agent that can have several threads, and does not run.
pub(crate) fn quiet(world: &World, more: &str) -> String {
    let name = world.name();
    world.node.apply(&native(&name, &["/bin/cat"], &format!("run: stopped\n{more}")));
    name
}

pub(crate) fn input(text: &str) -> Value {
    json!([{ "type": "text", "text": text }])
}

/// A further thread of an agent.
pub(crate) fn thread(world: &World, agent: &str) -> Value {
    world.made("conversation/thread.create", json!({ "agent": agent }))["thread_id"].clone()
}

/// The first thread of an agent.
pub(crate) fn main_of(world: &World, agent: &str) -> Value {
    world.made("conversation/thread.get", json!({ "agent": agent }))["thread_id"].clone()
}

pub(crate) fn until(world: &World, turn: &Value, state: &str) {
    eventually(&format!("turn {turn} is {state}"), || {
        world.made("conversation/turn.get", json!({ "turn_id": turn }))["state"] == state
    });
}

/// A turn in a thread, once it is in a state.
pub(crate) fn turn(world: &World, thread: &Value, text: &str, state: &str) -> Value {
    let begun = world.made("conversation/turn.start", json!({ "thread_id": thread, "input": input(text) }));
    until(world, &begun["turn_id"], state);
    begun["turn_id"].clone()
}

/// Labels, of which there may not be as many.
fn many_labels() -> Value {
    (0..17).map(|number| (format!("k{number}"), json!("v"))).collect::<serde_json::Map<_, _>>().into()
}

/// A further session of an agent that does not run.
fn session(world: &World) -> Value {
    world.made("conversation/session.create", json!({ "agent": quiet(world, "") }))["session_id"].clone()
}

/// The first session of an agent.
fn main_session(world: &World) -> Value {
    let list = world.made("conversation/session.list", json!({ "agent": quiet(world, "") }));
    list["items"][0]["session_id"].clone()
}

fn archived(world: &World) -> Value {
    let id = session(world);
    world.made("conversation/session.archive", json!({ "session_id": id }));
    id
}

/// An agent that has as many threads as one may have.
pub(crate) fn crowded(world: &World) -> Value {
    world.share("crowded", || {
        let name = quiet(world, "");
        let mut talk = world.talk(super::Who::Operator);
        for _ in 1..1_000 {
            talk("conversation/thread.create", json!({ "agent": name })).unwrap();
        }
        json!(name)
    })
}

/// A thread in which a turn runs.
fn busy(world: &World) -> Value {
    let id = thread(world, &worker(world, ""));
    turn(world, &id, "hold", "running");
    id
}

/// A thread with more turns than are rolled back at once.
fn long(world: &World) -> Value {
    let name = world.name();
    world.node.run(&name, &native(&name, &["/bin/sh", "-c", "exec cat >/dev/null"], ""));
    let main = main_of(world, &name);
    let mut talk = world.talk(super::Who::Operator);
    let params = json!({ "thread_id": main, "input": input("x") });
    let mut last = Value::Null;
    for _ in 0..1_001 {
        last = talk("conversation/turn.start", params.clone()).unwrap()["turn_id"].clone();
    }
    eventually("all were given", || {
        let queue = world.made("conversation/queue.list", json!({ "agent": name }));
        let newest = world.made("conversation/turn.get", json!({ "turn_id": last }));
        queue["waiting"] == 0 && newest["state"] == "running"
    });
    main
}

fn of(thread: &Value) -> Value {
    json!({ "thread_id": thread })
}

/// A thread that nothing is in.
fn empty(world: &World) -> Value {
    thread(world, &quiet(world, ""))
}

pub(crate) fn cases() -> Vec<Case> {
    sessions().into_iter().chain(made()).chain(seen()).chain(changed()).collect()
}

const NO_SESSION: &str = "ses_01890000-0000-7000-8000-999999999999";
const NO_THREAD: &str = "thr_01890000-0000-7000-8000-999999999999";

fn no_session() -> Value {
    json!({ "session_id": NO_SESSION })
}

fn no_thread() -> Value {
    json!({ "thread_id": NO_THREAD })
}

fn nobody() -> Value {
    json!({ "agent": "nobody" })
}

fn titled(mut params: Value, title: &str) -> Value {
    params["title"] = json!(title);
    params
}

/// A title longer than any.
fn long_title(params: Value) -> Value {
    titled(params, &"x".repeat(300))
}

fn at_version(mut params: Value, version: u64) -> Value {
    params["if_version"] = json!(version);
    params
}

/// Uses an id of the caller's choice for two different things.
fn used_twice(world: &World, method: &str, params: Value) -> Value {
    world.made(method, titled(params.clone(), "One"));
    titled(params, "Other")
}

fn sessions() -> Vec<Case> {
    vec![
        case(
            "conversation/session.create",
            |w| good(w, json!({ "agent": quiet(w, "") })),
            vec![
                fails!(NotFound, "conversation/session.create", |w| nobody()),
                fails!(InvalidParams, "conversation/session.create", |w| long_title(
                    json!({ "agent": quiet(w, "") })
                )),
                fails!(Unsupported, "conversation/session.create", |w| json!({ "agent": w.stopped("") })),
                fails!(Conflict, "conversation/session.create", |w| {
                    let params = json!({ "agent": quiet(w, ""), "session_id": w.id("ses") });
                    used_twice(w, "conversation/session.create", params)
                }),
                fails!(QuotaExhausted, "conversation/session.create", |w| json!({ "agent": crowded(w) })),
            ],
        ),
        case(
            "conversation/session.get",
            |w| good(w, json!({ "session_id": session(w) })),
            vec![fails!(NotFound, "conversation/session.get", |w| no_session())],
        ),
        case(
            "conversation/session.list",
            |w| good(w, json!({})),
            vec![fails!(NotFound, "conversation/session.list", |w| nobody())],
        ),
        case(
            "conversation/session.archive",
            |w| good(w, json!({ "session_id": session(w) })),
            vec![
                fails!(NotFound, "conversation/session.archive", |w| no_session()),
                fails!(InvalidState, "conversation/session.archive", |w| json!({
                    "session_id": main_session(w)
                })),
                fails!(VersionConflict, "conversation/session.archive", |w| at_version(
                    json!({ "session_id": session(w) }),
                    7
                )),
            ],
        ),
    ]
}

fn made() -> Vec<Case> {
    vec![
        case(
            "conversation/thread.create",
            |w| good(w, json!({ "agent": quiet(w, "") })),
            vec![
                fails!(NotFound, "conversation/thread.create", |w| nobody()),
                fails!(InvalidParams, "conversation/thread.create", |w| json!({
                    "agent": quiet(w, ""), "labels": many_labels()
                })),
                fails!(InvalidState, "conversation/thread.create", |w| json!({ "session_id": archived(w) })),
                fails!(Unsupported, "conversation/thread.create", |w| json!({ "agent": w.stopped("") })),
                fails!(Conflict, "conversation/thread.create", |w| {
                    let params = json!({ "agent": quiet(w, ""), "thread_id": w.id("thr") });
                    used_twice(w, "conversation/thread.create", params)
                }),
                fails!(QuotaExhausted, "conversation/thread.create", |w| json!({ "agent": crowded(w) })),
            ],
        ),
        case(
            "conversation/thread.fork",
            |w| good(w, of(&empty(w))),
            vec![
                fails!(NotFound, "conversation/thread.fork", |w| no_thread()),
                fails!(InvalidParams, "conversation/thread.fork", |w| long_title(of(&empty(w)))),
                fails!(InvalidState, "conversation/thread.fork", |w| {
                    let thread = empty(w);
                    let waiting = turn(w, &thread, "x", "queued");
                    json!({ "thread_id": thread, "turn_id": waiting })
                }),
                fails!(Unsupported, "conversation/thread.fork", |w| json!({
                    "thread_id": empty(w), "agent": w.stopped("")
                })),
                fails!(Conflict, "conversation/thread.fork", |w| {
                    let params = json!({ "thread_id": empty(w), "fork_id": w.id("thr") });
                    used_twice(w, "conversation/thread.fork", params)
                }),
                fails!(QuotaExhausted, "conversation/thread.fork", |w| {
                    let agent = crowded(w);
                    json!({ "thread_id": main_of(w, agent.as_str().unwrap()) })
                }),
            ],
        ),
    ]
}

fn seen() -> Vec<Case> {
    vec![
        case(
            "conversation/thread.get",
            |w| good(w, of(&empty(w))),
            vec![fails!(NotFound, "conversation/thread.get", |w| no_thread())],
        ),
        case(
            "conversation/thread.list",
            |w| good(w, json!({})),
            vec![fails!(NotFound, "conversation/thread.list", |w| nobody())],
        ),
        case(
            "conversation/thread.read",
            |w| good(w, of(&empty(w))),
            vec![fails!(NotFound, "conversation/thread.read", |w| no_thread())],
        ),
        case(
            "conversation/thread.resume",
            |w| good(w, of(&empty(w))),
            vec![fails!(NotFound, "conversation/thread.resume", |w| no_thread())],
        ),
    ]
}

fn changed() -> Vec<Case> {
    vec![
        case(
            "conversation/thread.update",
            |w| good(w, titled(of(&empty(w)), "Other")),
            vec![
                fails!(NotFound, "conversation/thread.update", |w| no_thread()),
                fails!(InvalidParams, "conversation/thread.update", |w| long_title(of(&empty(w)))),
                fails!(VersionConflict, "conversation/thread.update", |w| at_version(
                    titled(of(&empty(w)), "Other"),
                    7
                )),
            ],
        ),
        case(
            "conversation/thread.archive",
            |w| good(w, of(&empty(w))),
            vec![
                fails!(NotFound, "conversation/thread.archive", |w| no_thread()),
                fails!(InvalidState, "conversation/thread.archive", |w| {
                    let agent = quiet(w, "");
                    of(&main_of(w, &agent))
                }),
                fails!(VersionConflict, "conversation/thread.archive", |w| at_version(of(&empty(w)), 7)),
            ],
        ),
        case(
            "conversation/thread.rollback",
            |w| {
                let thread = thread(w, &worker(w, ""));
                turn(w, &thread, "say x", "completed");
                good(w, of(&thread))
            },
            vec![
                fails!(NotFound, "conversation/thread.rollback", |w| no_thread()),
                fails!(InvalidState, "conversation/thread.rollback", |w| of(&busy(w))),
                fails!(VersionConflict, "conversation/thread.rollback", |w| at_version(of(&empty(w)), 7)),
                fails!(TooLarge, "conversation/thread.rollback", |w| of(&long(w))),
                fails!(Unsupported, "conversation/thread.rollback", |w| {
                    let set = super::runtime::set(w);
                    of(&main_of(w, &set))
                }),
            ],
        ),
        case(
            "conversation/thread.compact",
            |w| {
                let thread = thread(w, &worker(w, ""));
                turn(w, &thread, "say x", "completed");
                good(w, summarised(of(&thread)))
            },
            vec![
                fails!(NotFound, "conversation/thread.compact", |w| summarised(no_thread())),
                fails!(InvalidParams, "conversation/thread.compact", |w| {
                    let mut params = of(&empty(w));
                    params["summary"] = json!(" ");
                    params
                }),
                fails!(InvalidState, "conversation/thread.compact", |w| summarised(of(&empty(w)))),
                fails!(VersionConflict, "conversation/thread.compact", |w| {
                    let thread = thread(w, &worker(w, ""));
                    turn(w, &thread, "say x", "completed");
                    at_version(summarised(of(&thread)), 7)
                }),
                fails!(Unsupported, "conversation/thread.compact", |w| {
                    let set = super::runtime::set(w);
                    summarised(of(&main_of(w, &set)))
                }),
            ],
        ),
    ]
}

fn summarised(mut params: Value) -> Value {
    params["summary"] = json!("what was said");
    params
}

//! Processes, surroundings, the machine, and overrides.

use edgeplane_testkit::{
    acp,
    peers::{answer, ask},
    wait::eventually,
};
use edgeplane_types::ErrorName;
use edgeplane_wire::rpc::RpcError;
use serde_json::{Value, json};

use super::{Case, World, case, fails, failure, good, runtime::set};

const NO_PROCESS: &str = "prc_01890000-0000-7000-8000-999999999999";
const NO_OVERRIDE: &str = "ovr_01890000-0000-7000-8000-999999999999";

fn nobody() -> Value {
    json!({ "agent": "nobody" })
}

/// A process that an agent had run, which lives on.
fn process(world: &World) -> (String, Value) {
    let name = world.name();
    world.node.run(&name, &acp(&name, &world.node.scratch().join(&name), &[], ("", "")));
    let steps = json!([["create", { "command": "sleep", "args": ["1000"] }]]);
    let text = answer(&ask(&world.node, &name, &format!("terminal {steps}"))).text.clone();
    let steps: Value = serde_json::from_str(&text).unwrap();
    (name, json!({ "process_id": steps.pointer("/0/terminalId").unwrap() }))
}

/// A process that can be written to: what it is run as, and its id.
fn reader(world: &World, script: &str) -> (String, Value) {
    let name = world.name();
    let folder = world.node.scratch().join(&name);
    world.node.run(&name, &acp(&name, &folder, &[], (", commandInput: true", "")));
    let steps = json!([["create", { "command": "sh", "args": ["-c", script] }]]);
    let text = answer(&ask(&world.node, &name, &format!("terminal {steps}"))).text.clone();
    let steps: Value = serde_json::from_str(&text).unwrap();
    (name, json!({ "process_id": steps.pointer("/0/terminalId").unwrap(), "text": "hello\n" }))
}

/// The same, with something else to say of it.
fn with(mut params: Value, key: &str, value: Value) -> Value {
    params[key] = value;
    params
}

/// More than a process that does not read is given at once.
fn overfull(world: &World) -> Result<Value, RpcError> {
    let (_agent, params) = reader(world, "sleep 1000");
    let bulk = with(with(params, "text", json!("x".repeat(200_000))), "wait_ms", json!(100));
    let mut talk = world.talk(super::Who::Operator);
    for _write in 0..10 {
        talk("runtime/process.write", bulk.clone())?;
    }
    Ok(Value::Null)
}

fn ended(world: &World) -> Value {
    let (_agent, params) = process(world);
    world.made("runtime/process.terminate", params.clone());
    eventually("it has ended", || world.made("runtime/process.get", params.clone())["status"] == "exited");
    params
}

/// A process whose shim does not answer the daemon that would reach it.
fn out_of_reach(method: &str) -> Result<Value, RpcError> {
    let mut world = World::new();
    let (agent, params) = match method {
        "runtime/process.write" => reader(&world, "sleep 1000"),
        _ => process(&world),
    };
    world.with_silent_shim(&agent, |world| world.ask(method, params))
}

fn held(agent: &str) -> Value {
    json!({ "scope": { "agents": [agent] }, "kind": "stop", "reason": "enough", "wait_ms": 0 })
}

/// An override that stands.
fn standing(world: &World) -> Value {
    world.made("runtime/override.apply", held(&world.stopped("")))["override_id"].clone()
}

/// One more override than may stand.
fn one_more(world: &World) -> Result<Value, RpcError> {
    let params = held(&world.stopped(""));
    let mut talk = world.talk(super::Who::Operator);
    let mut made = Vec::new();
    let refused = loop {
        match talk("runtime/override.apply", params.clone()) {
            Ok(applied) => made.push(applied["override_id"].clone()),
            Err(error) => break error,
        }
    };
    assert!(made.len() > 200, "{refused}");
    for id in made {
        talk("runtime/override.lift", json!({ "override_id": id, "reason": "enough" })).unwrap();
    }
    Err(refused)
}

pub(crate) fn cases() -> Vec<Case> {
    processes().into_iter().chain(machine()).chain(overrides()).collect()
}

fn processes() -> Vec<Case> {
    vec![
        case(
            "runtime/process.list",
            |w| good(w, json!({ "agent": w.stopped("") })),
            vec![
                fails!(NotFound, "runtime/process.list", |w| nobody()),
                fails!(InvalidParams, "runtime/process.list", |w| json!({
                    "agent": w.stopped(""), "cursor": "x"
                })),
            ],
        ),
        case(
            "runtime/process.get",
            |w| good(w, process(w).1),
            vec![fails!(NotFound, "runtime/process.get", |w| json!({ "process_id": NO_PROCESS }))],
        ),
        case(
            "runtime/process.read",
            |w| good(w, process(w).1),
            vec![fails!(NotFound, "runtime/process.read", |w| json!({ "process_id": NO_PROCESS }))],
        ),
        case(
            "runtime/process.write",
            |w| good(w, reader(w, "cat; sleep 1000").1),
            vec![
                fails!(
                    NotFound,
                    "runtime/process.write",
                    |_w| json!({ "process_id": NO_PROCESS, "text": "x" })
                ),
                fails!(InvalidParams, "runtime/process.write", |w| with(process(w).1, "wait_ms", json!(1))),
                fails!(InvalidState, "runtime/process.write", |w| with(process(w).1, "text", json!("x"))),
                fails!(TooLarge, "runtime/process.write", |w| {
                    with(process(w).1, "text", json!("x".repeat(300_000)))
                }),
                fails!(IdempotencyMismatch, "runtime/process.write", |w| {
                    let params = with(reader(w, "cat").1, "input_id", json!(w.id("inp")));
                    w.made("runtime/process.write", params.clone());
                    with(params, "text", json!("other"))
                }),
                failure(ErrorName::Backpressure, overfull),
                failure(ErrorName::Unavailable, |_world| out_of_reach("runtime/process.write")),
            ],
        ),
        case(
            "runtime/process.terminate",
            |w| good(w, process(w).1),
            vec![
                fails!(NotFound, "runtime/process.terminate", |w| json!({ "process_id": NO_PROCESS })),
                fails!(InvalidState, "runtime/process.terminate", |w| ended(w)),
                failure(ErrorName::Unavailable, |_world| out_of_reach("runtime/process.terminate")),
            ],
        ),
    ]
}

fn machine() -> Vec<Case> {
    vec![
        case(
            "runtime/environment.get",
            |w| good(w, json!({ "agent": w.stopped("") })),
            vec![
                fails!(NotFound, "runtime/environment.get", |w| nobody()),
                fails!(InvalidState, "runtime/environment.get", |w| json!({ "agent": set(w) })),
            ],
        ),
        case("runtime/host.list", |w| good(w, json!({})), vec![]),
        case(
            "runtime/host.get",
            |w| {
                let hosts = w.made("runtime/host.list", json!({}));
                good(w, json!({ "host": hosts["items"][0]["host_id"] }))
            },
            vec![fails!(NotFound, "runtime/host.get", |w| json!({ "host": "nowhere" }))],
        ),
    ]
}

fn overrides() -> Vec<Case> {
    vec![
        case(
            "runtime/override.apply",
            |w| good(w, held(&w.cat())),
            vec![
                fails!(InvalidParams, "runtime/override.apply", |w| {
                    let mut params = held(&w.stopped(""));
                    params["reason"] = json!(" ");
                    params
                }),
                fails!(NotFound, "runtime/override.apply", |w| held("nobody")),
                fails!(Unsupported, "runtime/override.apply", |w| {
                    let mut params = held(&w.stopped(""));
                    params["kind"] = json!("rollback");
                    params
                }),
                failure(ErrorName::QuotaExhausted, one_more),
            ],
        ),
        case(
            "runtime/override.lift",
            |w| good(w, json!({ "override_id": standing(w), "reason": "enough" })),
            vec![
                fails!(InvalidParams, "runtime/override.lift", |w| json!({
                    "override_id": standing(w), "reason": ""
                })),
                fails!(NotFound, "runtime/override.lift", |w| json!({
                    "override_id": NO_OVERRIDE, "reason": "enough"
                })),
            ],
        ),
        case(
            "runtime/override.list",
            |w| good(w, json!({})),
            vec![fails!(NotFound, "runtime/override.list", |w| nobody())],
        ),
        case(
            "runtime/override.get",
            |w| good(w, json!({ "override_id": standing(w) })),
            vec![fails!(NotFound, "runtime/override.get", |w| json!({ "override_id": NO_OVERRIDE }))],
        ),
    ]
}

//! Turns, the queue, outputs and their hand-over.

use std::fs;

use edgeplane_testkit::{acp, native, wait::eventually};
use edgeplane_types::ErrorName;
use edgeplane_wire::rpc::RpcError;
use serde_json::{Value, json};

use super::{
    Case, Who, World, bindings, case, fails, failure, good,
    threads::{input, main_of, quiet, thread, turn, worker},
    words::CLOSED,
};

const NO_TURN: &str = "trn_01890000-0000-7000-8000-999999999999";
const NO_OUTPUT: &str = "out_01890000-0000-7000-8000-999999999999";
const NO_DELIVERY: &str = "dlv_01890000-0000-7000-8000-999999999999";

fn nobody() -> Value {
    json!({ "agent": "nobody" })
}

fn no_turn() -> Value {
    json!({ "turn_id": NO_TURN })
}

fn of(turn: &Value) -> Value {
    json!({ "turn_id": turn })
}

fn start(agent: &str) -> Value {
    json!({ "agent": agent, "input": input("x") })
}

fn steer(turn: &Value) -> Value {
    json!({ "turn_id": turn, "input": input("x") })
}

fn long(mut params: Value) -> Value {
    params["input"] = input(&"x".repeat(5 << 20));
    params
}

/// A turn that waits for an agent that does not run.
fn waiting(world: &World) -> Value {
    waiting_for(world, &quiet(world, ""))
}

fn waiting_for(world: &World, agent: &str) -> Value {
    world.made("conversation/turn.start", start(agent))["turn_id"].clone()
}

/// A turn that runs.
fn running(world: &World, more: &str) -> Value {
    let agent = worker(world, more);
    turn(world, &main_of(world, &agent), "hold", "running")
}

/// A turn that is over, of an agent that all such turns share.
fn done(world: &World) -> Value {
    let agent = world.share("worker", || json!(worker(world, "")));
    turn(world, &main_of(world, agent.as_str().unwrap()), "say x", "completed")
}

fn output(world: &World) -> Value {
    json!(done(world).as_str().unwrap().replace("trn_", "out_"))
}

/// The same key for two different texts.
fn reused(world: &World, method: &str, mut params: Value) -> Result<Value, RpcError> {
    params["idempotency_key"] = json!(world.name());
    world.ask(method, params.clone()).unwrap();
    params["input"] = input("y");
    world.ask(method, params)
}

/// A node whose agents may tell each other something three times an hour, and what one of them hears at the fourth.
pub(crate) fn too_often(method: &str, params: fn(&str) -> Value) -> Result<Value, RpcError> {
    let world = World::new();
    let (one, other) = (world.cat(), world.cat());
    let shipped = concat!(env!("CARGO_MANIFEST_DIR"), "/../policy/src/default.cedar");
    let rules = fs::read_to_string(shipped).unwrap().replace("@rate(\"600/min\")", "@rate(\"3/h\")");
    let folder = world.node.state_dir().join("policy/node");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("own.new"), rules).unwrap();
    fs::rename(folder.join("own.new"), folder.join("own.cedar")).unwrap();
    eventually("it is in force", || {
        world.made("policy/rule.reload", json!({}))["items"][0]["file"] == "own.cedar"
    });
    let mut agent = world.talk(Who::Agent(&one));
    for _ in 0..3 {
        agent(method, params(&other)).unwrap();
    }
    agent(method, params(&other))
}

pub(crate) fn cases() -> Vec<Case> {
    begun().into_iter().chain(steered()).chain(seen()).chain(handed_over()).collect()
}

fn begun() -> Vec<Case> {
    vec![case(
        "conversation/turn.start",
        |w| good(w, start(&quiet(w, ""))),
        vec![
            fails!(NotFound, "conversation/turn.start", |w| start("nobody")),
            fails!(InvalidParams, "conversation/turn.start", |w| json!({ "input": input("x") })),
            fails!(InvalidState, "conversation/turn.start", |w| json!({
                "agent": quiet(w, ""), "input": input("x"), "on_busy": "reject"
            })),
            fails!(Unsupported, "conversation/turn.start", |w| json!({
                "create": { "agent": w.stopped("") }, "input": input("x")
            })),
            fails!(TooLarge, "conversation/turn.start", |w| long(start(&quiet(w, "")))),
            fails!(Backpressure, "conversation/turn.start", |w| {
                let agent = quiet(w, "inbox: { max: 1 }");
                waiting_for(w, &agent);
                start(&agent)
            }),
            failure(ErrorName::RateLimited, |_world| too_often("conversation/turn.start", start)),
            fails!(Conflict, "conversation/turn.start", |w| {
                let mut params = start(&quiet(w, ""));
                params["turn_id"] = json!(w.id("trn"));
                w.made("conversation/turn.start", params.clone());
                params["input"] = input("y");
                params
            }),
            fails!(QuotaExhausted, "conversation/turn.start", |w| json!({
                "create": { "agent": super::threads::crowded(w) }, "input": input("x")
            })),
            (ErrorName::IdempotencyMismatch, |w| reused(w, "conversation/turn.start", start(&quiet(w, "")))),
            fails!(PolicyBlocked, "conversation/turn.start", |w| start(&quiet(w, CLOSED))),
            fails!(Locked, "conversation/turn.start", |w| {
                let mut params = start(&quiet(w, ""));
                params["workspace_id"] = bindings::written(w)["workspace_id"].clone();
                params
            }),
        ],
    )]
}

fn steered() -> Vec<Case> {
    vec![
        case(
            "conversation/turn.steer",
            |w| good(w, steer(&running(w, ""))),
            vec![
                fails!(NotFound, "conversation/turn.steer", |w| steer(&json!(NO_TURN))),
                fails!(InvalidState, "conversation/turn.steer", |w| steer(&waiting(w))),
                fails!(Unsupported, "conversation/turn.steer", |w| {
                    let name = w.name();
                    w.node.apply(&acp(&name, &w.node.scratch().join(&name), &[], ("", "run: stopped")));
                    steer(&waiting_for(w, &name))
                }),
                fails!(TooLarge, "conversation/turn.steer", |w| long(steer(&waiting(w)))),
                fails!(Backpressure, "conversation/turn.steer", |w| {
                    let agent = worker(w, "inbox: { max: 1 }");
                    let running = turn(w, &main_of(w, &agent), "hold", "running");
                    waiting_for(w, &agent);
                    steer(&running)
                }),
                (ErrorName::IdempotencyMismatch, |w| {
                    reused(w, "conversation/turn.steer", steer(&running(w, "")))
                }),
                fails!(PolicyBlocked, "conversation/turn.steer", |w| {
                    let agent = quiet(w, "");
                    let waiting = waiting_for(w, &agent);
                    w.node.apply(&native(&agent, &["/bin/cat"], &format!("run: stopped\n{CLOSED}")));
                    steer(&waiting)
                }),
            ],
        ),
        case(
            "conversation/turn.interrupt",
            |w| good(w, of(&running(w, ""))),
            vec![
                fails!(NotFound, "conversation/turn.interrupt", |w| no_turn()),
                fails!(InvalidParams, "conversation/turn.interrupt", |w| json!({
                    "turn_id": waiting(w), "reason": "x".repeat(2_000)
                })),
                fails!(Unsupported, "conversation/turn.interrupt", |w| {
                    let agent = w.cat();
                    of(&turn(w, &main_of(w, &agent), "x", "unknown"))
                }),
                (ErrorName::PermissionDenied, |w| {
                    let agent = w.cat();
                    let turn = waiting_for(w, &agent);
                    let params = json!({ "turn_id": turn, "queued": "drop" });
                    w.talk(Who::Agent(&agent))("conversation/turn.interrupt", params)
                }),
            ],
        ),
        case(
            "conversation/queue.remove",
            |w| good(w, of(&waiting(w))),
            vec![
                fails!(NotFound, "conversation/queue.remove", |w| no_turn()),
                fails!(InvalidState, "conversation/queue.remove", |w| of(&done(w))),
            ],
        ),
        case(
            "conversation/queue.promote",
            |w| good(w, of(&waiting(w))),
            vec![
                fails!(NotFound, "conversation/queue.promote", |w| no_turn()),
                fails!(InvalidState, "conversation/queue.promote", |w| of(&done(w))),
            ],
        ),
    ]
}

fn seen() -> Vec<Case> {
    vec![
        case(
            "conversation/turn.get",
            |w| good(w, of(&waiting(w))),
            vec![fails!(NotFound, "conversation/turn.get", |w| no_turn())],
        ),
        case(
            "conversation/turn.list",
            |w| good(w, json!({ "agent": quiet(w, "") })),
            vec![
                fails!(NotFound, "conversation/turn.list", |w| nobody()),
                fails!(InvalidParams, "conversation/turn.list", |w| json!({})),
            ],
        ),
        case(
            "conversation/item.list",
            |w| good(w, of(&waiting(w))),
            vec![
                fails!(NotFound, "conversation/item.list", |w| no_turn()),
                fails!(InvalidParams, "conversation/item.list", |w| json!({})),
            ],
        ),
        case(
            "conversation/queue.list",
            |w| good(w, json!({ "agent": quiet(w, "") })),
            vec![
                fails!(NotFound, "conversation/queue.list", |w| nobody()),
                fails!(InvalidParams, "conversation/queue.list", |w| json!({})),
            ],
        ),
        case(
            "conversation/output.get",
            |w| good(w, json!({ "output_id": output(w) })),
            vec![fails!(NotFound, "conversation/output.get", |w| json!({ "output_id": NO_OUTPUT }))],
        ),
        case(
            "conversation/output.list",
            |w| good(w, json!({ "thread_id": thread(w, &quiet(w, "")) })),
            vec![
                fails!(NotFound, "conversation/output.list", |w| nobody()),
                fails!(InvalidParams, "conversation/output.list", |w| json!({})),
            ],
        ),
        case(
            "conversation/delivery.list",
            |w| good(w, json!({})),
            vec![fails!(NotFound, "conversation/delivery.list", |w| nobody())],
        ),
    ]
}

fn to_caller(output: &Value) -> Value {
    json!({ "output_id": output, "destination": { "to": "caller" } })
}

fn handed_over() -> Vec<Case> {
    vec![
        case(
            "conversation/delivery.create",
            |w| good(w, to_caller(&output(w))),
            vec![
                fails!(NotFound, "conversation/delivery.create", |w| to_caller(&json!(NO_OUTPUT))),
                fails!(InvalidParams, "conversation/delivery.create", |w| {
                    let mut params = to_caller(&output(w));
                    params["delivery_id"] = json!("dlv_01890000-0000-6000-8000-000000000001");
                    params
                }),
                fails!(Conflict, "conversation/delivery.create", |w| {
                    let mut params = to_caller(&output(w));
                    params["delivery_id"] = json!(w.id("dlv"));
                    w.made("conversation/delivery.create", params.clone());
                    params["output_id"] = output(w);
                    params
                }),
            ],
        ),
        case(
            "conversation/delivery.ack",
            |w| {
                let made = w.made("conversation/delivery.create", to_caller(&output(w)));
                good(w, json!({ "delivery_id": made["delivery_id"] }))
            },
            vec![
                fails!(NotFound, "conversation/delivery.ack", |w| json!({ "delivery_id": NO_DELIVERY })),
                fails!(InvalidState, "conversation/delivery.ack", |w| {
                    let destination = json!({ "to": "agent", "agent": quiet(w, CLOSED) });
                    let params = json!({ "output_id": output(w), "destination": destination });
                    let made = w.made("conversation/delivery.create", params);
                    assert_eq!(made["state"], "failed");
                    json!({ "delivery_id": made["delivery_id"] })
                }),
            ],
        ),
    ]
}

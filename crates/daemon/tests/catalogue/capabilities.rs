//! Capabilities: what connectors offer, and calls of it.

use edgeplane_testkit::mcp;
use edgeplane_types::{ErrorName, Phase};
use edgeplane_wire::rpc::RpcError;
use serde_json::{Value, json};

use super::{Case, Good, Who, World, case, fails, failure, good};

/// A connector that several cases share.
fn tools(world: &World) {
    world.share("tools", || {
        declare(world, "tools", true);
        json!({})
    });
}

fn declare(world: &World, name: &str, enabled: bool) {
    let program = world.node.program("server.py", mcp::SERVER);
    let value = json!({
        "transport": { "stdio": { "command": ["python3", "-u", program, "plain"] } },
        "policy": { "default": "ask", "allow": ["echo"], "deny": ["die"] },
        "enabled": enabled,
    });
    world.made("resource/put", json!({ "uri": format!("edgeplane://connector/{name}"), "value": value }));
}

/// A capability of the shared connector.
fn named(world: &World, tool: &str) -> Value {
    tools(world);
    json!({ "capability": format!("tools/{tool}") })
}

/// A capability of a connector that is not used.
fn unused(world: &World) -> Value {
    let name = world.name();
    declare(world, &name, false);
    json!({ "capability": format!("{name}/echo"), "input": { "text": "x" } })
}

fn call(world: &World, tool: &str, input: Value) -> Value {
    let mut params = named(world, tool);
    params["input"] = input;
    params
}

/// A call that is over.
fn called(world: &World) -> Value {
    let made = world.made("capability/invoke", call(world, "echo", json!({ "text": "x" })));
    json!({ "invocation_id": made["invocation_id"] })
}

fn nobody(world: &World) -> Value {
    json!({ "invocation_id": world.id("inv") })
}

fn with(mut params: Value, more: &Value) -> Value {
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    params
}

/// A call of an agent that waits for leave, and the leave.
fn waiting(world: &World) -> Value {
    let agent = world.cat();
    let path = world.node.scratch().join(&agent);
    let params = call(world, "append", json!({ "path": path, "text": "x" }));
    let made = world.talk(Who::Agent(&agent))("capability/invoke", params).unwrap();
    let action = world.made("conversation/action.get", json!({ "action_id": made["action_id"] }));
    json!({
        "invocation_id": made["invocation_id"],
        "digest": action["action"]["digest"],
        "verdict": { "verdict": "deny" },
    })
}

pub(crate) fn cases() -> Vec<Case> {
    looking().into_iter().chain(calling()).chain(offering()).collect()
}

/// Something that an agent of its own offers.
fn offered(world: &World) -> (String, Value) {
    let agent = world.cat();
    let made = world.made("capability/register", json!({ "agent": agent, "name": "x" }));
    (agent, json!({ "capability": made["name"] }))
}

/// A call that an agent is to answer, and its answer.
fn unanswered(world: &World) -> (String, Value) {
    let (agent, capability) = offered(world);
    let made = world.made("capability/invoke", with(capability, &json!({ "mode": "async" })));
    (agent, json!({ "invocation_id": made["invocation_id"], "output": 1 }))
}

/// An answer of an agent.
fn answered(world: &World, change: impl FnOnce(&World, &str, Value) -> Value) -> Result<Value, RpcError> {
    let (agent, params) = unanswered(world);
    let params = change(world, &agent, params);
    world.talk(Who::Inside(&agent))("capability/invocation.complete", params)
}

fn offering() -> Vec<Case> {
    vec![
        case(
            "capability/register",
            |w| good(w, json!({ "agent": w.cat(), "name": "x" })),
            vec![
                fails!(NotFound, "capability/register", |_w| json!({ "agent": "none", "name": "x" })),
                fails!(InvalidParams, "capability/register", |_w| json!({ "name": "x" })),
                fails!(InvalidState, "capability/register", |w| {
                    json!({ "agent": w.stopped(""), "name": "x" })
                }),
                fails!(QuotaExhausted, "capability/register", |w| {
                    let agent = w.cat();
                    for number in 0..64 {
                        let params = json!({ "agent": agent, "name": format!("n{number}") });
                        w.made("capability/register", params);
                    }
                    json!({ "agent": agent, "name": "x" })
                }),
                fails!(TooLarge, "capability/register", |w| {
                    json!({ "agent": w.cat(), "name": "x", "title": "x".repeat(257) })
                }),
            ],
        ),
        case(
            "capability/withdraw",
            |w| good(w, offered(w).1),
            vec![fails!(NotFound, "capability/withdraw", |_w| json!({ "capability": "agent:none/x" }))],
        ),
        case(
            "capability/invocation.complete",
            |w| {
                let (agent, params) = unanswered(w);
                Good { talk: w.talk(Who::Inside(&agent)), params }
            },
            vec![
                fails!(NotFound, "capability/invocation.complete", |w| with(
                    nobody(w),
                    &json!({ "output": 1 })
                )),
                fails!(PermissionDenied, "capability/invocation.complete", |w| unanswered(w).1),
                fails!(InvalidParams, "capability/invocation.complete", |w| nobody(w)),
                failure(ErrorName::InvalidState, |w| {
                    answered(w, |w, agent, params| {
                        w.talk(Who::Inside(agent))("capability/invocation.complete", params.clone()).unwrap();
                        params
                    })
                }),
                failure(ErrorName::Fenced, |w| {
                    answered(w, |w, agent, params| {
                        w.made("runtime/agent.restart", json!({ "agent": agent }));
                        w.node.wait(agent, Phase::Running);
                        params
                    })
                }),
                failure(ErrorName::TooLarge, |w| {
                    answered(w, |_w, _agent, params| with(params, &json!({ "output": "x".repeat(5 << 20) })))
                }),
            ],
        ),
    ]
}

fn looking() -> Vec<Case> {
    vec![
        case(
            "capability/list",
            |w| {
                tools(w);
                good(w, json!({ "connector": "tools" }))
            },
            vec![
                fails!(NotFound, "capability/list", |_w| json!({ "connector": "none" })),
                fails!(InvalidParams, "capability/list", |_w| json!({ "cursor": "x" })),
            ],
        ),
        case(
            "capability/get",
            |w| good(w, named(w, "echo")),
            vec![
                fails!(NotFound, "capability/get", |w| named(w, "none")),
                fails!(Unavailable, "capability/get", |w| json!({ "capability": unused(w)["capability"] })),
            ],
        ),
        case(
            "capability/search",
            |w| good(w, json!({ "query": "echo" })),
            vec![fails!(InvalidParams, "capability/search", |_w| json!({ "query": " " }))],
        ),
        case(
            "capability/permission.evaluate",
            |w| good(w, named(w, "append")),
            vec![
                fails!(NotFound, "capability/permission.evaluate", |w| named(w, "none")),
                fails!(Unavailable, "capability/permission.evaluate", |w| {
                    json!({ "capability": unused(w)["capability"] })
                }),
            ],
        ),
        case(
            "capability/invocation.get",
            |w| good(w, called(w)),
            vec![fails!(NotFound, "capability/invocation.get", |w| nobody(w))],
        ),
        case(
            "capability/invocation.await",
            |w| good(w, with(called(w), &json!({ "timeout_ms": 1_000 }))),
            vec![fails!(NotFound, "capability/invocation.await", |w| {
                with(nobody(w), &json!({ "timeout_ms": 1 }))
            })],
        ),
    ]
}

fn calling() -> Vec<Case> {
    vec![
        case(
            "capability/invoke",
            |w| good(w, call(w, "echo", json!({ "text": "x" }))),
            vec![
                fails!(NotFound, "capability/invoke", |w| named(w, "none")),
                fails!(InvalidParams, "capability/invoke", |w| call(w, "echo", json!({}))),
                fails!(PolicyBlocked, "capability/invoke", |w| named(w, "die")),
                fails!(VersionConflict, "capability/invoke", |w| {
                    with(call(w, "echo", json!({ "text": "x" })), &json!({ "digest": "0" }))
                }),
                fails!(TooLarge, "capability/invoke", |w| {
                    call(w, "echo", json!({ "text": "x".repeat(1_100_000) }))
                }),
                fails!(Unavailable, "capability/invoke", |w| unused(w)),
            ],
        ),
        case(
            "capability/invocation.cancel",
            |w| good(w, called(w)),
            vec![fails!(NotFound, "capability/invocation.cancel", |w| nobody(w))],
        ),
        case(
            "capability/permission.resolve",
            |w| good(w, waiting(w)),
            vec![
                fails!(NotFound, "capability/permission.resolve", |w| { with(waiting(w), &nobody(w)) }),
                fails!(InvalidState, "capability/permission.resolve", |w| with(waiting(w), &called(w))),
                failure(ErrorName::Conflict, |w| {
                    w.ask(
                        "capability/permission.resolve",
                        with(waiting(w), &json!({ "digest": "0".repeat(64) })),
                    )
                }),
            ],
        ),
    ]
}

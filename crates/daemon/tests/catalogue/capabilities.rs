//! Capabilities: what connectors offer, and calls of it.

use edgeplane_testkit::mcp;
use edgeplane_types::ErrorName;
use serde_json::{Value, json};

use super::{Case, Who, World, case, fails, failure, good};

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
    looking().into_iter().chain(calling()).collect()
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

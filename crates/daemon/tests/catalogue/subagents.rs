//! Subagents.

use edgeplane_testkit::{terminal, wait::eventually_some};
use edgeplane_types::{ErrorName, Phase};
use serde_json::{Value, json};

use super::{
    Case, World, case, fails, failure, good,
    ways::Who,
    work::{long, with},
};

/// A subagent that runs, by its name.
fn child(world: &World) -> Value {
    let (parent, name) = (world.cat(), world.name());
    world.made("runtime/subagent.spawn", json!({ "parent": parent, "name": name }));
    world.node.wait(&name, Phase::Running);
    json!({ "subagent": name })
}

fn stopped(world: &World) -> Value {
    let child = child(world);
    world.node.stop(child["subagent"].as_str().unwrap());
    child
}

/// One that is retired, by its id.
fn closed(world: &World) -> Value {
    let child = world.made("runtime/subagent.close", child(world));
    let (parent, id) = (child["parent"].clone(), child["subagent_id"].clone());
    eventually_some("it is retired", || {
        let all = world.made("runtime/subagent.list", json!({ "parent": parent, "all": true }));
        (!all["items"][0]["closed_at"].is_null()).then_some(())
    });
    json!({ "subagent": id })
}

fn nobody() -> Value {
    json!({ "subagent": "nobody" })
}

fn words(params: Value) -> Value {
    with(params, "parts", json!([{ "type": "text", "text": "x" }]))
}

fn several(child: &Value) -> Value {
    json!({ "subagents": [child["subagent"]], "until": "idle" })
}

fn ended(world: &World) -> Value {
    let parent = world.cat();
    world.node.stop(&parent);
    json!({ "parent": parent, "on_parent_exit": "close" })
}

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case(
            "runtime/subagent.spawn",
            |world| good(world, json!({ "parent": world.cat() })),
            vec![
                fails!(InvalidManifest, "runtime/subagent.spawn", |world| {
                    json!({ "parent": world.cat(), "manifest": "kind: Nothing" })
                }),
                fails!(NotFound, "runtime/subagent.spawn", |_world| json!({ "parent": "nobody" })),
                fails!(InvalidParams, "runtime/subagent.spawn", |_world| json!({})),
                fails!(InvalidState, "runtime/subagent.spawn", |world| ended(world)),
                fails!(Conflict, "runtime/subagent.spawn", |world| {
                    let parent = world.cat();
                    json!({ "parent": parent, "name": parent })
                }),
                failure(ErrorName::QuotaExhausted, |world| {
                    let agent = world.cat();
                    world.talk(Who::Agent(&agent))("runtime/subagent.spawn", json!({}))
                }),
                failure(ErrorName::PolicyBlocked, |world| {
                    let name = world.name();
                    let rule = r#"@id("alone") forbid (principal, action == Action::"spawn", resource);"#;
                    let more = format!("subagents: {{ max: 1 }}\npolicy: '{rule}'");
                    world.node.run(&name, &terminal(&name, &["/bin/cat"], &more));
                    world.talk(Who::Agent(&name))("runtime/subagent.spawn", json!({}))
                }),
                fails!(Unsupported, "runtime/subagent.spawn", |world| {
                    json!({ "parent": world.cat(), "isolation": { "context": "forked" } })
                }),
            ],
        ),
        case(
            "runtime/subagent.send",
            |world| good(world, words(child(world))),
            vec![
                fails!(NotFound, "runtime/subagent.send", |_world| words(nobody())),
                fails!(InvalidState, "runtime/subagent.send", |world| words(closed(world))),
            ],
        ),
    ]
    .into_iter()
    .chain(of_known())
    .collect()
}

/// Those of subagents that are there.
fn of_known() -> Vec<Case> {
    vec![
        case(
            "runtime/subagent.wait",
            |world| good(world, several(&child(world))),
            vec![
                fails!(NotFound, "runtime/subagent.wait", |_world| several(&nobody())),
                fails!(InvalidParams, "runtime/subagent.wait", |_world| json!({ "subagents": [] })),
                fails!(DeadlineExceeded, "runtime/subagent.wait", |world| {
                    json!({ "subagents": [child(world)["subagent"]], "timeout_ms": 1 })
                }),
            ],
        ),
        case(
            "runtime/subagent.resume",
            |world| good(world, stopped(world)),
            vec![
                fails!(NotFound, "runtime/subagent.resume", |_world| nobody()),
                fails!(InvalidParams, "runtime/subagent.resume", |world| long(child(world))),
                fails!(InvalidState, "runtime/subagent.resume", |world| closed(world)),
            ],
        ),
        case(
            "runtime/subagent.close",
            |world| good(world, child(world)),
            vec![
                fails!(NotFound, "runtime/subagent.close", |_world| nobody()),
                fails!(InvalidParams, "runtime/subagent.close", |world| long(child(world))),
            ],
        ),
        case(
            "runtime/subagent.list",
            |world| good(world, json!({ "parent": world.cat() })),
            vec![
                fails!(NotFound, "runtime/subagent.list", |_world| json!({ "parent": "nobody" })),
                fails!(InvalidParams, "runtime/subagent.list", |world| {
                    json!({ "parent": world.cat(), "depth": 9 })
                }),
            ],
        ),
    ]
}

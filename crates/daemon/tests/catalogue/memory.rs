//! Memories of agents.

use edgeplane_types::ErrorName;
use edgeplane_wire::rpc::RpcError;
use serde_json::{Value, json};

use super::{Case, Who, World, case, failure, good};

fn key(agent: &str) -> Value {
    json!({ "agent": agent, "key": "k" })
}

/// An agent that remembers something.
fn remembering(world: &World) -> String {
    let name = world.stopped("");
    put(world, &name, &json!({})).unwrap();
    name
}

fn put(world: &World, agent: &str, more: &Value) -> Result<Value, RpcError> {
    let mut params = json!({ "agent": agent, "key": "k", "value": 1 });
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    world.ask("memory/entry.put", params)
}

macro_rules! nobody {
    ($method:literal) => {
        failure(ErrorName::NotFound, |w: &World| w.ask($method, key("nobody")))
    };
}

/// What an agent of which nothing is kept hears of its own memory.
fn stateless(world: &World, method: &str) -> Result<Value, RpcError> {
    let name = world.name();
    let log = world.node.scratch().join(&name);
    world.node.run(&name, &edgeplane_testkit::task_worker(&name, &log, &[], "state: stateless"));
    let mut params = key(&name);
    match method {
        "memory/entry.list" => params = json!({ "agent": name }),
        "memory/entry.put" => params["value"] = json!(1),
        _ => {}
    }
    world.talk(Who::Agent(&name))(method, params)
}

macro_rules! stateless {
    ($method:literal) => {
        failure(ErrorName::InvalidState, |w: &World| stateless(w, $method))
    };
}

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case(
            "memory/entry.get",
            |w| good(w, key(&remembering(w))),
            vec![nobody!("memory/entry.get"), stateless!("memory/entry.get")],
        ),
        case(
            "memory/entry.put",
            |w| good(w, json!({ "agent": w.stopped(""), "key": "k", "value": 1 })),
            vec![
                stateless!("memory/entry.put"),
                (ErrorName::NotFound, |w| put(w, "nobody", &json!({}))),
                (ErrorName::VersionConflict, |w| put(w, &remembering(w), &json!({ "if_version": 7 }))),
                (ErrorName::TooLarge, |w| put(w, &w.stopped(""), &json!({ "value": "x".repeat(2 << 20) }))),
                (ErrorName::QuotaExhausted, |w| {
                    let name = w.stopped("memory: { maxKeys: 1 }");
                    put(w, &name, &json!({})).unwrap();
                    put(w, &name, &json!({ "key": "other" }))
                }),
            ],
        ),
        case(
            "memory/entry.list",
            |w| good(w, json!({ "agent": remembering(w) })),
            vec![
                stateless!("memory/entry.list"),
                (ErrorName::NotFound, |w| w.ask("memory/entry.list", json!({ "agent": "nobody" }))),
            ],
        ),
        case(
            "memory/entry.delete",
            |w| good(w, key(&remembering(w))),
            vec![
                nobody!("memory/entry.delete"),
                stateless!("memory/entry.delete"),
                (ErrorName::VersionConflict, |w| {
                    w.ask(
                        "memory/entry.delete",
                        json!({ "agent": remembering(w), "key": "k", "if_version": 7 }),
                    )
                }),
            ],
        ),
        case(
            "memory/entry.history",
            |w| good(w, key(&remembering(w))),
            vec![nobody!("memory/entry.history"), stateless!("memory/entry.history")],
        ),
    ]
}

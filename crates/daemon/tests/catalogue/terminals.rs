//! Terminals, recordings, adapters.

use edgeplane_testkit::terminal;
use edgeplane_types::ErrorName;
use serde_json::{Value, json};

use super::{Case, Good, Who, World, case, fails, failure, good};

fn of(agent: &str) -> Value {
    json!({ "agent": agent })
}

macro_rules! nobody {
    ($method:literal) => {
        failure(ErrorName::NotFound, |w: &World| w.ask($method, of("nobody")))
    };
}

/// Somebody who controls a terminal.
fn controlling(world: &World, more: Value) -> Good {
    let name = world.cat();
    let mut talk = world.talk(Who::Operator);
    let opened = talk("runtime/agent.attach", json!({ "agent": name, "control": true })).unwrap();
    let mut params = more;
    params["attachment"] = opened["attachment"].clone();
    Good { talk, params }
}

/// Somebody who only watches.
fn watching(world: &World, method: &str, more: Value) -> Result<Value, edgeplane_wire::rpc::RpcError> {
    let name = world.cat();
    let mut talk = world.talk(Who::Operator);
    let opened = talk("runtime/agent.attach", of(&name)).unwrap();
    let mut params = more;
    params["attachment"] = opened["attachment"].clone();
    talk(method, params)
}

/// The text of an adapter.
fn adapter(world: &World) -> Value {
    world.ask("runtime/adapter.list", json!({})).unwrap()["items"][0]["text"].clone()
}

fn keys() -> Value {
    json!({ "attachment": "att-x", "data": "eA==" })
}

fn size() -> Value {
    json!({ "attachment": "att-x", "cols": 80, "rows": 24 })
}

pub(crate) fn cases() -> Vec<Case> {
    attached().into_iter().chain(seen()).collect()
}

fn attached() -> Vec<Case> {
    vec![
        case(
            "runtime/agent.attach",
            |w| good(w, of(&w.cat())),
            vec![
                nobody!("runtime/agent.attach"),
                (ErrorName::PolicyBlocked, |w| {
                    let (own, other) = (w.cat(), w.cat());
                    w.talk(Who::Agent(&own))("runtime/agent.attach", of(&other))
                }),
                (ErrorName::InvalidState, |w| w.ask("runtime/agent.attach", of(&w.stopped("")))),
                (ErrorName::Locked, |w| {
                    let agent = w.cat();
                    let control = json!({ "agent": agent, "control": true });
                    let mut first = w.talk(Who::Operator);
                    first("runtime/agent.attach", control.clone()).unwrap();
                    let second = w.ask("runtime/agent.attach", control);
                    // The first must still be there meanwhile.
                    first("core/health", json!({})).unwrap();
                    second
                }),
            ],
        ),
        case(
            "runtime/agent.detach",
            |w| controlling(w, json!({})),
            vec![(ErrorName::NotFound, |w| w.ask("runtime/agent.detach", json!({ "attachment": "att-x" })))],
        ),
        case(
            "runtime/agent.write",
            |w| controlling(w, keys()),
            vec![
                (ErrorName::NotFound, |w| w.ask("runtime/agent.write", keys())),
                (ErrorName::PermissionDenied, |w| watching(w, "runtime/agent.write", keys())),
                (ErrorName::Backpressure, |w| {
                    // It reads nothing, so what is typed waits.
                    let name = w.name();
                    w.node.run(&name, &terminal(&name, &["/bin/sleep", "1000"], ""));
                    let mut talk = w.talk(Who::Operator);
                    let opened =
                        talk("runtime/agent.attach", json!({ "agent": name, "control": true })).unwrap();
                    let params =
                        json!({ "attachment": opened["attachment"], "data": "AAAA".repeat(1 << 18) });
                    let typed = || talk("runtime/agent.write", params.clone());
                    std::iter::repeat_with(typed).take(200).find(Result::is_err).unwrap()
                }),
            ],
        ),
        case(
            "runtime/agent.resize",
            |w| controlling(w, size()),
            vec![
                (ErrorName::NotFound, |w| w.ask("runtime/agent.resize", size())),
                (ErrorName::PermissionDenied, |w| watching(w, "runtime/agent.resize", size())),
            ],
        ),
    ]
}

fn seen() -> Vec<Case> {
    vec![
        case(
            "runtime/agent.snapshot",
            |w| good(w, of(&w.cat())),
            vec![
                nobody!("runtime/agent.snapshot"),
                (ErrorName::InvalidState, |w| w.ask("runtime/agent.snapshot", of(&w.stopped("")))),
            ],
        ),
        case(
            "runtime/recording.read",
            |w| good(w, of(&w.cat())),
            vec![
                nobody!("runtime/recording.read"),
                fails!(InvalidState, "runtime/recording.read", |w| of(&super::runtime::set(w))),
            ],
        ),
        case(
            "runtime/adapter.check",
            |w| good(w, json!({ "adapter": adapter(w) })),
            vec![
                (ErrorName::InvalidParams, |w| w.ask("runtime/adapter.check", json!({ "adapter": "x" }))),
                (ErrorName::NotFound, |w| {
                    w.ask("runtime/adapter.check", json!({ "adapter": adapter(w), "agent": "nobody" }))
                }),
                (ErrorName::InvalidState, |w| {
                    w.ask("runtime/adapter.check", json!({ "adapter": adapter(w), "agent": w.stopped("") }))
                }),
            ],
        ),
        case("runtime/adapter.list", |w| good(w, json!({})), vec![]),
    ]
}

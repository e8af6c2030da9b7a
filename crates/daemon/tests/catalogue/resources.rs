//! Resources, and what is known of models.

use edgeplane_types::ErrorName;
use edgeplane_wire::rpc::RpcError;
use serde_json::{Value, json};

use super::{Case, World, case, fails, failure, good, runtime::set};

/// A case of a method that names an agent.
macro_rules! of_agent {
    ($method:literal) => {
        case(
            $method,
            |w| good(w, json!({ "agent": w.stopped("") })),
            vec![
                fails!(NotFound, $method, |_w| json!({ "agent": "nobody" })),
                fails!(InvalidState, $method, |w| json!({ "agent": set(w) })),
            ],
        )
    };
}

/// A name that no other case has.
fn uri(world: &World) -> String {
    format!("edgeplane://config/{}", world.name())
}

/// A resource that is there.
fn written(world: &World) -> String {
    let uri = uri(world);
    world.made("resource/put", json!({ "uri": uri, "value": { "a": 1 } }));
    uri
}

fn named(world: &World) -> Value {
    json!({ "uri": written(world) })
}

/// One more than may be there of a kind.
fn one_more(world: &World) -> Result<Value, RpcError> {
    let mut talk = world.talk(super::Who::Operator);
    let mut number = 0;
    let refused = loop {
        number += 1;
        let put = json!({ "uri": format!("edgeplane://profile/p{number}"), "value": 1 });
        if let Err(error) = talk("resource/put", put) {
            break error;
        }
    };
    assert_eq!(number, 1_001, "{refused}");
    Err(refused)
}

pub(crate) fn cases() -> Vec<Case> {
    reading().into_iter().chain(changing()).chain(inference()).collect()
}

fn inference() -> Vec<Case> {
    vec![
        case(
            "inference/model.list",
            |w| good(w, json!({})),
            vec![fails!(NotFound, "inference/model.list", |_w| json!({ "agent": "nobody" }))],
        ),
        of_agent!("inference/route.resolve"),
        of_agent!("inference/usage.get"),
        of_agent!("inference/limit.get"),
    ]
}

fn reading() -> Vec<Case> {
    vec![
        case(
            "resource/get",
            |w| good(w, named(w)),
            vec![
                fails!(NotFound, "resource/get", |w| json!({ "uri": uri(w) })),
                fails!(InvalidParams, "resource/get", |_w| json!({ "uri": "config/a" })),
            ],
        ),
        case(
            "resource/list",
            |w| good(w, json!({})),
            vec![fails!(InvalidParams, "resource/list", |_w| json!({ "cursor": "x" }))],
        ),
        case(
            "resource/history",
            |w| good(w, named(w)),
            vec![
                fails!(NotFound, "resource/history", |w| json!({ "uri": uri(w) })),
                fails!(InvalidParams, "resource/history", |w| json!({ "uri": written(w), "cursor": "x" })),
            ],
        ),
    ]
}

fn changing() -> Vec<Case> {
    vec![
        case(
            "resource/put",
            |w| good(w, json!({ "uri": uri(w), "value": { "a": [1, null] } })),
            vec![
                fails!(
                    InvalidParams,
                    "resource/put",
                    |w| json!({ "uri": uri(w), "value": { "password": "x" } })
                ),
                fails!(
                    VersionConflict,
                    "resource/put",
                    |w| json!({ "uri": written(w), "value": 2, "if_version": 0 })
                ),
                fails!(TooLarge, "resource/put", |w| json!({ "uri": uri(w), "value": "x".repeat(300_000) })),
                fails!(Unsupported, "resource/put", |w| json!({
                    "uri": format!("edgeplane://agent/{}", w.stopped("")), "value": {}
                })),
                failure(ErrorName::QuotaExhausted, one_more),
            ],
        ),
        case(
            "resource/patch",
            |w| good(w, json!({ "uri": written(w), "patch": { "a": null, "b": 2 } })),
            vec![
                fails!(NotFound, "resource/patch", |w| json!({ "uri": uri(w), "patch": 1 })),
                fails!(
                    InvalidParams,
                    "resource/patch",
                    |w| json!({ "uri": written(w), "patch": { "a": 1.5 } })
                ),
                fails!(VersionConflict, "resource/patch", |w| json!({
                    "uri": written(w), "patch": 1, "if_version": 7
                })),
                fails!(
                    TooLarge,
                    "resource/patch",
                    |w| json!({ "uri": written(w), "patch": "x".repeat(300_000) })
                ),
                fails!(
                    Unsupported,
                    "resource/patch",
                    |_w| json!({ "uri": "edgeplane://policy/rules", "patch": 1 })
                ),
            ],
        ),
        case(
            "resource/delete",
            |w| good(w, named(w)),
            vec![
                fails!(NotFound, "resource/delete", |w| json!({ "uri": uri(w) })),
                fails!(InvalidParams, "resource/delete", |w| json!({
                    "uri": written(w), "reason": "x".repeat(2_000)
                })),
                fails!(VersionConflict, "resource/delete", |w| json!({ "uri": written(w), "if_version": 7 })),
                fails!(Unsupported, "resource/delete", |_w| json!({ "uri": "edgeplane://policy/rules" })),
            ],
        ),
    ]
}

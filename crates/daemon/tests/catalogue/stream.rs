//! Streams and projections.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use edgeplane_types::ErrorName;
use serde_json::{Value, json};

use super::{Case, Good, Who, World, case, fails, failure, good};

const NO_SUBSCRIPTION: &str = "sub_01890000-0000-7000-8000-999999999999";

fn nobody() -> Value {
    json!({ "target": { "kind": "agent", "id": "nobody" } })
}

fn unknown() -> Value {
    json!({ "subscription_id": NO_SUBSCRIPTION })
}

fn no_projection() -> Value {
    json!({ "projection": "nothing" })
}

/// The status of an agent.
fn status(world: &World) -> Value {
    let target = json!({ "kind": "agent", "id": world.stopped("") });
    json!({ "projection": "agent.status", "target": target })
}

/// A subscription, in the conversation that has it.
fn subscribed(world: &World, more: impl FnOnce(&Value) -> Value) -> Good {
    let mut talk = world.talk(Who::Operator);
    let answer = talk("stream/subscribe", json!({})).unwrap();
    let mut params = more(&answer);
    params["subscription_id"] = answer["subscription_id"].clone();
    Good { talk, params }
}

/// A place in a version of a projection that nobody has.
pub(crate) fn of_another_version(world: &World) -> Value {
    let read = world.made("stream/replay", json!({ "limit": 1 }));
    let cursor = URL_SAFE_NO_PAD.decode(read["cursor"].as_str().unwrap()).unwrap();
    let cursor = String::from_utf8(cursor).unwrap();
    let old = cursor.replace("|log|1|", "|log|77|");
    assert_ne!(old, cursor);
    json!({ "cursor": URL_SAFE_NO_PAD.encode(old) })
}

pub(crate) fn cases() -> Vec<Case> {
    streams().into_iter().chain(projections()).collect()
}

fn streams() -> Vec<Case> {
    vec![
        case(
            "stream/replay",
            |w| good(w, json!({ "limit": 1 })),
            vec![
                fails!(NotFound, "stream/replay", |w| nobody()),
                fails!(ReplayGap, "stream/replay", |w| of_another_version(w)),
            ],
        ),
        case(
            "stream/subscribe",
            |w| good(w, json!({})),
            vec![
                fails!(NotFound, "stream/subscribe", |w| nobody()),
                fails!(ReplayGap, "stream/subscribe", |w| of_another_version(w)),
                failure(ErrorName::QuotaExhausted, |w| {
                    let mut talk = w.talk(Who::Operator);
                    for _ in 0..1_024 {
                        talk("stream/subscribe", json!({}))?;
                    }
                    talk("stream/subscribe", json!({}))
                }),
            ],
        ),
        case(
            "stream/unsubscribe",
            |w| subscribed(w, |_answer| json!({})),
            vec![fails!(NotFound, "stream/unsubscribe", |w| unknown())],
        ),
        case(
            "stream/ack",
            |w| subscribed(w, |answer| json!({ "cursor": answer["cursor"] })),
            vec![fails!(NotFound, "stream/ack", |w| {
                let mut params = unknown();
                params["n"] = json!(1);
                params
            })],
        ),
        case(
            "stream/status",
            |w| subscribed(w, |_answer| json!({})),
            vec![fails!(NotFound, "stream/status", |w| unknown())],
        ),
    ]
}

fn projections() -> Vec<Case> {
    vec![
        case("stream/projection.list", |w| good(w, json!({})), vec![]),
        case(
            "stream/projection.get",
            |w| good(w, status(w)),
            vec![fails!(NotFound, "stream/projection.get", |w| no_projection())],
        ),
        case(
            "stream/projection.rebuild",
            |w| good(w, status(w)),
            vec![fails!(NotFound, "stream/projection.rebuild", |w| no_projection())],
        ),
        case(
            "stream/projection.verify",
            |w| good(w, status(w)),
            vec![fails!(NotFound, "stream/projection.verify", |w| no_projection())],
        ),
    ]
}

//! Traces, taps, and what proves the record.

use edgeplane_types::ErrorName;
use serde_json::{Value, json};

use super::{Case, Good, Who, World, case, fails, failure, good};

const NO_MESSAGE: &str = "msg_01890000-0000-7000-8000-999999999999";
const NO_TURN: &str = "trn_01890000-0000-7000-8000-999999999999";
const NO_TAP: &str = "sub_01890000-0000-7000-8000-999999999999";

fn nobody() -> Value {
    json!({ "agent": "nobody" })
}

fn no_message() -> Value {
    json!({ "message_id": NO_MESSAGE })
}

fn message(world: &World) -> String {
    world.node.signal(&world.stopped(""), "x", None).message_id.to_string()
}

pub(crate) fn cases() -> Vec<Case> {
    traces().into_iter().chain(evidence()).collect()
}

fn traces() -> Vec<Case> {
    vec![
        case(
            "observe/trace.get",
            |w| good(w, json!({ "message_id": message(w) })),
            vec![fails!(NotFound, "observe/trace.get", |w| no_message())],
        ),
        case(
            "observe/trace.explain",
            |w| good(w, json!({ "message_id": message(w) })),
            vec![fails!(NotFound, "observe/trace.explain", |w| no_message())],
        ),
        case(
            "observe/tap.open",
            |w| good(w, json!({ "agent": w.stopped("") })),
            vec![
                fails!(NotFound, "observe/tap.open", |w| nobody()),
                failure(ErrorName::QuotaExhausted, |w| {
                    let mut talk = w.talk(Who::Operator);
                    let mut open =
                        || talk("observe/tap.open", json!({ "agent": "a1", "operations": ["none"] }));
                    w.name();
                    for _ in 0..1_024 {
                        open()?;
                    }
                    open()
                }),
            ],
        ),
        case(
            "observe/tap.close",
            |w| {
                let mut talk = w.talk(Who::Operator);
                let opened = talk("observe/tap.open", json!({})).unwrap();
                Good { talk, params: json!({ "subscription_id": opened["tap_id"] }) }
            },
            vec![fails!(NotFound, "observe/tap.close", |w| json!({ "subscription_id": NO_TAP }))],
        ),
    ]
}

fn evidence() -> Vec<Case> {
    vec![
        case("evidence/audit.verify", |w| good(w, json!({})), vec![]),
        case(
            "evidence/pack.export",
            |w| good(w, json!({ "scope": { "agent": w.stopped("") } })),
            vec![
                fails!(InvalidParams, "evidence/pack.export", |w| json!({ "scope": { "node": false } })),
                fails!(NotFound, "evidence/pack.export", |w| json!({ "scope": { "agent": "nobody" } })),
            ],
        ),
        case(
            "evidence/replay.export",
            |w| good(w, json!({ "turn_id": message(w).replace("msg_", "trn_") })),
            vec![fails!(NotFound, "evidence/replay.export", |w| json!({ "turn_id": NO_TURN }))],
        ),
        case(
            "evidence/gap.list",
            |w| good(w, json!({})),
            vec![fails!(NotFound, "evidence/gap.list", |w| nobody())],
        ),
    ]
}

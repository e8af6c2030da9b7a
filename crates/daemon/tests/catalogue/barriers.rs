//! Barriers.

use serde_json::{Value, json};

use super::{Case, case, fails, good, stream::of_another_version, workspaces::no_workspace};

fn through(target: &Value, through: &Value) -> Value {
    json!({ "target": target, "through": through, "timeout_ms": 1 })
}

fn node(seq: u64) -> Value {
    through(&json!({ "stream": { "kind": "node" } }), &json!({ "seq": seq }))
}

pub(crate) fn cases() -> Vec<Case> {
    vec![case(
        "sync/barrier.await",
        |w| good(w, node(1)),
        vec![
            fails!(NotFound, "sync/barrier.await", |_w| through(&no_workspace(), &json!({ "seq": 1 }))),
            fails!(InvalidParams, "sync/barrier.await", |_w| through(&json!({}), &json!({ "seq": 1 }))),
            fails!(Unsupported, "sync/barrier.await", |_w| {
                let mut params = node(1);
                params["replicas"] = json!(["nod_01890000-0000-7000-8000-999999999999"]);
                params
            }),
            fails!(ReplayGap, "sync/barrier.await", |w| {
                through(&json!({ "stream": { "kind": "node" } }), &of_another_version(w))
            }),
            fails!(DeadlineExceeded, "sync/barrier.await", |_w| node(1 << 40)),
        ],
    )]
}

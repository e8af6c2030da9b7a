//! Blobs of workspaces.

use edgeplane_testkit::peers::with;
use serde_json::{Value, json};

use super::{
    Case, World, case, fails, good,
    workspaces::{no_workspace, workspace},
};

fn of(world: &World, more: &Value) -> Value {
    with(workspace(world), more)
}

/// A workspace with a blob that is no text, and its digest.
fn blob(world: &World) -> Value {
    let workspace = workspace(world);
    let content = json!({ "content": "//8=", "encoding": "base64" });
    let made = world.made("workspace/blob.put", with(workspace.clone(), &content));
    with(workspace, &json!({ "digest": made["digest"] }))
}

fn none() -> Value {
    json!({ "digest": "ab".repeat(32) })
}

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case(
            "workspace/blob.put",
            |w| good(w, of(w, &json!({ "content": "x" }))),
            vec![
                fails!(NotFound, "workspace/blob.put", |_w| with(no_workspace(), &json!({ "content": "x" }))),
                fails!(InvalidParams, "workspace/blob.put", |w| workspace(w)),
                fails!(InvalidState, "workspace/blob.put", |w| of(w, &json!({ "path": "." }))),
                fails!(TooLarge, "workspace/blob.put", |w| {
                    of(w, &json!({ "content": "x".repeat((8 << 20) + 1) }))
                }),
            ],
        ),
        case(
            "workspace/blob.get",
            |w| good(w, blob(w)),
            vec![
                fails!(NotFound, "workspace/blob.get", |w| of(w, &none())),
                fails!(InvalidParams, "workspace/blob.get", |w| of(w, &json!({ "digest": "x" }))),
                fails!(InvalidState, "workspace/blob.get", |w| with(blob(w), &json!({ "encoding": "utf8" }))),
            ],
        ),
        case(
            "workspace/blob.stat",
            |w| good(w, blob(w)),
            vec![
                fails!(NotFound, "workspace/blob.stat", |w| of(w, &none())),
                fails!(InvalidParams, "workspace/blob.stat", |w| of(w, &json!({ "digest": "x" }))),
            ],
        ),
    ]
}

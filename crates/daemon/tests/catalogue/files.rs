//! Files of workspaces.

use edgeplane_testkit::peers::with;
use serde_json::{Value, json};

use super::{
    Case, World,
    bindings::elsewhere,
    case, fails, good,
    workspaces::{gone, no_workspace, workspace},
};

/// A file of a workspace, with what else is asked.
fn file(workspace: Value, more: &Value) -> Value {
    with(with(workspace, &json!({ "path": "file" })), more)
}

fn of(world: &World, more: &Value) -> Value {
    file(workspace(world), more)
}

/// The version of nothing that there is.
fn other_version() -> Value {
    json!({ "if_version": "ab".repeat(32) })
}

pub(crate) fn cases() -> Vec<Case> {
    reading().into_iter().chain(changing()).collect()
}

fn reading() -> Vec<Case> {
    vec![
        case(
            "workspace/file.list",
            |w| good(w, workspace(w)),
            vec![
                fails!(NotFound, "workspace/file.list", |_w| no_workspace()),
                fails!(InvalidParams, "workspace/file.list", |w| of(w, &json!({ "path": "../a" }))),
                fails!(InvalidState, "workspace/file.list", |w| of(w, &json!({}))),
            ],
        ),
        case(
            "workspace/file.stat",
            |w| good(w, of(w, &json!({}))),
            vec![
                fails!(NotFound, "workspace/file.stat", |w| of(w, &json!({ "path": "none" }))),
                fails!(InvalidParams, "workspace/file.stat", |w| of(w, &json!({ "path": "/a" }))),
                fails!(InvalidState, "workspace/file.stat", |w| file(gone(w), &json!({}))),
            ],
        ),
        case(
            "workspace/file.read",
            |w| good(w, of(w, &json!({}))),
            vec![
                fails!(NotFound, "workspace/file.read", |w| of(w, &json!({ "path": "none" }))),
                fails!(InvalidParams, "workspace/file.read", |w| of(w, &json!({ "path": "a//b" }))),
                fails!(InvalidState, "workspace/file.read", |w| of(w, &json!({ "path": "." }))),
            ],
        ),
        case(
            "workspace/file.search",
            |w| good(w, with(workspace(w), &json!({ "pattern": "x" }))),
            vec![
                fails!(NotFound, "workspace/file.search", |w| {
                    of(w, &json!({ "path": "none", "pattern": "x" }))
                }),
                fails!(InvalidParams, "workspace/file.search", |w| {
                    with(workspace(w), &json!({ "pattern": "(", "regex": true }))
                }),
                fails!(InvalidState, "workspace/file.search", |w| with(gone(w), &json!({ "pattern": "x" }))),
            ],
        ),
    ]
}

fn changing() -> Vec<Case> {
    vec![
        case(
            "workspace/file.write",
            |w| good(w, of(w, &json!({ "content": "y" }))),
            vec![
                fails!(NotFound, "workspace/file.write", |w| {
                    of(w, &json!({ "path": "none/a", "content": "y" }))
                }),
                fails!(InvalidParams, "workspace/file.write", |w| {
                    of(w, &json!({ "content": "?", "encoding": "base64" }))
                }),
                fails!(InvalidState, "workspace/file.write", |w| {
                    of(w, &json!({ "path": ".", "content": "y" }))
                }),
                fails!(VersionConflict, "workspace/file.write", |w| {
                    of(w, &json!({ "content": "y", "if_version": "absent" }))
                }),
                fails!(WrongWorkspace, "workspace/file.write", |w| {
                    elsewhere(w, of(w, &json!({ "content": "y" })))
                }),
                fails!(Fenced, "workspace/file.write", |w| of(w, &json!({ "content": "y", "lock": 9 }))),
                fails!(TooLarge, "workspace/file.write", |w| {
                    of(w, &json!({ "content": "x".repeat((8 << 20) + 1) }))
                }),
            ],
        ),
        case(
            "workspace/file.move",
            |w| good(w, of(w, &json!({ "to": "b" }))),
            vec![
                fails!(NotFound, "workspace/file.move", |w| of(w, &json!({ "path": "none", "to": "b" }))),
                fails!(InvalidParams, "workspace/file.move", |w| of(w, &json!({ "to": "../b" }))),
                fails!(InvalidState, "workspace/file.move", |w| of(w, &json!({ "path": ".", "to": "b" }))),
                fails!(WrongWorkspace, "workspace/file.move", |w| {
                    elsewhere(w, of(w, &json!({ "to": "b" })))
                }),
                fails!(Fenced, "workspace/file.move", |w| of(w, &json!({ "to": "b", "lock": 9 }))),
                fails!(Conflict, "workspace/file.move", |w| of(w, &json!({ "to": "file" }))),
                fails!(VersionConflict, "workspace/file.move", |w| {
                    with(of(w, &json!({ "to": "b" })), &other_version())
                }),
            ],
        ),
        case(
            "workspace/file.delete",
            |w| good(w, of(w, &json!({}))),
            vec![
                fails!(NotFound, "workspace/file.delete", |w| of(w, &json!({ "path": "none" }))),
                fails!(InvalidParams, "workspace/file.delete", |w| of(w, &json!({ "if_version": "x" }))),
                fails!(InvalidState, "workspace/file.delete", |w| of(w, &json!({ "path": "." }))),
                fails!(WrongWorkspace, "workspace/file.delete", |w| elsewhere(w, of(w, &json!({})))),
                fails!(Fenced, "workspace/file.delete", |w| of(w, &json!({ "lock": 9 }))),
                fails!(VersionConflict, "workspace/file.delete", |w| of(w, &other_version())),
            ],
        ),
    ]
}

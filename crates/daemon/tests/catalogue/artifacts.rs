//! Artifacts.

use std::fs;

use edgeplane_testkit::peers::with;
use edgeplane_types::ErrorName;
use edgeplane_wire::rpc::RpcError;
use serde_json::{Value, json};

use super::{Case, World, case, fails, failure, good, workspaces::workspace};

fn named(world: &World, more: &Value) -> Value {
    with(json!({ "name": world.name(), "content": "x" }), more)
}

/// An artifact with two versions.
fn made(world: &World) -> Value {
    let first = named(world, &json!({}));
    world.made("workspace/artifact.publish", first.clone());
    world.made("workspace/artifact.publish", with(first.clone(), &json!({ "content": "y" })));
    json!({ "artifact": first["name"] })
}

fn of(world: &World, more: &Value) -> Value {
    with(made(world), more)
}

fn none() -> Value {
    json!({ "artifact": "none" })
}

/// To a file of a workspace.
fn to(world: &World, path: &str) -> Value {
    json!({ "to": with(workspace(world), &json!({ "path": path })) })
}

fn out(world: &World, path: &str, more: &Value) -> Value {
    with(of(world, &to(world, path)), more)
}

/// Asks while the store has lost everything.
fn lost(world: &World, method: &str, more: &Value) -> Result<Value, RpcError> {
    let params = of(world, more);
    let (store, aside) = (world.node.state_dir().join("artifacts"), world.node.state_dir().join("aside"));
    fs::rename(&store, &aside).unwrap();
    fs::write(&store, "").unwrap();
    let answer = world.ask(method, params);
    fs::remove_file(&store).unwrap();
    fs::rename(&aside, &store).unwrap();
    answer
}

pub(crate) fn cases() -> Vec<Case> {
    reading().into_iter().chain(changing()).collect()
}

fn reading() -> Vec<Case> {
    vec![
        case(
            "workspace/artifact.get",
            |w| good(w, made(w)),
            vec![fails!(NotFound, "workspace/artifact.get", |_w| none())],
        ),
        case(
            "workspace/artifact.list",
            |w| good(w, json!({})),
            vec![fails!(NotFound, "workspace/artifact.list", |_w| json!({ "agent": "nobody" }))],
        ),
        case(
            "workspace/artifact.read",
            |w| good(w, made(w)),
            vec![
                fails!(NotFound, "workspace/artifact.read", |w| of(w, &json!({ "version": 9 }))),
                fails!(InvalidState, "workspace/artifact.read", |w| {
                    let raw = json!({ "name": "raw", "content": "/w==", "encoding": "base64" });
                    w.made("workspace/artifact.publish", raw);
                    json!({ "artifact": "raw", "encoding": "utf8" })
                }),
                failure(ErrorName::UpstreamFailed, |w| lost(w, "workspace/artifact.read", &json!({}))),
            ],
        ),
        case(
            "workspace/artifact.diff",
            |w| good(w, made(w)),
            vec![
                fails!(NotFound, "workspace/artifact.diff", |_w| none()),
                fails!(InvalidState, "workspace/artifact.diff", |w| of(w, &json!({ "to": 1 }))),
                failure(ErrorName::UpstreamFailed, |w| lost(w, "workspace/artifact.diff", &json!({}))),
            ],
        ),
    ]
}

fn changing() -> Vec<Case> {
    vec![
        case(
            "workspace/artifact.publish",
            |w| good(w, named(w, &json!({}))),
            vec![
                fails!(NotFound, "workspace/artifact.publish", |w| named(w, &json!({ "agent": "nobody" }))),
                fails!(InvalidParams, "workspace/artifact.publish", |w| json!({ "name": w.name() })),
                fails!(InvalidState, "workspace/artifact.publish", |w| {
                    json!({ "name": w.name(), "file": with(workspace(w), &json!({ "path": "." })) })
                }),
                fails!(VersionConflict, "workspace/artifact.publish", |w| named(
                    w,
                    &json!({ "if_version": 3 })
                )),
                fails!(TooLarge, "workspace/artifact.publish", |w| {
                    named(w, &json!({ "content": "x".repeat((8 << 20) + 1) }))
                }),
                fails!(QuotaExhausted, "workspace/artifact.publish", |w| {
                    let agent = json!({ "agent": w.stopped("") });
                    for _one in 0..1_000 {
                        w.made("workspace/artifact.publish", named(w, &agent));
                    }
                    named(w, &agent)
                }),
                failure(ErrorName::UpstreamFailed, |w| {
                    let more = json!({ "name": w.name(), "content": "new" });
                    let mut params = with(made(w), &more);
                    params.as_object_mut().unwrap().remove("artifact");
                    let store = w.node.state_dir().join("artifacts");
                    let aside = w.node.state_dir().join("aside");
                    fs::rename(&store, &aside).unwrap();
                    fs::write(&store, "").unwrap();
                    let answer = w.ask("workspace/artifact.publish", params);
                    fs::remove_file(&store).unwrap();
                    fs::rename(&aside, &store).unwrap();
                    answer
                }),
            ],
        ),
        case(
            "workspace/artifact.export",
            |w| good(w, out(w, "new", &json!({}))),
            vec![
                fails!(NotFound, "workspace/artifact.export", |w| with(none(), &to(w, "new"))),
                fails!(InvalidParams, "workspace/artifact.export", |w| out(w, "../a", &json!({}))),
                fails!(InvalidState, "workspace/artifact.export", |w| out(w, ".", &json!({}))),
                fails!(VersionConflict, "workspace/artifact.export", |w| {
                    out(w, "file", &json!({ "if_version": "absent" }))
                }),
                fails!(Fenced, "workspace/artifact.export", |w| out(w, "file", &json!({ "lock": 9 }))),
                fails!(Locked, "workspace/artifact.export", |w| {
                    let to = to(w, "file");
                    let lock = json!({ "workspace_id": to["to"]["workspace_id"], "paths": ["file"] });
                    w.made("workspace/lock.acquire", lock);
                    of(w, &to)
                }),
                failure(ErrorName::UpstreamFailed, |w| lost(w, "workspace/artifact.export", &to(w, "new"))),
            ],
        ),
        case(
            "workspace/artifact.delete",
            |w| good(w, made(w)),
            vec![
                fails!(NotFound, "workspace/artifact.delete", |_w| none()),
                fails!(VersionConflict, "workspace/artifact.delete", |w| of(w, &json!({ "if_version": 1 }))),
            ],
        ),
    ]
}

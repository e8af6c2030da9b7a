//! Workspaces and their checkpoints.

use edgeplane_types::ErrorName;
use serde_json::{Value, json};

use super::{
    Case, Who, World,
    bindings::{bound, elsewhere},
    case, fails, failure, good,
};

const NO_WORKSPACE: &str = "wks_01890000-0000-7000-8000-999999999999";
const NO_CHECKPOINT: &str = "chk_01890000-0000-7000-8000-999999999999";

/// A folder with a file that nobody knows.
fn folder(world: &World) -> String {
    let folder = world.node.scratch().join(world.name());
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("file"), "x").unwrap();
    folder.to_str().unwrap().to_owned()
}

pub(crate) fn workspace(world: &World) -> Value {
    let made = world.made("workspace/create", json!({ "folder": folder(world) }));
    json!({ "workspace_id": made["workspace_id"] })
}

fn checkpoint(world: &World) -> Value {
    let made = world.made("workspace/checkpoint.create", workspace(world));
    json!({ "checkpoint_id": made["checkpoint_id"] })
}

fn deleted(world: &World) -> Value {
    let checkpoint = checkpoint(world);
    world.made("workspace/checkpoint.delete", checkpoint.clone());
    checkpoint
}

pub(crate) fn gone(world: &World) -> Value {
    let folder = folder(world);
    let made = world.made("workspace/create", json!({ "folder": folder }));
    std::fs::remove_dir_all(folder).unwrap();
    json!({ "workspace_id": made["workspace_id"] })
}

fn both(checkpoint: &Value) -> Value {
    json!({ "before_id": checkpoint["checkpoint_id"], "after_id": checkpoint["checkpoint_id"] })
}

fn long(mut params: Value) -> Value {
    params["reason"] = json!("x".repeat(2_000));
    params
}

pub(crate) fn no_workspace() -> Value {
    json!({ "workspace_id": NO_WORKSPACE })
}

fn no_checkpoint() -> Value {
    json!({ "checkpoint_id": NO_CHECKPOINT })
}

pub(crate) fn cases() -> Vec<Case> {
    folders().into_iter().chain(reading()).chain(keeping()).collect()
}

fn folders() -> Vec<Case> {
    vec![
        case(
            "workspace/create",
            |w| good(w, json!({ "folder": folder(w) })),
            vec![
                fails!(NotFound, "workspace/create", |_w| json!({ "agent": "nobody" })),
                failure(ErrorName::PermissionDenied, |w| {
                    let folder = folder(w);
                    w.talk(Who::Agent(&w.cat()))("workspace/create", json!({ "folder": folder }))
                }),
                fails!(InvalidParams, "workspace/create", |_w| json!({})),
                fails!(InvalidState, "workspace/create", |w| json!({ "folder": folder(w) + "/none" })),
            ],
        ),
        case(
            "workspace/get",
            |w| good(w, workspace(w)),
            vec![fails!(NotFound, "workspace/get", |_w| no_workspace())],
        ),
        case(
            "workspace/list",
            |w| good(w, json!({})),
            vec![
                fails!(NotFound, "workspace/list", |_w| json!({ "agent": "nobody" })),
                fails!(InvalidParams, "workspace/list", |_w| json!({ "cursor": "x" })),
            ],
        ),
        case(
            "workspace/delete",
            |w| good(w, workspace(w)),
            vec![
                fails!(NotFound, "workspace/delete", |_w| no_workspace()),
                fails!(InvalidParams, "workspace/delete", |w| long(workspace(w))),
            ],
        ),
    ]
}

fn reading() -> Vec<Case> {
    vec![
        case(
            "workspace/checkpoint.get",
            |w| good(w, checkpoint(w)),
            vec![fails!(NotFound, "workspace/checkpoint.get", |_w| no_checkpoint())],
        ),
        case(
            "workspace/checkpoint.list",
            |w| good(w, workspace(w)),
            vec![
                fails!(NotFound, "workspace/checkpoint.list", |_w| no_workspace()),
                fails!(InvalidParams, "workspace/checkpoint.list", |_w| json!({ "cursor": "x" })),
            ],
        ),
        case(
            "workspace/checkpoint.diff",
            |w| good(w, both(&checkpoint(w))),
            vec![
                fails!(NotFound, "workspace/checkpoint.diff", |_w| both(&no_checkpoint())),
                fails!(InvalidState, "workspace/checkpoint.diff", |w| both(&deleted(w))),
            ],
        ),
    ]
}

fn keeping() -> Vec<Case> {
    vec![
        case(
            "workspace/checkpoint.create",
            |w| good(w, workspace(w)),
            vec![
                fails!(NotFound, "workspace/checkpoint.create", |_w| no_workspace()),
                fails!(InvalidParams, "workspace/checkpoint.create", |_w| json!({})),
                fails!(InvalidState, "workspace/checkpoint.create", |w| gone(w)),
                fails!(DeadlineExceeded, "workspace/checkpoint.create", |w| {
                    let mut params = workspace(w);
                    (params["after"], params["timeout_ms"]) = (json!({ "write_seq": 1 }), json!(1));
                    params
                }),
                fails!(WrongWorkspace, "workspace/checkpoint.create", |w| elsewhere(w, workspace(w))),
                fails!(Fenced, "workspace/checkpoint.create", |w| {
                    let bound = bound(w);
                    w.made("workspace/binding.detach", bound.clone());
                    bound
                }),
            ],
        ),
        case(
            "workspace/checkpoint.restore",
            |w| good(w, checkpoint(w)),
            vec![
                fails!(NotFound, "workspace/checkpoint.restore", |_w| no_checkpoint()),
                fails!(InvalidState, "workspace/checkpoint.restore", |w| deleted(w)),
                fails!(WrongWorkspace, "workspace/checkpoint.restore", |w| elsewhere(w, checkpoint(w))),
                fails!(Fenced, "workspace/checkpoint.restore", |w| {
                    let mut params = checkpoint(w);
                    params["lock"] = json!(9);
                    params
                }),
            ],
        ),
        case(
            "workspace/checkpoint.delete",
            |w| good(w, checkpoint(w)),
            vec![
                fails!(NotFound, "workspace/checkpoint.delete", |_w| no_checkpoint()),
                fails!(InvalidParams, "workspace/checkpoint.delete", |w| long(checkpoint(w))),
                fails!(InvalidState, "workspace/checkpoint.delete", |w| deleted(w)),
            ],
        ),
    ]
}

//! Locks on paths of workspaces.

use edgeplane_testkit::peers::with;
use edgeplane_types::ErrorName;
use edgeplane_wire::api::workspace::LOCKS_MAX;
use serde_json::{Value, json};

use super::{
    Case, Who, World,
    bindings::elsewhere,
    case, fails, failure, good,
    workspaces::{no_workspace, workspace},
};

fn paths(workspace: Value) -> Value {
    with(workspace, &json!({ "paths": ["a"] }))
}

/// A workspace with a lock, and its token.
fn locked(world: &World) -> Value {
    let workspace = workspace(world);
    let held = world.made("workspace/lock.acquire", paths(workspace.clone()));
    with(workspace, &json!({ "token": held["token"] }))
}

/// A lock of an operator in the workspace of an agent, who asks for it to be released.
fn of_another(world: &World) -> Result<Value, edgeplane_wire::rpc::RpcError> {
    let agent = world.cat();
    let held = world.made("workspace/lock.acquire", json!({ "agent": agent, "paths": ["a"] }));
    let params = json!({ "agent": agent, "token": held["token"] });
    world.talk(Who::Agent(&agent))("workspace/lock.release", params)
}

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case(
            "workspace/lock.acquire",
            |w| good(w, paths(workspace(w))),
            vec![
                fails!(NotFound, "workspace/lock.acquire", |_w| paths(no_workspace())),
                fails!(InvalidParams, "workspace/lock.acquire", |w| workspace(w)),
                fails!(Locked, "workspace/lock.acquire", |w| {
                    let mut params = locked(w);
                    params.as_object_mut().unwrap().remove("token");
                    paths(params)
                }),
                fails!(WrongWorkspace, "workspace/lock.acquire", |w| elsewhere(w, paths(workspace(w)))),
                fails!(Fenced, "workspace/lock.acquire", |w| with(workspace(w), &json!({ "token": 9 }))),
                fails!(QuotaExhausted, "workspace/lock.acquire", |w| {
                    let workspace = workspace(w);
                    for number in 0..LOCKS_MAX {
                        let params = with(workspace.clone(), &json!({ "paths": [format!("b{number}")] }));
                        w.made("workspace/lock.acquire", params);
                    }
                    paths(workspace)
                }),
            ],
        ),
        case(
            "workspace/lock.release",
            |w| good(w, locked(w)),
            vec![
                fails!(NotFound, "workspace/lock.release", |w| with(workspace(w), &json!({ "token": 9 }))),
                failure(ErrorName::PermissionDenied, of_another),
                fails!(Fenced, "workspace/lock.release", |w| {
                    let params = locked(w);
                    w.made("workspace/lock.release", params.clone());
                    params
                }),
            ],
        ),
        case(
            "workspace/lock.list",
            |w| good(w, workspace(w)),
            vec![fails!(NotFound, "workspace/lock.list", |_w| no_workspace())],
        ),
    ]
}

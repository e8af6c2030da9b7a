//! Bindings of workspaces.

use edgeplane_testkit::peers::with;
use edgeplane_types::ErrorName;
use edgeplane_wire::api::workspace::BINDINGS_MAX;
use serde_json::{Value, json};

use super::{
    Case, Who, World, case, fails, failure, good,
    runtime::stopped_set,
    threads::input,
    workspaces::{no_workspace, workspace},
};

fn looking(workspace: Value, agent: &str) -> Value {
    with(workspace, &json!({ "agent": agent, "mode": "ro" }))
}

/// A workspace in which somebody writes, to be written in by a run.
pub(crate) fn written(world: &World) -> Value {
    let workspace = workspace(world);
    let params = with(workspace.clone(), &json!({ "agent": world.cat(), "mode": "rw" }));
    world.made("workspace/binding.attach", params);
    with(workspace, &json!({ "mode": "rw" }))
}

/// A workspace with as many bindings as there may be, to be looked at by a run.
pub(crate) fn crowded(world: &World) -> Value {
    let workspace = workspace(world);
    for _ in 0..BINDINGS_MAX {
        world.made("workspace/binding.attach", looking(workspace.clone(), &world.cat()));
    }
    with(workspace, &json!({ "mode": "ro" }))
}

/// A workspace to be looked at by a run.
pub(crate) fn seen(world: &World) -> Value {
    with(workspace(world), &json!({ "mode": "ro" }))
}

/// A workspace with a binding, and its number.
pub(crate) fn bound(world: &World) -> Value {
    let workspace = workspace(world);
    let made = world.made("workspace/binding.attach", looking(workspace.clone(), &world.cat()));
    with(workspace, &json!({ "binding_epoch": made["binding_epoch"] }))
}

/// What is about a workspace, under a binding of another one.
pub(crate) fn elsewhere(world: &World, mut params: Value) -> Value {
    params["binding_epoch"] = bound(world)["binding_epoch"].clone();
    params
}

/// A binding of one agent, of which another one asks for the end.
fn of_another(world: &World) -> Result<Value, edgeplane_wire::rpc::RpcError> {
    let (one, two, workspace) = (world.cat(), world.cat(), workspace(world));
    let made = world.made("workspace/binding.attach", looking(workspace.clone(), &one));
    world.made("workspace/binding.attach", looking(workspace.clone(), &two));
    let params = with(workspace, &json!({ "binding_epoch": made["binding_epoch"] }));
    world.talk(Who::Agent(&two))("workspace/binding.detach", params)
}

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case(
            "workspace/binding.attach",
            |w| good(w, looking(workspace(w), &w.cat())),
            vec![
                fails!(NotFound, "workspace/binding.attach", |w| looking(no_workspace(), &w.cat())),
                fails!(InvalidParams, "workspace/binding.attach", |w| {
                    with(workspace(w), &json!({ "mode": "ro" }))
                }),
                fails!(InvalidState, "workspace/binding.attach", |w| {
                    let agent = w.cat();
                    w.node.stop(&agent);
                    looking(workspace(w), &agent)
                }),
                fails!(Locked, "workspace/binding.attach", |w| {
                    let workspace = workspace(w);
                    let to =
                        |agent: String| with(workspace.clone(), &json!({ "agent": agent, "mode": "rw" }));
                    w.made("workspace/binding.attach", to(w.cat()));
                    to(w.cat())
                }),
                fails!(QuotaExhausted, "workspace/binding.attach", |w| {
                    with(crowded(w), &json!({ "agent": w.cat() }))
                }),
                fails!(Unsupported, "workspace/binding.attach", |w| {
                    let params = json!({ "agent": stopped_set(w), "input": input("x") });
                    let begun = w.made("conversation/turn.start", params);
                    with(seen(w), &json!({ "run_id": begun["run_id"] }))
                }),
            ],
        ),
        case(
            "workspace/binding.detach",
            |w| good(w, bound(w)),
            vec![
                fails!(NotFound, "workspace/binding.detach", |w| {
                    with(workspace(w), &json!({ "binding_epoch": 1_000_000 }))
                }),
                failure(ErrorName::PermissionDenied, of_another),
                fails!(WrongWorkspace, "workspace/binding.detach", |w| elsewhere(w, workspace(w))),
                fails!(Fenced, "workspace/binding.detach", |w| {
                    let params = bound(w);
                    w.made("workspace/binding.detach", params.clone());
                    params
                }),
            ],
        ),
    ]
}

//! Bindings of workspaces end to end: who sees and changes what under one, and when it is over, also over dying daemons.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends at once")]

#[path = "tasks/stage.rs"]
#[expect(dead_code, reason = "what only the tests of tasks need")]
mod stage;

use edgeplane_testkit::{
    Connection, Node,
    peers::{speak_as, with},
    wait::eventually,
};
use edgeplane_types::{ErrorName, TaskState};
use edgeplane_wire::rpc::RpcError;
use serde_json::{Value, json};
use stage::{allow, detail, only_run, task, wait_for, worker};

fn ask(node: &Node, method: &str, params: Value) -> Result<Value, RpcError> {
    node.connect().try_raw(method, params)
}

fn refused<T: std::fmt::Debug>(result: Result<T, RpcError>) -> ErrorName {
    result.unwrap_err().name()
}

/// A folder that an operator names, as a workspace.
fn shared_folder(node: &Node, name: &str) -> Value {
    let folder = node.scratch().join(name);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("file"), "x").unwrap();
    let made = ask(node, "workspace/create", json!({ "folder": folder })).unwrap();
    json!({ "workspace_id": made["workspace_id"] })
}

fn bind(node: &Node, of: &Value, more: &Value) -> Result<Value, RpcError> {
    ask(node, "workspace/binding.attach", with(of.clone(), more))
}

fn write(by: &mut Connection, of: &Value, more: &Value) -> Result<Value, RpcError> {
    let params = with(of.clone(), &json!({ "path": "file", "content": "y" }));
    by.try_raw("workspace/file.write", with(params, more))
}

fn under(binding: &Value) -> Value {
    json!({ "binding_epoch": binding["binding_epoch"] })
}

/// A run that goes on until it is allowed to end.
fn run_of(node: &Node, agent: &str, gate: &str) -> (edgeplane_types::TaskId, Value) {
    let id = task(node, Some(agent), &format!("gate {gate} fine"), &json!({}));
    wait_for(node, id, TaskState::Running);
    (id, json!({ "run_id": only_run(&detail(node, id)).run_id }))
}

/// Proves WSP-032, WSP-034, WSP-035.
#[test]
fn a_run_works_in_a_workspace_under_its_binding_only() {
    let node = Node::start();
    worker(&node, "alpha", "");
    worker(&node, "beta", "");
    let (of, other) = (shared_folder(&node, "a"), shared_folder(&node, "b"));
    let (first, run) = run_of(&node, "alpha", "one");
    let (mut alpha, mut beta) = (speak_as(&node, "alpha"), speak_as(&node, "beta"));
    assert_eq!(refused(alpha.try_raw("workspace/get", of.clone())), ErrorName::NotFound);
    // To be looked at: it is seen, a checkpoint can be made of it, and nothing is changed.
    let look = bind(&node, &of, &with(run.clone(), &json!({ "mode": "ro" }))).unwrap();
    assert_eq!((&look["binding_epoch"], &look["agent"]), (&json!(1), &json!("alpha")));
    let shown = alpha.try_raw("workspace/get", of.clone()).unwrap();
    assert_eq!((&shown["bindings"][0], &shown["folder"]), (&look, &look["root"]));
    alpha.try_raw("workspace/checkpoint.create", with(of.clone(), &under(&look))).unwrap();
    for more in [json!({}), under(&look)] {
        let error = write(&mut alpha, &of, &more).unwrap_err();
        assert_eq!(error.name(), ErrorName::PermissionDenied);
        assert!(error.message.contains("rule read-only-binding"), "{error:?}");
        let locked = with(with(of.clone(), &json!({ "paths": ["file"] })), &more);
        assert_eq!(refused(alpha.try_raw("workspace/lock.acquire", locked)), ErrorName::PermissionDenied);
    }
    // To be changed: by one at a time, and by nobody else under its number.
    let change = bind(&node, &of, &with(run.clone(), &json!({ "mode": "rw" }))).unwrap();
    assert_eq!(change["binding_epoch"], 2);
    assert_eq!(bind(&node, &of, &with(run, &json!({ "mode": "rw" }))).unwrap(), change, "it has it already");
    let error = bind(&node, &of, &json!({ "agent": "beta", "mode": "rw" })).unwrap_err();
    assert!(error.name() == ErrorName::Locked && error.message.contains("under number 2"), "{error:?}");
    write(&mut alpha, &of, &under(&change)).unwrap();
    write(&mut alpha, &of, &json!({})).unwrap();
    assert_eq!(refused(write(&mut beta, &of, &under(&change))), ErrorName::NotFound);
    let looking = bind(&node, &of, &json!({ "agent": "beta", "mode": "ro" })).unwrap();
    assert_eq!(refused(write(&mut beta, &of, &under(&change))), ErrorName::Fenced, "somebody else's");
    assert_eq!(refused(write(&mut beta, &of, &under(&looking))), ErrorName::PermissionDenied);
    let foreign = with(of.clone(), &under(&change));
    assert_eq!(refused(beta.try_raw("workspace/binding.detach", foreign)), ErrorName::PermissionDenied);
    // Whoever it is bound to hands nothing on.
    let on = with(of.clone(), &json!({ "agent": "beta", "mode": "ro" }));
    assert_eq!(refused(beta.try_raw("workspace/binding.attach", on)), ErrorName::NotFound);
    // Another workspace, also for an operator.
    let elsewhere = bind(&node, &other, &json!({ "agent": "alpha", "mode": "rw" })).unwrap();
    assert_eq!(elsewhere["binding_epoch"], 4);
    assert_eq!(refused(write(&mut alpha, &of, &under(&elsewhere))), ErrorName::WrongWorkspace);
    assert_eq!(refused(write(&mut node.connect(), &other, &under(&change))), ErrorName::WrongWorkspace);
    assert_eq!(refused(write(&mut alpha, &of, &json!({ "binding_epoch": 9 }))), ErrorName::Fenced);
    // It ends with its run, and the next one has a higher number.
    allow(&node, "one");
    wait_for(&node, first, TaskState::Completed);
    eventually("the run is over", || only_run(&detail(&node, first)).state.is_over());
    assert_eq!(refused(write(&mut node.connect(), &of, &under(&change))), ErrorName::Fenced);
    assert_eq!(refused(write(&mut alpha, &of, &json!({}))), ErrorName::NotFound);
    let next = bind(&node, &of, &json!({ "agent": "beta", "mode": "rw" })).unwrap();
    assert_eq!(next["binding_epoch"], 5);
    write(&mut beta, &of, &under(&next)).unwrap();
    assert_eq!(refused(write(&mut node.connect(), &of, &under(&change))), ErrorName::Fenced);
    node.verify();
}

/// Proves WSP-033, WSP-034.
#[test]
fn a_binding_ends_with_its_run_also_over_a_daemons_death() {
    let mut node = Node::start();
    worker(&node, "alpha", "");
    let of = shared_folder(&node, "a");
    let (first, run) = run_of(&node, "alpha", "one");
    let made = bind(&node, &of, &with(run.clone(), &json!({ "mode": "rw" }))).unwrap();
    node.kill_daemon();
    node.up();
    let shown = ask(&node, "workspace/get", of.clone()).unwrap();
    assert_eq!(shown["bindings"][0], made);
    write(&mut speak_as(&node, "alpha"), &of, &under(&made)).unwrap();
    // What ends while no daemon is there is over for the next one.
    node.kill_daemon();
    allow(&node, "one");
    node.up();
    wait_for(&node, first, TaskState::Completed);
    eventually("the run is over", || only_run(&detail(&node, first)).state.is_over());
    assert_eq!(ask(&node, "workspace/get", of.clone()).unwrap()["bindings"], Value::Null);
    assert_eq!(refused(write(&mut node.connect(), &of, &under(&made))), ErrorName::Fenced);
    assert_eq!(refused(bind(&node, &of, &with(run, &json!({ "mode": "ro" })))), ErrorName::InvalidState);
    // That of an agent ends with its epoch, and by whoever ends it.
    let mine = bind(&node, &of, &json!({ "agent": "alpha", "mode": "rw" })).unwrap();
    node.stop("alpha");
    assert_eq!(refused(write(&mut node.connect(), &of, &under(&mine))), ErrorName::Fenced);
    let absent = bind(&node, &of, &json!({ "agent": "alpha", "mode": "rw" }));
    assert_eq!(refused(absent), ErrorName::InvalidState);
    ask(&node, "runtime/agent.start", json!({ "agent": "alpha" })).unwrap();
    node.wait("alpha", edgeplane_types::Phase::Running);
    let mine = bind(&node, &of, &json!({ "agent": "alpha", "mode": "rw" })).unwrap();
    let end = with(of.clone(), &under(&mine));
    speak_as(&node, "alpha").try_raw("workspace/binding.detach", end.clone()).unwrap();
    assert_eq!(refused(ask(&node, "workspace/binding.detach", end)), ErrorName::Fenced);
    assert_eq!(refused(write(&mut node.connect(), &of, &under(&mine))), ErrorName::Fenced);
    node.verify();
}

/// Proves WSP-032.
#[test]
fn the_command_line_binds_and_unbinds() {
    let node = Node::start();
    worker(&node, "alpha", "");
    let of = shared_folder(&node, "a");
    let id = of["workspace_id"].as_str().unwrap();
    let run = |args: &[&str]| {
        let output = node.cli(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(run(&["workspace", "bind", id, "--agent", "alpha", "--rw"]).starts_with("binding 1 (rw): `"));
    // The selector of a context names one that lives, of the workspace that is meant.
    let ctx = |epoch: u64| with(of.clone(), &json!({ "ctx": { "selectors": { "binding_epoch": epoch } } }));
    ask(&node, "workspace/get", ctx(1)).unwrap();
    assert_eq!(refused(ask(&node, "workspace/get", ctx(2))), ErrorName::NotFound);
    let other = shared_folder(&node, "b");
    let wrong = with(ctx(1), &other);
    assert_eq!(refused(ask(&node, "workspace/get", wrong)), ErrorName::InvalidParams);
    assert_eq!(run(&["workspace", "unbind", id, "1"]), "binding 1 of `alpha` is over\n");
    assert_eq!(refused(ask(&node, "workspace/get", ctx(1))), ErrorName::NotFound);
    node.verify();
}

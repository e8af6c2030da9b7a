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

/// What a run or a turn says of its bindings: the number and whether it lives.
fn bindings(of: &Value) -> Vec<(u64, bool)> {
    let found = of["bindings"].as_array().cloned().unwrap_or_default();
    let shown = |one: &Value| (one["binding_epoch"].as_u64().unwrap(), one["is_live"] == true);
    found.iter().map(shown).collect()
}

fn run_view(node: &Node, id: &Value) -> Value {
    ask(node, "runtime/run.get", json!({ "run_id": id })).unwrap()
}

/// Proves WSP-042.
#[test]
fn a_run_is_bound_in_the_step_that_makes_it_or_not_made() {
    let mut node = Node::start();
    worker(&node, "alpha", "");
    worker(&node, "beta", "");
    let of = shared_folder(&node, "a");
    let draft = |agent: &str, work: &str| task(&node, Some(agent), work, &json!({ "start": false }));
    let (first, second) = (draft("alpha", "gate one fine"), draft("beta", "say fine"));
    let begin = |node: &Node, id: edgeplane_types::TaskId, mode: &str, more: &Value| {
        let params = json!({ "task_id": id, "binding": with(of.clone(), &json!({ "mode": mode })) });
        ask(node, "runtime/run.start", with(params, more))
    };
    let chosen = json!({ "run_id": "run_01890000-0000-7000-8000-000000000002" });
    let made = begin(&node, first, "rw", &chosen).unwrap()["run"].clone();
    assert_eq!(bindings(&made), [(1, true)], "{made}");
    wait_for(&node, first, TaskState::Running);
    write(&mut speak_as(&node, "alpha"), &of, &json!({ "binding_epoch": 1 })).unwrap();
    // One at a time may write: the second run is refused, and there is none.
    assert_eq!(refused(begin(&node, second, "rw", &json!({}))), ErrorName::Locked);
    assert!(detail(&node, second).runs.is_empty());
    // What would have to wait is bound to nothing.
    let link = json!({ "task_id": second, "kind": "depends_on", "to": first });
    ask(&node, "runtime/task.link", link).unwrap();
    assert_eq!(refused(begin(&node, second, "ro", &json!({}))), ErrorName::InvalidState);
    let nobodys = json!({ "workspace_id": "wks_01890000-0000-7000-8000-999999999999", "mode": "ro" });
    let unknown = json!({ "task_id": second, "binding": nobodys });
    assert_eq!(refused(ask(&node, "runtime/run.start", unknown)), ErrorName::NotFound);
    let shown = ask(&node, "workspace/get", of.clone()).unwrap();
    assert_eq!(shown["bindings"].as_array().unwrap().len(), 1, "{shown}");
    // Another daemon finds both, and the same words bind nothing a second time.
    node.kill_daemon();
    node.up();
    let params = json!({ "task_id": first, "binding": with(of.clone(), &json!({ "mode": "rw" })) });
    let again = ask(&node, "runtime/run.start", with(params, &chosen)).unwrap()["run"].clone();
    assert_eq!((&again["run_id"], bindings(&again)), (&made["run_id"], vec![(1, true)]));
    allow(&node, "one");
    wait_for(&node, first, TaskState::Completed);
    eventually("its binding is over", || bindings(&run_view(&node, &made["run_id"])) == [(1, false)]);
    assert_eq!(refused(write(&mut node.connect(), &of, &json!({ "binding_epoch": 1 }))), ErrorName::Fenced);
    node.verify();
}

/// Proves WSP-043.
#[test]
fn a_turn_for_no_task_works_under_a_binding_until_it_ends() {
    let node = Node::start();
    worker(&node, "alpha", "");
    let (of, other) = (shared_folder(&node, "a"), shared_folder(&node, "b"));
    let turn = |work: &str, more: &Value| {
        let params = json!({ "agent": "alpha", "input": [{ "type": "text", "text": work }] });
        ask(&node, "conversation/turn.start", with(params, more))
    };
    assert_eq!(refused(turn("say x", &json!({ "workspace_mode": "ro" }))), ErrorName::InvalidParams);
    let steering = with(of.clone(), &json!({ "on_busy": "steer" }));
    assert_eq!(refused(turn("say x", &steering)), ErrorName::InvalidParams);
    let chosen = json!({ "turn_id": "trn_01890000-0000-7000-8000-000000000002" });
    let begun = turn("gate one fine", &with(of.clone(), &chosen)).unwrap();
    assert_eq!(bindings(&begun), [(1, true)], "{begun}");
    let again = turn("gate one fine", &with(of.clone(), &chosen)).unwrap();
    assert_eq!((&again["duplicate"], bindings(&again)), (&json!(true), vec![(1, true)]));
    let run = json!({ "run_id": begun["run_id"] });
    let second = bind(&node, &other, &with(run.clone(), &json!({ "mode": "ro" }))).unwrap();
    assert_eq!(second["binding_epoch"], 2);
    let mut alpha = speak_as(&node, "alpha");
    write(&mut alpha, &of, &json!({ "binding_epoch": 1 })).unwrap();
    allow(&node, "one");
    eventually("both are over", || bindings(&run_view(&node, &begun["run_id"])) == [(1, false), (2, false)]);
    assert_eq!(refused(write(&mut alpha, &of, &json!({ "binding_epoch": 1 }))), ErrorName::NotFound);
    assert_eq!(refused(write(&mut node.connect(), &of, &json!({ "binding_epoch": 1 }))), ErrorName::Fenced);
    assert_eq!(refused(bind(&node, &other, &with(run, &json!({ "mode": "ro" })))), ErrorName::InvalidState);
    node.verify();
}

/// Proves WSP-042: whoever keeps a folder's state asks the agents in it, which wait for nobody then.
#[test]
fn turns_are_bound_while_the_folder_is_kept() {
    const ROUNDS: usize = 30;
    let node = Node::start();
    worker(&node, "alpha", "");
    let made = ask(&node, "workspace/checkpoint.create", json!({ "agent": "alpha" })).unwrap();
    let of = json!({ "workspace_id": made["workspace_id"] });
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _round in 0..ROUNDS {
                ask(&node, "workspace/checkpoint.create", of.clone()).unwrap();
            }
        });
        for _round in 0..ROUNDS {
            let params = json!({ "agent": "alpha", "input": [{ "type": "text", "text": "say x" }] });
            let more = with(of.clone(), &json!({ "workspace_mode": "ro" }));
            ask(&node, "conversation/turn.start", with(params, &more)).unwrap();
        }
    });
    node.verify();
}

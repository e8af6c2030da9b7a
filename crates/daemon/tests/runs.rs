//! Runs that somebody asks for, lets rest and goes on with, and what a run may use.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends at once")]

#[path = "tasks/stage.rs"]
#[expect(dead_code, reason = "what only the tests of tasks need")]
mod stage;

use edgeplane_testkit::{Node, acp, wait::eventually};
use edgeplane_types::{RunId, RunState, TaskId, TaskState};
use edgeplane_wire::api::work::{RunAdmission, RunStartResult};
use serde_json::{Value, json};
use stage::{allow, call, detail, given, only_run, refused, task, try_call, wait_for, worker};

const CHOSEN: &str = "run_01890000-0000-7000-8000-000000000002";

fn start(node: &Node, id: TaskId, more: &Value) -> RunStartResult {
    serde_json::from_value(call(node, "runtime/run.start", params(id, more))).unwrap()
}

fn params(id: TaskId, more: &Value) -> Value {
    let mut params = json!({ "task_id": id });
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    params
}

fn no_start(node: &Node, id: TaskId, more: &Value) -> String {
    refused(node, "runtime/run.start", params(id, more))
}

fn draft(node: &Node, agent: Option<&str>, work: &str) -> TaskId {
    task(node, agent, work, &json!({ "start": false }))
}

/// Proves WORK-016.
#[test]
fn run_with_an_id_of_its_own_is_begun_once() {
    let mut node = Node::start();
    worker(&node, "alpha", "");
    let id = draft(&node, Some("alpha"), "gate go fine");
    let first = start(&node, id, &json!({ "run_id": CHOSEN, "reason": "now" }));
    let run = first.run.unwrap();
    assert_eq!((first.admission, run.run_id.to_string()), (RunAdmission::Admitted, CHOSEN.to_owned()));
    assert_eq!((run.reason.as_str(), run.attempt), ("now", 1));
    wait_for(&node, id, TaskState::Running);
    // Said again, also to another daemon, it is the same run; of another task it is none.
    node.kill_daemon();
    node.up();
    let again = start(&node, id, &json!({ "run_id": CHOSEN, "reason": "now" }));
    assert_eq!(again.run.unwrap().run_id, run.run_id);
    let other = draft(&node, Some("alpha"), "say other");
    assert_eq!(no_start(&node, other, &json!({ "run_id": CHOSEN })), "conflict");
    // No second run while one lives, and none with a message's digits.
    assert_eq!(no_start(&node, id, &json!({})), "invalid_state");
    let message = node.signal("alpha", "say hello", None).message_id.to_string().replace("msg_", "run_");
    assert_eq!(no_start(&node, other, &json!({ "run_id": message })), "conflict");
    allow(&node, "go");
    assert_eq!(only_run(&wait_for(&node, id, TaskState::Completed)).state, RunState::Completed);
    assert_eq!(no_start(&node, id, &json!({})), "invalid_state");
    let words =
        given(&node, "alpha").iter().filter(|said| said.to_string().contains(&id.to_string())).count();
    assert_eq!(words, 1);
    node.verify();
}

/// Proves WORK-016.
#[test]
fn further_run_follows_the_last_one_and_may_be_another_agents() {
    let node = Node::start();
    worker(&node, "alpha", "");
    worker(&node, "beta", "");
    let id = task(&node, Some("alpha"), "fail no way", &json!({ "limits": { "wall_ms": 900_000 } }));
    let failed = only_run(&wait_for(&node, id, TaskState::Failed)).run_id;
    eventually("its run has ended too", || only_run(&detail(&node, id)).state.is_over());
    assert_eq!(no_start(&node, id, &json!({ "retry_of": CHOSEN })), "fenced");
    assert_eq!(no_start(&node, id, &json!({ "if_version": 77 })), "version_conflict");
    let more = json!({ "retry_of": failed, "agent": "beta", "limits": { "steps": 7 } });
    let run = start(&node, id, &more).run.unwrap();
    assert_eq!((run.attempt, run.agent.as_str(), run.limits.steps), (2, "beta", Some(7)));
    assert_eq!(run.limits.wall_ms, None);
    wait_for(&node, id, TaskState::Failed);
    eventually("beta's run has ended too", || detail(&node, id).runs.iter().all(|run| run.state.is_over()));
    assert_eq!(no_start(&node, id, &json!({ "retry_of": failed })), "fenced");
    // What is nobody's work needs somebody; what waits for others is queued, or refused if it has an id already.
    let nobodys = draft(&node, None, "say done");
    assert_eq!(no_start(&node, nobodys, &json!({})), "invalid_params");
    let late = task(&node, Some("alpha"), "say late", &json!({ "start": false, "depends_on": [nobodys] }));
    assert_eq!(no_start(&node, late, &json!({ "run_id": CHOSEN })), "invalid_state");
    let queued = start(&node, late, &json!({}));
    assert!(queued.run.is_none() && queued.admission == RunAdmission::Queued);
    assert!(queued.reason.contains(&nobodys.to_string()), "{}", queued.reason);
    wait_for(&node, late, TaskState::Blocked);
    start(&node, nobodys, &json!({ "agent": "alpha" }));
    wait_for(&node, nobodys, TaskState::Completed);
    wait_for(&node, late, TaskState::Completed);
    node.verify();
}

/// Proves WORK-009.
#[test]
fn run_that_rests_is_followed_by_another_one() {
    let node = Node::start();
    worker(&node, "alpha", "");
    let id = task(&node, Some("alpha"), "gate go fine", &json!({}));
    wait_for(&node, id, TaskState::Running);
    let first = only_run(&detail(&node, id)).run_id;
    let of = |run: RunId| json!({ "run_id": run });
    assert_eq!(refused(&node, "runtime/run.resume", of(first)), "invalid_state");
    call(&node, "runtime/run.pause", of(first));
    wait_for(&node, id, TaskState::Paused);
    eventually("its turn has ended", || only_run(&detail(&node, id)).state == RunState::Cancelled);
    assert_eq!(refused(&node, "runtime/run.pause", of(first)), "invalid_state");
    let resumed: RunStartResult =
        serde_json::from_value(call(&node, "runtime/run.resume", of(first))).unwrap();
    let second = resumed.run.unwrap().run_id;
    assert_eq!(refused(&node, "runtime/run.pause", of(first)), "fenced");
    assert_eq!(refused(&node, "runtime/run.resume", of(first)), "fenced");
    allow(&node, "go");
    let done = wait_for(&node, id, TaskState::Completed);
    let runs: Vec<_> = done.runs.iter().map(|run| (run.run_id, run.state)).collect();
    assert_eq!(runs, [(first, RunState::Cancelled), (second, RunState::Completed)]);
    node.verify();
}

/// Proves WORK-017.
#[test]
fn run_that_uses_more_than_it_may_is_ended() {
    let mut node = Node::start();
    node.run("coder", &acp("coder", &node.scratch().join("coder"), &[], ("", "")));
    for (what, limits, why) in [
        ("tokens", json!({ "tokens": 100 }), "tokens and may use 100"),
        ("cost", json!({ "cost_micros": 1_500_000 }), "and may cost 1.5"),
        ("steps", json!({ "steps": 9 }), "steps and may take 9"),
    ] {
        let id = task(&node, Some("coder"), &format!("spend {what}"), &json!({ "limits": limits }));
        let run = only_run(&wait_for(&node, id, TaskState::Failed));
        assert!(run.state == RunState::Failed && run.reason.contains(why), "{}", run.reason);
        // The session's export joins the limit to its turn by this word.
        let ended = node.facts("", "run.ended").pop().unwrap();
        assert_eq!((&ended["run_id"], &ended["limit"]), (&json!(run.run_id), &json!(what)), "{ended}");
    }
    // What is not bounded by these goes on; a bound that is not reached ends nothing.
    let all =
        json!({ "tokens": 1_000_000, "cost_micros": 1_000_000_000, "steps": 1_000, "continuations": 3 });
    let id = task(&node, Some("coder"), "usage", &json!({ "limits": all }));
    wait_for(&node, id, TaskState::Completed);
    // A further daemon counts on.
    let id = task(&node, Some("coder"), "spend steps", &json!({ "limits": { "steps": 200 } }));
    wait_for(&node, id, TaskState::Running);
    node.kill_daemon();
    node.up();
    let run = only_run(&wait_for(&node, id, TaskState::Failed));
    assert!(run.reason.contains("steps and may take 200"), "{}", run.reason);
    node.verify();
}

/// Proves WORK-017.
#[test]
fn run_is_gone_on_with_as_often_as_it_may_be() {
    let node = Node::start();
    worker(&node, "alpha", "delivery: { openTurn: retry }\n");
    let id = task(&node, Some("alpha"), "die hold", &json!({ "limits": { "continuations": 0 } }));
    let run = only_run(&wait_for(&node, id, TaskState::Failed));
    assert!(run.reason.contains("1 times and may 0 times"), "{}", run.reason);
    std::fs::remove_file(node.scratch().join("alpha.died")).unwrap();
    let id = task(&node, Some("alpha"), "die", &json!({ "limits": { "continuations": 1 } }));
    assert_eq!(only_run(&wait_for(&node, id, TaskState::Completed)).state, RunState::Completed);
    node.verify();
}

/// Proves CALL-003, CALL-004.
#[test]
fn context_names_a_task_and_a_run() {
    let node = Node::start();
    worker(&node, "alpha", "");
    let id = task(&node, Some("alpha"), "say fine", &json!({}));
    let run = only_run(&wait_for(&node, id, TaskState::Completed)).run_id;
    let other = draft(&node, None, "x");
    let ask = |selectors: Value| {
        let params = json!({ "run_id": run, "ctx": { "selectors": selectors } });
        try_call(&node, "runtime/run.get", params).map_err(|error| error.name().as_str().to_owned())
    };
    assert!(ask(json!({ "task_id": id })).is_ok());
    assert!(ask(json!({ "task_id": id, "run_id": run })).is_ok());
    assert_eq!(ask(json!({ "task_id": other, "run_id": run })).unwrap_err(), "invalid_params");
    assert_eq!(ask(json!({ "run_id": CHOSEN })).unwrap_err(), "not_found");
}

/// Proves WORK-018.
#[test]
fn turn_that_is_begun_for_no_task_is_a_run_of_one() {
    let mut node = Node::start();
    worker(&node, "alpha", "");
    let begun = call(
        &node,
        "conversation/turn.start",
        json!({ "agent": "alpha", "input": [{ "type": "text", "text": "gate go fine\nwith care" }] }),
    );
    let digits = begun["turn_id"].as_str().unwrap().strip_prefix("trn_").unwrap();
    let (task, run) = (format!("tsk_{digits}"), format!("run_{digits}"));
    assert_eq!((begun["task_id"].as_str(), begun["run_id"].as_str()), (Some(&*task), Some(&*run)));
    let turn = call(&node, "conversation/turn.get", json!({ "turn_id": begun["turn_id"] }));
    assert_eq!((&turn["task_id"], &turn["run_id"]), (&begun["task_id"], &begun["run_id"]));
    let id: TaskId = task.parse().unwrap();
    eventually("it is worked on", || detail(&node, id).task.state == TaskState::Running);
    let shown = detail(&node, id);
    assert_eq!(
        (shown.task.title.as_str(), shown.objective.as_deref()),
        ("gate go fine", Some("gate go fine\nwith care"))
    );
    assert_eq!(only_run(&shown).run_id.to_string(), run);
    // It is in no list, costs no fact, and nothing about it can be changed.
    assert_eq!(call(&node, "runtime/task.list", json!({ "all": true }))["items"], json!([]));
    for (method, more) in [
        ("runtime/task.update", json!({ "title": "other" })),
        ("runtime/task.cancel", json!({})),
        ("runtime/task.complete", json!({})),
        ("runtime/run.start", json!({})),
    ] {
        let error = try_call(&node, method, params(id, &more)).unwrap_err();
        assert_eq!(error.name().as_str(), "not_found", "{method}");
        assert!(error.message.contains(begun["turn_id"].as_str().unwrap()), "{method}: {error}");
        assert!(
            error.data.hint.unwrap().contains("conversation/turn.interrupt"),
            "{method}: what to do instead"
        );
    }
    let graph = call(&node, "runtime/task.graph", json!({ "task_id": id }));
    assert_eq!((graph["tasks"].as_array().unwrap().len(), &graph["tasks"][0]["task_id"]), (1, &json!(id)));
    assert_eq!(
        refused(&node, "runtime/task.get", json!({ "task_id": CHOSEN.replace("run_", "tsk_") })),
        "not_found"
    );
    // Another daemon says the same; ending the run is ending the turn.
    node.kill_daemon();
    node.up();
    assert_eq!(detail(&node, id).task.state, TaskState::Running);
    call(&node, "runtime/run.cancel", json!({ "run_id": run, "reason": "enough" }));
    eventually("it has ended", || detail(&node, id).task.state == TaskState::Cancelled);
    let ended = detail(&node, id);
    assert_eq!(ended.task.cancelled_because.as_deref(), Some("enough"));
    assert_eq!(only_run(&ended).state, RunState::Cancelled);
    assert_eq!(refused(&node, "runtime/run.cancel", json!({ "run_id": run })), "invalid_state");
    node.verify();
}

/// Proves WORK-018, WORK-019.
#[test]
fn turn_with_limits_has_them_written_down_and_is_held_to_them() {
    let mut node = Node::start();
    node.run("coder", &acp("coder", &node.scratch().join("coder"), &[], ("", "")));
    let begin = |node: &Node, more: &Value| {
        let mut params = json!({ "agent": "coder", "input": [{ "type": "text", "text": "spend steps" }] });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        try_call(node, "conversation/turn.start", params)
    };
    let both = json!({ "limits": { "steps": 9 }, "on_busy": "steer" });
    assert_eq!(begin(&node, &both).unwrap_err().name().as_str(), "invalid_params");
    let turn = CHOSEN.replace("run_", "trn_");
    let begun = begin(&node, &json!({ "turn_id": turn, "limits": { "steps": 200 } })).unwrap();
    assert_eq!(begun["run_id"], CHOSEN);
    let id: TaskId = begun["task_id"].as_str().unwrap().parse().unwrap();
    // Said again it is the same one, and another daemon holds it to what it may use.
    let again = begin(&node, &json!({ "turn_id": turn, "limits": { "steps": 200 } })).unwrap();
    assert_eq!((&again["task_id"], &again["duplicate"]), (&begun["task_id"], &json!(true)));
    node.kill_daemon();
    node.up();
    let run = only_run(&wait_for(&node, id, TaskState::Failed));
    assert!(run.reason.contains("steps and may take 200"), "{}", run.reason);
    assert_eq!((run.limits.steps, run.attempt), (Some(200), 1));
    let listed = call(&node, "runtime/task.list", json!({ "all": true }));
    assert_eq!(listed["items"].as_array().map(Vec::len), Some(1), "{listed}");
    assert_eq!(listed["items"][0]["kind"], "turn");
    // One that keeps within them is done like any other.
    let begun = begin(
        &node,
        &json!({ "limits": { "steps": 1_000 }, "input": [{ "type": "text", "text": "usage" }] }),
    );
    let id: TaskId = begun.unwrap()["task_id"].as_str().unwrap().parse().unwrap();
    wait_for(&node, id, TaskState::Completed);
    node.verify();
}

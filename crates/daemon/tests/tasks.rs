//! Tasks through real agents: begun, ordered, accepted, tried again, ended, over dying daemons and dying programs.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends at once")]

#[path = "tasks/stage.rs"]
mod stage;

use edgeplane_testkit::{
    Node, acp,
    peers::speak_as,
    wait::{eventually, eventually_some},
};
use edgeplane_types::{RunState, TaskId, TaskState};
use edgeplane_wire::api::work::{EdgeView, TaskGraphResult};
use serde_json::json;
use stage::{
    allow, arm, call, change, detail, given, only_run, refused, task, try_call, view, wait_for, worker,
};

/// Proves WORK-003, WORK-004.
#[test]
fn task_is_done_by_a_turn_of_its_agent() {
    let node = Node::start();
    worker(&node, "alpha", "");
    let id = task(&node, Some("alpha"), "say fine", &json!({}));
    let done = wait_for(&node, id, TaskState::Completed);
    let run = only_run(&done);
    assert_eq!((run.state, run.attempt), (RunState::Completed, 1));
    let digits = |text: String| text.split_once('_').unwrap().1.to_owned();
    assert_eq!(digits(run.run_id.to_string()), digits(run.turn_id.to_string()));
    let output = call(&node, "conversation/output.get", json!({ "output_id": run.output_id.unwrap() }));
    assert_eq!(output["text"], "fine");
    let told = &given(&node, "alpha")[0]["params"];
    assert_eq!(told["channel"], "workflow");
    assert!(told["parts"][0]["text"].as_str().unwrap().contains(&id.to_string()));
    let turn = call(&node, "conversation/turn.get", json!({ "turn_id": run.turn_id }));
    assert_eq!(turn["state"], "completed");
    node.verify();
}

/// Proves WORK-005.
#[test]
fn task_is_begun_when_all_that_it_depends_on_is_completed() {
    let node = Node::start();
    worker(&node, "alpha", "");
    worker(&node, "beta", "");
    let first = task(&node, Some("alpha"), "gate one 1", &json!({}));
    let second = task(&node, Some("beta"), "gate two 2", &json!({}));
    let last = task(&node, Some("alpha"), "say 3", &json!({ "depends_on": [first, second] }));
    let waits = wait_for(&node, last, TaskState::Blocked);
    assert!(waits.task.reason.unwrap().contains("depends on"));
    assert!(waits.runs.is_empty());
    allow(&node, "one");
    wait_for(&node, first, TaskState::Completed);
    assert_eq!(view(&node, last).state, TaskState::Blocked, "the other one is not completed");
    allow(&node, "two");
    let done = wait_for(&node, last, TaskState::Completed);
    let ended = wait_for(&node, second, TaskState::Completed).runs[0].ended_at;
    assert!(Some(done.runs[0].started_at) >= ended);
    node.verify();
}

/// Proves WORK-005.
#[test]
fn task_does_not_wait_for_what_it_is_parted_from() {
    let node = Node::start();
    worker(&node, "alpha", "");
    worker(&node, "beta", "");
    let first = task(&node, Some("alpha"), "gate one 1", &json!({}));
    let last = task(&node, Some("beta"), "say 2", &json!({ "depends_on": [first] }));
    wait_for(&node, last, TaskState::Blocked);
    call(&node, "runtime/task.unlink", json!({ "task_id": last, "kind": "depends_on", "to": first }));
    let done = wait_for(&node, last, TaskState::Completed);
    assert!(done.edges.is_empty(), "{:?}", done.edges);
    assert_eq!(view(&node, first).state, TaskState::Running);
    node.verify();
}

/// Proves WORK-006.
#[test]
fn good_end_of_a_turn_completes_nothing_that_has_to_be_accepted() {
    let node = Node::start();
    worker(&node, "alpha", "");
    let criteria = json!({ "acceptance": ["it compiles", "it is tested"] });
    let id = task(&node, Some("alpha"), "say done", &criteria);
    wait_for(&node, id, TaskState::WaitingInput);
    let complete = |more: serde_json::Value| {
        let mut params = json!({ "task_id": id });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        try_call(&node, "runtime/task.complete", params).map_err(|error| error.name().as_str())
    };
    assert_eq!(complete(json!({})).unwrap_err(), "invalid_state");
    assert_eq!(complete(json!({ "accepted": [0] })).unwrap_err(), "invalid_state");
    assert_eq!(complete(json!({ "accepted": [7] })).unwrap_err(), "invalid_params");
    call(&node, "runtime/task.progress", json!({ "task_id": id, "accepted": [1], "done": 1, "total": 2 }));
    let half = view(&node, id);
    assert_eq!(half.acceptance.iter().map(|one| one.is_true).collect::<Vec<_>>(), [false, true]);
    complete(json!({ "accepted": [0], "artifacts": ["file:///notes.md"], "evidence": ["https://ci/7"] }))
        .unwrap();
    let done = detail(&node, id);
    assert_eq!(done.task.state, TaskState::Completed);
    let addresses: Vec<_> = done.edges.iter().filter_map(|edge| edge.uri.as_deref()).collect();
    assert_eq!(addresses, ["file:///notes.md", "https://ci/7"]);
    // What was accepted while the work went on needs nobody afterwards.
    let early = task(&node, Some("alpha"), "gate go ok", &json!({ "acceptance": ["it compiles"] }));
    wait_for(&node, early, TaskState::Running);
    call(&node, "runtime/task.progress", json!({ "task_id": early, "accepted": [0] }));
    allow(&node, "go");
    wait_for(&node, early, TaskState::Completed);
    node.verify();
}

/// Proves WORK-007.
#[test]
fn run_that_takes_too_long_is_ended_and_tried_again_and_none_is_written_over() {
    let node = Node::start();
    worker(&node, "alpha", "");
    let limits = json!({ "limits": { "wall_ms": 300 }, "attempts": 2 });
    let id = task(&node, Some("alpha"), "hold", &limits);
    let over = wait_for(&node, id, TaskState::TimedOut);
    let attempts: Vec<_> = over.runs.iter().map(|run| (run.attempt, run.state)).collect();
    assert_eq!(attempts, [(1, RunState::TimedOut), (2, RunState::TimedOut)]);
    assert!(over.runs[1].reason.contains("300 ms"), "{}", over.runs[1].reason);
    // Nothing of it is left to do for the agent.
    let after = task(&node, Some("alpha"), "say free", &json!({}));
    wait_for(&node, after, TaskState::Completed);
    // By hand there may be more than it was given.
    change(&node, "retry", id);
    eventually("there is a third run", || detail(&node, id).runs.len() == 3);
    let more = detail(&node, id).runs;
    assert_eq!((more[0].state, more[2].reason.as_str()), (RunState::TimedOut, "somebody has it tried again"));
    node.verify();
}

/// Proves WORK-007.
#[test]
fn program_that_fails_or_dies_is_tried_again_as_often_as_the_task_says() {
    let node = Node::start();
    worker(&node, "alpha", "delivery: { openTurn: drop }\n");
    let id = task(&node, Some("alpha"), "die", &json!({ "attempts": 3 }));
    let done = wait_for(&node, id, TaskState::Completed);
    let states: Vec<_> = done.runs.iter().map(|run| run.state).collect();
    assert_eq!(states, [RunState::Failed, RunState::Completed]);
    assert_eq!(given(&node, "alpha").len(), 2);
    // What an agent says itself to have failed is not tried again unasked.
    let id = task(&node, Some("alpha"), "fail no way", &json!({ "attempts": 2 }));
    let over = wait_for(&node, id, TaskState::Failed);
    assert_eq!((over.task.reason.as_deref(), over.runs.len()), (Some("no way"), 1));
    node.verify();
}

/// Proves WORK-008.
#[test]
fn cancelled_task_ends_with_all_its_parts_and_takes_no_further_ones() {
    let node = Node::start();
    worker(&node, "alpha", "");
    let root = task(&node, None, "all of it", &json!({ "start": false }));
    let part = |work: &str, more: serde_json::Value| {
        let mut all = json!({ "parent_id": root });
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        task(&node, Some("alpha"), work, &all)
    };
    let running = part("hold", json!({}));
    let waiting = part("hold", json!({ "start": false }));
    let blocked = part("say never", json!({ "depends_on": [running] }));
    let draft = part("say never", json!({ "start": false }));
    let done = part("say x", json!({ "start": false }));
    change(&node, "start", root);
    call(&node, "runtime/task.start", json!({ "task_id": done }));
    call(&node, "runtime/task.complete", json!({ "task_id": done }));
    wait_for(&node, running, TaskState::Running);
    wait_for(&node, root, TaskState::Running);
    change(&node, "start", waiting);
    wait_for(&node, waiting, TaskState::Preparing);
    change(&node, "cancel", root);
    wait_for(&node, root, TaskState::Cancelled);
    for id in [running, waiting, blocked, draft] {
        assert_eq!(view(&node, id).state, TaskState::Cancelled);
    }
    assert_eq!(view(&node, done).state, TaskState::Completed, "what is done stays done");
    let refused = refused(&node, "runtime/task.create", json!({ "title": "late", "parent_id": root }));
    assert_eq!(refused, "invalid_state");
    assert_eq!(only_run(&detail(&node, running)).state, RunState::Cancelled);
    assert_eq!(only_run(&detail(&node, waiting)).state, RunState::Cancelled);
    node.verify();
}

/// Proves WORK-015.
#[test]
fn what_is_made_of_parts_is_begun_with_them_and_done_when_somebody_knows_that_they_are_all() {
    let node = Node::start();
    // Each has its own: which of two tasks is begun first is nobody's promise.
    worker(&node, "alpha", "");
    worker(&node, "beta", "");
    let whole = task(&node, None, "all", &json!({ "start": false }));
    let part = |of: TaskId, work: &str| {
        let agent = if work.starts_with("gate") { "beta" } else { "alpha" };
        task(&node, Some(agent), work, &json!({ "parent_id": of }))
    };
    let first = part(whole, "say 1");
    let waits = wait_for(&node, first, TaskState::Blocked);
    assert!(waits.task.reason.unwrap().ends_with("which is not begun"));
    let second = part(whole, "gate go 2");
    change(&node, "start", whole);
    wait_for(&node, first, TaskState::Completed);
    assert_eq!(wait_for(&node, whole, TaskState::Running).task.reason.unwrap(), "one of its parts is begun");
    allow(&node, "go");
    wait_for(&node, second, TaskState::Completed);
    wait_for(&node, whole, TaskState::Completed);
    // Of what was begun before its parts were known, nobody knows whether they are all.
    let open = task(&node, None, "all", &json!({}));
    part(open, "say 1");
    assert!(
        wait_for(&node, open, TaskState::WaitingInput).task.reason.unwrap().contains("somebody has to say")
    );
    let further = part(open, "gate on 2");
    wait_for(&node, open, TaskState::Running);
    let early = refused(&node, "runtime/task.complete", json!({ "task_id": open }));
    assert_eq!(early, "invalid_state", "a part of it is under way");
    allow(&node, "on");
    wait_for(&node, further, TaskState::Completed);
    wait_for(&node, open, TaskState::WaitingInput);
    assert_eq!(change(&node, "complete", open).state, TaskState::Completed);
    // A part that fails lets the whole fail.
    let whole = task(&node, None, "all", &json!({ "start": false }));
    part(whole, "fail no");
    part(whole, "say 2");
    change(&node, "start", whole);
    let failed = wait_for(&node, whole, TaskState::Failed);
    assert_eq!(failed.task.reason.unwrap(), "1 of its 2 parts are not completed");
    node.verify();
}

/// Proves WORK-009.
#[test]
fn task_that_rests_is_gone_on_with_by_a_further_run() {
    let node = Node::start();
    worker(&node, "alpha", "");
    let id = task(&node, Some("alpha"), "hold", &json!({}));
    wait_for(&node, id, TaskState::Running);
    change(&node, "pause", id);
    eventually("its run has ended", || detail(&node, id).runs[0].state == RunState::Cancelled);
    assert_eq!(view(&node, id).state, TaskState::Paused);
    call(&node, "runtime/task.update", json!({ "task_id": id, "objective": "say rested" }));
    change(&node, "resume", id);
    let done = wait_for(&node, id, TaskState::Completed);
    assert_eq!(done.runs.len(), 2);
    node.verify();
}

/// Proves WORK-010.
#[test]
fn tasks_never_lead_in_a_circle() {
    let node = Node::start();
    let tasks: Vec<TaskId> = (0..4).map(|_| task(&node, None, "x", &json!({ "start": false }))).collect();
    let edge =
        |kind: &str, from: usize, to: usize| json!({ "task_id": tasks[from], "kind": kind, "to": tasks[to] });
    for (from, to) in [(1, 0), (2, 1), (3, 2)] {
        call(&node, "runtime/task.link", edge("depends_on", from, to));
    }
    assert_eq!(refused(&node, "runtime/task.link", edge("depends_on", 0, 3)), "conflict");
    assert_eq!(refused(&node, "runtime/task.link", edge("depends_on", 0, 0)), "conflict");
    call(&node, "runtime/task.link", edge("source", 0, 3));
    // Drawn twice it is there once.
    call(&node, "runtime/task.link", edge("depends_on", 1, 0));
    call(&node, "runtime/task.unlink", edge("depends_on", 2, 1));
    assert_eq!(refused(&node, "runtime/task.unlink", edge("depends_on", 2, 1)), "not_found");
    call(&node, "runtime/task.link", edge("depends_on", 0, 3));
    let known: Vec<EdgeView> = detail(&node, tasks[0]).edges;
    assert_eq!(known.len(), 3, "{known:?}");
    let wrong = json!({ "task_id": tasks[0], "kind": "produced", "to": tasks[1] });
    assert_eq!(refused(&node, "runtime/task.link", wrong), "invalid_params");
    let graph: TaskGraphResult =
        serde_json::from_value(call(&node, "runtime/task.graph", json!({ "task_id": tasks[0] }))).unwrap();
    assert_eq!((graph.tasks.len(), graph.edges.len()), (1, 2));
    assert_eq!(graph.edges[0].away.as_deref(), Some(tasks[3].to_string().as_str()));
    node.verify();
}

/// Proves WORK-011.
#[test]
fn agents_see_the_tasks_that_are_their_business_and_decide_about_their_own() {
    let node = Node::start();
    worker(&node, "alpha", "");
    worker(&node, "beta", "");
    let given = task(&node, Some("alpha"), "gate go x", &json!({}));
    let others = task(&node, Some("beta"), "say x", &json!({}));
    wait_for(&node, given, TaskState::Running);
    let mut alpha = speak_as(&node, "alpha");
    let mut ask = |method: &str, params: serde_json::Value| {
        alpha.try_raw(method, params).map_err(|error| error.name().as_str().to_owned())
    };
    assert_eq!(ask("runtime/task.get", json!({ "task_id": others })).unwrap_err(), "not_found");
    let list = ask("runtime/task.list", json!({ "all": true })).unwrap();
    assert_eq!(list["items"].as_array().unwrap().len(), 1);
    ask("runtime/task.progress", json!({ "task_id": given, "phase": "half" })).unwrap();
    assert_eq!(ask("runtime/task.cancel", json!({ "task_id": given })).unwrap_err(), "permission_denied");
    let run = only_run(&detail(&node, given)).run_id;
    let strange = "run_01890000-0000-7000-8000-000000000009";
    let complete = |run: &str| json!({ "task_id": given, "run_id": run });
    assert_eq!(ask("runtime/task.complete", complete(strange)).unwrap_err(), "fenced");
    ask("runtime/task.complete", complete(&run.to_string())).unwrap();
    assert_eq!(view(&node, given).state, TaskState::Completed);
    // What it wants done itself it may end, and its words weigh what its own do.
    let own =
        ask("runtime/task.create", json!({ "title": "hold", "agent": "beta", "start": false })).unwrap();
    assert_eq!((own["created_by"].as_str(), own["authority"].as_str()), (Some("alpha"), Some("delegated")));
    ask("runtime/task.cancel", json!({ "task_id": own["task_id"] })).unwrap();
    allow(&node, "go");
    eventually("its run has ended too", || detail(&node, given).runs[0].state == RunState::Completed);
    assert_eq!(view(&node, given).state, TaskState::Completed);
    node.verify();
}

/// Proves WORK-012.
#[test]
fn daemon_that_dies_on_the_way_to_a_run_begins_it_once() {
    for point in ["task.before", "task.after", "run.before", "run.after", "run.saying"] {
        let mut node = Node::start();
        worker(&node, "alpha", "");
        arm(&node, point);
        let id = "tsk_01890000-0000-7000-8000-000000000002";
        let params = json!({ "task_id": id, "title": "T", "objective": "say once", "agent": "alpha" });
        let answer = try_call(&node, "runtime/task.create", params.clone());
        eventually("the daemon has died", || node.has_ended());
        node.up();
        if point == "task.before" {
            assert!(answer.is_err());
        }
        // Whoever did not hear says it again; it is written down once.
        call(&node, "runtime/task.create", params);
        let done = wait_for(&node, id.parse().unwrap(), TaskState::Completed);
        assert_eq!(only_run(&done).state, RunState::Completed, "{point}");
        assert_eq!(given(&node, "alpha").len(), 1, "{point}");
        node.verify();
    }
}

/// Proves WORK-012.
#[test]
fn what_runs_and_what_waits_outlives_the_daemon() {
    let mut node = Node::start();
    worker(&node, "alpha", "");
    worker(&node, "beta", "");
    let root = task(&node, None, "all", &json!({ "start": false }));
    let first = task(&node, Some("alpha"), "gate go 1", &json!({ "parent_id": root }));
    let second = task(&node, Some("alpha"), "say 2", &json!({ "parent_id": root, "depends_on": [first] }));
    let slow = json!({ "limits": { "wall_ms": 3_000 } });
    let slow = task(&node, Some("beta"), "hold", &slow);
    wait_for(&node, slow, TaskState::Running);
    change(&node, "start", root);
    wait_for(&node, first, TaskState::Running);
    wait_for(&node, second, TaskState::Blocked);
    node.kill_daemon();
    allow(&node, "go");
    node.up();
    assert_eq!(
        wait_for(&node, root, TaskState::Completed).task.reason.unwrap(),
        "all of its 2 parts are completed"
    );
    wait_for(&node, slow, TaskState::TimedOut);
    assert_eq!(only_run(&detail(&node, second)).state, RunState::Completed);
    node.verify();
}

/// Proves WORK-013.
#[test]
fn task_waits_for_leave_as_long_as_its_program_does() {
    let node = Node::start();
    let folder = node.scratch().join("coder");
    node.run("coder", &acp("coder", &folder, &[], ("", "")));
    let id = task(&node, Some("coder"), "tool one", &json!({}));
    wait_for(&node, id, TaskState::WaitingPermission);
    let action = eventually_some("it asks for leave", || {
        let list = call(&node, "conversation/action.list", json!({ "agent": "coder" }));
        list["items"].as_array().unwrap().first().cloned()
    });
    let (action_id, digest) = (&action["action"]["id"], &action["action"]["digest"]);
    let verdict = json!({ "action_id": action_id, "digest": digest, "verdict": { "verdict": "approve" } });
    call(&node, "conversation/action.respond", verdict);
    wait_for(&node, id, TaskState::Completed);
    assert!(folder.join("one").exists());
    let events = node.history("").into_iter().map(|event| event.event);
    let states: Vec<String> = events
        .filter(|event| event["type"] == "task.moved")
        .filter_map(|event| event["payload"]["to"].as_str().map(str::to_owned))
        .collect();
    let expected = ["queued", "preparing", "running", "waiting_permission", "running", "completed"];
    let direct = ["queued", "preparing", "waiting_permission", "running", "completed"];
    assert!(states == expected || states == direct, "{states:?}");
    node.verify();
}

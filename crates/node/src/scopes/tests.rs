//! Each method of the catalogue, and what a token needs for it.

use std::collections::BTreeSet;

use edgeplane_wire::catalogue::{METHODS, MethodEffect};
use serde_json::{Value, json};

use super::*;

const MESSAGE: &str = "msg_01890000-0000-7000-8000-000000000002";

const PROCESS: &str = "prc_01890000-0000-7000-8000-000000000002";

const OVERRIDE: &str = "ovr_01890000-0000-7000-8000-000000000002";
const TURN: &str = "trn_01890000-0000-7000-8000-000000000002";

/// Methods of one shape of parameters, and the need of each: `-` nothing, `!` no token is enough.
type Row = (Value, &'static str, &'static [&'static str]);

fn table() -> Vec<Row> {
    changing()
        .into_iter()
        .chain(keeping())
        .chain(reading())
        .chain(reading_whatever_one_may_see())
        .chain(conversations())
        .chain(work())
        .chain(benchmarks())
        .chain(resources())
        .chain(workspaces())
        .chain(neighbours())
        .collect()
}

fn work() -> Vec<Row> {
    let task = || json!({ "task_id": TURN.replace("trn", "tsk") });
    let run = || json!({ "run_id": TURN.replace("trn", "run") });
    let edge = json!({ "task_id": task()["task_id"], "kind": "source", "to": task()["task_id"] });
    let failed = json!({ "task_id": task()["task_id"], "reason": "x" });
    vec![
        (json!({ "title": "x" }), "signal", &["runtime/task.create"]),
        (
            task(),
            "signal",
            &[
                "runtime/task.update",
                "runtime/task.start",
                "runtime/task.progress",
                "runtime/task.pause",
                "runtime/task.resume",
                "runtime/task.cancel",
                "runtime/task.retry",
                "runtime/task.complete",
                "runtime/task.archive",
            ],
        ),
        (failed, "signal", &["runtime/task.fail"]),
        (edge, "signal", &["runtime/task.link", "runtime/task.unlink"]),
        (task(), "signal", &["runtime/run.start"]),
        (run(), "signal", &["runtime/run.cancel", "runtime/run.pause", "runtime/run.resume"]),
        (
            json!({ "title": "x", "items": [{ "input": "a" }], "agents": ["a"] }),
            "signal",
            &["runtime/job.create"],
        ),
        (json!({ "parent": "a" }), "supervise", &["runtime/subagent.spawn"]),
        (json!({ "subagent": "a" }), "supervise", &["runtime/subagent.resume", "runtime/subagent.close"]),
        (
            json!({ "subagent": "a", "parts": [{ "type": "text", "text": "x" }] }),
            "signal",
            &["runtime/subagent.send"],
        ),
        (json!({ "subagents": ["a"] }), "read", &["runtime/subagent.wait"]),
        (json!({ "parent": "a" }), "read", &["runtime/subagent.list"]),
        (json!({ "job_id": task()["task_id"] }), "signal", &["runtime/job.cancel"]),
        (json!({ "item_id": task()["task_id"], "agent": "a" }), "signal", &["runtime/job_item.assign"]),
        (
            json!({ "item_id": task()["task_id"] }),
            "signal",
            &["runtime/job_item.retry", "runtime/job_item.report"],
        ),
        (json!({ "job_id": task()["task_id"] }), "read", &["runtime/job.get"]),
        (json!({}), "read", &["runtime/job.list"]),
        (task(), "read", &["runtime/task.get", "runtime/task.graph"]),
        (run(), "read", &["runtime/run.get"]),
        (json!({}), "read", &["runtime/task.list", "runtime/run.list"]),
    ]
}

fn benchmarks() -> Vec<Row> {
    let trial = || json!({ "trial_id": TURN.replace("trn", "tri") });
    let start = json!({
        "agent": "a", "content": "x", "dataset": { "id": "d", "version": "1", "case": "c" },
        "configuration": { "id": "p" },
    });
    let reward = json!({ "trial_id": trial()["trial_id"], "reward": 1 });
    let both = json!({ "baseline": trial()["trial_id"], "candidate": [trial()["trial_id"]] });
    vec![
        (start, "signal", &["benchmark/trial.start"]),
        (reward, "signal", &["benchmark/reward.record"]),
        (trial(), "supervise", &["benchmark/trial.export"]),
        (both, "signal", &["benchmark/run.compare"]),
    ]
}

fn conversations() -> Vec<Row> {
    let words = || json!([{ "type": "text", "text": "x" }]);
    let thread = || json!({ "thread_id": TURN.replace("trn", "thr") });
    let summarised = json!({ "thread_id": TURN.replace("trn", "thr"), "summary": "x" });
    let session = || json!({ "session_id": TURN.replace("trn", "ses") });
    let output = json!({ "output_id": TURN.replace("trn", "out") });
    let hand_over = json!({ "output_id": output["output_id"], "destination": { "to": "caller" } });
    vec![
        (json!({ "agent": "a", "input": words() }), "signal", &["conversation/turn.start"]),
        (json!({ "turn_id": TURN, "input": words() }), "signal", &["conversation/turn.steer"]),
        (hand_over, "signal", &["conversation/delivery.create"]),
        (json!({ "delivery_id": TURN.replace("trn", "dlv") }), "signal", &["conversation/delivery.ack"]),
        (
            json!({ "agent": "a" }),
            "supervise",
            &["conversation/session.create", "conversation/thread.create"],
        ),
        (session(), "supervise", &["conversation/session.archive"]),
        (
            thread(),
            "supervise",
            &[
                "conversation/thread.update",
                "conversation/thread.archive",
                "conversation/thread.fork",
                "conversation/thread.rollback",
            ],
        ),
        (summarised, "supervise", &["conversation/thread.compact"]),
        (
            json!({ "turn_id": TURN }),
            "supervise",
            &["conversation/turn.interrupt", "conversation/queue.remove", "conversation/queue.promote"],
        ),
        (session(), "read", &["conversation/session.get"]),
        (
            json!({ "agent": "a" }),
            "read",
            &[
                "conversation/session.list",
                "conversation/thread.get",
                "conversation/thread.list",
                "conversation/thread.read",
                "conversation/thread.resume",
                "conversation/turn.list",
                "conversation/queue.list",
                "conversation/output.list",
                "conversation/delivery.list",
            ],
        ),
        (json!({ "turn_id": TURN }), "read", &["conversation/turn.get", "conversation/item.list"]),
        (output, "read", &["conversation/output.get"]),
    ]
}

fn workspaces() -> Vec<Row> {
    let workspace = json!({ "workspace_id": TURN.replace("trn", "wks") });
    let id = &workspace["workspace_id"];
    let bound = json!({ "workspace_id": id, "agent": "a", "mode": "ro" });
    let number = json!({ "workspace_id": id, "binding_epoch": 1 });
    let checkpoint = json!({ "checkpoint_id": TURN.replace("trn", "chk") });
    let both = json!({ "before_id": checkpoint["checkpoint_id"], "after_id": checkpoint["checkpoint_id"] });
    vec![
        (json!({ "agent": "a" }), "supervise", &["workspace/create", "workspace/checkpoint.create"]),
        (workspace.clone(), "supervise", &["workspace/delete"]),
        (workspace, "read", &["workspace/get"]),
        (checkpoint.clone(), "supervise", &["workspace/checkpoint.restore", "workspace/checkpoint.delete"]),
        (checkpoint, "read", &["workspace/checkpoint.get"]),
        (both, "read", &["workspace/checkpoint.diff"]),
        (json!({}), "read", &["workspace/list", "workspace/checkpoint.list", "workspace/file.list"]),
        (json!({ "path": "a" }), "read", &["workspace/file.stat", "workspace/file.read"]),
        (json!({ "pattern": "a" }), "read", &["workspace/file.search"]),
        (json!({ "path": "a", "content": "x" }), "supervise", &["workspace/file.write"]),
        (json!({ "path": "a", "to": "b" }), "supervise", &["workspace/file.move"]),
        (json!({ "path": "a" }), "supervise", &["workspace/file.delete"]),
        (json!({ "paths": ["a"] }), "supervise", &["workspace/lock.acquire"]),
        (json!({ "token": 1 }), "supervise", &["workspace/lock.release"]),
        (bound, "supervise", &["workspace/binding.attach"]),
        (json!({ "content": "x" }), "supervise", &["workspace/blob.put"]),
        (json!({ "digest": "x" }), "read", &["workspace/blob.get", "workspace/blob.stat"]),
        (number, "supervise", &["workspace/binding.detach"]),
        (json!({}), "read", &["workspace/lock.list"]),
        (
            json!({ "target": { "stream": { "kind": "node" } }, "through": { "seq": 1 } }),
            "read",
            &["sync/barrier.await"],
        ),
    ]
}

fn neighbours() -> Vec<Row> {
    let artifact = || json!({ "artifact": "a" });
    let to = json!({ "artifact": "a", "to": { "agent": "a", "path": "a" } });
    vec![
        (json!({ "name": "a", "content": "x" }), "supervise", &["workspace/artifact.publish"]),
        (to, "supervise", &["workspace/artifact.export"]),
        (artifact(), "supervise", &["workspace/artifact.delete"]),
        (
            artifact(),
            "read",
            &["workspace/artifact.get", "workspace/artifact.read", "workspace/artifact.diff"],
        ),
        (json!({}), "read", &["workspace/artifact.list"]),
        (json!({ "query": "x" }), "read", &["conversation/context.search"]),
        (json!({ "reference": "x" }), "read", &["conversation/context.read"]),
        (json!({ "query": "x" }), "supervise", &["conversation/context.resolve"]),
    ]
}

fn delivery() -> Value {
    json!({ "name": "a", "id": "1", "timestamp": "1", "signatures": "v1,x", "is_json": true, "body": "" })
}

fn resources() -> Vec<Row> {
    let invocation = TURN.replace("trn", "inv");
    let uri = "edgeplane://config/a";
    vec![
        (json!({}), "read", &["inference/model.list"]),
        (
            json!({ "agent": "a" }),
            "read",
            &["inference/route.resolve", "inference/usage.get", "inference/limit.get"],
        ),
        (json!({ "uri": uri }), "read", &["resource/get", "resource/history"]),
        (json!({}), "read", &["resource/list", "capability/list", "capability/automation.list"]),
        (json!({ "name": "a" }), "read", &["capability/automation.get"]),
        (json!({ "name": "a" }), "supervise", &["capability/automation.fire"]),
        (delivery(), "-", &["capability/webhook.deliver"]),
        (json!({ "query": "x" }), "read", &["capability/search"]),
        (json!({ "capability": "a/b" }), "read", &["capability/get", "capability/permission.evaluate"]),
        (json!({ "capability": "a/b" }), "supervise", &["capability/invoke", "capability/withdraw"]),
        (json!({ "name": "a" }), "supervise", &["capability/register"]),
        (
            json!({ "invocation_id": invocation, "output": 1 }),
            "supervise",
            &["capability/invocation.complete"],
        ),
        (json!({ "invocation_id": invocation }), "read", &["capability/invocation.get"]),
        (json!({ "invocation_id": invocation, "timeout_ms": 1 }), "read", &["capability/invocation.await"]),
        (json!({ "invocation_id": invocation }), "supervise", &["capability/invocation.cancel"]),
        (
            json!({ "invocation_id": invocation, "digest": "x", "verdict": { "verdict": "approve" } }),
            "approve",
            &["capability/permission.resolve"],
        ),
        (json!({ "uri": uri, "value": 1 }), "supervise", &["resource/put"]),
        (json!({ "uri": uri, "patch": 1 }), "supervise", &["resource/patch"]),
        (json!({ "uri": uri }), "supervise", &["resource/delete"]),
    ]
}

fn keeping() -> Vec<Row> {
    vec![
        (
            json!({ "agent": "a", "name": "s" }),
            "supervise",
            &[
                "runtime/schedule.run",
                "runtime/schedule.pause",
                "runtime/schedule.resume",
                "runtime/schedule.remove",
            ],
        ),
        (json!({ "agent": "a", "key": "k", "value": 1 }), "supervise", &["memory/entry.put"]),
        (json!({ "agent": "a", "key": "k" }), "supervise", &["memory/entry.delete"]),
    ]
}

fn changing() -> Vec<Row> {
    let agent = || json!({ "agent": "a" });
    let words = || json!([{ "type": "text", "text": "x" }]);
    let action = json!({ "action_id": "act_01890000-0000-7000-8000-000000000002" });
    let message = || json!({ "message_id": MESSAGE });
    let decide =
        json!({ "action_id": action["action_id"], "verdict": { "verdict": "approve" }, "digest": "00" });
    vec![
        (json!({}), "-", &["core/initialize", "core/describe", "core/health"]),
        (json!({ "request_id": "r" }), "-", &["core/cancel"]),
        (
            json!({ "fingerprint": "00", "principal": "p", "kind": "service", "scopes": [] }),
            "!",
            &["security/certificate.add"],
        ),
        (json!({}), "!", &["runtime/node.stop", "security/key.rotate", "policy/rule.reload"]),
        (json!({ "principal": "p", "kind": "service", "scopes": [] }), "!", &["security/token.create"]),
        (json!({ "token_id": "tok_01890000-0000-7000-8000-000000000002" }), "!", &["security/token.revoke"]),
        (json!({ "agent": "a", "parts": words() }), "signal", &["runtime/agent.signal", "runtime/agent.ask"]),
        (json!({ "agent": "a", "channel": "web", "parts": words() }), "signal", &["runtime/message.submit"]),
        (json!({ "topic": "t", "parts": words() }), "signal", &["runtime/topic.publish"]),
        (json!({ "parts": words() }), "signal", &["runtime/agent.broadcast"]),
        (agent(), "attach", &["runtime/agent.attach", "runtime/agent.snapshot", "runtime/recording.read"]),
        (json!({ "attachment": "x" }), "attach", &["runtime/agent.detach"]),
        (json!({ "adapter": "x" }), "attach", &["runtime/adapter.check"]),
        (json!({ "attachment": "x", "cols": 80, "rows": 24 }), "attach", &["runtime/agent.resize"]),
        (json!({ "agent": "a", "control": true }), "control", &["runtime/agent.attach"]),
        (json!({ "attachment": "x", "data": "" }), "control", &["runtime/agent.write"]),
        (decide, "approve", &["conversation/action.respond"]),
        (
            agent(),
            "supervise",
            &[
                "runtime/agent.install",
                "runtime/agent.start",
                "runtime/agent.stop",
                "runtime/agent.restart",
                "runtime/agent.freeze",
                "runtime/agent.unfreeze",
                "runtime/agent.hibernate",
                "runtime/agent.retire",
                "runtime/agent.release",
            ],
        ),
        (json!({ "documents": [] }), "supervise", &["runtime/agent.apply"]),
        (json!({}), "supervise", &["stream/projection.rebuild"]),
        (
            json!({ "scope": { "node": true }, "kind": "stop", "reason": "x" }),
            "supervise",
            &["runtime/override.apply"],
        ),
        (json!({ "scope": { "agent": "a" } }), "supervise", &["evidence/pack.export"]),
        (
            json!({ "process_id": PROCESS }),
            "supervise",
            &["runtime/process.terminate", "runtime/process.write"],
        ),
        (json!({ "override_id": OVERRIDE, "reason": "x" }), "supervise", &["runtime/override.lift"]),
        (json!({ "agent": "a", "plan": "x" }), "supervise", &["runtime/retirement.perform"]),
        (json!({ "kind": "output", "text": "x" }), "supervise", &["runtime/item.report"]),
        (json!({ "activity": "working" }), "supervise", &["runtime/status.report"]),
        (json!({ "kind": "codex", "report": {} }), "supervise", &["runtime/hook.report"]),
        (message(), "supervise", &["runtime/dead_letter.replay", "runtime/dead_letter.drop"]),
        (json!({ "kind": "question", "prompt": "x" }), "supervise", &["conversation/action.open"]),
        (action, "supervise", &["conversation/action.cancel"]),
    ]
}

fn reading() -> Vec<Row> {
    let agent = || json!({ "agent": "a" });
    let action = json!({ "action_id": "act_01890000-0000-7000-8000-000000000002" });
    let message = || json!({ "message_id": MESSAGE });
    let schedule = json!({ "agent": "a", "name": "s" });
    vec![
        (json!({ "agent": "a", "key": "k" }), "read", &["memory/entry.get", "memory/entry.history"]),
        (
            agent(),
            "read",
            &[
                "runtime/agent.get",
                "runtime/retirement.plan",
                "runtime/process.list",
                "runtime/environment.get",
                "runtime/epoch.list",
                "runtime/inbox.list",
                "runtime/transcript.read",
                "memory/entry.list",
            ],
        ),
        (json!({ "agent": "a", "phases": ["running"], "timeout_ms": 1 }), "read", &["runtime/agent.wait"]),
        (
            message(),
            "read",
            &["runtime/message.get", "runtime/message.verify", "observe/trace.get", "observe/trace.explain"],
        ),
        (json!({ "process_id": PROCESS }), "read", &["runtime/process.get", "runtime/process.read"]),
        (
            json!({ "turn_id": "trn_01890000-0000-7000-8000-000000000002" }),
            "read",
            &["evidence/replay.export"],
        ),
        (json!({ "host": "h" }), "read", &["runtime/host.get"]),
        (json!({ "override_id": OVERRIDE }), "read", &["runtime/override.get"]),
        (json!({ "message_ids": [MESSAGE] }), "read", &["runtime/message.sign"]),
        (action, "read", &["conversation/action.get"]),
        (json!({ "to": "a" }), "read", &["policy/decision.explain"]),
        (json!({ "files": [] }), "read", &["policy/rule.check"]),
        (schedule, "read", &["runtime/schedule.history"]),
        (
            json!({ "subscription_id": "sub_01890000-0000-7000-8000-000000000002" }),
            "read",
            &["stream/unsubscribe", "stream/ack", "observe/tap.close"],
        ),
        (json!({ "projection": "p" }), "read", &["stream/projection.get"]),
    ]
}

fn reading_whatever_one_may_see() -> Vec<Row> {
    vec![(
        json!({}),
        "read",
        &[
            "runtime/node.status",
            "runtime/agent.list",
            "runtime/dead_letter.list",
            "conversation/action.list",
            "runtime/schedule.list",
            "runtime/adapter.list",
            "runtime/override.list",
            "runtime/host.list",
            "policy/rule.list",
            "security/token.list",
            "security/token.epoch",
            "security/key.list",
            "stream/replay",
            "stream/subscribe",
            "stream/status",
            "stream/projection.list",
            "stream/projection.verify",
            "observe/tap.open",
            "evidence/audit.verify",
            "evidence/gap.list",
        ],
    )]
}

fn word(need: Need) -> String {
    match need {
        Need::Nothing => "-".to_owned(),
        Need::Uid => "!".to_owned(),
        Need::Scope(scope) => serde_json::to_value(scope).unwrap().as_str().unwrap().to_owned(),
    }
}

/// Proves SEC-031.
#[test]
fn every_method_of_the_catalogue_has_its_need() {
    let mut seen = BTreeSet::new();
    for (params, expected, methods) in table() {
        for method in methods {
            let read = Request::read(method, params.clone());
            let request = read.unwrap_or_else(|error| panic!("{method} {params}: {error}"));
            assert_eq!(word(need(&request)), expected, "{method} {params}");
            seen.insert(*method);
        }
    }
    for method in METHODS {
        assert!(seen.contains(method.name), "{} is not in the table", method.name);
    }
}

/// Proves SEC-031.
#[test]
fn nothing_that_changes_the_node_is_called_with_the_right_to_read() {
    for (params, expected, methods) in table() {
        for method in methods.iter().filter(|_| expected == "read") {
            let row = METHODS.iter().find(|row| row.name == *method).unwrap();
            assert_eq!(row.effect, MethodEffect::Read, "{method} {params}");
        }
    }
}

//! Calls that are not for agents, from the catalogue, so that a new method cannot be forgotten.

use edgeplane_testkit::terminal;
use edgeplane_wire::catalogue::{Audience, METHODS};
use serde_json::{Value, json};

/// Everything that only operators may call, with parameters that are right.
pub(crate) fn of_operators() -> Vec<(&'static str, Value)> {
    let document = json!({ "file": "x.yaml", "text": terminal("planted", &["/bin/cat"], ""), "folder": "/" });
    let methods = METHODS.iter().filter(|method| method.audience == Audience::Operator);
    methods
        .map(|method| {
            let params = match method.name {
                "runtime/agent.apply" => json!({ "documents": [document.clone()] }),
                "runtime/agent.write" => json!({ "attachment": "att", "data": "" }),
                "runtime/agent.resize" => json!({ "attachment": "att", "cols": 80, "rows": 24 }),
                "runtime/agent.detach" => json!({ "attachment": "att" }),
                "runtime/node.stop" | "evidence/audit.verify" | "observe/tap.open" => json!({}),
                "stream/projection.rebuild" | "stream/projection.verify" => json!({}),
                "observe/tap.close" => {
                    json!({ "subscription_id": "sub_01890000-0000-7000-8000-000000000002" })
                }
                "security/token.list" | "security/key.rotate" => json!({}),
                "security/token.create" => {
                    json!({ "principal": "planted", "kind": "operator", "scopes": ["supervise"] })
                }
                "security/certificate.add" => json!({
                    "fingerprint": "ab".repeat(32), "principal": "planted", "kind": "operator", "scopes": ["read"],
                }),
                "security/token.revoke" => {
                    json!({ "token_id": "tok_01890000-0000-7000-8000-000000000002" })
                }
                "runtime/message.sign" => {
                    json!({ "message_ids": ["msg_01890000-0000-7000-8000-000000000002"] })
                }
                "runtime/dead_letter.replay" | "runtime/dead_letter.drop" => {
                    json!({ "message_id": "msg_01890000-0000-7000-8000-000000000009" })
                }
                "runtime/override.apply" => {
                    json!({ "scope": { "agents": ["other"] }, "kind": "stop", "reason": "x" })
                }
                "evidence/pack.export" => json!({ "scope": { "agent": "other" } }),
                "evidence/replay.export" => {
                    json!({ "turn_id": "trn_01890000-0000-7000-8000-000000000002" })
                }
                "benchmark/trial.export" => json!({ "trial_id": of_uuid("tri") }),
                "evidence/gap.list" => json!({ "agent": "other" }),
                "runtime/override.lift" => {
                    json!({ "override_id": "ovr_01890000-0000-7000-8000-000000000002", "reason": "x" })
                }
                "conversation/thread.rollback" => json!({ "thread_id": of_uuid("thr") }),
                "conversation/thread.compact" => json!({ "thread_id": of_uuid("thr"), "summary": "s" }),
                "conversation/queue.remove" | "conversation/queue.promote" => {
                    json!({ "turn_id": of_uuid("trn") })
                }
                "workspace/delete" => json!({ "workspace_id": of_uuid("wks") }),
                "capability/permission.resolve" => json!({
                    "invocation_id": of_uuid("inv"), "digest": "x", "verdict": { "verdict": "approve" },
                }),
                "runtime/retirement.perform" => json!({ "agent": "other", "plan": "sha256:0" }),
                _ => json!({ "agent": "other" }),
            };
            (method.name, params)
        })
        .collect()
}

/// What an agent may see of itself only, asked of another.
pub(crate) fn of_owners(message_id: &str, session_id: &str, action_id: &Value) -> Vec<(&'static str, Value)> {
    // A process is named by its id, and one of another agent is not there for whoever asks; see MACH-001.
    // So is a subagent; see SUB-006.
    let by_id = [
        "runtime/process.get",
        "runtime/process.read",
        "runtime/process.terminate",
        "runtime/process.write",
        "runtime/subagent.send",
        "runtime/subagent.wait",
        "runtime/subagent.resume",
        "runtime/subagent.close",
        // Lists show an agent its own, and an automation of somebody else is not there; see AUT-010.
        "resource/list",
        "capability/automation.list",
        "capability/automation.get",
        "capability/automation.fire",
    ];
    let methods = METHODS
        .iter()
        .filter(|method| method.audience == Audience::OwnerOrOperator && !by_id.contains(&method.name));
    methods
        .map(|method| {
            let params = match method.name {
                "runtime/message.get"
                | "runtime/message.verify"
                | "observe/trace.get"
                | "observe/trace.explain" => json!({ "message_id": message_id }),
                "runtime/schedule.history" => json!({ "agent": "other", "name": "s" }),
                "conversation/action.list" | "runtime/schedule.list" | "runtime/dead_letter.list" => {
                    json!({ "agent": "other" })
                }
                name if name.starts_with("conversation/") && !name.starts_with("conversation/action") => {
                    of_conversations(name, message_id, session_id)
                }
                "memory/entry.put" => json!({ "agent": "other", "key": "k", "value": 1 }),
                "conversation/action.open" => {
                    json!({ "agent": "other", "kind": "approval", "prompt": "May I?" })
                }
                "conversation/action.get" | "conversation/action.cancel" => json!({ "action_id": action_id }),
                "memory/entry.list"
                | "runtime/inbox.list"
                | "runtime/agent.snapshot"
                | "runtime/process.list"
                | "runtime/environment.get"
                | "runtime/transcript.read"
                | "inference/model.list"
                | "inference/route.resolve"
                | "inference/usage.get"
                | "inference/limit.get"
                | "runtime/recording.read" => {
                    json!({ "agent": "other" })
                }
                "capability/register" => json!({ "agent": "other", "name": "planted" }),
                "capability/withdraw" => json!({ "capability": "agent:other/planted" }),
                "runtime/subagent.spawn" | "runtime/subagent.list" => json!({ "parent": "other" }),
                "resource/put" => json!({ "uri": "edgeplane://config/planted", "value": 1 }),
                "resource/patch" => json!({ "uri": "edgeplane://config/planted", "patch": 1 }),
                name if name.starts_with("resource/") => json!({ "uri": "edgeplane://agent/other" }),
                _ => json!({ "agent": "other", "key": "k" }),
            };
            (method.name, params)
        })
        .collect()
}

/// An id of nothing that there is.
fn of_uuid(prefix: &str) -> String {
    format!("{prefix}_01890000-0000-7000-8000-000000000009")
}

/// Another's conversation: its session has the UUID of its first thread, and a turn that of its message.
fn of_conversations(method: &str, message_id: &str, session_id: &str) -> Value {
    let (turn, thread) = (message_id.replace("msg_", "trn_"), session_id.replace("ses_", "thr_"));
    let words = json!([{ "type": "text", "text": "x" }]);
    match method {
        "conversation/session.get" | "conversation/session.archive" => json!({ "session_id": session_id }),
        "conversation/thread.update" | "conversation/thread.archive" | "conversation/thread.fork" => {
            json!({ "thread_id": thread })
        }
        "conversation/turn.steer" => json!({ "turn_id": turn, "input": words }),
        "conversation/turn.interrupt" | "conversation/turn.get" | "conversation/item.list" => {
            json!({ "turn_id": turn })
        }
        "conversation/output.get" => json!({ "output_id": of_uuid("out") }),
        "conversation/delivery.create" => {
            json!({ "output_id": of_uuid("out"), "destination": { "to": "caller" } })
        }
        "conversation/delivery.ack" => json!({ "delivery_id": of_uuid("dlv") }),
        _ => json!({ "agent": "other" }),
    }
}

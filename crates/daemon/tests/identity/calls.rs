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
                "runtime/node.stop" | "evidence/audit.verify" => json!({}),
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
                "runtime/retirement.perform" => json!({ "agent": "other", "plan": "sha256:0" }),
                _ => json!({ "agent": "other" }),
            };
            (method.name, params)
        })
        .collect()
}

/// What an agent may see of itself only, asked of another.
pub(crate) fn of_owners(message_id: &str, action_id: &Value) -> Vec<(&'static str, Value)> {
    let methods = METHODS.iter().filter(|method| method.audience == Audience::OwnerOrOperator);
    methods
        .map(|method| {
            let params = match method.name {
                "runtime/message.get" | "runtime/message.verify" => json!({ "message_id": message_id }),
                "runtime/schedule.history" => json!({ "agent": "other", "name": "s" }),
                "conversation/action.list" | "runtime/schedule.list" | "runtime/dead_letter.list" => {
                    json!({ "agent": "other" })
                }
                "memory/entry.put" => json!({ "agent": "other", "key": "k", "value": 1 }),
                "conversation/action.open" => {
                    json!({ "agent": "other", "kind": "approval", "prompt": "May I?" })
                }
                "conversation/action.get" | "conversation/action.cancel" => json!({ "action_id": action_id }),
                "memory/entry.list"
                | "runtime/inbox.list"
                | "runtime/agent.snapshot"
                | "runtime/transcript.read"
                | "runtime/recording.read" => {
                    json!({ "agent": "other" })
                }
                _ => json!({ "agent": "other", "key": "k" }),
            };
            (method.name, params)
        })
        .collect()
}

//! The script: one conversation with a node, whoever carries it.

use edgeplane_testkit::{Node, binding::Binding, native};
use serde_json::{Value, json};

use crate::plain::plain;

/// Answers every message with what it was told; one that begins with `hold` is kept until it is told `end`.
const ECHO: &str = r#"
import json, sys

held = []
def say(method, params):
    print(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}), flush=True)

for line in sys.stdin:
    said = json.loads(line)
    if said["method"] != "agent/message.deliver":
        continue
    params = said["params"]
    text = params["parts"][0].get("text", "")
    if text.startswith("hold"):
        held.append(params["message_id"])
    elif text == "end":
        say("agent/turn.complete", {"message_id": held.pop(0), "output": "held"})
    else:
        say("agent/turn.complete", {"message_id": params["message_id"], "output": "heard " + text})
"#;

/// One conversation, and what came of it.
pub(crate) struct Talk<'a> {
    node: &'a Node,
    binding: &'a mut dyn Binding,
    /// Each call with its answer, without what is the node's own.
    pub(crate) said: Vec<String>,
}

impl<'a> Talk<'a> {
    pub(crate) fn new(node: &'a Node, binding: &'a mut dyn Binding) -> Self {
        Self { node, binding, said: Vec::new() }
    }

    /// Asks, keeps what was answered, and gives the result.
    fn ask(&mut self, method: &str, params: Value) -> Value {
        let shown = plain(&params, self.node);
        let (answer, result) = match self.binding.call(method, params) {
            Ok(result) => (json!({ "result": plain(&result, self.node) }), result),
            Err(error) => {
                let error = json!({ "code": error.code, "message": error.message, "data": error.data });
                (json!({ "error": plain(&error, self.node) }), Value::Null)
            }
        };
        self.said.push(format!("{method} {shown} -> {answer:#}"));
        result
    }
}

/// The whole script.
pub(crate) fn run(talk: &mut Talk<'_>) {
    the_node(talk);
    an_agent(talk);
    messages(talk);
    turns(talk);
    memory(talk);
    people(talk);
    what_came_of_it(talk);
    mistakes(talk);
    the_end(talk);
}

fn the_node(talk: &mut Talk<'_>) {
    talk.ask("core/health", json!({}));
    talk.ask("core/describe", json!({ "profile": "memory" }));
    talk.ask("core/describe", json!({ "profile": "sync" }));
    talk.ask("policy/rule.list", json!({}));
    talk.ask("security/key.list", json!({}));
    talk.ask("security/token.list", json!({}));
    talk.ask("runtime/agent.list", json!({}));
}

fn an_agent(talk: &mut Talk<'_>) {
    for name in ["echo", "other"] {
        let text = native(name, &["python3", "-c", ECHO], "labels: { team: a }");
        let folder = talk.node.scratch();
        let document = json!({ "file": format!("{name}.yaml"), "text": text, "folder": folder });
        talk.ask("runtime/agent.apply", json!({ "documents": [document] }));
        talk.ask("runtime/agent.start", json!({ "agent": name }));
        talk.ask("runtime/agent.wait", json!({ "agent": name, "phases": ["running"], "timeout_ms": 30_000 }));
    }
    talk.ask("runtime/agent.list", json!({}));
    talk.ask("runtime/epoch.list", json!({ "agent": "echo" }));
}

fn messages(talk: &mut Talk<'_>) {
    let words = |agent: &str, text: &str| {
        json!({
            "agent": agent,
            "parts": [{ "type": "text", "text": text }],
            "wait": "turn_ended",
            "timeout_ms": 30_000,
        })
    };
    let sent = talk.ask("runtime/agent.signal", words("echo", "one"));
    let message = json!({ "message_id": sent["message_id"] });
    talk.ask("runtime/message.get", message.clone());
    let mut keyed = words("echo", "two");
    keyed["idempotency_key"] = "k1".into();
    talk.ask("runtime/agent.signal", keyed.clone());
    talk.ask("runtime/agent.signal", keyed.clone());
    keyed["parts"][0]["text"] = "three".into();
    talk.ask("runtime/agent.signal", keyed);
    talk.ask("runtime/inbox.list", json!({ "agent": "echo", "all": true }));
    let question = json!({ "agent": "echo", "parts": [{ "type": "text", "text": "what?" }] });
    talk.ask("runtime/agent.ask", question);
    talk.ask("runtime/transcript.read", json!({ "agent": "echo", "detail": "words" }));
    let page = json!({
        "agent": "other",
        "channel": "web",
        "origin": "https://example.org/a",
        "parts": [{ "type": "text", "text": "a page" }],
        "wait": "turn_ended",
    });
    talk.ask("runtime/message.submit", page);
    talk.ask(
        "runtime/topic.publish",
        json!({ "topic": "nobody", "parts": [{ "type": "text", "text": "x" }] }),
    );
    talk.ask("runtime/dead_letter.list", json!({}));
}

fn turns(talk: &mut Talk<'_>) {
    let input = |text: &str| json!([{ "type": "text", "text": text }]);
    let sessions = talk.ask("conversation/session.list", json!({ "agent": "echo" }));
    let thread = sessions["items"][0]["thread_id"].clone();
    talk.ask("conversation/thread.list", json!({ "agent": "echo" }));
    let held = talk.ask("conversation/turn.start", json!({ "thread_id": thread, "input": input("hold on") }));
    let turn = held["turn_id"].clone();
    let injected = json!({ "agent": "echo", "parts": input("later"), "wait": "accepted" });
    talk.ask("runtime/agent.signal", injected);
    talk.ask("conversation/queue.list", json!({ "thread_id": thread }));
    talk.ask("conversation/turn.steer", json!({ "turn_id": turn, "input": input("end") }));
    let ask = json!({ "agent": "echo", "parts": input("are you done?") });
    talk.ask("runtime/agent.ask", ask);
    talk.ask("conversation/turn.get", json!({ "turn_id": turn }));
    talk.ask("conversation/turn.list", json!({ "thread_id": thread }));
    talk.ask("conversation/item.list", json!({ "turn_id": turn }));
    talk.ask("conversation/output.list", json!({ "thread_id": thread }));
    talk.ask("conversation/thread.read", json!({ "thread_id": thread }));
}

fn memory(talk: &mut Talk<'_>) {
    let put = json!({ "agent": "echo", "key": "a", "value": { "deep": [1, 2] } });
    talk.ask("memory/entry.put", put);
    talk.ask("memory/entry.get", json!({ "agent": "echo", "key": "a" }));
    talk.ask("memory/entry.put", json!({ "agent": "echo", "key": "a", "value": 2, "if_version": 7 }));
    talk.ask("memory/entry.put", json!({ "agent": "echo", "key": "a", "value": 2, "if_version": 1 }));
    talk.ask("memory/entry.list", json!({ "agent": "echo" }));
    talk.ask("memory/entry.history", json!({ "agent": "echo", "key": "a" }));
    talk.ask("memory/entry.delete", json!({ "agent": "echo", "key": "a" }));
    talk.ask("memory/entry.get", json!({ "agent": "echo", "key": "a" }));
}

fn people(talk: &mut Talk<'_>) {
    let question = json!({ "agent": "other", "kind": "question", "prompt": "Which colour?" });
    let action = talk.ask("conversation/action.open", question);
    let id = action["action"]["id"].clone();
    talk.ask("conversation/action.list", json!({}));
    let answer = json!({ "verdict": "answer", "value": "blue" });
    let decided = json!({ "action_id": id, "digest": action["action"]["digest"], "verdict": answer });
    talk.ask("conversation/action.respond", decided.clone());
    talk.ask("conversation/action.respond", decided);
    talk.ask("conversation/action.get", json!({ "action_id": id }));
}

fn what_came_of_it(talk: &mut Talk<'_>) {
    talk.ask("stream/replay", json!({ "target": { "kind": "agent", "id": "other" }, "limit": 3 }));
    talk.ask("stream/projection.list", json!({}));
    let transcript = json!({ "projection": "agent.status", "target": { "kind": "agent", "id": "echo" } });
    talk.ask("stream/projection.get", transcript);
    talk.ask("observe/trace.explain", json!({ "agent": "other" }));
    talk.ask("runtime/environment.get", json!({ "agent": "echo" }));
    talk.ask("runtime/process.list", json!({ "agent": "echo" }));
    talk.ask("evidence/gap.list", json!({}));
    talk.ask("evidence/audit.verify", json!({}));
}

fn mistakes(talk: &mut Talk<'_>) {
    talk.ask("runtime/agent.fly", json!({}));
    talk.ask("workspace/file.read", json!({}));
    talk.ask("runtime/agent.get", json!({ "agent": "nobody" }));
    talk.ask("runtime/agent.get", json!({ "agnet": "echo" }));
    talk.ask("runtime/agent.get", json!({ "agent": "echo", "ctx": { "tenant": "another" } }));
    talk.ask("runtime/agent.get", json!({ "agent": "echo", "ctx": { "tenant": 7 } }));
    talk.ask("runtime/agent.wait", json!({ "agent": "echo", "phases": ["stopped"], "timeout_ms": 1 }));
    talk.ask("security/key.rotate", json!({}));
    talk.ask("stream/replay", json!({ "cursor": "garbage" }));
    talk.ask("conversation/turn.steer", json!({ "turn_id": "trn_0", "input": [] }));
}

fn the_end(talk: &mut Talk<'_>) {
    talk.ask("runtime/agent.stop", json!({ "agent": "echo" }));
    talk.ask("runtime/agent.wait", json!({ "agent": "echo", "phases": ["stopped"], "timeout_ms": 30_000 }));
    let scope = json!({ "agents": ["other"] });
    let held = json!({ "scope": scope, "kind": "stop", "reason": "the end", "wait_ms": 30_000 });
    let held = talk.ask("runtime/override.apply", held);
    talk.ask("runtime/agent.start", json!({ "agent": "other" }));
    talk.ask("runtime/override.list", json!({}));
    let lift = json!({ "override_id": held["override_id"], "reason": "over", "wait_ms": 30_000 });
    talk.ask("runtime/override.lift", lift);
    talk.ask("runtime/agent.stop", json!({ "agent": "other" }));
    talk.ask("runtime/agent.wait", json!({ "agent": "other", "phases": ["stopped"], "timeout_ms": 30_000 }));
    talk.ask("runtime/agent.retire", json!({ "agent": "other" }));
    talk.ask("runtime/agent.list", json!({}));
}

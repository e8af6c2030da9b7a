//! The script: one conversation with a node, whoever carries it.

use edgeplane_os::wait::{Deadline, until};
use edgeplane_testkit::{
    Node,
    binding::{Binding, Subscription},
    native,
    wait::PATIENCE,
};
use serde_json::{Value, json};

use crate::plain::plain;

/// Answers every message with what it was told; a turn that begins with `hold` goes on until it is interrupted.
const ECHO: &str = r#"
import json, sys

def say(method, params):
    print(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}), flush=True)

held = False
for line in sys.stdin:
    said = json.loads(line)
    method, params = said.get("method"), said.get("params", {})
    if method == "agent/turn.interrupt":
        held = False
        say("agent/turn.complete", {"message_id": params["message_id"], "output": "cut short"})
    if method != "agent/message.deliver":
        continue
    text = params["parts"][0].get("text", "")
    held = held or text.startswith("hold")
    if not held:
        say("agent/turn.complete", {"message_id": params["message_id"], "output": "heard " + text})
"#;

/// What the agents are, beside their program.
const SPEC: &str = "run: stopped\noffers: { interruption: true }";

/// What is followed of the node, from before there is anything.
fn followed_of_the_node() -> [Value; 3] {
    [
        json!({ "from": "start" }),
        json!({ "from": "start", "types": ["memory.*", "turn.*"], "max_inflight": 10_000 }),
        json!({ "from": "start", "projection": "audit.chain" }),
    ]
}

/// What is followed of an agent, from when it is there.
fn followed_of_an_agent() -> [Value; 3] {
    let echo = json!({ "kind": "agent", "id": "echo" });
    let other = json!({ "kind": "agent", "id": "other" });
    [
        json!({ "target": echo, "from": "start" }),
        json!({ "target": echo, "from": "start", "projection": "queue" }),
        json!({ "target": other, "from": "start", "projection": "actions.pending" }),
    ]
}

/// A subscription, and with which parameters it was begun.
pub(crate) type Followed = (Value, Box<dyn Subscription>);

/// One conversation, and what came of it.
pub(crate) struct Talk<'a> {
    node: &'a Node,
    binding: Box<dyn Binding>,
    /// Each call with its answer, without what is the node's own.
    pub(crate) said: Vec<String>,
    /// What is followed meanwhile.
    pub(crate) followed: Vec<Followed>,
}

impl<'a> Talk<'a> {
    pub(crate) fn new(node: &'a Node, binding: Box<dyn Binding>) -> Self {
        Self { node, binding, said: Vec::new(), followed: Vec::new() }
    }

    /// Asks for what is given, keeps the answer, and gives it.
    fn ok(&mut self, method: &str, params: Value) -> Value {
        let answer = self.binding.call(method, params.clone());
        let result = answer.unwrap_or_else(|error| {
            panic!("{} {method} {params}: {error} ({:?})", self.binding.name(), error.data)
        });
        self.keep(method, &params, "result", &result);
        result
    }

    /// Asks for what is refused with an error of this name.
    fn refused(&mut self, name: &str, method: &str, params: Value) {
        let error = match self.binding.call(method, params.clone()) {
            Ok(result) => panic!("{} {method} {params}: {result}", self.binding.name()),
            Err(error) => error,
        };
        assert_eq!(error.name().as_str(), name, "{} {method} {params}: {error}", self.binding.name());
        self.keep(method, &params, "error", &serde_json::to_value(error).unwrap());
    }

    /// Asks until the answer is as it is to be, and keeps only that one.
    fn until(&mut self, method: &str, params: Value, is_so: impl Fn(&Value) -> bool) -> Value {
        let mut last = Value::Null;
        let is_so = until(Deadline::after(PATIENCE), || {
            last = self.binding.call(method, params.clone()).unwrap();
            // Also while the record grows an answer is one answer.
            assert!(last["next"].as_u64() <= last["head_seq"].as_u64(), "{method} {params}: {last:#}");
            is_so(&last)
        });
        assert!(is_so, "{} {method} {params}: {last:#}", self.binding.name());
        self.keep(method, &params, "result", &last);
        last
    }

    /// Begins a subscription that is refused with an error of this name.
    fn cannot_follow(&mut self, name: &str, params: &Value) {
        let Err(error) = self.binding.subscribe(params.clone()) else {
            panic!("{} follows {params}", self.binding.name())
        };
        assert_eq!(error.name().as_str(), name, "{} {params}: {error}", self.binding.name());
        self.keep("stream/subscribe", params, "error", &serde_json::to_value(error).unwrap());
    }

    fn keep(&mut self, method: &str, params: &Value, kind: &str, answer: &Value) {
        if method == "observe/trace.explain" {
            // Which stretch was the slowest is a matter of time.
            let kept = ["entry_point", "verdict", "rule"].map(|field| (field, &answer[field]));
            self.said.push(format!("{method} {params} -> {kind} {kept:?}"));
            return;
        }
        let (params, answer) = (plain(params, self.node), plain(answer, self.node));
        self.said.push(format!("{method} {params} -> {kind} {answer:#}"));
    }

    fn follow(&mut self, all: [Value; 3]) {
        for params in all {
            let stream = self.binding.subscribe(params.clone());
            let stream = stream.unwrap_or_else(|error| panic!("{} {params}: {error}", self.binding.name()));
            self.followed.push((params, stream));
        }
    }
}

/// The whole script.
pub(crate) fn run(talk: &mut Talk<'_>) {
    talk.follow(followed_of_the_node());
    the_node(talk);
    talk.cannot_follow("not_found", &json!({ "target": { "kind": "agent", "id": "echo" } }));
    agents(talk);
    talk.follow(followed_of_an_agent());
    messages(talk);
    turns(talk);
    memory(talk);
    people(talk);
    what_came_of_it(talk);
    mistakes(talk);
    the_end(talk);
}

fn the_node(talk: &mut Talk<'_>) {
    talk.ok("core/initialize", json!({}));
    talk.ok("core/health", json!({}));
    talk.ok("core/health", Value::Null);
    talk.ok("runtime/node.status", json!({}));
    talk.ok("core/describe", json!({ "profile": "memory" }));
    talk.ok("core/describe", json!({ "profile": "sync" }));
    talk.ok("policy/rule.list", json!({}));
    talk.ok("security/key.list", json!({}));
    talk.ok("security/token.list", json!({}));
    talk.ok("runtime/agent.list", json!({}));
    talk.ok("stream/projection.list", json!({}));
}

fn agents(talk: &mut Talk<'_>) {
    for name in ["spare", "echo", "other"] {
        let text = native(name, &["python3", "-c", ECHO], SPEC);
        let folder = talk.node.scratch();
        let document = json!({ "file": format!("{name}.yaml"), "text": text, "folder": folder });
        talk.ok("runtime/agent.apply", json!({ "documents": [document], "dry_run": true }));
        talk.ok("runtime/agent.apply", json!({ "documents": [document] }));
        if name == "spare" {
            continue;
        }
        talk.ok("runtime/agent.start", json!({ "agent": name }));
        talk.ok("runtime/agent.wait", json!({ "agent": name, "phases": ["running"], "timeout_ms": 30_000 }));
    }
    talk.ok("runtime/agent.list", json!({}));
    talk.ok("runtime/agent.get", json!({ "agent": "echo" }));
    talk.ok("runtime/epoch.list", json!({ "agent": "echo" }));
    talk.ok("runtime/environment.get", json!({ "agent": "echo" }));
    talk.ok("runtime/process.list", json!({ "agent": "echo" }));
}

/// Whether a message came as far as this.
fn has(rung: &'static str) -> impl Fn(&Value) -> bool {
    move |message| message["receipts"].as_array().unwrap().iter().any(|receipt| receipt["rung"] == rung)
}

fn words(text: &str) -> Value {
    json!([{ "type": "text", "text": text }])
}

fn messages(talk: &mut Talk<'_>) {
    let signal = |agent: &str, text: &str| json!({ "agent": agent, "parts": words(text), "wait": "turn_ended", "timeout_ms": 30_000 });
    let sent = talk.ok("runtime/agent.signal", signal("echo", "Grüße\n\u{1f980}"));
    talk.ok("runtime/message.get", json!({ "message_id": sent["message_id"] }));
    let mut keyed = signal("echo", "two");
    keyed["idempotency_key"] = "k1".into();
    talk.ok("runtime/agent.signal", keyed.clone());
    talk.ok("runtime/agent.signal", keyed.clone());
    keyed["parts"] = words("three");
    talk.refused("idempotency_mismatch", "runtime/agent.signal", keyed);
    talk.ok("runtime/inbox.list", json!({ "agent": "echo", "all": true }));
    talk.ok("runtime/agent.ask", json!({ "agent": "echo", "parts": words("what?") }));
    talk.ok("runtime/transcript.read", json!({ "agent": "echo", "detail": "words" }));
    let page = json!({
        "agent": "other",
        "channel": "web",
        "origin": { "uri": "https://example.org/a" },
        "parts": words("a page"),
    });
    let page = talk.ok("runtime/message.submit", page);
    talk.until("runtime/message.get", json!({ "message_id": page["message_id"] }), has("turn_ended"));
    talk.ok("runtime/topic.publish", json!({ "topic": "nobody", "parts": words("x") }));
    talk.ok("runtime/dead_letter.list", json!({}));
}

fn turns(talk: &mut Talk<'_>) {
    let sessions = talk.ok("conversation/session.list", json!({ "agent": "echo" }));
    let session = sessions["items"][0]["session_id"].clone();
    talk.ok("conversation/session.get", json!({ "session_id": session }));
    let threads = talk.ok("conversation/thread.list", json!({ "agent": "echo" }));
    let thread = json!({ "thread_id": threads["items"][0]["thread_id"] });
    let begin = json!({ "thread_id": thread["thread_id"], "input": words("hold on") });
    let held = talk.ok("conversation/turn.start", begin);
    let turn = json!({ "turn_id": held["turn_id"] });
    talk.until("conversation/turn.get", turn.clone(), |turn| turn["state"] == "running");
    let later = json!({ "agent": "echo", "parts": words("later"), "wait": "accepted" });
    talk.ok("runtime/agent.signal", later);
    talk.ok("conversation/queue.list", thread.clone());
    let more = json!({ "turn_id": held["turn_id"], "input": words("more") });
    let more = talk.ok("conversation/turn.steer", more);
    talk.until("runtime/message.get", json!({ "message_id": more["message_id"] }), has("injected"));
    let reason = json!({ "turn_id": held["turn_id"], "reason": "enough" });
    talk.ok("conversation/turn.interrupt", reason);
    talk.until("conversation/turn.get", turn.clone(), |turn| turn["state"] == "interrupted");
    talk.refused(
        "invalid_state",
        "conversation/turn.steer",
        json!({ "turn_id": held["turn_id"], "input": words("late") }),
    );
    let listed = |state: &'static str| {
        move |list: &Value| {
            list["items"].as_array().unwrap().iter().filter(|turn| turn["state"] == state).count()
        }
    };
    talk.until("conversation/turn.list", thread.clone(), |list| listed("completed")(list) == 4);
    talk.ok("conversation/item.list", turn);
    let outputs = talk.ok("conversation/output.list", thread.clone());
    talk.ok("conversation/output.get", json!({ "output_id": outputs["items"][0]["output_id"] }));
    talk.ok("conversation/thread.read", thread);
}

fn memory(talk: &mut Talk<'_>) {
    let key = json!({ "agent": "echo", "key": "a" });
    talk.ok("memory/entry.put", json!({ "agent": "echo", "key": "a", "value": { "deep": [1, 2.5, null] } }));
    talk.ok("memory/entry.get", key.clone());
    talk.refused(
        "version_conflict",
        "memory/entry.put",
        json!({ "agent": "echo", "key": "a", "value": 2, "if_version": 7 }),
    );
    talk.ok("memory/entry.put", json!({ "agent": "echo", "key": "a", "value": 2, "if_version": 1 }));
    talk.ok("memory/entry.list", json!({ "agent": "echo" }));
    talk.ok("memory/entry.history", key.clone());
    talk.ok("memory/entry.delete", key.clone());
    talk.refused("not_found", "memory/entry.get", key);
}

fn people(talk: &mut Talk<'_>) {
    let question = json!({ "agent": "other", "kind": "question", "prompt": "Which colour?" });
    let action = talk.ok("conversation/action.open", question)["action"].clone();
    talk.ok("conversation/action.list", json!({}));
    let answer = json!({ "verdict": "answer", "value": "blue" });
    let decided = json!({ "action_id": action["id"], "digest": action["digest"], "verdict": answer });
    let told = talk.ok("conversation/action.respond", decided.clone())["told_by"].clone();
    talk.refused("invalid_state", "conversation/action.respond", decided);
    talk.ok("conversation/action.get", json!({ "action_id": action["id"] }));
    talk.until("runtime/message.get", json!({ "message_id": told }), has("turn_ended"));
}

fn what_came_of_it(talk: &mut Talk<'_>) {
    let (echo, other) = (json!({ "kind": "agent", "id": "echo" }), json!({ "kind": "agent", "id": "other" }));
    let first = talk.ok("stream/replay", json!({ "target": echo, "limit": 3 }));
    talk.ok("stream/replay", json!({ "target": echo, "limit": 3, "cursor": first["cursor"] }));
    talk.ok("stream/replay", json!({ "target": other, "newest": true, "limit": 2 }));
    talk.ok("stream/projection.get", json!({ "projection": "agent.status", "target": echo }));
    talk.ok("observe/trace.explain", json!({ "agent": "other" }));
    talk.ok("evidence/gap.list", json!({}));
    talk.ok("evidence/audit.verify", json!({}));
}

fn mistakes(talk: &mut Talk<'_>) {
    talk.refused("method_not_found", "runtime/agent.fly", json!({}));
    talk.refused("unsupported", "evidence/replay.run", json!({}));
    talk.refused("unsupported", "sync/feed.pull", json!({}));
    talk.refused("not_found", "runtime/agent.get", json!({ "agent": "nobody" }));
    talk.refused("invalid_params", "runtime/agent.get", json!({ "agnet": "echo" }));
    talk.refused("invalid_params", "runtime/agent.get", json!([1, 2]));
    talk.refused(
        "not_found",
        "runtime/agent.get",
        json!({ "agent": "echo", "ctx": { "tenant": "another" } }),
    );
    talk.refused("invalid_params", "runtime/agent.get", json!({ "agent": "echo", "ctx": { "tenant": 7 } }));
    talk.refused("invalid_params", "runtime/agent.list", json!({ "ctx": 7 }));
    talk.refused(
        "invalid_manifest",
        "runtime/agent.apply",
        json!({ "documents": [{ "file": "x.yaml", "text": "kind: Agent", "folder": talk.node.scratch() }] }),
    );
    let wait = json!({ "agent": "echo", "phases": ["stopped"], "timeout_ms": 1 });
    talk.refused("deadline_exceeded", "runtime/agent.wait", wait);
    talk.refused("permission_denied", "security/key.rotate", json!({}));
    talk.refused("invalid_params", "stream/replay", json!({ "cursor": "garbage" }));
    talk.refused("invalid_params", "conversation/turn.steer", json!({ "turn_id": "trn_0", "input": [] }));
    let unknown = json!({ "subscription_id": "sub_01890000-0000-7000-8000-000000000001" });
    talk.refused("not_found", "stream/unsubscribe", unknown);
}

fn the_end(talk: &mut Talk<'_>) {
    let stopped = |agent: &str| json!({ "agent": agent, "phases": ["stopped"], "timeout_ms": 30_000 });
    talk.ok("runtime/agent.stop", json!({ "agent": "echo" }));
    talk.ok("runtime/agent.wait", stopped("echo"));
    // What a program said is sealed some time after its end: the order of events is one once that is waited for.
    let seals = json!({ "types": ["recording.sealed"] });
    let sealed = |number: usize| move |seals: &Value| seals["items"].as_array().unwrap().len() == number;
    talk.until("stream/replay", seals.clone(), sealed(1));
    let scope = json!({ "agents": ["other"] });
    let held = json!({ "scope": scope, "kind": "stop", "reason": "the end", "wait_ms": 30_000 });
    let held = talk.ok("runtime/override.apply", held);
    talk.until("stream/replay", seals.clone(), sealed(2));
    talk.refused("invalid_state", "runtime/agent.start", json!({ "agent": "other" }));
    talk.ok("runtime/override.list", json!({}));
    let lift = json!({ "override_id": held["override_id"], "reason": "over", "wait_ms": 30_000 });
    talk.ok("runtime/override.lift", lift);
    talk.ok("runtime/agent.stop", json!({ "agent": "other" }));
    talk.ok("runtime/agent.wait", stopped("other"));
    talk.until("stream/replay", seals.clone(), sealed(3));
    talk.ok("runtime/agent.retire", json!({ "agent": "spare" }));
    talk.ok("runtime/agent.list", json!({}));
    talk.ok("evidence/audit.verify", json!({}));
}

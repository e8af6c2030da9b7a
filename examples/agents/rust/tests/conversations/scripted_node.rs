//! A node played from a script: starts an agent as a child process, serves what it asks, and holds it to its lines.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use crate::model_service::ModelService;

/// Generous: a busy machine may need long, and a passing test never waits for it.
const DEADLINE: Duration = Duration::from_secs(20);
const NOW: &str = "2026-11-21T09:30:00.000000Z";
const AGENT: &str = "alpha";
const METHOD_NOT_FOUND: i64 = -32601;

struct Running {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
}

/// One conversation with one agent, which may live through several epochs.
pub(crate) struct ScriptedNode {
    program: &'static str,
    script: Value,
    model: Option<ModelService>,
    running: Option<Running>,
    epoch: u64,
    memory: BTreeMap<String, Value>,
    notifications: Vec<Value>,
    responses: HashMap<String, Value>,
    signals: Vec<Value>,
    actions: Vec<Value>,
    signals_read: usize,
    failing: HashMap<String, Value>,
    holding: HashSet<String>,
    held: HashMap<String, Value>,
}

/// What a request is answered with.
type Answer = Result<Value, (&'static str, String)>;

impl ScriptedNode {
    pub(crate) fn new(program: &'static str, script: Value) -> Self {
        let mut node = Self {
            program,
            model: script.get("model").map(ModelService::new),
            running: None,
            epoch: 0,
            memory: BTreeMap::new(),
            notifications: Vec::new(),
            responses: HashMap::new(),
            signals: Vec::new(),
            actions: Vec::new(),
            signals_read: 0,
            failing: HashMap::new(),
            holding: HashSet::new(),
            held: HashMap::new(),
            script,
        };
        for (key, value) in node.script["memory"].as_object().cloned().unwrap_or_default() {
            node.put(&json!({ "key": key, "value": value })).unwrap();
        }
        node
    }

    /// Plays every step. Panics where the agent leaves its lines.
    pub(crate) fn play(mut self) {
        self.start("none");
        for step in list(&self.script["steps"]) {
            // Shown only if the test fails.
            println!("step: {step}");
            let (verb, value) = step.as_object().unwrap().iter().next().unwrap();
            self.step(verb, value);
        }
        if self.running.is_some() {
            self.step("close", &json!({}));
        }
    }

    fn step(&mut self, verb: &str, value: &Value) {
        match verb {
            "deliver" => self.deliver(value),
            "completed" => self.completed(value),
            "open" => assert!(self.turn(text(value)).is_none(), "the turn has ended"),
            "signalled" => self.signalled(value),
            "asked" => {
                self.until("an action", |node| !node.actions.is_empty());
                assert_eq!(self.actions.last(), Some(value));
            }
            "signals" => assert_eq!(json!(self.signals.len()), *value, "{:?}", self.signals),
            "memory" => assert_eq!(self.kept(), *value),
            "reported" => self.until("a report", |node| {
                let items = node.notified("agent/item.report");
                items.iter().any(|item| {
                    item["kind"] == value["kind"] && text(&item["text"]).contains(text(&value["has"]))
                })
            }),
            "activities" => self.activities(&list(value)),
            "line" => self.write(text(value)),
            "notify" | "call" => self.send(value.clone()),
            "refused" => {
                self.until("a refusal", |node| node.responses.contains_key(text(value)));
                assert_eq!(self.responses[text(value)]["error"]["code"], json!(METHOD_NOT_FOUND));
            }
            "fail" => drop(self.failing.insert(text(&value["method"]).to_owned(), value.clone())),
            "hold" => drop(self.holding.insert(text(value).to_owned())),
            "held" => self.until("a request", |node| node.held.contains_key(text(value))),
            "release" => {
                let request = self.held.remove(text(value)).unwrap();
                self.serve(&request);
            }
            "model_saw" => check(value, &self.model.as_ref().unwrap().seen.recv_timeout(DEADLINE).unwrap()),
            "restart" => self.restart(),
            "stop" => {
                self.send(json!({ "method": "agent/session.stop", "params": { "reason": "test", "grace_ms": 1000 } }));
                self.ends_well();
            }
            "close" => {
                drop(self.running.as_mut().unwrap().input.take());
                self.ends_well();
            }
            _ => panic!("no step `{verb}`"),
        }
    }

    fn start(&mut self, continuity: &str) {
        self.epoch += 1;
        let args = list(&self.script["args"]);
        let mut child = Command::new(self.program)
            .args(args.iter().map(text))
            .env_clear()
            .envs(self.model.iter().flat_map(|model| model.environment.clone()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        self.running = Some(Running { input: child.stdin.take(), child, lines });
        self.send(json!({ "method": "agent/session.start", "params": {
            "protocol": "2026-11-01", "tenant": "local", "agent": AGENT, "agent_id": "agt_alpha", "node": "here",
            "epoch": self.epoch, "session_id": "ses_1", "continuity": continuity, "notice": "…",
        } }));
    }

    fn restart(&mut self) {
        let mut running = self.running.take().unwrap();
        running.child.kill().unwrap();
        running.child.wait().unwrap();
        self.start("partial");
    }

    fn ends_well(&mut self) {
        let mut running = self.running.take().unwrap();
        // The agent's last lines end with its output, and its output with itself.
        while let Ok(line) = running.lines.recv_timeout(DEADLINE) {
            let line: Value = serde_json::from_str(&line).unwrap();
            if line.get("id").is_none() {
                self.notifications.push(line);
            }
        }
        let status = running.child.wait().unwrap();
        assert!(status.success(), "the agent ended with {status}");
    }

    fn write(&mut self, line: &str) {
        let input = self.running.as_mut().unwrap().input.as_mut().unwrap();
        writeln!(input, "{line}").and_then(|()| input.flush()).unwrap();
    }

    fn send(&mut self, mut line: Value) {
        line["jsonrpc"] = json!("2.0");
        self.write(&line.to_string());
    }

    /// Serves the agent until something is found.
    fn until(&mut self, what: &str, found: impl Fn(&Self) -> bool) {
        while !found(self) {
            let line = self.running.as_ref().unwrap().lines.recv_timeout(DEADLINE);
            let line = line.unwrap_or_else(|error| panic!("{what}: {error}; heard {:?}", self.notifications));
            let line: Value = serde_json::from_str(&line).unwrap();
            assert_eq!(line["jsonrpc"], json!("2.0"), "{line}");
            match (line.get("method").map(text), line.get("id")) {
                (None, Some(id)) => drop(self.responses.insert(text(id).to_owned(), line)),
                (Some(method), Some(_)) if self.holding.remove(method) => {
                    self.held.insert(method.to_owned(), line);
                }
                (Some(_), Some(_)) => self.serve(&line),
                (_, None) => self.notifications.push(line),
            }
        }
    }

    fn notified(&self, method: &str) -> Vec<&Value> {
        self.notifications
            .iter()
            .filter(|line| line["method"] == method)
            .map(|line| &line["params"])
            .collect()
    }

    fn serve(&mut self, request: &Value) {
        let (method, params) = (text(&request["method"]), &request["params"]);
        let response = match self.answer(method, params) {
            Ok(result) => json!({ "id": request["id"], "result": result }),
            Err((name, message)) => {
                let data = json!({ "name": name, "retryable": false, "effect": "none" });
                json!({ "id": request["id"], "error": { "code": 4000, "message": message, "data": data } })
            }
        };
        self.send(response);
    }

    fn answer(&mut self, method: &str, params: &Value) -> Answer {
        if let Some(failure) = self.failing.remove(method) {
            let name = String::leak(text(&failure["name"]).to_owned());
            return Err((name, text(&failure["message"]).to_owned()));
        }
        match method {
            "memory/entry.get" => self.entry(params),
            "memory/entry.put" => self.put(params),
            "memory/entry.list" => {
                let prefix = params["prefix"].as_str().unwrap_or_default();
                let kept = self.memory.values().filter(|entry| !entry["value"].is_null());
                let keys = kept.filter(|entry| text(&entry["key"]).starts_with(prefix));
                Ok(json!({ "items": keys.map(without_value).collect::<Vec<_>>() }))
            }
            "memory/entry.delete" => {
                let mut entry = self.entry(params)?;
                entry["version"] = json!(entry["version"].as_u64().unwrap() + 1);
                entry["value"] = Value::Null;
                self.memory.insert(text(&params["key"]).to_owned(), entry.clone());
                Ok(entry)
            }
            "runtime/agent.list" => {
                Ok(json!({ "items": self.agents().iter().map(view).collect::<Vec<_>>() }))
            }
            "runtime/agent.get" => Ok(view(&self.agents()[0])),
            "runtime/agent.signal" => {
                let agent = &params["agent"];
                if !self.agents().iter().any(|known| known["name"] == *agent) {
                    return Err(("not_found", format!("no agent `{}`", text(agent))));
                }
                self.signals.push(params.clone());
                let message_id = format!("msg_sent-{}", self.signals.len());
                Ok(json!({ "message_id": message_id, "agent": agent, "receipts": [] }))
            }
            "conversation/action.open" => {
                self.actions.push(params.clone());
                let id = format!("act_{}", self.actions.len());
                let action = json!({ "id": id, "kind": params["kind"], "prompt": params["prompt"] });
                Ok(json!({ "action": action }))
            }
            "stream/replay" => {
                let events = list(&self.script["events"]);
                let items: Vec<Value> =
                    events.iter().map(|event| json!({ "n": event["pos"], "event": event })).collect();
                Ok(json!({ "items": items, "next": 0, "end": true }))
            }
            _ => Err(("method_not_found", format!("no method `{method}`"))),
        }
    }

    fn agents(&self) -> Vec<Value> {
        let own = json!({ "name": AGENT, "phase": "running", "activity": "working", "epoch": self.epoch });
        [own].into_iter().chain(list(&self.script["agents"])).collect()
    }

    fn entry(&self, params: &Value) -> Answer {
        let key = text(&params["key"]);
        let entry = self.memory.get(key).filter(|entry| !entry["value"].is_null());
        entry.cloned().ok_or_else(|| ("not_found", format!("no key `{key}`")))
    }

    fn put(&mut self, params: &Value) -> Answer {
        let key = text(&params["key"]);
        let last = self.memory.get(key).map_or(0, |entry| entry["version"].as_u64().unwrap());
        let current = if self.entry(params).is_ok() { last } else { 0 };
        if params.get("if_version").is_some_and(|wanted| *wanted != json!(current)) {
            return Err(("version_conflict", format!("`{key}` is at version {current}")));
        }
        let entry =
            json!({ "key": key, "version": last + 1, "value": params["value"], "at": NOW, "bytes": 1 });
        self.memory.insert(key.to_owned(), entry.clone());
        Ok(entry)
    }

    fn kept(&self) -> Value {
        let kept = self.memory.iter().filter(|(_, entry)| !entry["value"].is_null());
        kept.map(|(key, entry)| (key.clone(), entry["value"].clone())).collect()
    }

    fn deliver(&mut self, message: &Value) {
        let channel = message["channel"].as_str().unwrap_or("operator");
        let source = message["source"].as_str().unwrap_or("uid-0");
        let content = text(&message["content"]);
        let mut params = json!({
            "channel": channel, "ingress": "signal", "source": source, "source_agent": null, "authority": "trusted",
            "mode": "queue", "reply_to": null, "thread": null, "parts": [{ "type": "text", "text": content }],
            "text": format!("[{} MESSAGE from {source} on signal]\n{content}", channel.to_uppercase()),
        });
        for (key, value) in message.as_object().unwrap().iter().filter(|(key, _)| *key != "content") {
            params[key] = value.clone();
        }
        self.send(json!({ "method": "agent/message.deliver", "params": params }));
    }

    fn completed(&mut self, wanted: &Value) {
        let message_id = text(&wanted["message_id"]);
        if self.running.is_some() {
            self.until("the end of a turn", |node| node.turn(message_id).is_some());
        }
        check(wanted, text(&self.turn(message_id).unwrap()["output"]));
        let observed = self.notified("agent/message.observe");
        assert!(observed.iter().any(|params| params["message_id"] == message_id), "not observed");
    }

    fn turn(&self, message_id: &str) -> Option<&Value> {
        let turns = self.notified("agent/turn.complete");
        let turns: Vec<&Value> = turns.into_iter().filter(|turn| turn["message_id"] == message_id).collect();
        assert!(turns.len() < 2, "turn {message_id} ended twice");
        turns.first().copied()
    }

    fn signalled(&mut self, wanted: &Value) {
        self.until("a signal", |node| node.signals.len() > node.signals_read);
        let signal = self.signals[self.signals_read].clone();
        self.signals_read += 1;
        for key in ["agent", "reply_to", "mode"] {
            assert!(wanted.get(key).is_none_or(|value| *value == signal[key]), "{key} of {signal}");
        }
        check(wanted, &list(&signal["parts"]).iter().map(|part| text(&part["text"])).collect::<String>());
    }

    fn activities(&mut self, wanted: &[Value]) {
        self.until("activities", |node| node.notified("agent/activity.report").len() >= wanted.len());
        let heard = self.notified("agent/activity.report");
        assert_eq!(
            heard.iter().map(|params| &params["state"]).collect::<Vec<_>>(),
            wanted.iter().collect::<Vec<_>>()
        );
    }
}

impl Drop for ScriptedNode {
    /// Leaves no agent behind where a test fails.
    fn drop(&mut self) {
        if let Some(running) = &mut self.running {
            drop(running.child.kill());
            drop(running.child.wait());
        }
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn list(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_default()
}

/// Holds a text to `is`, `has` and `lacks`.
fn check(wanted: &Value, found: &str) {
    assert!(wanted.get("is").is_none_or(|is| is == found), "it was {found:?}");
    for piece in list(&wanted["has"]) {
        assert!(found.contains(text(&piece)), "{piece} is not in {found:?}");
    }
    for piece in list(&wanted["lacks"]) {
        assert!(!found.contains(text(&piece)), "{piece} is in {found:?}");
    }
}

fn without_value(entry: &Value) -> Value {
    let mut entry = entry.clone();
    entry.as_object_mut().unwrap().remove("value");
    entry
}

/// An agent as the node shows it, as far as agents look.
fn view(agent: &Value) -> Value {
    let name = text(&agent["name"]);
    let identities = json!({
        "process": { "epoch": agent["epoch"], "executable": name, "process": { "pid": 7 }, "shim": null },
        "session": { "sessionId": "ses_1", "resumeHandle": null },
        "network": { "name": name, "address": format!("{name}@here") },
        "principal": { "name": name, "uid": 0, "onBehalfOf": [] },
        "memory": { "store": format!("memory/{name}"), "keys": 0 },
        "authority": { "asSender": "advisory", "assurance": "open" },
        "audit": { "agentId": format!("agt_{name}"), "stream": format!("agent/agt_{name}"), "events": 3 },
    });
    let waiting = agent["waiting"].as_u64().unwrap_or(0);
    let status = json!({
        "phase": agent["phase"], "activity": agent["activity"], "epoch": agent["epoch"],
        "waitingMessages": waiting, "identities": identities,
    });
    json!({ "metadata": { "name": name }, "spec": {}, "status": status })
}

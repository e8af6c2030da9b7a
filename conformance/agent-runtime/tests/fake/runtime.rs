//! What the fake does: a mini-runtime that behaves as the standard says, but for one fault.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

/// How many bytes its tool gives.
pub(crate) const LARGE: usize = 100_000;

/// The digest of nothing in particular.
pub(crate) const ARTIFACT: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

#[derive(Debug, Clone)]
pub(crate) struct Turn {
    pub(crate) id: String,
    pub(crate) session: String,
    pub(crate) text: String,
    pub(crate) status: &'static str,
}

#[derive(Debug)]
pub(crate) struct Runtime {
    pub(crate) fault: &'static str,
    count: u64,
    sessions: BTreeMap<String, Vec<Value>>,
    pub(crate) turns: Vec<Turn>,
    keys: BTreeMap<String, usize>,
    queue: Vec<usize>,
    /// The actions that are open, with their turns.
    pub(crate) pending: BTreeMap<String, usize>,
    /// The process that waits for words, with its turn.
    process: Option<(String, usize)>,
    permission: Value,
    pub(crate) tried: BTreeSet<String>,
    pub(crate) tasks: Vec<super::work::Task>,
    pub(crate) jobs: Vec<Vec<String>>,
    forgets: bool,
}

fn session_of(agent: &Value) -> String {
    format!("ses-{}", agent.as_str().unwrap_or("worker"))
}

pub(crate) fn text<'a>(params: &'a Value, name: &str) -> &'a str {
    params[name].as_str().unwrap_or_default()
}

impl Runtime {
    pub(crate) fn new(fault: &'static str) -> Self {
        let mut runtime = Self {
            fault,
            count: 0,
            sessions: BTreeMap::new(),
            turns: Vec::new(),
            keys: BTreeMap::new(),
            queue: Vec::new(),
            pending: BTreeMap::new(),
            process: None,
            permission: json!({ "status": "not_applicable" }),
            tried: BTreeSet::new(),
            tasks: Vec::new(),
            jobs: Vec::new(),
            forgets: false,
        };
        for session in ["ses-worker", "ses-second"] {
            runtime.emit(session, "session.created", json!({}));
            let evidence =
                if fault == "an invalid fixture" { json!({}) } else { json!({ "evidenceId": "evi-1" }) };
            runtime.emit(session, "evidence.changed", evidence);
            for n in 0..4 {
                runtime.emit(session, "run.status", json!({ "payload": { "n": n } }));
            }
        }
        runtime
    }

    pub(crate) fn id(&mut self, kind: &str) -> String {
        self.count += 1;
        format!("{kind}-{:03}", self.count)
    }

    pub(crate) fn events(&self, session: &str) -> &[Value] {
        self.sessions.get(session).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn in_form(event: &Value, strict: bool) -> Value {
        let mut event = event.clone();
        event["schemaVersion"] = json!(if strict { "lime-profile-0.4.0" } else { "fake-0.1" });
        event
    }

    pub(crate) fn emit(&mut self, session: &str, kind: &str, more: Value) {
        let id = self.id("evt");
        let events = self.sessions.entry(session.to_owned()).or_default();
        let mut number = events.len() + 1;
        if self.fault == "a number left out" && kind == "turn.started" {
            number += 1;
        }
        let kind = if self.fault == "a vendor's type" && kind == "model.delta" { "fake.words" } else { kind };
        let mut event = json!({
            "type": kind, "eventId": id, "timestamp": "2026-01-02T03:04:05.000000Z", "sequence": number,
            "runtimeId": "fake", "sessionId": session, "threadId": session.replace("ses", "thr"), "payload": {},
        });
        if let (Some(event), Value::Object(more)) = (event.as_object_mut(), more) {
            event.extend(more);
        }
        events.push(event);
    }

    /// An event of a turn; with a step where it is one of a tool.
    pub(crate) fn of_turn(&mut self, turn: usize, kind: &str, more: Value) {
        let Turn { id, session, .. } = self.turns[turn].clone();
        let mut event = json!({ "turnId": id });
        if kind.starts_with("tool.") {
            event["toolCallId"] = json!(format!("call-{id}"));
            event["stepId"] = event["toolCallId"].clone();
        }
        if let (Some(event), Value::Object(more)) = (event.as_object_mut(), more) {
            event.extend(more);
        }
        self.emit(&session, kind, event);
    }

    pub(crate) fn call(&mut self, method: &str, params: &Value) -> Result<Value, &'static str> {
        Ok(match method {
            "health" => {
                if self.fault == "a queue that is forgotten" {
                    self.queue.clear();
                }
                json!({})
            }
            "find_session" => {
                let session = session_of(&params["agent"]);
                json!({ "sessionId": session, "threadId": session.replace("ses", "thr") })
            }
            "get_session" => json!({ "sessionId": params["sessionId"] }),
            "read_snapshot" => {
                let session = text(params, "sessionId");
                let state = self.snapshot(session, text(params, "projection") == "strict");
                json!({ "state": state, "through": self.events(session).len() })
            }
            "submit_turn" => self.submit(params),
            "respond_action" => self.respond(text(params, "actionId"), text(params, "decision"))?,
            "list_queue" => {
                json!({ "turns": self.queue.iter().map(|at| &self.turns[*at].id).collect::<Vec<_>>() })
            }
            "promote_queued_turn" => {
                let at = self.place(text(params, "turnId"))?;
                self.queue.retain(|other| *other != at);
                self.queue.insert(0, at);
                json!({})
            }
            "remove_queued_turn" => {
                let at = self.place(text(params, "turnId"))?;
                self.queue.retain(|other| *other != at);
                self.of_turn(at, "queue.changed", json!({ "payload": { "change": "removed" } }));
                json!({})
            }
            "list_turns" => self.history(params),
            "write_process_stdin" => self.write(text(params, "processId"))?,
            "compact_thread" => self.compact(),
            "read_preview" | "get_thread_read" => json!({ "shown": "x" }),
            _ => return self.work(method, params),
        })
    }

    fn place(&self, turn: &str) -> Result<usize, &'static str> {
        self.turns.iter().position(|one| one.id == turn).ok_or("not_found")
    }

    fn submit(&mut self, params: &Value) -> Value {
        let key = text(params, "key").to_owned();
        if let Some(at) = self.keys.get(&key).filter(|_| self.fault != "a request that acts twice") {
            return json!({ "turnId": self.turns[*at].id, "disposition": "started" });
        }
        let id = self.id("trn");
        let session = session_of(&params["agent"]);
        let (at, words) = (self.turns.len(), text(params, "text").to_owned());
        self.turns.push(Turn { id: id.clone(), session, text: words, status: "queued" });
        self.keys.insert(key, at);
        if self.fault == "output before acceptance" {
            self.of_turn(at, "model.delta", json!({}));
        }
        self.of_turn(at, "turn.submitted", json!({}));
        let session = &self.turns[at].session;
        if self.pending.values().any(|busy| self.turns[*busy].session == *session) {
            self.queue.push(at);
            self.of_turn(at, "queue.changed", json!({ "payload": { "change": "added" } }));
            return json!({ "turnId": id, "disposition": "queued" });
        }
        self.begin(at);
        json!({ "turnId": id, "disposition": "started" })
    }

    fn begin(&mut self, at: usize) {
        self.turns[at].status = "running";
        self.of_turn(at, "turn.started", json!({}));
        let routed = json!({ "payload": { "candidateCount": 1, "reason": "there is one" } });
        self.of_turn(at, "routing.single_candidate", routed);
        let verb = self.turns[at].text.split(' ').next().unwrap_or_default().to_owned();
        match verb.as_str() {
            "gated" => return self.gate(at),
            "process" => {
                let process = self.id("prc");
                self.of_turn(at, "process.started", json!({ "processId": process }));
                self.process = Some((process, at));
                return;
            }
            "large" => self.large(at),
            "write" => self.permitted(at),
            "denied" => self.denied(at),
            // As if nothing had happened: what the read model says is of the turn before.
            "forbidden" if self.fault == "a refusal that nobody is told of" => {}
            "forbidden" => self.denied(at),
            "hooked" => {
                if self.fault != "a hook that nobody sees" {
                    self.of_turn(at, "hook.started", json!({}));
                    let run = json!({ "point": "pre_tool_use", "updatedInputRef": "ref-1" });
                    self.of_turn(at, "hook.completed", json!({ "hookRun": run }));
                }
                self.tool(at, json!({}));
            }
            "artifact" => {
                let artifact = json!({ "payload": { "ref": format!("sha256:{ARTIFACT}") } });
                self.of_turn(at, "artifact.changed", artifact);
            }
            _ => self.of_turn(at, "model.delta", json!({})),
        }
        self.end(at, "turn.completed", "completed");
    }

    fn end(&mut self, at: usize, kind: &str, status: &'static str) {
        self.turns[at].status = status;
        self.of_turn(at, kind, json!({}));
        if self.pending.is_empty() && !self.queue.is_empty() {
            let next = self.queue.remove(0);
            self.of_turn(next, "queue.changed", json!({ "payload": { "change": "removed" } }));
            self.begin(next);
        }
    }

    fn tool(&mut self, at: usize, result: Value) {
        self.of_turn(at, "tool.started", json!({}));
        self.of_turn(at, "tool.result", result);
    }

    fn large(&mut self, at: usize) {
        let whole = "x".repeat(LARGE);
        let output = json!({ "ref": "sha256:large", "sizeBytes": LARGE, "preview": "xxx" });
        let result = match self.fault {
            "a large result inline" => json!({ "payload": { "text": whole } }),
            _ => json!({ "outputRef": "sha256:large", "output": output }),
        };
        self.tool(at, result);
    }

    fn gate(&mut self, at: usize) {
        let action = self.id("act");
        let asked = json!({
            "actionType": "tool_permission", "prompt": "may I?", "decisions": ["approve", "deny"],
            "expiresAt": "2027-01-01T00:00:00Z", "onTimeout": "deny",
        });
        self.of_turn(at, "action.required", json!({ "actionId": action, "payload": asked }));
        self.pending.insert(action.clone(), at);
        if self.fault == "leave by silence" {
            drop(self.respond(&action, "approve"));
        }
    }

    fn respond(&mut self, action: &str, decision: &str) -> Result<Value, &'static str> {
        let Some(at) = self.pending.remove(action) else {
            return if self.fault == "leave by silence" { Ok(json!({})) } else { Err("conflict") };
        };
        let word = if decision == "approve" { "approved" } else { "denied" };
        self.of_turn(at, "action.resolved", json!({ "actionId": action, "payload": { "decision": word } }));
        if decision == "approve" {
            self.tool(at, json!({}));
        } else {
            self.of_turn(at, "tool.started", json!({}));
            self.of_turn(at, "tool.failed", json!({}));
        }
        self.end(at, "turn.completed", "completed");
        Ok(json!({}))
    }

    fn permitted(&mut self, at: usize) {
        let decision = json!({ "decision": "allow", "source": "rule", "ruleRefs": ["r"] });
        let late = self.fault == "permission after the act";
        if late {
            self.tool(at, json!({}));
        }
        self.of_turn(at, "permission.evaluated", json!({ "permissionDecision": decision }));
        self.of_turn(at, "sandbox.applied", json!({ "sandboxProfile": { "mode": "workspace_write" } }));
        if !late {
            self.tool(at, json!({}));
        }
    }

    fn denied(&mut self, at: usize) {
        let decision = json!({ "decision": "deny", "source": "rule", "ruleRefs": ["r"] });
        self.of_turn(at, "permission.evaluated", json!({ "permissionDecision": decision }));
        self.permission = match self.fault {
            "a denial without a cause" => json!({ "decision": "deny" }),
            _ => json!({ "decision": "deny", "source": "rule", "reason": "rule r" }),
        };
    }

    fn write(&mut self, process: &str) -> Result<Value, &'static str> {
        let Some((_, at)) = self.process.take_if(|(id, _)| id == process) else { return Err("not_found") };
        let of_it = json!({ "processId": process });
        self.of_turn(at, "process.input", of_it.clone());
        self.of_turn(at, "process.completed", json!({ "processId": process, "outputRef": "sha256:out" }));
        if self.fault != "output cut in silence" {
            self.of_turn(at, "output.truncated", of_it);
        }
        self.end(at, "turn.completed", "completed");
        Ok(json!({}))
    }

    fn compact(&mut self) -> Value {
        let of = json!({ "turnId": "trn-system" });
        self.emit("ses-worker", "context.compaction.started", of);
        let done = json!({ "turnId": "trn-system", "refs": { "summary": "sha256:summary" } });
        self.emit("ses-worker", "context.compaction.completed", done);
        self.forgets = self.fault == "a compaction that forgets";
        json!({})
    }

    fn history(&self, params: &Value) -> Value {
        let thread = text(params, "threadId").replace("thr", "ses");
        let all = self.turns.iter().rev().filter(|turn| turn.session == thread);
        let from = params["cursor"].as_u64().and_then(|from| usize::try_from(from).ok()).unwrap_or(0);
        let limit = params["limit"].as_u64().and_then(|most| usize::try_from(most).ok()).unwrap_or(50);
        let limit = if self.fault == "history in one piece" { usize::MAX } else { limit };
        let page: Vec<_> = all.skip(from).take(limit).map(|turn| &turn.id).collect();
        json!({ "turns": page, "next": from + page.len() })
    }

    pub(crate) fn snapshot(&self, session: &str, strict: bool) -> Value {
        let turns: Vec<_> = self.turns.iter().filter(|turn| turn.session == session).collect();
        let shown: Vec<_> =
            turns.iter().map(|turn| json!({ "turnId": turn.id, "status": turn.status })).collect();
        let pending = self.pending.iter().filter(|(_, at)| self.turns[**at].session == session);
        let pending: Vec<_> =
            pending.filter(|_| !self.forgets).map(|(action, _)| json!({ "actionId": action })).collect();
        let queued: Vec<_> = self.queue.iter().map(|at| json!({ "turnId": self.turns[*at].id })).collect();
        let mut routing = json!({
            "candidateCount": 1, "reason": "there is one", "capabilityGap": "none", "costState": "unknown",
            "limitState": "unknown",
        });
        if self.fault == "a choice that is not explained" {
            routing.as_object_mut().unwrap().remove("capabilityGap");
        }
        let thread = json!({
            "threadId": session.replace("ses", "thr"), "status": if pending.is_empty() { "idle" } else { "blocked" },
            "turns": shown, "pendingRequests": pending, "queuedTurns": queued, "incidents": [],
            "evidenceSummary": {}, "permissionState": self.permission, "modelRouting": routing,
        });
        json!({
            "schemaVersion": if strict { "lime-profile-0.4.0" } else { "fake-0.1" }, "runtimeId": "fake",
            "sessionId": session, "updatedAt": "2026-01-02T03:04:05Z", "threads": [thread],
            "tasks": self.shown_tasks(), "taskSummary": {}, "routingLimitSummary": {}, "telemetrySummary": {},
            "evidenceRefs": ["sha256:evidence"],
        })
    }
}

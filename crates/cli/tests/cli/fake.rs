//! A node that answers from a table, and the program run against it.

use std::{
    collections::HashMap,
    io::{BufRead, BufReader, Write},
    os::unix::net::{UnixListener, UnixStream},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::{Arc, Mutex},
    time::Duration,
};

use edgeplane_os::wait::{self, Deadline};
use edgeplane_types::ErrorName;
use edgeplane_wire::{
    catalogue::Request,
    rpc::{self, Id, Incoming, RpcError},
};
use serde_json::{Value, json};
use tempfile::TempDir;

/// No test waits so long unless something hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// What the node says to a method: its answer, and lines that follow it.
#[derive(Debug, Clone)]
pub(crate) struct Says {
    first: Vec<(String, Value)>,
    answer: Result<Value, RpcError>,
    then: Vec<(String, Value)>,
    hangs_up: bool,
}

impl Says {
    pub(crate) fn result(value: Value) -> Self {
        Self { first: Vec::new(), answer: Ok(value), then: Vec::new(), hangs_up: false }
    }

    pub(crate) fn error(name: ErrorName, message: &str) -> Self {
        Self {
            first: Vec::new(),
            answer: Err(RpcError::new(name, message).hint("the hint")),
            then: Vec::new(),
            hangs_up: false,
        }
    }

    /// But this notification comes before.
    pub(crate) fn after(mut self, method: &str, params: Value) -> Self {
        self.first.push((method.to_owned(), params));
        self
    }

    /// And then this notification.
    pub(crate) fn then(mut self, method: &str, params: Value) -> Self {
        self.then.push((method.to_owned(), params));
        self
    }

    /// And then the connection ends.
    pub(crate) fn hangs_up(mut self) -> Self {
        self.hangs_up = true;
        self
    }
}

#[derive(Debug, Default)]
struct Shared {
    /// What to say at each call of a method; the last one is said for ever.
    says: HashMap<String, Vec<Says>>,
    asked: Vec<(String, Value)>,
    /// Every conversation, to be cut.
    streams: Vec<UnixStream>,
}

/// The node.
#[derive(Debug)]
pub(crate) struct Fake {
    dir: TempDir,
    shared: Arc<Mutex<Shared>>,
}

impl Fake {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let fake = Self { dir, shared: Arc::default() };
        fake.comes();
        fake
    }

    /// Listens, at first or again.
    pub(crate) fn comes(&self) {
        let listener = UnixListener::bind(self.socket()).unwrap();
        let shared = Arc::clone(&self.shared);
        // Ends with the process of the test.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                shared.lock().unwrap().streams.push(stream.try_clone().unwrap());
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || serve(&stream, &shared));
            }
        });
    }

    /// Cuts every conversation; nobody can begin another.
    pub(crate) fn goes(&self) {
        std::fs::remove_file(self.socket()).unwrap();
        for stream in self.shared.lock().unwrap().streams.drain(..) {
            // It may have ended by itself.
            drop(stream.shutdown(std::net::Shutdown::Both));
        }
    }

    /// A node that says this to a method.
    pub(crate) fn saying(method: &str, says: Says) -> Self {
        let fake = Self::new();
        fake.says(method, says);
        fake
    }

    /// Adds what it says to a method, after what it was told to say before.
    pub(crate) fn says(&self, method: &str, says: Says) {
        self.shared.lock().unwrap().says.entry(method.to_owned()).or_default().push(says);
    }

    /// What it was asked, in order, and forgets it.
    pub(crate) fn asked(&self) -> Vec<(String, Value)> {
        std::mem::take(&mut self.shared.lock().unwrap().asked)
    }

    /// Waits until it was asked for a method.
    pub(crate) fn wait_for(&self, method: &str) {
        let asked = || self.shared.lock().unwrap().asked.iter().any(|(name, _)| name == method);
        assert!(wait::until(Deadline::after(PATIENCE), asked), "nobody called {method}");
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.dir.path().join("s")
    }

    /// The program, to be run against this node.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = edgeplane(self.path());
        command.env("EDGEPLANE_SOCKET", self.socket()).args(arguments);
        command
    }

    /// Runs the program to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).stdin(Stdio::null()).output().unwrap()
    }
}

/// The program with an environment of its own in `dir`.
pub(crate) fn edgeplane(dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_edgeplane"));
    command.env_clear().env("HOME", dir).env("PATH", "/usr/bin:/bin").current_dir(dir);
    command.env("EDGEPLANE_STATE_DIR", dir.join("state")).env("EDGEPLANE_RUNTIME_DIR", dir.join("run"));
    command
}

fn serve(stream: &UnixStream, shared: &Mutex<Shared>) {
    let mut writer = stream;
    for line in BufReader::new(stream).lines() {
        let Ok(line) = line else { return };
        let (id, method, params) = match rpc::parse_line(line.as_bytes()) {
            Ok(Incoming::Request { id, method, params }) => (Some(id), method, params),
            Ok(Incoming::Notification { method, params }) => (None, method, params),
            other => panic!("the program sent {other:?}"),
        };
        let says = {
            let mut shared = shared.lock().unwrap();
            shared.asked.push((method.clone(), params.clone()));
            match shared.says.get_mut(&method) {
                Some(list) if list.len() > 1 => Some(list.remove(0)),
                Some(list) => list.first().cloned(),
                None => None,
            }
        };
        // Whatever the program sends must be what the catalogue says.
        let read = Request::read(&method, params);
        let Some(id) = id else {
            read.unwrap();
            continue;
        };
        let says = match (read, says) {
            (Err(error), _) => {
                Says { first: Vec::new(), answer: Err(error), then: Vec::new(), hangs_up: false }
            }
            (Ok(_), Some(says)) => says,
            (Ok(_), None) => Says::error(ErrorName::Unsupported, &format!("nothing to say to {method}")),
        };
        if writer.write_all(&lines(&id, &says)).is_err() || says.hangs_up {
            drop(stream.shutdown(std::net::Shutdown::Both));
            return;
        }
    }
}

fn lines(id: &Id, says: &Says) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (method, params) in &says.first {
        bytes.extend(rpc::notification(method, params));
    }
    bytes.extend(match &says.answer {
        Ok(value) => rpc::success(id, value),
        Err(error) => rpc::failure(Some(id), error),
    });
    for (method, params) in &says.then {
        bytes.extend(rpc::notification(method, params));
    }
    bytes
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

pub(crate) const AGENT: &str = "agt_01890000-0000-7000-8000-000000000001";
pub(crate) const MESSAGE: &str = "msg_01890000-0000-7000-8000-000000000002";
pub(crate) const TIME: &str = "2026-11-21T09:30:00.123456Z";

pub(crate) fn change(phase: &str, epoch: u64) -> Value {
    json!({ "name": "reviewer", "agent_id": AGENT, "phase": phase, "desired": "running", "epoch": epoch })
}

pub(crate) fn view() -> Value {
    let node = "nod_01890000-0000-7000-8000-000000000003";
    let process = json!({ "pid": 4242, "startTime": 99, "bootId": "boot" });
    json!({
        "apiVersion": "edgeplane.dev/v1alpha1",
        "kind": "Agent",
        "metadata": { "name": "reviewer", "id": AGENT, "description": "reads\u{1b}[2J diffs" },
        "spec": { "command": ["/bin/bash", "-i"], "driver": { "type": "terminal" } },
        "status": {
            "phase": "running", "desired": "running", "generation": 2, "observedGeneration": 2, "activity": "idle",
            "activityEvidence": "silence", "epoch": 3, "restarts": 1, "continuity": "none", "process": process,
            "startedAt": TIME, "waitingMessages": 0, "outputBytes": 1536, "somethingNew": true,
            "identities": {
                "process": { "epoch": 3, "executable": "/bin/bash", "process": process, "shim": null, "cgroup": null, "node": node },
                "session": { "sessionId": "ses_01890000-0000-7000-8000-000000000004", "resumeHandle": null },
                "network": { "name": "reviewer", "address": "reviewer@here", "node": "here", "tenant": "local", "socket": null },
                "principal": { "name": "reviewer", "uid": 1000, "onBehalfOf": [] },
                "memory": { "store": "memory/reviewer", "keys": 2, "workspace": "/w" },
                "authority": { "asSender": "advisory", "assurance": "open", "decidedBy": "node" },
                "audit": { "agentId": AGENT, "stream": format!("agent/{AGENT}"), "events": 9, "head": "00", "declaredAt": TIME }
            }
        }
    })
}

pub(crate) fn node_status() -> Value {
    json!({
        "pid": 77, "version": "0.1.0", "uptimeSeconds": 61, "startedAt": TIME,
        "nodeId": "nod_01890000-0000-7000-8000-000000000003", "node": "here", "stateDir": "/s", "runtimeDir": "/r",
        "socket": "/r/s", "agents": { "running": 2, "stopped": 1 }, "events": 12, "record": "ok",
        "checks": [{ "name": "screens", "status": "warn", "detail": "slow", "hint": "wait" }]
    })
}

pub(crate) fn signalled() -> Value {
    json!({ "message_id": MESSAGE, "agent": "reviewer",
        "receipts": [{ "rung": "accepted", "evidence": "kernel", "at": TIME }] })
}

pub(crate) fn answered() -> Value {
    let answer = json!({ "source": "reviewer", "authority": "delegated", "text": "four",
        "rendered": "[PEER MESSAGE from reviewer on driver]\nfour" });
    let mut answered = signalled();
    answered["answer"] = answer;
    answered
}

pub(crate) fn message() -> Value {
    json!({ "message_id": MESSAGE, "agent": "reviewer", "channel": "operator", "ingress": "signal",
        "source": "uid-1000", "source_detail": { "principal": "uid-1000", "proof": "uid", "assurance": "open" },
        "authority": "trusted", "receipts": [{ "rung": "rejected", "evidence": "kernel", "at": TIME }],
        "accepted_at": TIME, "content_digest": "00", "parts": [{ "type": "text", "text": "hello\u{1b}[2J" }],
        "reason": "too_large: no" })
}

pub(crate) fn entry() -> Value {
    json!({ "key": "tone", "version": 2, "value": "kind\u{1b}[2J", "digest": "00", "bytes": 6, "at": TIME })
}

/// A page of the log.
pub(crate) fn page(events: &[Value], next: u64, end: bool) -> Says {
    let items: Vec<Value> = events.iter().map(|event| json!({ "n": event["pos"], "event": event })).collect();
    Says::result(json!({ "items": items, "next": next, "cursor": format!("behind-{next}"), "oldest_seq": 1,
        "head_seq": 9_999, "end": end }))
}

pub(crate) fn event(pos: u64, kind: &str) -> Value {
    json!({ "pos": pos, "hash": "00", "id": "evt_01890000-0000-7000-8000-000000000005", "stream": format!("agent/{AGENT}"),
        "seq": pos, "ts": TIME, "type": kind, "payload": { "epoch": 1 }, "actor": { "kind": "node", "rule": "supervisor" } })
}

//! The least that a client of the Agent Client Protocol must do, over the pipes of a program.

use std::{
    fs::{self, File},
    io::{BufRead as _, BufReader, Write as _},
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Stdio},
    sync::mpsc::{Receiver, channel},
};

use edgeplane_os::{Signal, group};
use edgeplane_testkit::{agents::Launch, wait::AGENT_PATIENCE};
use serde_json::{Value, json};

/// A program that speaks the protocol. Dropping it ends the program and everything in its process group.
pub(crate) struct Peer {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
    next: u64,
    errors: PathBuf,
    /// The kind of option that permission requests are answered with.
    pub(crate) answer: &'static str,
    /// The updates of the session since they were last taken.
    updates: Vec<Value>,
    /// The permission requests since they were last taken.
    permissions: Vec<Value>,
}

impl Peer {
    /// Starts a program, which keeps what it says on stderr below `home`.
    pub(crate) fn start(launch: &Launch, home: &Path, work: &Path) -> Self {
        let errors = home.join("stderr");
        let file = File::options().create(true).append(true).open(&errors).unwrap();
        let mut command = launch.command();
        command.current_dir(work).process_group(0).stderr(file).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let line =
                    serde_json::from_str(&line).unwrap_or_else(|_| panic!("no JSON on stdout: {line}"));
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self {
            child,
            stdin,
            lines,
            next: 0,
            errors,
            answer: "allow_once",
            updates: Vec::new(),
            permissions: Vec::new(),
        }
    }

    fn send(&mut self, line: &Value) {
        let stdin = self.stdin.as_mut().unwrap();
        writeln!(stdin, "{line}").unwrap();
        stdin.flush().unwrap();
    }

    /// Sends a request, whose answer comes with [`Self::finish`].
    pub(crate) fn begin(&mut self, method: &str, params: &Value) -> u64 {
        self.next += 1;
        let id = self.next;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    pub(crate) fn notify(&mut self, method: &str, params: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Waits for the answer to a request, and answers what the program asks meanwhile.
    pub(crate) fn finish(&mut self, id: u64) -> Result<Value, Value> {
        loop {
            let line = self.line(&format!("answer to request {id}"));
            if line.get("method").is_some() {
                self.hear(&line);
                continue;
            }
            assert_eq!(line["id"], id, "an answer to nothing: {line}");
            return line.get("result").cloned().ok_or_else(|| line["error"].clone());
        }
    }

    /// Listens until the updates are as expected.
    pub(crate) fn hear_until(&mut self, what: &str, expected: impl Fn(&[Value]) -> bool) {
        while !expected(&self.updates) {
            let line = self.line(what);
            assert!(line.get("method").is_some(), "an answer to nothing: {line}");
            self.hear(&line);
        }
    }

    fn line(&self, what: &str) -> Value {
        self.lines.recv_timeout(AGENT_PATIENCE).unwrap_or_else(|error| {
            let said = fs::read_to_string(&self.errors).unwrap_or_default();
            panic!("no {what}: {error}; updates {:?}; stderr:\n{said}", self.updates)
        })
    }

    fn hear(&mut self, line: &Value) {
        match line["method"].as_str() {
            Some("session/update") => self.updates.push(line["params"]["update"].clone()),
            Some("session/request_permission") => self.permit(line),
            _ if line.get("id").is_some() => {
                let error = json!({ "code": -32601, "message": "method not found" });
                self.send(&json!({ "jsonrpc": "2.0", "id": line["id"], "error": error }));
            }
            _ => {}
        }
    }

    fn permit(&mut self, request: &Value) {
        self.permissions.push(request["params"].clone());
        let options = request["params"]["options"].as_array().unwrap();
        let chosen = options.iter().find(|option| option["kind"] == self.answer);
        let chosen = chosen.unwrap_or_else(|| panic!("no option {}: {options:?}", self.answer));
        let outcome = json!({ "outcome": "selected", "optionId": chosen["optionId"] });
        self.send(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": { "outcome": outcome } }));
    }

    pub(crate) fn try_call(&mut self, method: &str, params: &Value) -> Result<Value, Value> {
        let id = self.begin(method, params);
        self.finish(id)
    }

    pub(crate) fn call(&mut self, method: &str, params: &Value) -> Value {
        self.try_call(method, params).unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// The updates since they were last taken.
    pub(crate) fn take_updates(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.updates)
    }

    /// The permission requests since they were last taken.
    pub(crate) fn take_permissions(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.permissions)
    }

    /// Closes the program's input and waits for its end.
    pub(crate) fn end(mut self) -> std::process::ExitStatus {
        drop(self.stdin.take());
        let mut status = None;
        edgeplane_testkit::wait::eventually("the program ends when its input does", || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        status.unwrap()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // Whatever has ended is ended; a test that failed says so by itself.
        let _gone = group::signal(self.child.id(), Signal::KILL);
        let _reaped = self.child.wait();
    }
}

/// The texts of the updates of one kind, joined.
pub(crate) fn text_of(updates: &[Value], kind: &str) -> String {
    let said = updates.iter().filter(|update| update["sessionUpdate"] == kind);
    said.filter_map(|update| update["content"]["text"].as_str()).collect()
}

//! The agent's side of the native driver: JSON-RPC 2.0, one object a line, on standard input and output.
//!
//! Owns the lines, the matching of answers to requests, timers and work beside the loop. Knows nothing of what an
//! agent does with a message. While a request waits for its answer, whatever else arrives is kept and handed out
//! after it, in the order of arrival.

use std::{
    collections::{BTreeMap, VecDeque},
    io::{self, BufRead, Write},
    sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender},
    thread,
    time::{Duration, Instant},
};

use serde::Deserialize;
use serde_json::{Map, Value, json};

/// What the node may take for one answer. A daemon that is being restarted answers within it.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// Arrivals between the reader and the loop. When it is full the reader waits, and with it the node's pipe.
const ARRIVALS_MAX: usize = 256;

/// What the node told about the life that begins.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Session {
    pub(crate) agent: String,
    pub(crate) agent_id: String,
    pub(crate) node: String,
    pub(crate) epoch: u64,
    pub(crate) continuity: String,
}

/// A message with its provenance, which the node decided and the content cannot change.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Message {
    pub(crate) message_id: String,
    /// What a session sees: the header line, then the content, fenced where it needs to be.
    pub(crate) text: String,
    pub(crate) channel: String,
    /// The way it came in.
    #[serde(default)]
    pub(crate) ingress: String,
    pub(crate) source: String,
    #[serde(default)]
    pub(crate) source_agent: Option<String>,
    pub(crate) authority: String,
    #[serde(default)]
    pub(crate) reply_to: Option<String>,
    #[serde(default)]
    parts: Vec<Value>,
}

impl Message {
    /// The words alone, without header and fence: for code that has looked at the provenance fields.
    pub(crate) fn content(&self) -> String {
        let texts = self.parts.iter().filter(|part| part["type"] == "text");
        texts.filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n")
    }

    /// The first part that is data and no words.
    pub(crate) fn data(&self) -> Option<&Value> {
        self.parts.iter().find(|part| part["type"] == "data").map(|part| &part["data"])
    }
}

/// The node refused a request, or did not answer in time.
#[derive(Debug)]
pub(crate) struct RpcError {
    /// The stable half.
    pub(crate) name: String,
    message: String,
}

impl RpcError {
    fn new(name: &str, message: String) -> Self {
        Self { name: name.to_owned(), message }
    }

    /// Reads the `error` of a response, also of a peer that gives no `data`.
    fn read(error: &Value) -> Self {
        let name = error["data"]["name"].as_str().unwrap_or("internal");
        Self::new(name, error["message"].as_str().unwrap_or("unnamed failure").to_owned())
    }
}

impl std::fmt::Display for RpcError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.message, self.name)
    }
}

impl std::error::Error for RpcError {}

/// What the loop hands to the agent. `L` is what the agent itself asked for to be brought later.
#[derive(Debug)]
pub(crate) enum Event<L> {
    /// The session has begun.
    Started(Session),
    /// A message has come.
    Delivered(Message),
    /// A timer or a piece of work that the agent began has ended.
    Later(L),
    /// The node asks to finish.
    Stopped,
    /// The node hung up.
    Ended,
}

#[derive(Debug)]
enum Arrival<L> {
    Line(Map<String, Value>),
    Later(L),
    End,
}

/// The node at the other end of the pipes.
#[derive(Debug)]
pub(crate) struct Node<L> {
    arrived: Receiver<Arrival<L>>,
    /// For work beside the loop.
    sender: SyncSender<Arrival<L>>,
    kept: VecDeque<Arrival<L>>,
    timers: BTreeMap<(Instant, u64), L>,
    last_id: u64,
    hung_up: bool,
}

impl<L: Send + 'static> Node<L> {
    /// Begins to read standard input.
    pub(crate) fn on_standard_streams() -> Self {
        let (sender, arrived) = mpsc::sync_channel(ARRIVALS_MAX);
        let lines = sender.clone();
        thread::spawn(move || read_lines(&lines));
        Self { arrived, sender, kept: VecDeque::new(), timers: BTreeMap::new(), last_id: 0, hung_up: false }
    }

    /// Waits for what comes next.
    pub(crate) fn next(&mut self) -> Event<L> {
        loop {
            if let Some(due) = self.timers.first_entry().filter(|first| first.key().0 <= now()) {
                return Event::Later(due.remove());
            }
            let arrival = match self.kept.pop_front() {
                Some(arrival) => arrival,
                None if self.hung_up => Arrival::End,
                None => match self.receive(self.timers.keys().next().map(|(due, _)| *due)) {
                    Some(arrival) => arrival,
                    None => continue,
                },
            };
            match arrival {
                Arrival::End => return Event::Ended,
                Arrival::Later(later) => return Event::Later(later),
                Arrival::Line(line) => {
                    if let Some(event) = self.read(line) {
                        return event;
                    }
                }
            }
        }
    }

    /// Asks for a method of the node's catalogue and waits for its result.
    ///
    /// # Errors
    /// What the node answered instead, `deadline_exceeded` if it did not, `unavailable` if it hung up.
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Result<Value, RpcError> {
        let id = self.fresh_id();
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        let deadline = now() + REQUEST_TIMEOUT;
        while !self.hung_up {
            match self.receive(Some(deadline)) {
                Some(Arrival::Line(line))
                    if line.get("id") == Some(&json!(id)) && !line.contains_key("method") =>
                {
                    return match line.get("error") {
                        Some(error) if error.is_object() => Err(RpcError::read(error)),
                        Some(_) | None => Ok(line.get("result").cloned().unwrap_or_default()),
                    };
                }
                Some(Arrival::End) => self.hung_up = true,
                Some(other) => self.kept.push_back(other),
                None => {
                    let seconds = REQUEST_TIMEOUT.as_secs();
                    let message = format!("the node did not answer {method} within {seconds} s");
                    return Err(RpcError::new("deadline_exceeded", message));
                }
            }
        }
        Err(RpcError::new("unavailable", format!("the node hung up before it answered {method}")))
    }

    /// Tells that the work on a message has begun.
    pub(crate) fn observe(&mut self, message: &Message) {
        self.notify("agent/message.observe", &json!({ "message_id": message.message_id }));
    }

    /// Ends the turn that a message began, with its answer.
    pub(crate) fn complete(&mut self, message: &Message, output: &str) {
        self.notify("agent/turn.complete", &json!({ "message_id": message.message_id, "output": output }));
    }

    /// Tells something outside the answer to a turn, such as a `thought` or a `log`.
    pub(crate) fn report(&mut self, kind: &str, text: &str) {
        self.notify("agent/item.report", &json!({ "kind": kind, "text": text }));
    }

    /// Tells what the agent is doing: `idle`, `working` or `awaiting_input`.
    pub(crate) fn activity(&mut self, state: &str) {
        self.notify("agent/activity.report", &json!({ "state": state }));
    }

    /// Has something brought later.
    pub(crate) fn after(&mut self, wait: Duration, later: L) {
        // A wait beyond what the clock can count is a wait for ever.
        if let Some(due) = now().checked_add(wait) {
            let id = self.fresh_id();
            self.timers.insert((due, id), later);
        }
    }

    /// Does slow work on another thread and has its result brought.
    pub(crate) fn aside(&self, work: impl FnOnce() -> L + Send + 'static) {
        let sender = self.sender.clone();
        thread::spawn(move || {
            // Nobody wants the result once the loop has ended.
            drop(sender.send(Arrival::Later(work())));
        });
    }

    fn notify(&mut self, method: &str, params: &Value) {
        self.write(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// A line that cannot be written has no reader any more, which the loop then finds.
    fn write(&mut self, line: &Value) {
        let mut out = io::stdout().lock();
        let written = writeln!(out, "{line}").and_then(|()| out.flush());
        self.hung_up |= written.is_err();
    }

    fn receive(&self, until: Option<Instant>) -> Option<Arrival<L>> {
        let Some(until) = until else {
            return Some(self.arrived.recv().unwrap_or(Arrival::End));
        };
        match self.arrived.recv_timeout(until.saturating_duration_since(now())) {
            Ok(arrival) => Some(arrival),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Arrival::End),
        }
    }

    /// What a line is for the agent, if it is anything for it.
    fn read(&mut self, mut line: Map<String, Value>) -> Option<Event<L>> {
        // Without a method it is an answer that came after its time.
        let method = line.get("method")?.as_str()?.to_owned();
        if let Some(id) = line.get("id") {
            let message = format!("this agent serves no method `{method}`");
            self.write(
                &json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32601, "message": message } }),
            );
            return None;
        }
        let params = line.remove("params").unwrap_or_default();
        let event = match method.as_str() {
            "agent/session.start" => serde_json::from_value(params).map(Event::Started),
            "agent/message.deliver" => serde_json::from_value(params).map(Event::Delivered),
            // What this agent keeps it has kept already, each note when it was made: its epoch may end.
            "agent/session.closing" => {
                self.notify("agent/session.closed", &json!({}));
                return None;
            }
            "agent/session.stop" => Ok(Event::Stopped),
            // Of a newer protocol and not meant for this agent.
            _ => return None,
        };
        event.inspect_err(|error| log(&format!("ignored {method}: {error}"))).ok()
    }

    fn fresh_id(&mut self) -> u64 {
        self.last_id = self.last_id.wrapping_add(1);
        self.last_id
    }
}

fn read_lines<L>(lines: &SyncSender<Arrival<L>>) {
    let mut input = io::stdin().lock();
    let mut raw = Vec::new();
    while input.read_until(b'\n', &mut raw).is_ok_and(|bytes| bytes > 0) {
        match serde_json::from_slice(&raw) {
            Ok(Value::Object(line)) => {
                if lines.send(Arrival::Line(line)).is_err() {
                    return;
                }
            }
            Ok(_) | Err(_) if raw.trim_ascii().is_empty() => {}
            Ok(_) | Err(_) => log(&format!("ignored a line of {} bytes that is not JSON-RPC", raw.len())),
        }
        raw.clear();
    }
    // Nobody waits for the end once the loop has ended.
    drop(lines.send(Arrival::End));
}

/// Writes to standard error, which the node keeps as the agent's log. There is nowhere to say that it failed.
fn log(text: &str) {
    drop(writeln!(io::stderr(), "native: {text}"));
}

#[expect(
    clippy::disallowed_methods,
    reason = "an agent is not of the workspace and has no clock but the machine's"
)]
fn now() -> Instant {
    Instant::now()
}

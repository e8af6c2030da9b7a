//! A connection to the node, for a program that does one thing after another.
//!
//! Owns the matching of answers to calls and the waiting for both. It is blocking on purpose: a command lives for
//! milliseconds, and building a runtime for it would cost more than the call. Programs that stay use the async client.

use std::{collections::VecDeque, io, os::unix::net::UnixStream, sync::Arc, time::Duration};

use edgeplane_client::{CallError, Notification};
use edgeplane_os::{
    fd::{self, Transfer},
    poll::{self, PollFd, PollFlags},
    wait::Deadline,
};
use edgeplane_types::ErrorName;
use edgeplane_wire::rpc::{self, Id, Incoming, LINE_BYTES_MAX, RpcError};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::{
    lines::{Filled, LineBuffer},
    progress::Progress,
};

/// How long a caller waits for an answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    time: Option<Duration>,
}

impl Patience {
    pub(crate) fn within(time: Duration) -> Self {
        Self { time: Some(time) }
    }

    pub(crate) fn endless() -> Self {
        Self { time: None }
    }
}

/// Looks at a notification and says what of it to show.
pub(crate) type Watch<'a> = &'a mut dyn FnMut(Notification) -> Option<String>;

/// A connection to the node.
#[derive(Debug)]
pub(crate) struct Node {
    stream: UnixStream,
    incoming: LineBuffer,
    last_id: i64,
    /// The trace that what is asked belongs to, as this program was told it.
    trace: Option<String>,
    /// Came while an answer was waited for.
    held: VecDeque<Notification>,
    shows_progress: bool,
    /// What the progress line says is waited for; the method if nothing is said.
    pub(crate) doing: Option<String>,
}

/// The parts of a connection, for a loop of one's own.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) stream: UnixStream,
    pub(crate) incoming: LineBuffer,
    pub(crate) held: VecDeque<Notification>,
}

/// Parameters with the trace that they belong to.
fn within(trace: &str, params: impl Serialize) -> serde_json::Value {
    // What cannot be written is refused as a whole by whoever reads it.
    let mut params = serde_json::to_value(params).unwrap_or_default();
    if params.is_null() {
        params = serde_json::json!({});
    }
    if let Some(fields) = params.as_object_mut()
        && !fields.contains_key("ctx")
    {
        fields.insert("ctx".to_owned(), serde_json::json!({ "traceparent": trace }));
    }
    params
}

impl Node {
    pub(crate) fn over(stream: UnixStream, shows_progress: bool) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self {
            stream,
            incoming: LineBuffer::default(),
            last_id: 0,
            trace: None,
            held: VecDeque::new(),
            shows_progress,
            doing: None,
        })
    }

    /// Asks as part of a trace. A node takes one that is malformed for none.
    pub(crate) fn belong_to(&mut self, traceparent: Option<String>) {
        self.trace = traceparent;
    }

    /// Shows no line that says what is waited for: standard output says what comes.
    pub(crate) fn be_silent(&mut self) {
        self.shows_progress = false;
    }

    pub(crate) fn into_parts(self) -> Parts {
        Parts { stream: self.stream, incoming: self.incoming, held: self.held }
    }

    /// Calls a method; notifications that come meanwhile are held for [`Self::next_notification`].
    pub(crate) fn call(
        &mut self,
        method: &str,
        params: impl Serialize,
        patience: Patience,
    ) -> Result<Box<RawValue>, CallError> {
        self.exchange(method, params, patience, None)
    }

    /// Calls a method and hands each notification that comes meanwhile to `watch`, which may give a line to show.
    pub(crate) fn call_watching(
        &mut self,
        method: &str,
        params: impl Serialize,
        patience: Patience,
        watch: Watch<'_>,
    ) -> Result<Box<RawValue>, CallError> {
        self.exchange(method, params, patience, Some(watch))
    }

    fn exchange(
        &mut self,
        method: &str,
        params: impl Serialize,
        patience: Patience,
        mut watch: Option<Watch<'_>>,
    ) -> Result<Box<RawValue>, CallError> {
        self.last_id = self.last_id.saturating_add(1);
        let id = self.last_id;
        let line = match &self.trace {
            Some(trace) => rpc::request(&Id::Number(id), method, within(trace, params)),
            None => rpc::request(&Id::Number(id), method, params),
        };
        if line.len() > LINE_BYTES_MAX {
            let message =
                format!("the request is {} bytes long, at most {LINE_BYTES_MAX} are taken", line.len());
            return Err(RpcError::new(ErrorName::TooLarge, message).into());
        }
        let label = if self.shows_progress {
            self.doing.clone().unwrap_or_else(|| method.to_owned())
        } else {
            String::new()
        };
        let mut progress = Progress::new(self.shows_progress.then_some(label));
        let mut wait = Wait { method, patience, deadline: patience.time.map(Deadline::after) };
        self.write(&line, &mut wait, &mut progress)?;
        loop {
            match self.incoming_message(&mut wait, &mut progress)? {
                Incoming::Response { id: Id::Number(answered), outcome } if answered == id => {
                    return Ok(outcome?);
                }
                Incoming::Response { id: Id::Number(-1), outcome: Err(error) } => {
                    return Err(wait.protocol(error.message));
                }
                // An answer that was given up, or a request, which a client does not serve.
                Incoming::Response { .. } | Incoming::Request { .. } => {}
                Incoming::Notification { method, params } => {
                    let notification = Notification { method, params };
                    match &mut watch {
                        Some(watch) => progress.say(watch(notification)),
                        None => self.held.push_back(notification),
                    }
                }
            }
        }
    }

    /// The next notification, or `None` if none comes in time.
    pub(crate) fn next_notification(
        &mut self,
        time: Option<Duration>,
    ) -> Result<Option<Notification>, CallError> {
        if let Some(notification) = self.held.pop_front() {
            return Ok(Some(notification));
        }
        let patience = time.map_or_else(Patience::endless, Patience::within);
        let mut wait = Wait { method: "stream/subscribe", patience, deadline: time.map(Deadline::after) };
        loop {
            match self.incoming_message(&mut wait, &mut Progress::none()) {
                Ok(Incoming::Notification { method, params }) => {
                    return Ok(Some(Notification { method, params }));
                }
                Ok(Incoming::Request { .. } | Incoming::Response { .. }) => {}
                Err(CallError::Deadline { .. }) => return Ok(None),
                Err(error) => return Err(error),
            }
        }
    }

    /// Whether a further notification can be had without waiting.
    pub(crate) fn has_held(&self) -> bool {
        !self.held.is_empty()
    }

    fn write(
        &mut self,
        mut bytes: &[u8],
        wait: &mut Wait<'_>,
        progress: &mut Progress,
    ) -> Result<(), CallError> {
        while !bytes.is_empty() {
            match fd::write(&self.stream, bytes).map_err(|error| wait.io(error))? {
                Transfer::Moved(count) => bytes = bytes.get(count..).unwrap_or_default(),
                Transfer::WouldBlock => wait.until_ready(&self.stream, PollFlags::OUT, progress)?,
                Transfer::Ended => return Err(wait.closed()),
            }
        }
        Ok(())
    }

    fn incoming_message(
        &mut self,
        wait: &mut Wait<'_>,
        progress: &mut Progress,
    ) -> Result<Incoming, CallError> {
        loop {
            if let Some(line) = self.incoming.line() {
                return rpc::parse_line(line).map_err(|error| wait.protocol(error.message));
            }
            match self.incoming.fill(&self.stream).map_err(|error| wait.io(error))? {
                Filled::Some => {}
                Filled::NotReady => wait.until_ready(&self.stream, PollFlags::IN, progress)?,
                Filled::Ended => return Err(wait.closed()),
            }
        }
    }
}

/// One wait and what it is for.
struct Wait<'a> {
    method: &'a str,
    patience: Patience,
    deadline: Option<Deadline>,
}

impl Wait<'_> {
    fn until_ready(
        &self,
        stream: &UnixStream,
        flags: PollFlags,
        progress: &mut Progress,
    ) -> Result<(), CallError> {
        loop {
            let remaining = self.deadline.map(Deadline::remaining);
            if remaining.is_some_and(|time| time.is_zero()) {
                let after = self.patience.time.unwrap_or_default();
                return Err(CallError::Deadline { method: self.method.to_owned(), after });
            }
            let slice = match (remaining, progress.starts_after()) {
                (Some(time), Some(start)) => Some(time.min(start)),
                (time, start) => time.or(start),
            };
            let mut fds = [PollFd::new(stream, flags)];
            if poll::wait(&mut fds, slice).map_err(|error| self.io(error))? > 0 {
                return Ok(());
            }
            progress.waited(slice.unwrap_or_default());
        }
    }

    fn io(&self, source: io::Error) -> CallError {
        let method = self.method.to_owned();
        match source.kind() {
            io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => CallError::Closed { method },
            _ => CallError::Io { method, source: Arc::new(source) },
        }
    }

    fn closed(&self) -> CallError {
        CallError::Closed { method: self.method.to_owned() }
    }

    fn protocol(&self, detail: String) -> CallError {
        CallError::Protocol { method: self.method.to_owned(), detail }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};

    use serde_json::json;

    use super::*;

    /// A node that answers one request with `answer`, where `ID` stands for the request's id.
    fn check(answer: &str, expected: &str) {
        let (ours, theirs) = edgeplane_os::sock::pair().unwrap();
        let answer = answer.to_owned();
        let server = std::thread::spawn(move || {
            let mut line = String::new();
            BufReader::new(&theirs).read_line(&mut line).unwrap();
            let Ok(Incoming::Request { id: Id::Number(id), .. }) = rpc::parse_line(line.trim().as_bytes())
            else {
                panic!("{line}")
            };
            (&theirs).write_all(answer.replace("ID", &id.to_string()).as_bytes()).unwrap();
        });
        let mut node = Node::over(ours, false).unwrap();
        let patience = Patience::within(Duration::from_secs(20));
        let found = match node.call("runtime/agent.get", json!({}), patience) {
            Ok(raw) => format!("{} held {}", raw.get(), node.held.len()),
            Err(error) => error.to_string(),
        };
        assert!(found.contains(expected), "{found}");
        server.join().unwrap();
    }

    #[test]
    fn answer_is_found_among_other_lines() {
        check("{\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{\"a\":1}}\n", "{\"a\":1} held 0");
        let others =
            "{\"jsonrpc\":\"2.0\",\"method\":\"x/y\"}\n{\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{}}\n";
        check(&format!("{others}{{\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{{}}}}\n"), "{} held 1");
        check("{\"jsonrpc\":\"2.0\",\"id\":ID,\"error\":{\"code\":1,\"message\":\"no such\"}}\n", "no such");
    }

    #[test]
    fn end_and_garbage_are_told_apart() {
        check("", "ended before it answered runtime/agent.get");
        check("{\"jsonrpc\":\"2.0\",\"id\":ID,\"res", "ended before it answered");
        check("hello\n", "no protocol is spoken");
        check("{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":1,\"message\":\"what\"}}\n", "what");
    }

    #[test]
    fn hung_node_is_not_waited_for_beyond_the_deadline() {
        let (ours, _theirs) = edgeplane_os::sock::pair().unwrap();
        let mut node = Node::over(ours, false).unwrap();
        let error =
            node.call("core/health", json!({}), Patience::within(Duration::from_millis(20))).unwrap_err();
        assert_eq!(error.name(), ErrorName::DeadlineExceeded);
        assert_eq!(node.next_notification(Some(Duration::from_millis(5))).unwrap(), None);
    }
}

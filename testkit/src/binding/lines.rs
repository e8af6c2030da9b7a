//! Over a socket, a WebSocket or standard streams: messages follow one another both ways.

use std::{
    io::{BufReader, Write as _},
    net::TcpStream,
    os::unix::net::UnixStream,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::Duration,
};

use edgeplane_types::ErrorName;
use edgeplane_wire::rpc::{self, Id, Incoming, RpcError};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::{ClientRequestBuilder, Message, WebSocket, client};

use super::{Access, Binding, Subscription};
use crate::Notification;

/// How long an answer may take.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(60);

/// Messages both ways.
trait Lines: Send {
    fn send(&mut self, message: &str) -> Option<()>;
    fn read(&mut self) -> Option<Vec<u8>>;
}

type Begin = fn(&Access) -> Box<dyn Lines>;

/// A way whose conversations have messages in order.
pub(super) struct InOrder {
    name: &'static str,
    access: Access,
    begin: Begin,
    talk: Talk,
}

pub(super) fn unix(access: &Access) -> InOrder {
    in_order("unix", access, |access| {
        let mut unix = Unix::open(access);
        let params = json!({ "token": access.token });
        let line = rpc::request(&Id::Number(0), "core/initialize", params);
        unix.writer.write_all(&line).expect("the node hears");
        let greeting = unix.read().expect("the node answers");
        let greeted = matches!(rpc::parse_line(&greeting), Ok(Incoming::Response { outcome: Ok(_), .. }));
        assert!(greeted, "{}", String::from_utf8_lossy(&greeting));
        Box::new(unix)
    })
}

pub(super) fn socket(access: &Access) -> InOrder {
    in_order("ws", access, |access| Box::new(Socket(open_socket(access))))
}

pub(super) fn stdio(access: &Access) -> InOrder {
    in_order("stdio", access, |access| Box::new(Stdin::start(access)))
}

fn in_order(name: &'static str, access: &Access, begin: Begin) -> InOrder {
    InOrder { name, access: access.clone(), begin, talk: Talk::new(begin(access)) }
}

impl Binding for InOrder {
    fn name(&self) -> &'static str {
        self.name
    }

    fn call(&mut self, method: &str, params: Value) -> Result<Value, RpcError> {
        self.talk.call(method, params)
    }

    fn subscribe(&mut self, params: Value) -> Result<Box<dyn Subscription>, RpcError> {
        let mut talk = Talk::new((self.begin)(&self.access));
        let answer = talk.call("stream/subscribe", params)?;
        Ok(Box::new(Subscribed { answer, talk }))
    }
}

struct Subscribed {
    answer: Value,
    talk: Talk,
}

impl Subscription for Subscribed {
    fn answer(&self) -> &Value {
        &self.answer
    }

    fn next(&mut self) -> Option<Notification> {
        if !self.talk.heard.is_empty() {
            return Some(self.talk.heard.remove(0));
        }
        match rpc::parse_line(&self.talk.lines.read()?) {
            Ok(Incoming::Notification { method, params }) => Some(Notification { method, params }),
            other => panic!("unexpected message: {other:?}"),
        }
    }
}

struct Talk {
    lines: Box<dyn Lines>,
    next: i64,
    heard: Vec<Notification>,
}

impl Talk {
    fn new(lines: Box<dyn Lines>) -> Self {
        Self { lines, next: 0, heard: Vec::new() }
    }

    fn call(&mut self, method: &str, params: Value) -> Result<Value, RpcError> {
        self.next += 1;
        let id = Id::Number(self.next);
        let line = String::from_utf8(rpc::request(&id, method, params)).expect("requests are text");
        let broken = || RpcError::new(ErrorName::Unavailable, "the conversation broke");
        self.lines.send(line.trim_end()).ok_or_else(broken)?;
        loop {
            match rpc::parse_line(&self.lines.read().ok_or_else(broken)?) {
                Ok(Incoming::Response { id: of, outcome }) if of == id => {
                    return Ok(serde_json::from_str(outcome?.get()).expect("a result is JSON"));
                }
                Ok(Incoming::Notification { method, params }) => {
                    self.heard.push(Notification { method, params });
                }
                other => panic!("unexpected message: {other:?}"),
            }
        }
    }
}

struct Unix {
    writer: UnixStream,
    reader: BufReader<UnixStream>,
}

impl Unix {
    fn open(access: &Access) -> Self {
        let writer = edgeplane_os::sock::connect(&access.socket).expect("the node listens");
        writer.set_nonblocking(false).expect("a socket that waits");
        writer.set_read_timeout(Some(ANSWER_TIME_MAX)).expect("a socket that does not wait for ever");
        let reader = BufReader::new(writer.try_clone().expect("another end"));
        Self { writer, reader }
    }
}

impl Lines for Unix {
    fn send(&mut self, message: &str) -> Option<()> {
        self.writer.write_all(format!("{message}\n").as_bytes()).ok()
    }

    fn read(&mut self) -> Option<Vec<u8>> {
        read_line(&mut self.reader)
    }
}

fn read_line(reader: &mut impl std::io::BufRead) -> Option<Vec<u8>> {
    let mut line = Vec::new();
    reader.read_until(b'\n', &mut line).ok()?;
    (!line.is_empty()).then_some(line)
}

/// A WebSocket as a test wants it.
///
/// # Panics
/// If the node does not take it.
#[must_use]
pub fn open_socket(access: &Access) -> WebSocket<TcpStream> {
    let stream = TcpStream::connect(&access.address).expect("the node listens");
    stream.set_read_timeout(Some(ANSWER_TIME_MAX)).expect("a stream that does not wait for ever");
    let address = format!("ws://{}/v1/ws", access.address).parse().expect("an address");
    let request =
        ClientRequestBuilder::new(address).with_header("Authorization", format!("Bearer {}", access.token));
    client(request, stream).unwrap_or_else(|error| panic!("no WebSocket: {error}")).0
}

struct Socket(WebSocket<TcpStream>);

impl Lines for Socket {
    fn send(&mut self, message: &str) -> Option<()> {
        self.0.send(Message::text(message)).ok()
    }

    fn read(&mut self) -> Option<Vec<u8>> {
        loop {
            match self.0.read().ok()? {
                Message::Text(text) => return Some(text.as_bytes().to_vec()),
                Message::Ping(_) | Message::Pong(_) => {}
                _ => return None,
            }
        }
    }
}

struct Stdin {
    child: Child,
    writer: Option<ChildStdin>,
    reader: BufReader<ChildStdout>,
}

impl Stdin {
    fn start(access: &Access) -> Self {
        let mut command = Command::new(&access.cli);
        command.arg("stdio").arg("--socket").arg(&access.socket);
        command.env("EDGEPLANE_TOKEN_FILE", &access.token_file);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the CLI starts");
        let reader = BufReader::new(child.stdout.take().expect("its output"));
        let writer = child.stdin.take();
        Self { child, writer, reader }
    }
}

impl Lines for Stdin {
    fn send(&mut self, message: &str) -> Option<()> {
        self.writer.as_mut()?.write_all(format!("{message}\n").as_bytes()).ok()
    }

    fn read(&mut self) -> Option<Vec<u8>> {
        read_line(&mut self.reader)
    }
}

impl Drop for Stdin {
    fn drop(&mut self) {
        // It ends with its input; one that does not is ended.
        drop(self.writer.take());
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

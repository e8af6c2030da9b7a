//! Over a socket, a WebSocket or standard streams: messages follow one another both ways.

use std::{
    collections::VecDeque,
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

/// Messages both ways. Nothing means that the conversation broke.
trait Lines: Send {
    fn send(&mut self, message: &str) -> Option<()>;
    fn read(&mut self) -> Option<Vec<u8>>;
}

type Begin = fn(&Access) -> Option<Box<dyn Lines>>;

/// A way whose conversations have messages in order.
pub(super) struct InOrder {
    name: &'static str,
    access: Access,
    begin: Begin,
    talk: Talk,
}

pub(super) fn unix(access: &Access) -> InOrder {
    InOrder::new("unix", access, Unix::bearer)
}

pub(super) fn socket(access: &Access) -> InOrder {
    InOrder::new("ws", access, Socket::open)
}

pub(super) fn stdio(access: &Access) -> InOrder {
    InOrder::new("stdio", access, |access| Stdin::start(access, Stdio::inherit()))
}

impl InOrder {
    fn new(name: &'static str, access: &Access, begin: Begin) -> Self {
        let talk = Talk::begin(access, begin).expect("the node listens");
        Self { name, access: access.clone(), begin, talk }
    }
}

impl Binding for InOrder {
    fn name(&self) -> &'static str {
        self.name
    }

    fn call(&mut self, method: &str, params: Value) -> Result<Value, RpcError> {
        self.talk.call(method, params)
    }

    fn subscribe(&mut self, params: Value) -> Result<Box<dyn Subscription>, RpcError> {
        let mut talk = Talk::begin(&self.access, self.begin).expect("the node listens");
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
        self.talk.notification().ok()
    }
}

/// A conversation that may break, because its node may die.
pub struct Talk {
    lines: Box<dyn Lines>,
    next: i64,
    heard: VecDeque<Notification>,
}

impl Talk {
    /// Over a WebSocket; nothing if nobody is there.
    #[must_use]
    pub fn over_socket(access: &Access) -> Option<Self> {
        Self::begin(access, Socket::open)
    }

    /// Over standard streams; nothing if it breaks at once. What its program complains of is not shown.
    #[must_use]
    pub fn over_stdio(access: &Access) -> Option<Self> {
        Self::begin(access, |access| Stdin::start(access, Stdio::null()))
    }

    fn begin(access: &Access, begin: Begin) -> Option<Self> {
        begin(access).map(|lines| Self { lines, next: 0, heard: VecDeque::new() })
    }

    /// Calls a method.
    ///
    /// # Errors
    /// What the node answers, or `unavailable` if the conversation broke.
    ///
    /// # Panics
    /// If the node says what nobody asked for.
    pub fn call(&mut self, method: &str, params: Value) -> Result<Value, RpcError> {
        self.next += 1;
        let id = Id::Number(self.next);
        let line = String::from_utf8(rpc::request(&id, method, params)).expect("requests are text");
        self.lines.send(line.trim_end()).ok_or_else(broken)?;
        loop {
            match rpc::parse_line(&self.lines.read().ok_or_else(broken)?) {
                Ok(Incoming::Response { id: of, outcome }) if of == id => {
                    return Ok(serde_json::from_str(outcome?.get()).expect("a result is JSON"));
                }
                Ok(Incoming::Notification { method, params }) => {
                    self.heard.push_back(Notification { method, params });
                }
                other => panic!("unexpected message: {other:?}"),
            }
        }
    }

    /// The next notification, heard already or not.
    ///
    /// # Errors
    /// `unavailable` if the conversation broke.
    ///
    /// # Panics
    /// If the node says what nobody asked for.
    pub fn notification(&mut self) -> Result<Notification, RpcError> {
        if let Some(heard) = self.heard.pop_front() {
            return Ok(heard);
        }
        match rpc::parse_line(&self.lines.read().ok_or_else(broken)?) {
            Ok(Incoming::Notification { method, params }) => Ok(Notification { method, params }),
            other => panic!("unexpected message: {other:?}"),
        }
    }
}

impl std::fmt::Debug for Talk {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Talk").field("next", &self.next).finish_non_exhaustive()
    }
}

fn broken() -> RpcError {
    RpcError::new(ErrorName::Unavailable, "the conversation broke")
}

struct Unix {
    writer: UnixStream,
    reader: BufReader<UnixStream>,
}

impl Unix {
    /// A conversation in which a token was shown.
    fn bearer(access: &Access) -> Option<Box<dyn Lines>> {
        let writer = edgeplane_os::sock::connect(&access.socket).ok()?;
        writer.set_nonblocking(false).ok()?;
        writer.set_read_timeout(Some(ANSWER_TIME_MAX)).ok()?;
        let reader = BufReader::new(writer.try_clone().ok()?);
        let mut unix = Self { writer, reader };
        let params = json!({ "token": access.token });
        unix.writer.write_all(&rpc::request(&Id::Number(0), "core/initialize", params)).ok()?;
        let greeting = unix.read()?;
        let greeted = matches!(rpc::parse_line(&greeting), Ok(Incoming::Response { outcome: Ok(_), .. }));
        assert!(greeted, "{}", String::from_utf8_lossy(&greeting));
        Some(Box::new(unix))
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
    // What ends without its end is a line of somebody who died while it was written.
    line.ends_with(b"\n").then_some(line)
}

/// A WebSocket as a test wants it.
///
/// # Panics
/// If the node does not take it.
#[must_use]
pub fn open_socket(access: &Access) -> WebSocket<TcpStream> {
    try_open_socket(access).unwrap_or_else(|error| panic!("no WebSocket: {error}"))
}

fn try_open_socket(access: &Access) -> Result<WebSocket<TcpStream>, Box<dyn std::error::Error>> {
    let stream = TcpStream::connect(&access.address)?;
    stream.set_read_timeout(Some(ANSWER_TIME_MAX))?;
    let address = format!("ws://{}/v1/ws", access.address).parse()?;
    let request =
        ClientRequestBuilder::new(address).with_header("Authorization", format!("Bearer {}", access.token));
    client(request, stream).map(|(socket, _)| socket).map_err(|error| error.to_string().into())
}

struct Socket(WebSocket<TcpStream>);

impl Socket {
    fn open(access: &Access) -> Option<Box<dyn Lines>> {
        let socket = try_open_socket(access).ok()?;
        Some(Box::new(Self(socket)))
    }
}

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
    fn start(access: &Access, complaints: Stdio) -> Option<Box<dyn Lines>> {
        let mut command = Command::new(&access.cli);
        command.arg("stdio").arg("--socket").arg(&access.socket);
        command.env("EDGEPLANE_TOKEN_FILE", &access.token_file);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(complaints);
        let mut child = command.spawn().expect("the CLI starts");
        let reader = BufReader::new(child.stdout.take().expect("its output"));
        let writer = child.stdin.take();
        Some(Box::new(Self { child, writer, reader }))
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

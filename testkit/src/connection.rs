//! A blocking conversation with a node, one call at a time.

use std::{
    collections::VecDeque,
    io::{BufRead as _, BufReader, Write as _},
    os::unix::net::UnixStream,
    path::Path,
    time::Duration,
};

use edgeplane_wire::{
    catalogue::Call,
    rpc::{self, Id, Incoming, RpcError},
};
use serde_json::Value;

/// How long an answer may take.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(60);

/// What a node said without being asked.
#[derive(Debug, Clone)]
pub struct Notification {
    /// Its method.
    pub method: String,
    /// Its parameters.
    pub params: Value,
}

/// A conversation.
#[derive(Debug)]
pub struct Connection {
    writer: UnixStream,
    reader: BufReader<UnixStream>,
    next: i64,
    heard: VecDeque<Notification>,
}

impl Connection {
    /// Connects to a socket.
    ///
    /// # Errors
    /// If nobody listens.
    pub fn open(path: &Path) -> std::io::Result<Self> {
        let writer = edgeplane_os::sock::connect(path).map_err(std::io::Error::other)?;
        writer.set_nonblocking(false)?;
        writer.set_read_timeout(Some(ANSWER_TIME_MAX))?;
        let reader = BufReader::new(writer.try_clone()?);
        Ok(Self { writer, reader, next: 0, heard: VecDeque::new() })
    }

    /// Calls a method and gives its answer.
    ///
    /// # Errors
    /// What the node answers, or `unavailable` if the conversation broke.
    pub fn try_call<C: Call>(&mut self, params: &C::Params) -> Result<C::Result, RpcError> {
        let value = serde_json::to_value(params).expect("parameters are JSON");
        let result = self.try_raw(C::NAME, value)?;
        Ok(serde_json::from_value(result).unwrap_or_else(|error| panic!("result of {}: {error}", C::NAME)))
    }

    /// Calls a method that must succeed.
    ///
    /// # Panics
    /// If it does not.
    pub fn call<C: Call>(&mut self, params: &C::Params) -> C::Result {
        self.try_call::<C>(params).unwrap_or_else(|error| panic!("{}: {error} ({:?})", C::NAME, error.data))
    }

    /// Calls any method with any parameters.
    ///
    /// # Errors
    /// What the node answers, or `unavailable` if the conversation broke.
    pub fn try_raw(&mut self, method: &str, params: Value) -> Result<Value, RpcError> {
        self.next += 1;
        let id = Id::Number(self.next);
        self.send(&rpc::request(&id, method, params))?;
        loop {
            match self.read()? {
                Incoming::Response { id: of, outcome } if of == id => {
                    let raw = outcome?;
                    return Ok(serde_json::from_str(raw.get()).expect("a result is JSON"));
                }
                Incoming::Notification { method, params } => {
                    self.heard.push_back(Notification { method, params })
                }
                other => panic!("unexpected line: {other:?}"),
            }
        }
    }

    /// Calls a capability, and holds what it answers to what the record says of the call, if that is over.
    ///
    /// # Errors
    /// What the node answers.
    ///
    /// # Panics
    /// If the record says anything else.
    pub fn invoke(&mut self, params: Value) -> Result<Value, RpcError> {
        let answer = self.try_raw("capability/invoke", params)?;
        if ["running", "waiting"].iter().all(|state| answer["status"] != *state) {
            let of = serde_json::json!({ "invocation_id": answer["invocation_id"] });
            assert_eq!(answer, self.try_raw("capability/invocation.get", of)?, "as the record has it");
        }
        Ok(answer)
    }

    /// Sends a notification.
    ///
    /// # Errors
    /// `unavailable` if the conversation broke.
    pub fn notify(&mut self, method: &str, params: &Value) -> Result<(), RpcError> {
        self.send(&rpc::notification(method, params))
    }

    /// Sends bytes as they are.
    ///
    /// # Errors
    /// `unavailable` if the conversation broke.
    pub fn send(&mut self, line: &[u8]) -> Result<(), RpcError> {
        self.writer.write_all(line).map_err(|error| broken(&error))
    }

    /// The next line.
    ///
    /// # Errors
    /// `unavailable` if the conversation broke.
    pub fn read(&mut self) -> Result<Incoming, RpcError> {
        let mut line = Vec::new();
        match self.reader.read_until(b'\n', &mut line) {
            Ok(0) => Err(broken(&std::io::ErrorKind::UnexpectedEof.into())),
            Ok(_) => rpc::parse_line(&line),
            Err(error) => Err(broken(&error)),
        }
    }

    /// The next notification, heard already or not.
    ///
    /// # Errors
    /// `unavailable` if the conversation broke.
    pub fn notification(&mut self) -> Result<Notification, RpcError> {
        if let Some(heard) = self.heard.pop_front() {
            return Ok(heard);
        }
        loop {
            if let Incoming::Notification { method, params } = self.read()? {
                return Ok(Notification { method, params });
            }
        }
    }

    /// The socket itself.
    #[must_use]
    pub fn socket(&self) -> &UnixStream {
        &self.writer
    }
}

fn broken(error: &std::io::Error) -> RpcError {
    RpcError::new(edgeplane_types::ErrorName::Unavailable, format!("the conversation broke: {error}"))
}

//! The lines that a program is sent.

use edgeplane_types::{MessageId, Traceparent};
use edgeplane_wire::rpc;
use serde_json::{Value, json};

use super::hear::{Asked, RequestId};

/// The version of the protocol that is spoken here.
pub(super) const VERSION: u64 = 1;

/// Why a program's request is not done, with the numbers of JSON-RPC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// No such method here.
    NoMethod,
    /// Its parameters cannot be used.
    Params,
    /// What it names is not there, or not for it.
    NotFound,
    /// It could not be done.
    Internal,
}

impl Reason {
    const fn code(self) -> i64 {
        match self {
            Self::NoMethod => -32_601,
            Self::Params => -32_602,
            Self::NotFound => -32_002,
            Self::Internal => -32_603,
        }
    }
}

/// A server of tools that a session is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum McpServer {
    /// A program that is started by the agent's.
    Stdio {
        /// The name in the session.
        name: String,
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Its variables.
        env: Vec<(String, String)>,
    },
    /// A server behind an address.
    Http {
        /// The name in the session.
        name: String,
        /// Its address.
        url: String,
        /// What is sent with each request.
        headers: Vec<(String, String)>,
    },
}

impl McpServer {
    fn value(&self) -> Value {
        let pairs = |pairs: &[(String, String)]| -> Vec<Value> {
            pairs.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect()
        };
        match self {
            Self::Stdio { name, command, args, env } => {
                json!({ "name": name, "command": command, "args": args, "env": pairs(env) })
            }
            Self::Http { name, url, headers } => {
                json!({ "type": "http", "name": name, "url": url, "headers": pairs(headers) })
            }
        }
    }
}

fn ask(asked: Asked, method: &str, params: Value) -> Vec<u8> {
    rpc::request(&rpc::Id::Text(asked.id()), method, params)
}

pub(super) fn initialize(files: bool, commands: bool) -> Vec<u8> {
    let params = json!({
        "protocolVersion": VERSION,
        "clientCapabilities": {
            "fs": { "readTextFile": files, "writeTextFile": files },
            "terminal": commands,
        },
        "clientInfo": { "name": "edgeplane", "title": "EdgePlane", "version": env!("CARGO_PKG_VERSION") },
    });
    ask(Asked::Initialize, "initialize", params)
}

pub(super) fn authenticate(method_id: &str) -> Vec<u8> {
    ask(Asked::Authenticate, "authenticate", json!({ "methodId": method_id }))
}

pub(super) fn new_session(cwd: &str, servers: &[McpServer]) -> Vec<u8> {
    ask(Asked::New, "session/new", json!({ "cwd": cwd, "mcpServers": values(servers) }))
}

pub(super) fn former_session(asked: Asked, session: &str, cwd: &str, servers: &[McpServer]) -> Vec<u8> {
    let method = if asked == Asked::Resume { "session/resume" } else { "session/load" };
    ask(asked, method, json!({ "sessionId": session, "cwd": cwd, "mcpServers": values(servers) }))
}

fn values(servers: &[McpServer]) -> Vec<Value> {
    servers.iter().map(McpServer::value).collect()
}

pub(super) fn set_mode(session: &str, mode: &str) -> Vec<u8> {
    ask(Asked::Mode, "session/set_mode", json!({ "sessionId": session, "modeId": mode }))
}

pub(super) fn set_model(session: &str, model: &str) -> Vec<u8> {
    ask(Asked::Model, "session/set_model", json!({ "sessionId": session, "modelId": model }))
}

pub(super) fn set_option(asked: Asked, session: &str, option: &str, value: &str) -> Vec<u8> {
    let params = json!({ "sessionId": session, "configId": option, "value": value });
    ask(asked, "session/set_config_option", params)
}

/// Begins the turn of a message. Each text is a block of its own.
#[must_use]
pub fn prompt(session: &str, message_id: MessageId, texts: &[&str]) -> Vec<u8> {
    traced_prompt(session, message_id, texts, None)
}

/// Begins a turn that belongs to a trace, which the program is told as the protocol's extension has it.
#[must_use]
pub fn traced_prompt(
    session: &str,
    message_id: MessageId,
    texts: &[&str],
    trace: Option<Traceparent>,
) -> Vec<u8> {
    let blocks: Vec<Value> = texts.iter().map(|text| json!({ "type": "text", "text": text })).collect();
    let mut params = json!({ "sessionId": session, "prompt": blocks });
    if let (Some(trace), Some(fields)) = (trace, params.as_object_mut()) {
        fields.insert("_meta".to_owned(), json!({ "traceparent": trace }));
    }
    ask(Asked::Prompt(message_id), "session/prompt", params)
}

/// Asks for the end of the running turn. Its own answer tells when it is over.
#[must_use]
pub fn cancel(session: &str) -> Vec<u8> {
    rpc::notification("session/cancel", json!({ "sessionId": session }))
}

/// Asks for the end of the session; the answer tells that the program has kept what it keeps.
#[must_use]
pub fn close(session: &str) -> Vec<u8> {
    ask(Asked::Close, "session/close", json!({ "sessionId": session }))
}

/// Answers a question for leave with one of the answers that it offered.
#[must_use]
pub fn permission_selected(id: &RequestId, option_id: &str) -> Vec<u8> {
    succeeded(id, &json!({ "outcome": { "outcome": "selected", "optionId": option_id } }))
}

/// Answers a question for leave with none of its answers: its turn was cancelled, or it offers none that fits.
#[must_use]
pub fn permission_cancelled(id: &RequestId) -> Vec<u8> {
    succeeded(id, &json!({ "outcome": { "outcome": "cancelled" } }))
}

/// Answers a request with what it asked for.
#[must_use]
pub fn succeeded(id: &RequestId, result: &Value) -> Vec<u8> {
    line(&json!({ "jsonrpc": "2.0", "id": id.0, "result": result }))
}

/// Answers a request with why it is not done.
#[must_use]
pub fn failed(id: &RequestId, reason: Reason, text: &str) -> Vec<u8> {
    line(&json!({ "jsonrpc": "2.0", "id": id.0, "error": { "code": reason.code(), "message": text } }))
}

fn line(value: &Value) -> Vec<u8> {
    let mut line = value.to_string().into_bytes();
    line.push(b'\n');
    line
}

//! What runner and node say to each other: the Agent Client Protocol, and two notifications of our own.

use edgeplane_types::Traceparent;
use serde::Deserialize;
use serde_json::{Value, json};

use super::read::{Piece, TurnEnd, usage_value};
use crate::acp::ITEM_BYTES_MAX;

/// How many bytes at the beginning of a line tell whether it is one of our own.
const BEGINNING_BYTES: usize = 64;

/// What runner and node call the one session that there is between them. What the program calls its own is said
/// separately, since it is known only after a first turn.
pub const SESSION: &str = "exec";

/// What the methods of our own begin with.
const OURS: &[u8] = b"\"_edgeplane/";

/// The notification that says what the program calls its session.
const SESSION_IS: &str = "_edgeplane/session";

/// The notification that says something about a turn.
const REPORT: &str = "_edgeplane/report";

/// How a turn came to its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// It is new.
    New,
    /// It is a former one.
    Former,
}

/// What the node asks its runner.
#[derive(Debug, Clone, PartialEq)]
pub enum Asked {
    /// A turn.
    Prompt {
        /// To be given back.
        id: Value,
        /// The program's name of the session that goes on; none for a new one.
        former: Option<String>,
        /// The texts, the message's own last. Those before are for a new session.
        texts: Vec<String>,
        /// The trace that the turn belongs to.
        trace: Option<Traceparent>,
    },
    /// The end of the running turn.
    Cancel,
    /// Something else.
    Unknown {
        /// To be given back, if it waits for an answer.
        id: Option<Value>,
    },
}

#[derive(Deserialize)]
struct Line {
    #[serde(default)]
    id: Option<Value>,
    #[serde(default)]
    method: String,
    #[serde(default)]
    params: Value,
}

#[derive(Deserialize)]
struct PromptParams {
    #[serde(default, rename = "sessionId")]
    former: String,
    prompt: Vec<Block>,
    #[serde(default, rename = "_meta")]
    meta: Meta,
}

#[derive(Default, Deserialize)]
struct Meta {
    #[serde(default)]
    traceparent: Option<Traceparent>,
}

#[derive(Deserialize)]
struct Block {
    text: String,
}

/// Reads a line of the node.
#[must_use]
pub fn asked(line: &[u8]) -> Asked {
    let Ok(Line { id, method, params }) = serde_json::from_slice::<Line>(line) else {
        return Asked::Unknown { id: None };
    };
    match (method.as_str(), id) {
        ("session/prompt", Some(id)) => match serde_json::from_value::<PromptParams>(params) {
            Ok(params) => Asked::Prompt {
                id,
                former: Some(params.former).filter(|former| !former.is_empty()),
                texts: params.prompt.into_iter().map(|block| block.text).collect(),
                trace: params.meta.traceparent,
            },
            Err(_) => Asked::Unknown { id: Some(id) },
        },
        ("session/cancel", _) => Asked::Cancel,
        (_, id) => Asked::Unknown { id },
    }
}

/// Says what the program calls its session, and why a former one is not gone on with if that is so.
#[must_use]
pub fn session_is(name: &str, way: Way, lost: Option<&str>) -> Vec<u8> {
    notify(SESSION_IS, &json!({ "session": name, "way": way, "lost": lost }))
}

/// Says something about the running turn.
#[must_use]
pub fn report(kind: &str, text: &str) -> Vec<u8> {
    notify(REPORT, &json!({ "kind": kind, "text": text }))
}

/// Says a piece of a turn; nothing for what is none.
#[must_use]
pub fn piece(piece: &Piece) -> Option<Vec<u8>> {
    let text = |kind: &str, text: &str| json!({ "sessionUpdate": kind, "content": { "type": "text", "text": text } });
    let update = match piece {
        Piece::Text(said) => text("agent_message_chunk", said),
        Piece::Thought(said) => text("agent_thought_chunk", said),
        Piece::Tool { call, status, value } => {
            let bytes = value.to_string().len();
            let value = if bytes > ITEM_BYTES_MAX { json!({ "tooLarge": bytes }) } else { value.clone() };
            json!({ "sessionUpdate": "tool_call", "toolCallId": call, "status": status, "rawOutput": value })
        }
        Piece::Note(said) => return Some(report("note", said)),
        Piece::Session(_) | Piece::Log(_) => return None,
    };
    Some(notify("session/update", &json!({ "sessionId": SESSION, "update": update })))
}

/// Answers a prompt: its turn is over, for this reason.
#[must_use]
pub fn answered(id: &Value, reason: &str, result: &TurnEnd) -> Vec<u8> {
    let mut value = json!({ "stopReason": reason });
    if let Value::Object(fields) = &mut value {
        if let Some(answer) = &result.answer {
            fields.insert("answer".to_owned(), json!(answer));
        }
        if let Some(usage) = &result.usage {
            fields.insert("usage".to_owned(), usage_value(usage));
        }
    }
    line(&json!({ "jsonrpc": "2.0", "id": id, "result": value }))
}

/// Answers a request with why it is not done, or its turn failed.
#[must_use]
pub fn failed(id: &Value, code: i64, text: &str) -> Vec<u8> {
    line(&json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": text } }))
}

fn notify(method: &str, params: &Value) -> Vec<u8> {
    line(&json!({ "jsonrpc": "2.0", "method": method, "params": params }))
}

fn line(value: &Value) -> Vec<u8> {
    let mut line = value.to_string().into_bytes();
    line.push(b'\n');
    line
}

/// A line of a runner that the Agent Client Protocol does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told {
    /// What its program calls its session.
    Session {
        /// The name.
        name: String,
        /// How the turn came to it.
        way: Way,
        /// Why a former one is not gone on with.
        lost: Option<String>,
    },
    /// Something about the running turn.
    Report {
        /// Of which kind.
        kind: String,
        /// What.
        text: String,
    },
}

#[derive(Deserialize)]
struct SessionParams {
    session: String,
    way: Way,
    #[serde(default)]
    lost: Option<String>,
}

#[derive(Deserialize)]
struct ReportParams {
    kind: String,
    text: String,
}

/// Reads a line of a runner, if it is one that the Agent Client Protocol does not have.
#[must_use]
pub fn told(line: &[u8]) -> Option<Told> {
    // Most lines are others, and some of them are long.
    let beginning = line.get(..BEGINNING_BYTES.min(line.len())).unwrap_or_default();
    if !beginning.windows(OURS.len()).any(|found| found == OURS) {
        return None;
    }
    let Line { id: None, method, params } = serde_json::from_slice::<Line>(line).ok()? else { return None };
    match method.as_str() {
        SESSION_IS => {
            let SessionParams { session, way, lost } = serde_json::from_value(params).ok()?;
            let lost = lost.map(|why| crate::render::clean(&why).replace('\n', " "));
            Some(Told::Session { name: crate::render::clean(&session), way, lost })
        }
        REPORT => {
            let ReportParams { kind, text } = serde_json::from_value(params).ok()?;
            Some(Told::Report { kind, text })
        }
        _ => None,
    }
}

//! The lines of an attachment, read and written without detours.
//!
//! Owns the quick way for the two kinds of line that matter to the hand: keys out, output in. Everything else takes the
//! ordinary way through `wire::rpc`. What is typed by hand goes without asking for an answer; more than a hand can type
//! waits for one, so that a node that is busy loses nothing of it.

use std::borrow::Cow;

use base64::{Engine, engine::general_purpose::STANDARD};
use edgeplane_wire::{
    api::{
        stream::StreamState,
        terminal::{AttachParams, DetachParams, RecordingParams, ResizeParams, WriteParams},
    },
    catalogue::{AgentAttach, AgentDetach, AgentResize, AgentWrite, Call, RecordingRead},
    rpc::{self, Id, Incoming, RpcError},
};
use serde::Deserialize;
use serde_json::value::RawValue;

/// A line from the node, as far as an attachment cares.
#[derive(Debug)]
pub(super) enum Line {
    /// Bytes to play.
    Output {
        /// Where they stand in the output; for a whole screen, where the output goes on.
        offset: u64,
        bytes: Vec<u8>,
        is_whole_screen: bool,
    },
    /// The state of the attachment.
    State(StreamState),
    /// The answer to a request, by its number.
    Answer(i64, Result<Box<RawValue>, RpcError>),
    /// Something else.
    Other,
}

#[derive(Deserialize)]
struct Raw<'a> {
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Output<'a> {
    #[serde(borrow)]
    attachment: Cow<'a, str>,
    offset: u64,
    #[serde(borrow)]
    data: Cow<'a, str>,
    #[serde(default)]
    resynchronised: bool,
}

/// Reads a line of the attachment `id`.
pub(super) fn read(line: &[u8], id: &str) -> anyhow::Result<Line> {
    let raw: Raw<'_> = serde_json::from_slice(line)?;
    let (Some(method), Some(params)) = (raw.method, raw.params) else { return Ok(answer(line)) };
    match &*method {
        "attach/output" => {
            let output: Output<'_> = serde_json::from_str(params.get())?;
            if output.attachment != id {
                return Ok(Line::Other);
            }
            Ok(Line::Output {
                offset: output.offset,
                bytes: STANDARD.decode(output.data.as_bytes())?,
                is_whole_screen: output.resynchronised,
            })
        }
        "stream/state" => {
            let state: StreamState = serde_json::from_str(params.get())?;
            Ok(if state.id == id { Line::State(state) } else { Line::Other })
        }
        _ => Ok(Line::Other),
    }
}

fn answer(line: &[u8]) -> Line {
    match rpc::parse_line(line) {
        Ok(Incoming::Response { id: Id::Number(id), outcome }) => Line::Answer(id, outcome),
        _ => Line::Other,
    }
}

/// Many keys at once, as a request.
pub(super) fn paste(request: i64, id: &str, bytes: &[u8]) -> Vec<u8> {
    let params = WriteParams { attachment: id.to_owned(), data: STANDARD.encode(bytes) };
    rpc::request(&Id::Number(request), AgentWrite::NAME, params)
}

/// A new attachment, as a request.
pub(super) fn attach(request: i64, params: &AttachParams) -> Vec<u8> {
    rpc::request(&Id::Number(request), AgentAttach::NAME, params)
}

/// A piece of an epoch's recording, as a request.
pub(super) fn recording(request: i64, params: &RecordingParams) -> Vec<u8> {
    rpc::request(&Id::Number(request), RecordingRead::NAME, params)
}

/// The end of the attachment, as a request.
pub(super) fn leave(request: i64, id: &str) -> Vec<u8> {
    rpc::request(&Id::Number(request), AgentDetach::NAME, DetachParams { attachment: id.to_owned() })
}

/// Keys, as a line that asks for no answer: what goes wrong with them shows on the screen.
pub(super) fn keys(id: &str, bytes: &[u8]) -> Vec<u8> {
    rpc::notification(
        AgentWrite::NAME,
        WriteParams { attachment: id.to_owned(), data: STANDARD.encode(bytes) },
    )
}

/// A size, as a line that asks for no answer.
pub(super) fn size(id: &str, (cols, rows): (u16, u16)) -> Vec<u8> {
    rpc::notification(AgentResize::NAME, ResizeParams { attachment: id.to_owned(), cols, rows })
}

#[cfg(test)]
mod tests {
    use edgeplane_wire::{api::terminal::AttachOutput, rpc::Incoming};

    use super::*;

    #[test]
    fn output_of_this_attachment_is_read() {
        let output = |id: &str, data: &str| AttachOutput {
            attachment: id.to_owned(),
            offset: 7,
            data: data.to_owned(),
            resynchronised: false,
        };
        let line = |output: AttachOutput| rpc::notification("attach/output", output);
        match read(&line(output("a", "aGk=")), "a").unwrap() {
            Line::Output { offset: 7, bytes, is_whole_screen: false } => assert_eq!(bytes, b"hi"),
            other => panic!("{other:?}"),
        }
        assert!(matches!(read(&line(output("b", "aGk=")), "a"), Ok(Line::Other)));
        assert!(read(&line(output("a", "!")), "a").is_err());
        assert!(matches!(read(&rpc::success(&Id::Number(1), 7), "a"), Ok(Line::Answer(1, Ok(_)))));
        assert!(read(b"hello", "a").is_err());
    }

    #[test]
    fn keys_are_a_notification() {
        let line = keys("a", b"\x1b[A");
        match rpc::parse_line(line.trim_ascii_end()).unwrap() {
            Incoming::Notification { method, params } => {
                assert_eq!(method, "runtime/agent.write");
                assert_eq!(params, serde_json::json!({ "attachment": "a", "data": "G1tB" }));
            }
            other => panic!("{other:?}"),
        }
    }
}

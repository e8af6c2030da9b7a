//! Answers that go on: events of a stream as server-sent events.
//!
//! Owns what an event is called and where a reader goes on after it. Each stream has a conversation of its own, which is
//! read only as fast as the peer reads: a slow one is the node's to pause, and nobody else's.

use std::{convert::Infallible, sync::LazyLock, time::Duration};

use axum::{body::Body, extract::State};
use bytes::Bytes;
use edgeplane_client::{CallError, LineError};
use edgeplane_types::ErrorName;
use edgeplane_wire::{
    api::stream::{DAEMON_ENDS, StreamState},
    catalogue::{self, Call as _, StreamSubscribe, opening::is_opening},
    rpc::{self, Id, LINE_BYTES_MAX, RpcError},
};
use http::{HeaderMap, HeaderValue, Request, Response, header, request::Parts};
use serde::Deserialize;
use serde_json::{Map, Value, value::RawValue};
use tokio::io::AsyncWriteExt as _;

use super::{Served, Shared, answer, context, credentials, query::Schema};
use crate::{
    bearer::Refusal,
    conversation::{Conversation, Credentials},
};

/// How long nothing is said before a peer, and everything between it and us, is shown that the stream lives.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// Bytes of events that are handed on together if they are there.
const CHUNK_BYTES: usize = 32 << 10;

/// Where a reader was when its connection ended.
const LAST_EVENT_ID: &str = "last-event-id";

/// The method that tells how a stream is.
const STATE: &str = "stream/state";

static SUBSCRIBE: LazyLock<Value> = LazyLock::new(|| {
    catalogue::find(StreamSubscribe::NAME).map_or(Value::Null, catalogue::Method::params_schema)
});

/// `GET /v1/stream`: a subscription, whose parameters stand in the address.
pub(super) async fn stream(State(served): State<Shared>, request: Request<Body>) -> Response<Body> {
    let parts = request.into_parts().0;
    let request_id = answer::request_id(&parts.headers);
    let response = match subscribe(&served, &parts).await {
        Ok(response) => response,
        Err(error) => answer::failed(&error),
    };
    answer::named(response, request_id)
}

async fn subscribe(served: &Served, request: &Parts) -> Result<Response<Body>, RpcError> {
    let refused = |refusal: Refusal| answer::of_refusal(&refusal);
    let credentials = credentials(request).map_err(refused)?;
    let mut conversation =
        Conversation::begin(&served.protocol.converse, &credentials).await.map_err(refused)?;
    let params = parameters(request)?;
    let start = params.get("cursor").or_else(|| params.get("after")).cloned();
    let params = context::put(Value::Object(params), context::read(&request.headers)?)?;
    let id = Id::Number(1);
    ask(&mut conversation, &id, StreamSubscribe::NAME, &params).await?;
    // A refusal has a status; whatever else comes first is an event.
    let first = match conversation.lines.next().await {
        Ok(Some(line)) => line.to_vec(),
        Ok(None) | Err(_) => return Err(gone(StreamSubscribe::NAME)),
    };
    if let Ok(Heard { error: Some(error), method: None, .. }) = serde_json::from_slice(&first) {
        let error: RpcError =
            serde_json::from_str(error.get()).map_err(|_not_ours| gone(StreamSubscribe::NAME))?;
        return Err(error);
    }
    let mut feed = Feed::new(conversation, id, StreamSubscribe::NAME, Shape::Stream { start });
    feed.first = Some(first);
    Ok(feed.into_response())
}

/// What a subscription is asked for with. Where the reader was counts more than what its address says, which is the same
/// each time it connects.
fn parameters(request: &Parts) -> Result<Map<String, Value>, RpcError> {
    let schema = Schema(&SUBSCRIBE);
    let mut params = schema.read(request.uri.query().unwrap_or_default())?;
    let Some(last) = last_event_id(&request.headers)? else { return Ok(params) };
    for other in ["from", "after", "cursor"] {
        params.remove(other);
    }
    if schema.property("cursor").is_some() {
        params.insert("cursor".to_owned(), Value::from(last));
    } else {
        let after: u64 = last.parse().map_err(|_no_number| {
            RpcError::new(ErrorName::InvalidParams, "Last-Event-ID is not one that this stream has given")
        })?;
        params.insert("after".to_owned(), Value::from(after));
    }
    Ok(params)
}

fn last_event_id(headers: &HeaderMap) -> Result<Option<&str>, RpcError> {
    let mut all = headers.get_all(LAST_EVENT_ID).iter();
    let invalid = || RpcError::new(ErrorName::InvalidRequest, "Last-Event-ID must be one text");
    match (all.next(), all.next()) {
        (None, _) => Ok(None),
        (Some(last), None) => {
            last.to_str().map(|last| Some(last).filter(|last| !last.is_empty())).map_err(|_binary| invalid())
        }
        (Some(_), Some(_)) => Err(invalid()),
    }
}

/// Makes a call whose answer is a stream of events: what belongs to it, and then its response.
pub(super) async fn call(
    served: &Served,
    credentials: &Credentials,
    (id, method, params): (Id, String, Value),
) -> Result<Response<Body>, RpcError> {
    let begun = Conversation::begin(&served.protocol.converse, credentials).await;
    let mut conversation = begun.map_err(|refusal| answer::of_refusal(&refusal))?;
    ask(&mut conversation, &id, &method, &params).await?;
    Ok(Feed::new(conversation, id, &method, Shape::Call).into_response())
}

async fn ask(conversation: &mut Conversation, id: &Id, method: &str, params: &Value) -> Result<(), RpcError> {
    let line = rpc::request(id, method, params);
    if line.len() > LINE_BYTES_MAX {
        let what = format!("a request of {} bytes, at most {LINE_BYTES_MAX} are taken", line.len());
        return Err(RpcError::new(ErrorName::TooLarge, what));
    }
    conversation.writer.write_all(&line).await.map_err(|_gone| gone(method))
}

fn gone(method: &str) -> RpcError {
    answer::of_call(CallError::Closed { method: method.to_owned() })
}

/// What a stream looks like.
enum Shape {
    /// A call of JSON-RPC, whose response is one of the events.
    Call,
    /// A subscription that began at some place, if that was said.
    Stream {
        /// The place.
        start: Option<Value>,
    },
}

/// A line of the node, sorted by which fields it has.
#[derive(Deserialize)]
struct Heard<'a> {
    #[serde(borrow)]
    method: Option<std::borrow::Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

/// Where an event stands, in itself or in what it carries.
#[derive(Deserialize)]
struct Marks<'a> {
    #[serde(borrow)]
    cursor: Option<&'a RawValue>,
    #[serde(borrow)]
    pos: Option<&'a RawValue>,
    #[serde(borrow)]
    event: Option<&'a RawValue>,
}

/// What the answer to an opening tells.
#[derive(Deserialize)]
struct Opened<'a> {
    #[serde(borrow, alias = "attachment")]
    subscription_id: Option<std::borrow::Cow<'a, str>>,
    #[serde(borrow)]
    cursor: Option<&'a RawValue>,
    #[serde(borrow)]
    head: Option<&'a RawValue>,
}

/// What goes out, event by event.
struct Feed {
    conversation: Conversation,
    id: Id,
    method: String,
    shape: Shape,
    /// A line that was read already.
    first: Option<Vec<u8>>,
    /// What the answer called the thing that goes on.
    opened: Option<String>,
    heartbeat: Duration,
    is_done: bool,
}

impl Feed {
    fn new(conversation: Conversation, id: Id, method: &str, shape: Shape) -> Self {
        let method = method.to_owned();
        Self {
            conversation,
            id,
            method,
            shape,
            first: None,
            opened: None,
            heartbeat: HEARTBEAT,
            is_done: false,
        }
    }

    fn into_response(self) -> Response<Body> {
        let events = futures_util::stream::unfold(self, |mut feed| async move {
            let chunk = feed.chunk().await?;
            Some((Ok::<Bytes, Infallible>(chunk), feed))
        });
        let mut response = Response::new(Body::from_stream(events));
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        // Some servers in between keep what goes on until they have much of it.
        headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
        response
    }

    /// The next events, those that are there together; nothing behind the last one.
    async fn chunk(&mut self) -> Option<Bytes> {
        let mut chunk = Vec::new();
        if let Some(first) = self.first.take() {
            self.event(&first, &mut chunk);
        }
        while !self.is_done && chunk.len() < CHUNK_BYTES {
            let wait = if chunk.is_empty() { self.heartbeat } else { Duration::ZERO };
            // What was read of a line when the time is over stays where it is.
            let heard = match tokio::time::timeout(wait, self.conversation.lines.next()).await {
                Ok(Ok(Some(line))) => Ok(line.to_vec()),
                Ok(Ok(None)) => Err(None),
                Ok(Err(error)) => Err(Some(error)),
                Err(_elapsed) if chunk.is_empty() => return Some(Bytes::from_static(b": alive\n\n")),
                Err(_elapsed) => break,
            };
            match heard {
                Ok(line) => self.event(&line, &mut chunk),
                Err(error) => self.broke(error, &mut chunk),
            }
        }
        (!chunk.is_empty()).then(|| chunk.into())
    }

    /// Writes a line of the node as an event.
    fn event(&mut self, line: &[u8], chunk: &mut Vec<u8>) {
        let heard = match serde_json::from_slice::<Heard<'_>>(line) {
            Ok(heard) => heard,
            Err(error) => {
                tracing::error!(%error, "a line of the node cannot be read");
                self.is_done = true;
                return;
            }
        };
        match (heard.method, heard.result, heard.error) {
            (Some(method), _, _) => {
                let params = heard.params.map_or("{}", RawValue::get);
                if method == STATE && is_end(params) {
                    self.is_done = true;
                }
                write(chunk, place(params).as_deref(), &method, params.as_bytes());
            }
            (None, Some(result), _) => self.answered(line, result, chunk),
            (None, None, error) => {
                self.is_done = true;
                match (&self.shape, error) {
                    (Shape::Stream { .. }, Some(error)) => {
                        write(chunk, None, "error", error.get().as_bytes())
                    }
                    _ => write(chunk, None, "response", line),
                }
            }
        }
    }

    fn answered(&mut self, line: &[u8], result: &RawValue, chunk: &mut Vec<u8>) {
        let opened: Option<Opened<'_>> = serde_json::from_str(result.get()).ok();
        self.opened = opened.as_ref().and_then(|opened| opened.subscription_id.as_deref()).map(str::to_owned);
        match &self.shape {
            Shape::Call => write(chunk, None, "response", line),
            Shape::Stream { start } => {
                // Whoever loses the connection before the first event begins where this one began.
                let cursor = opened.as_ref().and_then(|opened| opened.cursor).and_then(mark);
                let start = cursor
                    .or_else(|| {
                        start
                            .as_ref()
                            .map(|start| start.as_str().map_or_else(|| start.to_string(), str::to_owned))
                    })
                    .or_else(|| opened.as_ref().and_then(|opened| opened.head).and_then(mark));
                write(chunk, start.as_deref(), "subscribed", result.get().as_bytes());
            }
        }
        self.is_done = !is_opening(&self.method);
    }

    /// The conversation ended without a word: the node does, or the peer was given up.
    fn broke(&mut self, error: Option<LineError>, chunk: &mut Vec<u8>) {
        self.is_done = true;
        if let Some(error) = error {
            tracing::debug!(?error, "a conversation with the node broke");
        }
        if self.opened.is_none() && matches!(self.shape, Shape::Call) {
            let failure = rpc::failure(Some(&self.id), &gone(&self.method));
            return write(chunk, None, "response", &failure);
        }
        let state = StreamState {
            id: self.opened.take().unwrap_or_default(),
            state: "ended".to_owned(),
            reason: Some(DAEMON_ENDS.to_owned()),
            repaired: None,
        };
        write(chunk, None, STATE, &serde_json::to_vec(&state).unwrap_or_default());
    }
}

/// Writes an event. What it carries is JSON of one line.
fn write(chunk: &mut Vec<u8>, id: Option<&str>, event: &str, data: &[u8]) {
    if let Some(id) = id {
        chunk.extend_from_slice(b"id: ");
        chunk.extend_from_slice(id.as_bytes());
        chunk.push(b'\n');
    }
    chunk.extend_from_slice(b"event: ");
    chunk.extend_from_slice(event.as_bytes());
    chunk.extend_from_slice(b"\ndata: ");
    chunk.extend_from_slice(data.strip_suffix(b"\n").unwrap_or(data));
    chunk.extend_from_slice(b"\n\n");
}

/// Whether a stream has ended, as its state says.
fn is_end(params: &str) -> bool {
    #[derive(Deserialize)]
    struct Said<'a> {
        #[serde(borrow)]
        state: std::borrow::Cow<'a, str>,
    }
    serde_json::from_str::<Said<'_>>(params).is_ok_and(|said| said.state == "ended")
}

/// Where a reader goes on after an event: at its cursor, or at its place in the record.
fn place(params: &str) -> Option<String> {
    let marks: Marks<'_> = serde_json::from_str(params).ok()?;
    let inner: Option<Marks<'_>> = marks.event.and_then(|event| serde_json::from_str(event.get()).ok());
    let cursor = marks.cursor.or_else(|| inner.as_ref().and_then(|inner| inner.cursor));
    let pos = marks.pos.or_else(|| inner.as_ref().and_then(|inner| inner.pos));
    cursor.or(pos).and_then(mark)
}

/// A mark as a text of one line.
fn mark(raw: &RawValue) -> Option<String> {
    let text = match serde_json::from_str(raw.get()).ok()? {
        Value::String(text) => text,
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    (!text.is_empty() && !text.contains(char::is_control)).then_some(text)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use serde_json::json;

    use super::*;
    use crate::{
        conversation::Presented,
        fake::{self, Said},
    };

    async fn feed(
        say: impl Fn(&str) -> Said + Send + Sync + 'static,
    ) -> (Feed, std::sync::Arc<fake::Counts>) {
        let (converse, counts) = fake::node(say);
        let credentials = Credentials { presented: Presented::Nothing, token: Some("a".to_owned()) };
        let mut conversation = Conversation::begin(&converse, &credentials).await.unwrap();
        let id = Id::Number(1);
        ask(&mut conversation, &id, StreamSubscribe::NAME, &Value::Null).await.unwrap();
        (Feed::new(conversation, id, StreamSubscribe::NAME, Shape::Stream { start: None }), counts)
    }

    /// Proves BIND-034.
    #[tokio::test]
    async fn events_that_nobody_reads_are_not_asked_for() {
        let (mut feed, counts) =
            feed(|_| Said::Flood(json!({ "subscription_id": "sub_1", "head": 3 }))).await;
        let events = || counts.events.load(Ordering::SeqCst);
        let mut seen = 0;
        for _ in 0..20 {
            let first = String::from_utf8(feed.chunk().await.unwrap().to_vec()).unwrap();
            seen += first.matches("stream/event").count();
            for _ in 0..1_000 {
                tokio::task::yield_now().await;
            }
            // What was said and is not read yet lies in two small buffers.
            assert!(events() - seen < 1_000, "{} of {seen}", events());
        }
        assert!(seen > 1_000, "{seen}");
    }

    /// Proves BIND-033.
    #[tokio::test]
    async fn stream_in_which_nothing_happens_shows_that_it_lives() {
        let (mut feed, _counts) =
            feed(|_| Said::Result(json!({ "subscription_id": "sub_1", "head": 3 }))).await;
        feed.heartbeat = Duration::from_millis(20);
        let first = feed.chunk().await.unwrap();
        assert!(first.starts_with(b"id: 3\nevent: subscribed\ndata: {"), "{first:?}");
        for _ in 0..3 {
            assert_eq!(feed.chunk().await.unwrap(), b": alive\n\n".as_slice());
        }
    }

    /// Proves BIND-031.
    #[test]
    fn event_is_named_by_its_cursor_or_its_place() {
        let check = |params: &str, expected: Option<&str>| {
            assert_eq!(place(params).as_deref(), expected, "{params}");
        };
        check(r#"{"event":{"pos":7}}"#, Some("7"));
        check(r#"{"pos":7}"#, Some("7"));
        check(r#"{"cursor":"c1","event":{"pos":7}}"#, Some("c1"));
        check(r#"{"event":{"pos":7,"cursor":"c1"}}"#, Some("c1"));
        check(r#"{"cursor":null,"pos":7}"#, Some("7"));
        check(r#"{"cursor":"a\nb"}"#, None);
        check(r#"{"cursor":""}"#, None);
        check(r#"{"cursor":{}}"#, None);
        check(r#"{}"#, None);
        check("[]", None);
    }

    /// Proves BIND-031.
    #[test]
    fn event_is_one_block_of_lines() {
        let mut chunk = Vec::new();
        write(&mut chunk, Some("7"), "stream/event", b"{}\n");
        write(&mut chunk, None, "response", b"{}");
        let expected = "id: 7\nevent: stream/event\ndata: {}\n\nevent: response\ndata: {}\n\n";
        assert_eq!(String::from_utf8(chunk).unwrap(), expected);
        assert!(is_end(r#"{"id":"sub_1","state":"ended"}"#));
        assert!(!is_end(r#"{"id":"sub_1","state":"live"}"#));
        assert!(!is_end("{}"));
    }
}

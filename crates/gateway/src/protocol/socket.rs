//! A WebSocket: one message of JSON-RPC in each text frame, both ways, in a conversation of its own.
//!
//! Owns frames. What the node says is read only as fast as the peer takes it, so a slow one is the node's to pause.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use axum::{
    body::Body,
    extract::{
        FromRequestParts as _, State, WebSocketUpgrade,
        ws::{CloseFrame, Message, Utf8Bytes, WebSocket, close_code},
    },
    response::IntoResponse as _,
};
use edgeplane_client::Lines;
use edgeplane_types::ErrorName;
use edgeplane_wire::{
    api::stream::DAEMON_ENDS,
    rpc::{self, LINE_BYTES_MAX, RpcError},
};
use futures_util::{Sink, SinkExt as _, StreamExt as _};
use http::{Request, Response};
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt as _},
    sync::mpsc,
    time::{MissedTickBehavior, interval},
};

use super::{Shared, answer, credentials, json};
use crate::conversation::Conversation;

/// How often a peer is asked whether it is there. One that has said nothing until the next time is gone.
const PING_EVERY: Duration = Duration::from_secs(30);

/// How long a peer may take to hear why it is ended.
const CLOSE_TIME_MAX: Duration = Duration::from_secs(1);

/// Answers that the gateway has of its own, to frames that it does not pass on; a peer that reads none gets no more.
const OWN_ANSWERS_MAX: usize = 16;

/// `GET /v1/ws`: begins a conversation.
pub(super) async fn open(State(served): State<Shared>, request: Request<Body>) -> Response<Body> {
    let (mut parts, _nothing) = request.into_parts();
    let credentials = match credentials(&parts) {
        Ok(credentials) => credentials,
        Err(refusal) => return answer::refused(&refusal),
    };
    if parts.uri.query().is_some_and(|query| !query.is_empty()) {
        let error =
            RpcError::new(ErrorName::InvalidRequest, "nothing is taken from the address of a conversation");
        return answer::failed(&error);
    }
    let upgrade = match WebSocketUpgrade::from_request_parts(&mut parts, &served).await {
        Ok(upgrade) => upgrade,
        Err(rejection) => return rejection.into_response(),
    };
    let conversation = match Conversation::begin(&served.protocol.converse, &credentials).await {
        Ok(conversation) => conversation,
        Err(refusal) => return answer::refused(&refusal),
    };
    let alive = served.tasks.token();
    upgrade.max_message_size(LINE_BYTES_MAX).max_frame_size(LINE_BYTES_MAX).on_upgrade(async move |socket| {
        speak(socket, conversation).await;
        drop(alive);
    })
}

/// Why a conversation is over, as its peer is told.
type Over = (u16, &'static str);

async fn speak(socket: WebSocket, conversation: Conversation) {
    let Conversation { mut lines, mut writer } = conversation;
    let (mut sink, stream) = socket.split();
    let heard = AtomicBool::new(true);
    let (own, mut owed) = mpsc::channel(OWN_ANSWERS_MAX);
    // Whichever way ends first ends the conversation; what the other was about is nobody's any more.
    let over = tokio::select! {
        over = hear(stream, &mut writer, &own, &heard) => over,
        over = tell(&mut sink, &mut lines, &mut owed, &heard) => over,
    };
    if let Some((code, reason)) = over {
        let frame = CloseFrame { code, reason: Utf8Bytes::from_static(reason) };
        // A peer that does not take it is not waited for.
        drop(tokio::time::timeout(CLOSE_TIME_MAX, sink.send(Message::Close(Some(frame)))).await);
    }
}

/// Passes on what the peer says.
async fn hear<W: AsyncWrite + Unpin>(
    mut stream: futures_util::stream::SplitStream<WebSocket>,
    writer: &mut W,
    own: &mpsc::Sender<Vec<u8>>,
    heard: &AtomicBool,
) -> Option<Over> {
    while let Some(message) = stream.next().await {
        heard.store(true, Ordering::Relaxed);
        let text = match message {
            Ok(Message::Text(text)) => text,
            Ok(Message::Ping(_) | Message::Pong(_)) => continue,
            Ok(Message::Binary(_)) => {
                return Some((close_code::UNSUPPORTED, "messages are texts"));
            }
            Ok(Message::Close(_)) => return None,
            Err(error) => {
                tracing::debug!(%error, "a WebSocket broke");
                return Some((close_code::PROTOCOL, "a frame is not one, or longer than 16 MiB"));
            }
        };
        let line = match json::into_line(&text) {
            Ok(line) => line,
            Err(error) => {
                own.send(rpc::failure(None, &error)).await.ok()?;
                continue;
            }
        };
        drop(text);
        if writer.write_all(&line).await.is_err() {
            return Some((close_code::AWAY, DAEMON_ENDS));
        }
    }
    None
}

/// Passes on what the node says.
async fn tell<S, R>(
    sink: &mut S,
    lines: &mut Lines<R>,
    owed: &mut mpsc::Receiver<Vec<u8>>,
    heard: &AtomicBool,
) -> Option<Over>
where
    S: Sink<Message> + Unpin,
    R: AsyncRead + Unpin,
{
    let mut ping = interval(PING_EVERY);
    ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        // Each of them can be given up: what was read of a line stays where it is.
        let message = tokio::select! {
            line = lines.next() => match line {
                Ok(Some(line)) => text(line)?,
                Ok(None) => return Some((close_code::AWAY, DAEMON_ENDS)),
                Err(error) => {
                    tracing::warn!(?error, "a conversation with the node broke");
                    return Some((close_code::ERROR, "the conversation with the node broke"));
                }
            },
            Some(line) = owed.recv() => text(line.strip_suffix(b"\n").unwrap_or(&line))?,
            _ = ping.tick() => {
                if !heard.swap(false, Ordering::Relaxed) {
                    return Some((close_code::POLICY, "nothing was heard for 30 s"));
                }
                Message::Ping(bytes::Bytes::new())
            }
        };
        if sink.send(message).await.is_err() {
            return None;
        }
    }
}

fn text(line: &[u8]) -> Option<Message> {
    // What the node says is JSON, and JSON is UTF-8.
    std::str::from_utf8(line).ok().map(|line| Message::Text(line.into()))
}

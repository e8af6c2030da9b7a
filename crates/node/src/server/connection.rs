//! One connection: a reader of lines, a writer of lines, and what must be closed with it.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, PoisonError},
};

use edgeplane_types::{ErrorName, SubscriptionId};
use edgeplane_wire::{
    api::{
        stream::DAEMON_ENDS,
        terminal::{ResizeParams, WriteParams},
    },
    catalogue::{Call as _, CoreCancel, Request},
    rpc::{self, Incoming, LINE_BYTES_MAX, RpcError},
};
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader},
    sync::{Semaphore, mpsc},
};
use tokio_util::sync::CancellationToken;

use super::{Session, call, dispatch, subscription::Subscription, token};
use crate::{
    agent::{AgentHandle, Command},
    caller::Caller,
    outbound::{Outbound, Waiting},
    projections::Reading,
    shared::Shared,
};

/// Requests of one connection that are worked on at a time; the next line is read when one is done.
const REQUESTS_AT_ONCE: usize = 64;

/// As how many of these a request counts whose answer is a list that may have megabytes, so that answers nobody reads
/// stay few.
const LIST_WEIGHT: u32 = 8;

/// Lines that are written with one call.
const LINES_AT_ONCE: usize = 64;

/// Subscriptions of one connection; more are refused. A program with more targets follows the node's own stream.
const SUBSCRIPTIONS_MAX: usize = 1_024;

/// Room for a line that a connection keeps between two.
const LINE_BYTES_KEPT: usize = 64 << 10;

/// Why what a connection had opened ends with it. Nobody is there to be told.
pub(super) const HANGS_UP: &str = "the connection ended";

/// What a connection has opened and must close.
#[derive(Debug, Default)]
pub(crate) struct Opened {
    attachments: Mutex<HashMap<String, AgentHandle>>,
    subscriptions: Mutex<BTreeMap<SubscriptionId, Arc<Subscription>>>,
    taps: Mutex<HashMap<SubscriptionId, CancellationToken>>,
    /// Where the last reading of a folded projection stopped: folding it again for each page would cost more with each.
    reading: Mutex<Option<Reading>>,
}

impl Opened {
    pub(super) fn attached(&self, attachment: String, agent: AgentHandle) {
        self.attachments.lock().unwrap_or_else(PoisonError::into_inner).insert(attachment, agent);
    }

    pub(super) fn detached(&self, attachment: &str) -> Option<AgentHandle> {
        self.attachments.lock().unwrap_or_else(PoisonError::into_inner).remove(attachment)
    }

    pub(super) fn attachment(&self, attachment: &str) -> Result<AgentHandle, RpcError> {
        let known = self.attachments.lock().unwrap_or_else(PoisonError::into_inner).get(attachment).cloned();
        known.ok_or_else(|| RpcError::new(ErrorName::NotFound, "no such attachment on this connection"))
    }

    /// Takes the last reading, if it goes on where somebody wants to.
    pub(super) fn take_reading(&self, is_it: impl Fn(&Reading) -> bool) -> Option<Reading> {
        let mut kept = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        kept.take_if(|reading| is_it(reading))
    }

    pub(super) fn keep_reading(&self, reading: Reading) {
        *self.reading.lock().unwrap_or_else(PoisonError::into_inner) = Some(reading);
    }

    /// Notes a subscription, unless there are as many as a connection may have.
    pub(super) fn subscribed(&self, subscription: Arc<Subscription>) -> bool {
        let mut all = self.subscriptions.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= SUBSCRIPTIONS_MAX {
            return false;
        }
        all.insert(subscription.id, subscription);
        true
    }

    /// Notes a tap, unless there are as many as a connection may have.
    pub(super) fn tapped(&self, id: SubscriptionId, until: CancellationToken) -> bool {
        let mut all = self.taps.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= SUBSCRIPTIONS_MAX {
            return false;
        }
        all.insert(id, until);
        true
    }

    /// Ends a tap, if there is one.
    pub(super) fn untapped(&self, id: &SubscriptionId) -> bool {
        let until = self.taps.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
        until.inspect(CancellationToken::cancel).is_some()
    }

    pub(super) fn unsubscribed(&self, id: &SubscriptionId) -> Option<Arc<Subscription>> {
        self.subscriptions.lock().unwrap_or_else(PoisonError::into_inner).remove(id)
    }

    pub(super) fn subscription(&self, id: &SubscriptionId) -> Option<Arc<Subscription>> {
        self.subscriptions.lock().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
    }

    /// Every subscription, oldest first.
    pub(super) fn all_subscriptions(&self) -> Vec<Arc<Subscription>> {
        self.subscriptions.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// Ends everything, with the reason that subscribers are told.
    pub(super) fn close(&self, why: &str) {
        let all = std::mem::take(&mut *self.subscriptions.lock().unwrap_or_else(PoisonError::into_inner));
        all.values().for_each(|subscription| subscription.end(why));
        for (_, until) in self.taps.lock().unwrap_or_else(PoisonError::into_inner).drain() {
            until.cancel();
        }
        for (attachment, agent) in self.attachments.lock().unwrap_or_else(PoisonError::into_inner).drain() {
            // An engine that is too busy to hear it now finds the connection gone by itself.
            agent.tell(Command::Detach(attachment, "its connection ended"));
        }
    }
}

/// Starts a conversation over both halves of a stream of bytes.
pub(super) fn start<R, W>(shared: &Arc<Shared>, (reader, writer): (R, W), caller: Caller)
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let (outbound, lines) = Outbound::new();
    let session = Session {
        shared: Arc::clone(shared),
        caller,
        outbound,
        opened: Arc::default(),
        effect: Arc::default(),
        answered: CancellationToken::new(),
        replayed: Arc::default(),
        began: None,
    };
    shared.tasks.spawn(write_lines(Arc::clone(shared), writer, lines));
    shared.tasks.spawn(async move {
        let stopping = session.shared.stopping.clone();
        let why = tokio::select! {
            () = stopping.cancelled() => DAEMON_ENDS,
            () = read_lines(reader, session.clone()) => HANGS_UP,
        };
        session.outbound.end();
        session.opened.close(why);
    });
}

async fn write_lines(
    shared: Arc<Shared>,
    mut writer: impl AsyncWrite + Unpin,
    mut lines: mpsc::Receiver<Waiting>,
) {
    let mut batch: Vec<Waiting> = Vec::new();
    while lines.recv_many(&mut batch, LINES_AT_ONCE).await > 0 {
        shared.failpoint("answer.before");
        let written = match batch.as_slice() {
            [Waiting { line, .. }] if line.parts()[1].is_empty() => writer.write_all(line.parts()[0]).await,
            several => {
                let lines: Vec<&[u8]> = several.iter().flat_map(|waiting| waiting.line.parts()).collect();
                writer.write_all(&lines.concat()).await
            }
        };
        shared.failpoint("answer.after");
        batch.clear();
        if written.is_err() {
            return;
        }
    }
}

/// `session` is a copy: who its caller is changes with the tokens that are shown.
async fn read_lines(reader: impl AsyncRead + Unpin, mut session: Session) {
    let seen = session.caller.clone();
    let mut watch = token::keep_watch(&session);
    let mut reader = BufReader::with_capacity(16 << 10, reader);
    let working = Arc::new(Semaphore::new(REQUESTS_AT_ONCE));
    let mut line = Vec::new();
    loop {
        line.clear();
        // A caller that once said much does not hold the room for it for ever.
        line.shrink_to(LINE_BYTES_KEPT);
        match read_line(&mut reader, &mut line).await {
            Ok(true) => {}
            Ok(false) => return,
            Err(error) => {
                drop(session.outbound.send(rpc::failure(None, &error)).await);
                return;
            }
        }
        match rpc::parse_line(&line) {
            Ok(Incoming::Notification { method, params }) => notification(&session, &method, params).await,
            Ok(Incoming::Request { id, method, params }) if token::is_shown(&method, &params) => {
                // Done before the next line is read: whatever follows is said by the token's bearer.
                let answer = match token::show(&mut session, &seen, &mut watch, params).await {
                    Ok(result) => rpc::success(&id, result),
                    Err(error) => rpc::failure(Some(&id), &error),
                };
                drop(session.outbound.send(answer).await);
            }
            Ok(Incoming::Request { id, method, params }) => {
                let weight = weight(&method);
                // Taking a request back must not wait behind those that are worked on.
                let permit = match method.as_str() {
                    CoreCancel::NAME => None,
                    _ => match Arc::clone(&working).acquire_many_owned(weight).await {
                        Ok(permit) => Some(permit),
                        Err(_closed) => return,
                    },
                };
                let session = Session { answered: CancellationToken::new(), ..session.clone() };
                let answered = session.answered.clone();
                session.shared.tasks.clone().spawn(async move {
                    let outbound = session.outbound.clone();
                    let answer = match call::request(session, &method, params).await {
                        Ok(result) => rpc::success(&id, result),
                        Err(error) => rpc::failure(Some(&id), &error),
                    };
                    // A caller that has gone needs no answer.
                    drop(outbound.send(answer).await);
                    answered.cancel();
                    drop(permit);
                });
            }
            Ok(Incoming::Response { .. }) => {}
            Err(error) => drop(session.outbound.send(rpc::failure(None, &error)).await),
        }
    }
}

fn weight(method: &str) -> u32 {
    match method {
        "runtime/recording.read"
        | "stream/replay"
        | "runtime/transcript.read"
        | "runtime/agent.list"
        | "conversation/action.list"
        | "runtime/inbox.list"
        | "runtime/dead_letter.list"
        | "memory/entry.list"
        | "memory/entry.history" => LIST_WEIGHT,
        _ => 1,
    }
}

/// Reads a line without its newline; false at the end. A line beyond the limit ends the conversation.
async fn read_line(
    reader: &mut BufReader<impl AsyncRead + Unpin>,
    line: &mut Vec<u8>,
) -> Result<bool, RpcError> {
    loop {
        let Ok(available) = reader.fill_buf().await else { return Ok(false) };
        if available.is_empty() {
            return Ok(false);
        }
        let (take, ended) = match available.iter().position(|b| *b == b'\n') {
            Some(at) => (at, true),
            None => (available.len(), false),
        };
        line.extend_from_slice(available.get(..take).unwrap_or_default());
        reader.consume(take.saturating_add(usize::from(ended)));
        if line.len() > LINE_BYTES_MAX {
            let what = format!("a line has more than {LINE_BYTES_MAX} bytes");
            return Err(RpcError::new(ErrorName::TooLarge, what));
        }
        if ended {
            return Ok(true);
        }
    }
}

/// What needs no answer: keys and sizes, in the order they came. A busy agent holds up its caller; nothing is lost.
async fn notification(session: &Session, method: &str, params: Value) {
    let read = Request::read(method, params);
    let allowed = read.and_then(|request| dispatch::check(session, &request).map(|()| request));
    let command = match allowed {
        Ok(Request::AgentWrite(WriteParams { attachment, data })) => dispatch::decoded(&data)
            .map(|bytes| (attachment.clone(), Command::Write(attachment, bytes, None))),
        Ok(Request::AgentResize(ResizeParams { attachment, cols, rows })) => {
            Ok((attachment.clone(), Command::Resize(attachment, (cols, rows), None)))
        }
        Ok(request) => {
            Err(RpcError::new(ErrorName::InvalidRequest, format!("{} wants an id", request.method())))
        }
        Err(error) => Err(error),
    };
    let known = command.and_then(|(attachment, command)| {
        session.opened.attachment(&attachment).map(|agent| (agent, command))
    });
    let sent = match known {
        Ok((agent, command)) => agent.hand(command).await,
        Err(error) => Err(error),
    };
    if let Err(error) = sent {
        tracing::debug!(method, %error, "a notification was not taken");
    }
}

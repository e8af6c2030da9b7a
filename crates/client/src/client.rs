//! The client: calls, notifications, and the connection's life.

use std::{path::Path, sync::Arc, time::Duration};

use edgeplane_types::ErrorName;
use edgeplane_wire::{
    catalogue::Call,
    rpc::{self, Id, LINE_BYTES_MAX, RpcError},
};
use serde::Serialize;
use serde_json::{Value, value::RawValue};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::UnixStream,
    sync::mpsc,
};

use crate::{
    CallError,
    error::End,
    pending::Pending,
    task::{self, Task},
};

/// Requests that wait to be written. When there are as many, calls wait: the node is not reading.
pub const REQUESTS_MAX: usize = 64;

/// Notifications that wait to be taken. When there are as many nothing more is read, answers included, until one is
/// taken: the node is slowed down, and nothing is lost.
pub const NOTIFICATIONS_MAX: usize = 1_024;

tokio::task_local! {
    /// The trace that the calls of this task belong to.
    static TRACE: String;
}

/// Makes calls as part of a trace: its `traceparent`, as it came from whoever is called for. A node takes one that is
/// malformed for none.
pub async fn traced<F: Future>(traceparent: Option<String>, calls: F) -> F::Output {
    match traceparent {
        Some(trace) => TRACE.scope(trace, calls).await,
        None => calls.await,
    }
}

/// Parameters with the trace that they belong to.
fn within(trace: &str, params: impl Serialize) -> Value {
    // What cannot be written is refused as a whole by whoever reads it.
    let mut params = serde_json::to_value(params).unwrap_or_default();
    if params.is_null() {
        params = serde_json::json!({});
    }
    if let Some(fields) = params.as_object_mut() {
        let context = fields.entry("ctx").or_insert_with(|| serde_json::json!({}));
        if let Some(context) = context.as_object_mut() {
            context.entry("traceparent").or_insert_with(|| Value::String(trace.to_owned()));
        }
    }
    params
}

/// A connection to a node.
///
/// Calls may be made at the same time from many tasks; each hears its own answer. A call that is dropped is no longer
/// waited for, but the node may carry it out all the same.
#[derive(Debug)]
pub struct Client {
    requests: mpsc::Sender<Vec<u8>>,
    pending: Arc<Pending>,
    reader: Task,
    writer: Task,
}

/// What the node says unasked.
#[derive(Debug, Clone, PartialEq)]
pub struct Notification {
    /// Its method, such as `stream/event`.
    pub method: String,
    /// Its parameters.
    pub params: Value,
}

/// The notifications of one connection, in order. Whoever wants none drops it; whoever keeps it must take them, also
/// while a call is under way (see [`NOTIFICATIONS_MAX`]).
#[derive(Debug)]
pub struct Notifications {
    receiver: mpsc::Receiver<Notification>,
}

impl Notifications {
    /// The next notification, or `None` once the connection is over and all were taken. Safe to cancel.
    pub async fn next(&mut self) -> Option<Notification> {
        self.receiver.recv().await
    }
}

impl Client {
    /// Connects to the node whose socket is at `path`.
    ///
    /// # Errors
    /// When nobody listens there or the caller may not connect.
    pub async fn connect(path: &Path) -> Result<(Self, Notifications), CallError> {
        let stream = UnixStream::connect(path)
            .await
            .map_err(|source| CallError::Connect { path: path.to_owned(), source: Arc::new(source) })?;
        let (reader, writer) = stream.into_split();
        Ok(Self::over(reader, writer))
    }

    /// Speaks to a node over any two streams of bytes, such as both ends of memory.
    pub fn over<R, W>(reader: R, writer: W) -> (Self, Notifications)
    where
        R: AsyncRead + Unpin + Send + 'static,
        W: AsyncWrite + Unpin + Send + 'static,
    {
        let (requests, outgoing) = mpsc::channel(REQUESTS_MAX);
        let (sender, receiver) = mpsc::channel(NOTIFICATIONS_MAX);
        let pending = Arc::new(Pending::new());
        let read = task::read(reader, sender, requests.downgrade(), Arc::clone(&pending));
        let write = task::write(writer, outgoing, Arc::clone(&pending));
        let reader = Task::spawn("edgeplane-client-reader", read);
        let writer = Task::spawn("edgeplane-client-writer", write);
        (Self { requests, pending, reader, writer }, Notifications { receiver })
    }

    /// Calls a method of the catalogue and waits for its result as long as it takes.
    ///
    /// # Errors
    /// When the node refuses, or the connection ends first.
    pub async fn call<C: Call>(&self, params: &C::Params) -> Result<C::Result, CallError> {
        let raw = self.call_raw(C::NAME, params).await?;
        read_result::<C>(&raw)
    }

    /// Calls a method of the catalogue and waits for its result no longer than `time`.
    ///
    /// # Errors
    /// As [`Self::call`], and when the time is over; the node may carry the call out all the same.
    pub async fn call_within<C: Call>(
        &self,
        time: Duration,
        params: &C::Params,
    ) -> Result<C::Result, CallError> {
        match tokio::time::timeout(time, self.call::<C>(params)).await {
            Ok(result) => result,
            Err(_elapsed) => Err(CallError::Deadline { method: C::NAME.to_owned(), after: time }),
        }
    }

    /// Calls any method and gives its result as the node wrote it.
    ///
    /// # Errors
    /// When the request is too long for the protocol, the node refuses, or the connection ends first.
    pub async fn call_raw(&self, method: &str, params: impl Serialize) -> Result<Box<RawValue>, CallError> {
        let (waiting, answer) = self.pending.enter().map_err(|end| end.for_call(method))?;
        let id = Id::Number(waiting.id);
        let line = match TRACE.try_with(Clone::clone) {
            Ok(trace) => rpc::request(&id, method, within(&trace, params)),
            Err(_none) => rpc::request(&id, method, params),
        };
        self.send(method, line).await?;
        match answer.await {
            Ok(Ok(outcome)) => Ok(outcome?),
            Ok(Err(end)) => Err(end.for_call(method)),
            Err(_dropped) => Err(CallError::Closed { method: method.to_owned() }),
        }
    }

    /// Says something that the node does not answer.
    ///
    /// # Errors
    /// When it is too long for the protocol or the connection is over; that it is taken does not mean that it arrives.
    pub async fn notify(&self, method: &str, params: impl Serialize) -> Result<(), CallError> {
        if let Some(end) = self.pending.ended() {
            return Err(end.for_call(method));
        }
        self.send(method, rpc::notification(method, params)).await
    }

    /// Whether the connection is over.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.pending.ended().is_some()
    }

    /// Ends the connection once everything said so far is written, and waits until its tasks are gone.
    pub async fn close(self) {
        let Self { requests, pending, reader, writer } = self;
        drop(requests);
        writer.join().await;
        pending.end(&End::Closed);
        reader.abort();
        reader.join().await;
    }

    #[cfg(test)]
    pub(crate) fn pending_count(&self) -> usize {
        self.pending.count()
    }

    async fn send(&self, method: &str, line: Vec<u8>) -> Result<(), CallError> {
        if line.len() > LINE_BYTES_MAX {
            let message =
                format!("a request of {} bytes to {method}, at most {LINE_BYTES_MAX} are taken", line.len());
            return Err(RpcError::new(ErrorName::TooLarge, message).into());
        }
        let end = || self.pending.ended().unwrap_or(End::Closed);
        self.requests.send(line).await.map_err(|_closed| end().for_call(method))
    }
}

fn read_result<C: Call>(raw: &RawValue) -> Result<C::Result, CallError> {
    serde_json::from_str(raw.get()).map_err(|error| CallError::Protocol {
        method: C::NAME.to_owned(),
        detail: format!("its result is not what the catalogue says: {error}"),
    })
}

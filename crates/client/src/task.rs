//! The two tasks of a connection: one reads, one writes.
//!
//! Owns what a line from the node means for the calls. Neither task outlives the client that started it.

use std::sync::Arc;

use edgeplane_types::ErrorName;
use edgeplane_wire::rpc::{self, Id, Incoming, LINE_BYTES_MAX, RpcError};
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt},
    sync::mpsc,
    task::JoinHandle,
};

use crate::{
    client::Notification,
    error::End,
    line::{LineError, Lines},
    pending::Pending,
};

/// A task with a name, ended with its owner.
#[derive(Debug)]
pub(crate) struct Task {
    name: &'static str,
    handle: JoinHandle<()>,
}

impl Task {
    pub(crate) fn spawn(name: &'static str, future: impl Future<Output = ()> + Send + 'static) -> Self {
        Self { name, handle: tokio::spawn(future) }
    }

    /// Waits for the task's own end.
    ///
    /// # Panics
    /// If the task did: a defect in it is one of the program.
    pub(crate) async fn join(mut self) {
        match (&mut self.handle).await {
            Ok(()) => {}
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(error) => debug_assert!(error.is_cancelled(), "task {}", self.name),
        }
    }

    pub(crate) fn abort(&self) {
        self.handle.abort();
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        self.handle.abort();
    }
}

/// Writes each line as it comes, until no client is left to send one.
pub(crate) async fn write(
    mut writer: impl AsyncWrite + Unpin,
    mut lines: mpsc::Receiver<Vec<u8>>,
    pending: Arc<Pending>,
) {
    while let Some(line) = lines.recv().await {
        let written = async {
            writer.write_all(&line).await?;
            writer.flush().await
        };
        if let Err(error) = written.await {
            pending.end(&End::Io(Arc::new(error)));
            return;
        }
    }
    // The node learns that no request comes any more; that it is gone already is no news.
    drop(writer.shutdown().await);
}

/// Reads lines and hands out answers and notifications, until the stream ends or makes no sense.
pub(crate) async fn read(
    reader: impl AsyncRead + Unpin,
    notifications: mpsc::Sender<Notification>,
    refusals: mpsc::WeakSender<Vec<u8>>,
    pending: Arc<Pending>,
) {
    let mut lines = Lines::new(reader, LINE_BYTES_MAX);
    let end = loop {
        let incoming = match lines.next().await {
            Ok(Some(line)) => rpc::parse_line(line),
            Ok(None) => break End::Closed,
            Err(LineError::Io(error)) => break End::Io(Arc::new(error)),
            Err(LineError::Torn) => break End::Closed,
            Err(LineError::TooLong) => {
                break End::Protocol(format!("a line is longer than {LINE_BYTES_MAX} bytes"));
            }
        };
        match incoming {
            Ok(Incoming::Response { id: Id::Number(id), outcome }) if id > 0 => pending.answer(id, outcome),
            // We number our requests from one, so this answers a line that the node could not read.
            Ok(Incoming::Response { outcome, .. }) => {
                let detail =
                    outcome.map_or_else(|error| error.message, |_result| "an answer to nothing".to_owned());
                break End::Protocol(detail);
            }
            Ok(Incoming::Notification { method, params }) => {
                // Waiting here is the back-pressure; a receiver that was dropped wants none.
                drop(notifications.send(Notification { method, params }).await);
            }
            Ok(Incoming::Request { id, method, .. }) => refuse(&refusals, &id, &method),
            // A line that cannot be read may have been the answer that somebody waits for.
            Err(error) => break End::Protocol(error.message),
        }
    };
    pending.end(&end);
}

/// A client serves no methods. If the queue is full the node is not reading, and has no use for the answer.
fn refuse(refusals: &mpsc::WeakSender<Vec<u8>>, id: &Id, method: &str) {
    let shown: String = method.chars().take(80).collect();
    let error = RpcError::new(ErrorName::MethodNotFound, format!("a client serves no method `{shown}`"));
    if let Some(sender) = refusals.upgrade() {
        drop(sender.try_send(rpc::failure(Some(id), &error)));
    }
}

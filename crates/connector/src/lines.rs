//! Messages as lines over the standard streams of a program.
//!
//! The kit has a transport for lines that drops what is too long and goes on. Here a program that sends such a line, or
//! one after another that is no message, loses its connection, and whoever waits is told why.

use std::{io, sync::Arc};

use rmcp::{
    RoleClient,
    model::{ClientJsonRpcMessage, ServerJsonRpcMessage},
    transport::Transport,
};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::unix::pipe,
    sync::Mutex,
    time::timeout,
};

use crate::{
    limits::{FRAME_BYTES_MAX, GARBAGE_MAX, WRITE_MAX},
    process::Streams,
    verdict::Verdict,
};

/// Room for what is read at one go.
const READ_BYTES: usize = 64 << 10;

/// The two streams of a program.
#[derive(Debug)]
pub(crate) struct Lines {
    input: Arc<Mutex<Option<pipe::Sender>>>,
    output: BufReader<pipe::Receiver>,
    line: Vec<u8>,
    garbage: usize,
    verdict: Verdict,
}

impl Lines {
    pub(crate) fn new(streams: Streams, verdict: Verdict) -> Self {
        Self {
            input: Arc::new(Mutex::new(Some(streams.input))),
            output: BufReader::with_capacity(READ_BYTES, streams.output),
            line: Vec::new(),
            garbage: 0,
            verdict,
        }
    }

    /// Reads on until a line is whole. Cancel-safe: what was read is kept.
    async fn next_line(&mut self) -> Result<(), String> {
        loop {
            let bytes = match self.output.fill_buf().await {
                Ok([]) => return Err("its program closed its output".to_owned()),
                Ok(bytes) => bytes,
                Err(error) => return Err(format!("its output cannot be read: {error}")),
            };
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(bytes.len(), |at| at.saturating_add(1));
            if self.line.len().saturating_add(taken) > FRAME_BYTES_MAX {
                return Err(format!("it sent a line of more than {FRAME_BYTES_MAX} bytes"));
            }
            self.line.extend_from_slice(bytes.get(..taken).unwrap_or_default());
            self.output.consume(taken);
            if end.is_some() {
                return Ok(());
            }
        }
    }

    /// The message in the line, if it is one; a blank line is none and no offence.
    fn message(&mut self) -> Option<ServerJsonRpcMessage> {
        let text = self.line.trim_ascii();
        let is_blank = text.is_empty();
        let message = serde_json::from_slice(text).ok();
        self.line.clear();
        // A long line is not paid for by all that follow.
        self.line.shrink_to(READ_BYTES);
        match (&message, is_blank) {
            (Some(_), _) => self.garbage = 0,
            (None, true) => {}
            (None, false) => self.garbage = self.garbage.saturating_add(1),
        }
        message
    }
}

impl Transport<RoleClient> for Lines {
    type Error = io::Error;

    fn send(
        &mut self,
        item: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let (input, verdict) = (Arc::clone(&self.input), self.verdict.clone());
        async move {
            let mut text = serde_json::to_vec(&item)?;
            text.push(b'\n');
            let mut held = input.lock().await;
            let Some(pipe) = held.as_mut() else { return Err(io::ErrorKind::NotConnected.into()) };
            match timeout(WRITE_MAX, pipe.write_all(&text)).await {
                Ok(Ok(())) => Ok(()),
                Ok(Err(error)) => {
                    verdict.say(format!("its input cannot be written: {error}"));
                    Err(error)
                }
                Err(_late) => {
                    // Half a message may be in the pipe: nothing can follow it.
                    *held = None;
                    verdict.say(format!("it left a message unread for {} ms", WRITE_MAX.as_millis()));
                    Err(io::ErrorKind::TimedOut.into())
                }
            }
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            if let Err(why) = self.next_line().await {
                self.verdict.say(why);
                return None;
            }
            if let Some(message) = self.message() {
                return Some(message);
            }
            if self.garbage >= GARBAGE_MAX {
                self.verdict.say(format!("it sent {GARBAGE_MAX} lines in a row that are no messages"));
                return None;
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        drop(self.input.lock().await.take());
        Ok(())
    }
}

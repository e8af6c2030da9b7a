//! The connection to a live shim: frames in, frames out, never waiting for either.

use std::{io, os::unix::net::UnixStream as StdStream};

use edgeplane_wire::shim::ToShim;
use tokio::{io::Interest, net::UnixStream};

/// Bytes taken from a shim at one go, so that one busy agent does not hold up the others for long.
const READ_BYTES_MAX: usize = 256 << 10;

/// Bytes that wait for a shim that does not read; more means that it is stuck.
pub(crate) const WAITING_BYTES_MAX: usize = 48 << 20;

/// A connection to a shim.
#[derive(Debug)]
pub(crate) struct Link {
    stream: UnixStream,
    incoming: Vec<u8>,
    outgoing: Vec<u8>,
    sent: usize,
}

impl Link {
    /// Takes over a connected, non-blocking socket.
    pub(crate) fn new(stream: StdStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        let stream = UnixStream::from_std(stream)?;
        Ok(Self { stream, incoming: Vec::new(), outgoing: Vec::new(), sent: 0 })
    }

    /// Waits until there is something to read, or room for what waits to be sent; does both.
    ///
    /// Cancel-safe: it only waits; bytes move between two waits, without another.
    ///
    /// # Errors
    /// When the connection is at its end.
    pub(crate) async fn ready(&mut self) -> io::Result<()> {
        let writing = self.sent < self.outgoing.len();
        let interest = if writing { Interest::READABLE | Interest::WRITABLE } else { Interest::READABLE };
        let ready = self.stream.ready(interest).await?;
        if ready.is_writable() {
            self.push()?;
        }
        if ready.is_readable() { self.pull() } else { Ok(()) }
    }

    fn pull(&mut self) -> io::Result<()> {
        let before = self.incoming.len();
        let limit = before.saturating_add(READ_BYTES_MAX);
        while self.incoming.len() < limit {
            self.incoming.reserve(64 << 10);
            match self.stream.try_read_buf(&mut self.incoming) {
                // A shim's last words are taken in first; its end shows again at the next look.
                Ok(0) | Err(_) if self.incoming.len() > before => return Ok(()),
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn push(&mut self) -> io::Result<()> {
        while let Some(rest) = self.outgoing.get(self.sent..).filter(|rest| !rest.is_empty()) {
            match self.stream.try_write(rest) {
                Ok(bytes) => self.sent = self.sent.saturating_add(bytes),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        self.outgoing.clear();
        self.outgoing.shrink_to(64 << 10);
        self.sent = 0;
        Ok(())
    }

    /// Sends a frame, now if the socket takes it, else as soon as it does. A broken connection shows at the next
    /// read.
    pub(crate) fn send(&mut self, frame: &ToShim<'_>) {
        frame.encode(&mut self.outgoing);
        drop(self.push());
    }

    /// Bytes that wait to be sent.
    pub(crate) fn waiting(&self) -> usize {
        self.outgoing.len().saturating_sub(self.sent)
    }

    /// Takes what has come in.
    pub(crate) fn take_incoming(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.incoming)
    }

    /// Gives back what was not a whole frame.
    pub(crate) fn put_back(&mut self, mut rest: Vec<u8>, used: usize) {
        rest.drain(..used);
        rest.append(&mut self.incoming);
        self.incoming = rest;
    }
}

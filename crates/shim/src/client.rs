//! One connection: bytes in, bytes out, never waiting.
//!
//! Owns what was received but not yet taken apart, what was not yet taken by the peer, and how far a slow peer fell
//! behind. It deliberately does not know what frames do.

use std::{io, os::fd::AsFd, os::unix::net::UnixStream};

use edgeplane_os::fd::{self, Transfer};
use edgeplane_wire::{
    bytes::DecodeError,
    shim::{FRAME_BYTES_MAX, FromShim, Role, VERSIONS, split_frame},
};

/// Answers that may wait for a peer that does not read; one that lets more pile up is disconnected.
const OUTBOX_BYTES_MAX: usize = 64 << 10;

/// Longest frame, with its length, of a peer that may not send input.
const SMALL_FRAME_BYTES_MAX: usize = 128;

/// Room that an emptied buffer may keep.
const KEPT_BYTES_MAX: usize = 512;

/// Tells one connection from every other of this shim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token(pub(crate) u32);

/// What a peer may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It said nothing yet, and is disconnected then.
    Unproven {
        /// When it must have proven itself.
        until_us: u64,
    },
    /// It has the key.
    Proven(Role),
    /// It was refused; it is disconnected when it has taken the reason.
    Refused {
        /// When it must have taken it.
        until_us: u64,
    },
}

/// A connection.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) token: Token,
    pub(crate) standing: Standing,
    /// The version that is spoken with it.
    pub(crate) version: u16,
    pub(crate) is_subscribed: bool,
    stream: UnixStream,
    inbox: Vec<u8>,
    outbox: Vec<u8>,
    sent: usize,
    /// Offset from which output was not sent.
    lags_from: Option<u64>,
    /// Whether the peer takes nothing any more. What it said before is still heard: a daemon that died had sent it.
    is_deaf: bool,
    is_gone: bool,
}

impl Client {
    /// Takes a connection over.
    ///
    /// # Errors
    /// When it cannot be made non-blocking.
    pub(crate) fn new(stream: UnixStream, token: Token, standing: Standing) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self {
            token,
            standing,
            // Whoever launches a shim launches one of its own release.
            version: VERSIONS.1,
            is_subscribed: false,
            stream,
            inbox: Vec::new(),
            outbox: Vec::new(),
            sent: 0,
            lags_from: None,
            is_deaf: false,
            is_gone: false,
        })
    }

    /// The connection, to be polled.
    pub(crate) fn stream(&self) -> &UnixStream {
        &self.stream
    }

    /// Whether the peer controls.
    pub(crate) fn controls(&self) -> bool {
        self.standing == Standing::Proven(Role::Control)
    }

    /// Whether the peer proved itself.
    pub(crate) fn is_proven(&self) -> bool {
        matches!(self.standing, Standing::Proven(_))
    }

    /// Whether the connection is over.
    pub(crate) fn is_gone(&self) -> bool {
        let is_refused = matches!(self.standing, Standing::Refused { .. });
        self.is_gone || (is_refused && (self.outbox.is_empty() || self.is_deaf))
    }

    /// Ends the connection.
    pub(crate) fn leave(&mut self) {
        self.is_gone = true;
    }

    /// Whether something waits for the peer to read.
    pub(crate) fn wants_to_send(&self) -> bool {
        !self.is_deaf && (!self.outbox.is_empty() || self.lags_from.is_some())
    }

    /// Reads once into `buffer` and keeps what came.
    pub(crate) fn receive(&mut self, buffer: &mut [u8]) {
        match fd::read(self.stream.as_fd(), buffer) {
            Ok(Transfer::Moved(count)) => {
                self.inbox.extend_from_slice(buffer.get(..count).unwrap_or_default())
            }
            Ok(Transfer::WouldBlock) => {}
            Ok(Transfer::Ended) | Err(_) => self.is_gone = true,
        }
    }

    /// Takes out what was received, to be taken apart by [`Client::next_frame`] and given back.
    pub(crate) fn take_inbox(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.inbox)
    }

    /// Gives back what was not a whole frame yet: `inbox` without its first `used` bytes.
    pub(crate) fn give_back(&mut self, mut inbox: Vec<u8>, used: usize) {
        if used >= inbox.len() {
            inbox.clear();
            inbox.shrink_to(KEPT_BYTES_MAX);
        } else if used > 0 {
            drop(inbox.drain(..used));
            inbox.shrink_to(inbox.len().saturating_add(KEPT_BYTES_MAX));
        }
        self.inbox = inbox;
    }

    /// The body of the first whole frame in `bytes` and the bytes it takes.
    ///
    /// # Errors
    /// When the frame is longer than this peer's may be.
    pub(crate) fn next_frame<'b>(&self, bytes: &'b [u8]) -> Result<Option<(&'b [u8], usize)>, DecodeError> {
        let bytes_max = if self.controls() { FRAME_BYTES_MAX } else { SMALL_FRAME_BYTES_MAX };
        match split_frame(bytes)? {
            Some((_body, len)) if len > bytes_max.saturating_add(4) => Err(DecodeError::Limit),
            None if bytes.len() > bytes_max.saturating_add(4) => Err(DecodeError::Limit),
            found => Ok(found),
        }
    }

    /// Sends a frame that must not be lost, or ends the connection.
    pub(crate) fn send(&mut self, frame: &FromShim<'_>) {
        if self.is_deaf {
            return;
        }
        frame.encode(&mut self.outbox);
        self.flush();
        if self.outbox.len().saturating_sub(self.sent) > OUTBOX_BYTES_MAX {
            self.is_gone = true;
        }
    }

    /// Refuses the peer and ends the connection.
    pub(crate) fn refuse(&mut self, reason: &str, until_us: u64) {
        self.standing = Standing::Refused { until_us };
        self.is_subscribed = false;
        self.lags_from = None;
        self.send(&FromShim::Refused { text: reason.as_bytes() });
    }

    /// Begins to show output from `head` on; what was missed before is in the recording.
    pub(crate) fn subscribe(&mut self, head: u64) {
        self.is_subscribed = true;
        self.lags_from = None;
        self.send(&FromShim::Subscribed { head });
    }

    /// Sends an encoded output frame if the peer keeps up; else it lags from `offset` on.
    pub(crate) fn show(&mut self, frame: &[u8], offset: u64) {
        if !self.is_subscribed || self.lags_from.is_some() || self.is_deaf {
            return;
        }
        if !self.outbox.is_empty() {
            self.lags_from = Some(offset);
            return;
        }
        match fd::write(self.stream.as_fd(), frame) {
            Ok(Transfer::Moved(count)) => {
                self.outbox.extend_from_slice(frame.get(count..).unwrap_or_default())
            }
            Ok(Transfer::WouldBlock) => self.lags_from = Some(offset),
            Ok(Transfer::Ended) | Err(_) => self.is_deaf = true,
        }
    }

    /// Goes on sending; a peer that took everything hears what it missed, up to `head`, and is live again.
    pub(crate) fn go_on(&mut self, head: u64) {
        self.flush();
        if self.outbox.is_empty() {
            self.tell_lag(head);
        }
    }

    /// Queues what the peer missed up to `head`, if anything.
    pub(crate) fn tell_lag(&mut self, head: u64) {
        if let Some(from) = self.lags_from.take() {
            self.send(&FromShim::Lagged { from, to: head });
        }
    }

    fn flush(&mut self) {
        while let Some(rest) = self.outbox.get(self.sent..).filter(|rest| !rest.is_empty()) {
            match fd::write(self.stream.as_fd(), rest) {
                Ok(Transfer::Moved(count)) if count > 0 => self.sent = self.sent.saturating_add(count),
                Ok(Transfer::Moved(_) | Transfer::WouldBlock) => return,
                Ok(Transfer::Ended) | Err(_) => {
                    self.is_deaf = true;
                    return;
                }
            }
        }
        self.outbox.clear();
        self.outbox.shrink_to(KEPT_BYTES_MAX);
        self.sent = 0;
    }
}

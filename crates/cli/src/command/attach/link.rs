//! The node's side of an attachment: lines in and out of a connection that is never waited for.

use std::{
    collections::VecDeque,
    io,
    os::{
        fd::{AsFd, BorrowedFd},
        unix::net::UnixStream,
    },
};

use edgeplane_os::{
    fd::{self, Transfer},
    poll::PollFlags,
};

use crate::{
    lines::{Filled, LineBuffer},
    node::Parts,
};

/// Bytes that wait to be written to the node; with more, no further keys are read, so they wait in the terminal.
const PENDING_BYTES_MAX: usize = 256 << 10;

/// The number of the first request of an attachment; those before belong to the connection's begin.
const FIRST_REQUEST: i64 = 1_000;

/// Lines in and out of a connection.
#[derive(Debug)]
pub(super) struct Link {
    stream: UnixStream,
    incoming: LineBuffer,
    pending: VecDeque<u8>,
    next_request: i64,
}

impl Link {
    pub(super) fn new(parts: Parts) -> Self {
        let Parts { stream, incoming, held: _ } = parts;
        Self { stream, incoming, pending: VecDeque::new(), next_request: FIRST_REQUEST }
    }

    /// A number for a request.
    pub(super) fn number(&mut self) -> i64 {
        self.next_request = self.next_request.saturating_add(1);
        self.next_request
    }

    /// Queues a line.
    pub(super) fn push(&mut self, line: Vec<u8>) {
        self.pending.extend(line);
    }

    pub(super) fn has_room(&self) -> bool {
        self.pending.len() < PENDING_BYTES_MAX
    }

    /// What to wait for.
    pub(super) fn flags(&self) -> PollFlags {
        if self.pending.is_empty() { PollFlags::IN } else { PollFlags::IN | PollFlags::OUT }
    }

    /// Writes what the node takes now; `false` if it is gone.
    pub(super) fn write(&mut self) -> io::Result<bool> {
        while !self.pending.is_empty() {
            let (bytes, _wrapped) = self.pending.as_slices();
            match fd::write(&self.stream, bytes)? {
                Transfer::Moved(count) => drop(self.pending.drain(..count)),
                Transfer::WouldBlock => return Ok(true),
                Transfer::Ended => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Reads what is there.
    pub(super) fn fill(&mut self) -> io::Result<Filled> {
        self.incoming.fill(&self.stream)
    }

    /// Lends the lines that were read, so that something can be done with each.
    pub(super) fn take_incoming(&mut self) -> LineBuffer {
        std::mem::take(&mut self.incoming)
    }

    /// Gives them back.
    pub(super) fn give_back(&mut self, incoming: LineBuffer) {
        self.incoming = incoming;
    }
}

impl AsFd for Link {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

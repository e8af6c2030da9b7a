//! What is to be written to a command: each input once, whole, in order, whoever is still connected.
//!
//! Owns the queue of one command, its bounds, and the memory of ids. Nothing of it is recorded: what is written to a
//! command may be a secret.

use std::{
    collections::VecDeque,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

use edgeplane_os::fd::{self, Transfer};
use edgeplane_wire::shim::{InputOutcome, REMEMBERED_INPUTS};

use crate::{client::Token, input::Id};

/// Inputs of a command that may wait; more are refused as `Full`, and the sender tries again later.
const WAITING_MAX: usize = 64;

/// Bytes of a command that may wait.
const WAITING_BYTES_MAX: usize = 1 << 20;

/// One input.
#[derive(Debug)]
struct Entry {
    id: Id,
    asked_by: Token,
    bytes: Vec<u8>,
    written: usize,
    closes: bool,
}

/// An input of which it is known what became.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Settled {
    pub(crate) id: Id,
    pub(crate) asked_by: Token,
    pub(crate) outcome: InputOutcome,
}

/// The input of a command.
#[derive(Debug)]
pub(crate) struct CommandInput {
    /// Until it is closed, or the command does not read any more.
    pipe: Option<OwnedFd>,
    waiting: VecDeque<Entry>,
    waiting_bytes: usize,
    /// Whether what waits last closes it.
    ends_after: bool,
    remembered: VecDeque<(Id, InputOutcome)>,
}

impl CommandInput {
    /// One that is written to through this pipe; closed already without one.
    pub(crate) fn new(pipe: Option<OwnedFd>) -> Self {
        Self {
            pipe,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            ends_after: false,
            remembered: VecDeque::new(),
        }
    }

    /// Accepts an input, or says at once what becomes of it.
    pub(crate) fn push(
        &mut self,
        asked_by: Token,
        id: Id,
        bytes: &[u8],
        closes: bool,
    ) -> Option<InputOutcome> {
        if let Some(entry) = self.waiting.iter_mut().find(|entry| entry.id == id) {
            entry.asked_by = asked_by;
            return Some(InputOutcome::Queued);
        }
        match self.remembered.iter().rev().find(|(known, _)| *known == id) {
            Some((_, InputOutcome::Written)) => return Some(InputOutcome::Duplicate),
            Some((_, outcome)) => return Some(*outcome),
            None => {}
        }
        if self.pipe.is_none() || self.ends_after {
            return Some(InputOutcome::Closed);
        }
        let total = self.waiting_bytes.saturating_add(bytes.len());
        if self.waiting.len() >= WAITING_MAX || total > WAITING_BYTES_MAX {
            return Some(InputOutcome::Full);
        }
        self.waiting_bytes = total;
        self.ends_after = closes;
        self.waiting.push_back(Entry { id, asked_by, bytes: bytes.to_vec(), written: 0, closes });
        None
    }

    /// The pipe, if something waits for it.
    pub(crate) fn awaited(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().filter(|_| !self.waiting.is_empty()).map(AsFd::as_fd)
    }

    /// Writes as much as the command takes now; each input settled is handed over.
    pub(crate) fn pump(&mut self, settled: &mut dyn FnMut(Settled)) {
        while let (Some(entry), Some(pipe)) = (self.waiting.front_mut(), &self.pipe) {
            let rest = entry.bytes.get(entry.written..).unwrap_or_default();
            if !rest.is_empty() {
                match fd::write(pipe, rest) {
                    Ok(Transfer::Moved(0) | Transfer::WouldBlock) => return,
                    Ok(Transfer::Moved(count)) => {
                        entry.written = entry.written.saturating_add(count);
                        continue;
                    }
                    Ok(Transfer::Ended) | Err(_) => return self.close(settled),
                }
            }
            let Some(entry) = self.waiting.pop_front() else { return };
            if entry.closes {
                self.pipe = None;
            }
            settled(self.forget(&entry, InputOutcome::Written));
        }
    }

    /// Settles everything that waits: the command does not read any more.
    pub(crate) fn close(&mut self, settled: &mut dyn FnMut(Settled)) {
        self.pipe = None;
        while let Some(entry) = self.waiting.pop_front() {
            settled(self.forget(&entry, InputOutcome::Closed));
        }
    }

    fn forget(&mut self, entry: &Entry, outcome: InputOutcome) -> Settled {
        self.waiting_bytes = self.waiting_bytes.saturating_sub(entry.bytes.len());
        if self.remembered.len() >= REMEMBERED_INPUTS {
            let _oldest = self.remembered.pop_front();
        }
        self.remembered.push_back((entry.id, outcome));
        Settled { id: entry.id, asked_by: entry.asked_by, outcome }
    }
}

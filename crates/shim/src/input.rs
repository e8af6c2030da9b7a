//! What is to be written to the program: each input once, whole, in order, whoever is still connected.
//!
//! Owns the queue, its bounds, and the memory of ids. It deliberately knows no connection: outcomes are returned with
//! the token of whoever asked last.

use std::collections::VecDeque;

use edgeplane_os::fd::Transfer;
use edgeplane_types::MessageId;
use edgeplane_wire::{
    cast,
    shim::{InputKind, InputOutcome, REMEMBERED_INPUTS},
};

use crate::{client::Token, program::Program, recording::Recording};

/// Inputs that may wait; more are refused as `Full`, and the sender tries again later.
const WAITING_MAX: usize = 64;

/// Bytes that may wait, the input that is being written included.
const WAITING_BYTES_MAX: usize = 32 << 20;

/// Longest line that a terminal takes while it collects lines; the kernel drops what is beyond.
const LINE_BYTES_MAX: usize = 4095;

/// Bytes of answers to a program's questions that may wait; one that asks and does not read is answered no more.
const ANSWERS_BYTES_MAX: usize = 4096;

/// What ends the input of a terminal that collects lines.
const END_OF_INPUT: &[u8] = &[4];

/// An input's id.
pub(crate) type Id = [u8; 16];

/// One input.
#[derive(Debug)]
struct Entry {
    id: Id,
    kind: InputKind,
    bytes: Vec<u8>,
    written: usize,
    /// Set when its writing begins: whether only its length may be recorded.
    is_secret: Option<bool>,
    /// Nobody asked for the shim's own answers to the program.
    asked_by: Option<Token>,
}

/// What became of an input that was accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Settled {
    pub(crate) id: Id,
    pub(crate) outcome: InputOutcome,
    pub(crate) asked_by: Token,
}

/// The inputs that wait, and those that were.
#[derive(Debug, Default)]
pub(crate) struct Inputs {
    waiting: VecDeque<Entry>,
    waiting_bytes: usize,
    remembered: VecDeque<(Id, InputOutcome)>,
    ends_after: bool,
    is_ended: bool,
}

/// What one step of writing came to.
enum Step {
    Settled(InputOutcome),
    Again,
    Blocked,
}

impl Inputs {
    /// Accepts an input, or says at once what becomes of it.
    pub(crate) fn push(
        &mut self,
        asked_by: Token,
        id: Id,
        kind: InputKind,
        bytes: &[u8],
    ) -> Option<InputOutcome> {
        let is_same = |entry: &&mut Entry| entry.id == id && entry.asked_by.is_some();
        if let Some(entry) = self.waiting.iter_mut().find(is_same) {
            entry.asked_by = Some(asked_by);
            return Some(InputOutcome::Queued);
        }
        if self.state(&id) == InputOutcome::Written {
            return Some(InputOutcome::Duplicate);
        }
        if self.ends_after || self.is_ended {
            return Some(InputOutcome::Closed);
        }
        let total = self.waiting_bytes.saturating_add(bytes.len());
        if self.waiting.len() >= WAITING_MAX || total > WAITING_BYTES_MAX {
            return Some(InputOutcome::Full);
        }
        self.waiting_bytes = total;
        let bytes = bytes.to_vec();
        let asked_by = Some(asked_by);
        self.waiting.push_back(Entry { id, kind, bytes, written: 0, is_secret: None, asked_by });
        None
    }

    /// Puts what answers the program's questions before all that is not being written already.
    pub(crate) fn answer(&mut self, bytes: Vec<u8>) {
        let answers = self.waiting.iter().filter(|entry| entry.asked_by.is_none());
        let waiting_bytes: usize = answers.map(|entry| entry.bytes.len()).sum();
        if waiting_bytes.saturating_add(bytes.len()) > ANSWERS_BYTES_MAX || self.is_ended {
            return;
        }
        self.waiting_bytes = self.waiting_bytes.saturating_add(bytes.len());
        let is_before = |entry: &Entry| entry.is_secret.is_some() || entry.asked_by.is_none();
        let at = self.waiting.iter().take_while(|entry| is_before(entry)).count();
        let id = Id::default();
        let kind = InputKind::Keys;
        self.waiting.insert(at, Entry { id, kind, bytes, written: 0, is_secret: None, asked_by: None });
    }

    /// What is known of an input.
    pub(crate) fn state(&self, id: &Id) -> InputOutcome {
        if self.waiting.iter().any(|entry| entry.id == *id && entry.asked_by.is_some()) {
            return InputOutcome::Queued;
        }
        let known = self.remembered.iter().rev().find(|(known, _)| known == id);
        known.map_or(InputOutcome::Unknown, |(_, outcome)| *outcome)
    }

    /// Ends the program's input behind what waits already.
    pub(crate) fn end(&mut self) {
        self.ends_after = true;
    }

    /// Whether something waits to be written.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty() || self.ends_after
    }

    /// Writes as much as the program takes now; each input settled is handed to `settled`.
    pub(crate) fn pump(
        &mut self,
        now_us: u64,
        program: &mut Program,
        recording: &mut Recording,
        mut settled: impl FnMut(Settled),
    ) {
        while let Some(entry) = self.waiting.front_mut() {
            let outcome = match write_some(now_us, entry, program, recording) {
                Step::Settled(outcome) => outcome,
                Step::Again => continue,
                Step::Blocked => return,
            };
            let Some(entry) = self.waiting.pop_front() else { return };
            let Some(asked_by) = entry.asked_by else {
                self.waiting_bytes = self.waiting_bytes.saturating_sub(entry.bytes.len());
                if outcome == InputOutcome::Written {
                    record(now_us, &entry, recording);
                }
                continue;
            };
            if outcome == InputOutcome::Written {
                recording.failpoint("shim.written");
                record(now_us, &entry, recording);
                recording.failpoint("shim.recorded");
            }
            settled(self.forget(&entry, asked_by, outcome));
            recording.failpoint("shim.answered");
        }
        if self.ends_after && end_input(program) {
            self.ends_after = false;
            self.is_ended = program.has_pipes();
        }
    }

    /// Settles everything that waits: the program is gone.
    pub(crate) fn close(&mut self, mut settled: impl FnMut(Settled)) {
        self.is_ended = true;
        self.ends_after = false;
        while let Some(entry) = self.waiting.pop_front() {
            if let Some(asked_by) = entry.asked_by {
                settled(self.forget(&entry, asked_by, InputOutcome::Closed));
            }
        }
    }

    fn forget(&mut self, entry: &Entry, asked_by: Token, outcome: InputOutcome) -> Settled {
        self.waiting_bytes = self.waiting_bytes.saturating_sub(entry.bytes.len());
        // One that is to be offered again is as if it had never come.
        if outcome != InputOutcome::Full {
            if self.remembered.len() >= REMEMBERED_INPUTS {
                let _oldest = self.remembered.pop_front();
            }
            self.remembered.push_back((entry.id, outcome));
        }
        Settled { id: entry.id, outcome, asked_by }
    }
}

/// Writes once. The terminal's modes are asked when the writing begins, since the program may change them until then.
fn write_some(now_us: u64, entry: &mut Entry, program: &mut Program, recording: &mut Recording) -> Step {
    if entry.is_secret.is_none() {
        let modes = program.modes();
        if entry.kind == InputKind::Message && modes.collects_lines && !lines_fit(&entry.bytes) {
            return Step::Settled(InputOutcome::LineTooLong);
        }
        entry.is_secret = Some(entry.kind == InputKind::Keys && !modes.echoes);
        if entry.kind == InputKind::Message {
            // Before the first byte: a message that is marked and not recorded as input was cut short by a crash. One
            // that cannot be marked would be written again after it.
            recording.failpoint("shim.begun");
            if !recording.event(now_us, 'm', &MessageId::from_bytes(entry.id).to_string()) {
                return Step::Settled(InputOutcome::Full);
            }
            recording.failpoint("shim.marked");
        }
    }
    let rest = entry.bytes.get(entry.written..).unwrap_or_default();
    if rest.is_empty() {
        return Step::Settled(InputOutcome::Written);
    }
    match program.write(rest) {
        Ok(Transfer::Moved(0) | Transfer::WouldBlock) => Step::Blocked,
        Ok(Transfer::Moved(count)) => {
            entry.written = entry.written.saturating_add(count);
            Step::Again
        }
        Ok(Transfer::Ended) | Err(_) => Step::Settled(InputOutcome::Closed),
    }
}

fn lines_fit(bytes: &[u8]) -> bool {
    bytes.split(|byte| matches!(byte, b'\n' | b'\r')).all(|line| line.len() <= LINE_BYTES_MAX)
}

/// Says to the program that no more comes, and whether that was taken.
fn end_input(program: &mut Program) -> bool {
    if program.has_pipes() {
        program.close_input();
        return true;
    }
    // Programs that read keys one by one have no end of input that could be typed.
    !program.modes().collects_lines || !matches!(program.write(END_OF_INPUT), Ok(Transfer::WouldBlock))
}

fn record(now_us: u64, entry: &Entry, recording: &mut Recording) {
    if entry.is_secret == Some(true) {
        let mut count = Vec::with_capacity(20);
        cast::put_number(&mut count, u64::try_from(entry.bytes.len()).unwrap_or(u64::MAX));
        let _kept = recording.event(now_us, 'k', &String::from_utf8_lossy(&count));
    } else {
        recording.input(now_us, &entry.bytes);
    }
}

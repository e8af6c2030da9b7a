//! A recording without space: what is missing is counted, or the program waits.
//!
//! Owns the retries and the gap's beginning and end.

use std::io;

use edgeplane_wire::{cast, shim::OutputStream, spec::OnFull};

use super::{Kept, Notice, Recording};

/// How long to wait before the next attempt once there was no space.
pub(super) const RETRY_US: u64 = 250_000;

/// Output that found no space while the program is made to wait.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) stream: OutputStream,
    pub(super) bytes: Vec<u8>,
    pub(super) retry_at_us: u64,
}

/// Output that is missing from the recording so far.
#[derive(Debug, Clone, Copy)]
pub(super) struct Missing {
    pub(super) from: u64,
    pub(super) errno: i32,
    pub(super) retry_at_us: u64,
}

impl Recording {
    /// Whether the program must wait for space; nothing may be recorded as output meanwhile.
    pub(crate) fn is_waiting(&self) -> bool {
        self.waiting.is_some()
    }

    /// Tries again what waits for space; the chunk and its offset once it is settled.
    pub(crate) fn retry_waiting(&mut self, now_us: u64) -> Option<(u64, OutputStream, Vec<u8>)> {
        let waiting = self.waiting.take_if(|waiting| waiting.retry_at_us <= now_us)?;
        match self.output(now_us, waiting.stream, &waiting.bytes) {
            Kept::At(offset) => Some((offset, waiting.stream, waiting.bytes)),
            Kept::Waiting => None,
        }
    }

    /// Makes nothing wait for space any more: the program has ended, and its end must be told.
    pub(crate) fn stop_waiting(&mut self) {
        self.plan.on_full = OnFull::Gap;
        if let Some(waiting) = &mut self.waiting {
            waiting.retry_at_us = 0;
        }
    }

    /// Whether there was no space at the last attempt.
    pub(super) fn is_full(&self) -> bool {
        self.missing.is_some() || self.waiting.is_some()
    }

    /// Counts output as missing from here on.
    pub(super) fn miss(&mut self, error: &io::Error, retry_at_us: u64) {
        let errno = error.raw_os_error().unwrap_or(0);
        if let Some(missing) = &mut self.missing {
            missing.retry_at_us = retry_at_us;
            return;
        }
        self.missing = Some(Missing { from: self.head, errno, retry_at_us });
        self.notices.push(Notice::Gap { from: self.head, to: self.head, errno });
    }

    /// Writes a chunk, behind the count of missing bytes if there are any.
    pub(super) fn write_output(&mut self, now_us: u64, stream: OutputStream, bytes: &[u8]) -> io::Result<()> {
        let mut interval_us = self.interval(now_us);
        self.lines.clear();
        if let Some(missing) = self.missing {
            put_gap(&mut self.lines, interval_us, self.head.saturating_sub(missing.from));
            interval_us = 0;
        }
        cast::put_output(&mut self.lines, interval_us, stream, bytes);
        self.append(now_us)?;
        self.gap_ended();
        Ok(())
    }

    /// Tries to write down how much is missing, and so to end the gap.
    pub(super) fn end_gap(&mut self, now_us: u64) {
        let Some(missing) = self.missing else { return };
        let interval_us = self.interval(now_us);
        self.lines.clear();
        put_gap(&mut self.lines, interval_us, self.head.saturating_sub(missing.from));
        match self.append(now_us) {
            Ok(()) => self.gap_ended(),
            Err(error) => self.miss(&error, now_us.saturating_add(RETRY_US)),
        }
    }

    fn gap_ended(&mut self) {
        if let Some(missing) = self.missing.take() {
            self.notices.push(Notice::Gap { from: missing.from, to: self.head, errno: missing.errno });
        }
    }
}

fn put_gap(lines: &mut Vec<u8>, interval_us: u64, bytes: u64) {
    let mut text = Vec::with_capacity(20);
    cast::put_number(&mut text, bytes);
    cast::put_event(lines, interval_us, 'g', &String::from_utf8_lossy(&text));
}

//! The recording of one epoch: what goes into it, when a segment ends, what happens without space.
//!
//! Owns the offsets of the epoch's output and the bytes held back for an unfinished character; rotation is in
//! [`segments`], the rules of [`OnFull`] in [`full`]. It deliberately knows no client: what must be said to one is left in [`Recording::take_notices`].
//!
//! Positions are given to bytes here and nowhere else, each byte once, in the order in which they are written.

mod file;
mod full;
mod held;
mod segments;

use std::{io, path::PathBuf};

use edgeplane_wire::{cast, shim::OutputStream, spec::OnFull};

use file::SegmentFile;
use full::{Missing, RETRY_US, Waiting};
use held::Held;
use segments::{SYNC_US, put_header};

/// How long bytes of an unfinished character wait for the rest; a program that pauses there meant them as they are.
const HELD_US: u64 = 20_000;

/// Bytes of lines that are collected before they are written, so that a long input needs no memory of its length.
const LINES_BYTES: usize = 16 << 10;

/// Bytes of an input in one event.
const INPUT_EVENT_BYTES: usize = 8 << 10;

/// Room for the lines of one write: a chunk of 8 KiB whose every byte is escaped, and its exact bytes behind it. Only
/// what is used of it ever takes memory.
const LINES_CAPACITY: usize = 64 << 10;

/// What the recording is of, and its rules.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The epoch's folder.
    pub(crate) dir: PathBuf,
    /// The agent's name.
    pub(crate) name: String,
    /// The agent's id as text.
    pub(crate) agent: String,
    /// The epoch.
    pub(crate) epoch: u64,
    /// Columns and rows, zero on pipes.
    pub(crate) size: (u16, u16),
    /// Whether the program has pipes.
    pub(crate) pipes: bool,
    /// Size at which a segment is complete.
    pub(crate) segment_bytes_max: u64,
    /// Age at which a segment with output is complete.
    pub(crate) segment_age_max_us: u64,
    /// What to do without space.
    pub(crate) on_full: OnFull,
}

/// What clients that control must hear of the recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Notice {
    /// A segment is complete and durable.
    Sealed { segment: u32, from: u64, to: u64 },
    /// Output is missing: the same offset twice where it begins, the whole range where it ends.
    Gap { from: u64, to: u64, errno: i32 },
}

/// What became of a chunk of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kept {
    /// It has this offset, and is in the recording or counted as missing: show it.
    At(u64),
    /// There is no space and the program must wait: it is kept and must not be shown yet.
    Waiting,
}

/// The recording of one epoch.
#[derive(Debug)]
pub(crate) struct Recording {
    plan: Plan,
    file: SegmentFile,
    segment: u32,
    segment_from: u64,
    segment_started_us: u64,
    rotate_not_before_us: u64,
    head: u64,
    synced: u64,
    /// Whether a sync failed: the kernel then forgets what it could not write, so nothing later proves it durable.
    is_durability_lost: bool,
    dirty_since_us: Option<u64>,
    last_event_us: u64,
    held: [Held; 2],
    lines: Vec<u8>,
    missing: Option<Missing>,
    waiting: Option<Waiting>,
    notices: Vec<Notice>,
}

impl Recording {
    /// Begins the recording with its first segment, which must not exist.
    ///
    /// # Errors
    /// When the segment cannot be made.
    pub(crate) fn begin(plan: Plan, now_us: u64) -> io::Result<Self> {
        let mut lines = Vec::with_capacity(LINES_CAPACITY);
        put_header(&mut lines, &plan, 1, 0);
        let file = SegmentFile::create(&plan.dir, 1, &lines)?;
        Ok(Self {
            plan,
            file,
            segment: 1,
            segment_from: 0,
            segment_started_us: now_us,
            rotate_not_before_us: 0,
            head: 0,
            synced: 0,
            is_durability_lost: false,
            dirty_since_us: Some(now_us),
            last_event_us: now_us,
            held: [Held::EMPTY; 2],
            lines,
            missing: None,
            waiting: None,
            notices: Vec::new(),
        })
    }

    /// Removes what [`Recording::begin`] made, for a launch that failed.
    pub(crate) fn discard(&self) {
        self.file.remove();
    }

    /// Offset of the next byte.
    pub(crate) fn head(&self) -> u64 {
        self.head
    }

    /// Offset after the last byte on stable storage.
    pub(crate) fn synced(&self) -> u64 {
        self.synced
    }

    /// The segment being written.
    pub(crate) fn segment(&self) -> u32 {
        self.segment
    }

    /// Columns and rows, zero on pipes.
    pub(crate) fn size(&self) -> (u16, u16) {
        self.plan.size
    }

    /// What clients must hear, once.
    pub(crate) fn take_notices(&mut self) -> Vec<Notice> {
        std::mem::take(&mut self.notices)
    }

    /// The bytes held back of a stream; read the next ones behind them and hand all to [`Recording::hold_back`].
    pub(crate) fn held(&self, stream: OutputStream) -> Held {
        let [out, err] = &self.held;
        match stream {
            OutputStream::Out => *out,
            OutputStream::Err => *err,
        }
    }

    /// Splits what was read, held bytes in front, into what is to be recorded now; the rest is held back.
    pub(crate) fn hold_back<'b>(&mut self, now_us: u64, stream: OutputStream, bytes: &'b [u8]) -> &'b [u8] {
        let tail = cast::unfinished_tail(bytes);
        let (now, later) =
            bytes.len().checked_sub(tail).and_then(|at| bytes.split_at_checked(at)).unwrap_or((bytes, &[]));
        let [out, err] = &mut self.held;
        let slot = match stream {
            OutputStream::Out => out,
            OutputStream::Err => err,
        };
        *slot = Held::new(later, now_us.saturating_add(HELD_US));
        now
    }

    /// Bytes whose time to be held back is over, as they are; at the end, all of them.
    pub(crate) fn overdue(&mut self, now_us: u64) -> Option<(OutputStream, Held)> {
        if self.is_waiting() {
            return None;
        }
        let streams = [OutputStream::Out, OutputStream::Err];
        let due = self.held.iter_mut().zip(streams).find(|(held, _)| held.is_due(now_us));
        due.map(|(held, stream)| (stream, std::mem::replace(held, Held::EMPTY)))
    }

    /// Records a chunk of output, which must not be empty.
    pub(crate) fn output(&mut self, now_us: u64, stream: OutputStream, bytes: &[u8]) -> Kept {
        if self.is_old(now_us) || self.file.len() >= self.plan.segment_bytes_max {
            self.rotate(now_us);
        }
        let offset = self.head;
        if self.missing.is_some_and(|missing| now_us < missing.retry_at_us) {
            self.advance(bytes);
            return Kept::At(offset);
        }
        match self.write_output(now_us, stream, bytes) {
            Ok(()) => self.advance(bytes),
            Err(error) => {
                let retry_at_us = now_us.saturating_add(RETRY_US);
                if self.plan.on_full == OnFull::Pause {
                    self.waiting = Some(Waiting { stream, bytes: bytes.to_vec(), retry_at_us });
                    return Kept::Waiting;
                }
                self.miss(&error, retry_at_us);
                self.advance(bytes);
            }
        }
        Kept::At(offset)
    }

    /// Records a fact that is no output, and says whether it is kept. Without space it is lost: it moves no offset, and
    /// nothing waits for it.
    pub(crate) fn event(&mut self, now_us: u64, code: char, data: &str) -> bool {
        if self.is_full() {
            return false;
        }
        let interval_us = self.interval(now_us);
        self.lines.clear();
        cast::put_event(&mut self.lines, interval_us, code, data);
        // Output will find the want of space for itself and report it.
        self.append(now_us).is_ok()
    }

    /// Where a test may let the shim die.
    pub(crate) fn failpoint(&self, name: &str) {
        if let Some(agent) = self.plan.dir.parent() {
            edgeplane_os::failpoint::pass(agent, name);
        }
    }

    /// Records an input's bytes as text, in as many events as they need.
    pub(crate) fn input(&mut self, now_us: u64, bytes: &[u8]) {
        if self.is_full() {
            return;
        }
        let mut interval_us = self.interval(now_us);
        let mut rest = bytes;
        self.lines.clear();
        while !rest.is_empty() {
            let whole = rest.get(..INPUT_EVENT_BYTES).map_or(rest.len(), |piece| {
                // A piece is longer than any tail, so some of it is always left.
                piece.len().saturating_sub(cast::unfinished_tail(piece))
            });
            let (piece, later) = rest.split_at_checked(whole).unwrap_or((rest, &[]));
            rest = later;
            cast::put_event(&mut self.lines, interval_us, 'i', &String::from_utf8_lossy(piece));
            interval_us = 0;
            if (self.lines.len() >= LINES_BYTES || rest.is_empty()) && self.append(now_us).is_err() {
                return;
            }
        }
    }

    /// Records a new size of the terminal.
    pub(crate) fn resize(&mut self, now_us: u64, cols: u16, rows: u16) {
        self.plan.size = (cols, rows);
        let mut text = Vec::with_capacity(12);
        cast::put_number(&mut text, u64::from(cols));
        text.push(b'x');
        cast::put_number(&mut text, u64::from(rows));
        let _kept = self.event(now_us, 'r', &String::from_utf8_lossy(&text));
    }

    /// When [`Recording::tick`] or [`Recording::overdue`] or [`Recording::retry_waiting`] has something to do.
    pub(crate) fn due_us(&self) -> Option<u64> {
        let held = self.held.iter().filter_map(Held::due_us).min().filter(|_due| !self.is_waiting());
        let sync = self.dirty_since_us.map(|since| since.saturating_add(SYNC_US));
        let age = (self.head > self.segment_from && !self.is_full()).then(|| {
            let old_us = self.segment_started_us.saturating_add(self.plan.segment_age_max_us);
            old_us.max(self.rotate_not_before_us)
        });
        let retry = self.missing.map(|missing| missing.retry_at_us);
        let waiting = self.waiting.as_ref().map(|waiting| waiting.retry_at_us);
        [held, sync, age, retry, waiting].into_iter().flatten().min()
    }

    /// Does what time alone makes due: syncing, rotation by age, another attempt to end a gap.
    pub(crate) fn tick(&mut self, now_us: u64) {
        if self.missing.is_some_and(|missing| missing.retry_at_us <= now_us) {
            self.end_gap(now_us);
        }
        if self.is_old(now_us) {
            self.rotate(now_us);
        }
        if self.dirty_since_us.is_some_and(|since| since.saturating_add(SYNC_US) <= now_us) {
            self.sync(now_us);
        }
    }

    /// Ends the recording: the gap if there is one, and the exit. What is left is to [`Recording::sync`].
    pub(crate) fn end(&mut self, now_us: u64, exit: &str) {
        if let Some(missing) = self.missing {
            self.end_gap(now_us);
            if self.missing.take().is_some() {
                let gap = Notice::Gap { from: missing.from, to: self.head, errno: missing.errno };
                self.notices.push(gap);
            }
        }
        let _kept = self.event(now_us, 'x', exit);
    }

    fn interval(&self, now_us: u64) -> u64 {
        now_us.saturating_sub(self.last_event_us)
    }

    fn advance(&mut self, bytes: &[u8]) {
        self.head = self.head.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
    }

    /// Appends the collected lines, all of them or none.
    fn append(&mut self, now_us: u64) -> io::Result<()> {
        let result = self.file.append(&self.lines);
        self.lines.clear();
        self.lines.shrink_to(LINES_CAPACITY);
        result?;
        self.last_event_us = now_us;
        self.dirty_since_us.get_or_insert(now_us);
        Ok(())
    }
}

#[cfg(test)]
mod tests;

//! The way back to a caller: lines for its connection, bounded, never waited for by engines.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

/// Lines that wait for a slow reader. Beyond that a follower is resynchronised and a viewer gets its screen anew.
pub(crate) const LINES_MAX: usize = 256;

/// Bytes of such lines; a longer one waits until it is alone.
const BYTES_MAX: u32 = 8 << 20;

/// A line on its way, with the room it takes until it is written.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) line: Vec<u8>,
    _room: OwnedSemaphorePermit,
}

/// A connection's outgoing lines.
#[derive(Debug, Clone)]
pub(crate) struct Outbound {
    lines: mpsc::Sender<Waiting>,
    room: Arc<Semaphore>,
    /// Whether the caller says nothing more: what it asked for is still answered, but nothing follows it any more.
    ended: Arc<AtomicBool>,
}

/// Why a line was not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NotSent {
    /// The reader is slow.
    Full,
    /// There is no reader any more.
    Gone,
}

impl Outbound {
    pub(crate) fn new() -> (Self, mpsc::Receiver<Waiting>) {
        let (lines, receiver) = mpsc::channel(LINES_MAX);
        let room = Arc::new(Semaphore::new(all_room()));
        (Self { lines, room, ended: Arc::default() }, receiver)
    }

    /// Hands over a line if there is room now.
    pub(crate) fn offer(&self, line: Vec<u8>) -> Result<(), NotSent> {
        if self.is_gone() {
            return Err(NotSent::Gone);
        }
        let room = Arc::clone(&self.room).try_acquire_many_owned(room_for(&line));
        let room = room.map_err(|_none| NotSent::Full)?;
        self.lines.try_send(Waiting { line, _room: room }).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => NotSent::Full,
            mpsc::error::TrySendError::Closed(_) => NotSent::Gone,
        })
    }

    /// Whether most of the room is free again.
    pub(crate) fn has_drained(&self) -> bool {
        self.lines.capacity() > LINES_MAX / 2 && self.room.available_permits() > all_room() / 2
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.lines.is_closed() || self.ended.load(Ordering::Relaxed)
    }

    /// The caller will say nothing more.
    pub(crate) fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }

    /// Waits for room. For tasks of the connection itself, never for engines.
    pub(crate) async fn send(&self, line: Vec<u8>) -> Result<(), NotSent> {
        let room = Arc::clone(&self.room).acquire_many_owned(room_for(&line)).await;
        let room = room.map_err(|_closed| NotSent::Gone)?;
        self.lines.send(Waiting { line, _room: room }).await.map_err(|_closed| NotSent::Gone)
    }
}

fn all_room() -> usize {
    usize::try_from(BYTES_MAX).unwrap_or(usize::MAX)
}

fn room_for(line: &[u8]) -> u32 {
    u32::try_from(line.len()).unwrap_or(BYTES_MAX).clamp(1, BYTES_MAX)
}

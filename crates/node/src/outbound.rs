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

/// A line, or several. Its end may be shared with the lines of others, which are then written of the same bytes.
#[derive(Debug)]
pub(crate) struct Line {
    own: Vec<u8>,
    shared: Option<Arc<Vec<u8>>>,
}

impl From<Vec<u8>> for Line {
    fn from(own: Vec<u8>) -> Self {
        Self { own, shared: None }
    }
}

impl Line {
    /// A line whose end is the same for many.
    pub(crate) fn shared(own: Vec<u8>, shared: Arc<Vec<u8>>) -> Self {
        Self { own, shared: Some(shared) }
    }

    /// Both of its parts.
    pub(crate) fn parts(&self) -> [&[u8]; 2] {
        [&self.own, self.shared.as_ref().map_or(&[], |shared| shared.as_slice())]
    }

    fn len(&self) -> usize {
        self.parts().iter().map(|part| part.len()).sum()
    }
}

/// A line on its way, with the room it takes until it is written.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) line: Line,
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
        let room = Arc::clone(&self.room).try_acquire_many_owned(room_for(line.len()));
        let room = room.map_err(|_none| NotSent::Full)?;
        self.lines.try_send(Waiting { line: line.into(), _room: room }).map_err(|error| match error {
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
    pub(crate) async fn send(&self, line: impl Into<Line>) -> Result<(), NotSent> {
        let line = line.into();
        let room = Arc::clone(&self.room).acquire_many_owned(room_for(line.len())).await;
        let room = room.map_err(|_closed| NotSent::Gone)?;
        self.lines.send(Waiting { line, _room: room }).await.map_err(|_closed| NotSent::Gone)
    }
}

fn all_room() -> usize {
    usize::try_from(BYTES_MAX).unwrap_or(usize::MAX)
}

fn room_for(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(BYTES_MAX).clamp(1, BYTES_MAX)
}

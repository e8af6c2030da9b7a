//! Threads that do what one thread finds to be done.

use std::sync::{
    Mutex, PoisonError,
    mpsc::{SyncSender, sync_channel},
};

use crate::error::WorkspaceError;

/// Threads that work; more wait for the disk or for each other.
const THREADS_MAX: usize = 8;

/// What waits to be done. Whoever finds it waits when the queue is full, and keeps no more folders open.
const QUEUE: usize = 8;

/// Those who work.
#[derive(Debug)]
pub(crate) struct Pool<W> {
    queue: SyncSender<W>,
}

impl<W: Send> Pool<W> {
    /// Runs `find` beside threads that do what it hands on, until all of it is done. The first failure ends the work.
    pub(crate) fn beside<R>(
        work: impl Fn(W) -> Result<(), WorkspaceError> + Sync,
        find: impl FnOnce(&Self) -> Result<R, WorkspaceError>,
    ) -> Result<R, WorkspaceError> {
        let (queue, waiting) = sync_channel::<W>(QUEUE);
        let waiting = Mutex::new(waiting);
        let failure = Mutex::new(None);
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX);
        let worker = || {
            loop {
                let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
                let Ok(next) = next else { return };
                // After a failure the rest is only taken away, so that whoever finds it does not wait for ever.
                if failure.lock().unwrap_or_else(PoisonError::into_inner).is_some() {
                    continue;
                }
                if let Err(error) = work(next) {
                    failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                }
            }
        };
        let found = std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(worker);
            }
            let pool = Self { queue };
            find(&pool)
        });
        match failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error),
            None => found,
        }
    }

    /// Hands something on.
    pub(crate) fn hand_on(&self, work: W) -> Result<(), WorkspaceError> {
        self.queue.send(work).map_err(|_closed| WorkspaceError::Thread)
    }
}

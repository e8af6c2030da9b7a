//! What waits for the writer: bounded, in order, taken all at once.

use std::{
    collections::VecDeque,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use crate::{
    batch::{AppendError, Batch, Committed},
    writer::Writer,
};

/// Batches that may wait. Enough for every agent of a large node to have one; beyond it the disk is the bottleneck
/// and waiting longer helps nobody, so the sender is told to come back.
const BATCHES_MAX: usize = 4_096;

/// Batches beyond that which may wait if they are critical: a stop must not be refused because others talk much.
const CRITICAL_EXTRA: usize = 1_024;

/// Bytes of bodies that may wait, so that a full queue cannot take the machine's memory.
const BODY_BYTES_MAX: usize = 64 << 20;

/// Told what became of a batch.
pub(crate) type OnDone = Box<dyn FnOnce(Result<Committed, AppendError>) + Send>;

/// Something for the writer to do.
pub(crate) enum Job {
    Append(Batch, OnDone),
    /// Anything else; done alone and in its turn.
    Task(Box<dyn FnOnce(&mut Writer) + Send>),
}

impl Job {
    fn body_bytes(&self) -> usize {
        match self {
            Self::Append(batch, _) => batch.bodies.iter().map(|body| body.bytes().len()).sum(),
            Self::Task(_) => 0,
        }
    }

    fn limit(&self) -> usize {
        match self {
            Self::Append(batch, _) if !batch.critical => BATCHES_MAX,
            Self::Append(..) | Self::Task(_) => BATCHES_MAX + CRITICAL_EXTRA,
        }
    }
}

/// What a wait for jobs came to.
pub(crate) enum Taken {
    Jobs(VecDeque<Job>),
    /// Nothing came in the time given.
    Nothing,
    /// The queue is closed and empty.
    Closed,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    body_bytes: usize,
    closed: bool,
}

/// The queue.
#[derive(Default)]
pub(crate) struct Queue {
    state: Mutex<State>,
    ready: Condvar,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing in here panics halfway, so the state behind a poisoned lock is whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a job wait; gives it back if it may not.
    pub(crate) fn push(&self, job: Job) -> Result<(), (Job, AppendError)> {
        let mut state = self.lock();
        if state.closed {
            return Err((job, AppendError::Closed));
        }
        let body_bytes = state.body_bytes.saturating_add(job.body_bytes());
        // A single body larger than the limit is let through when nothing else waits.
        let too_many_bytes = body_bytes > BODY_BYTES_MAX && state.body_bytes > 0;
        if state.jobs.len() >= job.limit() || too_many_bytes {
            return Err((job, AppendError::Backpressure));
        }
        state.body_bytes = body_bytes;
        let was_empty = state.jobs.is_empty();
        state.jobs.push_back(job);
        drop(state);
        if was_empty {
            self.ready.notify_one();
        }
        Ok(())
    }

    /// Waits for jobs and takes them all; no longer than `patience`, if that is given.
    pub(crate) fn take(&self, patience: Option<Duration>) -> Taken {
        let mut state = self.lock();
        while state.jobs.is_empty() {
            if state.closed {
                return Taken::Closed;
            }
            let Some(patience) = patience else {
                state = self.ready.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let (again, waited) =
                self.ready.wait_timeout(state, patience).unwrap_or_else(PoisonError::into_inner);
            state = again;
            if waited.timed_out() && state.jobs.is_empty() && !state.closed {
                return Taken::Nothing;
            }
        }
        state.body_bytes = 0;
        Taken::Jobs(std::mem::take(&mut state.jobs))
    }

    /// Takes nothing in from now on and forgets what waits: there is nobody left to do it.
    pub(crate) fn abandon(&self) {
        let mut state = self.lock();
        state.closed = true;
        let jobs = std::mem::take(&mut state.jobs);
        drop(state);
        // Whoever waits for one of them finds its callback gone. Not under the lock: a callback may own a handle.
        drop(jobs);
    }

    /// Takes nothing in from now on; what waits is still done.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.ready.notify_all();
    }
}

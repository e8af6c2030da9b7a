//! The handle of the store: cheap to clone, asks the writer, hands out readers.

use std::{
    fmt,
    path::Path,
    sync::{Arc, Mutex, PoisonError, mpsc},
    thread::{self, JoinHandle},
};

use edgeplane_proof::Digest;
use edgeplane_types::StreamName;

use crate::{
    AppendError, Batch, Committed, CommittedEvent, Model, OpenError, Opening, Options, Reader, open,
    queue::Job,
    writer::{Shared, Writer},
};

/// Told of every event in the order of the record, on the writer's thread, after the commit and before whoever asked
/// for it. It must return at once: everybody else waits.
pub type Observer = Arc<dyn Fn(&[CommittedEvent]) + Send + Sync>;

/// How the store is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Health {
    /// It takes everything in.
    Serving,
    /// The last commit failed: only critical batches are taken, into the reserve.
    Degraded {
        /// Events in the reserve.
        held_events: usize,
    },
    /// Verification failed: it takes nothing in.
    Damaged(Damage),
}

/// What verification found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// An event is not what its chain says.
    #[error("stream `{stream}` is damaged at event {seq}: {what}")]
    Event {
        /// Its stream.
        stream: StreamName,
        /// Its number.
        seq: u64,
        /// What is wrong.
        what: String,
    },
    /// The end of a stream is not where the table of streams says.
    #[error("stream `{stream}` does not end as noted: {what}")]
    Head {
        /// Which stream.
        stream: StreamName,
        /// What is wrong.
        what: String,
    },
    /// SQLite cannot make sense of the file.
    #[error("the database is damaged: {what}")]
    Database {
        /// What SQLite says.
        what: String,
    },
    /// An audit found it.
    #[error("an audit failed: {what}")]
    Audit {
        /// The first problem.
        what: String,
    },
}

/// The record of a node, open for writing. The last clone to go closes it and waits for the writer.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    shared: Arc<Shared>,
    reader: Reader,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("health", &self.health()).finish_non_exhaustive()
    }
}

impl Store {
    /// Opens the record in `dir`, makes it if there is none, verifies the tails of its streams, brings older tables
    /// and models up to date, and merges what the reserve holds.
    ///
    /// A record that fails verification is opened for reading: see [`Opening::damaged`].
    ///
    /// # Errors
    /// When there is nothing that could be read: no directory, no database, or one of a newer program.
    pub fn open(dir: &Path, options: &Options) -> Result<(Self, Opening), OpenError> {
        open::open(dir, options)
    }

    pub(crate) fn start(shared: Arc<Shared>, reader: Reader, writer: Writer) -> Result<Self, std::io::Error> {
        let thread = thread::Builder::new().name("record".to_owned()).spawn(move || writer.run())?;
        Ok(Self { inner: Arc::new(Inner { shared, reader, thread: Mutex::new(Some(thread)) }) })
    }

    /// Hands a batch to the writer and returns; `on_done` is told what became of it, on the writer's thread, or at
    /// once on this one if the writer cannot take it.
    pub fn submit(&self, batch: Batch, on_done: Box<dyn FnOnce(Result<Committed, AppendError>) + Send>) {
        if let Err((Job::Append(_, on_done), error)) =
            self.inner.shared.queue.push(Job::Append(batch, on_done))
        {
            on_done(Err(error));
        }
    }

    /// Hands a batch to the writer and waits until it is durable.
    ///
    /// # Errors
    /// When it is not; nothing of it is in the record then.
    pub fn append(&self, batch: Batch) -> Result<Committed, AppendError> {
        let (sender, receiver) = mpsc::sync_channel(1);
        self.submit(
            batch,
            Box::new(move |result| {
                // Whoever asked waits for this; if its thread is gone, nobody does.
                drop(sender.send(result));
            }),
        );
        receiver.recv().unwrap_or(Err(AppendError::Closed))
    }

    /// Adds an observer. It sees what is committed from now on.
    pub fn observe(&self, observer: Observer) {
        self.inner.shared.observers.write().unwrap_or_else(PoisonError::into_inner).push(observer);
    }

    /// A reader of this record.
    #[must_use]
    pub fn reader(&self) -> Reader {
        self.inner.reader.clone()
    }

    /// How the store is.
    #[must_use]
    pub fn health(&self) -> Health {
        self.inner.shared.health()
    }

    /// Lets the writer see whether there is room again for what the reserve holds. Waits for the outcome.
    ///
    /// # Errors
    /// When there is none yet.
    pub fn tick(&self) -> Result<(), AppendError> {
        self.ask(Writer::merge)
    }

    /// Replaces a body by a tombstone and says whether there was one. Events keep its digest, so chains still verify.
    ///
    /// # Errors
    /// When the tombstone is not durable, or the body's file cannot be removed.
    pub fn erase_body(&self, digest: Digest, reason: &str) -> Result<bool, AppendError> {
        let reason = reason.to_owned();
        self.ask(move |writer| writer.erase(&digest, &reason))
    }

    /// Makes a model anew from the events. Appends wait; readers see the old rows until the new ones are complete.
    ///
    /// # Errors
    /// When the model keeps its old rows because an event could not be read or the database failed.
    pub fn rebuild(&self, model: Model) -> Result<(), AppendError> {
        self.ask(move |writer| writer.rebuild(model))
    }

    /// Makes the record read-only because an audit found a problem.
    pub fn mark_damaged(&self, what: &str) {
        self.inner.shared.set_health(Health::Damaged(Damage::Audit { what: what.to_owned() }));
    }

    /// Takes nothing more in, finishes what waits, and closes the files.
    pub fn close(&self) {
        self.inner.close();
    }

    fn ask<T: Send + 'static>(
        &self,
        task: impl FnOnce(&mut Writer) -> Result<T, AppendError> + Send + 'static,
    ) -> Result<T, AppendError> {
        let (sender, receiver) = mpsc::sync_channel(1);
        let task = Job::Task(Box::new(move |writer: &mut Writer| drop(sender.send(task(writer)))));
        self.inner.shared.queue.push(task).map_err(|(_job, error)| error)?;
        receiver.recv().unwrap_or(Err(AppendError::Closed))
    }
}

impl Inner {
    fn close(&self) {
        self.shared.queue.close();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        // The last handle may go in a callback, on the writer's own thread, which ends by itself then.
        if let Some(thread) = thread.filter(|thread| thread.thread().id() != thread::current().id())
            && thread.join().is_err()
        {
            tracing::error!("the record's writer panicked");
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.close();
    }
}

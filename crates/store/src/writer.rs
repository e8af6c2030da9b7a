//! The one thread that writes: it takes what waits, commits it together, and tells who asked.

mod storage;
mod transaction;

use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, RwLock},
    time::Duration,
};

use edgeplane_proof::{Canonicalizer, Digest};
use edgeplane_types::Event;
use rusqlite::Connection;

use crate::{
    batch::{AppendError, Batch, Body, Committed, CommittedEvent, NewEvent},
    bodies,
    heads::Heads,
    model::{FoldError, Model, rebuild},
    queue::{Job, OnDone, Queue, Taken},
    reserve::{Frame, Reserve},
    schema::Meta,
    sqlite::{cut_wal, is_damage, move_wal},
    store::{Damage, Health, Observer},
};

/// Events committed together at most: beyond it a commit costs more waiting than it saves.
const COMMIT_EVENTS_MAX: usize = 1_024;

/// Bytes committed together at most, for the same reason. Events count with their usual length.
const COMMIT_BYTES_MAX: usize = 4 << 20;

/// The usual length of an event and its rows.
const EVENT_BYTES_USUAL: usize = 1_024;

/// A pause this long is a quiet moment, in which nobody waits for the disk.
const QUIET: Duration = Duration::from_millis(20);

/// Commits after which a quiet moment is used to move the write-ahead log into the database. Left to itself SQLite does
/// that in the middle of a commit, which then takes ten times as long.
const TIDY_AFTER_COMMITS: u32 = 64;

/// What the writer shares with the handles of the store.
pub(crate) struct Shared {
    pub(crate) queue: Queue,
    pub(crate) observers: RwLock<Vec<Observer>>,
    pub(crate) health: Mutex<Health>,
}

impl Shared {
    pub(crate) fn health(&self) -> Health {
        self.health.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes how the store is. Damage stays: only another open, after somebody looked, may end it.
    pub(crate) fn set_health(&self, health: Health) {
        let mut current = self.health.lock().unwrap_or_else(PoisonError::into_inner);
        if !matches!(*current, Health::Damaged(_)) {
            *current = health;
        }
    }
}

/// A batch on its way into the record.
#[derive(Debug)]
struct Unit {
    events: Vec<Event>,
    bodies: Vec<Body>,
    critical: bool,
    /// Position and hash of each event, once the transaction has given them.
    places: Vec<(u64, Digest)>,
    refused: Option<AppendError>,
}

impl Unit {
    fn new(events: Vec<NewEvent>, bodies: Vec<Body>, critical: bool) -> Self {
        let events: Vec<Event> = events.into_iter().map(NewEvent::into_event).collect();
        Self { places: Vec::with_capacity(events.len()), events, bodies, critical, refused: None }
    }

    fn into_committed(self) -> impl Iterator<Item = CommittedEvent> {
        self.events.into_iter().zip(self.places).map(|(event, (pos, hash))| CommittedEvent {
            pos,
            event: Arc::new(event),
            hash,
        })
    }
}

/// A batch in the reserve, not yet in the record.
#[derive(Debug)]
struct Held {
    number: u64,
    unit: Unit,
}

/// A batch and who asked for it.
type Pending = (Unit, OnDone);

/// What an open hands to the writer.
pub(crate) struct Parts {
    pub(crate) conn: Connection,
    pub(crate) heads: Heads,
    pub(crate) reserve: Reserve,
    pub(crate) shared: Arc<Shared>,
}

/// Lets nobody wait for a writer that is gone, also if a callback panicked.
struct End(Arc<Shared>);

impl Drop for End {
    fn drop(&mut self) {
        self.0.queue.abandon();
    }
}

/// Owns the connection that writes.
pub(crate) struct Writer {
    conn: Connection,
    dir: PathBuf,
    bodies_dir: PathBuf,
    inline_body_bytes_max: usize,
    heads: Heads,
    canonicalizer: Canonicalizer,
    reserve: Reserve,
    held: Vec<Held>,
    /// Groups committed since the log was last moved into the database.
    untidy: u32,
    shared: Arc<Shared>,
}

impl Writer {
    pub(crate) fn new(dir: &Path, inline_body_bytes_max: usize, parts: Parts) -> Self {
        let Parts { conn, heads, reserve, shared } = parts;
        Self {
            conn,
            dir: dir.to_owned(),
            bodies_dir: bodies::directory(dir),
            inline_body_bytes_max,
            heads,
            canonicalizer: Canonicalizer::default(),
            reserve,
            held: Vec::new(),
            untidy: 0,
            shared,
        }
    }

    /// Takes over what the reserve holds.
    pub(crate) fn hold(&mut self, frames: Vec<Frame>) {
        self.held.extend(
            frames.into_iter().map(|frame| Held {
                number: frame.number,
                unit: Unit::new(frame.events, frame.bodies, true),
            }),
        );
    }

    /// Position of the newest event, and how many streams there are.
    pub(crate) fn extent(&self) -> (u64, usize) {
        (self.heads.pos(), self.heads.streams())
    }

    /// Works until the queue is closed and empty.
    pub(crate) fn run(mut self) {
        let _end = End(Arc::clone(&self.shared));
        let mut waiting = VecDeque::new();
        loop {
            if waiting.is_empty() {
                let is_due = self.untidy >= TIDY_AFTER_COMMITS;
                match self.shared.queue.take(is_due.then_some(QUIET)) {
                    Taken::Jobs(jobs) => waiting = jobs,
                    Taken::Nothing => self.tidy(),
                    Taken::Closed => break,
                }
            }
            let group = take_group(&mut waiting);
            if !group.is_empty() {
                self.commit_group(group);
            } else if let Some(Job::Task(task)) = waiting.pop_front() {
                task(&mut self);
            }
        }
        self.finish();
    }

    /// Moves the write-ahead log into the database while nobody waits.
    fn tidy(&mut self) {
        self.untidy = 0;
        if self.shared.health() != Health::Serving {
            return;
        }
        if let Err(error) = move_wal(&self.conn) {
            // The next commit meets the same trouble and says so to those who asked.
            tracing::warn!(%error, "cannot tidy the record up in a quiet moment");
        }
    }

    /// Leaves the directory so that the next open has little to do.
    fn finish(mut self) {
        if self.shared.health() == Health::Serving {
            let pos = self.heads.pos();
            let done = Meta::VerifiedPos.write(&self.conn, pos).and_then(|()| cut_wal(&self.conn));
            if let Err(error) = done {
                tracing::warn!(%error, "cannot tidy the record up at its close");
            }
        }
        self.held.clear();
        self.conn.flush_prepared_statement_cache();
        if let Err((_conn, error)) = self.conn.close() {
            tracing::warn!(%error, "cannot close the record");
        }
    }

    fn commit_group(&mut self, group: Vec<Pending>) {
        if let Health::Damaged(_) = self.shared.health() {
            group.into_iter().for_each(|(_, on_done)| on_done(Err(AppendError::Damaged)));
            return;
        }
        let (mut units, callbacks): (Vec<Unit>, Vec<OnDone>) = group.into_iter().unzip();
        self.untidy = self.untidy.saturating_add(1);
        match self.commit(&mut units) {
            Ok(()) => self.deliver(units, callbacks),
            Err(failure) => self.commit_critical(units, callbacks, failure),
        }
    }

    /// Tells observers, then those who asked, in the order of the record.
    fn deliver(&mut self, units: Vec<Unit>, callbacks: Vec<OnDone>) {
        let mut events: Vec<CommittedEvent> =
            std::mem::take(&mut self.held).into_iter().flat_map(|held| held.unit.into_committed()).collect();
        let held_events = events.len();
        let mut results = Vec::with_capacity(units.len());
        for mut unit in units {
            let result = unit.refused.take().map_or_else(
                || {
                    let before = events.len();
                    events.extend(unit.into_committed());
                    Ok(events.len() - before)
                },
                Err,
            );
            results.push(result);
        }
        self.observe(&events);
        let mut events = events.into_iter().skip(held_events);
        for (result, on_done) in results.into_iter().zip(callbacks) {
            on_done(result.map(|count| Committed { events: events.by_ref().take(count).collect(), held: 0 }));
        }
    }

    fn observe(&self, events: &[CommittedEvent]) {
        if events.is_empty() {
            return;
        }
        for observer in self.shared.observers.read().unwrap_or_else(PoisonError::into_inner).iter() {
            observer(events);
        }
    }

    /// Leaves a tombstone; says whether there was a body.
    pub(crate) fn erase(&mut self, digest: &Digest, reason: &str) -> Result<bool, AppendError> {
        if let Health::Damaged(_) = self.shared.health() {
            return Err(AppendError::Damaged);
        }
        let erased = self.conn.pragma_update(None, "secure_delete", true).and_then(|()| {
            let tx = self.conn.unchecked_transaction()?;
            let place = bodies::erase(&tx, digest, reason)?;
            tx.commit()?;
            // The old pages stand in the WAL until it is cut. A reader may be in the way; the next cut gets them.
            cut_wal(&self.conn)?;
            self.conn.pragma_update(None, "secure_delete", false)?;
            Ok(place)
        });
        let place = erased.map_err(|error| self.failed(error))?;
        if place == Some(bodies::Place::File) {
            bodies::remove_file(&self.bodies_dir, digest)
                .map_err(|source| AppendError::Body { digest: *digest, source: Arc::new(source) })?;
        }
        Ok(place.is_some())
    }

    /// Makes a model anew from the events, in one transaction.
    pub(crate) fn rebuild(&mut self, model: Model) -> Result<(), AppendError> {
        if let Health::Damaged(_) = self.shared.health() {
            return Err(AppendError::Damaged);
        }
        let rebuilt = self.conn.unchecked_transaction().map_err(FoldError::Database).and_then(|tx| {
            rebuild::rebuild(&tx, &[model])?;
            tx.commit().map_err(FoldError::Database)
        });
        rebuilt.map_err(|error| match error {
            FoldError::Database(error) => self.failed(error),
            other => AppendError::Refused { kind: model.as_str(), source: Arc::new(other) },
        })
    }

    /// Says in the words of the store that the database failed, and notes damage.
    fn failed(&self, error: rusqlite::Error) -> AppendError {
        if is_damage(&error) {
            self.shared.set_health(Health::Damaged(Damage::Database { what: error.to_string() }));
            return AppendError::Damaged;
        }
        if self.is_full(&error) {
            return AppendError::StorageFull;
        }
        AppendError::Database { source: Arc::new(error) }
    }
}

/// Takes the appends from the front that are to be committed together.
fn take_group(waiting: &mut VecDeque<Job>) -> Vec<Pending> {
    let mut group = Vec::with_capacity(waiting.len().min(COMMIT_EVENTS_MAX));
    let (mut events, mut bytes) = (0, 0);
    while let Some(Job::Append(batch, _)) = waiting.front() {
        events += batch.events.len();
        bytes += batch.events.len() * EVENT_BYTES_USUAL;
        bytes += batch.bodies.iter().map(|body| body.bytes().len()).sum::<usize>();
        if !group.is_empty() && (events > COMMIT_EVENTS_MAX || bytes > COMMIT_BYTES_MAX) {
            break;
        }
        if let Some(Job::Append(Batch { events, bodies, critical }, on_done)) = waiting.pop_front() {
            group.push((Unit::new(events, bodies, critical), on_done));
        }
    }
    group
}

//! Reading the record: any number of threads, each on a connection of its own that sees a state of the record as a
//! whole. A reader never waits for the writer.

mod actions;
mod agents;
mod artifacts;
mod automations;
mod benchmarks;
mod calls;
mod chain;
mod commands;
mod deliveries;
mod events;
mod fates;
mod graph;
mod inbox;
mod invocations;
mod jobs;
mod memory;
mod offers;
mod order;
mod overrides;
mod policies;
mod resources;
mod schedules;
mod sessions;
mod subagents;
mod tasks;
mod threads;
mod tokens;
mod traces;
mod workspaces;

use std::{
    fmt, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use edgeplane_proof::Digest;
use edgeplane_types::{Event, Fact};
use rusqlite::{Connection, Row, types::Type};

use crate::{
    CommittedEvent, Model, StoredBody, bodies,
    bodies::Kept,
    model::rebuild,
    open::DATABASE_NAME,
    schema, sqlite,
    sqlite::{Pages, digest, json, uint},
};

pub use actions::ActionFilter;
pub use chain::{ChainCheck, StoredEvent};
pub use events::{RAW_BYTES_MAX, RawEvent};
pub use inbox::InboxFilter;
pub use tasks::TaskFilter;
pub use threads::{Order, ThreadFilter, TurnsOf};
pub use traces::Stretch;
pub use workspaces::CheckpointFilter;

/// Idle connections kept. More threads than this may read; the connections they open beyond are closed after use.
const IDLE_MAX: usize = 8;

/// Most rows that one call returns, whatever its limit says, so that no caller can take the machine's memory.
pub const ROWS_MAX: usize = 10_000;

/// Why something cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The record cannot be opened.
    #[error("cannot open the record in `{}`", path.display())]
    Open {
        /// The database.
        path: PathBuf,
        /// What SQLite said.
        #[source]
        source: rusqlite::Error,
    },
    /// The record was written by a newer program.
    #[error("the record has format {found}, this program knows formats up to {known}: use a newer one")]
    Newer {
        /// Its format.
        found: i64,
        /// The newest that is known.
        known: i64,
    },
    /// A query failed or found what no writer of this program writes.
    #[error("cannot read the record")]
    Query(#[source] rusqlite::Error),
    /// The file of a body cannot be read.
    #[error("cannot read body {digest}")]
    Body {
        /// Which.
        digest: Digest,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
    /// The bytes of a body are not those that its digest was made of.
    #[error("body {0} is damaged")]
    BodyDamaged(Digest),
}

impl From<rusqlite::Error> for ReadError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Query(error)
    }
}

/// Reads a record; clones share their connections.
#[derive(Clone)]
pub struct Reader {
    pool: Arc<Pool>,
}

struct Pool {
    database: PathBuf,
    bodies: PathBuf,
    pages: Pages,
    idle: Mutex<Vec<Connection>>,
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").field("database", &self.pool.database).finish_non_exhaustive()
    }
}

impl Reader {
    /// A reader of the record in `dir`, whether a daemon writes to it or not.
    ///
    /// # Errors
    /// When there is no record, or one that this program cannot read.
    pub fn open(dir: &Path) -> Result<Self, ReadError> {
        let reader = Self::beside(dir);
        let found = reader.with(schema::version)?;
        let known = schema::version_known();
        if found > known {
            return Err(ReadError::Newer { found, known });
        }
        Ok(reader)
    }

    /// A reader of a record that is known to be there.
    pub(crate) fn beside(dir: &Path) -> Self {
        Self::over(dir.join(DATABASE_NAME), bodies::directory(dir), Pages::Mapped, Vec::new())
    }

    /// A reader of the same record for whoever looks up a little, again after each change.
    #[must_use]
    pub fn for_look_ups(&self) -> Self {
        self.with_own(Pages::Copied, Vec::new())
    }

    /// A reader of the same record with connections of its own.
    fn with_own(&self, pages: Pages, idle: Vec<Connection>) -> Self {
        Self::over(self.pool.database.clone(), self.pool.bodies.clone(), pages, idle)
    }

    fn over(database: PathBuf, bodies: PathBuf, pages: Pages, idle: Vec<Connection>) -> Self {
        Self { pool: Arc::new(Pool { database, bodies, pages, idle: Mutex::new(idle) }) }
    }

    /// What is kept under `digest`; `None` if nothing ever was.
    ///
    /// # Errors
    /// When the record or the body's file cannot be read, or the bytes are not those the digest was made of.
    pub fn body(&self, digest: &Digest) -> Result<Option<StoredBody>, ReadError> {
        let get = || self.with(|conn| bodies::get(conn, &self.pool.bodies, digest));
        let mut kept = get()?;
        for last_try in [false, true] {
            match kept {
                None => return Ok(None),
                Some(Kept::Body(body)) => return checked(digest, body).map(Some),
                Some(Kept::File(path)) => match std::fs::read(path) {
                    Ok(bytes) => return checked(digest, StoredBody::Bytes(bytes)).map(Some),
                    // It may have been erased between the two looks.
                    Err(error) if error.kind() == io::ErrorKind::NotFound && !last_try => kept = get()?,
                    Err(source) => return Err(ReadError::Body { digest: *digest, source }),
                },
            }
        }
        Ok(None)
    }

    /// The digest of a model's rows, which is a function of the record.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn model_digest(&self, model: Model) -> Result<Digest, ReadError> {
        self.with(|conn| rebuild::digest(conn, model))
    }

    fn connect(&self) -> Result<Connection, ReadError> {
        let path = &self.pool.database;
        sqlite::open_reader(path, self.pool.pages)
            .map_err(|source| ReadError::Open { path: path.clone(), source })
    }

    fn put_back(&self, conn: Connection) {
        let mut idle = self.pool.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < IDLE_MAX {
            idle.push(conn);
        }
    }

    /// Directory of the large bodies.
    pub(crate) fn bodies_dir(&self) -> &Path {
        &self.pool.bodies
    }

    /// Lends a connection; one that failed is not used again.
    pub(crate) fn with<T>(
        &self,
        read: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, ReadError> {
        let conn = self.lend()?;
        let result = read(&conn)?;
        self.put_back(conn);
        Ok(result)
    }

    fn lend(&self) -> Result<Connection, ReadError> {
        let idle = self.pool.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.map_or_else(|| self.connect(), Ok)
    }
}

impl Reader {
    /// Lends a reader all of whose looks see the same state of the record. Cheaper than each look by itself.
    ///
    /// # Errors
    /// When the record cannot be read, or `read` fails.
    pub fn at_one_moment<T>(&self, read: impl FnOnce(&Self) -> Result<T, ReadError>) -> Result<T, ReadError> {
        let conn = self.lend()?;
        if !conn.is_autocommit() {
            // It is one moment already.
            self.put_back(conn);
            return read(self);
        }
        conn.prepare_cached("BEGIN")?.execute([])?;
        let held = self.with_own(self.pool.pages, vec![conn]);
        let result = read(&held)?;
        // A clone that outlives this has no connection, and opens one.
        let conn = held.pool.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        if let Some(conn) = conn {
            conn.prepare_cached("COMMIT")?.execute([])?;
            self.put_back(conn);
        }
        Ok(result)
    }

    /// Lends a connection on which several queries see the same state of the record.
    fn at_once<T>(&self, read: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, ReadError> {
        self.with(|conn| {
            if !conn.is_autocommit() {
                // It is one moment already.
                return read(conn);
            }
            // A connection on which a read failed is not used again, so nothing needs to be rolled back.
            conn.prepare_cached("BEGIN")?.execute([])?;
            let result = read(conn)?;
            conn.prepare_cached("COMMIT")?.execute([])?;
            Ok(result)
        })
    }
}

fn checked(digest: &Digest, body: StoredBody) -> Result<StoredBody, ReadError> {
    match &body {
        StoredBody::Bytes(bytes) if edgeplane_proof::digest(bytes) != *digest => {
            Err(ReadError::BodyDamaged(*digest))
        }
        StoredBody::Bytes(_) | StoredBody::Erased { .. } => Ok(body),
    }
}

/// A limit as SQLite takes it.
fn limit(rows: usize) -> i64 {
    i64::try_from(rows.min(ROWS_MAX)).unwrap_or(i64::MAX)
}

/// The columns `pos, body, hash` as an event in its place.
fn committed(row: &Row<'_>) -> rusqlite::Result<CommittedEvent> {
    Ok(CommittedEvent { pos: uint(row, 0)?, event: Arc::new(json::<Event>(row, 1)?), hash: digest(row, 2)? })
}

/// The event at a position that a model names.
fn event_at(conn: &Connection, pos: i64) -> rusqlite::Result<Event> {
    conn.prepare_cached("SELECT body FROM event WHERE pos = ?1")?.query_row([pos], |row| json(row, 0))
}

/// A model names an event of another kind than it folds.
fn misplaced(fact: &Fact) -> rusqlite::Error {
    rusqlite::Error::InvalidColumnType(0, fact.type_name().to_owned(), Type::Blob)
}

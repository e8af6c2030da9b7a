//! Opening a record: make, migrate, verify, merge, start.

use std::{
    collections::HashSet,
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, RwLock},
};

use edgeplane_types::EventId;
use rusqlite::Connection;

use crate::{
    FoldError, Model, NewEvent, Reader, durable,
    heads::Heads,
    model::rebuild,
    queue::Queue,
    reserve::{Frame, Reserve},
    schema::{self, Meta},
    sqlite::{self, int, is_damage, known_event},
    store::{Damage, Health, Store},
    tail,
    writer::{Parts, Shared, Writer},
};

/// Name of the database in the store's directory.
pub const DATABASE_NAME: &str = "record.db";

/// How a store is to work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Room kept for critical batches on a full disk.
    pub reserve_bytes: u64,
    /// Longest body that is kept in the database; a longer one gets a file.
    pub inline_body_bytes_max: usize,
    /// Events at the end of a stream that are verified at open.
    pub tail_events: u64,
    /// Pages in the write-ahead log after which the writer moves them into the database.
    pub checkpoint_pages: u32,
    /// Pages that the database may have; a full database is a full disk.
    pub database_pages_max: Option<u32>,
}

impl Options {
    /// What a daemon uses.
    pub const STANDARD: Self = Self {
        reserve_bytes: 16 << 20,
        inline_body_bytes_max: 64 << 10,
        tail_events: 64,
        checkpoint_pages: 4_000,
        database_pages_max: None,
    };
}

/// Bytes in a page of a new database.
const PAGE_BYTES: u32 = 4_096;

/// What an open found and did.
#[derive(Debug, Clone, PartialEq)]
pub struct Opening {
    /// Position of the newest event, after the merge.
    pub head_pos: u64,
    /// Streams in the record.
    pub streams: usize,
    /// Events that were verified.
    pub verified_events: u64,
    /// Batches of the reserve that are in the record now.
    pub merged_batches: usize,
    /// Their events.
    pub merged_events: usize,
    /// Batches of the reserve that still have no room.
    pub held_batches: usize,
    /// Their events, in order: no reader sees them yet, so whoever goes on from the record must add them.
    pub held: Vec<NewEvent>,
    /// Models that were made anew.
    pub rebuilt: Vec<Model>,
    /// What verification found; the store then only reads.
    pub damaged: Option<Damage>,
}

/// Why a record cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The directory or a file in it cannot be made.
    #[error("cannot prepare `{}`", path.display())]
    Prepare {
        /// What.
        path: PathBuf,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
    /// The linked SQLite has a bug that destroys databases.
    #[error("SQLite {found} is older than 3.51.3 and may corrupt the record")]
    OldSqlite {
        /// Its version.
        found: &'static str,
    },
    /// The database was written by a newer program.
    #[error("the record has format {found}, this program knows formats up to {known}: use a newer one")]
    Newer {
        /// Its format.
        found: i64,
        /// The newest that is known.
        known: i64,
    },
    /// The file is no database, or one that cannot even be read.
    #[error("cannot open the record in `{}`", path.display())]
    Database {
        /// The database.
        path: PathBuf,
        /// What SQLite said.
        #[source]
        source: rusqlite::Error,
    },
    /// A model cannot be made from the events.
    #[error("cannot make the read models")]
    Rebuild(#[source] FoldError),
    /// The writer's thread cannot be started.
    #[error("cannot start the record's writer")]
    Thread(#[source] io::Error),
}

pub(crate) fn open(dir: &Path, options: &Options) -> Result<(Store, Opening), OpenError> {
    if rusqlite::version_number() < sqlite::SQLITE_VERSION_LEAST {
        return Err(OpenError::OldSqlite { found: rusqlite::version() });
    }
    let path = dir.join(DATABASE_NAME);
    let database = |source| OpenError::Database { path: path.clone(), source };
    prepare(dir, &path)?;
    let mut conn = connect(&path, options)?;
    let heads = Heads::load(&conn).map_err(database)?;
    let (verified_events, mut damaged) = match check_tail(&conn, &heads, options).map_err(database)? {
        Ok(events) => (events, None),
        Err(damage) => (0, Some(damage)),
    };
    let mut rebuilt = Vec::new();
    if damaged.is_none() {
        match bring_up_to_date(&mut conn) {
            Ok(models) => rebuilt = models,
            Err(FoldError::Database(error)) if is_damage(&error) => {
                damaged = Some(Damage::Database { what: error.to_string() });
            }
            Err(error) => return Err(OpenError::Rebuild(error)),
        }
    }
    let merged = Meta::ReserveMerged.read(&conn).map_err(database)?;
    let (reserve, frames) = Reserve::open(dir, options.reserve_bytes, merged)
        .map_err(|source| OpenError::Prepare { path: dir.join(crate::reserve::FILE_NAME), source })?;
    let frames = not_in_record(&conn, heads.pos(), frames).map_err(database)?;

    let mut opening = Opening {
        head_pos: heads.pos(),
        streams: heads.streams(),
        verified_events,
        merged_batches: 0,
        merged_events: 0,
        held_batches: frames.len(),
        held: frames.iter().flat_map(|frame| frame.events.iter().cloned()).collect(),
        rebuilt,
        damaged: damaged.clone(),
    };
    let health = damaged.map_or(Health::Serving, Health::Damaged);
    let shared = Arc::new(Shared {
        queue: Queue::default(),
        observers: RwLock::new(Vec::new()),
        health: Mutex::new(health),
    });
    let parts = Parts { conn, heads, reserve, shared: Arc::clone(&shared) };
    let mut writer = Writer::new(dir, options.inline_body_bytes_max, parts);
    writer.hold(frames);
    if opening.held_batches > 0 && writer.merge().is_ok() {
        opening.merged_batches = std::mem::take(&mut opening.held_batches);
        opening.merged_events = std::mem::take(&mut opening.held).len();
        (opening.head_pos, opening.streams) = writer.extent();
    }
    let store = Store::start(shared, Reader::beside(dir), writer).map_err(OpenError::Thread)?;
    Ok((store, opening))
}

fn prepare(dir: &Path, path: &Path) -> Result<(), OpenError> {
    durable::make_dir(dir)
        .and_then(|()| durable::open_private(path).map(drop))
        .and_then(|()| durable::sync_dir(dir))
        .map_err(|source| OpenError::Prepare { path: path.to_owned(), source })
}

fn connect(path: &Path, options: &Options) -> Result<Connection, OpenError> {
    let database = |source| OpenError::Database { path: path.to_owned(), source };
    let mut conn = sqlite::open_writer(path, PAGE_BYTES, options.checkpoint_pages).map_err(database)?;
    if let Some(pages) = options.database_pages_max {
        let set = format!("PRAGMA max_page_count = {pages};");
        conn.execute_batch(&set).map_err(database)?;
    }
    let (found, known) = (schema::version(&conn).map_err(database)?, schema::version_known());
    if found > known {
        return Err(OpenError::Newer { found, known });
    }
    schema::migrate(&mut conn).map_err(database)?;
    Ok(conn)
}

fn check_tail(conn: &Connection, heads: &Heads, options: &Options) -> rusqlite::Result<Result<u64, Damage>> {
    let verified = Meta::VerifiedPos.read(conn)?;
    let checked = match tail::verify(conn, heads, verified, options.tail_events) {
        Err(error) if is_damage(&error) => Err(Damage::Database { what: error.to_string() }),
        other => other?,
    };
    // On a full disk the note fails, and the next open verifies more than it must.
    if checked.is_ok()
        && verified != heads.pos()
        && let Err(error) = Meta::VerifiedPos.write(conn, heads.pos())
    {
        tracing::warn!(%error, "cannot note that the record is verified");
    }
    Ok(checked)
}

fn bring_up_to_date(conn: &mut Connection) -> Result<Vec<Model>, FoldError> {
    let models = rebuild::outdated(conn).map_err(FoldError::Database)?;
    if models.is_empty() {
        return Ok(models);
    }
    let tx = conn.transaction().map_err(FoldError::Database)?;
    rebuild::rebuild(&tx, &models)?;
    tx.commit().map_err(FoldError::Database)?;
    Ok(models)
}

/// Drops the frames whose events are in the record although their commit was reported as failed: a write-ahead log
/// whose last sync failed may be found whole after a crash.
fn not_in_record(conn: &Connection, head_pos: u64, frames: Vec<Frame>) -> rusqlite::Result<Vec<Frame>> {
    let Some(since) = frames.iter().map(|frame| frame.head_pos).min().filter(|pos| *pos < head_pos) else {
        return Ok(frames);
    };
    let mut statement = conn.prepare("SELECT body FROM event WHERE pos > ?1")?;
    let known: HashSet<EventId> = statement
        .query_map([int(since)], |row| known_event(row, 0))?
        .filter_map(|event| event.map(|event| event.map(|event| event.id)).transpose())
        .collect::<rusqlite::Result<_>>()?;
    Ok(frames
        .into_iter()
        .filter(|frame| !frame.events.first().is_some_and(|event| known.contains(&event.id)))
        .collect())
}

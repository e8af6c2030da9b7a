//! The tables of the record and the steps that lead from an older form to this one.

use rusqlite::{Connection, Result};

/// The steps, in order; a database whose `user_version` is `n` has taken the first `n`. Steps are never changed.
const MIGRATIONS: &[&str] = &["
CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE stream (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    seq INTEGER NOT NULL,
    hash BLOB NOT NULL,
    pos INTEGER NOT NULL
) STRICT;

CREATE TABLE event (
    pos INTEGER PRIMARY KEY,
    stream INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    ts INTEGER NOT NULL,
    type TEXT NOT NULL,
    body BLOB NOT NULL,
    leaf BLOB NOT NULL,
    hash BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX event_of_stream ON event (stream, seq);

CREATE TABLE body (
    digest BLOB PRIMARY KEY,
    size INTEGER NOT NULL,
    place INTEGER NOT NULL,
    bytes BLOB,
    erased TEXT
) STRICT;

CREATE TABLE model (
    name TEXT PRIMARY KEY,
    version INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
"];

/// The version that this program writes.
pub(crate) fn version_known() -> i64 {
    i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX)
}

/// The version of the database behind `conn`; 0 if it is empty.
pub(crate) fn version(conn: &Connection) -> Result<i64> {
    conn.query_row("PRAGMA user_version", [], |row| row.get(0))
}

/// Takes the steps that are missing, all or none.
pub(crate) fn migrate(conn: &mut Connection) -> Result<()> {
    let from = usize::try_from(version(conn)?).unwrap_or(0);
    let Some(missing) = MIGRATIONS.get(from..).filter(|steps| !steps.is_empty()) else {
        return Ok(());
    };
    let tx = conn.transaction()?;
    for step in missing {
        tx.execute_batch(step)?;
    }
    tx.pragma_update(None, "user_version", version_known())?;
    tx.commit()
}

/// A number kept beside the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meta {
    /// Position up to which the record was verified.
    VerifiedPos,
    /// Number of the newest frame of the reserve that is in the record.
    ReserveMerged,
}

impl Meta {
    fn key(self) -> &'static str {
        match self {
            Self::VerifiedPos => "verified_pos",
            Self::ReserveMerged => "reserve_merged",
        }
    }

    pub(crate) fn read(self, conn: &Connection) -> Result<u64> {
        let mut statement = conn.prepare_cached("SELECT value FROM meta WHERE key = ?1")?;
        let mut rows = statement.query([self.key()])?;
        rows.next()?.map_or(Ok(0), |row| crate::sqlite::uint(row, 0))
    }

    pub(crate) fn write(self, conn: &Connection, value: u64) -> Result<()> {
        conn.prepare_cached(
            "INSERT INTO meta (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2",
        )?
        .execute((self.key(), crate::sqlite::int(value)))?;
        Ok(())
    }
}

//! SQLite as this crate uses it: connections with their settings, and columns as typed values.

use std::{path::Path, str::FromStr};

use edgeplane_proof::Digest;
use edgeplane_types::{Event, Timestamp};
use rusqlite::{Connection, ErrorCode, OpenFlags, Result, Row, config::DbConfig, types::Type};
use serde::de::DeserializeOwned;

/// Oldest SQLite without the WAL-reset corruption bug: 3.51.3.
pub(crate) const SQLITE_VERSION_LEAST: i32 = 3_051_003;

/// Prepared statements kept by a connection: more than there are distinct texts in this crate.
pub(crate) const STATEMENTS_MAX: usize = 256;

/// How long a connection waits for another; only checkpoints and the recovery of a WAL ever hold one up.
const BUSY_MS: u32 = 5_000;

/// How a connection that reads has the pages of the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pages {
    /// Mapped: for whoever reads many. After each change of the record the map is made anew.
    Mapped,
    /// Copied: for whoever looks a few up after each change.
    Copied,
}

impl Pages {
    /// Bytes of the database that are mapped.
    fn mapped_bytes(self) -> i64 {
        match self {
            Self::Mapped => 64 << 20,
            Self::Copied => 0,
        }
    }
}

/// Bytes that the WAL keeps after a checkpoint; a longer one is cut.
const WAL_BYTES_KEPT: i64 = 64 << 20;

/// Opens the connection that writes.
pub(crate) fn open_writer(path: &Path, page_bytes: u32, checkpoint_pages: u32) -> Result<Connection> {
    let conn = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    keep_statements(&conn)?;
    conn.execute_batch(&format!(
        "PRAGMA busy_timeout = {BUSY_MS};
         PRAGMA page_size = {page_bytes};
         PRAGMA journal_mode = WAL;
         PRAGMA synchronous = FULL;
         PRAGMA foreign_keys = OFF;
         PRAGMA trusted_schema = OFF;
         PRAGMA cache_size = -32768;
         PRAGMA temp_store = MEMORY;
         PRAGMA wal_autocheckpoint = {checkpoint_pages};
         PRAGMA journal_size_limit = {WAL_BYTES_KEPT};"
    ))?;
    Ok(conn)
}

/// Opens a connection that only reads.
pub(crate) fn open_reader(path: &Path, pages: Pages) -> Result<Connection> {
    match open_to_read(path, pages) {
        // A reader of a WAL writes beside it, to tell the writer that it is there. Where it cannot, on a medium that
        // is read-only, there is no writer either; without a WAL the database is all there is to read.
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::CannotOpen) && !has_wal(path) => {
            let name = path.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
            open_to_read(Path::new(&format!("file:{name}?immutable=1")), pages)
        }
        other => other,
    }
}

/// Has a connection keep its prepared statements as they are. Otherwise SQLite makes those with a bound `LIMIT`, and some
/// others, anew for each value, which costs more than running them.
fn keep_statements(conn: &Connection) -> Result<()> {
    conn.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map(drop)
}

fn has_wal(path: &Path) -> bool {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    std::fs::metadata(name).is_ok_and(|wal| wal.len() > 0)
}

fn open_to_read(path: &Path, pages: Pages) -> Result<Connection> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let conn = Connection::open_with_flags(path, flags)?;
    keep_statements(&conn)?;
    let mapped_bytes = pages.mapped_bytes();
    conn.execute_batch(&format!(
        "PRAGMA busy_timeout = {BUSY_MS};
         PRAGMA query_only = ON;
         PRAGMA trusted_schema = OFF;
         PRAGMA mmap_size = {mapped_bytes};"
    ))?;
    // The first read finds out whether the file can be read at all.
    conn.query_row("SELECT count(*) FROM sqlite_schema", [], |_row| Ok(()))?;
    Ok(conn)
}

/// Moves what it can of the write-ahead log into the database, so that the next commit writes at the log's start.
pub(crate) fn move_wal(conn: &Connection) -> Result<()> {
    conn.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_row| Ok(()))
}

/// Moves the write-ahead log into the database and cuts it, unless a reader is in the way: nobody waits for that.
pub(crate) fn cut_wal(conn: &Connection) -> Result<()> {
    conn.execute_batch(&format!(
        "PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE); PRAGMA busy_timeout = {BUSY_MS};"
    ))
}

/// A number as SQLite holds it. Numbers of events have at most 53 bits, so nothing is ever cut.
pub(crate) fn int(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Whether an error says that the file is not a sound database.
pub(crate) fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
}

/// Whether an error says that a constraint does not hold.
pub(crate) fn is_constraint(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation)
}

fn bad<E: std::error::Error + Send + Sync + 'static>(index: usize, error: E) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(index, Type::Text, Box::new(error))
}

/// A column that holds a number.
pub(crate) fn uint(row: &Row<'_>, index: usize) -> Result<u64> {
    let value: i64 = row.get(index)?;
    u64::try_from(value).map_err(|_negative| rusqlite::Error::IntegralValueOutOfRange(index, value))
}

/// A column that may hold a number.
pub(crate) fn maybe_uint(row: &Row<'_>, index: usize) -> Result<Option<u64>> {
    let value: Option<i64> = row.get(index)?;
    value.map(|_some| uint(row, index)).transpose()
}

/// A column that holds a moment.
pub(crate) fn moment(row: &Row<'_>, index: usize) -> Result<Timestamp> {
    row.get(index).map(Timestamp::from_micros)
}

/// A column that may hold a moment.
pub(crate) fn maybe_moment(row: &Row<'_>, index: usize) -> Result<Option<Timestamp>> {
    let value: Option<i64> = row.get(index)?;
    Ok(value.map(Timestamp::from_micros))
}

/// A column that holds a digest.
pub(crate) fn digest(row: &Row<'_>, index: usize) -> Result<Digest> {
    row.get(index).map(Digest::from_bytes)
}

/// A column that holds the text form of something.
pub(crate) fn parsed<T>(row: &Row<'_>, index: usize) -> Result<T>
where
    T: FromStr,
    T::Err: std::error::Error + Send + Sync + 'static,
{
    row.get_ref(index)?.as_str()?.parse().map_err(|error| bad(index, error))
}

/// A column that holds one of a few words.
pub(crate) fn word<T>(row: &Row<'_>, index: usize, read: impl FnOnce(&str) -> Option<T>) -> Result<T> {
    let found = row.get_ref(index)?.as_str()?;
    read(found).ok_or_else(|| {
        let what = format!("`{found}` is none of the words of this column");
        rusqlite::Error::FromSqlConversionFailure(index, Type::Text, what.into())
    })
}

/// A column that holds JSON.
pub(crate) fn json<T: DeserializeOwned>(row: &Row<'_>, index: usize) -> Result<T> {
    serde_json::from_slice(row.get_ref(index)?.as_bytes()?).map_err(|error| bad(index, error))
}

/// A column that holds an event; `None` if it is of a kind that this program does not know.
pub(crate) fn known_event(row: &Row<'_>, index: usize) -> Result<Option<Event>> {
    crate::known::event(row.get_ref(index)?.as_bytes()?).map_err(|error| bad(index, error))
}

/// A column that may hold JSON.
pub(crate) fn maybe_json<T: DeserializeOwned>(row: &Row<'_>, index: usize) -> Result<Option<T>> {
    match row.get_ref(index)? {
        rusqlite::types::ValueRef::Null => Ok(None),
        _ => json(row, index).map(Some),
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::*;

    #[test]
    fn statement_is_not_prepared_again_for_another_value() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("record.db");
        let writer = open_writer(&path, 4_096, 1_000).unwrap();
        writer
            .execute_batch("CREATE TABLE a (x INTEGER PRIMARY KEY); INSERT INTO a VALUES (1), (2), (3);")
            .unwrap();
        let mapped = open_reader(&path, Pages::Mapped).unwrap();
        let copied = open_reader(&path, Pages::Copied).unwrap();
        for conn in [writer, mapped, copied] {
            for limit in [1, 3, 2, 3] {
                let mut statement = conn.prepare_cached("SELECT x FROM a ORDER BY x LIMIT ?1").unwrap();
                let found = statement.query_map([limit], |row| row.get::<_, i64>(0)).unwrap().count();
                assert_eq!(i64::try_from(found).unwrap(), limit);
                assert_eq!(statement.get_status(StatementStatus::RePrepare), 0);
            }
        }
    }
}

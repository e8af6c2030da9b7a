//! Bodies by digest: small ones in the database, large ones in files, erased ones as tombstones.

use std::{
    io,
    path::{Path, PathBuf},
};

use edgeplane_proof::Digest;
use rusqlite::{Connection, OptionalExtension, Result};

use crate::{batch::Body, durable, row::StoredBody, sqlite::int};

/// Where the bytes of a body are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Row,
    File,
    Erased,
}

impl Place {
    fn number(self) -> i64 {
        match self {
            Self::Row => 0,
            Self::File => 1,
            Self::Erased => 2,
        }
    }

    fn from_number(number: i64) -> Option<Self> {
        [Self::Row, Self::File, Self::Erased].into_iter().find(|place| place.number() == number)
    }
}

/// Why a body cannot be put in.
#[derive(Debug)]
pub(crate) enum PutError {
    File(io::Error),
    Database(rusqlite::Error),
}

impl From<rusqlite::Error> for PutError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}

/// The directory of large bodies.
pub(crate) fn directory(store: &Path) -> PathBuf {
    store.join("bodies")
}

fn file_of(directory: &Path, digest: &Digest) -> (PathBuf, String) {
    let name = digest.to_string();
    (directory.join(&name[..2]), name)
}

/// The file of a large body.
pub(crate) fn path_of(directory: &Path, digest: &Digest) -> PathBuf {
    let (dir, name) = file_of(directory, digest);
    dir.join(name)
}

fn place_of(conn: &Connection, digest: &Digest) -> Result<Option<Place>> {
    let number: Option<i64> = conn
        .prepare_cached("SELECT place FROM body WHERE digest = ?1")?
        .query_row([digest.as_bytes()], |row| row.get(0))
        .optional()?;
    Ok(number.and_then(Place::from_number))
}

/// Puts a body in, within the open transaction. One that is there stays; one that was erased comes back, because
/// somebody has just brought the same bytes anew.
pub(crate) fn put(
    conn: &Connection,
    directory: &Path,
    inline_bytes_max: usize,
    body: &Body,
) -> Result<(), PutError> {
    let digest = body.digest();
    let in_row = body.bytes().len() <= inline_bytes_max;
    if !in_row {
        if matches!(place_of(conn, &digest)?, Some(Place::Row | Place::File)) {
            return Ok(());
        }
        let (dir, name) = file_of(directory, &digest);
        durable::write_whole(&dir, &name, body.bytes()).map_err(PutError::File)?;
    }
    let place = if in_row { Place::Row } else { Place::File };
    conn.prepare_cached(
        "INSERT INTO body (digest, size, place, bytes) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (digest) DO UPDATE SET place = ?3, bytes = ?4, erased = NULL WHERE place = 2",
    )?
    .execute((
        digest.as_bytes(),
        int(body.bytes().len() as u64),
        place.number(),
        in_row.then(|| body.bytes()),
    ))?;
    Ok(())
}

/// Leaves a tombstone in place of a body, within the open transaction. Says where the bytes were, if there were any.
pub(crate) fn erase(conn: &Connection, digest: &Digest, reason: &str) -> Result<Option<Place>> {
    let place = place_of(conn, digest)?.filter(|place| *place != Place::Erased);
    if place.is_some() {
        conn.prepare_cached("UPDATE body SET place = 2, bytes = NULL, erased = ?2 WHERE digest = ?1")?
            .execute((digest.as_bytes(), reason))?;
    }
    Ok(place)
}

/// What is kept under `digest`.
pub(crate) fn get(conn: &Connection, directory: &Path, digest: &Digest) -> Result<Option<Kept>> {
    type Columns = (i64, Option<Vec<u8>>, Option<String>);
    let row: Option<Columns> = conn
        .prepare_cached("SELECT place, bytes, erased FROM body WHERE digest = ?1")?
        .query_row([digest.as_bytes()], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    Ok(row.map(|(place, bytes, erased)| match Place::from_number(place) {
        Some(Place::Row) => Kept::Body(StoredBody::Bytes(bytes.unwrap_or_default())),
        Some(Place::File) => Kept::File(path_of(directory, digest)),
        Some(Place::Erased) | None => Kept::Body(StoredBody::Erased { reason: erased.unwrap_or_default() }),
    }))
}

/// A body, or the file to read it from.
#[derive(Debug)]
pub(crate) enum Kept {
    Body(StoredBody),
    File(PathBuf),
}

/// Removes the file of a body that was erased; one that is gone already is no error.
pub(crate) fn remove_file(directory: &Path, digest: &Digest) -> io::Result<()> {
    let (dir, name) = file_of(directory, digest);
    match std::fs::remove_file(dir.join(name)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => durable::sync_dir(&dir),
    }
}

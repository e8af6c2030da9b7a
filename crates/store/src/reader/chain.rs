//! The chain of one stream, held against its bytes from one event on.

use edgeplane_proof::{Digest, Link, Verifier};
use edgeplane_types::StreamName;
use rusqlite::{Connection, OptionalExtension, params};

use super::{ReadError, Reader, limit};
use crate::sqlite::{digest, int, uint};

/// What was found of a stream's chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainCheck {
    /// Number of the first event that was looked at.
    pub from: u64,
    /// Number of the last event that was found to be chained to those before it, from `from` on.
    pub verified_to: u64,
    /// Number of the stream's newest event.
    pub head: u64,
    /// What is wrong with the event behind `verified_to`, if something is.
    pub broken: Option<String>,
}

/// An event as the record holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEvent {
    /// Its number in its stream.
    pub seq: u64,
    /// Its place in the record.
    pub pos: u64,
    /// Its canonical bytes.
    pub bytes: Vec<u8>,
    /// Its hash.
    pub hash: Digest,
}

impl Reader {
    /// Events of a stream from number `from_seq` on as they are stored, in order.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn stored_events(
        &self,
        stream: &StreamName,
        from_seq: u64,
        rows: usize,
    ) -> Result<Vec<StoredEvent>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached(
                "SELECT event.seq, event.pos, event.body, event.hash FROM event
                 JOIN stream ON stream.id = event.stream
                 WHERE stream.name = ?1 AND event.seq >= ?2 ORDER BY event.seq LIMIT ?3",
            )?
            .query_map(params![stream.to_string(), int(from_seq), limit(rows)], |row| {
                let bytes = row.get_ref(2)?.as_bytes()?.to_vec();
                Ok(StoredEvent { seq: uint(row, 0)?, pos: uint(row, 1)?, bytes, hash: digest(row, 3)? })
            })?
            .collect()
        })
    }

    /// The digests of bodies that were erased, with why, at most 10,000 of them.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn erased_bodies(&self) -> Result<Vec<(Digest, String)>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached("SELECT digest, erased FROM body WHERE erased IS NOT NULL LIMIT ?1")?
                .query_map([limit(super::ROWS_MAX)], |row| Ok((digest(row, 0)?, row.get(1)?)))?
                .collect()
        })
    }

    /// Looks whether a stream is chained from the event at `pos` to its newest one, over at most `rows` events.
    /// `None` if the stream has no event there.
    ///
    /// That nothing before `pos` was changed it does not show: the hash before is taken as it stands.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn verify_chain(
        &self,
        stream: &StreamName,
        pos: u64,
        rows: usize,
    ) -> Result<Option<ChainCheck>, ReadError> {
        self.at_once(|conn| check(conn, stream, pos, rows))
    }
}

fn check(
    conn: &Connection,
    stream: &StreamName,
    pos: u64,
    rows: usize,
) -> rusqlite::Result<Option<ChainCheck>> {
    let found = conn
        .prepare_cached(
            "SELECT stream.id, stream.seq, stream.hash, event.seq FROM stream
             JOIN event ON event.stream = stream.id AND event.pos = ?2 WHERE stream.name = ?1",
        )?
        .query_row(params![stream.to_string(), int(pos)], |row| {
            Ok((row.get::<_, i64>(0)?, uint(row, 1)?, digest(row, 2)?, uint(row, 3)?))
        })
        .optional()?;
    let Some((id, head, head_hash, from)) = found else { return Ok(None) };
    let before = from.saturating_sub(1);
    let mut verifier = if before == 0 {
        Verifier::new(stream)
    } else {
        let hash = conn
            .prepare_cached("SELECT hash FROM event WHERE stream = ?1 AND seq = ?2")?
            .query_row(params![id, int(before)], |row| digest(row, 0))
            .optional()?;
        let Some(hash) = hash else {
            let broken = Some(format!("event {before} is missing"));
            return Ok(Some(ChainCheck { from, verified_to: before, head, broken }));
        };
        Verifier::after(before, hash)
    };
    let mut checked = ChainCheck { from, verified_to: before, head, broken: None };
    // Nothing of it is kept, so a walk may be longer than a list.
    let limit = i64::try_from(rows).unwrap_or(i64::MAX);
    let mut statement = conn.prepare_cached(
        "SELECT seq, body, leaf, hash FROM event WHERE stream = ?1 AND seq >= ?2 ORDER BY seq LIMIT ?3",
    )?;
    let mut found = statement.query(params![id, int(from), limit])?;
    let mut looked = 0;
    while let Some(row) = found.next()? {
        let link = Link {
            seq: uint(row, 0)?,
            bytes: row.get_ref(1)?.as_bytes()?,
            leaf: digest(row, 2)?,
            hash: digest(row, 3)?,
        };
        if let Err(broken) = verifier.step(&link) {
            checked.broken = Some(broken.to_string());
            return Ok(Some(checked));
        }
        checked.verified_to = link.seq;
        looked += 1;
    }
    if looked < limit && verifier.head() != (head, head_hash) {
        checked.broken = Some(format!("the stream should end with event {head}"));
    }
    Ok(Some(checked))
}

//! Automations and their firings.

use edgeplane_types::{Fact, FiringId, ResourceKind, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{ReadError, Reader, event_at, limit, misplaced, resources};
use crate::{
    AutomationRow, FiringRow, ResourceRow,
    sqlite::{int, uint},
};

type Bare = (i64, Option<i64>);

fn bare(row: &Row<'_>) -> rusqlite::Result<Bare> {
    Ok((row.get(0)?, row.get(1)?))
}

fn whole(conn: &Connection, (pos, ended_pos): Bare) -> rusqlite::Result<FiringRow> {
    let event = event_at(conn, pos)?;
    let Fact::AutomationFired(fired) = event.fact else { return Err(misplaced(&event.fact)) };
    let ended = match ended_pos.map(|pos| event_at(conn, pos)).transpose()? {
        None => None,
        Some(end) => match end.fact {
            Fact::AutomationEnded(ended) => Some((ended, end.ts)),
            other => return Err(misplaced(&other)),
        },
    };
    Ok(FiringRow { pos: u64::try_from(pos).unwrap_or_default(), fired: *fired, at: event.ts, ended })
}

impl Reader {
    /// What an automation has done.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn automation(&self, name: &str) -> Result<Option<AutomationRow>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached(
                "SELECT accounted_until, fired, failed, skipped FROM automation WHERE name = ?1",
            )?
            .query_row([name], |row| {
                Ok(AutomationRow {
                    accounted_until: Timestamp::from_micros(row.get(0)?),
                    fired: uint(row, 1)?,
                    failed: uint(row, 2)?,
                    skipped: uint(row, 3)?,
                })
            })
            .optional()
        })
    }

    /// Position of the last event that some automation was concerned with; what lies before needs no look.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn automations_seen(&self) -> Result<u64, ReadError> {
        self.with(|conn| {
            conn.prepare_cached("SELECT coalesce(max(pos), 0) FROM automation_seen")?
                .query_row([], |row| uint(row, 0))
        })
    }

    /// The automations that were there at a position, each in the version of then.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn automations_at(&self, pos: u64, rows: usize) -> Result<Vec<ResourceRow>, ReadError> {
        let found = self.resource_versions_at(ResourceKind::Automation, pos, rows)?;
        Ok(found.into_iter().filter(|row| row.digest.is_some()).collect())
    }

    /// Position of the first change of an automation after this one.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn next_automation_change(&self, pos: u64) -> Result<Option<u64>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached("SELECT min(pos) FROM resource_version WHERE kind = ?1 AND pos > ?2")?
                .query_row(params![ResourceKind::Automation.as_str(), int(pos)], |row| {
                    Ok(row.get::<_, Option<i64>>(0)?.and_then(|pos| u64::try_from(pos).ok()))
                })
        })
    }

    /// The newest version of each resource of a kind at a position, ends included.
    fn resource_versions_at(
        &self,
        kind: ResourceKind,
        pos: u64,
        rows: usize,
    ) -> Result<Vec<ResourceRow>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached(
                "SELECT v.kind, v.path, NULL, v.version, v.digest, v.value_bytes, event.body
                 FROM (SELECT path, max(version) AS version FROM resource_version
                       WHERE kind = ?1 AND pos <= ?2 GROUP BY path) newest
                 JOIN resource_version v ON v.kind = ?1 AND v.path = newest.path AND v.version = newest.version
                 JOIN event ON event.pos = v.pos ORDER BY v.path LIMIT ?3",
            )?
            .query_map(params![kind.as_str(), int(pos), limit(rows)], resources::resource)?
            .collect()
        })
    }

    /// A firing.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn firing(&self, id: &FiringId) -> Result<Option<FiringRow>, ReadError> {
        self.at_once(|conn| {
            conn.prepare_cached("SELECT pos, ended_pos FROM firing WHERE id = ?1")?
                .query_row([id.as_bytes()], bare)
                .optional()?
                .map(|found| whole(conn, found))
                .transpose()
        })
    }

    /// The firing of an automation for a cause.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn firing_by_key(&self, name: &str, key: &str) -> Result<Option<FiringRow>, ReadError> {
        self.at_once(|conn| {
            conn.prepare_cached("SELECT pos, ended_pos FROM firing WHERE name = ?1 AND key = ?2")?
                .query_row([name, key], bare)
                .optional()?
                .map(|found| whole(conn, found))
                .transpose()
        })
    }

    /// The firings after position `cursor` that are not over, oldest first.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn open_firings(&self, rows: usize, cursor: u64) -> Result<Vec<FiringRow>, ReadError> {
        self.at_once(|conn| {
            let found: Vec<Bare> = conn
                .prepare_cached(
                    "SELECT pos, ended_pos FROM firing WHERE ended_pos IS NULL AND pos > ?1
                     ORDER BY pos LIMIT ?2",
                )?
                .query_map([int(cursor), limit(rows)], bare)?
                .collect::<rusqlite::Result<_>>()?;
            found.into_iter().map(|found| whole(conn, found)).collect()
        })
    }

    /// How many firings of an automation are not over.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn open_firings_of(&self, name: &str) -> Result<u64, ReadError> {
        self.with(|conn| {
            conn.prepare_cached("SELECT count(*) FROM firing WHERE ended_pos IS NULL AND name = ?1")?
                .query_row([name], |row| uint(row, 0))
        })
    }

    /// The newest firings of an automation, newest first.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn firings_of(&self, name: &str, rows: usize) -> Result<Vec<FiringRow>, ReadError> {
        self.at_once(|conn| {
            let found: Vec<Bare> = conn
                .prepare_cached(
                    "SELECT pos, ended_pos FROM firing WHERE name = ?1 ORDER BY pos DESC LIMIT ?2",
                )?
                .query_map(params![name, limit(rows)], bare)?
                .collect::<rusqlite::Result<_>>()?;
            found.into_iter().map(|found| whole(conn, found)).collect()
        })
    }
}

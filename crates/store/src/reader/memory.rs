//! The keys of an agent's memory.

use edgeplane_types::AgentId;
use rusqlite::{OptionalExtension, Row, params};

use super::{ReadError, Reader, limit};
use crate::{
    MemoryRow, MemoryTotals,
    sqlite::{maybe_moment, moment, uint},
};

fn memory(row: &Row<'_>) -> rusqlite::Result<MemoryRow> {
    Ok(MemoryRow {
        key: row.get(0)?,
        version: uint(row, 1)?,
        digest: row.get(2)?,
        value_bytes: uint(row, 3)?,
        expires_at: maybe_moment(row, 4)?,
        at: moment(row, 5)?,
    })
}

impl Reader {
    /// The newest version of a key, also if that is its removal: whoever writes next needs the number.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn memory_get(&self, agent: &AgentId, key: &str) -> Result<Option<MemoryRow>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached(
                "SELECT key, version, digest, value_bytes, expires_at, at
                 FROM memory WHERE agent = ?1 AND key = ?2",
            )?
            .query_row(params![agent.as_bytes(), key], memory)
            .optional()
        })
    }

    /// The keys with a value that begin with `prefix` and come after `after`, in order.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn memory_list(
        &self,
        agent: &AgentId,
        prefix: &str,
        after: &str,
        rows: usize,
    ) -> Result<Vec<MemoryRow>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached(
                "SELECT key, version, digest, value_bytes, expires_at, at
                 FROM memory
                 WHERE agent = ?1 AND key >= ?2 AND key > ?3 AND substr(key, 1, length(?2)) = ?2
                       AND digest IS NOT NULL
                 ORDER BY key LIMIT ?4",
            )?
            .query_map(params![agent.as_bytes(), prefix, after, limit(rows)], memory)?
            .collect()
        })
    }

    /// The versions of a key, newest first.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn memory_history(
        &self,
        agent: &AgentId,
        key: &str,
        rows: usize,
    ) -> Result<Vec<MemoryRow>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached(
                "SELECT key, version, digest, value_bytes, expires_at, at
                 FROM memory_version WHERE agent = ?1 AND key = ?2 ORDER BY version DESC LIMIT ?3",
            )?
            .query_map(params![agent.as_bytes(), key, limit(rows)], memory)?
            .collect()
        })
    }

    /// What an agent's memory amounts to, expired values included.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn memory_totals(&self, agent: &AgentId) -> Result<MemoryTotals, ReadError> {
        let found = self.with(|conn| {
            conn.prepare_cached("SELECT keys, value_bytes FROM memory_total WHERE agent = ?1")?
                .query_row([agent.as_bytes()], |row| {
                    Ok(MemoryTotals { keys: uint(row, 0)?, value_bytes: uint(row, 1)? })
                })
                .optional()
        })?;
        Ok(found.unwrap_or_default())
    }
}

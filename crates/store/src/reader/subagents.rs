//! The children of agents.

use edgeplane_types::{AgentId, Fact, MessageId, SubagentStatus};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{ReadError, Reader, event_at, limit, misplaced};
use crate::{
    row::SubagentRow,
    sqlite::{int, uint, word},
};

const SUBAGENTS: &str =
    "SELECT pos, id, parent, status, reason, closing_pos, closed_pos, last_message FROM subagent";

fn subagent(conn: &Connection, row: &Row<'_>) -> rusqlite::Result<SubagentRow> {
    let event = event_at(conn, row.get(0)?)?;
    let Fact::SubagentSpawned(spawned) = event.fact else { return Err(misplaced(&event.fact)) };
    let closing = match row.get::<_, Option<i64>>(5)? {
        Some(pos) => match event_at(conn, pos)?.fact {
            Fact::SubagentClosing(closing) => Some(closing),
            other => return Err(misplaced(&other)),
        },
        None => None,
    };
    let closed_at = row.get::<_, Option<i64>>(6)?.map(|pos| event_at(conn, pos)).transpose()?;
    Ok(SubagentRow {
        pos: uint(row, 0)?,
        id: AgentId::from_bytes(row.get(1)?),
        parent: AgentId::from_bytes(row.get(2)?),
        spawned: *spawned,
        by: event.actor,
        spawned_at: event.ts,
        status: word(row, 3, SubagentStatus::from_word)?,
        reason: row.get(4)?,
        closing,
        closed_at: closed_at.map(|event| event.ts),
        last_message: row.get::<_, Option<[u8; 16]>>(7)?.map(MessageId::from_bytes),
    })
}

impl Reader {
    /// The child that an agent is of another one, if it is one.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn subagent(&self, id: &AgentId) -> Result<Option<SubagentRow>, ReadError> {
        self.at_once(|conn| {
            conn.prepare_cached(&format!("{SUBAGENTS} WHERE id = ?1"))?
                .query_row([id.as_bytes()], |row| subagent(conn, row))
                .optional()
        })
    }

    /// The children of an agent, oldest first: all, or those that are not retired.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn subagents_of(
        &self,
        parent: &AgentId,
        is_all: bool,
        rows: usize,
    ) -> Result<Vec<SubagentRow>, ReadError> {
        let over = if is_all { "" } else { " AND closed_pos IS NULL" };
        let sql = format!("{SUBAGENTS} WHERE parent = ?1{over} ORDER BY pos LIMIT ?2");
        self.at_once(|conn| {
            conn.prepare_cached(&sql)?
                .query_map(params![parent.as_bytes(), limit(rows)], |row| subagent(conn, row))?
                .collect()
        })
    }

    /// The children of anybody after position `cursor` that are not retired, oldest first.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn open_subagents(&self, rows: usize, cursor: u64) -> Result<Vec<SubagentRow>, ReadError> {
        let sql = format!("{SUBAGENTS} WHERE pos > ?1 AND closed_pos IS NULL ORDER BY pos LIMIT ?2");
        self.at_once(|conn| {
            conn.prepare_cached(&sql)?
                .query_map(params![int(cursor), limit(rows)], |row| subagent(conn, row))?
                .collect()
        })
    }
}

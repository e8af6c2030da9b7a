//! Calls of capabilities.

use edgeplane_types::{AgentId, Fact, InvocationId, InvocationState};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{ReadError, Reader, event_at, limit, misplaced};
use crate::{
    row::InvocationRow,
    sqlite::{int, uint, word},
};

const INVOCATIONS: &str = "SELECT pos, agent, state, begun_pos, ended_pos, progressed_pos FROM invocation";

/// What stands in the row itself.
struct Bare {
    pos: u64,
    agent: Option<AgentId>,
    state: InvocationState,
    begun_pos: Option<i64>,
    ended_pos: Option<i64>,
    progressed_pos: Option<i64>,
}

fn bare(row: &Row<'_>) -> rusqlite::Result<Bare> {
    Ok(Bare {
        pos: uint(row, 0)?,
        agent: row.get::<_, Option<[u8; 16]>>(1)?.map(AgentId::from_bytes),
        state: word(row, 2, InvocationState::from_word)?,
        begun_pos: row.get(3)?,
        ended_pos: row.get(4)?,
        progressed_pos: row.get(5)?,
    })
}

fn whole(conn: &Connection, bare: &Bare) -> rusqlite::Result<InvocationRow> {
    let event = event_at(conn, int(bare.pos))?;
    let Fact::InvocationRequested(asked) = event.fact else { return Err(misplaced(&event.fact)) };
    let ended = match bare.ended_pos.map(|pos| event_at(conn, pos)).transpose()? {
        None => None,
        Some(end) => match end.fact {
            Fact::InvocationEnded(ended) => Some((ended, end.ts)),
            other => return Err(misplaced(&other)),
        },
    };
    let progress =
        match bare.progressed_pos.map(|pos| event_at(conn, pos)).transpose()?.map(|found| found.fact) {
            None => None,
            Some(Fact::InvocationProgressed(progressed)) => Some(progressed),
            Some(other) => return Err(misplaced(&other)),
        };
    let begun = bare.begun_pos.map(|pos| event_at(conn, pos)).transpose()?;
    let checkpoint = match begun.as_ref().map(|begun| &begun.fact) {
        None => None,
        Some(Fact::InvocationBegun(begun)) => begun.checkpoint_id,
        Some(other) => return Err(misplaced(other)),
    };
    let Bare { pos, agent, state, .. } = *bare;
    Ok(InvocationRow {
        pos,
        agent,
        state,
        checkpoint,
        begun_at: begun.map(|event| event.ts),
        asked: *asked,
        by: event.actor,
        asked_at: event.ts,
        progress,
        ended,
    })
}

impl Reader {
    /// The invocation with this id.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn invocation(&self, id: &InvocationId) -> Result<Option<InvocationRow>, ReadError> {
        self.at_once(|conn| {
            conn.prepare_cached(&format!("{INVOCATIONS} WHERE id = ?1"))?
                .query_row([id.as_bytes()], bare)
                .optional()?
                .map(|found| whole(conn, &found))
                .transpose()
        })
    }

    /// The agent that answers an invocation, once it is to.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn invocation_server(&self, id: &InvocationId) -> Result<Option<AgentId>, ReadError> {
        self.with(|conn| {
            let server: Option<Option<[u8; 16]>> = conn
                .prepare_cached("SELECT server FROM invocation WHERE id = ?1 AND begun_pos IS NOT NULL")?
                .query_row([id.as_bytes()], |row| row.get(0))
                .optional()?;
            Ok(server.flatten().map(AgentId::from_bytes))
        })
    }

    /// The invocations after position `cursor` that are not over, oldest first.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn open_invocations(&self, rows: usize, cursor: u64) -> Result<Vec<InvocationRow>, ReadError> {
        self.at_once(|conn| {
            let found: Vec<Bare> = conn
                .prepare_cached(&format!(
                    "{INVOCATIONS} WHERE ended_pos IS NULL AND pos > ?1 ORDER BY pos LIMIT ?2"
                ))?
                .query_map([int(cursor), limit(rows)], bare)?
                .collect::<rusqlite::Result<_>>()?;
            found.iter().map(|found| whole(conn, found)).collect()
        })
    }

    /// How many invocations an agent is to answer.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn served_count(&self, server: &AgentId) -> Result<u64, ReadError> {
        self.at_once(|conn| {
            conn.prepare_cached("SELECT count(*) FROM invocation WHERE server = ?1 AND ended_pos IS NULL")?
                .query_row([server.as_bytes()], |row| uint(row, 0))
        })
    }

    /// The invocations that an agent is to answer and that are not over, oldest first.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn served_invocations(&self, server: &AgentId, rows: usize) -> Result<Vec<InvocationRow>, ReadError> {
        self.at_once(|conn| {
            let found: Vec<Bare> = conn
                .prepare_cached(&format!(
                    "{INVOCATIONS} WHERE server = ?1 AND ended_pos IS NULL ORDER BY pos LIMIT ?2"
                ))?
                .query_map(params![server.as_bytes(), limit(rows)], bare)?
                .collect::<rusqlite::Result<_>>()?;
            found.iter().map(|found| whole(conn, found)).collect()
        })
    }
}

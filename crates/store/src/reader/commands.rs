//! The commands that were run inside agents.

use edgeplane_types::{AgentId, Epoch, Fact, ProcessId};
use rusqlite::{Connection, OptionalExtension, Row};

use super::{ReadError, Reader, event_at, limit, misplaced};
use crate::{CommandRow, CommandStory, sqlite::int};

impl Reader {
    /// A command by its id.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn command(&self, id: &ProcessId) -> Result<Option<CommandRow>, ReadError> {
        self.at_once(|conn| {
            let found: Option<(i64, bool, bool)> = conn
                .prepare_cached(
                    "SELECT started_pos, ended_pos IS NOT NULL, terminating_pos IS NOT NULL FROM command
                     WHERE id = ?1",
                )?
                .query_row([id.as_bytes()], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
                .optional()?;
            found.map(|(started, is_over, is_ending)| row(conn, started, (is_over, is_ending))).transpose()
        })
    }

    /// The commands of an epoch of which no end is recorded, in no order.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn open_commands(&self, agent: &AgentId, epoch: Epoch) -> Result<Vec<CommandRow>, ReadError> {
        self.at_once(|conn| {
            let places: Vec<(i64, bool)> = conn
                .prepare_cached(
                    "SELECT started_pos, terminating_pos IS NOT NULL FROM command
                     WHERE agent = ?1 AND epoch = ?2 AND ended_pos IS NULL",
                )?
                .query_map((agent.as_bytes(), int(epoch.0)), |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<Result<_, _>>()?;
            places.into_iter().map(|(pos, is_ending)| row(conn, pos, (false, is_ending))).collect()
        })
    }

    /// What the record says of a command; `None` if it was never begun.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn command_story(&self, id: &ProcessId) -> Result<Option<CommandStory>, ReadError> {
        self.at_once(|conn| {
            conn.prepare_cached(
                "SELECT agent, started_pos, terminating_pos, ended_pos FROM command WHERE id = ?1",
            )?
            .query_row([id.as_bytes()], places)
            .optional()?
            .map(|places| story(conn, &places))
            .transpose()
        })
    }

    /// What the record says of an agent's commands, the newest first; only those that began before position `before`,
    /// if it names one.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn command_stories(
        &self,
        agent: &AgentId,
        rows: usize,
        before: Option<u64>,
    ) -> Result<Vec<CommandStory>, ReadError> {
        self.at_once(|conn| {
            let found: Vec<Places> = conn
                .prepare_cached(
                    "SELECT agent, started_pos, terminating_pos, ended_pos FROM command
                     WHERE agent = ?1 AND started_pos < ?2 ORDER BY started_pos DESC LIMIT ?3",
                )?
                .query_map((agent.as_bytes(), before.map_or(i64::MAX, int), limit(rows)), places)?
                .collect::<Result<_, _>>()?;
            found.iter().map(|places| story(conn, places)).collect()
        })
    }
}

/// Whose a command is, and where it began, was to be ended, and ended.
type Places = ([u8; 16], i64, Option<i64>, Option<i64>);

fn places(row: &Row<'_>) -> rusqlite::Result<Places> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
}

fn story(conn: &Connection, (agent, started, terminating, ended): &Places) -> rusqlite::Result<CommandStory> {
    Ok(CommandStory {
        agent: AgentId::from_bytes(*agent),
        pos: u64::try_from(*started).unwrap_or(0),
        started: event_at(conn, *started)?,
        is_terminating: terminating.is_some(),
        ended: ended.map(|pos| event_at(conn, pos)).transpose()?,
    })
}

fn row(
    conn: &Connection,
    started_pos: i64,
    (is_over, is_terminating): (bool, bool),
) -> rusqlite::Result<CommandRow> {
    match event_at(conn, started_pos)?.fact {
        Fact::CommandStarted { process_id, epoch, message_id, .. } => {
            Ok(CommandRow { id: process_id, epoch, message_id, is_over, is_terminating })
        }
        other => Err(misplaced(&other)),
    }
}

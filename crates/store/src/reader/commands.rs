//! The commands that were run inside agents.

use edgeplane_types::{AgentId, Epoch, Fact, InputId, ProcessId, fact::InputFate};
use rusqlite::{Connection, OptionalExtension, Row};

use super::{ReadError, Reader, event_at, limit, misplaced};
use crate::{
    CommandInputRow, CommandRow, CommandStory,
    sqlite::{int, uint},
};

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

    /// What was to be written to a command under this id.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn command_input(
        &self,
        process: &ProcessId,
        input: &InputId,
    ) -> Result<Option<CommandInputRow>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached(
                "SELECT digest, closes, fate FROM command_input WHERE process = ?1 AND id = ?2",
            )?
            .query_row([process.as_bytes(), input.as_bytes()], |row| {
                let fate: Option<String> = row.get(2)?;
                let fate = fate.as_deref().and_then(InputFate::from_word);
                Ok(CommandInputRow { digest: row.get(0)?, closes: row.get(1)?, fate })
            })
            .optional()
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
                "SELECT agent, started_pos, terminating_pos, ended_pos, inputs, input_bytes, input_closed FROM command WHERE id = ?1",
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
                    "SELECT agent, started_pos, terminating_pos, ended_pos, inputs, input_bytes, input_closed FROM command
                     WHERE agent = ?1 AND started_pos < ?2 ORDER BY started_pos DESC LIMIT ?3",
                )?
                .query_map((agent.as_bytes(), before.map_or(i64::MAX, int), limit(rows)), places)?
                .collect::<Result<_, _>>()?;
            found.iter().map(|places| story(conn, places)).collect()
        })
    }
}

/// Whose a command is, and where it began, was to be ended, and ended.
struct Places {
    agent: [u8; 16],
    started: i64,
    terminating: Option<i64>,
    ended: Option<i64>,
    inputs: u64,
    input_bytes: u64,
    input_closed: bool,
}

fn places(row: &Row<'_>) -> rusqlite::Result<Places> {
    Ok(Places {
        agent: row.get(0)?,
        started: row.get(1)?,
        terminating: row.get(2)?,
        ended: row.get(3)?,
        inputs: uint(row, 4)?,
        input_bytes: uint(row, 5)?,
        input_closed: row.get(6)?,
    })
}

fn story(conn: &Connection, places: &Places) -> rusqlite::Result<CommandStory> {
    let Places { agent, started, terminating, ended, inputs, input_bytes, input_closed } = places;
    Ok(CommandStory {
        agent: AgentId::from_bytes(*agent),
        pos: u64::try_from(*started).unwrap_or(0),
        started: event_at(conn, *started)?,
        is_terminating: terminating.is_some(),
        ended: ended.map(|pos| event_at(conn, pos)).transpose()?,
        inputs: *inputs,
        input_bytes: *input_bytes,
        input_closed: *input_closed,
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

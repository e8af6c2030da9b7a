//! The commands that were run inside agents.

use edgeplane_types::{AgentId, Epoch, Fact, ProcessId};
use rusqlite::{Connection, OptionalExtension};

use super::{ReadError, Reader, event_at, misplaced};
use crate::{CommandRow, sqlite::int};

impl Reader {
    /// A command by its id.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn command(&self, id: &ProcessId) -> Result<Option<CommandRow>, ReadError> {
        self.at_once(|conn| {
            let found: Option<(i64, Option<i64>)> = conn
                .prepare_cached("SELECT started_pos, ended_pos FROM command WHERE id = ?1")?
                .query_row([id.as_bytes()], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?;
            found.map(|(started, ended)| row(conn, started, ended.is_some())).transpose()
        })
    }

    /// The commands of an epoch of which no end is recorded, in no order.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn open_commands(&self, agent: &AgentId, epoch: Epoch) -> Result<Vec<CommandRow>, ReadError> {
        self.at_once(|conn| {
            let places: Vec<i64> = conn
                .prepare_cached(
                    "SELECT started_pos FROM command WHERE agent = ?1 AND epoch = ?2 AND ended_pos IS NULL",
                )?
                .query_map((agent.as_bytes(), int(epoch.0)), |row| row.get(0))?
                .collect::<Result<_, _>>()?;
            places.into_iter().map(|pos| row(conn, pos, false)).collect()
        })
    }
}

fn row(conn: &Connection, started_pos: i64, is_over: bool) -> rusqlite::Result<CommandRow> {
    match event_at(conn, started_pos)?.fact {
        Fact::CommandStarted { process_id, epoch, message_id, .. } => {
            Ok(CommandRow { id: process_id, epoch, message_id, is_over })
        }
        other => Err(misplaced(&other)),
    }
}

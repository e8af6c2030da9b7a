//! Operators' overrides, and which agents are held by them.

use edgeplane_types::{AgentId, Fact, OverrideId, OverrideKind, fact::OverrideApplied};
use rusqlite::{Connection, OptionalExtension};

use super::{ROWS_MAX, ReadError, Reader, event_at, limit, misplaced};
use crate::{Hold, Lift, OverrideRow};

impl Reader {
    /// The overrides, newest first: those in force, or those that were lifted as well.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn overrides(&self, with_lifted: bool) -> Result<Vec<OverrideRow>, ReadError> {
        self.at_once(|conn| {
            let places: Vec<(i64, Option<i64>)> = conn
                .prepare_cached(
                    "SELECT applied_pos, lifted_pos FROM override WHERE lifted_pos IS NULL OR ?1
                     ORDER BY applied_pos DESC LIMIT ?2",
                )?
                .query_map((with_lifted, limit(ROWS_MAX)), |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<Result<_, _>>()?;
            places.into_iter().map(|(applied, lifted)| override_row(conn, applied, lifted)).collect()
        })
    }

    /// An override by its id.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn override_by_id(&self, id: &OverrideId) -> Result<Option<OverrideRow>, ReadError> {
        self.at_once(|conn| {
            let found: Option<(i64, Option<i64>)> = conn
                .prepare_cached("SELECT applied_pos, lifted_pos FROM override WHERE id = ?1")?
                .query_row([id.as_bytes()], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?;
            found.map(|(applied, lifted)| override_row(conn, applied, lifted)).transpose()
        })
    }

    /// How overrides hold an agent, if they do.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn hold(&self, agent: &AgentId) -> Result<Option<Hold>, ReadError> {
        self.with(|conn| {
            let found: Option<(String, bool)> = conn
                .prepare_cached("SELECT kind, resumes FROM hold WHERE agent = ?1")?
                .query_row([agent.as_bytes()], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?;
            Ok(found.and_then(|(word, resumes)| {
                OverrideKind::from_word(&word).map(|kind| Hold { kind, resumes })
            }))
        })
    }
}

fn override_row(conn: &Connection, applied: i64, lifted: Option<i64>) -> rusqlite::Result<OverrideRow> {
    let event = event_at(conn, applied)?;
    let Fact::OverrideApplied(applied) = event.fact else { return Err(misplaced(&event.fact)) };
    let OverrideApplied { override_id, scope, kind, reason, expires_at } = applied;
    let lifted = match lifted.map(|pos| event_at(conn, pos)).transpose()? {
        None => None,
        Some(event) => match event.fact {
            Fact::OverrideLifted { reason, .. } => Some(Lift { reason, by: event.actor, at: event.ts }),
            other => return Err(misplaced(&other)),
        },
    };
    let (by, applied_at) = (event.actor, event.ts);
    Ok(OverrideRow { id: override_id, scope, kind, reason, by, applied_at, expires_at, lifted })
}

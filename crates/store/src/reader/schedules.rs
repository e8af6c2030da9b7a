//! Schedules and their histories.

use edgeplane_types::{AgentId, AgentName, Event, Fact, MessageId};
use rusqlite::{OptionalExtension, Row, params};

use super::{ReadError, Reader, limit, misplaced};
use crate::{
    Occurrence, OccurrenceRow, ScheduleRow,
    sqlite::{int, json, moment, parsed, uint},
};

const SCHEDULES: &str = "
    SELECT agent, name, spec_digest, spec_bytes, in_manifest, paused, removed, declared_at, accounted_until,
           last_message, ran, skipped, missed
    FROM schedule";

fn schedule(row: &Row<'_>) -> rusqlite::Result<ScheduleRow> {
    Ok(ScheduleRow {
        agent: AgentId::from_bytes(row.get(0)?),
        name: parsed(row, 1)?,
        spec_digest: row.get(2)?,
        spec_bytes: uint(row, 3)?,
        in_manifest: row.get(4)?,
        paused: row.get(5)?,
        removed: row.get(6)?,
        declared_at: moment(row, 7)?,
        accounted_until: moment(row, 8)?,
        last_message: row.get::<_, Option<_>>(9)?.map(MessageId::from_bytes),
        ran: uint(row, 10)?,
        skipped: uint(row, 11)?,
        missed: uint(row, 12)?,
    })
}

fn occurrence(row: &Row<'_>) -> rusqlite::Result<OccurrenceRow> {
    let event: Event = json(row, 1)?;
    let what = match event.fact {
        Fact::ScheduleRan { due_at, message_id, cause, .. } => Occurrence::Ran { due_at, message_id, cause },
        Fact::ScheduleSkipped { due_at, reason, detail, .. } => {
            Occurrence::Skipped { due_at, reason, detail }
        }
        Fact::ScheduleMissed { from, to, count, reason, .. } => {
            Occurrence::Missed { from, to, count, reason }
        }
        other => return Err(misplaced(&other)),
    };
    Ok(OccurrenceRow { pos: uint(row, 0)?, at: event.ts, what })
}

impl Reader {
    /// Every schedule in force, by agent and name.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn schedules(&self) -> Result<Vec<ScheduleRow>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached(&format!("{SCHEDULES} WHERE NOT removed ORDER BY agent, name"))?
                .query_map([], schedule)?
                .collect()
        })
    }

    /// The schedules of an agent that are in force, by name.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn schedules_of(&self, agent: &AgentId) -> Result<Vec<ScheduleRow>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached(&format!("{SCHEDULES} WHERE agent = ?1 AND NOT removed ORDER BY name"))?
                .query_map([agent.as_bytes()], schedule)?
                .collect()
        })
    }

    /// The schedule that has, or had last, this name at an agent.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn schedule(&self, agent: &AgentId, name: &AgentName) -> Result<Option<ScheduleRow>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached(&format!("{SCHEDULES} WHERE agent = ?1 AND name = ?2"))?
                .query_row(params![agent.as_bytes(), name.as_str()], schedule)
                .optional()
        })
    }

    /// What became of a schedule's occurrences, newest first; only those before position `before`, if it names one.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn schedule_history(
        &self,
        agent: &AgentId,
        name: &AgentName,
        rows: usize,
        before: Option<u64>,
    ) -> Result<Vec<OccurrenceRow>, ReadError> {
        let before = before.map_or(i64::MAX, int);
        self.with(|conn| {
            conn.prepare_cached(
                "SELECT occurrence.pos, event.body FROM occurrence JOIN event ON event.pos = occurrence.pos
                 WHERE occurrence.agent = ?1 AND occurrence.name = ?2 AND occurrence.pos < ?3
                 ORDER BY occurrence.pos DESC LIMIT ?4",
            )?
            .query_map(params![agent.as_bytes(), name.as_str(), before, limit(rows)], occurrence)?
            .collect()
        })
    }
}

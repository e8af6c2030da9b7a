//! Jobs and their items.

use edgeplane_types::{AgentId, Fact, JobItemState, TaskId, TaskState};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{
    ReadError, Reader, event_at, limit, misplaced,
    tasks::{RUNS, TASKS, places, run, task},
};
use crate::{
    row::{BusyRow, JobItemRow, JobReportRow, JobRow, JobTally, TaskRow},
    sqlite::{int, uint, word},
};

/// Whether a task was done once, whatever it is now: by a run, or by what was reported of it.
const DONE: &str = "EXISTS (SELECT 1 FROM run WHERE run.task = task.id AND run.state = 'completed')";

fn job(conn: &Connection, pos: i64) -> rusqlite::Result<JobRow> {
    match event_at(conn, pos)?.fact {
        Fact::JobCreated(created) => {
            Ok(JobRow { pos: u64::try_from(pos).unwrap_or_default(), created: *created })
        }
        other => Err(misplaced(&other)),
    }
}

fn report(conn: &Connection, item: &TaskId) -> rusqlite::Result<Option<JobReportRow>> {
    let pos: Option<i64> = conn
        .prepare_cached("SELECT pos FROM job_report WHERE item = ?1")?
        .query_row([item.as_bytes()], |row| row.get(0))
        .optional()?;
    let Some(event) = pos.map(|pos| event_at(conn, pos)).transpose()? else { return Ok(None) };
    match event.fact {
        Fact::JobItemReported(reported) => Ok(Some(JobReportRow { reported, at: event.ts })),
        other => Err(misplaced(&other)),
    }
}

fn item(conn: &Connection, task: TaskRow) -> rusqlite::Result<JobItemRow> {
    let found = conn
        .prepare_cached(&format!("{RUNS} WHERE task = ?1 ORDER BY attempt DESC LIMIT 1"))?
        .query_row([task.id.as_bytes()], places)
        .optional()?;
    let run = found.map(|places| run(conn, places)).transpose()?;
    let report = report(conn, &task.id)?;
    let done: bool = conn
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM run WHERE task = ?1 AND state = 'completed')")?
        .query_row([task.id.as_bytes()], |row| row.get(0))?;
    let state = JobItemState::of(task.state, report.is_some(), done);
    Ok(JobItemRow { task, state, run, report })
}

impl Reader {
    /// The job that a task is, if it is one.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn job(&self, id: &TaskId) -> Result<Option<JobRow>, ReadError> {
        self.at_once(|conn| {
            conn.prepare_cached("SELECT pos FROM job WHERE task = ?1")?
                .query_row([id.as_bytes()], |row| row.get(0))
                .optional()?
                .map(|pos| job(conn, pos))
                .transpose()
        })
    }

    /// Whether a task is a job.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn is_job(&self, id: &TaskId) -> Result<bool, ReadError> {
        self.at_once(|conn| {
            conn.prepare_cached("SELECT EXISTS (SELECT 1 FROM job WHERE task = ?1)")?
                .query_row([id.as_bytes()], |row| row.get(0))
        })
    }

    /// The tasks after position `cursor` that are jobs, oldest first: all of them or those that are not over; of all or
    /// of one agent that wants them done.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn jobs(
        &self,
        creator: Option<&AgentId>,
        is_all: bool,
        rows: usize,
        cursor: u64,
    ) -> Result<Vec<TaskRow>, ReadError> {
        let over = if is_all { "" } else { " AND is_over = 0" };
        let sql = format!(
            "{TASKS} WHERE pos > ?1 AND id IN (SELECT task FROM job) AND (?3 IS NULL OR creator = ?3){over}
             ORDER BY pos LIMIT ?2"
        );
        let creator = creator.map(AgentId::as_bytes);
        self.at_once(|conn| {
            conn.prepare_cached(&sql)?.query_map(params![int(cursor), limit(rows), creator], task)?.collect()
        })
    }

    /// How many items of a job are where.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn job_tally(&self, id: &TaskId) -> Result<JobTally, ReadError> {
        let sql = format!(
            "SELECT state, EXISTS (SELECT 1 FROM job_report WHERE item = task.id) AS is_reported,
                 state = 'archived' AND {DONE} AS is_done, count(*)
             FROM task WHERE parent = ?1 GROUP BY 1, 2, 3"
        );
        self.at_once(|conn| {
            let mut tally = JobTally::default();
            let counted = |row: &Row<'_>| {
                let state = word(row, 0, TaskState::from_word)?;
                Ok((JobItemState::of(state, row.get(1)?, row.get(2)?), uint(row, 3)?))
            };
            for counted in conn.prepare_cached(&sql)?.query_map([id.as_bytes()], counted)? {
                let (state, count) = counted?;
                tally.add(state, count);
            }
            Ok(tally)
        })
    }

    /// The items of a job after position `cursor`, oldest first: all, or those that are somewhere.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn job_items(
        &self,
        id: &TaskId,
        state: Option<JobItemState>,
        rows: usize,
        cursor: u64,
    ) -> Result<Vec<JobItemRow>, ReadError> {
        let sql = format!("{TASKS} WHERE parent = ?1 AND pos > ?2 ORDER BY pos");
        self.at_once(|conn| {
            let mut statement = conn.prepare_cached(&sql)?;
            let mut found = Vec::new();
            for row in statement.query_map(params![id.as_bytes(), int(cursor)], task)? {
                if found.len() >= rows {
                    break;
                }
                let one = item(conn, row?)?;
                if state.is_none_or(|state| state == one.state) {
                    found.push(one);
                }
            }
            Ok(found)
        })
    }

    /// One item.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn job_item(&self, id: &TaskId) -> Result<Option<JobItemRow>, ReadError> {
        self.at_once(|conn| {
            conn.prepare_cached(&format!("{TASKS} WHERE id = ?1"))?
                .query_row([id.as_bytes()], task)
                .optional()?
                .map(|row| item(conn, row))
                .transpose()
        })
    }

    /// The items of a job that wait for an agent, oldest first.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn job_waiting(&self, id: &TaskId, rows: usize) -> Result<Vec<TaskRow>, ReadError> {
        let sql = format!(
            "{TASKS} WHERE parent = ?1 AND state IN ('queued', 'retrying')
                 AND NOT EXISTS (SELECT 1 FROM run WHERE run.task = task.id AND run.ended_pos IS NULL)
             ORDER BY pos LIMIT ?2"
        );
        self.at_once(|conn| {
            conn.prepare_cached(&sql)?.query_map(params![id.as_bytes(), limit(rows)], task)?.collect()
        })
    }

    /// The agents of all runs that live, as often as there are such runs.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn busy_agents(&self, job: &TaskId) -> Result<Vec<BusyRow>, ReadError> {
        let sql = "SELECT run.agent, coalesce(task.parent = ?1, 0) FROM run JOIN task ON task.id = run.task
             WHERE run.ended_pos IS NULL";
        let busy =
            |row: &Row<'_>| Ok(BusyRow { agent: AgentId::from_bytes(row.get(0)?), is_of_job: row.get(1)? });
        self.at_once(|conn| conn.prepare_cached(sql)?.query_map([job.as_bytes()], busy)?.collect())
    }
}

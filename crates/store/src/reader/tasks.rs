//! Tasks, how they are joined, and their runs.

use std::collections::BTreeSet;

use edgeplane_types::{AgentId, EdgeKind, Fact, RunId, RunState, TaskId, TaskState};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{ReadError, Reader, event_at, limit, misplaced};
use crate::{
    row::{EdgeRow, RunRow, TaskRow, TaskStory, TaskTally},
    sqlite::{int, uint, word},
};

pub(super) const TASKS: &str =
    "SELECT pos, id, root, parent, assignee, creator, title, state, version, attempts,
    cancel_pos IS NOT NULL FROM task";

pub(super) const RUNS: &str = "SELECT pos, state, begun_pos, ended_pos FROM run";

/// Most tasks that the search for a cycle looks at.
const SEARCH_MAX: i64 = 1_000_000;

/// Which tasks a list names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskFilter {
    /// Of this graph.
    pub root: Option<TaskId>,
    /// Parts of this one.
    pub parent: Option<TaskId>,
    /// The work of this agent.
    pub assignee: Option<AgentId>,
    /// In this state.
    pub state: Option<TaskState>,
    /// Those that are over too.
    pub all: bool,
    /// Only what this agent wants done or is to do.
    pub concerns: Option<AgentId>,
}

pub(super) fn task(row: &Row<'_>) -> rusqlite::Result<TaskRow> {
    Ok(TaskRow {
        pos: uint(row, 0)?,
        id: TaskId::from_bytes(row.get(1)?),
        root: TaskId::from_bytes(row.get(2)?),
        parent: row.get::<_, Option<[u8; 16]>>(3)?.map(TaskId::from_bytes),
        assignee: row.get::<_, Option<[u8; 16]>>(4)?.map(AgentId::from_bytes),
        creator: row.get::<_, Option<[u8; 16]>>(5)?.map(AgentId::from_bytes),
        title: row.get(6)?,
        state: word(row, 7, TaskState::from_word)?,
        version: uint(row, 8)?,
        attempts: row.get(9)?,
        is_cancelled: row.get(10)?,
    })
}

fn edge(row: &Row<'_>) -> rusqlite::Result<EdgeRow> {
    Ok(EdgeRow {
        task: TaskId::from_bytes(row.get(0)?),
        kind: word(row, 1, EdgeKind::from_word)?,
        to: row.get::<_, Option<[u8; 16]>>(2)?.map(TaskId::from_bytes),
        uri: row.get(3)?,
    })
}

/// Where the facts of a run stand, and where it is.
pub(super) type Places = (i64, RunState, Option<i64>, Option<i64>);

pub(super) fn places(row: &Row<'_>) -> rusqlite::Result<Places> {
    Ok((row.get(0)?, word(row, 1, RunState::from_word)?, row.get(2)?, row.get(3)?))
}

pub(super) fn run(conn: &Connection, (pos, state, begun_pos, ended_pos): Places) -> rusqlite::Result<RunRow> {
    let event = event_at(conn, pos)?;
    let started_at = event.ts;
    let Fact::RunStarted(started) = event.fact else { return Err(misplaced(&event.fact)) };
    let begun_at = begun_pos.map(|pos| event_at(conn, pos)).transpose()?.map(|event| event.ts);
    let ended = match ended_pos.map(|pos| event_at(conn, pos)).transpose()? {
        Some(event) => match event.fact {
            Fact::RunEnded(ended) => Some((ended, event.ts)),
            other => return Err(misplaced(&other)),
        },
        None => None,
    };
    let pos = u64::try_from(pos).unwrap_or_default();
    Ok(RunRow { pos, id: started.run_id, state, started, started_at, begun_at, ended })
}

fn story(conn: &Connection, row: TaskRow) -> rusqlite::Result<TaskStory> {
    let places = conn
        .prepare_cached("SELECT plan_pos, moved_pos, progress_pos, cancel_pos FROM task WHERE id = ?1")?
        .query_row([row.id.as_bytes()], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get::<_, Option<i64>>(2)?, row.get::<_, Option<i64>>(3)?))
        })?;
    let (plan_pos, moved_pos, progress_pos, cancel_pos): (i64, i64, _, _) = places;
    let first = event_at(conn, int(row.pos))?;
    let (created_at, by) = (first.ts, first.actor);
    let Fact::TaskCreated(created) = first.fact else { return Err(misplaced(&first.fact)) };
    let plan = match event_at(conn, plan_pos)?.fact {
        Fact::TaskCreated(created) => created.plan,
        Fact::TaskUpdated(updated) => updated.plan,
        other => return Err(misplaced(&other)),
    };
    let last = event_at(conn, moved_pos)?;
    let moved = match last.fact {
        Fact::TaskMoved(moved) => Some(moved),
        _ => None,
    };
    let progress = match progress_pos.map(|pos| event_at(conn, pos)).transpose()? {
        Some(event) => match event.fact {
            Fact::TaskProgressed(progressed) => Some((progressed, event.ts)),
            other => return Err(misplaced(&other)),
        },
        None => None,
    };
    let cancelled = match cancel_pos.map(|pos| event_at(conn, pos)).transpose()?.map(|event| event.fact) {
        Some(Fact::TaskCancelRequested(asked)) => Some(asked.reason),
        Some(other) => return Err(misplaced(&other)),
        None => None,
    };
    let created = *created;
    Ok(TaskStory { row, created, by, created_at, plan, moved, moved_at: last.ts, progress, cancelled })
}

impl Reader {
    /// The task with this id.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn task(&self, id: &TaskId) -> Result<Option<TaskRow>, ReadError> {
        self.at_once(|conn| {
            conn.prepare_cached(&format!("{TASKS} WHERE id = ?1"))?
                .query_row([id.as_bytes()], task)
                .optional()
        })
    }

    /// All that is said of a task itself.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn task_story(&self, id: &TaskId) -> Result<Option<TaskStory>, ReadError> {
        self.at_once(|conn| {
            conn.prepare_cached(&format!("{TASKS} WHERE id = ?1"))?
                .query_row([id.as_bytes()], task)
                .optional()?
                .map(|row| story(conn, row))
                .transpose()
        })
    }

    /// The tasks after position `cursor` that a filter names, oldest first.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn tasks(&self, filter: &TaskFilter, rows: usize, cursor: u64) -> Result<Vec<TaskRow>, ReadError> {
        let mut sql = format!("{TASKS} WHERE pos > ?1");
        let mut ids: Vec<[u8; 16]> = Vec::new();
        let named = [
            ("root", filter.root.map(|id| *id.as_bytes())),
            ("parent", filter.parent.map(|id| *id.as_bytes())),
            ("assignee", filter.assignee.map(|id| *id.as_bytes())),
        ];
        for (column, id) in named.into_iter().filter_map(|(column, id)| Some((column, id?))) {
            ids.push(id);
            sql.push_str(&format!(" AND {column} = ?{}", ids.len().saturating_add(2)));
        }
        if let Some(agent) = filter.concerns {
            ids.push(*agent.as_bytes());
            let at = ids.len().saturating_add(2);
            sql.push_str(&format!(" AND (assignee = ?{at} OR creator = ?{at})"));
        }
        if let Some(state) = filter.state {
            sql.push_str(&format!(" AND state = '{state}'"));
        } else if !filter.all {
            sql.push_str(" AND is_over = 0");
        }
        sql.push_str(" ORDER BY pos LIMIT ?2");
        self.at_once(|conn| {
            let mut statement = conn.prepare_cached(&sql)?;
            statement.raw_bind_parameter(1, int(cursor))?;
            statement.raw_bind_parameter(2, limit(rows))?;
            for (at, id) in ids.iter().enumerate() {
                statement.raw_bind_parameter(at.saturating_add(3), id)?;
            }
            statement.raw_query().mapped(task).collect()
        })
    }

    /// How many tasks a graph has.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn task_count(&self, root: &TaskId) -> Result<u64, ReadError> {
        self.at_once(|conn| {
            conn.prepare_cached("SELECT count(*) FROM task WHERE root = ?1")?
                .query_row([root.as_bytes()], |row| uint(row, 0))
        })
    }

    /// The edges that begin at a task or lead to it, in the order in which they were drawn.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn task_edges(&self, id: &TaskId) -> Result<Vec<EdgeRow>, ReadError> {
        let sql = "SELECT task, kind, target, uri, pos FROM task_edge WHERE task = ?1
             UNION ALL SELECT task, kind, target, uri, pos FROM task_edge WHERE target = ?1 AND task != ?1
             ORDER BY pos";
        self.at_once(|conn| conn.prepare_cached(sql)?.query_map([id.as_bytes()], edge)?.collect())
    }

    /// How many of the tasks that one depends on are not completed, and one of them.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn task_waits_for(&self, id: &TaskId) -> Result<Option<TaskRow>, ReadError> {
        let sql = format!(
            "{TASKS} WHERE id IN (SELECT target FROM task_edge WHERE task = ?1 AND kind = 'depends_on')
                 AND state NOT IN ('completed', 'archived') LIMIT 1"
        );
        self.at_once(|conn| conn.prepare_cached(&sql)?.query_row([id.as_bytes()], task).optional())
    }

    /// The tasks that depend on one.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn task_dependents(&self, id: &TaskId) -> Result<Vec<TaskRow>, ReadError> {
        let sql = format!(
            "{TASKS} WHERE id IN (SELECT task FROM task_edge WHERE target = ?1 AND kind = 'depends_on')
             ORDER BY pos"
        );
        self.at_once(|conn| conn.prepare_cached(&sql)?.query_map([id.as_bytes()], task)?.collect())
    }

    /// The parts of a task.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn task_parts(&self, id: &TaskId) -> Result<Vec<TaskRow>, ReadError> {
        let sql = format!("{TASKS} WHERE parent = ?1 ORDER BY pos");
        self.at_once(|conn| conn.prepare_cached(&sql)?.query_map([id.as_bytes()], task)?.collect())
    }

    /// How far the parts of a task are, in numbers.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn task_tally(&self, id: &TaskId) -> Result<TaskTally, ReadError> {
        let sql = "SELECT count(*), coalesce(sum(is_over), 0),
                coalesce(sum(state IN ('completed', 'archived')), 0),
                coalesce(sum(is_over = 1 OR attempts > 0), 0)
             FROM task WHERE parent = ?1";
        self.at_once(|conn| {
            conn.prepare_cached(sql)?.query_row([id.as_bytes()], |row| {
                let (all, over, done, begun) = (uint(row, 0)?, uint(row, 1)?, uint(row, 2)?, uint(row, 3)?);
                Ok(TaskTally { all, over, done, begun })
            })
        })
    }

    /// Whether edges of a kind lead from one task to another.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn task_leads_to(&self, from: &TaskId, kind: EdgeKind, to: &TaskId) -> Result<bool, ReadError> {
        let sql = "WITH RECURSIVE reached (id) AS (
                 SELECT ?1
                 UNION SELECT task_edge.target FROM reached
                     JOIN task_edge ON task_edge.task = reached.id
                     WHERE task_edge.kind = ?2 AND task_edge.target IS NOT NULL
                 LIMIT ?4)
             SELECT 1 FROM reached WHERE id = ?3";
        self.at_once(|conn| {
            conn.prepare_cached(sql)?
                .query_row(params![from.as_bytes(), kind.as_str(), to.as_bytes(), SEARCH_MAX], |_row| Ok(()))
                .optional()
                .map(|found| found.is_some())
        })
    }

    /// The run with this id.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn run(&self, id: &RunId) -> Result<Option<RunRow>, ReadError> {
        self.at_once(|conn| {
            conn.prepare_cached(&format!("{RUNS} WHERE id = ?1"))?
                .query_row([id.as_bytes()], places)
                .optional()?
                .map(|places| run(conn, places))
                .transpose()
        })
    }

    /// The addresses that begin so and to which an edge of a task leads.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn edge_uris(&self, beginning: &str) -> Result<BTreeSet<String>, ReadError> {
        self.at_once(|conn| {
            conn.prepare_cached("SELECT DISTINCT uri FROM task_edge WHERE substr(uri, 1, length(?1)) = ?1")?
                .query_map([beginning], |row| row.get(0))?
                .collect()
        })
    }

    /// The run of a task that lives.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn live_run(&self, task: &TaskId) -> Result<Option<RunRow>, ReadError> {
        self.at_once(|conn| {
            conn.prepare_cached(&format!("{RUNS} WHERE task = ?1 AND ended_pos IS NULL"))?
                .query_row([task.as_bytes()], places)
                .optional()?
                .map(|places| run(conn, places))
                .transpose()
        })
    }

    /// The newest run of a task, whether it lives or not.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn last_run(&self, task: &TaskId) -> Result<Option<RunRow>, ReadError> {
        self.at_once(|conn| {
            conn.prepare_cached(&format!("{RUNS} WHERE task = ?1 ORDER BY attempt DESC LIMIT 1"))?
                .query_row([task.as_bytes()], places)
                .optional()?
                .map(|places| run(conn, places))
                .transpose()
        })
    }

    /// The runs after position `cursor` of a task, of an agent, or of all; only those that live, if that is asked for.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn runs(
        &self,
        (of_task, of_agent): (Option<&TaskId>, Option<&AgentId>),
        is_live: bool,
        rows: usize,
        cursor: u64,
    ) -> Result<Vec<RunRow>, ReadError> {
        let mut sql = format!("{RUNS} WHERE pos > ?1");
        if is_live {
            sql.push_str(" AND ended_pos IS NULL");
        }
        sql.push_str(if of_task.is_some() { " AND task = ?3" } else { " AND ?3 IS NULL" });
        sql.push_str(if of_agent.is_some() { " AND agent = ?4" } else { " AND ?4 IS NULL" });
        sql.push_str(" ORDER BY pos LIMIT ?2");
        self.at_once(|conn| {
            let (task, agent) = (of_task.map(TaskId::as_bytes), of_agent.map(AgentId::as_bytes));
            let found: Vec<Places> = conn
                .prepare_cached(&sql)?
                .query_map(params![int(cursor), limit(rows), task, agent], places)?
                .collect::<rusqlite::Result<_>>()?;
            found.into_iter().map(|places| run(conn, places)).collect()
        })
    }
}

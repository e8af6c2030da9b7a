//! Tasks, how they are joined, and the runs of each.
//!
//! What a list, a graph or the engine decides by stands in the rows; all else a row's events say.

use edgeplane_types::{
    Fact, TaskId,
    fact::{RunEnded, RunStarted, TaskCreated, TaskLinked, TaskPlan, TaskUnlinked},
};
use rusqlite::params;

use super::{Definition, FoldError, Step};
use crate::sqlite::int;

pub(super) const DEFINITION: Definition = Definition {
    version: 2,
    schema: "
        CREATE TABLE task (
            pos INTEGER PRIMARY KEY,
            id BLOB NOT NULL UNIQUE,
            root BLOB NOT NULL,
            parent BLOB,
            assignee BLOB,
            creator BLOB,
            title TEXT NOT NULL,
            state TEXT NOT NULL,
            is_over INTEGER NOT NULL,
            version INTEGER NOT NULL,
            attempts INTEGER NOT NULL,
            plan_pos INTEGER NOT NULL,
            moved_pos INTEGER NOT NULL,
            progress_pos INTEGER,
            cancel_pos INTEGER
        ) STRICT;
        CREATE INDEX task_of_root ON task (root, pos);
        CREATE INDEX task_of_parent ON task (parent, pos, is_over, state, attempts) WHERE parent IS NOT NULL;
        CREATE INDEX task_of_assignee ON task (assignee, pos) WHERE assignee IS NOT NULL;
        CREATE INDEX task_of_creator ON task (creator, pos) WHERE creator IS NOT NULL;
        CREATE INDEX task_open ON task (state, pos) WHERE is_over = 0;
        CREATE TABLE task_edge (
            pos INTEGER PRIMARY KEY,
            task BLOB NOT NULL,
            kind TEXT NOT NULL,
            target BLOB,
            uri TEXT
        ) STRICT;
        CREATE UNIQUE INDEX task_edge_once ON task_edge (task, kind, coalesce(target, x''), coalesce(uri, ''));
        CREATE INDEX task_edge_to ON task_edge (target, kind, task) WHERE target IS NOT NULL;
        CREATE TABLE run (
            pos INTEGER PRIMARY KEY,
            id BLOB NOT NULL UNIQUE,
            task BLOB NOT NULL,
            attempt INTEGER NOT NULL,
            agent BLOB NOT NULL,
            state TEXT NOT NULL,
            begun_pos INTEGER,
            ended_pos INTEGER,
            UNIQUE (task, attempt)
        ) STRICT;
        CREATE INDEX run_of_agent ON run (agent, pos);
        CREATE INDEX run_live ON run (pos) WHERE ended_pos IS NULL;
        CREATE TABLE task_concern (
            agent BLOB NOT NULL,
            pos INTEGER NOT NULL,
            PRIMARY KEY (agent, pos)
        ) STRICT, WITHOUT ROWID;",
    tables: &[
        ("task", "pos"),
        ("task_edge", "pos"),
        ("run", "pos"),
        ("task_concern", "agent, pos"),
    ],
    fold,
};

fn fold(step: &Step<'_>) -> Result<(), FoldError> {
    let Some(task) = step.event.fact.task_id() else { return Ok(()) };
    // Whose it is no more hears that, too.
    concern(step, task)?;
    apply(step)?;
    concern(step, task)
}

/// Notes for which agents an event of a task is: whoever wants it done, and whoever is to do it or does.
fn concern(step: &Step<'_>, task: TaskId) -> Result<(), FoldError> {
    step.run(
        "INSERT OR IGNORE INTO task_concern (agent, pos)
         SELECT creator, ?2 FROM task WHERE id = ?1 AND creator IS NOT NULL
         UNION SELECT assignee, ?2 FROM task WHERE id = ?1 AND assignee IS NOT NULL
         UNION SELECT agent, ?2 FROM run WHERE task = ?1 AND (ended_pos IS NULL OR ended_pos = ?2)",
        params![task.as_bytes(), int(step.pos)],
    )
    .map(drop)
}

fn apply(step: &Step<'_>) -> Result<(), FoldError> {
    match &step.event.fact {
        Fact::TaskCreated(created) => create(step, created),
        Fact::TaskUpdated(updated) => update(step, updated.task_id, &updated.plan),
        Fact::TaskMoved(moved) => {
            let found = change(
                step,
                "UPDATE task SET state = ?2, is_over = ?3, moved_pos = ?4, version = version + 1
                 WHERE id = ?1 AND state = ?5",
                params![
                    moved.task_id.as_bytes(),
                    moved.to.as_str(),
                    moved.to.is_over(),
                    int(step.pos),
                    moved.from.as_str()
                ],
            )?;
            known(found, moved.task_id)
        }
        Fact::TaskProgressed(progressed) => {
            let found = change(
                step,
                "UPDATE task SET progress_pos = ?2, version = version + 1 WHERE id = ?1",
                params![progressed.task_id.as_bytes(), int(step.pos)],
            )?;
            known(found, progressed.task_id)
        }
        Fact::TaskCancelRequested(asked) => {
            let found = change(
                step,
                "UPDATE task SET cancel_pos = coalesce(cancel_pos, ?2) WHERE id = ?1",
                params![asked.task_id.as_bytes(), int(step.pos)],
            )?;
            known(found, asked.task_id)
        }
        Fact::TaskLinked(linked) => link(step, linked),
        Fact::TaskUnlinked(unlinked) => unlink(step, unlinked),
        Fact::RunStarted(started) => start(step, started),
        Fact::RunBegun(begun) => {
            let found = change(
                step,
                "UPDATE run SET begun_pos = coalesce(begun_pos, ?3), state = 'running'
                 WHERE id = ?1 AND task = ?2 AND ended_pos IS NULL",
                params![begun.run_id.as_bytes(), begun.task_id.as_bytes(), int(step.pos)],
            )?;
            if found == 0 { Err(FoldError::NoRun(begun.run_id)) } else { Ok(()) }
        }
        Fact::RunEnded(ended) => end(step, ended),
        _ => Ok(()),
    }
}

fn change<P: rusqlite::Params>(step: &Step<'_>, sql: &str, params: P) -> Result<usize, FoldError> {
    step.of_task()?;
    step.run(sql, params)
}

fn known(found: usize, id: TaskId) -> Result<(), FoldError> {
    if found == 0 { Err(FoldError::UnknownTask(id)) } else { Ok(()) }
}

fn create(step: &Step<'_>, created: &TaskCreated) -> Result<(), FoldError> {
    if step.of_task()? != created.root_id {
        return Err(FoldError::WrongStream(step.event.stream));
    }
    let creator = match &step.event.actor {
        edgeplane_types::fact::Actor::Agent { agent_id, .. } => Some(agent_id.as_bytes()),
        _ => None,
    };
    step.insert(
        "INSERT INTO task (pos, id, root, parent, assignee, creator, title, state, is_over, version, attempts,
             plan_pos, moved_pos)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 0, 1, 0, ?1, ?1)",
        params![
            int(step.pos),
            created.task_id.as_bytes(),
            created.root_id.as_bytes(),
            created.parent_id.as_ref().map(TaskId::as_bytes),
            created.plan.assignee.as_ref().map(edgeplane_types::AgentId::as_bytes),
            creator,
            created.plan.title,
            created.state.as_str(),
        ],
        |_taken| FoldError::TaskTwice(created.task_id),
    )?;
    for target in &created.depends_on {
        edge(step, created.task_id, ("depends_on", Some(target), None))?;
    }
    Ok(())
}

fn update(step: &Step<'_>, id: TaskId, plan: &TaskPlan) -> Result<(), FoldError> {
    let found = change(
        step,
        "UPDATE task SET plan_pos = ?2, title = ?3, assignee = ?4, version = version + 1 WHERE id = ?1",
        params![
            id.as_bytes(),
            int(step.pos),
            plan.title,
            plan.assignee.as_ref().map(edgeplane_types::AgentId::as_bytes)
        ],
    )?;
    known(found, id)
}

/// An edge by how it joins and what it leads to. One that is there already stays as it was.
fn edge(
    step: &Step<'_>,
    from: TaskId,
    (kind, to, uri): (&str, Option<&TaskId>, Option<&str>),
) -> Result<(), FoldError> {
    step.run(
        "INSERT OR IGNORE INTO task_edge (pos, task, kind, target, uri)
         VALUES ((SELECT coalesce(max(pos), 0) + 1 FROM task_edge), ?1, ?2, ?3, ?4)",
        params![from.as_bytes(), kind, to.map(TaskId::as_bytes), uri],
    )?;
    Ok(())
}

fn link(step: &Step<'_>, linked: &TaskLinked) -> Result<(), FoldError> {
    step.of_task()?;
    let (to, uri) = (linked.to.as_ref(), linked.uri.as_deref());
    edge(step, linked.task_id, (linked.kind.as_str(), to, uri))
}

fn unlink(step: &Step<'_>, unlinked: &TaskUnlinked) -> Result<(), FoldError> {
    change(
        step,
        "DELETE FROM task_edge WHERE task = ?1 AND kind = ?2 AND target IS ?3 AND uri IS ?4",
        params![
            unlinked.task_id.as_bytes(),
            unlinked.kind.as_str(),
            unlinked.to.as_ref().map(TaskId::as_bytes),
            unlinked.uri,
        ],
    )
    .map(drop)
}

/// A run, and never two of the same number or two that live.
fn start(step: &Step<'_>, started: &RunStarted) -> Result<(), FoldError> {
    step.of_task()?;
    let live = step.find(
        "SELECT 1 FROM run WHERE task = ?1 AND ended_pos IS NULL LIMIT 1",
        [started.task_id.as_bytes()],
        |_row| Ok(()),
    )?;
    if live.is_some() {
        return Err(FoldError::RunTwice(started.run_id));
    }
    let found = step.run(
        "UPDATE task SET attempts = ?2 WHERE id = ?1 AND attempts = ?2 - 1",
        params![started.task_id.as_bytes(), started.attempt],
    )?;
    known(found, started.task_id)?;
    step.insert(
        "INSERT INTO run (pos, id, task, attempt, agent, state) VALUES (?1, ?2, ?3, ?4, ?5, 'preparing')",
        params![
            int(step.pos),
            started.run_id.as_bytes(),
            started.task_id.as_bytes(),
            started.attempt,
            started.agent_id.as_bytes(),
        ],
        |_taken| FoldError::RunTwice(started.run_id),
    )
}

fn end(step: &Step<'_>, ended: &RunEnded) -> Result<(), FoldError> {
    let found = change(
        step,
        "UPDATE run SET ended_pos = ?3, state = ?4 WHERE id = ?1 AND task = ?2 AND ended_pos IS NULL",
        params![ended.run_id.as_bytes(), ended.task_id.as_bytes(), int(step.pos), ended.state.as_str()],
    )?;
    if found == 0 { Err(FoldError::NoRun(ended.run_id)) } else { Ok(()) }
}

impl Step<'_> {
    /// The task at the root of the graph whose stream the event is in.
    pub(super) fn of_task(&self) -> Result<TaskId, FoldError> {
        match self.event.stream {
            edgeplane_types::StreamName::Task(root) => Ok(root),
            other => Err(FoldError::WrongStream(other)),
        }
    }
}

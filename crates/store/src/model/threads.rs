//! Conversations: sessions and threads of agents, which turns are no part of a history any more, which were to end, and
//! where each turn's output stands.
//!
//! Which message belongs to which thread the messages say; here stands what is not said by a message. An agent's first
//! session and thread begin with its declaration.

use std::collections::BTreeMap;

use edgeplane_types::{
    AgentId, Fact, SessionId, ThreadId, TurnId,
    fact::{SessionCreated, SubagentSpawned, ThreadCreated, ThreadRolledBack, ThreadUpdated},
};
use rusqlite::params;

use super::{Definition, FoldError, Step, json};
use crate::sqlite::int;

pub(super) const DEFINITION: Definition = Definition {
    version: 3,
    schema: "
        CREATE TABLE talk (
            id BLOB PRIMARY KEY,
            agent BLOB NOT NULL,
            is_main INTEGER NOT NULL,
            title TEXT,
            labels TEXT NOT NULL,
            version INTEGER NOT NULL,
            created_pos INTEGER NOT NULL,
            created INTEGER NOT NULL,
            archived INTEGER
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX talk_of_agent ON talk (agent, created_pos);
        CREATE INDEX talk_order ON talk (created_pos);
        CREATE TABLE thread (
            id BLOB PRIMARY KEY,
            agent BLOB NOT NULL,
            session BLOB NOT NULL,
            is_main INTEGER NOT NULL,
            title TEXT,
            labels TEXT NOT NULL,
            version INTEGER NOT NULL,
            created_pos INTEGER NOT NULL,
            created INTEGER NOT NULL,
            changed INTEGER NOT NULL,
            archived INTEGER,
            parent TEXT,
            removed INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX thread_of_agent ON thread (agent, created_pos);
        CREATE INDEX thread_of_session ON thread (session, created_pos);
        CREATE INDEX thread_order ON thread (created_pos);
        CREATE TABLE turn_removed (
            turn BLOB PRIMARY KEY,
            pos INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE thread_compacted (
            thread BLOB PRIMARY KEY,
            agent BLOB NOT NULL,
            pos INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX thread_compacted_of_agent ON thread_compacted (agent, thread);
        CREATE TABLE turn_interrupt (
            turn BLOB PRIMARY KEY,
            pos INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE turn_output (
            pos INTEGER PRIMARY KEY,
            turn BLOB NOT NULL UNIQUE,
            agent BLOB NOT NULL
        ) STRICT;
        CREATE INDEX turn_output_of_agent ON turn_output (agent, pos);",
    tables: &[
        ("talk", "id"),
        ("thread", "id"),
        ("turn_removed", "turn"),
        ("thread_compacted", "thread"),
        ("turn_interrupt", "turn"),
        ("turn_output", "pos"),
    ],
    fold,
};

fn fold(step: &Step<'_>) -> Result<(), FoldError> {
    match &step.event.fact {
        Fact::AgentDeclared { session_id, .. } => declare(step, *session_id),
        Fact::SessionCreated(created) => create_session(step, created, false),
        Fact::SessionArchived(archived) => archive_session(step, archived.session_id),
        Fact::ThreadCreated(created) => create_thread(step, created, false),
        Fact::SubagentSpawned(spawned) => fork(step, spawned),
        Fact::ThreadUpdated(updated) => update(step, updated),
        Fact::ThreadArchived(archived) => archive(step, archived.thread_id),
        Fact::ThreadRolledBack(back) => roll_back(step, back),
        Fact::ThreadCompacted(compacted) => compact(step, compacted.thread_id),
        Fact::TurnInterruptRequested(asked) => mark(step, "turn_interrupt", asked.turn_id),
        // A program may say the end of a turn twice; the first is what its turn came to.
        Fact::TurnCompleted { turn_id, .. } => step
            .run(
                "INSERT OR IGNORE INTO turn_output (pos, turn, agent) VALUES (?1, ?2, ?3)",
                params![int(step.pos), turn_id.as_bytes(), step.agent()?.as_bytes()],
            )
            .map(drop),
        _ => Ok(()),
    }
}

/// The first session and the first thread of an agent have one UUID.
fn declare(step: &Step<'_>, session_id: SessionId) -> Result<(), FoldError> {
    let labels = BTreeMap::new();
    let session = SessionCreated { session_id, title: None, labels: labels.clone() };
    create_session(step, &session, true)?;
    let thread_id = ThreadId::from_bytes(*session_id.as_bytes());
    let thread = ThreadCreated { thread_id, session_id, title: None, labels, parent: None };
    create_thread(step, &thread, true)
}

fn create_session(step: &Step<'_>, created: &SessionCreated, is_main: bool) -> Result<(), FoldError> {
    step.insert(
        "INSERT INTO talk (id, agent, is_main, title, labels, version, created_pos, created)
         VALUES (?1, ?2, ?3, ?4, ?5, 1, ?6, ?7)",
        params![
            created.session_id.as_bytes(),
            step.agent()?.as_bytes(),
            is_main,
            created.title,
            json(&created.labels)?,
            int(step.pos),
            step.ts(),
        ],
        |_taken| FoldError::SessionTwice(created.session_id),
    )
}

fn archive_session(step: &Step<'_>, id: SessionId) -> Result<(), FoldError> {
    let found = step.run(
        "UPDATE talk SET archived = coalesce(archived, ?3), version = version + 1 WHERE id = ?1 AND agent = ?2",
        params![id.as_bytes(), step.agent()?.as_bytes(), step.ts()],
    )?;
    if found == 0 {
        return Err(FoldError::UnknownSession(id));
    }
    step.run(
        "UPDATE thread SET archived = ?2, changed = ?2, version = version + 1
         WHERE session = ?1 AND archived IS NULL",
        params![id.as_bytes(), step.ts()],
    )
    .map(drop)
}

fn create_thread(step: &Step<'_>, created: &ThreadCreated, is_main: bool) -> Result<(), FoldError> {
    let agent = step.agent()?;
    if session_agent(step, created.session_id)? != Some(agent) {
        return Err(FoldError::UnknownSession(created.session_id));
    }
    step.insert(
        "INSERT INTO thread (id, agent, session, is_main, title, labels, version, created_pos, created, changed,
                             parent, removed)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, 1, ?7, ?8, ?8, ?9, 0)",
        params![
            created.thread_id.as_bytes(),
            agent.as_bytes(),
            created.session_id.as_bytes(),
            is_main,
            created.title,
            json(&created.labels)?,
            int(step.pos),
            step.ts(),
            created.parent.as_ref().map(json).transpose()?,
        ],
        |_taken| FoldError::ThreadTwice(created.thread_id),
    )
}

/// The first thread of a child goes on from one of its parent's, if that was asked for.
fn fork(step: &Step<'_>, spawned: &SubagentSpawned) -> Result<(), FoldError> {
    let Some(context) = &spawned.context else { return Ok(()) };
    let id = ThreadId::from_bytes(*spawned.session_id.as_bytes());
    let found = step.run(
        "UPDATE thread SET parent = ?2 WHERE id = ?1 AND is_main",
        params![id.as_bytes(), json(context)?],
    )?;
    known(found, id)
}

fn session_agent(step: &Step<'_>, id: SessionId) -> Result<Option<AgentId>, FoldError> {
    step.find("SELECT agent FROM talk WHERE id = ?1", [id.as_bytes()], |row| {
        row.get(0).map(AgentId::from_bytes)
    })
}

fn known(found: usize, id: ThreadId) -> Result<(), FoldError> {
    if found == 0 { Err(FoldError::UnknownThread(id)) } else { Ok(()) }
}

fn update(step: &Step<'_>, updated: &ThreadUpdated) -> Result<(), FoldError> {
    let found = step.run(
        "UPDATE thread SET title = ?4, labels = ?5, changed = ?3, version = version + 1
         WHERE id = ?1 AND agent = ?2",
        params![
            updated.thread_id.as_bytes(),
            step.agent()?.as_bytes(),
            step.ts(),
            updated.title,
            json(&updated.labels)?,
        ],
    )?;
    known(found, updated.thread_id)
}

fn archive(step: &Step<'_>, id: ThreadId) -> Result<(), FoldError> {
    let found = step.run(
        "UPDATE thread SET archived = coalesce(archived, ?3), changed = ?3, version = version + 1
         WHERE id = ?1 AND agent = ?2",
        params![id.as_bytes(), step.agent()?.as_bytes(), step.ts()],
    )?;
    known(found, id)
}

fn roll_back(step: &Step<'_>, back: &ThreadRolledBack) -> Result<(), FoldError> {
    let found = step.run(
        "UPDATE thread SET removed = removed + ?4, changed = ?3, version = version + 1
         WHERE id = ?1 AND agent = ?2",
        params![
            back.thread_id.as_bytes(),
            step.agent()?.as_bytes(),
            step.ts(),
            int(u64::try_from(back.removed.len()).unwrap_or(u64::MAX)),
        ],
    )?;
    known(found, back.thread_id)?;
    for turn in &back.removed {
        mark(step, "turn_removed", *turn)?;
    }
    Ok(())
}

/// The newest boundary of a thread is the one that counts.
fn compact(step: &Step<'_>, id: ThreadId) -> Result<(), FoldError> {
    let agent = step.agent()?;
    let found = step.run(
        "UPDATE thread SET changed = ?3, version = version + 1 WHERE id = ?1 AND agent = ?2",
        params![id.as_bytes(), agent.as_bytes(), step.ts()],
    )?;
    known(found, id)?;
    step.run(
        "INSERT INTO thread_compacted (thread, agent, pos) VALUES (?1, ?2, ?3)
         ON CONFLICT (thread) DO UPDATE SET pos = excluded.pos",
        params![id.as_bytes(), agent.as_bytes(), int(step.pos)],
    )
    .map(drop)
}

/// Notes where something was said of a turn first.
fn mark(step: &Step<'_>, table: &str, turn: TurnId) -> Result<(), FoldError> {
    step.run(
        &format!("INSERT OR IGNORE INTO {table} (turn, pos) VALUES (?1, ?2)"),
        params![turn.as_bytes(), int(step.pos)],
    )
    .map(drop)
}

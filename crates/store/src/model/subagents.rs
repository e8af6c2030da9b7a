//! The children of agents: how far each is, and whether it is to end.

use edgeplane_types::{
    AgentId, Fact, SubagentStatus,
    fact::{SubagentClosed, SubagentSpawned},
};
use rusqlite::{Params, params};

use super::{Definition, FoldError, Step};
use crate::sqlite::int;

pub(super) const DEFINITION: Definition = Definition {
    version: 1,
    schema: "
        CREATE TABLE subagent (
            pos INTEGER PRIMARY KEY,
            id BLOB NOT NULL UNIQUE,
            parent BLOB NOT NULL,
            task BLOB,
            status TEXT NOT NULL,
            reason TEXT,
            closing_pos INTEGER,
            closed_pos INTEGER,
            last_message BLOB
        ) STRICT;
        CREATE INDEX subagent_of_parent ON subagent (parent, pos);
        CREATE INDEX subagent_open ON subagent (pos) WHERE closed_pos IS NULL;",
    tables: &[("subagent", "pos")],
    fold,
};

fn fold(step: &Step<'_>) -> Result<(), FoldError> {
    match &step.event.fact {
        Fact::SubagentSpawned(spawned) => spawn(step, spawned),
        Fact::SubagentMoved(moved) => change(
            step,
            moved.subagent_id,
            "UPDATE subagent SET status = ?3, reason = ?4 WHERE id = ?1 AND parent = ?2 AND closed_pos IS NULL",
            params![
                moved.subagent_id.as_bytes(),
                step.agent()?.as_bytes(),
                moved.status.as_str(),
                moved.reason
            ],
        ),
        Fact::SubagentInput(input) => change(
            step,
            input.subagent_id,
            "UPDATE subagent SET last_message = ?3 WHERE id = ?1 AND parent = ?2",
            params![input.subagent_id.as_bytes(), step.agent()?.as_bytes(), input.message_id.as_bytes()],
        ),
        Fact::SubagentClosing(closing) => change(
            step,
            closing.subagent_id,
            "UPDATE subagent SET closing_pos = ?3 WHERE id = ?1 AND parent = ?2 AND closing_pos IS NULL
                 AND closed_pos IS NULL",
            params![closing.subagent_id.as_bytes(), step.agent()?.as_bytes(), int(step.pos)],
        ),
        Fact::SubagentClosed(closed) => close(step, closed),
        _ => Ok(()),
    }
}

fn spawn(step: &Step<'_>, spawned: &SubagentSpawned) -> Result<(), FoldError> {
    let (id, parent) = (spawned.subagent_id, step.agent()?);
    step.insert(
        "INSERT INTO subagent (pos, id, parent, task, status) VALUES (?1, ?2, ?3, ?4, ?5)",
        params![
            int(step.pos),
            id.as_bytes(),
            parent.as_bytes(),
            spawned.task_id.as_ref().map(edgeplane_types::TaskId::as_bytes),
            SubagentStatus::Queued.as_str(),
        ],
        |_taken| FoldError::SubagentTwice(id),
    )
}

fn close(step: &Step<'_>, closed: &SubagentClosed) -> Result<(), FoldError> {
    change(
        step,
        closed.subagent_id,
        "UPDATE subagent SET closed_pos = ?3, status = ?4, reason = ?5
         WHERE id = ?1 AND parent = ?2 AND closed_pos IS NULL",
        params![
            closed.subagent_id.as_bytes(),
            step.agent()?.as_bytes(),
            int(step.pos),
            closed.outcome.as_str(),
            closed.reason,
        ],
    )
}

/// Changes a child of the agent whose stream the event is in.
fn change<P: Params>(step: &Step<'_>, id: AgentId, sql: &str, params: P) -> Result<(), FoldError> {
    if step.run(sql, params)? == 0 { Err(FoldError::NoSubagent(id)) } else { Ok(()) }
}

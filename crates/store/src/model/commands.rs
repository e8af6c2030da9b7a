//! The commands that were run inside agents: where each began and where it ended.

use edgeplane_types::{Epoch, Fact, ProcessId};
use rusqlite::params;

use super::{Definition, FoldError, Step};
use crate::sqlite::int;

pub(super) const DEFINITION: Definition = Definition {
    version: 2,
    schema: "
        CREATE TABLE command (
            id BLOB PRIMARY KEY,
            agent BLOB NOT NULL,
            epoch INTEGER NOT NULL,
            started_pos INTEGER NOT NULL,
            terminating_pos INTEGER,
            ended_pos INTEGER
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX command_of_agent ON command (agent, started_pos);
        CREATE INDEX command_open ON command (agent, epoch) WHERE ended_pos IS NULL;",
    tables: &[("command", "id")],
    fold,
};

fn fold(step: &Step<'_>) -> Result<(), FoldError> {
    match &step.event.fact {
        Fact::CommandStarted { process_id, epoch, .. } => started(step, process_id, *epoch),
        Fact::CommandTerminating { process_id, .. } => terminating(step, process_id),
        Fact::CommandEnded { process_id, .. } => ended(step, process_id),
        _ => Ok(()),
    }
}

fn started(step: &Step<'_>, id: &ProcessId, epoch: Epoch) -> Result<(), FoldError> {
    step.insert(
        "INSERT INTO command (id, agent, epoch, started_pos) VALUES (?1, ?2, ?3, ?4)",
        params![id.as_bytes(), step.agent()?.as_bytes(), int(epoch.0), int(step.pos)],
        |_| FoldError::CommandTwice(*id),
    )
}

/// Somebody may ask more than once; the first time counts.
fn terminating(step: &Step<'_>, id: &ProcessId) -> Result<(), FoldError> {
    let changed = step.run(
        "UPDATE command SET terminating_pos = coalesce(terminating_pos, ?1)
         WHERE id = ?2 AND agent = ?3 AND ended_pos IS NULL",
        params![int(step.pos), id.as_bytes(), step.agent()?.as_bytes()],
    )?;
    if changed == 1 { Ok(()) } else { Err(FoldError::NoCommand(*id)) }
}

/// A command ends once.
fn ended(step: &Step<'_>, id: &ProcessId) -> Result<(), FoldError> {
    let changed = step.run(
        "UPDATE command SET ended_pos = ?1 WHERE id = ?2 AND agent = ?3 AND ended_pos IS NULL",
        params![int(step.pos), id.as_bytes(), step.agent()?.as_bytes()],
    )?;
    if changed == 1 { Ok(()) } else { Err(FoldError::NoCommand(*id)) }
}

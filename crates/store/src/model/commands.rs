//! The commands that were run inside agents: where each began and where it ended, and what was written to it.

use edgeplane_types::{
    Epoch, Fact, ProcessId,
    fact::{CommandInputAccepted, CommandInputSettled, InputFate},
};
use rusqlite::params;

use super::{Definition, FoldError, Step};
use crate::sqlite::int;

pub(super) const DEFINITION: Definition = Definition {
    version: 3,
    schema: "
        CREATE TABLE command (
            id BLOB PRIMARY KEY,
            agent BLOB NOT NULL,
            epoch INTEGER NOT NULL,
            started_pos INTEGER NOT NULL,
            terminating_pos INTEGER,
            ended_pos INTEGER,
            inputs INTEGER NOT NULL DEFAULT 0,
            input_bytes INTEGER NOT NULL DEFAULT 0,
            input_closed INTEGER NOT NULL DEFAULT 0
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE command_input (
            process BLOB NOT NULL,
            id BLOB NOT NULL,
            digest TEXT NOT NULL,
            bytes INTEGER NOT NULL,
            closes INTEGER NOT NULL,
            fate TEXT,
            PRIMARY KEY (process, id)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX command_of_agent ON command (agent, started_pos);
        CREATE INDEX command_open ON command (agent, epoch) WHERE ended_pos IS NULL;",
    tables: &[("command", "id"), ("command_input", "process, id")],
    fold,
};

fn fold(step: &Step<'_>) -> Result<(), FoldError> {
    match &step.event.fact {
        Fact::CommandStarted { process_id, epoch, .. } => started(step, process_id, *epoch),
        Fact::CommandInputAccepted(input) => accepted(step, input),
        Fact::CommandInputSettled(end) => settled(step, end),
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

fn accepted(step: &Step<'_>, input: &CommandInputAccepted) -> Result<(), FoldError> {
    let runs = step.find(
        "SELECT 1 FROM command WHERE id = ?1 AND agent = ?2 AND ended_pos IS NULL",
        params![input.process_id.as_bytes(), step.agent()?.as_bytes()],
        |_row| Ok(()),
    )?;
    runs.ok_or(FoldError::NoCommand(input.process_id))?;
    step.insert(
        "INSERT INTO command_input (process, id, digest, bytes, closes) VALUES (?1, ?2, ?3, ?4, ?5)",
        params![
            input.process_id.as_bytes(),
            input.input_id.as_bytes(),
            input.input_digest,
            int(input.input_bytes),
            input.closes
        ],
        |_| FoldError::InputTwice(input.input_id),
    )
}

/// What was refused may be settled anew; what was written stays so.
fn settled(step: &Step<'_>, end: &CommandInputSettled) -> Result<(), FoldError> {
    let changed = step.run(
        "UPDATE command_input SET fate = ?1
         WHERE process = ?2 AND id = ?3 AND (fate IS NULL OR fate = 'refused')",
        params![end.fate.as_str(), end.process_id.as_bytes(), end.input_id.as_bytes()],
    )?;
    if changed != 1 {
        return Err(FoldError::NoInput(end.input_id));
    }
    if end.fate == InputFate::Written {
        step.run(
            "UPDATE command SET inputs = inputs + 1, input_bytes = input_bytes + input.bytes,
                    input_closed = max(input_closed, input.closes)
             FROM (SELECT bytes, closes FROM command_input WHERE process = ?1 AND id = ?2) AS input
             WHERE command.id = ?1",
            params![end.process_id.as_bytes(), end.input_id.as_bytes()],
        )?;
    }
    Ok(())
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

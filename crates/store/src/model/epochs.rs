//! The epochs of each agent: from the intent to start to the last of the output.

use edgeplane_types::{AgentId, Epoch, Fact};
use rusqlite::params;

use super::{Definition, FoldError, Step, json};
use crate::sqlite::int;

pub(super) const DEFINITION: Definition = Definition {
    version: 1,
    schema: "
        CREATE TABLE epoch (
            agent BLOB NOT NULL,
            epoch INTEGER NOT NULL,
            cause TEXT NOT NULL,
            starting_at INTEGER NOT NULL,
            started_at INTEGER,
            ended_at INTEGER,
            status TEXT,
            tree TEXT,
            output_bytes INTEGER NOT NULL,
            consumed INTEGER NOT NULL,
            segments INTEGER NOT NULL,
            PRIMARY KEY (agent, epoch)
        ) STRICT, WITHOUT ROWID;",
    tables: &[("epoch", "agent, epoch")],
    fold,
};

fn fold(step: &Step<'_>) -> Result<(), FoldError> {
    consume(step)?;
    match &step.event.fact {
        Fact::AgentStarting { epoch, cause } => {
            let agent = step.agent()?;
            step.insert(
                "INSERT INTO epoch (agent, epoch, cause, starting_at, output_bytes, consumed, segments)
                 VALUES (?1, ?2, ?3, ?4, 0, 0, 0)",
                params![agent.as_bytes(), int(epoch.0), json(cause)?, step.ts()],
                |_taken| FoldError::StaleEpoch { agent, epoch: *epoch },
            )
        }
        Fact::AgentStarted { epoch, .. } => {
            let agent = step.agent()?;
            let changed = step.run(
                "UPDATE epoch SET started_at = ?3 WHERE agent = ?1 AND epoch = ?2",
                params![agent.as_bytes(), int(epoch.0), step.ts()],
            )?;
            known(agent, *epoch, changed)
        }
        Fact::AgentStartFailed { epoch, .. } => {
            let agent = step.agent()?;
            let changed = step.run(
                "UPDATE epoch SET ended_at = ?3 WHERE agent = ?1 AND epoch = ?2",
                params![agent.as_bytes(), int(epoch.0), step.ts()],
            )?;
            known(agent, *epoch, changed)
        }
        Fact::AgentAdopted { epoch, output_bytes, .. } => grow(step, *epoch, *output_bytes, 0),
        Fact::AgentExited { epoch, status, output_bytes, tree, .. } => {
            let agent = step.agent()?;
            let changed = step.run(
                "UPDATE epoch SET ended_at = ?3, status = ?4, tree = ?5, output_bytes = max(output_bytes, ?6)
                 WHERE agent = ?1 AND epoch = ?2",
                params![
                    agent.as_bytes(),
                    int(epoch.0),
                    step.ts(),
                    json(status)?,
                    json(tree)?,
                    int(*output_bytes)
                ],
            )?;
            known(agent, *epoch, changed)
        }
        Fact::RecordingSealed { epoch, to_offset, .. } => grow(step, *epoch, *to_offset, 1),
        _ => Ok(()),
    }
}

/// Notes how far the output was read when the event was made of it.
fn consume(step: &Step<'_>) -> Result<(), FoldError> {
    let Some(consumed) = step.event.consumed else {
        return Ok(());
    };
    step.run(
        "UPDATE epoch SET consumed = max(consumed, ?3) WHERE agent = ?1 AND epoch = ?2",
        params![step.agent()?.as_bytes(), int(consumed.epoch.0), int(consumed.offset)],
    )?;
    Ok(())
}

/// Notes that the output reaches at least to `output_bytes`. The end of a recording may be written by a node that
/// does not know the epoch, so an unknown one is no error.
fn grow(step: &Step<'_>, epoch: Epoch, output_bytes: u64, segments: i64) -> Result<(), FoldError> {
    step.run(
        "UPDATE epoch SET output_bytes = max(output_bytes, ?3), segments = segments + ?4
         WHERE agent = ?1 AND epoch = ?2",
        params![step.agent()?.as_bytes(), int(epoch.0), int(output_bytes), segments],
    )?;
    Ok(())
}

fn known(agent: AgentId, epoch: Epoch, changed: usize) -> Result<(), FoldError> {
    if changed == 0 { Err(FoldError::StaleEpoch { agent, epoch }) } else { Ok(()) }
}

//! Operators' overrides: where each came into force and where it was lifted; and which agents are held.

use edgeplane_types::{Fact, OverrideId};
use rusqlite::params;

use super::{Definition, FoldError, Step};
use crate::sqlite::int;

pub(super) const DEFINITION: Definition = Definition {
    version: 1,
    schema: "
        CREATE TABLE override (
            id BLOB PRIMARY KEY,
            applied_pos INTEGER NOT NULL,
            lifted_pos INTEGER
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE hold (
            agent BLOB PRIMARY KEY,
            kind TEXT NOT NULL,
            resumes INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;",
    tables: &[("override", "id"), ("hold", "agent")],
    fold,
};

fn fold(step: &Step<'_>) -> Result<(), FoldError> {
    match &step.event.fact {
        Fact::OverrideApplied(applied) => {
            step.of_node()?;
            step.insert(
                "INSERT INTO override (id, applied_pos) VALUES (?1, ?2)",
                params![applied.override_id.as_bytes(), int(step.pos)],
                |_| FoldError::OverrideTwice(applied.override_id),
            )
        }
        Fact::OverrideLifted { override_id, .. } => lifted(step, override_id),
        Fact::AgentHeld { kind, resumes } => {
            step.run(
                "INSERT INTO hold (agent, kind, resumes) VALUES (?1, ?2, ?3)
                 ON CONFLICT (agent) DO UPDATE SET kind = ?2, resumes = ?3",
                params![step.agent()?.as_bytes(), kind.as_str(), resumes],
            )?;
            Ok(())
        }
        Fact::AgentLetGo {} => {
            step.run("DELETE FROM hold WHERE agent = ?1", [step.agent()?.as_bytes()])?;
            Ok(())
        }
        _ => Ok(()),
    }
}

/// An override is lifted once.
fn lifted(step: &Step<'_>, id: &OverrideId) -> Result<(), FoldError> {
    step.of_node()?;
    let changed = step.run(
        "UPDATE override SET lifted_pos = ?1 WHERE id = ?2 AND lifted_pos IS NULL",
        params![int(step.pos), id.as_bytes()],
    )?;
    if changed == 1 { Ok(()) } else { Err(FoldError::NoOverride(*id)) }
}

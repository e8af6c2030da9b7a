//! Policy: where the record says which rules are in force, which could not be read, and what was refused.

use edgeplane_types::fact::RequestRefused;
use edgeplane_types::{AgentId, Fact};
use rusqlite::params;

use super::{Definition, FoldError, Step};
use crate::sqlite::int;

pub(super) const DEFINITION: Definition = Definition {
    version: 1,
    schema: "
        CREATE TABLE policy (
            kind TEXT PRIMARY KEY,
            pos INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE refusal (
            pos INTEGER PRIMARY KEY,
            agent BLOB,
            count INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX refusal_of_agent ON refusal (agent, pos) WHERE agent IS NOT NULL;",
    tables: &[("policy", "kind"), ("refusal", "pos")],
    fold,
};

fn fold(step: &Step<'_>) -> Result<(), FoldError> {
    match &step.event.fact {
        Fact::PolicyLoaded { .. } => {
            // What could not be read before is not what is in force now.
            step.run("DELETE FROM policy", [])?;
            newest(step, "loaded")
        }
        Fact::PolicyRejected { .. } => newest(step, "rejected"),
        Fact::RequestRefused(RequestRefused { agent_id, count, .. }) => {
            step.run(
                "INSERT INTO refusal (pos, agent, count) VALUES (?1, ?2, ?3)",
                params![int(step.pos), agent_id.as_ref().map(AgentId::as_bytes), int(*count)],
            )?;
            Ok(())
        }
        _ => Ok(()),
    }
}

fn newest(step: &Step<'_>, kind: &str) -> Result<(), FoldError> {
    step.run(
        "INSERT INTO policy (kind, pos) VALUES (?1, ?2) ON CONFLICT (kind) DO UPDATE SET pos = ?2",
        params![kind, int(step.pos)],
    )?;
    Ok(())
}

//! Automations: up to where each has been accounted for, and what became of each of its firings.

use edgeplane_types::{AutomationCause, Fact, FiringId, FiringState, ResourceKind, ResourceUri};
use rusqlite::params;

use super::{Definition, FoldError, Step};
use crate::sqlite::int;

pub(super) const DEFINITION: Definition = Definition {
    version: 1,
    schema: "
        CREATE TABLE automation (
            name TEXT PRIMARY KEY,
            accounted_until INTEGER NOT NULL,
            fired INTEGER NOT NULL,
            failed INTEGER NOT NULL,
            skipped INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE firing (
            pos INTEGER PRIMARY KEY,
            id BLOB NOT NULL UNIQUE,
            name TEXT NOT NULL,
            key TEXT NOT NULL,
            state TEXT NOT NULL,
            ended_pos INTEGER,
            UNIQUE (name, key)
        ) STRICT;
        CREATE INDEX firing_of ON firing (name, pos);
        CREATE INDEX firing_open ON firing (pos) WHERE ended_pos IS NULL;
        CREATE TABLE automation_seen (one INTEGER PRIMARY KEY CHECK (one = 1), pos INTEGER NOT NULL) STRICT;",
    tables: &[("automation", "name"), ("firing", "pos"), ("automation_seen", "one")],
    fold,
};

fn fold(step: &Step<'_>) -> Result<(), FoldError> {
    match &step.event.fact {
        Fact::ResourcePut(put) if put.uri.kind() == ResourceKind::Automation => declared(step, &put.uri),
        Fact::AutomationFired(fired) => {
            step.of_node()?;
            step.insert(
                "INSERT INTO firing (pos, id, name, key, state) VALUES (?1, ?2, ?3, ?4, 'open')",
                params![int(step.pos), fired.firing_id.as_bytes(), fired.automation.as_str(), fired.key,],
                |_taken| FoldError::FiringTwice(fired.firing_id),
            )?;
            let until = match &fired.cause {
                AutomationCause::Schedule { due_at, .. } => due_at.as_micros(),
                AutomationCause::Event { .. }
                | AutomationCause::Webhook { .. }
                | AutomationCause::Hand { .. } => i64::MIN,
            };
            if let AutomationCause::Event { pos, .. } = &fired.cause {
                seen(step, *pos)?;
            }
            count(step, fired.automation.as_str(), ("fired", 1), until)
        }
        Fact::AutomationEnded(ended) => {
            step.of_node()?;
            let found = step.run(
                "UPDATE firing SET ended_pos = ?2, state = ?3 WHERE id = ?1 AND ended_pos IS NULL",
                params![ended.firing_id.as_bytes(), int(step.pos), ended.state.as_str()],
            )?;
            known(found, ended.firing_id)?;
            let failed = u64::from(ended.state != FiringState::Succeeded);
            count(step, ended.automation.as_str(), ("failed", failed), i64::MIN)
        }
        Fact::AutomationSkipped(skipped) => {
            step.of_node()?;
            let until = match skipped.pos {
                Some(pos) => {
                    seen(step, pos)?;
                    i64::MIN
                }
                None => skipped.to.as_micros(),
            };
            count(step, skipped.automation.as_str(), ("skipped", skipped.count), until)
        }
        _ => Ok(()),
    }
}

/// What a changed automation would have done before it said so is nobody's.
fn declared(step: &Step<'_>, uri: &ResourceUri) -> Result<(), FoldError> {
    step.run(
        "INSERT INTO automation (name, accounted_until, fired, failed, skipped) VALUES (?1, ?2, 0, 0, 0)
         ON CONFLICT (name) DO UPDATE SET accounted_until = max(accounted_until, ?2)",
        params![uri.path(), step.ts()],
    )?;
    // What came before the first of them is nobody's, either.
    step.run(
        "INSERT INTO automation_seen (one, pos) VALUES (1, ?1) ON CONFLICT (one) DO NOTHING",
        params![int(step.pos)],
    )?;
    Ok(())
}

fn seen(step: &Step<'_>, pos: u64) -> Result<(), FoldError> {
    step.run("UPDATE automation_seen SET pos = max(pos, ?1)", params![int(pos)]).map(drop)
}

fn count(
    step: &Step<'_>,
    name: &str,
    (column, more): (&'static str, u64),
    until: i64,
) -> Result<(), FoldError> {
    step.run(
        &format!(
            "UPDATE automation SET {column} = {column} + ?2, accounted_until = max(accounted_until, ?3)
             WHERE name = ?1"
        ),
        params![name, int(more), until],
    )
    .map(drop)
}

/// What came of a firing is said once.
fn known(found: usize, id: FiringId) -> Result<(), FoldError> {
    if found == 0 { Err(FoldError::NoFiring(id)) } else { Ok(()) }
}

//! Schedules: which are in force, up to when each is accounted for, and where its occurrences stand in the record.

use edgeplane_types::{AgentName, Fact, Timestamp, schedule::RunCause};
use rusqlite::params;

use super::{Definition, FoldError, Step};
use crate::sqlite::int;

pub(super) const DEFINITION: Definition = Definition {
    version: 1,
    schema: "
        CREATE TABLE schedule (
            agent BLOB NOT NULL,
            name TEXT NOT NULL,
            spec_digest TEXT NOT NULL,
            spec_bytes INTEGER NOT NULL,
            in_manifest INTEGER NOT NULL,
            paused INTEGER NOT NULL,
            removed INTEGER NOT NULL,
            declared_at INTEGER NOT NULL,
            accounted_until INTEGER NOT NULL,
            last_message BLOB,
            ran INTEGER NOT NULL,
            skipped INTEGER NOT NULL,
            missed INTEGER NOT NULL,
            PRIMARY KEY (agent, name)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE occurrence (
            agent BLOB NOT NULL,
            name TEXT NOT NULL,
            pos INTEGER NOT NULL,
            PRIMARY KEY (agent, name, pos)
        ) STRICT, WITHOUT ROWID;",
    tables: &[("schedule", "agent, name"), ("occurrence", "agent, name, pos")],
    fold,
};

fn fold(step: &Step<'_>) -> Result<(), FoldError> {
    match &step.event.fact {
        Fact::ScheduleDeclared { .. } => declare(step),
        Fact::ScheduleRemoved { name, .. } => known(
            name,
            step.run(
                "UPDATE schedule SET removed = 1 WHERE agent = ?1 AND name = ?2",
                params![step.agent()?.as_bytes(), name.as_str()],
            )?,
        ),
        Fact::SchedulePaused { name } => pause(step, name, true),
        Fact::ScheduleResumed { name } => pause(step, name, false),
        Fact::ScheduleRan { name, due_at, message_id, cause } => {
            // One that somebody asked for stands beside those that are due.
            let until = (*cause != RunCause::Manual).then_some(*due_at);
            account(step, name, until, (1, 0, 0))?;
            step.run(
                "UPDATE schedule SET last_message = ?3 WHERE agent = ?1 AND name = ?2",
                params![step.agent()?.as_bytes(), name.as_str(), message_id.as_bytes()],
            )?;
            Ok(())
        }
        Fact::ScheduleSkipped { name, due_at, .. } => account(step, name, Some(*due_at), (0, 1, 0)),
        Fact::ScheduleMissed { name, to, count, .. } => account(step, name, Some(*to), (0, 0, *count)),
        // No schedule outlives its agent.
        Fact::AgentRetired { .. } => {
            step.run("UPDATE schedule SET removed = 1 WHERE agent = ?1", [step.agent()?.as_bytes()])?;
            Ok(())
        }
        _ => Ok(()),
    }
}

fn known(name: &AgentName, changed: usize) -> Result<(), FoldError> {
    if changed == 0 { Err(FoldError::UnknownSchedule(name.clone())) } else { Ok(()) }
}

/// Puts a schedule into force. It is accounted for from here on, unless it was in force with the same words before:
/// what it says now does not hold for the time behind it.
fn declare(step: &Step<'_>) -> Result<(), FoldError> {
    let Fact::ScheduleDeclared { name, spec_digest, spec_bytes, in_manifest } = &step.event.fact else {
        return Ok(());
    };
    step.run(
        "INSERT INTO schedule (agent, name, spec_digest, spec_bytes, in_manifest, paused, removed, declared_at,
                               accounted_until, ran, skipped, missed)
         VALUES (?1, ?2, ?3, ?4, ?5, 0, 0, ?6, ?6, 0, 0, 0)
         ON CONFLICT (agent, name) DO UPDATE
         SET accounted_until = CASE WHEN removed OR spec_digest <> ?3 THEN ?6 ELSE accounted_until END,
             paused = paused AND NOT removed,
             spec_digest = ?3, spec_bytes = ?4, in_manifest = ?5, removed = 0, declared_at = ?6",
        params![
            step.agent()?.as_bytes(),
            name.as_str(),
            spec_digest,
            int(*spec_bytes),
            in_manifest,
            step.ts(),
        ],
    )?;
    Ok(())
}

fn pause(step: &Step<'_>, name: &AgentName, paused: bool) -> Result<(), FoldError> {
    let changed = step.run(
        "UPDATE schedule SET paused = ?3 WHERE agent = ?1 AND name = ?2 AND NOT removed",
        params![step.agent()?.as_bytes(), name.as_str(), paused],
    )?;
    known(name, changed)
}

/// Counts occurrences of a schedule in force: `(ran, skipped, missed)`. What is accounted for stays so, also if the
/// clock is put back.
fn account(
    step: &Step<'_>,
    name: &AgentName,
    until: Option<Timestamp>,
    (ran, skipped, missed): (u64, u64, u64),
) -> Result<(), FoldError> {
    let agent = step.agent()?;
    let changed = step.run(
        "UPDATE schedule SET accounted_until = max(accounted_until, coalesce(?3, accounted_until)),
                             ran = ran + ?4, skipped = skipped + ?5, missed = missed + ?6
         WHERE agent = ?1 AND name = ?2 AND NOT removed",
        params![
            agent.as_bytes(),
            name.as_str(),
            until.map(Timestamp::as_micros),
            int(ran),
            int(skipped),
            int(missed),
        ],
    )?;
    known(name, changed)?;
    step.run(
        "INSERT INTO occurrence (agent, name, pos) VALUES (?1, ?2, ?3)",
        params![agent.as_bytes(), name.as_str(), int(step.pos)],
    )?;
    Ok(())
}

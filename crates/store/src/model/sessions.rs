//! The session that each agent's program had last: where it was opened, and what was said of it last. What is rolled back
//! or compacted is over with its epoch: no later one goes on with it.

use edgeplane_types::{Epoch, Fact};
use rusqlite::params;

use super::{Definition, FoldError, Step};
use crate::sqlite::int;

pub(super) const DEFINITION: Definition = Definition {
    version: 4,
    schema: "
        CREATE TABLE session (
            agent BLOB PRIMARY KEY,
            opened_pos INTEGER,
            newest_pos INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE session_over (
            agent BLOB PRIMARY KEY,
            epoch INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;",
    tables: &[("session", "agent"), ("session_over", "agent")],
    fold,
};

fn fold(step: &Step<'_>) -> Result<(), FoldError> {
    let opened = match &step.event.fact {
        Fact::ThreadRolledBack(back) => return over_with(step, back.epoch),
        Fact::ThreadCompacted(compacted) => return over_with(step, compacted.epoch),
        Fact::SessionOpened { .. } => Some(int(step.pos)),
        Fact::SessionFailed { .. } => None,
        _ => return Ok(()),
    };
    step.run(
        "INSERT INTO session (agent, opened_pos, newest_pos) VALUES (?1, ?2, ?3)
         ON CONFLICT (agent) DO UPDATE
         SET opened_pos = coalesce(excluded.opened_pos, opened_pos), newest_pos = excluded.newest_pos",
        params![step.agent()?.as_bytes(), opened, int(step.pos)],
    )
    .map(drop)
}

/// What was rolled back must not be remembered: no later epoch goes on with a session that knows it, also not with what
/// its program says of it while its epoch lives. Until then it is the session that it has.
fn over_with(step: &Step<'_>, epoch: Epoch) -> Result<(), FoldError> {
    step.run(
        "INSERT INTO session_over (agent, epoch) VALUES (?1, ?2)
         ON CONFLICT (agent) DO UPDATE SET epoch = max(epoch, ?2)",
        params![step.agent()?.as_bytes(), int(epoch.0)],
    )
    .map(drop)
}

//! The session that each agent's program had last: where it was opened, and what was said of it last. After a rollback
//! or a compaction there is none to go on with.

use edgeplane_types::{Epoch, Fact};
use rusqlite::params;

use super::{Definition, FoldError, Step};
use crate::sqlite::int;

pub(super) const DEFINITION: Definition = Definition {
    version: 3,
    schema: "
        CREATE TABLE session (
            agent BLOB PRIMARY KEY,
            opened_pos INTEGER,
            newest_pos INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE session_forgotten (
            agent BLOB PRIMARY KEY,
            epoch INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;",
    tables: &[("session", "agent"), ("session_forgotten", "agent")],
    fold,
};

fn fold(step: &Step<'_>) -> Result<(), FoldError> {
    let (opened, epoch) = match &step.event.fact {
        Fact::ThreadRolledBack(back) => return forget(step, back.epoch),
        Fact::ThreadCompacted(compacted) => return forget(step, compacted.epoch),
        Fact::SessionOpened { epoch, .. } => (Some(int(step.pos)), *epoch),
        Fact::SessionFailed { epoch, .. } => (None, *epoch),
        _ => return Ok(()),
    };
    let is_forgotten = step.find(
        "SELECT 1 FROM session_forgotten WHERE agent = ?1 AND epoch >= ?2",
        params![step.agent()?.as_bytes(), int(epoch.0)],
        |_row| Ok(()),
    )?;
    if is_forgotten.is_some() {
        return Ok(());
    }
    step.run(
        "INSERT INTO session (agent, opened_pos, newest_pos) VALUES (?1, ?2, ?3)
         ON CONFLICT (agent) DO UPDATE
         SET opened_pos = coalesce(excluded.opened_pos, opened_pos), newest_pos = excluded.newest_pos",
        params![step.agent()?.as_bytes(), opened, int(step.pos)],
    )
    .map(drop)
}

/// What was rolled back must not be remembered: nobody goes on with a session that knows it, also not with what its
/// program says of it while its epoch ends.
fn forget(step: &Step<'_>, epoch: Epoch) -> Result<(), FoldError> {
    let agent = step.agent()?;
    step.run("DELETE FROM session WHERE agent = ?1", [agent.as_bytes()])?;
    step.run(
        "INSERT INTO session_forgotten (agent, epoch) VALUES (?1, ?2)
         ON CONFLICT (agent) DO UPDATE SET epoch = max(epoch, ?2)",
        params![agent.as_bytes(), int(epoch.0)],
    )
    .map(drop)
}

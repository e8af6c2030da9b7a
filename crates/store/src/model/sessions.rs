//! The session that each agent's program had last: where it was opened, and what was said of it last.

use edgeplane_types::Fact;
use rusqlite::params;

use super::{Definition, FoldError, Step};
use crate::sqlite::int;

pub(super) const DEFINITION: Definition = Definition {
    version: 1,
    schema: "
        CREATE TABLE session (
            agent BLOB PRIMARY KEY,
            opened_pos INTEGER,
            newest_pos INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;",
    tables: &[("session", "agent")],
    fold,
};

fn fold(step: &Step<'_>) -> Result<(), FoldError> {
    let opened = match &step.event.fact {
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

//! Where each trace begins and is handed on: the messages that belong to it, and what else a request asked for.
//!
//! What happens to a message afterwards is found by the message, so that a turn costs no rows here.

use edgeplane_types::Fact;
use rusqlite::params;

use super::{Definition, FoldError, Step};
use crate::sqlite::int;

pub(super) const DEFINITION: Definition = Definition {
    version: 1,
    schema: "
        CREATE TABLE trace (
            id BLOB NOT NULL,
            pos INTEGER NOT NULL,
            PRIMARY KEY (id, pos)
        ) STRICT, WITHOUT ROWID;",
    tables: &[("trace", "id, pos")],
    fold,
};

fn fold(step: &Step<'_>) -> Result<(), FoldError> {
    let Some(trace) = &step.event.trace else { return Ok(()) };
    let fact = &step.event.fact;
    if fact.message_id().is_some() && !matches!(fact, Fact::MessageAccepted { .. }) {
        return Ok(());
    }
    step.run(
        "INSERT INTO trace (id, pos) VALUES (?1, ?2)",
        params![trace.traceparent.trace_id.as_bytes(), int(step.pos)],
    )
    .map(drop)
}

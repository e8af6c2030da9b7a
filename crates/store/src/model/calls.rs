//! Keys that calls were made under, what was asked then, and how it ended.
//!
//! A key is known by its digest, which covers who used it and for which method. Old ones are let go when a new one
//! comes: by the time of that event, so that the rows are a function of the record.

use edgeplane_types::{Fact, fact::CallEnd};
use rusqlite::params;

use super::{Definition, FoldError, Step, json};
use crate::sqlite::int;

/// How long a key is kept at least, in microseconds: two days. Whoever repeats a call does so within the window of a
/// cursor, which is a day.
const KEPT_MICROS: i64 = 48 * 60 * 60 * 1_000_000;

pub(super) const DEFINITION: Definition = Definition {
    version: 1,
    schema: "
        CREATE TABLE call (
            key_digest TEXT PRIMARY KEY,
            method TEXT NOT NULL,
            params_digest TEXT NOT NULL,
            began_pos INTEGER NOT NULL,
            began_at INTEGER NOT NULL,
            outcome TEXT
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX call_by_age ON call (began_at);",
    tables: &[("call", "key_digest")],
    fold,
};

fn fold(step: &Step<'_>) -> Result<(), FoldError> {
    match &step.event.fact {
        Fact::CallBegan { method, key_digest, params_digest } => {
            step.of_node()?;
            step.run("DELETE FROM call WHERE began_at < ?1", [step.ts().saturating_sub(KEPT_MICROS)])?;
            step.insert(
                "INSERT INTO call (key_digest, method, params_digest, began_pos, began_at)
                 VALUES (?1, ?2, ?3, ?4, ?5)",
                params![key_digest, method, params_digest, int(step.pos), step.ts()],
                |_taken| FoldError::CallTwice(key_digest.clone()),
            )
        }
        Fact::CallEnded { key_digest, end: CallEnd::Released } => {
            step.of_node()?;
            step.run("DELETE FROM call WHERE key_digest = ?1", [key_digest]).map(drop)
        }
        Fact::CallEnded { key_digest, end } => {
            step.of_node()?;
            // One that took longer than keys are kept has no row any more, and needs none.
            step.run("UPDATE call SET outcome = ?2 WHERE key_digest = ?1", params![key_digest, json(end)?])
                .map(drop)
        }
        _ => Ok(()),
    }
}

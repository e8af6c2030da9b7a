//! The node's keys: since when each signs, and since when it does not.

use edgeplane_types::Fact;
use rusqlite::params;

use super::{Definition, FoldError, Step};
use crate::sqlite::int;

pub(super) const DEFINITION: Definition = Definition {
    version: 1,
    schema: "
        CREATE TABLE node_key (
            created_pos INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            public_key TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            retired_at INTEGER
        ) STRICT;",
    tables: &[("node_key", "created_pos")],
    fold,
};

fn fold(step: &Step<'_>) -> Result<(), FoldError> {
    match &step.event.fact {
        Fact::KeyCreated { key_id, public_key } => {
            step.of_node()?;
            step.insert(
                "INSERT INTO node_key (created_pos, id, public_key, created_at) VALUES (?1, ?2, ?3, ?4)",
                params![int(step.pos), key_id.as_str(), public_key, step.ts()],
                |_taken| FoldError::KeyTwice(key_id.clone()),
            )
        }
        Fact::KeyRetired { key_id } => {
            step.of_node()?;
            let changed = step.run(
                "UPDATE node_key SET retired_at = coalesce(retired_at, ?2) WHERE id = ?1",
                params![key_id.as_str(), step.ts()],
            )?;
            if changed == 0 { Err(FoldError::UnknownKey(key_id.clone())) } else { Ok(()) }
        }
        _ => Ok(()),
    }
}

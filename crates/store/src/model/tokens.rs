//! Named tokens: which were made, under which digest of their secret, and which are worth nothing any more.

use edgeplane_types::Fact;
use rusqlite::params;

use super::{Definition, FoldError, Step};
use crate::sqlite::int;

pub(super) const DEFINITION: Definition = Definition {
    version: 1,
    schema: "
        CREATE TABLE token (
            created_pos INTEGER PRIMARY KEY,
            id BLOB NOT NULL UNIQUE,
            secret_digest TEXT NOT NULL UNIQUE,
            revoked_pos INTEGER
        ) STRICT;",
    tables: &[("token", "created_pos")],
    fold,
};

fn fold(step: &Step<'_>) -> Result<(), FoldError> {
    match &step.event.fact {
        Fact::TokenCreated(created) => {
            step.of_node()?;
            step.insert(
                "INSERT INTO token (created_pos, id, secret_digest) VALUES (?1, ?2, ?3)",
                params![int(step.pos), created.token_id.as_bytes(), created.secret_digest],
                |_taken| FoldError::TokenTwice(created.token_id),
            )
        }
        Fact::TokenRevoked { token_id, .. } => {
            step.of_node()?;
            // Two may revoke it at the same time; the first says when it ended.
            let changed = step.run(
                "UPDATE token SET revoked_pos = coalesce(revoked_pos, ?2) WHERE id = ?1",
                params![token_id.as_bytes(), int(step.pos)],
            )?;
            if changed == 0 { Err(FoldError::UnknownToken(*token_id)) } else { Ok(()) }
        }
        _ => Ok(()),
    }
}

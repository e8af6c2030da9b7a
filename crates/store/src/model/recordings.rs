//! Recordings: the sealed segments of each epoch, and what is in none.

use edgeplane_types::Fact;
use rusqlite::params;

use super::{Definition, FoldError, Step};
use crate::sqlite::int;

pub(super) const DEFINITION: Definition = Definition {
    version: 1,
    schema: "
        CREATE TABLE segment (
            agent BLOB NOT NULL,
            epoch INTEGER NOT NULL,
            segment INTEGER NOT NULL,
            from_offset INTEGER NOT NULL,
            to_offset INTEGER NOT NULL,
            file_bytes INTEGER NOT NULL,
            digest TEXT NOT NULL,
            at INTEGER NOT NULL,
            PRIMARY KEY (agent, epoch, segment)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE gap (
            pos INTEGER PRIMARY KEY,
            agent BLOB NOT NULL,
            epoch INTEGER NOT NULL,
            from_offset INTEGER NOT NULL,
            to_offset INTEGER NOT NULL,
            reason TEXT NOT NULL,
            at INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX gap_of_epoch ON gap (agent, epoch, from_offset);",
    tables: &[("segment", "agent, epoch, segment"), ("gap", "pos")],
    fold,
};

fn fold(step: &Step<'_>) -> Result<(), FoldError> {
    match &step.event.fact {
        Fact::RecordingSealed { epoch, segment, from_offset, to_offset, file_bytes, digest } => step.insert(
            "INSERT INTO segment (agent, epoch, segment, from_offset, to_offset, file_bytes, digest, at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            params![
                step.agent()?.as_bytes(),
                int(epoch.0),
                segment,
                int(*from_offset),
                int(*to_offset),
                int(*file_bytes),
                digest,
                step.ts(),
            ],
            |_taken| FoldError::SealedTwice { epoch: *epoch, segment: *segment },
        ),
        Fact::RecordingGap { epoch, from_offset, to_offset, reason } => {
            step.run(
                "INSERT INTO gap (pos, agent, epoch, from_offset, to_offset, reason, at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                params![
                    int(step.pos),
                    step.agent()?.as_bytes(),
                    int(epoch.0),
                    int(*from_offset),
                    int(*to_offset),
                    reason,
                    step.ts(),
                ],
            )?;
            Ok(())
        }
        _ => Ok(()),
    }
}

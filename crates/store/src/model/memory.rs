//! The keys of each agent's memory: the newest version, all versions, and what they amount to.

use edgeplane_types::fact::MemoryPut;
use edgeplane_types::{Fact, Timestamp};
use rusqlite::{OptionalExtension, params};

use super::{Definition, FoldError, Step};
use crate::sqlite::{int, uint};

pub(super) const DEFINITION: Definition = Definition {
    version: 1,
    schema: "
        CREATE TABLE memory (
            agent BLOB NOT NULL,
            key TEXT NOT NULL,
            version INTEGER NOT NULL,
            digest TEXT,
            value_bytes INTEGER NOT NULL,
            expires_at INTEGER,
            at INTEGER NOT NULL,
            PRIMARY KEY (agent, key)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE memory_version (
            agent BLOB NOT NULL,
            key TEXT NOT NULL,
            version INTEGER NOT NULL,
            digest TEXT,
            value_bytes INTEGER NOT NULL,
            expires_at INTEGER,
            at INTEGER NOT NULL,
            PRIMARY KEY (agent, key, version)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE memory_total (
            agent BLOB PRIMARY KEY,
            keys INTEGER NOT NULL,
            value_bytes INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;",
    tables: &[("memory", "agent, key"), ("memory_version", "agent, key, version"), ("memory_total", "agent")],
    fold,
};

/// A version being written; a removal has no digest.
struct Change<'a> {
    key: &'a str,
    version: u64,
    digest: Option<&'a str>,
    value_bytes: u64,
    expires_at: Option<Timestamp>,
}

fn fold(step: &Step<'_>) -> Result<(), FoldError> {
    match &step.event.fact {
        Fact::MemoryPut(MemoryPut { key, version, value_digest, value_bytes, expires_at }) => {
            let digest = Some(value_digest.as_str());
            let (version, value_bytes, expires_at) = (*version, *value_bytes, *expires_at);
            change(step, &Change { key, version, digest, value_bytes, expires_at })
        }
        Fact::MemoryDeleted { key, version } => {
            let change_ = Change { key, version: *version, digest: None, value_bytes: 0, expires_at: None };
            change(step, &change_)
        }
        _ => Ok(()),
    }
}

fn change(step: &Step<'_>, change: &Change<'_>) -> Result<(), FoldError> {
    let agent = step.agent()?;
    let before: Option<(u64, bool, i64)> = step
        .conn
        .prepare_cached(
            "SELECT version, digest IS NOT NULL, value_bytes FROM memory WHERE agent = ?1 AND key = ?2",
        )
        .and_then(|mut statement| {
            statement
                .query_row(params![agent.as_bytes(), change.key], |row| {
                    Ok((uint(row, 0)?, row.get(1)?, row.get(2)?))
                })
                .optional()
        })
        .map_err(FoldError::Database)?;
    let (version_before, live_before, bytes_before) = before.unwrap_or((0, false, 0));
    if change.version <= version_before {
        return Err(FoldError::StaleVersion { key: change.key.to_owned(), version: change.version });
    }
    write(step, change)?;
    let keys = i64::from(change.digest.is_some()) - i64::from(live_before);
    let bytes = int(change.value_bytes).saturating_sub(bytes_before);
    step.run(
        "INSERT INTO memory_total (agent, keys, value_bytes) VALUES (?1, ?2, ?3)
         ON CONFLICT (agent) DO UPDATE SET keys = keys + ?2, value_bytes = value_bytes + ?3",
        params![agent.as_bytes(), keys, bytes],
    )?;
    Ok(())
}

fn write(step: &Step<'_>, change: &Change<'_>) -> Result<(), FoldError> {
    let agent = step.agent()?;
    for sql in [
        "INSERT INTO memory_version (agent, key, version, digest, value_bytes, expires_at, at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        "INSERT INTO memory (agent, key, version, digest, value_bytes, expires_at, at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
         ON CONFLICT (agent, key) DO UPDATE
         SET version = ?3, digest = ?4, value_bytes = ?5, expires_at = ?6, at = ?7",
    ] {
        step.run(
            sql,
            params![
                agent.as_bytes(),
                change.key,
                int(change.version),
                change.digest,
                int(change.value_bytes),
                change.expires_at.map(Timestamp::as_micros),
                step.ts(),
            ],
        )?;
    }
    Ok(())
}

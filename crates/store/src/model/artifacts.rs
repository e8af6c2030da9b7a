//! Artifacts and their versions: which there are under which name, and where each version's fact is.

use edgeplane_types::{
    AgentId, Fact, StreamName,
    fact::{ArtifactDeleted, ArtifactPublished},
};
use rusqlite::params;

use super::{Definition, FoldError, Step};
use crate::sqlite::{int, uint};

// The node's own have no owner: an empty one, so that their names are unique, too.
pub(super) const DEFINITION: Definition = Definition {
    version: 1,
    schema: "
        CREATE TABLE artifact (
            pos INTEGER PRIMARY KEY,
            id BLOB NOT NULL UNIQUE,
            owner BLOB NOT NULL,
            name TEXT NOT NULL,
            version INTEGER NOT NULL,
            newest_pos INTEGER NOT NULL,
            deleted_pos INTEGER
        ) STRICT;
        CREATE UNIQUE INDEX artifact_name ON artifact (owner, name) WHERE deleted_pos IS NULL;
        CREATE TABLE artifact_version (
            id BLOB NOT NULL,
            version INTEGER NOT NULL,
            pos INTEGER NOT NULL,
            digest TEXT NOT NULL,
            PRIMARY KEY (id, version)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX artifact_digest ON artifact_version (digest);",
    tables: &[("artifact", "pos"), ("artifact_version", "id, version")],
    fold,
};

fn fold(step: &Step<'_>) -> Result<(), FoldError> {
    match &step.event.fact {
        Fact::ArtifactPublished(published) => publish(step, published),
        Fact::ArtifactDeleted(deleted) => delete(step, deleted),
        _ => Ok(()),
    }
}

fn owner(step: &Step<'_>) -> Result<Option<AgentId>, FoldError> {
    match step.event.stream {
        StreamName::Agent(agent) => Ok(Some(agent)),
        _ => step.of_node().map(|()| None),
    }
}

fn key(owner: Option<&AgentId>) -> &[u8] {
    owner.map_or(&[], |agent| agent.as_bytes().as_slice())
}

fn publish(step: &Step<'_>, published: &ArtifactPublished) -> Result<(), FoldError> {
    let ArtifactPublished { artifact_id: id, name, version, digest, .. } = published;
    let owner = owner(step)?;
    let key = key(owner.as_ref());
    let before = step.find(
        "SELECT version FROM artifact WHERE id = ?1 AND owner = ?2 AND name = ?3 AND deleted_pos IS NULL",
        params![id.as_bytes(), key, name.as_str()],
        |row| uint(row, 0),
    )?;
    if *version != before.unwrap_or(0).saturating_add(1) {
        return Err(FoldError::StaleVersion { key: name.to_string(), version: *version });
    }
    match before {
        None => step.insert(
            "INSERT INTO artifact (pos, id, owner, name, version, newest_pos) VALUES (?1, ?2, ?3, ?4, ?5, ?1)",
            params![int(step.pos), id.as_bytes(), key, name.as_str(), int(*version)],
            |_taken| FoldError::ArtifactTwice(*id),
        )?,
        Some(_) => {
            step.run(
                "UPDATE artifact SET version = ?2, newest_pos = ?3 WHERE id = ?1",
                params![id.as_bytes(), int(*version), int(step.pos)],
            )?;
        }
    }
    step.run(
        "INSERT INTO artifact_version (id, version, pos, digest) VALUES (?1, ?2, ?3, ?4)",
        params![id.as_bytes(), int(*version), int(step.pos), digest],
    )?;
    Ok(())
}

fn delete(step: &Step<'_>, deleted: &ArtifactDeleted) -> Result<(), FoldError> {
    let owner = owner(step)?;
    let found = step.run(
        "UPDATE artifact SET deleted_pos = ?3 WHERE id = ?1 AND owner = ?2 AND deleted_pos IS NULL",
        params![deleted.artifact_id.as_bytes(), key(owner.as_ref()), int(step.pos)],
    )?;
    if found == 0 { Err(FoldError::NoArtifact(deleted.artifact_id)) } else { Ok(()) }
}

//! Artifacts and their versions.

use edgeplane_types::{AgentId, ArtifactId, Fact};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{ReadError, Reader, event_at, limit, misplaced};
use crate::{
    ArtifactFilter, ArtifactRow,
    sqlite::{int, uint},
};

/// An artifact with the place of the version that is meant.
const NEWEST: &str = "SELECT pos, owner, version, newest_pos, deleted_pos FROM artifact";

struct Bare {
    pos: u64,
    owner: Option<AgentId>,
    newest: u64,
    at: i64,
    deleted: Option<i64>,
}

fn bare(row: &Row<'_>) -> rusqlite::Result<Bare> {
    let owner: Vec<u8> = row.get(1)?;
    Ok(Bare {
        pos: uint(row, 0)?,
        owner: <[u8; 16]>::try_from(owner).ok().map(AgentId::from_bytes),
        newest: uint(row, 2)?,
        at: row.get(3)?,
        deleted: row.get(4)?,
    })
}

fn whole(conn: &Connection, bare: &Bare) -> rusqlite::Result<ArtifactRow> {
    let event = event_at(conn, bare.at)?;
    let published = match event.fact {
        Fact::ArtifactPublished(published) => *published,
        other => return Err(misplaced(&other)),
    };
    let deleted_at = bare.deleted.map(|pos| event_at(conn, pos).map(|event| event.ts)).transpose()?;
    let Bare { pos, owner, newest, .. } = *bare;
    Ok(ArtifactRow { pos, owner, newest, published, by: event.actor, at: event.ts, deleted_at })
}

fn key(owner: Option<&AgentId>) -> Vec<u8> {
    owner.map_or_else(Vec::new, |agent| agent.as_bytes().to_vec())
}

impl Reader {
    /// The artifact with this id at its newest version, also if it has ended.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn artifact(&self, id: &ArtifactId) -> Result<Option<ArtifactRow>, ReadError> {
        self.at_once(|conn| {
            conn.prepare_cached(&format!("{NEWEST} WHERE id = ?1"))?
                .query_row([id.as_bytes()], bare)
                .optional()?
                .map(|found| whole(conn, &found))
                .transpose()
        })
    }

    /// The artifact of an owner that has this name now, at its newest version.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn artifact_named(
        &self,
        owner: Option<&AgentId>,
        name: &str,
    ) -> Result<Option<ArtifactRow>, ReadError> {
        self.at_once(|conn| {
            conn.prepare_cached(&format!("{NEWEST} WHERE owner = ?1 AND name = ?2 AND deleted_pos IS NULL"))?
                .query_row(params![key(owner), name], bare)
                .optional()?
                .map(|found| whole(conn, &found))
                .transpose()
        })
    }

    /// The versions of an artifact below `before`, newest first.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn artifact_versions(
        &self,
        id: &ArtifactId,
        rows: usize,
        before: Option<u64>,
    ) -> Result<Vec<ArtifactRow>, ReadError> {
        self.at_once(|conn| {
            let found: Vec<Bare> = conn
                .prepare_cached(
                    "SELECT a.pos, a.owner, a.version, v.pos, a.deleted_pos
                     FROM artifact_version v JOIN artifact a USING (id)
                     WHERE v.id = ?1 AND v.version < ?2 ORDER BY v.version DESC LIMIT ?3",
                )?
                .query_map(params![id.as_bytes(), before.map_or(i64::MAX, int), limit(rows)], bare)?
                .collect::<rusqlite::Result<_>>()?;
            found.iter().map(|found| whole(conn, found)).collect()
        })
    }

    /// The artifacts that are there, newest of each, in the order in which they were first published, after `cursor`.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn artifacts(
        &self,
        filter: &ArtifactFilter,
        rows: usize,
        cursor: u64,
    ) -> Result<Vec<ArtifactRow>, ReadError> {
        let owners: Vec<Vec<u8>> = filter.owners.iter().map(|owner| key(owner.as_ref())).collect();
        self.at_once(|conn| {
            let mut statement = conn.prepare_cached(&format!(
                "{NEWEST} WHERE deleted_pos IS NULL AND pos > ?1 AND substr(name, 1, length(?2)) = ?2
                 ORDER BY pos"
            ))?;
            let mut found = Vec::new();
            let mut asked = statement.query(params![int(cursor), filter.prefix])?;
            while let Some(row) = asked.next()? {
                let owner: Vec<u8> = row.get(1)?;
                if !owners.is_empty() && !owners.contains(&owner) {
                    continue;
                }
                found.push(whole(conn, &bare(row)?)?);
                if found.len() == rows {
                    break;
                }
            }
            Ok(found)
        })
    }

    /// How many artifacts of an owner are there.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn artifacts_of(&self, owner: Option<&AgentId>) -> Result<u64, ReadError> {
        self.with(|conn| {
            conn.prepare_cached("SELECT count(*) FROM artifact WHERE owner = ?1 AND deleted_pos IS NULL")?
                .query_row([key(owner)], |row| uint(row, 0))
        })
    }

    /// Every digest that a version of an artifact that is there names, once.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn artifact_digests(&self) -> Result<Vec<String>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached(
                "SELECT DISTINCT v.digest FROM artifact_version v JOIN artifact a USING (id)
                 WHERE a.deleted_pos IS NULL ORDER BY v.digest",
            )?
            .query_map([], |row| row.get(0))?
            .collect()
        })
    }

    /// Every digest that a version of this artifact names, once.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn artifact_digests_of(&self, id: &ArtifactId) -> Result<Vec<String>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached("SELECT DISTINCT digest FROM artifact_version WHERE id = ?1 ORDER BY digest")?
                .query_map([id.as_bytes()], |row| row.get(0))?
                .collect()
        })
    }

    /// Whether a version of an artifact that is there names this digest.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn is_artifact_digest(&self, digest: &str) -> Result<bool, ReadError> {
        self.with(|conn| {
            conn.prepare_cached(
                "SELECT 1 FROM artifact_version v JOIN artifact a USING (id)
                 WHERE v.digest = ?1 AND a.deleted_pos IS NULL",
            )?
            .exists([digest])
        })
    }
}

//! Resources and their versions.

use edgeplane_types::{AgentId, ResourceKind, ResourceUri};
use rusqlite::{OptionalExtension, Row, params, types::Type};

use super::{ReadError, Reader, limit};
use crate::{
    ResourceFilter, ResourceRow,
    sqlite::{int, json, uint},
};

/// The columns of a row, with the event that stands at its place.
const COLUMNS: &str = "kind, path, owner, version, digest, value_bytes, event.body";

pub(super) fn resource(row: &Row<'_>) -> rusqlite::Result<ResourceRow> {
    let kind: String = row.get(0)?;
    let kind = ResourceKind::from_word(&kind)
        .ok_or_else(|| rusqlite::Error::InvalidColumnType(0, kind, Type::Text))?;
    let owner: Option<[u8; 16]> = row.get(2)?;
    Ok(ResourceRow {
        kind,
        path: row.get(1)?,
        owner: owner.map(AgentId::from_bytes),
        version: uint(row, 3)?,
        digest: row.get(4)?,
        value_bytes: uint(row, 5)?,
        event: json(row, 6)?,
    })
}

impl Reader {
    /// The newest version of a resource, also if that is its end: whoever writes next needs the number.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn resource(&self, uri: &ResourceUri) -> Result<Option<ResourceRow>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM resource JOIN event USING (pos) WHERE kind = ?1 AND path = ?2"
            ))?
            .query_row(params![uri.kind().as_str(), uri.path()], resource)
            .optional()
        })
    }

    /// A version of a resource.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn resource_at(&self, uri: &ResourceUri, version: u64) -> Result<Option<ResourceRow>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached(
                "SELECT v.kind, v.path, r.owner, v.version, v.digest, v.value_bytes, event.body
                 FROM resource_version v JOIN resource r USING (kind, path) JOIN event ON event.pos = v.pos
                 WHERE v.kind = ?1 AND v.path = ?2 AND v.version = ?3",
            )?
            .query_row(params![uri.kind().as_str(), uri.path(), int(version)], resource)
            .optional()
        })
    }

    /// The resources that are there, by kind and name.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn resources(&self, filter: &ResourceFilter, rows: usize) -> Result<Vec<ResourceRow>, ReadError> {
        let (after_kind, after_path) = match &filter.after {
            Some((kind, path)) => (kind.as_str(), path.as_str()),
            None => ("", ""),
        };
        self.with(|conn| {
            conn.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM resource JOIN event USING (pos)
                 WHERE digest IS NOT NULL AND (?1 IS NULL OR kind = ?1)
                       AND substr(path, 1, length(?2)) = ?2 AND (kind, path) > (?3, ?4)
                 ORDER BY kind, path LIMIT ?5"
            ))?
            .query_map(
                params![
                    filter.kind.map(ResourceKind::as_str),
                    filter.prefix,
                    after_kind,
                    after_path,
                    limit(rows)
                ],
                resource,
            )?
            .collect()
        })
    }

    /// The versions of a resource, newest first; only those before `before`, if it names one.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn resource_history(
        &self,
        uri: &ResourceUri,
        rows: usize,
        before: Option<u64>,
    ) -> Result<Vec<ResourceRow>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached(
                "SELECT v.kind, v.path, r.owner, v.version, v.digest, v.value_bytes, event.body
                 FROM resource_version v JOIN resource r USING (kind, path) JOIN event ON event.pos = v.pos
                 WHERE v.kind = ?1 AND v.path = ?2 AND v.version < ?3 ORDER BY v.version DESC LIMIT ?4",
            )?
            .query_map(
                params![uri.kind().as_str(), uri.path(), before.map_or(i64::MAX, int), limit(rows)],
                resource,
            )?
            .collect()
        })
    }

    /// How many resources of a kind are there.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn resources_of(&self, kind: ResourceKind) -> Result<u64, ReadError> {
        self.with(|conn| {
            conn.prepare_cached("SELECT count(*) FROM resource WHERE kind = ?1 AND digest IS NOT NULL")?
                .query_row([kind.as_str()], |row| uint(row, 0))
        })
    }
}

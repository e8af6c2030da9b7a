//! Resources: the newest version of each, and all versions.
//!
//! Those that are written have facts of their own. Agents, schedules and the rules in force are resources by the facts
//! that change them; each such fact is one version.

use edgeplane_types::{AgentId, AgentName, Fact, ResourceKind, ResourceUri};
use rusqlite::params;

use super::{Definition, FoldError, Step};
use crate::sqlite::{int, uint};

pub(super) const DEFINITION: Definition = Definition {
    version: 1,
    schema: "
        CREATE TABLE resource (
            kind TEXT NOT NULL,
            path TEXT NOT NULL,
            owner BLOB,
            version INTEGER NOT NULL,
            pos INTEGER NOT NULL,
            digest TEXT,
            value_bytes INTEGER NOT NULL,
            PRIMARY KEY (kind, path)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX resource_of_agent ON resource (owner, kind) WHERE owner IS NOT NULL;
        CREATE TABLE resource_version (
            kind TEXT NOT NULL,
            path TEXT NOT NULL,
            version INTEGER NOT NULL,
            pos INTEGER NOT NULL,
            digest TEXT,
            value_bytes INTEGER NOT NULL,
            PRIMARY KEY (kind, path, version)
        ) STRICT, WITHOUT ROWID;",
    tables: &[("resource", "kind, path"), ("resource_version", "kind, path, version")],
    fold,
};

/// What the rules in force are called.
const RULES: &str = "rules";

/// A version being made; an end has no digest.
struct Change<'a> {
    kind: ResourceKind,
    path: &'a str,
    owner: Option<AgentId>,
    digest: Option<&'a str>,
    value_bytes: u64,
}

fn fold(step: &Step<'_>) -> Result<(), FoldError> {
    match &step.event.fact {
        Fact::ResourcePut(put) => {
            let digest = Some(put.value_digest.as_str());
            written(step, &put.uri, put.version, (digest, put.value_bytes))
        }
        Fact::ResourceDeleted(end) => written(step, &end.uri, end.version, (None, 0)),
        Fact::AgentDeclared { name, manifest_digest, set: None, .. } => {
            agent(step, name.as_str(), Some(manifest_digest))
        }
        Fact::AgentUpdated { manifest_digest, .. } => match agent_name(step)? {
            Some(name) => agent(step, &name, Some(manifest_digest)),
            None => Ok(()),
        },
        Fact::AgentRetired { .. } => retired(step),
        Fact::ScheduleDeclared { name, spec_digest, spec_bytes, .. } => {
            schedule(step, name, (Some(spec_digest), *spec_bytes))
        }
        Fact::ScheduleRemoved { name, .. } => schedule(step, name, (None, 0)),
        Fact::PolicyLoaded { digest, .. } => view(
            step,
            &Change {
                kind: ResourceKind::Policy,
                path: RULES,
                owner: None,
                digest: Some(digest),
                value_bytes: 0,
            },
        ),
        _ => Ok(()),
    }
}

/// A version that says its own number, which must be the next one.
fn written(
    step: &Step<'_>,
    uri: &ResourceUri,
    version: u64,
    (digest, value_bytes): (Option<&str>, u64),
) -> Result<(), FoldError> {
    step.of_node()?;
    let path = uri.path();
    let before = newest(step, uri.kind(), &path)?.map_or(0, |(version, _)| version);
    if version != before.saturating_add(1) || !uri.kind().is_written() {
        return Err(FoldError::StaleVersion { key: uri.to_string(), version });
    }
    add(step, &Change { kind: uri.kind(), path: &path, owner: None, digest, value_bytes })
}

/// The agent of this stream, as it is declared; replicas are their set's.
fn agent_name(step: &Step<'_>) -> Result<Option<String>, FoldError> {
    step.find(
        "SELECT path FROM resource WHERE owner = ?1 AND kind = 'agent' AND digest IS NOT NULL",
        params![step.agent()?.as_bytes()],
        |row| row.get(0),
    )
}

fn agent(step: &Step<'_>, name: &str, digest: Option<&str>) -> Result<(), FoldError> {
    let owner = Some(step.agent()?);
    view(step, &Change { kind: ResourceKind::Agent, path: name, owner, digest, value_bytes: 0 })
}

/// An agent ends with its schedules.
fn retired(step: &Step<'_>) -> Result<(), FoldError> {
    let owner = step.agent()?;
    let schedules: Vec<String> = step
        .conn
        .prepare_cached(
            "SELECT path FROM resource WHERE owner = ?1 AND kind = 'schedule' AND digest IS NOT NULL
             ORDER BY path",
        )
        .and_then(|mut found| found.query_map([owner.as_bytes()], |row| row.get(0))?.collect())
        .map_err(FoldError::Database)?;
    for path in schedules {
        let end = Change {
            kind: ResourceKind::Schedule,
            path: &path,
            owner: Some(owner),
            digest: None,
            value_bytes: 0,
        };
        view(step, &end)?;
    }
    match agent_name(step)? {
        Some(name) => agent(step, &name, None),
        None => Ok(()),
    }
}

fn schedule(
    step: &Step<'_>,
    name: &AgentName,
    (digest, value_bytes): (Option<&str>, u64),
) -> Result<(), FoldError> {
    let Some(of) = agent_name(step)? else { return Ok(()) };
    let path = format!("{of}/{name}");
    let (kind, owner) = (ResourceKind::Schedule, Some(step.agent()?));
    view(step, &Change { kind, path: &path, owner, digest, value_bytes })
}

/// A version of what is changed elsewhere. What says the same once more, such as the rules at each start, is none.
fn view(step: &Step<'_>, change: &Change<'_>) -> Result<(), FoldError> {
    let before = newest(step, change.kind, change.path)?.and_then(|(_, digest)| digest);
    if before.as_deref() == change.digest { Ok(()) } else { add(step, change) }
}

/// The newest version, and what it holds, if that is there still.
fn newest(
    step: &Step<'_>,
    kind: ResourceKind,
    path: &str,
) -> Result<Option<(u64, Option<String>)>, FoldError> {
    step.find(
        "SELECT version, digest FROM resource WHERE kind = ?1 AND path = ?2",
        params![kind.as_str(), path],
        |row| Ok((uint(row, 0)?, row.get(1)?)),
    )
}

fn add(step: &Step<'_>, change: &Change<'_>) -> Result<(), FoldError> {
    let Change { kind, path, owner, digest, value_bytes } = change;
    step.run(
        "INSERT INTO resource (kind, path, owner, version, pos, digest, value_bytes)
         VALUES (?1, ?2, ?3, 1, ?4, ?5, ?6)
         ON CONFLICT (kind, path) DO UPDATE
         SET owner = ?3, version = version + 1, pos = ?4, digest = ?5, value_bytes = ?6",
        params![
            kind.as_str(),
            path,
            owner.as_ref().map(AgentId::as_bytes),
            int(step.pos),
            digest,
            int(*value_bytes)
        ],
    )?;
    step.run(
        "INSERT INTO resource_version (kind, path, version, pos, digest, value_bytes)
         SELECT kind, path, version, pos, digest, value_bytes FROM resource WHERE kind = ?1 AND path = ?2",
        params![kind.as_str(), path],
    )?;
    Ok(())
}

//! Artifacts: whose they are, who may see and change them, and how they are shown.

use edgeplane_neighbour::artifact::ARTIFACT_BYTES_MAX;
use edgeplane_store::{ArtifactFilter, ArtifactRow};
use edgeplane_types::{AgentId, ArtifactId, ErrorName, SafeLabel, fact::ArtifactSource};
use edgeplane_wire::{
    api::{
        artifact::{
            ARTIFACT_SCHEME, ARTIFACTS_MAX, ArtifactDeleteParams, ArtifactDetail, ArtifactDiffParams,
            ArtifactDiffResult, ArtifactExportParams, ArtifactExportResult, ArtifactFile, ArtifactListParams,
            ArtifactListResult, ArtifactParams, ArtifactPublishParams, ArtifactReadParams,
            ArtifactReadResult, ArtifactView, DIFF_BYTES_MAX, DiffUntold,
        },
        workspace::READ_BYTES_MAX,
    },
    rpc::RpcError,
};

use super::{
    Session,
    conversation::{checked_reason, next_of, outputs},
    workspaces::{files, named_agent},
};
use crate::{
    admission,
    neighbours::{
        artifacts::{self, Publishing},
        lines,
    },
    record::Origin,
    workspaces::blocking,
};

/// Versions that are shown with an artifact.
const VERSIONS_SHOWN: usize = 100;

fn invalid(what: impl Into<String>) -> RpcError {
    RpcError::new(ErrorName::InvalidParams, what)
}

fn none(text: &str) -> RpcError {
    RpcError::new(ErrorName::NotFound, format!("no artifact `{}`", admission::shown_name(text)))
        .hint("`edgeplane artifact list` shows those there are")
}

/// Whether it is the caller's business: operators', its owner's, and what is the node's every agent may see.
fn concerns(session: &Session, owner: Option<AgentId>) -> bool {
    match (owner, &session.caller.agent) {
        _ if session.caller.is_operator() => true,
        (Some(owner), _) => session.caller.is_agent(owner),
        (None, Some(own)) => session.caller.is_agent(own.id),
        (None, None) => false,
    }
}

/// Whether the caller may change it: operators, and its owner.
fn owns(session: &Session, owner: Option<AgentId>) -> bool {
    session.caller.is_operator() || owner.is_some_and(|owner| session.caller.is_agent(owner))
}

/// The owners whose artifacts a name may mean, in their order.
fn owners(session: &Session, named: Option<&str>) -> Result<Vec<Option<AgentId>>, RpcError> {
    match (named, &session.caller.agent) {
        (Some(name), _) => Ok(vec![Some(named_agent(session, name)?.id)]),
        (None, Some(own)) => Ok(vec![Some(own.id), None]),
        (None, None) => Ok(vec![None]),
    }
}

/// The newest version of the artifact that is meant, if the caller may see it.
fn meant(session: &Session, (text, agent): (&str, Option<&str>)) -> Result<ArtifactRow, RpcError> {
    let record = &session.shared.record;
    let found = match (text.parse::<ArtifactId>(), text.parse::<SafeLabel>()) {
        (Ok(id), _) => record.look_up(|reader| reader.artifact(&id))?,
        (Err(_), Ok(name)) => {
            let mut found = None;
            for owner in owners(session, agent)? {
                let named = || record.look_up(|reader| reader.artifact_named(owner.as_ref(), name.as_str()));
                found = if found.is_some() { found } else { named()? };
            }
            found
        }
        (Err(_), Err(_)) => None,
    };
    found.filter(|row| concerns(session, row.owner)).ok_or_else(|| none(text))
}

/// The version that is meant.
fn at_version(session: &Session, newest: ArtifactRow, version: Option<u64>) -> Result<ArtifactRow, RpcError> {
    let Some(version) = version.filter(|version| *version != newest.newest) else { return Ok(newest) };
    let id = newest.published.artifact_id;
    let next = version.saturating_add(1);
    let found = session.shared.record.look_up(|reader| reader.artifact_versions(&id, 1, Some(next)))?;
    found.into_iter().find(|row| row.published.version == version).ok_or_else(|| {
        let what = format!("no version {version} of artifact `{}`", newest.published.name);
        RpcError::new(ErrorName::NotFound, what).hint(format!("the newest is {}", newest.newest))
    })
}

/// A version with bytes: one of an artifact that has not ended.
fn live(
    session: &Session,
    which: (&str, Option<&str>),
    version: Option<u64>,
) -> Result<ArtifactRow, RpcError> {
    let row = at_version(session, meant(session, which)?, version)?;
    match row.deleted_at {
        None => Ok(row),
        Some(at) => {
            let what = format!("artifact `{}` ended at {at}, and its bytes with it", row.published.name);
            Err(RpcError::new(ErrorName::NotFound, what))
        }
    }
}

fn view(session: &Session, row: ArtifactRow) -> Result<ArtifactView, RpcError> {
    let published = row.published;
    let agent = match row.owner {
        Some(owner) => {
            let found = session.shared.record.look_up(|reader| reader.agent_by_id(&owner))?;
            Some(found.map_or_else(|| owner.to_string(), |agent| agent.name.to_string()))
        }
        None => None,
    };
    Ok(ArtifactView {
        uri: format!("{ARTIFACT_SCHEME}{}/{}", published.artifact_id, published.version),
        artifact_id: published.artifact_id,
        name: published.name,
        agent,
        version: published.version,
        newest: row.newest,
        media_type: published.media_type,
        digest: published.digest,
        bytes: published.bytes,
        labels: published.labels,
        source: published.source,
        published_at: row.at,
        by: row.by.name().to_string(),
        deleted_at: row.deleted_at,
        unchanged: false,
    })
}

pub(in crate::server) async fn publish(
    session: &Session,
    params: ArtifactPublishParams,
) -> Result<ArtifactView, RpcError> {
    let ArtifactPublishParams {
        name,
        agent,
        media_type,
        labels,
        content,
        encoding,
        output_id,
        file,
        if_version,
    } = params;
    let owner = owners(session, agent.as_deref())?.into_iter().next().flatten();
    if !owns(session, owner) {
        let who = &session.caller.principal;
        let what = format!("`{who}` may publish for itself only: rule owner-or-operator");
        return Err(RpcError::new(ErrorName::PermissionDenied, what));
    }
    let (bytes, source) = match (content, output_id, file) {
        (Some(content), None, None) => (files::content(content, encoding)?, None),
        (None, Some(output_id), None) => {
            (outputs::words(session, output_id).await?, Some(ArtifactSource::Output { output_id }))
        }
        (None, None, Some(file)) => {
            let ArtifactFile { workspace_id, agent, path } = file;
            let whose = (workspace_id, agent.as_deref());
            let (workspace_id, bytes) = files::taken(session, whose, (&path, ARTIFACT_BYTES_MAX)).await?;
            (bytes, Some(ArtifactSource::File { workspace_id, path }))
        }
        _ => return Err(invalid("give exactly one of `content`, `output_id` and `file`")),
    };
    let media_type = media_type.unwrap_or_else(|| guessed(&bytes).to_owned());
    let wanted = Publishing { owner, name, media_type, labels, bytes, source, if_version };
    let origin = Origin::actor(session.caller.actor());
    let (row, unchanged) = artifacts::publish(&session.shared, wanted, origin).await?;
    Ok(ArtifactView { unchanged, ..view(session, row)? })
}

fn guessed(bytes: &[u8]) -> &'static str {
    match std::str::from_utf8(bytes) {
        Ok(_) => "text/plain; charset=utf-8",
        Err(_) => "application/octet-stream",
    }
}

pub(in crate::server) async fn get(
    session: &Session,
    params: ArtifactParams,
) -> Result<ArtifactDetail, RpcError> {
    let newest = meant(session, (&params.artifact, params.agent.as_deref()))?;
    let id = newest.published.artifact_id;
    let row = at_version(session, newest, params.version)?;
    let found = session.shared.record.read(move |reader| reader.artifact_versions(&id, VERSIONS_SHOWN, None));
    let versions = found.await?.into_iter().map(|row| view(session, row)).collect::<Result<_, _>>()?;
    Ok(ArtifactDetail { artifact: view(session, row)?, versions })
}

pub(in crate::server) async fn list(
    session: &Session,
    params: ArtifactListParams,
) -> Result<ArtifactListResult, RpcError> {
    let owners = match (&params.agent, &session.caller.agent) {
        (Some(name), _) => vec![Some(named_agent(session, name)?.id)],
        (None, None) if session.caller.is_operator() => Vec::new(),
        (None, _) => owners(session, None)?,
    };
    if owners.iter().any(|owner| !concerns(session, *owner)) {
        return Ok(ArtifactListResult { items: Vec::new(), next_cursor: None });
    }
    let rows = usize::try_from(params.limit.clamp(1, ARTIFACTS_MAX)).unwrap_or(1);
    let (filter, cursor) =
        (ArtifactFilter { owners, prefix: params.prefix.unwrap_or_default() }, params.cursor.unwrap_or(0));
    let found = session.shared.record.read(move |reader| reader.artifacts(&filter, rows, cursor)).await?;
    let next_cursor = next_of(&found, rows, |row| row.pos);
    let mut items = found.into_iter().map(|row| view(session, row)).collect::<Result<Vec<_>, _>>()?;
    items.retain(|item| params.labels.iter().all(|(key, value)| item.labels.get(key) == Some(value)));
    Ok(ArtifactListResult { items, next_cursor })
}

pub(in crate::server) async fn read(
    session: &Session,
    params: ArtifactReadParams,
) -> Result<ArtifactReadResult, RpcError> {
    let row = live(session, (&params.artifact, params.agent.as_deref()), params.version)?;
    let all = artifacts::bytes(&session.shared, &row).await?;
    let limit = usize::try_from(params.limit.clamp(1, READ_BYTES_MAX)).unwrap_or(1);
    let from = usize::try_from(params.offset).unwrap_or(usize::MAX).min(all.len());
    let part = &all[from..from.saturating_add(limit).min(all.len())];
    let (published, offset) = (row.published, params.offset);
    let what = || format!("artifact `{}`", published.name);
    let (content, encoding, count) =
        files::encoded(what, (part, published.bytes), (offset, params.encoding))?;
    let next = offset.saturating_add(count);
    Ok(ArtifactReadResult {
        artifact_id: published.artifact_id,
        version: published.version,
        digest: published.digest,
        media_type: published.media_type,
        content,
        encoding,
        offset,
        bytes: published.bytes,
        next_offset: (next < published.bytes).then_some(next),
    })
}

pub(in crate::server) async fn diff(
    session: &Session,
    params: ArtifactDiffParams,
) -> Result<ArtifactDiffResult, RpcError> {
    let which = (params.artifact.as_str(), params.agent.as_deref());
    let to = live(session, which, params.to)?;
    let before = params.from.unwrap_or_else(|| to.published.version.saturating_sub(1));
    if before == 0 {
        let what = format!("artifact `{}` has one version only", to.published.name);
        return Err(RpcError::new(ErrorName::InvalidState, what).hint("name two versions"));
    }
    let from = live(session, which, Some(before))?;
    let same = from.published.digest == to.published.digest;
    let is_large =
        |row: &ArtifactRow| row.published.bytes > u64::try_from(DIFF_BYTES_MAX).unwrap_or(u64::MAX);
    let told = if is_large(&from) || is_large(&to) {
        Err(DiffUntold::TooLarge)
    } else {
        let old = artifacts::bytes(&session.shared, &from).await?;
        let new = artifacts::bytes(&session.shared, &to).await?;
        let name = |row: &ArtifactRow| format!("{}@{}", row.published.name, row.published.version);
        let names = (name(&from), name(&to));
        blocking(move || match (String::from_utf8(old), String::from_utf8(new)) {
            (Ok(old), Ok(new)) => {
                lines::unified((&names.0, &old), (&names.1, &new)).ok_or(DiffUntold::TooDifferent)
            }
            _ => Err(DiffUntold::Binary),
        })
        .await?
    };
    let (from, to) = (view(session, from)?, view(session, to)?);
    Ok(match told {
        Ok(found) => ArtifactDiffResult {
            from,
            to,
            same,
            text: Some(found.text),
            added: Some(found.added),
            removed: Some(found.removed),
            untold: None,
        },
        Err(why) => {
            ArtifactDiffResult { from, to, same, text: None, added: None, removed: None, untold: Some(why) }
        }
    })
}

pub(in crate::server) async fn export(
    session: &Session,
    params: ArtifactExportParams,
) -> Result<ArtifactExportResult, RpcError> {
    let row = live(session, (&params.artifact, params.agent.as_deref()), params.version)?;
    let bytes = artifacts::bytes(&session.shared, &row).await?;
    let ArtifactFile { workspace_id, agent, path } = params.to;
    let only = (path.as_str(), params.if_version.as_deref(), (params.lock, None));
    let file = files::put(session, (workspace_id, agent.as_deref()), only, (bytes, params.folders)).await?;
    Ok(ArtifactExportResult { artifact: view(session, row)?, file })
}

pub(in crate::server) async fn delete(
    session: &Session,
    params: ArtifactDeleteParams,
) -> Result<ArtifactView, RpcError> {
    let row = live(session, (&params.artifact, params.agent.as_deref()), None)?;
    if !owns(session, row.owner) {
        return Err(none(&params.artifact));
    }
    let reason = checked_reason(params.reason.as_deref(), "somebody asked for it")?;
    let origin = Origin::actor(session.caller.actor());
    let which = (row.published.artifact_id, params.if_version);
    view(session, artifacts::delete(&session.shared, which, reason, &origin).await?)
}

//! Resources: configuration and administrative state, by name and version.

use edgeplane_store::{Reader, ResourceFilter, ResourceRow};
use edgeplane_types::{ErrorName, ResourceKind, ResourceUri, StreamName};
use edgeplane_wire::{
    api::resource::{
        DeleteResourceParams, GetResourceParams, ListResourcesParams, PatchResourceParams, PutResourceParams,
        ResourceHistoryParams, ResourceView, ResourcesResult,
    },
    rpc::RpcError,
};
use serde_json::Value;

use super::Session;
use crate::{
    overrides::word,
    record::Origin,
    resources::{self, Change, Changed, Labels, Wanted, secrets, value},
};

/// Resources or versions in one answer, and where nobody says how many.
const ROWS_MAX: u32 = 500;
const ROWS_STANDARD: u32 = 100;

/// Keys of a value that may be asked for.
const FIELDS_MAX: usize = 64;

/// Longest reason, in bytes.
const REASON_BYTES_MAX: usize = 1_024;

pub(in crate::server) async fn get(
    session: &Session,
    params: GetResourceParams,
) -> Result<ResourceView, RpcError> {
    let GetResourceParams { uri, at_version, if_none_match, fields } = params;
    check_kind(session, &uri)?;
    if fields.len() > FIELDS_MAX {
        let what = format!("`fields` names {} keys, more than {FIELDS_MAX}", fields.len());
        return Err(RpcError::new(ErrorName::InvalidParams, what));
    }
    let asked = uri.clone();
    let read = move |reader: &Reader| {
        let row = match at_version {
            Some(version) => reader.resource_at(&asked, version)?,
            None => reader.resource(&asked)?.filter(|row| row.digest.is_some()),
        };
        let Some(row) = row else { return Ok(None) };
        let is_known = if_none_match.is_some() && if_none_match == row.digest;
        let held = match row.digest.is_some() && !is_known {
            true => Some(value::held_by(reader, &row)?),
            false => None,
        };
        Ok(Some((row, held, is_known)))
    };
    let found = session.shared.record.read(read).await?;
    let (row, held, is_known) = found.ok_or_else(|| no_version(&uri, at_version))?;
    check_concerns(session, &row, &uri)?;
    let mut shown = view(session, &row)?;
    shown.not_modified = is_known;
    if let Some(held) = held.transpose()? {
        let held = if fields.is_empty() { held } else { only(held, &fields)? };
        let (value, masked) = secrets::masked(held);
        (shown.value, shown.masked) = (Some(value), masked);
    }
    Ok(shown)
}

fn no_version(uri: &ResourceUri, version: Option<u64>) -> RpcError {
    match version {
        None => resources::missing(uri),
        Some(version) => RpcError::new(ErrorName::NotFound, format!("no version {version} of `{uri}`"))
            .hint(format!("`edgeplane resource history {uri}` shows its versions")),
    }
}

/// Some keys of an object.
fn only(value: Value, fields: &[String]) -> Result<Value, RpcError> {
    match value {
        Value::Object(mut entries) => {
            entries.retain(|key, _| fields.iter().any(|field| field == key));
            Ok(Value::Object(entries))
        }
        _ => Err(RpcError::new(ErrorName::InvalidParams, "`fields`: what it holds is no object")),
    }
}

pub(in crate::server) async fn list(
    session: &Session,
    params: ListResourcesParams,
) -> Result<ResourcesResult, RpcError> {
    let after = match params.cursor.as_deref().map(str::parse::<ResourceUri>) {
        None => None,
        Some(Ok(uri)) => Some((uri.kind(), uri.path())),
        Some(Err(_)) => return Err(no_cursor()),
    };
    let rows = rows(params.limit);
    check_somebody(session)?;
    let filter = ResourceFilter { kind: params.kind, prefix: params.prefix.unwrap_or_default(), after };
    let found = session.shared.record.read(move |reader| reader.resources(&filter, rows)).await?;
    let next_cursor = match found.last() {
        Some(last) if found.len() == rows => Some(uri_of(last)?.to_string()),
        _ => None,
    };
    let seen = found.iter().filter(|row| resources::concerns(&session.caller, row));
    let mut items = seen.map(|row| view(session, row)).collect::<Result<Vec<_>, _>>()?;
    items.retain(|item| params.labels.iter().all(|(key, value)| item.labels.get(key) == Some(value)));
    Ok(ResourcesResult { items, next_cursor })
}

pub(in crate::server) async fn history(
    session: &Session,
    params: ResourceHistoryParams,
) -> Result<ResourcesResult, RpcError> {
    check_kind(session, &params.uri)?;
    let before = params.cursor.as_deref().map(str::parse::<u64>).transpose().map_err(|_bad| no_cursor())?;
    let (uri, rows) = (params.uri.clone(), rows(params.limit));
    let found = session.shared.record.read(move |reader| reader.resource_history(&uri, rows, before)).await?;
    if found.is_empty() && before.is_none() {
        return Err(resources::missing(&params.uri));
    }
    let next_cursor = match found.last() {
        Some(last) if found.len() == rows && last.version > 1 => Some(last.version.to_string()),
        _ => None,
    };
    // A version of somebody else's is theirs, also where the name is the caller's by now.
    let seen =
        found.iter().filter(|row| session.caller.is_operator() || resources::concerns(&session.caller, row));
    let items = seen.map(|row| view(session, row)).collect::<Result<Vec<_>, _>>()?;
    Ok(ResourcesResult { items, next_cursor })
}

/// Refuses callers that are neither operators nor agents beyond doubt.
fn check_somebody(session: &Session) -> Result<(), RpcError> {
    let caller = &session.caller;
    if caller.is_operator() || caller.agent.as_ref().is_some_and(|agent| caller.is_agent(agent.id)) {
        return Ok(());
    }
    let what = format!("`{}` has no resources: rule owner-or-operator", caller.principal);
    Err(RpcError::new(ErrorName::PermissionDenied, what)
        .hint("only an operator, or an agent of its own, may do this"))
}

/// Agents have automations, and nothing else of what is here.
fn check_kind(session: &Session, uri: &ResourceUri) -> Result<(), RpcError> {
    check_somebody(session)?;
    if session.caller.is_operator() || uri.kind() == ResourceKind::Automation {
        return Ok(());
    }
    Err(resources::foreign(&session.caller, uri))
}

fn check_concerns(session: &Session, row: &ResourceRow, uri: &ResourceUri) -> Result<(), RpcError> {
    if resources::concerns(&session.caller, row) {
        Ok(())
    } else {
        Err(resources::foreign(&session.caller, uri))
    }
}

fn no_cursor() -> RpcError {
    RpcError::new(ErrorName::InvalidParams, "`cursor` is none that a list gave out")
}

fn rows(limit: Option<u32>) -> usize {
    usize::try_from(limit.unwrap_or(ROWS_STANDARD).clamp(1, ROWS_MAX)).unwrap_or(1)
}

pub(in crate::server) async fn put(
    session: &Session,
    params: PutResourceParams,
) -> Result<ResourceView, RpcError> {
    let PutResourceParams { uri, value, labels, if_version } = params;
    change(session, Wanted { uri, what: Change::Put(value), labels, if_version }).await
}

pub(in crate::server) async fn patch(
    session: &Session,
    params: PatchResourceParams,
) -> Result<ResourceView, RpcError> {
    let PatchResourceParams { uri, patch, labels, if_version } = params;
    change(session, Wanted { uri, what: Change::Patch(patch), labels, if_version }).await
}

pub(in crate::server) async fn delete(
    session: &Session,
    params: DeleteResourceParams,
) -> Result<ResourceView, RpcError> {
    let DeleteResourceParams { uri, if_version, reason } = params;
    if reason.as_ref().is_some_and(|reason| reason.len() > REASON_BYTES_MAX) {
        let what = format!("`reason` is longer than {REASON_BYTES_MAX} bytes");
        return Err(RpcError::new(ErrorName::InvalidParams, what));
    }
    change(session, Wanted { uri, what: Change::Delete(reason), labels: None, if_version }).await
}

async fn change(session: &Session, wanted: Wanted) -> Result<ResourceView, RpcError> {
    check_kind(session, &wanted.uri)?;
    let origin = Origin::actor(session.caller.actor());
    let changed = resources::change(&session.shared, &session.caller, wanted, &origin).await?;
    let Changed { row, is_unchanged } = changed;
    Ok(ResourceView { unchanged: is_unchanged, ..view(session, &row)? })
}

fn uri_of(row: &ResourceRow) -> Result<ResourceUri, RpcError> {
    let text = format!("{}{}/{}", edgeplane_types::resource::RESOURCE_SCHEME, row.kind.as_str(), row.path);
    text.parse().map_err(|error| RpcError::new(ErrorName::RecordDamaged, format!("{error}")))
}

/// A version without what it holds.
fn view(session: &Session, row: &ResourceRow) -> Result<ResourceView, RpcError> {
    let scope = match row.owner {
        Some(agent) => StreamName::Agent(agent),
        None => StreamName::Node(session.shared.identity.id),
    };
    Ok(ResourceView {
        uri: uri_of(row)?,
        kind: row.kind,
        scope,
        version: row.version,
        etag: row.digest.clone(),
        value: None,
        masked: Vec::new(),
        labels: labels(session, row),
        at: row.event.ts,
        by: word(&row.event.actor),
        deleted: row.digest.is_none(),
        not_modified: false,
        unchanged: false,
    })
}

/// The labels of an agent are those of the agent as it is now.
fn labels(session: &Session, row: &ResourceRow) -> Labels {
    let agent = row.owner.filter(|_| row.kind == ResourceKind::Agent);
    match agent.and_then(|id| session.shared.agent_by_id(id)) {
        Some(agent) => agent.profile().labels.clone(),
        None => resources::labels_of(row),
    }
}

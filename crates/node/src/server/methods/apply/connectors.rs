//! The connectors of a set of manifests: resources that are written with the agents of the set, or not at all.

use edgeplane_manifest::{ConnectorManifest, Sourced};
use edgeplane_store::ResourceRow;
use edgeplane_types::{ErrorName, ResourceKind, ResourceUri};
use edgeplane_wire::{
    api::agent::{AppliedResource, ApplyParams, Change},
    rpc::RpcError,
};

use super::folder_of;
use crate::{
    record::{Draft, Origin},
    resources::{self, Labels, value::Checked},
    server::Session,
};

/// A connector that may be written.
pub(super) struct Wanted {
    uri: ResourceUri,
    labels: Labels,
    checked: Checked,
}

/// What becomes of a connector.
pub(super) struct ConnectorPlan {
    wanted: Wanted,
    before: Option<ResourceRow>,
    change: Change,
}

impl ConnectorPlan {
    pub(super) fn describe(&self) -> AppliedResource {
        let before = self.before.as_ref().map_or(0, |row| row.version);
        AppliedResource {
            uri: self.wanted.uri.clone(),
            change: self.change,
            version: if self.change == Change::Unchanged { before } else { before.saturating_add(1) },
        }
    }
}

/// Makes paths whole, and checks what is to be written.
pub(super) fn check(
    params: &ApplyParams,
    documents: Vec<Sourced<ConnectorManifest>>,
) -> Result<Vec<Wanted>, RpcError> {
    documents
        .into_iter()
        .map(|Sourced { file, line, manifest }| {
            let wrong =
                |what: String| RpcError::new(ErrorName::InvalidManifest, format!("{file}:{line}: {what}"));
            let whole = manifest
                .resolved_from(&folder_of(params, &file)?)
                .map_err(|error| wrong(error.to_string()))?;
            let uri = ResourceUri::new(ResourceKind::Connector, whole.metadata.name.clone())
                .ok_or_else(|| wrong("it has no name".to_owned()))?;
            let checked = resources::value::check(&uri, whole.spec.canonical_json())
                .map_err(|error| wrong(error.message))?;
            let labels = whole.metadata.labels.into_iter();
            let labels = labels.map(|(key, value)| (key.to_string(), value)).collect();
            Ok(Wanted { uri, labels, checked })
        })
        .collect()
}

/// Finds out what would change.
pub(super) fn plan(session: &Session, wanted: Vec<Wanted>) -> Result<Vec<ConnectorPlan>, RpcError> {
    wanted
        .into_iter()
        .map(|wanted| {
            let before = session.shared.record.look_up(|reader| reader.resource(&wanted.uri))?;
            let live = before.as_ref().filter(|row| row.digest.is_some());
            let change = match live {
                None => Change::Created,
                Some(row)
                    if row.digest.as_ref() == Some(&wanted.checked.digest)
                        && resources::labels_of(row) == wanted.labels =>
                {
                    Change::Unchanged
                }
                Some(_) => Change::Updated,
            };
            Ok(ConnectorPlan { wanted, before, change })
        })
        .collect()
}

/// Adds what changes to what is made durable. The lock of resources must be held until that is done.
pub(super) fn draft(
    session: &Session,
    draft: &mut Draft,
    plans: &[ConnectorPlan],
    origin: &Origin,
) -> Result<(), RpcError> {
    let created = plans.iter().filter(|plan| plan.change == Change::Created).count();
    if created > 0 {
        let more = u64::try_from(created).unwrap_or(u64::MAX);
        resources::check_room(&session.shared, ResourceKind::Connector, more)?;
    }
    for ConnectorPlan { wanted, before, .. } in plans {
        let Wanted { uri, labels, checked } = wanted;
        let what = (checked.clone(), Some(labels.clone()));
        resources::put(&session.shared, draft, (uri, before.as_ref()), what, origin)?;
    }
    Ok(())
}

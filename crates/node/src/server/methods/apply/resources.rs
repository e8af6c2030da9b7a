//! The connectors, automations and workflows of a set of manifests: resources that are written with the agents of the set, or not at all.

use edgeplane_manifest::{FilePath, LabelKey, Sourced, WordError};
use edgeplane_store::ResourceRow;
use edgeplane_types::{AgentName, ErrorName, ResourceKind, ResourceUri, SafeLabel};
use edgeplane_wire::{
    api::agent::{AppliedResource, ApplyParams, Change},
    rpc::RpcError,
};

use super::{OfResources, folder_of};
use crate::{
    record::{Draft, Origin},
    resources::{self, Holding},
    server::Session,
};

/// A resource that may be written.
pub(super) struct Wanted {
    uri: ResourceUri,
    holding: Holding,
}

/// What becomes of a resource.
pub(super) struct ResourcePlan {
    wanted: Wanted,
    before: Option<ResourceRow>,
    change: Change,
}

impl ResourcePlan {
    pub(super) fn describe(&self) -> AppliedResource {
        let before = self.before.as_ref().map_or(0, |row| row.version);
        AppliedResource {
            uri: self.wanted.uri.clone(),
            change: self.change,
            version: if self.change == Change::Unchanged { before } else { before.saturating_add(1) },
        }
    }
}

/// A document as it is written: its name, labels and value.
type Written = (AgentName, std::collections::BTreeMap<LabelKey, SafeLabel>, serde_json::Value);

/// Makes paths whole, and checks what is to be written.
pub(super) fn check(
    session: &Session,
    params: &ApplyParams,
    OfResources { connectors, automations, workflows }: OfResources,
) -> Result<Vec<Wanted>, RpcError> {
    let connectors = connectors.into_iter().map(|Sourced { file, line, manifest }| {
        let whole = |folder: &FilePath| {
            let whole = manifest.resolved_from(folder)?;
            Ok((whole.metadata.name, whole.metadata.labels, whole.spec.canonical_json()))
        };
        wanted(session, params, (&file, line), ResourceKind::Connector, &whole)
    });
    let automations = automations.into_iter().map(|Sourced { file, line, manifest }| {
        let whole = |folder: &FilePath| {
            let whole = manifest.resolved_from(folder)?;
            Ok((whole.metadata.name, whole.metadata.labels, whole.spec.canonical_json()))
        };
        wanted(session, params, (&file, line), ResourceKind::Automation, &whole)
    });
    let workflows = workflows.into_iter().map(|Sourced { file, line, manifest }| {
        let whole = |_folder: &FilePath| {
            let spec = manifest.spec.canonical_json();
            Ok((manifest.metadata.name.clone(), manifest.metadata.labels.clone(), spec))
        };
        wanted(session, params, (&file, line), ResourceKind::Workflow, &whole)
    });
    connectors.chain(automations).chain(workflows).collect()
}

fn wanted(
    session: &Session,
    params: &ApplyParams,
    (file, line): (&str, u32),
    kind: ResourceKind,
    whole: &dyn Fn(&FilePath) -> Result<Written, WordError>,
) -> Result<Wanted, RpcError> {
    let wrong = |what: String| RpcError::new(ErrorName::InvalidManifest, format!("{file}:{line}: {what}"));
    let (name, labels, value) = whole(&folder_of(params, file)?).map_err(|error| wrong(error.to_string()))?;
    let uri = ResourceUri::new(kind, name).ok_or_else(|| wrong("it has no name".to_owned()))?;
    let checked = resources::value::check(&uri, value).map_err(|error| wrong(error.message))?;
    let labels = labels.into_iter().map(|(key, value)| (key.to_string(), value)).collect();
    let holding = Holding::by(&session.shared, &session.caller, &uri, (checked, Some(labels)))?;
    Ok(Wanted { uri, holding })
}

/// Finds out what would change.
pub(super) fn plan(session: &Session, wanted: Vec<Wanted>) -> Result<Vec<ResourcePlan>, RpcError> {
    wanted
        .into_iter()
        .map(|wanted| {
            let before = session.shared.record.look_up(|reader| reader.resource(&wanted.uri))?;
            let live = before.as_ref().filter(|row| row.digest.is_some());
            let change = match live {
                None => Change::Created,
                Some(row)
                    if row.digest.as_ref() == Some(&wanted.holding.checked.digest)
                        && Some(resources::labels_of(row)) == wanted.holding.labels
                        && resources::acts_as_of(row) == wanted.holding.acts_as.as_ref() =>
                {
                    Change::Unchanged
                }
                Some(_) => Change::Updated,
            };
            Ok(ResourcePlan { wanted, before, change })
        })
        .collect()
}

/// Adds what changes to what is made durable. The lock of resources must be held until that is done.
pub(super) fn draft(
    session: &Session,
    draft: &mut Draft,
    plans: &[ResourcePlan],
    origin: &Origin,
) -> Result<(), RpcError> {
    for kind in [ResourceKind::Connector, ResourceKind::Automation, ResourceKind::Workflow] {
        let is_new = |plan: &&ResourcePlan| plan.change == Change::Created && plan.wanted.uri.kind() == kind;
        let created = plans.iter().filter(is_new).count();
        if created > 0 {
            resources::check_room(&session.shared, kind, u64::try_from(created).unwrap_or(u64::MAX))?;
        }
    }
    for ResourcePlan { wanted, before, .. } in plans {
        let Wanted { uri, holding } = wanted;
        resources::put(&session.shared, draft, (uri, before.as_ref()), holding.clone(), origin)?;
    }
    Ok(())
}

//! Resources that are written: one at a time, each version checked before it is durable.
//!
//! Owns compare-and-set, bounds and the count of versions. What a value may hold is in [`value`], what of it must not be
//! written or shown in [`secrets`]. Agents, schedules and rules are resources too; they are changed elsewhere.

pub(crate) mod secrets;
pub(crate) mod value;

use std::{collections::BTreeMap, sync::Arc};

use edgeplane_manifest::{AutomationSpec, LabelKey};
use edgeplane_store::ResourceRow;
use edgeplane_types::{
    ActsAs, ErrorName, Fact, ResourceKind, ResourceUri, SafeLabel, StreamName,
    fact::{ResourceDeleted, ResourcePut},
};
use edgeplane_wire::rpc::RpcError;
use serde_json::Value;

use crate::{
    automations,
    caller::Caller,
    record::{Draft, Origin, refused},
    shared::Shared,
};
use value::Checked;

/// Resources of a kind that may be there; one more is refused.
pub(crate) const OF_KIND_MAX: u64 = 1_000;

/// Labels of a resource.
pub(crate) const LABELS_MAX: usize = 32;

/// By what a resource is found.
pub(crate) type Labels = BTreeMap<String, SafeLabel>;

/// What every change of a resource shares.
#[derive(Debug, Default)]
pub(crate) struct Resources {
    /// Held by whoever changes one, from the look at it to the record.
    pub(crate) changing: tokio::sync::Mutex<()>,
}

/// A version that somebody wants to make.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub(crate) uri: ResourceUri,
    pub(crate) what: Change,
    /// Those that it has, if none are given.
    pub(crate) labels: Option<Labels>,
    pub(crate) if_version: Option<u64>,
}

/// What is to become of it.
#[derive(Debug)]
pub(crate) enum Change {
    /// It holds this.
    Put(Value),
    /// It holds what it held, with this merged into it.
    Patch(Value),
    /// It ends, for this reason.
    Delete(Option<String>),
}

/// What came of it: the newest version, and whether that was there before.
#[derive(Debug)]
pub(crate) struct Changed {
    pub(crate) row: ResourceRow,
    pub(crate) is_unchanged: bool,
}

/// What a version holds.
#[derive(Debug, Clone)]
pub(crate) struct Holding {
    pub(crate) checked: Checked,
    /// Those that it has, if none are given.
    pub(crate) labels: Option<Labels>,
    /// As whom it acts, if it is an automation.
    pub(crate) acts_as: Option<ActsAs>,
}

impl Holding {
    /// What a caller may have a version hold.
    ///
    /// # Errors
    /// When it is an automation that they may not declare.
    pub(crate) fn by(
        shared: &Shared,
        caller: &Caller,
        uri: &ResourceUri,
        (checked, labels): (Checked, Option<Labels>),
    ) -> Result<Self, RpcError> {
        if uri.kind() != ResourceKind::Automation {
            return Ok(Self { checked, labels, acts_as: None });
        }
        let spec: AutomationSpec = serde_json::from_slice(&checked.bytes)
            .map_err(|error| RpcError::new(ErrorName::InvalidParams, format!("`value`: {error}")))?;
        let acts_as = automations::acts_as(shared, caller)?;
        automations::check(shared, caller, uri, &spec)?;
        Ok(Self { checked, labels, acts_as: Some(acts_as) })
    }
}

/// As whom a version acts.
pub(crate) fn acts_as_of(row: &ResourceRow) -> Option<&ActsAs> {
    match &row.event.fact {
        Fact::ResourcePut(put) => put.acts_as.as_ref(),
        _ => None,
    }
}

/// Whether a resource is a caller's business: operators', and an automation the agent's that declared it.
pub(crate) fn concerns(caller: &Caller, row: &ResourceRow) -> bool {
    let owner = acts_as_of(row).and_then(|acts_as| acts_as.agent_id);
    caller.is_operator() || owner.is_some_and(|agent| caller.is_agent(agent))
}

/// Makes a version of a resource, or finds that it is as it is to be.
pub(crate) async fn change(
    shared: &Arc<Shared>,
    caller: &Caller,
    wanted: Wanted,
    origin: &Origin,
) -> Result<Changed, RpcError> {
    check_is_written(&wanted.uri)?;
    if let Some(labels) = &wanted.labels {
        check_labels(labels)?;
    }
    let _one_at_a_time = shared.resources.changing.lock().await;
    let uri = wanted.uri.clone();
    let before = shared.record.look_up(|reader| reader.resource(&uri))?;
    let live = before.clone().filter(|row| row.digest.is_some());
    if live.as_ref().is_some_and(|row| !concerns(caller, row)) {
        return Err(foreign(caller, &uri));
    }
    check_version(wanted.if_version, &uri, before.as_ref())?;
    let mut draft = Draft::default();
    let is_unchanged = match wanted.what {
        Change::Put(value) => {
            let checked = value::checked(uri.clone(), value).await?;
            let holding = Holding::by(shared, caller, &uri, (checked, wanted.labels))?;
            put(shared, &mut draft, (&uri, before.as_ref()), holding, origin)?
        }
        Change::Patch(patch) => {
            let row = live.as_ref().ok_or_else(|| missing(&uri))?;
            let value = held_by(shared, row).await?;
            let checked = value::checked(uri.clone(), value::merged(value, &patch)).await?;
            let holding = Holding::by(shared, caller, &uri, (checked, wanted.labels))?;
            put(shared, &mut draft, (&uri, before.as_ref()), holding, origin)?
        }
        Change::Delete(reason) => {
            let row = live.as_ref().ok_or_else(|| missing(&uri))?;
            let version = row.version.saturating_add(1);
            let fact = Fact::ResourceDeleted(ResourceDeleted { uri: uri.clone(), version, reason });
            shared.record.add(&mut draft, StreamName::Node(shared.identity.id), origin, fact);
            false
        }
    };
    if !draft.is_empty() {
        shared.failpoint("resource.changing");
        shared.record.commit(draft).await.map_err(|error| refused(&error))?;
        shared.automations.wake();
    }
    let row = shared.record.look_up(|reader| reader.resource(&uri))?.ok_or_else(|| missing(&uri))?;
    Ok(Changed { row, is_unchanged })
}

/// Adds the next version to a draft, unless the newest holds the same. The lock must be held until that is durable.
pub(crate) fn put(
    shared: &Shared,
    draft: &mut Draft,
    (uri, before): (&ResourceUri, Option<&ResourceRow>),
    Holding { checked, labels, acts_as }: Holding,
    origin: &Origin,
) -> Result<bool, RpcError> {
    let live = before.filter(|row| row.digest.is_some());
    let had = live.map(labels_of).unwrap_or_default();
    let labels = labels.unwrap_or_else(|| had.clone());
    let is_same = |row: &ResourceRow| {
        row.digest.as_ref() == Some(&checked.digest) && acts_as_of(row) == acts_as.as_ref()
    };
    if live.is_some_and(is_same) && labels == had {
        return Ok(true);
    }
    if live.is_none() {
        check_room(shared, uri.kind(), 1)?;
    }
    let version = before.map_or(0, |row| row.version).saturating_add(1);
    let (value_digest, value_bytes) = draft.body(checked.bytes);
    let fact = Fact::ResourcePut(ResourcePut {
        uri: uri.clone(),
        version,
        value_digest,
        value_bytes,
        labels,
        acts_as,
    });
    shared.record.add(draft, StreamName::Node(shared.identity.id), origin, fact);
    Ok(false)
}

/// The labels that a version of a resource says itself.
pub(crate) fn labels_of(row: &ResourceRow) -> Labels {
    match &row.event.fact {
        Fact::ResourcePut(put) => put.labels.clone(),
        _ => Labels::new(),
    }
}

/// Refuses more resources of a kind than may be there.
pub(crate) fn check_room(shared: &Shared, kind: ResourceKind, more: u64) -> Result<(), RpcError> {
    let count = shared.record.look_up(|reader| reader.resources_of(kind))?;
    if count.saturating_add(more) <= OF_KIND_MAX {
        return Ok(());
    }
    let what = format!("{count} resources of kind `{}` are there, and {OF_KIND_MAX} may be", kind.as_str());
    Err(RpcError::new(ErrorName::QuotaExhausted, what).hint("delete some first"))
}

/// That a resource is not a caller's business.
pub(crate) fn foreign(caller: &Caller, uri: &ResourceUri) -> RpcError {
    let what = format!("`{}` may not touch `{uri}`: rule owner-or-operator", caller.principal);
    RpcError::new(ErrorName::PermissionDenied, what)
        .hint("an agent has automations of its own, and no other resources")
}

fn check_is_written(uri: &ResourceUri) -> Result<(), RpcError> {
    if uri.kind().is_written() {
        return Ok(());
    }
    let hint = match uri.kind() {
        ResourceKind::Policy => "rules are changed in their files; `edgeplane policy` shows them",
        _ => "`edgeplane apply -f` and `edgeplane delete` change it",
    };
    Err(RpcError::new(ErrorName::Unsupported, format!("`{uri}` is a view of what is changed elsewhere"))
        .hint(hint))
}

fn check_labels(labels: &Labels) -> Result<(), RpcError> {
    if labels.len() > LABELS_MAX {
        let what = format!("`labels` has {} entries, more than {LABELS_MAX}", labels.len());
        return Err(RpcError::new(ErrorName::InvalidParams, what));
    }
    match labels.keys().find_map(|key| key.parse::<LabelKey>().err()) {
        Some(error) => Err(RpcError::new(ErrorName::InvalidParams, format!("`labels`: {error}"))),
        None => Ok(()),
    }
}

fn check_version(
    wanted: Option<u64>,
    uri: &ResourceUri,
    before: Option<&ResourceRow>,
) -> Result<(), RpcError> {
    let found = before.filter(|row| row.digest.is_some()).map_or(0, |row| row.version);
    let Some(wanted) = wanted.filter(|wanted| *wanted != found) else { return Ok(()) };
    let present = match found {
        0 => "not there".to_owned(),
        found => format!("at version {found}"),
    };
    let what = format!("`{uri}` is {present}, not at version {wanted}");
    let mut error = RpcError::new(ErrorName::VersionConflict, what).hint("read it again, then decide");
    error.data.violations.push(serde_json::json!({ "field": "if_version", "found": found }));
    Err(error)
}

/// That there is no such resource.
pub(crate) fn missing(uri: &ResourceUri) -> RpcError {
    RpcError::new(ErrorName::NotFound, format!("no resource `{uri}`"))
        .hint("`edgeplane resource list` shows those there are")
}

/// What a version holds, as it is kept.
pub(crate) async fn held_by(shared: &Shared, row: &ResourceRow) -> Result<Value, RpcError> {
    let row = row.clone();
    shared.record.read(move |reader| value::held_by(reader, &row)).await?
}

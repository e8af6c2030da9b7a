//! What is offered: found by id or name, listed, shown.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use edgeplane_connector::{Failure, Inventory, Offer, OfferKind};
use edgeplane_types::{AgentName, CapabilityId, CapabilityKind, EffectClass, ErrorName};
use edgeplane_wire::{
    api::capability::{
        CapabilityBacking, CapabilityEffect, CapabilityView, ConnectorStanding, PermissionView,
    },
    rpc::RpcError,
};
use serde_json::Value;

use super::live::{self, Declared};
use crate::shared::Shared;

/// Ids whose connectors are remembered; beyond that all are looked through again.
const KNOWN_MAX: usize = 100_000;

/// Calls run beside each other: nothing that a server says promises anything else.
const PARALLEL: &str = "parallel";

/// Which connector an id is of.
#[derive(Debug, Default)]
pub(super) struct Known(Mutex<HashMap<CapabilityId, String>>);

impl Known {
    fn remember(&self, id: CapabilityId, connector: &str) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= KNOWN_MAX {
            known.clear();
        }
        known.insert(id, connector.to_owned());
    }

    fn get(&self, id: CapabilityId) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&id).cloned()
    }
}

/// A capability that is offered.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) declared: Declared,
    pub(crate) offer: Offer,
}

impl Found {
    /// Its id: of its connector, its kind and its native name, so that it stays the same over restarts.
    pub(crate) fn id(&self) -> CapabilityId {
        id_of(&self.declared.name, &self.offer)
    }

    pub(crate) fn kind(&self) -> CapabilityKind {
        match self.offer.kind {
            OfferKind::Tool => CapabilityKind::Tool,
            OfferKind::Resource => CapabilityKind::Resource,
            OfferKind::Prompt => CapabilityKind::Prompt,
        }
    }

    /// What it is called within its connector: what lists of tools name.
    pub(crate) fn called(&self) -> String {
        called(self.offer.kind, &self.offer.native_id)
    }

    /// Its name.
    pub(crate) fn name(&self) -> String {
        format!("{}/{}", self.declared.name, self.called())
    }

    /// What it does at most. What its server says of that is not believed.
    pub(crate) fn effect(&self) -> CapabilityEffect {
        let vouched = self.declared.spec.policy.effect_of(&self.called());
        let class = vouched.unwrap_or(EffectClass::External);
        let reversible = matches!(class, EffectClass::None | EffectClass::Read);
        CapabilityEffect { class, vouched: vouched.is_some(), reversible }
    }
}

/// The same by what the record calls a kind.
pub(crate) fn called_as(kind: CapabilityKind, native_id: &str) -> String {
    match kind {
        CapabilityKind::Tool => native_id.to_owned(),
        CapabilityKind::Resource | CapabilityKind::Prompt => format!("{kind}:{native_id}"),
    }
}

fn id_of(connector: &AgentName, offer: &Offer) -> CapabilityId {
    let text = format!("{connector}\0{}\0{}", offer.kind.as_str(), offer.native_id);
    let digest = edgeplane_proof::digest(text.as_bytes());
    let bytes = digest.as_bytes();
    let mut high = [0; 8];
    let mut random = [0; 10];
    high.iter_mut().skip(2).zip(bytes).for_each(|(to, from)| *to = *from);
    random.iter_mut().zip(bytes.iter().skip(6)).for_each(|(to, from)| *to = *from);
    CapabilityId::from_parts(u64::from_be_bytes(high), random)
}

/// What something of a kind is called within its connector.
pub(crate) fn called(kind: OfferKind, native_id: &str) -> String {
    match kind {
        OfferKind::Tool => native_id.to_owned(),
        OfferKind::Resource | OfferKind::Prompt => format!("{}:{native_id}", kind.as_str()),
    }
}

/// What connectors offer, and how it stands with them.
#[derive(Debug, Default)]
pub(crate) struct Listed {
    pub(crate) found: Vec<Found>,
    pub(crate) standings: Vec<ConnectorStanding>,
}

/// What a connector offers, or all do. One that does not answer offers nothing, and says why.
pub(crate) async fn listed(shared: &Arc<Shared>, connector: Option<&str>) -> Result<Listed, RpcError> {
    let declared = match connector {
        Some(name) => vec![live::declared(shared, name)?],
        None => live::all(shared)?,
    };
    // All are asked at once: a slow one makes none of the others wait.
    let asking: Vec<_> = declared
        .into_iter()
        .map(|declared| {
            let of_task = declared.clone();
            let asked = tokio::spawn(async move {
                let inventory = of_task.connector.inventory().await;
                (inventory, of_task.connector.standing().await)
            });
            (declared, asked)
        })
        .collect();
    let mut listed = Listed::default();
    for (declared, asked) in asking {
        let (inventory, standing) = asked
            .await
            .map_err(|_cut| RpcError::new(ErrorName::Internal, "a look at a connector was cut off"))?;
        let (failure, inventory) = match inventory {
            Ok(inventory) => (None, inventory),
            Err(failure) => (Some(failure.to_string()), Arc::new(Inventory::default())),
        };
        listed.standings.push(ConnectorStanding {
            connector: declared.name.clone(),
            available: failure.is_none(),
            protocol: standing.protocol,
            failure,
            left_out: inventory.problems.clone(),
        });
        for offer in inventory.offers() {
            let found = Found { declared: declared.clone(), offer: offer.clone() };
            if declared.spec.admits(&found.called()) {
                shared.capabilities.known.remember(found.id(), declared.name.as_str());
                listed.found.push(found);
            }
        }
    }
    listed.found.sort_by_key(Found::name);
    Ok(listed)
}

/// Whether a server does not accept what it is shown; one that is left alone for that still does not.
fn is_locked(failure: &Failure) -> bool {
    match failure {
        Failure::Unauthorized(_) => true,
        Failure::Resting { is_locked, .. } => *is_locked,
        _ => false,
    }
}

/// Why a capability is not found.
#[derive(Debug)]
pub(crate) struct Unfound {
    error: Box<RpcError>,
    /// Whether its connector's server does not accept what it is shown.
    pub(crate) is_locked: bool,
}

impl From<RpcError> for Unfound {
    fn from(error: RpcError) -> Self {
        Self { error: Box::new(error), is_locked: false }
    }
}

impl From<Unfound> for RpcError {
    fn from(unfound: Unfound) -> Self {
        *unfound.error
    }
}

fn no_capability(text: &str) -> RpcError {
    let shown = edgeplane_driver::render::clean(text).chars().take(120).collect::<String>();
    RpcError::new(ErrorName::NotFound, format!("no capability `{shown}`"))
        .hint("`edgeplane capability list` shows those there are")
}

/// The capability with this id or name. Only its own connector is asked, if it is known which that is.
///
/// # Errors
/// `not_found`, or `unavailable` where its connector does not answer.
pub(crate) async fn find(shared: &Arc<Shared>, text: &str) -> Result<Found, Unfound> {
    let id = text.parse::<CapabilityId>().ok();
    let (connector, called_so) = match (id, text.split_once('/')) {
        (Some(id), _) => (shared.capabilities.known.get(id), None),
        (None, Some((connector, rest))) => (Some(connector.to_owned()), Some(rest)),
        (None, None) => return Err(no_capability(text).into()),
    };
    let Some(connector) = connector else {
        let found = listed(shared, None).await?.found;
        let found = found.into_iter().find(|found| Some(found.id()) == id);
        return found.ok_or_else(|| no_capability(text).into());
    };
    let declared = live::declared(shared, &connector).map_err(|error| match error.name() {
        ErrorName::NotFound => no_capability(text),
        _ => error,
    })?;
    if !declared.spec.enabled {
        return Err(unavailable(&connector, "it is not enabled").into());
    }
    let inventory = declared.connector.inventory().await.map_err(|failure| Unfound {
        error: Box::new(unavailable(&connector, &failure.to_string())),
        is_locked: is_locked(&failure),
    })?;
    let is_it = |offer: &&Offer| match called_so {
        Some(name) => called(offer.kind, &offer.native_id) == name,
        None => Some(id_of(&declared.name, offer)) == id,
    };
    let offer = inventory.offers().find(is_it).cloned().ok_or_else(|| no_capability(text))?;
    let found = Found { declared, offer };
    if !found.declared.spec.admits(&found.called()) {
        return Err(no_capability(text).into());
    }
    shared.capabilities.known.remember(found.id(), &connector);
    Ok(found)
}

fn unavailable(connector: &str, why: &str) -> RpcError {
    RpcError::new(ErrorName::Unavailable, format!("connector `{connector}`: {why}"))
        .hint("`edgeplane capability list` shows how it stands with each connector")
}

/// A capability as it is shown; schemas only where one is looked at.
pub(crate) fn view(found: &Found, policy: PermissionView, with_schemas: bool) -> CapabilityView {
    let offer = &found.offer;
    let schemas = with_schemas.then(|| Value::Object(offer.input_schema.clone()));
    CapabilityView {
        capability_id: found.id(),
        name: found.name(),
        kind: found.kind(),
        title: offer.title.clone(),
        description: offer.description.clone(),
        input_schema: schemas,
        output_schema: offer.output_schema.clone().filter(|_| with_schemas).map(Value::Object),
        effect: found.effect(),
        concurrency: PARALLEL.to_owned(),
        policy,
        timeout_ms: found.declared.spec.timeout_ms,
        backing: backing(found),
        annotations: offer.annotations.clone().filter(|_| with_schemas),
        digest: offer.digest.clone(),
    }
}

fn backing(found: &Found) -> CapabilityBacking {
    CapabilityBacking { connector: found.declared.name.clone(), native_id: found.offer.native_id.clone() }
}

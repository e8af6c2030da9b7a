//! What is offered, by whomever: found by id or name, listed, shown.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use edgeplane_connector::{Failure, Inventory, OfferKind};
use edgeplane_types::{
    AgentName, BackingKind, CapabilityId, CapabilityKind, EffectClass, ErrorName, Permission, fact::OfferedBy,
};
use edgeplane_wire::{
    api::capability::{
        CapabilityBacking, CapabilityEffect, CapabilityView, ConnectorStanding, PermissionView,
    },
    catalogue::Method,
    rpc::RpcError,
};
use serde_json::{Map, Value};

use super::{
    automation, builtin,
    live::{self, Declared},
    registered::{self, Registered},
    workflow::{self, Workflow},
};
use crate::{automations::InForce, caller::Caller, shared::Shared};

/// Ids whose connectors are remembered; beyond that all are looked through again.
const KNOWN_MAX: usize = 100_000;

/// How long a list waits for a server. One that is slow is asked on, and is in a later list; the others are in this one.
const LIST_WAIT: Duration = Duration::from_secs(15);

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

/// What is said of a capability, whoever says it.
#[derive(Debug, Clone)]
pub(crate) struct Offer {
    pub(crate) kind: CapabilityKind,
    /// What its owner calls it, letter for letter.
    pub(crate) native_id: String,
    pub(crate) title: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) input_schema: Map<String, Value>,
    pub(crate) output_schema: Option<Map<String, Value>>,
    /// What is claimed of it. Nobody may believe it for the sake of safety.
    pub(crate) annotations: Option<Value>,
    /// The digest of all of that.
    pub(crate) digest: String,
}

impl Offer {
    fn of_server(offer: &edgeplane_connector::Offer) -> Self {
        let offer = offer.clone();
        Self {
            kind: kind_of(offer.kind),
            native_id: offer.native_id,
            title: offer.title,
            description: offer.description,
            input_schema: offer.input_schema,
            output_schema: offer.output_schema,
            annotations: offer.annotations,
            digest: offer.digest,
        }
    }
}

/// What is behind a capability.
#[derive(Debug, Clone)]
pub(crate) enum Backing {
    Connector(Declared),
    Agent(Box<Registered>),
    /// A method of the node itself, and its profile.
    Builtin(&'static Method, AgentName),
    Workflow(Box<Workflow>),
    /// An automation, which fires when it is called.
    Automation(Box<InForce>),
}

/// A capability that is offered.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) backing: Backing,
    pub(crate) offer: Offer,
}

impl Found {
    /// Its id: made of names, so that it stays the same over restarts.
    pub(crate) fn id(&self) -> CapabilityId {
        match &self.backing {
            Backing::Connector(declared) => id_of(&declared.name, self.offer.kind, &self.offer.native_id),
            Backing::Agent(registered) => registered.row.registered.capability_id,
            Backing::Builtin(method, _) => builtin::id(method),
            Backing::Workflow(workflow) => workflow::id_of(&workflow.name),
            Backing::Automation(automation) => automation::id_of(&automation.name),
        }
    }

    pub(crate) fn kind(&self) -> CapabilityKind {
        self.offer.kind
    }

    pub(crate) fn backing(&self) -> BackingKind {
        match &self.backing {
            Backing::Connector(_) => BackingKind::Connector,
            Backing::Agent(_) => BackingKind::Agent,
            Backing::Builtin(..) => BackingKind::Builtin,
            Backing::Workflow(_) => BackingKind::Workflow,
            Backing::Automation(_) => BackingKind::Automation,
        }
    }

    /// Whose it is.
    pub(crate) fn owner(&self) -> &AgentName {
        match &self.backing {
            Backing::Connector(declared) => &declared.name,
            Backing::Agent(registered) => &registered.agent,
            Backing::Builtin(_, profile) => profile,
            Backing::Workflow(workflow) => &workflow.name,
            Backing::Automation(automation) => &automation.name,
        }
    }

    /// The connector that offers it, if one does: it has hooks around its calls.
    pub(crate) fn connector(&self) -> Option<&Declared> {
        match &self.backing {
            Backing::Connector(declared) => Some(declared),
            Backing::Agent(_) | Backing::Builtin(..) | Backing::Workflow(_) | Backing::Automation(_) => None,
        }
    }

    /// The agent and the epoch that answer its calls, if an agent offers it.
    pub(crate) fn offered_by(&self) -> Option<OfferedBy> {
        match &self.backing {
            Backing::Agent(registered) => Some(registered.offered_by()),
            Backing::Connector(_) | Backing::Builtin(..) | Backing::Workflow(_) | Backing::Automation(_) => {
                None
            }
        }
    }

    /// What it is called within its owner: what lists of tools name.
    pub(crate) fn called(&self) -> String {
        self.offer.kind.called(&self.offer.native_id)
    }

    /// Its name.
    pub(crate) fn name(&self) -> String {
        format!("{}{}/{}", self.backing().prefix(), self.owner(), self.called())
    }

    /// Longest time that a call may take, in milliseconds.
    pub(crate) fn timeout_ms(&self) -> u64 {
        match &self.backing {
            Backing::Connector(declared) => declared.spec.timeout_ms,
            Backing::Agent(registered) => registered.row.registered.timeout_ms,
            Backing::Builtin(..) | Backing::Automation(_) => builtin::TIMEOUT_MS,
            Backing::Workflow(workflow) => workflow.spec.timeout_ms,
        }
    }

    /// What whoever answers for it says of a call by an agent, the rule, and who that is.
    pub(crate) fn holds(&self) -> (Permission, &'static str, String) {
        match &self.backing {
            Backing::Connector(declared) => {
                let (decision, rule) = declared.spec.policy.holds_for(&self.called());
                (decision, rule, format!("connector `{}`", declared.name))
            }
            Backing::Agent(registered) => {
                let permission = registered.row.registered.permission;
                (permission, registered::RULE, format!("the registration by agent `{}`", registered.agent))
            }
            Backing::Builtin(..) => builtin::holds(),
            Backing::Workflow(workflow) => {
                (workflow.spec.permission, workflow::RULE, format!("workflow `{}`", workflow.name))
            }
            Backing::Automation(automation) => automation::holds(automation),
        }
    }

    /// What it does at most. What its server or its agent says of that is not believed.
    pub(crate) fn effect(&self) -> CapabilityEffect {
        let vouched = match &self.backing {
            Backing::Connector(declared) => declared.spec.policy.effect_of(&self.called()),
            Backing::Agent(registered) => registered.vouched(),
            Backing::Builtin(method, _) => Some(builtin::effect(method)),
            // It has agents do what nobody can know before.
            Backing::Workflow(_) | Backing::Automation(_) => None,
        };
        let class = vouched.unwrap_or(EffectClass::External);
        let reversible = matches!(class, EffectClass::None | EffectClass::Read);
        CapabilityEffect { class, vouched: vouched.is_some(), reversible }
    }
}

fn kind_of(kind: OfferKind) -> CapabilityKind {
    match kind {
        OfferKind::Tool => CapabilityKind::Tool,
        OfferKind::Resource => CapabilityKind::Resource,
        OfferKind::Prompt => CapabilityKind::Prompt,
    }
}

fn id_of(connector: &AgentName, kind: CapabilityKind, native_id: &str) -> CapabilityId {
    id_from(&format!("{connector}\0{kind}\0{native_id}"))
}

/// An id that is a digest of names.
pub(super) fn id_from(text: &str) -> CapabilityId {
    let digest = edgeplane_proof::digest(text.as_bytes());
    let bytes = digest.as_bytes();
    let mut high = [0; 8];
    let mut random = [0; 10];
    high.iter_mut().skip(2).zip(bytes).for_each(|(to, from)| *to = *from);
    random.iter_mut().zip(bytes.iter().skip(6)).for_each(|(to, from)| *to = *from);
    CapabilityId::from_parts(u64::from_be_bytes(high), random)
}

/// What is offered, and how it stands with the connectors that were asked.
#[derive(Debug, Default)]
pub(crate) struct Listed {
    pub(crate) found: Vec<Found>,
    pub(crate) standings: Vec<ConnectorStanding>,
}

/// Which capabilities are looked at.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Of<'a> {
    /// Only this connector's.
    pub(crate) connector: Option<&'a str>,
    /// Only those with this behind them.
    pub(crate) backing: Option<BackingKind>,
}

impl Of<'_> {
    fn wants(&self, backing: BackingKind) -> bool {
        self.backing.is_none_or(|wanted| wanted == backing)
            && (self.connector.is_none() || backing == BackingKind::Connector)
    }
}

/// What is offered, of what whoever asks may know of.
pub(crate) async fn listed(shared: &Arc<Shared>, caller: &Caller, of: Of<'_>) -> Result<Listed, RpcError> {
    let mut listed = match (of.connector, of.wants(BackingKind::Connector)) {
        (_, false) => Listed::default(),
        (Some(name), true) => of_connectors(shared, vec![live::declared(shared, name)?]).await?,
        (None, true) => of_connectors(shared, live::all(shared)?).await?,
    };
    if of.wants(BackingKind::Agent) {
        listed.found.extend(registered::all(shared).await?);
    }
    if of.wants(BackingKind::Builtin) {
        listed.found.extend_from_slice(builtin::all(shared));
    }
    if of.wants(BackingKind::Workflow) {
        listed.found.extend(workflow::all(shared).await?);
    }
    if of.wants(BackingKind::Automation) {
        let automations = automation::all(shared).await?;
        listed.found.extend(automations.into_iter().filter(|found| automation::is_seen_by(found, caller)));
    }
    listed.found.sort_by_key(Found::name);
    Ok(listed)
}

/// What connectors offer. One that does not answer offers nothing, and says why.
async fn of_connectors(shared: &Arc<Shared>, declared: Vec<Declared>) -> Result<Listed, RpcError> {
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
    let until = tokio::time::Instant::now() + LIST_WAIT;
    for (declared, asked) in asking {
        // One that is late is asked on by its task: the next list has what it finds.
        let Ok(asked) = tokio::time::timeout_at(until, asked).await else {
            listed.standings.push(late(declared.name));
            continue;
        };
        let (inventory, standing) =
            asked.map_err(|_cut| RpcError::new(ErrorName::Internal, "a look at a connector was cut off"))?;
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
            let found =
                Found { backing: Backing::Connector(declared.clone()), offer: Offer::of_server(offer) };
            if declared.spec.admits(&found.called()) {
                shared.capabilities.known.remember(found.id(), declared.name.as_str());
                listed.found.push(found);
            }
        }
    }
    Ok(listed)
}

fn late(connector: AgentName) -> ConnectorStanding {
    let failure = format!("it has not answered within {} s; it is still asked", LIST_WAIT.as_secs());
    let failure = Some(failure);
    ConnectorStanding { connector, available: false, protocol: None, failure, left_out: Vec::new() }
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

pub(super) fn no_capability(text: &str) -> RpcError {
    let shown = edgeplane_driver::render::clean(text).chars().take(120).collect::<String>();
    RpcError::new(ErrorName::NotFound, format!("no capability `{shown}`"))
        .hint("`edgeplane capability list` shows those there are")
}

/// The capability with this id or name. Only its own connector is asked, if it is known which that is.
///
/// # Errors
/// `not_found`, or `unavailable` where its connector does not answer.
pub(crate) async fn find(shared: &Arc<Shared>, caller: &Caller, text: &str) -> Result<Found, Unfound> {
    let id = text.parse::<CapabilityId>().ok();
    if let Some(found) = builtin::find(shared, (text, id))? {
        return Ok(found);
    }
    if let Some(found) = workflow::find(shared, (text, id))? {
        return Ok(found);
    }
    if let Some(found) = automation::find(shared, (text, id)).await? {
        return automation::is_seen_by(&found, caller)
            .then_some(found)
            .ok_or_else(|| no_capability(text).into());
    }
    if let Some(found) = registered::find(shared, text, id)? {
        return Ok(found);
    }
    let (connector, called_so) = match (id, text.split_once('/')) {
        (Some(id), _) => (shared.capabilities.known.get(id), None),
        (None, Some((connector, rest))) => (Some(connector.to_owned()), Some(rest)),
        (None, None) => return Err(no_capability(text).into()),
    };
    let Some(connector) = connector else {
        let found = of_connectors(shared, live::all(shared)?).await?.found;
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
    let offers = inventory
        .offers()
        .map(|offer| Found { backing: Backing::Connector(declared.clone()), offer: Offer::of_server(offer) });
    let is_it = |found: &Found| match called_so {
        Some(name) => found.called() == name,
        None => Some(found.id()) == id,
    };
    let found = offers.into_iter().find(is_it).ok_or_else(|| no_capability(text))?;
    if !declared.spec.admits(&found.called()) {
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
        timeout_ms: found.timeout_ms(),
        backing: backing(found),
        annotations: offer.annotations.clone().filter(|_| with_schemas),
        digest: offer.digest.clone(),
    }
}

fn backing(found: &Found) -> CapabilityBacking {
    let offered_by = found.offered_by();
    CapabilityBacking {
        kind: found.backing(),
        owner: found.owner().clone(),
        native_id: found.offer.native_id.clone(),
        agent_id: offered_by.map(|by| by.agent_id),
        epoch: offered_by.map(|by| by.epoch),
    }
}

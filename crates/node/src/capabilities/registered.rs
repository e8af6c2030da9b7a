//! What agents offer: registered for an epoch, called through the record, answered once.
//!
//! Owns who may register what, that what is called is told to the agent in its own stream, and that a call of an epoch
//! that has ended is not waited for. Nothing of it hangs on the life of a daemon: that a call is to be answered stands
//! in the record, and whichever daemon lives takes the answer.

use std::{sync::Arc, time::Duration};

use edgeplane_connector::{object_schema, sorted};
use edgeplane_proof::digest;
use edgeplane_store::{AppendError, CommittedEvent, InvocationRow, OfferRow};
use edgeplane_types::{
    AgentId, AgentName, BackingKind, CapabilityId, CapabilityKind, EffectClass, Epoch, ErrorName, Fact,
    InvocationId, InvocationState, Permission, SafeLabel, StreamName, Tenant,
    fact::{
        CapabilityCalled, CapabilityRegistered, CapabilitySettled, CapabilityWithdrawn, InvocationEnded,
        InvocationRequested, OfferedBy,
    },
};
use edgeplane_wire::{
    api::capability::{
        OFFER_BYTES_MAX, OFFER_DESCRIPTION_BYTES_MAX, OFFER_TIMEOUT_MS_MAX, OFFER_TITLE_BYTES_MAX,
        OFFERS_MAX, OUTPUT_BYTES_MAX, RegisterCapabilityParams, RegistrationView,
    },
    rpc::RpcError,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::{
    door::stream_of,
    ending::{end, ending},
    input::body_of,
    offered::{Backing, Found, Offer, Unfound, id_from, no_capability},
};
use crate::{
    agent::AgentHandle,
    caller::Caller,
    record::{Draft, Origin, refused},
    shared::Shared,
};

/// By which rule holds what a registration says of calls.
pub(super) const RULE: &str = "agent-offer";

/// Calls that wait for one agent's answers. One more is refused: it would not come to be answered soon.
const SERVED_MAX: u64 = 256;

/// Open calls of one agent that are read at one go.
const PAGE: usize = 500;

/// Offers that are listed.
const LISTED_MAX: usize = 10_000;

/// Longest word for why a call went wrong, in bytes.
const ERROR_BYTES_MAX: usize = 4 << 10;

/// Deepest nesting of a schema.
const DEPTH_MAX: usize = 32;

/// What an agent offers, as it was registered.
#[derive(Debug, Clone)]
pub(crate) struct Registered {
    pub(super) agent: AgentName,
    pub(super) row: OfferRow,
}

impl Registered {
    pub(super) fn offered_by(&self) -> OfferedBy {
        OfferedBy { agent_id: self.row.agent, epoch: self.row.registered.epoch }
    }

    /// What it does at most, if an operator said so.
    pub(super) fn vouched(&self) -> Option<EffectClass> {
        self.row.registered.vouched.then_some(self.row.registered.effect)
    }
}

/// All that is said of it: what its digest is of.
#[derive(Debug, Serialize, Deserialize)]
struct Descriptor {
    name: SafeLabel,
    kind: CapabilityKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    input_schema: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    output_schema: Option<Map<String, Value>>,
    effect: EffectClass,
    vouched: bool,
    permission: Permission,
    timeout_ms: u64,
}

fn invalid(what: String) -> RpcError {
    RpcError::new(ErrorName::InvalidParams, what)
}

fn name_of(agent: &AgentName, name: &SafeLabel) -> String {
    format!("{}{agent}/{name}", BackingKind::Agent.prefix())
}

/// What is to be registered, held to its bounds, as it is kept.
fn described(params: &RegisterCapabilityParams, vouched: bool) -> Result<(Descriptor, Vec<u8>), RpcError> {
    if !matches!(params.kind, CapabilityKind::Tool | CapabilityKind::Operation) {
        return Err(invalid("`kind` is `tool` or `operation`".to_owned()));
    }
    if params.permission.is_some() && !vouched {
        let what = "only an operator says what holds for calls: rule operators-only".to_owned();
        return Err(RpcError::new(ErrorName::PermissionDenied, what).hint("leave `permission` out"));
    }
    for (key, text, bytes_max) in [
        ("title", &params.title, OFFER_TITLE_BYTES_MAX),
        ("description", &params.description, OFFER_DESCRIPTION_BYTES_MAX),
    ] {
        if text.as_ref().is_some_and(|text| text.len() > bytes_max) {
            return Err(RpcError::new(
                ErrorName::TooLarge,
                format!("`{key}` has more than {bytes_max} bytes"),
            ));
        }
    }
    if !(1..=OFFER_TIMEOUT_MS_MAX).contains(&params.timeout_ms) {
        return Err(invalid(format!("`timeout_ms` is from 1 to {OFFER_TIMEOUT_MS_MAX}")));
    }
    let schemas = [Some(&params.input_schema), params.output_schema.as_ref()];
    if !schemas.into_iter().flatten().all(|schema| crate::resources::value::fits(schema, DEPTH_MAX)) {
        return Err(invalid(format!("a schema is nested deeper than {DEPTH_MAX}")));
    }
    let input_schema =
        object_schema(Some(&params.input_schema)).map_err(|why| invalid(format!("`input_schema` {why}")))?;
    let output_schema = match &params.output_schema {
        None => None,
        Some(Value::Object(schema)) => Some(schema.clone()),
        Some(_) => return Err(invalid("`output_schema` is no object".to_owned())),
    };
    let descriptor = Descriptor {
        name: params.name.clone(),
        kind: params.kind,
        title: params.title.clone(),
        description: params.description.clone(),
        input_schema,
        output_schema,
        effect: params.effect,
        vouched,
        permission: params.permission.unwrap_or(Permission::Ask),
        timeout_ms: params.timeout_ms,
    };
    let whole = serde_json::to_value(&descriptor).map(|value| sorted(&value).to_string().into_bytes());
    let bytes = whole.map_err(|error| invalid(format!("it cannot be kept: {error}")))?;
    if bytes.len() > OFFER_BYTES_MAX {
        let what = format!("it has {} bytes, more than {OFFER_BYTES_MAX}", bytes.len());
        return Err(RpcError::new(ErrorName::TooLarge, what));
    }
    Ok((descriptor, bytes))
}

/// Has an agent offer something for as long as its epoch lives. What is offered so already stays as it is.
pub(crate) async fn register(
    shared: &Arc<Shared>,
    caller: &Caller,
    agent: &AgentHandle,
    params: &RegisterCapabilityParams,
) -> Result<RegistrationView, RpcError> {
    let (descriptor, bytes) = described(params, caller.is_operator())?;
    let epoch = epoch_of(caller, agent);
    let name = name_of(&agent.name, &descriptor.name);
    let capability_id = id_from(&name);
    let _one_at_a_time = shared.capabilities.registering.lock().await;
    let (before, live) = shared.record.look_up(|reader| {
        Ok((reader.offer(&agent.id, &descriptor.name)?, reader.offers(Some(&agent.id), OFFERS_MAX)?))
    })?;
    let before = before.filter(|row| !row.is_gone);
    let capability_digest = digest(&bytes).to_string();
    if let Some(row) = &before
        && (&row.registered.capability_digest, row.registered.epoch) == (&capability_digest, epoch)
    {
        return Ok(RegistrationView { unchanged: true, ..view(name, row.seq, &row.registered, agent.id) });
    }
    if before.is_none() && live.len() >= OFFERS_MAX {
        let what = format!("agent `{}` offers {OFFERS_MAX} capabilities, and no more may be", agent.name);
        return Err(RpcError::new(ErrorName::QuotaExhausted, what)
            .hint("`edgeplane capability withdraw` takes one back"));
    }
    let mut draft = Draft::default();
    let (_, capability_bytes) = draft.body(bytes);
    let registered = CapabilityRegistered {
        capability_id,
        name: descriptor.name,
        epoch,
        kind: descriptor.kind,
        effect: descriptor.effect,
        vouched: descriptor.vouched,
        permission: descriptor.permission,
        timeout_ms: descriptor.timeout_ms,
        capability_digest,
        capability_bytes,
    };
    let fact = Fact::CapabilityRegistered(Box::new(registered.clone()));
    shared.record.add(&mut draft, StreamName::Agent(agent.id), &Origin::actor(caller.actor()), fact);
    commit(shared, draft, agent, epoch).await?;
    let row = shared.record.look_up(|reader| reader.offer(&agent.id, &registered.name))?;
    Ok(view(name, row.map_or(0, |row| row.seq), &registered, agent.id))
}

/// The epoch that the caller is of, or the agent's newest.
fn epoch_of(caller: &Caller, agent: &AgentHandle) -> Epoch {
    match &caller.agent {
        Some(own) => own.epoch,
        None => agent.summary.borrow().epoch,
    }
}

async fn commit(
    shared: &Arc<Shared>,
    draft: Draft,
    agent: &AgentHandle,
    epoch: Epoch,
) -> Result<(), RpcError> {
    match shared.record.commit(draft).await {
        Ok(_) => Ok(()),
        Err(AppendError::Refused { .. }) => {
            let what = format!("epoch {epoch} of agent `{}` does not live", agent.name);
            Err(RpcError::new(ErrorName::InvalidState, what).hint("what an agent offers ends with its epoch"))
        }
        Err(error) => Err(refused(&error)),
    }
}

fn view(name: String, seq: u64, registered: &CapabilityRegistered, agent_id: AgentId) -> RegistrationView {
    RegistrationView {
        capability_id: registered.capability_id,
        name,
        agent_id,
        epoch: registered.epoch,
        digest: registered.capability_digest.clone(),
        seq,
        unchanged: false,
    }
}

/// What an agent offers by a whole name or an id; first `check` says whether whoever asks may know of that agent's.
fn row_of(
    shared: &Shared,
    (text, id): (&str, Option<CapabilityId>),
    check: impl FnOnce(AgentId) -> Result<(), RpcError>,
) -> Result<Option<(AgentName, OfferRow)>, RpcError> {
    if let Some(id) = id {
        let row = shared.record.look_up(|reader| reader.offer_by_id(&id))?;
        let Some(row) = row else { return Ok(None) };
        check(row.agent)?;
        return Ok(shared.agent_by_id(row.agent).map(|agent| (agent.name, row)));
    }
    let Some((agent, name)) =
        text.strip_prefix(BackingKind::Agent.prefix()).and_then(|rest| rest.split_once('/'))
    else {
        return Ok(None);
    };
    let (Ok(agent), Ok(name)) = (shared.agent(&Tenant::default(), agent), name.parse::<SafeLabel>()) else {
        return Err(no_capability(text));
    };
    check(agent.id)?;
    let row = shared.record.look_up(|reader| reader.offer(&agent.id, &name))?;
    row.map(|row| Some((agent.name, row))).ok_or_else(|| no_capability(text))
}

/// What an agent offers by this name or id; nothing if it is nothing of an agent.
pub(super) fn find(shared: &Shared, text: &str, id: Option<CapabilityId>) -> Result<Option<Found>, Unfound> {
    let Some((agent, row)) = row_of(shared, (text, id), |_| Ok(()))? else { return Ok(None) };
    if row.is_gone {
        let what = format!("agent `{agent}` does not offer `{}` any more", row.registered.name);
        return Err(RpcError::new(ErrorName::Unavailable, what)
            .hint("what an agent offers ends with its epoch; it registers it anew")
            .into());
    }
    Ok(Some(found(shared, agent, row)?))
}

fn found(shared: &Shared, agent: AgentName, row: OfferRow) -> Result<Found, RpcError> {
    let held = body_of(shared, &row.registered.capability_digest)?;
    let said = held.and_then(|bytes| serde_json::from_slice::<Descriptor>(&bytes).ok());
    let said = said.ok_or_else(|| {
        let what = format!("what is said of `{}` is damaged or erased", row.registered.name);
        RpcError::new(ErrorName::Unavailable, what)
    })?;
    let offer = Offer {
        kind: said.kind,
        native_id: said.name.to_string(),
        title: said.title,
        description: said.description,
        input_schema: said.input_schema,
        output_schema: said.output_schema,
        annotations: (!said.vouched).then(|| serde_json::json!({ "effect": said.effect })),
        digest: row.registered.capability_digest.clone(),
    };
    Ok(Found { backing: Backing::Agent(Box::new(Registered { agent, row })), offer })
}

/// All that agents offer now.
pub(super) async fn all(shared: &Arc<Shared>) -> Result<Vec<Found>, RpcError> {
    let rows = shared.record.read(|reader| reader.offers(None, LISTED_MAX)).await?;
    let named = rows.into_iter().filter_map(|row| Some((shared.agent_by_id(row.agent)?.name, row)));
    // What is damaged is told to whoever asks for it by name.
    Ok(named.filter_map(|(agent, row)| found(shared, agent, row).ok()).collect())
}

/// Takes back what an agent offers. Whether the caller may, `check` says of the agent.
pub(crate) async fn withdraw(
    shared: &Arc<Shared>,
    caller: &Caller,
    text: &str,
    check: impl FnOnce(AgentId) -> Result<(), RpcError>,
) -> Result<RegistrationView, RpcError> {
    let _one_at_a_time = shared.capabilities.registering.lock().await;
    let found = row_of(shared, (text, text.parse().ok()), check)?;
    let (agent, row) = found.ok_or_else(|| no_capability(text))?;
    // An epoch takes back what is its own.
    let is_other = caller.agent.as_ref().is_some_and(|own| own.epoch != row.registered.epoch);
    let shown = view(name_of(&agent, &row.registered.name), row.seq, &row.registered, row.agent);
    if row.is_gone || is_other {
        return Ok(RegistrationView { unchanged: true, ..shown });
    }
    let CapabilityRegistered { capability_id, name, epoch, .. } = row.registered;
    let mut draft = Draft::default();
    let fact = Fact::CapabilityWithdrawn(CapabilityWithdrawn { capability_id, name, epoch });
    shared.record.add(&mut draft, StreamName::Agent(row.agent), &Origin::actor(caller.actor()), fact);
    match shared.record.commit(draft).await {
        Ok(_) => Ok(shown),
        // Its epoch has ended in this moment.
        Err(AppendError::Refused { .. }) => Ok(RegistrationView { unchanged: true, ..shown }),
        Err(error) => Err(refused(&error)),
    }
}

/// Refuses a call for whose answer too many others wait already.
pub(super) fn check_room(shared: &Shared, found: &Found) -> Result<(), RpcError> {
    let Some(by) = found.offered_by() else { return Ok(()) };
    let count = shared.record.look_up(|reader| reader.served_count(&by.agent_id))?;
    if count < SERVED_MAX {
        return Ok(());
    }
    let what = format!("{count} calls wait for answers of agent `{}`", found.owner());
    Err(RpcError::new(ErrorName::Backpressure, what))
}

/// Adds to the beginning of a call that the agent is to answer it. The record takes that only while it is offered.
pub(super) fn tell(shared: &Shared, draft: &mut Draft, asked: &InvocationRequested, origin: &Origin) {
    let Some(by) = asked.offered_by else { return };
    let called = CapabilityCalled {
        invocation_id: asked.invocation_id,
        capability_id: asked.capability_id,
        name: SafeLabel::sanitized(&asked.native_id),
        epoch: by.epoch,
    };
    shared.record.add(draft, StreamName::Agent(by.agent_id), origin, Fact::CapabilityCalled(called));
}

/// Adds to the end of a call that its answer is not waited for any more.
pub(super) fn settle(
    shared: &Shared,
    draft: &mut Draft,
    (id, state): (InvocationId, InvocationState),
    origin: &Origin,
) {
    if shared.capabilities.is_unserved(id) {
        return;
    }
    // Where it cannot be read, the end itself cannot be recorded either.
    let Ok(Some(by)) = shared.record.look_up(|reader| reader.invocation_server(&id)) else { return };
    let settled = Fact::CapabilitySettled(CapabilitySettled { invocation_id: id, state });
    shared.record.add(draft, StreamName::Agent(by), origin, settled);
}

/// Waits for what ends a call but its answer: it is taken back, or its time is over.
pub(super) fn wait(
    shared: &Arc<Shared>,
    (stream, id): (StreamName, InvocationId),
    (time, stop): (Duration, CancellationToken),
) {
    // One that is not worked on any more has been answered.
    let Some(over) = shared.capabilities.end_of(id) else { return };
    let of_task = Arc::clone(shared);
    shared.tasks.spawn(async move {
        let shared = of_task;
        // Cancel-safe: no arm holds anything.
        let (state, why) = tokio::select! {
            () = over.cancelled() => return,
            () = shared.stopping.cancelled() => return,
            () = stop.cancelled() => (InvocationState::Cancelled, "it was taken back".to_owned()),
            () = tokio::time::sleep(time) => {
                (InvocationState::OutcomeUnknown, "the agent did not answer in time".to_owned())
            }
        };
        end(&shared, stream, id, ending(id, state, why)).await;
    });
}

/// Goes on waiting for the answer to a call that a former daemon left open, if anybody can still give it.
pub(super) async fn take_up(shared: &Arc<Shared>, row: &InvocationRow) -> Result<(), RpcError> {
    let (id, stream) = (row.asked.invocation_id, stream_of(shared, row.agent));
    if !is_answered_yet(shared, row) {
        end_unanswered(shared, row).await;
        return Ok(());
    }
    let since = row.begun_at.unwrap_or(row.asked_at);
    let passed = shared.record.now().millis_since(since);
    let time = Duration::from_millis(row.asked.timeout_ms.saturating_sub(passed));
    let stop = shared.capabilities.enter(&row.asked).stop.clone();
    wait(shared, (stream, id), (time, stop));
    Ok(())
}

/// Whether a call can still be answered; one that no agent answers is not looked at.
pub(super) fn is_answered_yet(shared: &Shared, row: &InvocationRow) -> bool {
    let Some(by) = row.asked.offered_by else { return true };
    let lives = shared.record.look_up(|reader| reader.offering(&by.agent_id, by.epoch));
    lives.unwrap_or(true)
}

async fn end_unanswered(shared: &Arc<Shared>, row: &InvocationRow) {
    let (id, stream) = (row.asked.invocation_id, stream_of(shared, row.agent));
    let why = "the epoch that was to answer has ended".to_owned();
    end(shared, stream, id, ending(id, InvocationState::OutcomeUnknown, why)).await;
}

/// Whether agents that answer calls end with a fact.
pub(super) fn concerns(fact: &Fact) -> bool {
    matches!(fact, Fact::AgentExited { .. } | Fact::AgentRetired { .. })
}

/// Ends the calls that nobody can answer any more.
pub(super) async fn heard(shared: &Arc<Shared>, event: &CommittedEvent) {
    let StreamName::Agent(agent) = event.event.stream else { return };
    match shared.record.look_up(|reader| reader.served_invocations(&agent, PAGE)) {
        Ok(rows) => {
            let is_left = |row: &&InvocationRow| row.begun_at.is_some() && !is_answered_yet(shared, row);
            for row in rows.iter().filter(is_left) {
                end_unanswered(shared, row).await;
            }
        }
        Err(error) => tracing::warn!(%agent, %error, "the calls that it was to answer cannot be read"),
    }
}

/// Takes the answer to a call from the agent that offers what is called. The first one counts.
pub(crate) async fn complete(
    shared: &Arc<Shared>,
    caller: &Caller,
    row: &InvocationRow,
    answer: Result<Value, String>,
) -> Result<(), RpcError> {
    let id = row.asked.invocation_id;
    check_answers(caller, row)?;
    let over = |state: InvocationState| {
        let what = format!("invocation {id} is {state}: nobody waits for an answer");
        Err(RpcError::new(ErrorName::InvalidState, what))
    };
    if row.state != InvocationState::Running {
        return over(row.state);
    }
    let mut draft = Draft::default();
    let ended = match answer {
        Ok(output) => {
            let bytes = serde_json::to_vec(&output).map_err(|error| invalid(format!("`output`: {error}")))?;
            if bytes.len() > OUTPUT_BYTES_MAX {
                let what = format!("`output` has {} bytes, more than {OUTPUT_BYTES_MAX}", bytes.len());
                return Err(
                    RpcError::new(ErrorName::TooLarge, what).hint("write a file and name it in the output")
                );
            }
            let (output_digest, output_bytes) = draft.body(bytes);
            let (ended, _) = ending(id, InvocationState::Succeeded, String::new());
            InvocationEnded { reason: None, output_digest: Some(output_digest), output_bytes, ..ended }
        }
        Err(error) => {
            let clean = edgeplane_driver::render::clean(&error);
            let shown = clean.get(..clean.floor_char_boundary(ERROR_BYTES_MAX)).unwrap_or_default();
            ending(id, InvocationState::Failed, format!("the agent says: {shown}")).0
        }
    };
    let origin = Origin::actor(caller.actor());
    settle(shared, &mut draft, (id, ended.state), &origin);
    let stream = stream_of(shared, row.agent);
    shared.record.add(&mut draft, stream, &origin, Fact::InvocationEnded(ended));
    shared.failpoint("invocation.answered");
    if let Err(error) = shared.record.commit(draft).await {
        let now = shared.record.look_up(|reader| reader.invocation(&id))?;
        return match now.filter(|row| row.state.is_over()) {
            Some(row) => over(row.state),
            None => Err(refused(&error)),
        };
    }
    shared.capabilities.leave(id);
    Ok(())
}

/// Refuses everybody but the agent that is to answer, in the epoch that is.
fn check_answers(caller: &Caller, row: &InvocationRow) -> Result<(), RpcError> {
    let id = row.asked.invocation_id;
    let of_agent =
        row.asked.offered_by.filter(|by| caller.is_agent(by.agent_id) && caller.is_seen_as_agent());
    let Some(by) = of_agent else {
        let what = format!("`{}` is not who answers invocation {id}: rule offering-agent", caller.principal);
        return Err(RpcError::new(ErrorName::PermissionDenied, what));
    };
    if caller.agent.as_ref().is_none_or(|own| own.epoch != by.epoch) {
        let what = format!("invocation {id} is for epoch {} of the agent", by.epoch);
        return Err(RpcError::new(ErrorName::Fenced, what).hint("what a former epoch offered ended with it"));
    }
    Ok(())
}

/// Exactly what a call is given, for the agent that is to answer it: not what is masked in its place.
pub(crate) fn exact_input(shared: &Shared, caller: &Caller, row: &InvocationRow) -> Option<Option<Value>> {
    check_answers(caller, row).ok()?;
    let kept = match row.asked.input_digest == row.asked.shown_digest {
        true => body_of(shared, &row.asked.shown_digest).ok().flatten(),
        false => shared.capabilities.kept_input(row.asked.invocation_id),
    };
    Some(kept.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
}

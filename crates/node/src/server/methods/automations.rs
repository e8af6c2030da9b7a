//! Automations: what they did, firing by hand, and deliveries.

use edgeplane_manifest::{AutomationAct, AutomationTrigger};
use edgeplane_store::FiringRow;
use edgeplane_types::{
    AutomationCause, ErrorName, Fact, FiringId, FiringState, ResourceKind, ResourceUri, StreamName, TaskId,
    TraceId, fact::AutomationFired,
};
use edgeplane_wire::{
    api::automation::{
        AutomationParams, AutomationView, AutomationsResult, DELIVERY_BYTES_MAX, DeliverWebhookParams,
        DeliverWebhookResult, FIRINGS_MAX, FireAutomationParams, FiringView,
    },
    rpc::RpcError,
};

use super::Session;
use crate::{
    automations::{self, Delivered, InForce, WAITING_MAX},
    record::{Draft, Origin, refused},
    resources,
    server::dispatch::decoded,
};

fn none(name: &str) -> RpcError {
    RpcError::new(ErrorName::NotFound, format!("no automation `{name}`"))
        .hint("`edgeplane automation list` shows those there are")
}

/// Refuses callers that are neither operators nor agents beyond doubt.
fn check_somebody(session: &Session) -> Result<(), RpcError> {
    let is_agent = session.caller.agent.as_ref().is_some_and(|agent| session.caller.is_agent(agent.id));
    if session.caller.is_operator() || is_agent {
        return Ok(());
    }
    let what = format!("`{}` has no automations: rule owner-or-operator", session.caller.principal);
    Err(RpcError::new(ErrorName::PermissionDenied, what))
}

fn seen(session: &Session, name: &str) -> Result<InForce, RpcError> {
    check_somebody(session)?;
    let found = automations::one(&session.shared, name)?;
    found.filter(|found| found.concerns(&session.caller)).ok_or_else(|| none(name))
}

pub(in crate::server) async fn list(session: &Session) -> Result<AutomationsResult, RpcError> {
    check_somebody(session)?;
    let mut found = automations::all(&session.shared).await?;
    found.retain(|automation| automation.concerns(&session.caller));
    let items = found.iter().map(|automation| view(session, automation, 0)).collect::<Result<_, _>>()?;
    Ok(AutomationsResult { items })
}

pub(in crate::server) fn get(
    session: &Session,
    params: &AutomationParams,
) -> Result<AutomationView, RpcError> {
    let automation = seen(session, params.name.as_str())?;
    let firings = usize::try_from(params.firings.min(FIRINGS_MAX)).unwrap_or(usize::MAX);
    view(session, &automation, firings)
}

fn view(session: &Session, automation: &InForce, firings: usize) -> Result<AutomationView, RpcError> {
    let name = automation.name.as_str();
    let read = session.shared.record.look_up(|reader| {
        let firings = if firings == 0 { Vec::new() } else { reader.firings_of(name, firings)? };
        Ok((reader.automation(name)?, reader.open_firings_of(name)?, firings))
    });
    let (row, waiting, rows) = read?;
    let spec = &automation.spec;
    let when = match &spec.on {
        AutomationTrigger::Event(event) => {
            let types: Vec<&str> = event.types.iter().map(|kind| kind.as_str()).collect();
            types.join(", ")
        }
        AutomationTrigger::Schedule(schedule) => schedule.timing.when(),
        AutomationTrigger::Webhook(_) => format!("POST /v1/hooks/{name}"),
    };
    let does = match &spec.act {
        AutomationAct::Method(method) => method.name.clone(),
        AutomationAct::Task(task) => match &task.agent {
            Some(agent) => format!("a task for {agent}"),
            None => "a task for whoever has its labels".to_owned(),
        },
    };
    let due_at = row.filter(|_| spec.enabled).and_then(|row| automation.due_after(row.accounted_until));
    Ok(AutomationView {
        name: automation.name.clone(),
        version: automation.version,
        enabled: spec.enabled,
        on: spec.on.as_str().to_owned(),
        when,
        does,
        acts_as: automation.acts_as.principal.clone(),
        due_at,
        fired: row.map_or(0, |row| row.fired),
        failed: row.map_or(0, |row| row.failed),
        skipped: row.map_or(0, |row| row.skipped),
        waiting,
        firings: rows
            .into_iter()
            .map(|row| firing(row, matches!(spec.act, AutomationAct::Task(_))))
            .collect(),
    })
}

fn firing(row: FiringRow, makes_task: bool) -> FiringView {
    let FiringRow { pos: _, fired, at, ended } = row;
    let state = ended.as_ref().map_or(FiringState::Open, |(ended, _)| ended.state);
    FiringView {
        task_id: makes_task.then(|| TaskId::from_bytes(*fired.firing_id.as_bytes())),
        trace_id: TraceId::from_bytes(*fired.firing_id.as_bytes()),
        firing_id: fired.firing_id,
        automation: fired.automation,
        version: fired.version,
        cause: fired.cause,
        hops: fired.hops,
        at,
        state,
        ended_at: ended.as_ref().map(|(_, at)| *at),
        error: ended.as_ref().and_then(|(ended, _)| ended.error),
        reason: ended.and_then(|(ended, _)| ended.reason),
    }
}

pub(in crate::server) async fn fire(
    session: &Session,
    params: FireAutomationParams,
) -> Result<FiringView, RpcError> {
    let shared = &session.shared;
    let automation = seen(session, params.name.as_str())?;
    let name = automation.name.as_str();
    if shared.record.look_up(|reader| reader.open_firings_of(name))? >= WAITING_MAX {
        let what = format!("{WAITING_MAX} firings of `{name}` wait already");
        return Err(RpcError::new(ErrorName::Backpressure, what));
    }
    let mut draft = Draft::default();
    let (given_digest, given_bytes) = match &params.event {
        None => (None, 0),
        Some(event) => {
            let uri =
                ResourceUri::new(ResourceKind::Config, automation.name.clone()).ok_or_else(|| none(name))?;
            let checked = resources::value::check(&uri, event.clone())?;
            let (digest, bytes) = draft.body(checked.bytes);
            (Some(digest), bytes)
        }
    };
    let firing_id: FiringId = shared.record.mint().id();
    let fired = AutomationFired {
        firing_id,
        automation: automation.name.clone(),
        version: automation.version,
        key: format!("hand/{firing_id}"),
        cause: AutomationCause::Hand { given_digest, given_bytes },
        hops: 0,
    };
    let stream = StreamName::Node(shared.identity.id);
    let origin = Origin::actor(session.caller.actor());
    shared.record.add(&mut draft, stream, &origin, Fact::AutomationFired(Box::new(fired)));
    shared.record.commit(draft).await.map_err(|error| refused(&error))?;
    session.effect.notify_one();
    shared.automations.wake();
    let row = shared.record.look_up(|reader| reader.firing(&firing_id))?.ok_or_else(|| none(name))?;
    Ok(firing(row, matches!(automation.spec.act, AutomationAct::Task(_))))
}

pub(in crate::server) async fn deliver(
    session: &Session,
    params: DeliverWebhookParams,
) -> Result<DeliverWebhookResult, RpcError> {
    if params.body.len() > DELIVERY_BYTES_MAX.saturating_mul(2) {
        let what = format!("a delivery has at most {DELIVERY_BYTES_MAX} bytes");
        return Err(RpcError::new(ErrorName::TooLarge, what));
    }
    let delivered = Delivered {
        id: &params.id,
        timestamp: &params.timestamp,
        signatures: &params.signatures,
        is_json: params.is_json,
        body: decoded(&params.body)?,
    };
    let (firing_id, replayed) = automations::deliver(&session.shared, &params.name, delivered).await?;
    session.replayed.store(replayed, std::sync::atomic::Ordering::Relaxed);
    session.effect.notify_one();
    Ok(DeliverWebhookResult { firing_id, replayed })
}

//! Agents: look at them, move them through their life.

use std::{collections::BTreeMap, time::Duration};

use edgeplane_lifecycle::Input;
use edgeplane_types::{AgentId, Epoch, ErrorName, Phase, PolicyAction, Tenant, fact::Cause};
use edgeplane_wire::{
    api::agent::{AgentParams, ChangeParams, ChangeResult, EpochView, EpochsResult, ListParams, WaitParams},
    rpc::RpcError,
};
use serde::Serialize;

use super::{Session, agent, retired};
use crate::{
    agent::{AgentHandle, Command, LifeRequest, Shown},
    gate::Asked,
    record::Origin,
};

/// Longest wait for a phase in milliseconds: a day.
const WAIT_MS_MAX: u64 = 24 * 60 * 60 * 1_000;

/// A [`ListResult`](edgeplane_wire::api::agent::ListResult) as it is answered.
#[derive(Debug, Serialize)]
pub(in crate::server) struct List {
    items: Vec<Shown>,
}

pub(in crate::server) async fn list(session: &Session, params: ListParams) -> Result<List, RpcError> {
    let mut items = Vec::new();
    for agent in session.shared.agents() {
        if params.phase.is_some_and(|phase| agent.summary.borrow().phase != phase) {
            continue;
        }
        // An agent that retires at this moment is simply no longer listed.
        let Ok(view) = agent.ask(Command::View).await else { continue };
        items.push(view?);
    }
    let wants_retired = match params.phase {
        None => params.retired,
        Some(phase) => phase == Phase::Retired,
    };
    if wants_retired {
        let known: Vec<AgentId> = items.iter().map(id).collect();
        // One that retires at this moment may have its engine still.
        items.extend(retired::list(session).await?.into_iter().filter(|view| !known.contains(&id(view))));
        // Keeps the order of those with one name.
        items.sort_by(|a, b| name(a).cmp(name(b)));
    }
    items.retain(|view| has_labels(view, &params.labels));
    Ok(List { items })
}

fn id(view: &Shown) -> AgentId {
    view.status.identities.audit.agent_id
}

fn name(view: &Shown) -> &str {
    view.status.identities.network.name.as_str()
}

fn has_labels(view: &Shown, wanted: &BTreeMap<String, String>) -> bool {
    let labels = view.metadata.get("labels").and_then(|labels| labels.as_object());
    wanted.iter().all(|(key, value)| {
        labels.and_then(|labels| labels.get(key)).and_then(|found| found.as_str()) == Some(value)
    })
}

pub(in crate::server) async fn get(session: &Session, params: &AgentParams) -> Result<Shown, RpcError> {
    agent(session, &params.agent)?.ask(Command::View).await?
}

async fn change(session: &Session, params: ChangeParams, input: Input) -> Result<ChangeResult, RpcError> {
    let agent = agent(session, &params.agent)?;
    // Whoever owns the machine can end and suspend what runs on it, also under rules that permit nothing.
    let is_brake = matches!(input, Input::Stop(_) | Input::Freeze);
    if !(is_brake && session.caller.is_operator()) {
        let asked = Asked::act(PolicyAction::Supervise, &session.caller, &agent);
        session.shared.gate.decide(&session.shared, &asked)?;
    }
    let request = LifeRequest::new(input, params.reason);
    let origin = Origin::actor(session.caller.actor());
    agent.ask(|reply| Command::Life(request, origin, reply)).await?
}

pub(in crate::server) async fn start(
    session: &Session,
    params: ChangeParams,
) -> Result<ChangeResult, RpcError> {
    change(session, params, Input::Start(Cause::Request)).await
}

pub(in crate::server) async fn stop(
    session: &Session,
    params: ChangeParams,
) -> Result<ChangeResult, RpcError> {
    change(session, params, Input::Stop(Cause::Request)).await
}

pub(in crate::server) async fn restart(
    session: &Session,
    params: ChangeParams,
) -> Result<ChangeResult, RpcError> {
    change(session, params, Input::Restart(Cause::Request)).await
}

pub(in crate::server) async fn freeze(
    session: &Session,
    params: ChangeParams,
) -> Result<ChangeResult, RpcError> {
    if !session.shared.can_freeze {
        return Err(RpcError::new(
            ErrorName::Unsupported,
            "this machine has no writable cgroup to freeze an agent with",
        )
        .hint("`edgeplane doctor` shows what is missing"));
    }
    change(session, params, Input::Freeze).await
}

pub(in crate::server) async fn unfreeze(
    session: &Session,
    params: ChangeParams,
) -> Result<ChangeResult, RpcError> {
    change(session, params, Input::Thaw).await
}

pub(in crate::server) async fn hibernate(
    session: &Session,
    params: ChangeParams,
) -> Result<ChangeResult, RpcError> {
    change(session, params, Input::Hibernate(Cause::Request)).await
}

pub(in crate::server) async fn retire(
    session: &Session,
    params: ChangeParams,
) -> Result<ChangeResult, RpcError> {
    change(session, params, Input::Retire).await
}

pub(in crate::server) async fn release(
    session: &Session,
    params: ChangeParams,
) -> Result<ChangeResult, RpcError> {
    change(session, params, Input::Release).await
}

pub(in crate::server) async fn wait(session: &Session, params: WaitParams) -> Result<ChangeResult, RpcError> {
    let agent = agent(session, &params.agent)?;
    if params.phases.is_empty() {
        return Err(RpcError::new(ErrorName::InvalidParams, "name at least one phase to wait for"));
    }
    let timeout = Duration::from_millis(params.timeout_ms.min(WAIT_MS_MAX));
    match tokio::time::timeout(timeout, reached(&agent, &params.phases)).await {
        Ok(true) => Ok(now(&agent)),
        Ok(false) => Err(RpcError::new(ErrorName::NotFound, format!("agent `{}` was retired", agent.name))),
        Err(_) => {
            let phase = agent.summary.borrow().phase;
            let wanted: Vec<_> = params.phases.iter().map(|phase| phase.as_str()).collect();
            let what = format!(
                "agent `{}` is {phase}, not {}, after {} ms",
                agent.name,
                wanted.join(" or "),
                params.timeout_ms
            );
            Err(RpcError::new(ErrorName::DeadlineExceeded, what)
                .hint(format!("`edgeplane agent history {}` shows why", agent.name)))
        }
    }
}

/// Waits until an agent is in one of the phases; false if it went before.
pub(super) async fn reached(agent: &AgentHandle, phases: &[Phase]) -> bool {
    let mut summary = agent.summary.clone();
    let reached = summary.wait_for(|summary| phases.contains(&summary.phase)).await.is_ok();
    reached || phases.contains(&agent.summary.borrow().phase)
}

fn now(agent: &AgentHandle) -> ChangeResult {
    let summary = agent.summary.borrow().clone();
    ChangeResult {
        name: agent.name.to_string(),
        agent_id: agent.id,
        phase: summary.phase,
        desired: summary.desired,
        epoch: summary.epoch,
    }
}

pub(in crate::server) async fn epochs(
    session: &Session,
    params: &AgentParams,
) -> Result<EpochsResult, RpcError> {
    let id = super::terminals::agent_id(session, &params.agent)?;
    // What the living epoch has printed no fact has told yet; an agent that is retired has none.
    let live = match session.shared.agent(&Tenant::default(), &id.to_string()) {
        Ok(handle) => handle.ask(Command::View).await.ok().and_then(Result::ok),
        Err(_retired) => None,
    };
    let rows = session.shared.record.read(move |reader| reader.epochs(&id)).await?;
    let live_bytes = |epoch: Epoch| {
        live.as_ref().filter(|view| view.status.epoch == epoch).map_or(0, |view| view.status.output_bytes)
    };
    let items = rows.into_iter().map(|row| EpochView {
        epoch: row.epoch,
        started_at: row.started_at,
        ended_at: row.ended_at,
        end: row.status.map(|status| status.to_string()),
        output_bytes: row.output_bytes.max(if row.ended_at.is_none() { live_bytes(row.epoch) } else { 0 }),
    });
    Ok(EpochsResult { items: items.collect() })
}

//! Inference, from what drivers and programs say: models, routes, usage, limits.
//!
//! The node calls no model. Nothing here is decided; what nobody said is named as such.

use std::sync::Arc;

use edgeplane_driver::render::clean;
use edgeplane_manifest::Driver;
use edgeplane_neighbour::model::Model;
use edgeplane_store::StoredBody;
use edgeplane_types::{Activity, ErrorName};
use edgeplane_wire::{
    api::{
        inference::{
            CostView, InferenceLimit, InferenceLimitState, InferenceLimitsResult, InferenceParams,
            ListModelsParams, ModelSource, ModelView, ModelsResult, PriceState, RouteCandidate,
            RouteDecision, RouteMode, TokenCounts, TurnUsage, UsageView,
        },
        stream::{ProjectionParams, Target, TargetKind},
    },
    rpc::RpcError,
};
use serde_json::Value;

use super::{Session, agent, agent_itself, check_owner, streams};
use crate::{
    agent::{AgentHandle, Command},
    neighbours,
    workspaces::blocking,
};

/// Most models that are shown of one program.
const MODELS_MAX: usize = 256;

/// Longest name of a model that is shown, in characters.
const NAME_CHARS: usize = 200;

/// What an agent's program says of models.
struct Said {
    models: Vec<ModelView>,
    current: Option<String>,
    source: ModelSource,
}

pub(in crate::server) async fn models(
    session: &Session,
    params: ListModelsParams,
) -> Result<ModelsResult, RpcError> {
    let one = match (&params.agent, &session.caller.agent) {
        (Some(named), _) => Some(agent(session, named)?),
        // An agent sees its own.
        (None, Some(own)) => Some(agent(session, &own.id.to_string())?),
        (None, None) => None,
    };
    let handles = match one {
        Some(handle) => {
            check_owner(session, handle.id)?;
            vec![handle]
        }
        None if session.caller.is_operator() => session.shared.agents(),
        None => {
            let who = &session.caller.principal;
            let what = format!("`{who}` may see only its own: rule owner-or-operator");
            return Err(RpcError::new(ErrorName::PermissionDenied, what));
        }
    };
    let (mut items, mut unreported) = (Vec::new(), Vec::new());
    for handle in handles {
        // One that retires at this moment is simply no longer listed.
        let Ok(said) = said_by(session, &handle).await else { continue };
        if said.source == ModelSource::Unreported {
            unreported.push(handle.name.to_string());
        }
        items.extend(said.models);
    }
    Ok(ModelsResult { items, unreported })
}

/// What is known of the models of an agent: its manifest's word for the one it works with, its program's for all.
async fn said_by(session: &Session, handle: &AgentHandle) -> Result<Said, RpcError> {
    let (manifest, _) = handle.ask(Command::Manifest).await?;
    let wanted = match &manifest.spec.driver {
        Driver::Acp { model, .. } => model.clone(),
        _ => None,
    };
    let id = handle.id;
    let read = move |reader: &edgeplane_store::Reader| {
        let Some(row) = reader.session(&id)? else { return Ok(None) };
        let digest = row.details_digest.as_deref().and_then(|digest| digest.parse().ok());
        let Some(digest) = digest else { return Ok(None) };
        let body = reader.body(&digest)?;
        Ok(body.map(|body| (row.opened_in, body)))
    };
    let opened = session.shared.record.read(read).await?;
    let (epoch, details) = match opened {
        Some((epoch, StoredBody::Bytes(bytes))) => {
            (epoch, serde_json::from_slice(&bytes).unwrap_or(Value::Null))
        }
        _ => (None, Value::Null),
    };
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(shown);
    let offered = details.pointer("/session/models").cloned().unwrap_or_default();
    let begun_with = text(&offered, "currentModelId");
    let source = match (&wanted, &begun_with) {
        (Some(_), _) => ModelSource::Manifest,
        (None, Some(_)) => ModelSource::Session,
        (None, None) => ModelSource::Unreported,
    };
    let current = wanted.or(begun_with);
    let view = |model: String, title: Option<String>, source: ModelSource| ModelView {
        agent: handle.name.to_string(),
        agent_id: handle.id,
        current: current.as_deref() == Some(model.as_str()),
        model,
        title,
        source,
        epoch: epoch.filter(|_| source == ModelSource::Session),
    };
    let listed = offered.get("availableModels").and_then(Value::as_array).into_iter().flatten();
    let listed =
        listed.take(MODELS_MAX).filter_map(|model| Some((text(model, "modelId")?, text(model, "name"))));
    let reported: Vec<Model> = listed.map(|(id, title)| Model { id, title }).collect();
    let (provider, name) = (Arc::clone(&session.shared.neighbours.models), handle.name.to_string());
    let known = blocking(move || provider.models(&name, reported)).await?;
    let known = known.map_err(|error| neighbours::failed(&error))?;
    let mut models: Vec<ModelView> = known
        .into_iter()
        .take(MODELS_MAX)
        .map(|model| view(shown(&model.id), model.title.as_deref().map(shown), ModelSource::Session))
        .collect();
    if let Some(model) = &current
        && !models.iter().any(|known| known.model == *model)
    {
        models.insert(0, view(model.clone(), None, source));
    }
    Ok(Said { models, current, source })
}

/// What a program calls something, fit to be shown.
fn shown(text: &str) -> String {
    clean(text).chars().take(NAME_CHARS).collect()
}

pub(in crate::server) async fn route(
    session: &Session,
    params: InferenceParams,
) -> Result<RouteDecision, RpcError> {
    let handle = meant(session, &params)?;
    let said = said_by(session, &handle).await?;
    let used = usage_of(session, &handle).await?;
    let mut gaps = Vec::new();
    if said.current.is_none() {
        gaps.push("its program chooses the model and does not say which".to_owned());
    }
    if used.cost.price == PriceState::Unknown {
        gaps.push("no price is known".to_owned());
    }
    let selected = RouteCandidate { model: said.current, source: said.source, price: used.cost.price };
    Ok(RouteDecision {
        agent: handle.name.to_string(),
        agent_id: handle.id,
        mode: RouteMode::Single,
        reason: "single_candidate".to_owned(),
        candidates: vec![selected.clone()],
        selected,
        fallback: Vec::new(),
        gaps,
    })
}

pub(in crate::server) async fn usage(
    session: &Session,
    params: InferenceParams,
) -> Result<UsageView, RpcError> {
    let handle = meant(session, &params)?;
    usage_of(session, &handle).await
}

/// The agent that is meant, if the caller may know of it and it has a program of its own.
fn meant(session: &Session, params: &InferenceParams) -> Result<AgentHandle, RpcError> {
    check_owner(session, agent(session, &params.agent)?.id)?;
    agent_itself(session, &params.agent)
}

async fn usage_of(session: &Session, handle: &AgentHandle) -> Result<UsageView, RpcError> {
    let target = Target { kind: TargetKind::Agent, id: Some(handle.id.to_string()) };
    let params = ProjectionParams { projection: "usage.cost".to_owned(), target };
    let view = streams::projection::get(session, &params).await?;
    let state = serde_json::to_value(&view.state).map_err(|error| {
        RpcError::new(ErrorName::Internal, format!("what was used cannot be read: {error}"))
    })?;
    let counts = |value: Option<&Value>| {
        let count = |key: &str| value.and_then(|value| value.get(key)).and_then(Value::as_u64).unwrap_or(0);
        TokenCounts { input: count("input"), output: count("output"), total: count("total") }
    };
    let number = |at: &str| state.pointer(at).and_then(Value::as_u64);
    let texts =
        state.pointer("/former_session_costs/entries").and_then(Value::as_array).into_iter().flatten();
    let former: Vec<String> = texts.filter_map(Value::as_str).map(shown).collect();
    let cost = state.get("session_cost").and_then(Value::as_str).map(shown);
    let reports = number("/reports").unwrap_or(0);
    let turns = state.pointer("/turns/entries").and_then(Value::as_array).into_iter().flatten();
    let is_known = cost.is_some() || !former.is_empty();
    Ok(UsageView {
        agent: handle.name.to_string(),
        agent_id: handle.id,
        said_by: if reports == 0 { "nobody" } else { "program" }.to_owned(),
        reports,
        tokens: counts(state.get("tokens")),
        context_tokens: number("/context_tokens"),
        cost: CostView {
            price: if is_known { PriceState::Reported } else { PriceState::Unknown },
            session: cost,
            former_sessions: former,
        },
        turns: turns
            .map(|turn| TurnUsage {
                message_id: turn.get("message_id").and_then(Value::as_str).and_then(|id| id.parse().ok()),
                tokens: counts(turn.get("tokens")),
            })
            .collect(),
        turns_more: number("/turns/more").unwrap_or(0),
        as_of_seq: view.as_of_seq,
    })
}

pub(in crate::server) async fn limits(
    session: &Session,
    params: InferenceParams,
) -> Result<InferenceLimitsResult, RpcError> {
    let handle = meant(session, &params)?;
    let status = handle.ask(Command::View).await??.status;
    let (state, detail) = match status.activity {
        Activity::QuotaPaused => {
            (InferenceLimitState::Exhausted, "its screen says that its quota is used up")
        }
        Activity::Working => (InferenceLimitState::Open, "it works; how much is left nobody says"),
        Activity::Idle
        | Activity::AwaitingInput
        | Activity::AwaitingApproval
        | Activity::Error
        | Activity::Unknown => {
            (InferenceLimitState::Unreported, "nobody says how its provider's quota stands")
        }
    };
    let evidence = (state != InferenceLimitState::Unreported).then_some(status.activity_evidence);
    let quota =
        InferenceLimit { kind: "provider_quota".to_owned(), state, evidence, detail: detail.to_owned() };
    let budget = InferenceLimit {
        kind: "budget".to_owned(),
        state: InferenceLimitState::None,
        evidence: None,
        detail: "the node meters no calls of models and keeps no budget".to_owned(),
    };
    Ok(InferenceLimitsResult {
        agent: handle.name.to_string(),
        agent_id: handle.id,
        items: vec![quota, budget],
    })
}

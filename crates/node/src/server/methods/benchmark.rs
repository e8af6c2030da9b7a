//! Benchmark trials: given, rewarded, shown, written out and compared.
//!
//! What changes goes through [`crate::work`]. The node keeps what a verifier says and judges nothing: a number is recorded
//! as it was said, and what nobody said is unknown, not zero.

mod compare;
mod export;
mod figures;
mod measure;
mod trajectory;

use edgeplane_store::{Reader, RewardRow, TrialRow};
use edgeplane_types::{
    AgentId, ErrorName, RunId, SafeLabel, TaskId, TaskState, TrialDataset, TrialId, TrialVerifier,
    Visibility,
    fact::{Actor, RewardRecorded, TaskCreated, TaskPlan, TrialStarted},
};
use edgeplane_wire::{
    api::benchmark::{
        CRITERIA_MAX, CRITERION_BYTES_MAX, REFERENCE_BYTES_MAX, REGRESSIONS_MAX, REWARD_MAX,
        RewardRecordParams, RewardView, TrialStartParams, TrialView,
    },
    rpc::RpcError,
};
use edgeplane_workspace::Id;
use serde_json::{Value, json};

use super::{
    Session,
    work::{Weighed, checked_objective, weigh},
};
use crate::{
    record::Origin,
    work::{self, NewReward, NewTrial},
};

pub(in crate::server) use compare::compare;
pub(in crate::server) use export::export;

/// Parents of an agent that are looked at when it is asked whether it is under another one.
const GENERATIONS_MAX: usize = 64;

fn invalid(what: impl Into<String>) -> RpcError {
    RpcError::new(ErrorName::InvalidParams, what)
}

fn none(id: TrialId) -> RpcError {
    RpcError::new(ErrorName::NotFound, format!("no trial {id}"))
        .hint("`edgeplane benchmark start` says the id of the trial that it gives")
}

/// A reference, a digest or a name that is kept as it is: bounded, and without what acts on a terminal.
fn check_text(what: &str, text: &str, bytes_max: usize) -> Result<(), RpcError> {
    let is_shown = crate::admission::shown_name(text) == text;
    if text.trim().is_empty() || text.len() > bytes_max || !is_shown {
        return Err(invalid(format!("`{what}` has 1 to {bytes_max} bytes that can be printed, on one line")));
    }
    Ok(())
}

fn check_texts(params: &TrialStartParams) -> Result<(), RpcError> {
    let TrialStartParams { dataset, configuration, refs, .. } = params;
    let own = [
        ("dataset.ref", dataset.reference.as_deref()),
        ("dataset.digest", dataset.digest.as_deref()),
        ("configuration.digest", configuration.digest.as_deref()),
        ("configuration.changed_variable", configuration.changed_variable.as_deref()),
    ];
    for (what, text) in own.into_iter().chain(refs.all()) {
        if let Some(text) = text {
            check_text(what, text, REFERENCE_BYTES_MAX)?;
        }
    }
    Ok(())
}

/// The one spelling of something, digested.
fn hash_of(value: &Value) -> Result<String, RpcError> {
    let bytes = edgeplane_proof::canonical::to_vec(value)
        .map_err(|error| invalid(format!("it has no one spelling: {error}")))?;
    Ok(format!("blake3:{}", Id::of(&bytes)))
}

/// All that must be alike in trials that are compared.
fn manifest_hash(params: &TrialStartParams) -> Result<String, RpcError> {
    // Where the dataset is to be had is no part of what it is.
    let TrialDataset { id, version, case, reference: _, digest } = &params.dataset;
    hash_of(&json!({
        "format": "edgeplane-trial/1",
        "dataset": { "id": id, "version": version, "digest": digest },
        "case": case,
        "content": edgeplane_proof::digest(params.content.as_bytes()).to_string(),
        "verifier": params.verifier,
        "limits": params.limits,
    }))
}

fn request_hash(params: &TrialStartParams, agent: AgentId) -> Result<String, RpcError> {
    let mut value = serde_json::to_value(params).map_err(|error| invalid(error.to_string()))?;
    if let Some(fields) = value.as_object_mut() {
        fields.remove("key");
        // However it was named.
        fields.insert("agent".to_owned(), json!(agent));
    }
    hash_of(&value)
}

pub(in crate::server) async fn start(
    session: &Session,
    params: TrialStartParams,
) -> Result<TrialView, RpcError> {
    check_texts(&params)?;
    let content = checked_objective(&params.content)?;
    let handle = super::agent_itself(session, &params.agent)?;
    let TrialDataset { id: dataset, version, case, .. } = &params.dataset;
    let title = format!("trial of {dataset} {version}, {case}");
    let Weighed { authority, causation } = weigh(session, Some(&handle), &title)?;
    let task_id: TaskId = session.shared.record.mint().id();
    let created = TaskCreated {
        task_id,
        root_id: task_id,
        parent_id: None,
        kind: Some(SafeLabel::sanitized("trial")),
        visibility: Visibility::Foreground,
        plan: plan_of(title, handle.id, &params),
        depends_on: Vec::new(),
        authority,
        epoch: session.caller.agent.as_ref().map(|agent| agent.epoch),
        causation,
        state: TaskState::Queued,
    };
    let started = TrialStarted {
        trial_id: work::trial_of(task_id),
        task_id,
        run_id: RunId::from_bytes(*task_id.as_bytes()),
        agent_id: handle.id,
        manifest_hash: manifest_hash(&params)?,
        request_hash: request_hash(&params, handle.id)?,
        dataset: params.dataset,
        configuration: params.configuration,
        role: params.role,
        verifier: params.verifier,
        repetition: params.repetition,
        refs: params.refs,
        resolves_dataset: false,
        resolves_configuration: false,
        key: params.key,
    };
    let new = NewTrial { created, agent_id: handle.id, content, started };
    let origin = Origin::actor(session.caller.actor());
    let (id, replayed) = work::give(&session.shared, new, &origin).await?;
    session.replayed.store(replayed, std::sync::atomic::Ordering::Relaxed);
    session.effect.notify_one();
    session.shared.record.look_up(|reader| view(reader, id))?.ok_or_else(|| none(id))
}

/// One run, under the limits that were asked for.
fn plan_of(title: String, agent: AgentId, params: &TrialStartParams) -> TaskPlan {
    TaskPlan {
        title,
        objective_digest: String::new(),
        objective_bytes: 0,
        assignee: Some(agent),
        thread: None,
        priority: edgeplane_types::Priority::Normal,
        labels: std::collections::BTreeMap::new(),
        acceptance: Vec::new(),
        limits: params.limits,
        attempts_max: 1,
    }
}

fn view(reader: &Reader, id: TrialId) -> Result<Option<TrialView>, edgeplane_store::ReadError> {
    let Some(row) = reader.trial(&id)? else { return Ok(None) };
    let Some(task) = reader.task(&row.started.task_id)? else { return Ok(None) };
    let agent = reader.agent_by_id(&row.started.agent_id)?;
    let started = row.started;
    let ended = row.ended.as_ref();
    Ok(Some(TrialView {
        trial_id: id,
        task_id: started.task_id,
        run_id: started.run_id,
        agent: agent.map_or_else(|| started.agent_id.to_string(), |agent| agent.name.to_string()),
        agent_id: started.agent_id,
        dataset: started.dataset,
        configuration: started.configuration,
        role: started.role,
        verifier: started.verifier,
        repetition: started.repetition,
        manifest_hash: started.manifest_hash,
        state: task.state,
        outcome: ended.map(|(ended, ..)| ended.state),
        limit: ended.and_then(|(ended, ..)| ended.limit),
        started_at: row.at,
        ended_at: ended.map(|(_, at, _)| *at),
        reward: row.reward.as_ref().map(reward_view),
    }))
}

fn reward_view(row: &RewardRow) -> RewardView {
    let recorded = row.recorded.clone();
    RewardView {
        trial_id: recorded.trial_id,
        number: recorded.number,
        reward: value_of(&recorded),
        criteria: recorded.criteria,
        details_ref: recorded.details_ref,
        failure_category: recorded.failure_category,
        verifier: recorded.verifier,
        p0_regressions: recorded.p0_regressions,
        is_early: recorded.is_early,
        by: row.by.name().clone(),
        at: row.at,
    }
}

/// The number that a reward is.
fn value_of(recorded: &RewardRecorded) -> f64 {
    recorded.value.parse().unwrap_or(f64::NAN)
}

/// A number as the record holds it: the shortest text that is this number and no other.
fn decimal(number: f64) -> String {
    serde_json::Number::from_f64(number).map_or_else(|| "0".to_owned(), |number| number.to_string())
}

/// Whether the caller plays a trial: as the agent that is tried, or as one under it.
fn plays(session: &Session, row: &TrialRow) -> Result<bool, RpcError> {
    let Some(own) = &session.caller.agent else { return Ok(false) };
    let (mut id, player) = (own.id, row.started.agent_id);
    for _ in 0..GENERATIONS_MAX {
        if id == player {
            return Ok(true);
        }
        let found = session.shared.record.look_up(|reader| reader.subagent(&id))?;
        let Some(found) = found else { return Ok(false) };
        id = found.parent;
    }
    Ok(true)
}

/// Refuses those who have no say about what a trial is worth.
fn check_judge(session: &Session, row: &TrialRow) -> Result<(), RpcError> {
    let (id, who) = (row.started.trial_id, &session.caller.principal);
    if plays(session, row)? {
        let what =
            format!("`{who}` plays trial {id}, and has no say about what it is worth: rule no-own-reward");
        return Err(RpcError::new(ErrorName::PermissionDenied, what)
            .hint("a verifier that is not the agent records rewards"));
    }
    let is_asker = matches!(&row.by, Actor::Agent { agent_id, .. } if session.caller.is_agent(*agent_id));
    if session.caller.is_operator() || is_asker { Ok(()) } else { Err(none(id)) }
}

fn check_verifier(row: &TrialRow, said: Option<&TrialVerifier>) -> Result<(), RpcError> {
    let Some(fixed) = &row.started.verifier else { return Ok(()) };
    let Some(said) = said.filter(|said| *said != fixed) else { return Ok(()) };
    let what = format!(
        "trial {} is judged by verifier `{}` {}, not by `{}` {}",
        row.started.trial_id, fixed.id, fixed.version, said.id, said.version
    );
    Err(RpcError::new(ErrorName::Conflict, what).hint("another verifier judges other trials"))
}

fn check_reward(params: &RewardRecordParams) -> Result<(), RpcError> {
    if !params.reward.is_finite() || params.reward.abs() > REWARD_MAX {
        return Err(invalid(format!("`reward` is a number from -{REWARD_MAX} to {REWARD_MAX}")));
    }
    if params.criteria.len() > CRITERIA_MAX {
        return Err(invalid(format!("a reward has at most {CRITERIA_MAX} criteria")));
    }
    for criterion in &params.criteria {
        check_text("criteria", criterion, CRITERION_BYTES_MAX)?;
    }
    if let Some(details) = &params.details_ref {
        check_text("details_ref", details, REFERENCE_BYTES_MAX)?;
    }
    if params.p0_regressions.as_ref().is_some_and(|names| names.len() > REGRESSIONS_MAX) {
        return Err(invalid(format!("a reward names at most {REGRESSIONS_MAX} regressions"))
            .hint("name the worst, and the others by `details_ref`"));
    }
    Ok(())
}

pub(in crate::server) async fn reward(
    session: &Session,
    params: RewardRecordParams,
) -> Result<RewardView, RpcError> {
    let id = params.trial_id;
    let row = session.shared.record.look_up(|reader| reader.trial(&id))?.ok_or_else(|| none(id))?;
    check_judge(session, &row)?;
    check_reward(&params)?;
    check_verifier(&row, params.verifier.as_ref())?;
    let recorded = RewardRecorded {
        trial_id: id,
        task_id: row.started.task_id,
        run_id: row.started.run_id,
        number: 0,
        value: decimal(params.reward),
        criteria: params.criteria,
        details_ref: params.details_ref,
        failure_category: params.failure_category,
        verifier: params.verifier.or(row.started.verifier),
        p0_regressions: params.p0_regressions,
        is_early: false,
    };
    let new = NewReward { recorded, supersedes: params.supersedes };
    let origin = Origin::actor(session.caller.actor());
    let replayed = work::record_reward(&session.shared, new, &origin).await?;
    session.replayed.store(replayed, std::sync::atomic::Ordering::Relaxed);
    session.effect.notify_one();
    let row = session.shared.record.look_up(|reader| reader.trial(&id))?;
    row.and_then(|row| row.reward).as_ref().map(reward_view).ok_or_else(|| none(id))
}

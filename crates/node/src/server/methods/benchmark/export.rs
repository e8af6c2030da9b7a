//! A trial, written out: a summary in the standard's shape, a trajectory, and the pack of evidence that holds both.

use std::collections::BTreeMap;

use edgeplane_store::{AgentRow, ReadError, Reader, StoredBody, TrialRow};
use edgeplane_types::{
    EdgeKind, ErrorName, RunId, SessionId, StreamName, ThreadId, TurnId, fact::RewardRecorded,
};
use edgeplane_wire::{
    api::{
        benchmark::{TrialExportParams, TrialExportResult},
        evidence::{PackBodies, PackParams, PackScope, SignalView},
    },
    rpc::RpcError,
};
use serde_json::{Value, json};

use super::{
    super::{
        evidence::{hand_out, sources},
        transcript,
    },
    measure::{Measured, measure, stretch},
    none, reward_view, trajectory, value_of,
};
use crate::{
    evidence::{self, Beside, Sources, gaps, unread},
    server::Session,
};

/// The form of the summary.
const VERSION: &str = "lime-profile-0.4.0";

/// The files of the pack that are made of the record.
const SUMMARY: &str = "trial.json";
const TRAJECTORY: &str = "trajectory.json";
const REWARD: &str = "reward.json";

/// What is known of a trial when it is written out.
struct Known {
    measured: Measured,
    agent: AgentRow,
    trace: Option<String>,
    rewards: Vec<Value>,
    artifacts: Vec<Value>,
    trajectory: Value,
    is_cut: bool,
    is_masked: bool,
    gaps: Vec<Value>,
}

pub(in crate::server) async fn export(
    session: &Session,
    params: TrialExportParams,
) -> Result<TrialExportResult, RpcError> {
    let shared = &session.shared;
    let id = params.trial_id;
    let row = shared.record.look_up(|reader| reader.trial(&id))?.ok_or_else(|| none(id))?;
    let key = shared.keys.signing(&shared.record).await?;
    let mut sources = sources(session);
    let (pack_id, signed_by) = (sources.pack_id.clone(), key.key_id().clone());
    let built = move |reader: &Reader| {
        reader.at_one_moment(|reader| Ok(build(reader, &mut sources, row.clone(), &key)))
    };
    let (result, built) = shared.record.read(built).await??;
    let pack = hand_out(session, built, params.write, (pack_id, signed_by)).await?;
    Ok(TrialExportResult {
        pack_id: pack.pack_id,
        digest: pack.digest,
        signed_by: pack.signed_by,
        file_refs: pack.refs,
        path: pack.path,
        files: pack.files,
        ..result
    })
}

type Made = (TrialExportResult, evidence::Built);

fn build(
    reader: &Reader,
    sources: &mut Sources,
    row: TrialRow,
    key: &edgeplane_proof::SigningKey,
) -> Result<Made, RpcError> {
    let known = know(reader, sources, row)?;
    let result = summary(sources, &known);
    let started = &known.measured.row.started;
    let file = |value: &Value| format!("{value:#}\n").into_bytes();
    let whole = serde_json::to_value(&result).unwrap_or_default();
    let mut files = vec![(SUMMARY.to_owned(), file(&without_pack(whole)))];
    files.push((TRAJECTORY.to_owned(), file(&known.trajectory)));
    if !result.reward.is_null() {
        files.push((REWARD.to_owned(), file(&result.reward)));
    }
    sources.beside = Beside { task: Some((started.task_id, started.run_id)), files };
    let scope = PackScope::TurnId(turn_of(started.run_id));
    let params = PackParams { scope, from: None, to: None, bodies: PackBodies::Refs, write: false };
    let built = evidence::build(reader, sources, &params, None, key)?;
    Ok((result, built))
}

/// A summary cannot hold what is made of it.
fn without_pack(mut summary: Value) -> Value {
    if let Some(fields) = summary.as_object_mut() {
        for name in ["packId", "digest", "signedBy", "fileRefs", "path", "files"] {
            fields.remove(name);
        }
    }
    summary
}

fn turn_of(run: RunId) -> TurnId {
    TurnId::from_bytes(*run.as_bytes())
}

fn know(reader: &Reader, sources: &Sources, row: TrialRow) -> Result<Known, RpcError> {
    let read = |error: ReadError| unread(&error);
    let id = row.started.agent_id;
    let agent = reader.agent_by_id(&id).map_err(read)?;
    let agent = agent.ok_or_else(|| {
        RpcError::new(ErrorName::NotFound, format!("the agent of the trial is unknown: {id}"))
    })?;
    let secrets = evidence::secrets(reader, sources, std::slice::from_ref(&agent))?;
    let secrets: Vec<String> =
        secrets.into_iter().filter_map(|bytes| String::from_utf8(bytes).ok()).collect();
    let measured = measure(reader, row).map_err(read)?;
    let started = &measured.row.started;
    let place = stretch(reader, &measured.row).map_err(read)?;
    let (mut entries, mut is_cut, mut trace, mut epoch) = (Vec::new(), false, None, None);
    if let Some((player, message, _, before)) = place {
        let of = (&StreamName::Agent(player), message);
        let found = transcript::of_message(reader, of, before, trajectory::ENTRIES_MAX);
        (entries, is_cut) = found.map_err(read)?;
        let row = reader.message(&message).map_err(read)?;
        epoch = row.as_ref().and_then(|row| row.epoch);
        trace = row.and_then(|row| row.envelope.traceparent);
    }
    let program = program_of(reader, &agent).map_err(read)?;
    let steps = trajectory::steps(&entries);
    let mut document = document(&measured, (&agent, &program), &steps, is_cut);
    let is_masked = trajectory::mask(&mut document, &secrets);
    let rewards = reader.trial_rewards(&started.trial_id).map_err(read)?;
    let mut artifacts = Vec::new();
    for edge in reader.task_edges(&started.task_id).map_err(read)? {
        if edge.kind == EdgeKind::Produced {
            artifacts.push(json!({ "kind": "linked", "ref": edge.uri }));
        }
    }
    artifacts.extend(files_of(&entries));
    let mut found = gaps::of_agent(reader, &sources.agents_dir, &agent).map_err(read)?;
    found.retain(|gap| gap.epoch.is_some() && gap.epoch == epoch);
    let gaps = found.iter().filter_map(|gap| serde_json::to_value(gap).ok()).collect();
    let rewards = rewards.iter().filter_map(|row| serde_json::to_value(reward_view(row)).ok()).collect();
    Ok(Known { measured, agent, trace, rewards, artifacts, trajectory: document, is_cut, is_masked, gaps })
}

/// What an agent's program says that it is, and which model it uses, as far as it says it.
fn program_of(reader: &Reader, agent: &AgentRow) -> Result<Value, ReadError> {
    let Some(session) = reader.session(&agent.id)? else { return Ok(Value::Null) };
    let details = match session.details_digest.as_deref().map(str::parse) {
        Some(Ok(digest)) => match reader.body(&digest)? {
            Some(StoredBody::Bytes(bytes)) => serde_json::from_slice::<Value>(&bytes).ok(),
            Some(StoredBody::Erased { .. }) | None => None,
        },
        Some(Err(_)) | None => None,
    };
    Ok(json!({ "program": session.program, "details": details }))
}

/// The files that the node wrote for the agent, with their digests.
fn files_of(entries: &[edgeplane_wire::api::report::TranscriptEntry]) -> Vec<Value> {
    let is_file = |entry: &&edgeplane_wire::api::report::TranscriptEntry| {
        entry.spoken == edgeplane_wire::api::report::Spoken::File
    };
    let shown = |data: &Value| {
        json!({
            "kind": "file", "path": data["path"], "sizeBytes": data["bytes"],
            "ref": format!("sha256:{}", data["digest"].as_str().unwrap_or_default()),
        })
    };
    entries.iter().filter(is_file).filter_map(|entry| entry.data.as_ref().map(shown)).collect()
}

fn document(
    measured: &Measured,
    (agent, program): (&AgentRow, &Value),
    steps: &[Value],
    is_cut: bool,
) -> Value {
    let started = &measured.row.started;
    let text = |path: &str| program.pointer(path).and_then(Value::as_str);
    let model = ["/details/model", "/details/models/currentModelId"].into_iter().find_map(text);
    let mut who = json!({
        "name": agent.name, "version": text("/program").unwrap_or("unknown"),
        "extra": { "agent_id": agent.id, "configuration": started.configuration.id },
    });
    if let (Some(model), Some(fields)) = (model, who.as_object_mut()) {
        fields.insert("model_name".to_owned(), json!(model));
    }
    let count = steps.len();
    let cost = dollars(measured);
    json!({
        "schema_version": trajectory::SCHEMA,
        "session_id": agent.session_id,
        "agent": who,
        "steps": steps,
        "final_metrics": {
            "total_cost_usd": cost, "total_steps": count,
            "extra": { "total_tokens": measured.tokens, "duration_ms": measured.duration_ms },
        },
        "extra": { "trial_id": started.trial_id, "run_id": started.run_id, "is_cut": is_cut },
    })
}

/// The cost in US dollars, if that is what its program says.
#[expect(
    clippy::cast_precision_loss,
    reason = "a cost in millionths is far below what a float holds exactly"
)]
fn dollars(measured: &Measured) -> Option<f64> {
    let (micros, _) = measured.cost.as_ref().filter(|(_, currency)| currency == "USD")?;
    Some(*micros as f64 / 1e6)
}

/// A whole number as such.
#[expect(clippy::cast_possible_truncation, reason = "it is whole and far below what fits")]
fn number(value: f64) -> Value {
    if value.fract().abs() < f64::EPSILON && value.abs() < 1e15 { json!(value as i64) } else { json!(value) }
}

fn summary(sources: &Sources, known: &Known) -> TrialExportResult {
    let row = &known.measured.row;
    let started = &row.started;
    let reward = known.measured.reward();
    let category = reward.and_then(|reward| reward.failure_category.as_ref());
    let session = known.agent.session_id;
    TrialExportResult {
        schema_version: VERSION.to_owned(),
        benchmark: benchmark(row),
        runtime_correlation: json!({
            "runtimeId": sources.node, "sessionId": session, "threadId": thread_of(session),
            "turnId": turn_of(started.run_id), "taskId": started.task_id, "runId": started.run_id,
            "traceId": known.trace.as_deref().and_then(|trace| trace.split('-').nth(1)),
        }),
        refs: refs(row, reward),
        metrics: metrics(known),
        decision_inputs: json!({
            "p0QcGateRegressionCount": reward.and_then(|reward| reward.p0_regressions.as_ref()).map(Vec::len),
            "failureCategory": category,
            "artifactManifestPresent": true,
            "trajectoryAtifCompatible": !known.is_cut,
            "manifestHash": started.manifest_hash,
            "rewardIsEarly": row.reward.as_ref().map(|reward| reward.recorded.is_early),
        }),
        trajectory: shown_trajectory(known),
        reward: shown_reward(known),
        artifacts: known.artifacts.clone(),
        signals: signals(known),
        known_gaps: all_gaps(known),
        pack_id: String::new(),
        digest: String::new(),
        signed_by: edgeplane_types::SafeLabel::sanitized("node"),
        file_refs: Vec::new(),
        path: None,
        files: Vec::new(),
    }
}

fn thread_of(session: SessionId) -> ThreadId {
    ThreadId::from_bytes(*session.as_bytes())
}

/// An object without the members of which nothing is known.
fn told(mut value: Value) -> Value {
    if let Some(fields) = value.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    value
}

fn benchmark(row: &TrialRow) -> Value {
    let started = &row.started;
    told(json!({
        "datasetId": started.dataset.id, "datasetVersion": started.dataset.version,
        "datasetRef": started.dataset.reference, "datasetDigest": started.dataset.digest,
        "taskId": started.dataset.case, "trialId": started.trial_id,
        "configurationId": started.configuration.id, "configurationDigest": started.configuration.digest,
        "role": started.role, "singleChangedVariable": started.configuration.changed_variable,
        "repetition": started.repetition, "verifier": started.verifier,
        "harborJobRef": started.refs.harbor_job, "harborTrialRef": started.refs.harbor_trial,
        "taskTomlRef": started.refs.task_toml, "manifestHash": started.manifest_hash,
    }))
}

fn refs(row: &TrialRow, reward: Option<&RewardRecorded>) -> BTreeMap<String, String> {
    let refs = &row.started.refs;
    let all = [
        ("trajectoryRef", Some(TRAJECTORY)),
        ("artifactManifestRef", Some(SUMMARY)),
        ("rewardRef", row.reward.as_ref().map(|_| REWARD)),
        ("rewardDetailsRef", reward.and_then(|reward| reward.details_ref.as_deref())),
        ("agentQcReportRef", refs.qc_report.as_deref()),
        ("harborTrialResultRef", refs.harbor_trial.as_deref()),
        ("harborVerifierStdoutRef", refs.verifier_output.as_deref()),
    ];
    all.into_iter().filter_map(|(name, text)| Some((name.to_owned(), text?.to_owned()))).collect()
}

fn metrics(known: &Known) -> Value {
    let measured = &known.measured;
    let cost =
        measured.cost.as_ref().map(|(micros, currency)| json!({ "micros": micros, "currency": currency }));
    json!({
        "reward": measured.reward().map(|reward| number(value_of(reward))),
        "durationMs": measured.duration_ms,
        "timeout": measured.is_timeout(),
        "outcome": measured.row.ended.as_ref().map(|(ended, ..)| ended.state),
        "deniedSideEffectCount": measured.denied,
        "evidenceComplete": measured.gaps.is_empty(),
        "tokens": measured.tokens,
        "costUsd": dollars(measured),
        "cost": cost,
        "artifactCount": known.artifacts.len(),
    })
}

fn shown_trajectory(known: &Known) -> Value {
    let has = |path: &str| known.trajectory.pointer(path).is_some();
    let steps = known.trajectory["steps"].as_array().map_or(0, Vec::len);
    let any = |name: &str| {
        known.trajectory["steps"]
            .as_array()
            .is_some_and(|steps| steps.iter().any(|step| step.get(name).is_some()))
    };
    let status = match (steps, known.is_masked) {
        (0, _) => "pending",
        (_, true) => "redacted",
        (_, false) => "exported",
    };
    json!({
        "schema": trajectory::SCHEMA, "ref": TRAJECTORY, "exportStatus": status, "steps": steps,
        "isCut": known.is_cut,
        "requiredFieldStatus": {
            "schema_version": has("/schema_version"), "session_id": has("/session_id"), "agent": has("/agent"),
            "steps[].step_id": any("step_id"), "steps[].tool_calls": any("tool_calls"),
            "steps[].observation": any("observation"), "final_metrics": has("/final_metrics"),
        },
    })
}

/// The reward that was said last, as it was said, and all that were said before it.
fn shown_reward(known: &Known) -> Value {
    let Some(last) = known.measured.row.reward.as_ref().map(|row| &row.recorded) else { return Value::Null };
    told(json!({
        "value": number(value_of(last)), "ref": REWARD, "detailsRef": last.details_ref, "criteria": last.criteria,
        "failureCategory": last.failure_category, "verifier": last.verifier, "isEarly": last.is_early,
        "p0Regressions": last.p0_regressions, "history": known.rewards,
    }))
}

fn signals(known: &Known) -> Vec<SignalView> {
    let refs = &known.measured.row.started.refs;
    let if_there = |there: bool, otherwise: &'static str| if there { "exported" } else { otherwise };
    let over = known.measured.row.ended.is_some();
    let all = [
        ("trajectory", if_there(shown_trajectory(known)["steps"] != 0, "missing_correlation")),
        ("reward", if_there(known.measured.row.reward.is_some(), "missing_correlation")),
        ("duration", if_there(known.measured.duration_ms.is_some(), "missing_correlation")),
        ("tokens", if_there(known.measured.tokens.is_some(), "unsupported")),
        ("cost", if_there(known.measured.cost.is_some(), "unsupported")),
        ("artifacts", if_there(!known.artifacts.is_empty(), "not_applicable")),
        ("trace", if_there(known.trace.is_some(), "missing_correlation")),
        ("end", if_there(over, "missing_correlation")),
        ("qc_report", if_there(refs.qc_report.is_some(), "not_applicable")),
        ("verifier_output", if_there(refs.verifier_output.is_some(), "not_applicable")),
    ];
    all.map(|(name, status)| SignalView { name: name.to_owned(), status: status.to_owned() }).into()
}

fn all_gaps(known: &Known) -> Vec<Value> {
    let own = known.measured.gaps.iter().map(|gap| json!({ "kind": gap, "subject": "trial" }));
    let cut = known.is_cut.then(|| {
        let reason = "the transcript is longer than a trajectory may be; the events are in the pack";
        json!({ "kind": "trajectory_cut", "subject": TRAJECTORY, "reason": reason })
    });
    let masked = known.is_masked.then(|| {
        json!({ "kind": "trajectory_masked", "subject": TRAJECTORY, "reason": "it held the value of a secret" })
    });
    own.chain(cut).chain(masked).chain(known.gaps.iter().cloned()).collect()
}

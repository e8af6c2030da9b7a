//! AC-2, AC-9, AC-18: what is published, exported and measured.

use std::collections::{BTreeMap, BTreeSet};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{of_kind, of_turn, says, says_all};
use crate::{
    rules::{kind, word},
    schemas::Form,
    template::pick,
    world::{Step, Stop, World, must, short},
};

/// What a strict runtime publishes a valid example of, besides a snapshot.
const PUBLISHED: &[&str] = &[
    "turn.submitted",
    "action.required",
    "task.attempt.failed",
    "routing.single_candidate",
    "evidence.changed",
];

/// How a kind of signal may stand in an export.
const SIGNALS: &[&str] = &["exported", "not_applicable", "unsupported", "missing_correlation"];

/// An exported pack.
#[derive(Debug)]
pub(super) struct Pack {
    pub(super) files: BTreeMap<String, Vec<u8>>,
    digests: Vec<Value>,
}

impl Pack {
    /// Has one made.
    pub(super) fn export(world: &mut World, scope: &Value) -> Step<Self> {
        let said = world.ask("export_evidence", scope)?;
        let words = world.mapping.pack.clone();
        let listed = pick(&said.raw, &words.files).as_array().cloned().unwrap_or_default();
        let mut files = BTreeMap::new();
        for file in &listed {
            let path = pick(file, &words.path).as_str().unwrap_or_default().to_owned();
            let data = pick(file, &words.data);
            let bytes = STANDARD.decode(data.as_str().unwrap_or_default());
            let bytes = bytes.map_err(|error| Stop::Failed(format!("`{path}` of the pack: {error}")))?;
            files.insert(path, bytes);
        }
        must(!files.is_empty(), || format!("the exported pack has no files: {}", short(&said.raw)))?;
        let digests = pick(&said.raw, &words.digests).as_array().cloned().unwrap_or_default();
        Ok(Self { files, digests })
    }

    fn manifest(&self, world: &World) -> Value {
        let bytes = self.files.get(&world.mapping.pack.manifest);
        bytes.and_then(|bytes| serde_json::from_slice(bytes).ok()).unwrap_or_default()
    }

    /// What it is joined to.
    pub(super) fn correlation(&self, world: &World) -> Value {
        pick(&self.manifest(world), &world.mapping.pack.correlation)
    }

    /// Whether words stand anywhere in it.
    fn has(&self, words: &str) -> bool {
        let needle = words.as_bytes();
        !needle.is_empty()
            && self.files.values().any(|bytes| bytes.windows(needle.len()).any(|at| at == needle))
    }

    /// Fails unless each file is what its digest says.
    fn verify(&self) -> Step<()> {
        must(!self.digests.is_empty(), || "the pack names no digests".to_owned())?;
        for listed in &self.digests {
            let path = word(listed, "path");
            let Some(bytes) = self.files.get(path) else {
                return must(false, || format!("`{path}` is listed and not in the pack"));
            };
            let found: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
            must(word(listed, "digest") == found, || format!("`{path}` is not what its digest says"))?;
        }
        Ok(())
    }
}

pub(super) fn fixtures(world: &mut World) -> Step<()> {
    let worker = world.part("worker")?;
    let turn = world.submit(&worker, "gated")?.text("turnId")?;
    let required = world.of_turn(&worker, "action.required", &turn)?;
    world.decide(&required, "approve")?;
    world.end_of(&worker, &turn)?;
    let word_of_it = world.fresh();
    let objective = world.prompt("flaky", &word_of_it)?;
    let given = json!({
        "title": format!("fails {word_of_it}"), "objective": objective, "agent": worker.agent, "start": true,
    });
    let task = world.ask("create_task", &given)?.text("taskId")?;
    world.event(&worker, "`task.attempt.failed`", |event| {
        kind(event) == "task.attempt.failed" && word(event, "taskId") == task
    })?;
    world.event(&worker, "`evidence.changed`", |event| kind(event) == "evidence.changed")?;
    for wanted in PUBLISHED {
        let found = world.until(&format!("`{wanted}` in the strict form"), |world| {
            Ok(of_kind(world.heard_strict(&worker), wanted).last().cloned())
        })?;
        let wrong = world.watch.problems(Form::Strict, &found);
        must(wrong.is_empty(), || format!("`{wanted}` is not valid: {wrong:?}"))?;
        says_all(&found, &format!("`{wanted}`"), &["runtimeId", "sessionId", "sequence"])?;
        world.publish(wanted, &found)?;
    }
    let (snapshot, _) = world.snapshot(&worker, Form::Strict)?;
    let wrong = world.watch.problems_of_snapshot(Form::Strict, &snapshot);
    must(wrong.is_empty(), || format!("the snapshot is not valid: {wrong:?}"))?;
    world.publish("snapshot", &snapshot)
}

pub(super) fn export(world: &mut World) -> Step<()> {
    let worker = world.part("worker")?;
    let made = world.turn(&worker, "artifact")?;
    let artifact = world.of_turn(&worker, "artifact.changed", &made)?;
    let failing = world.submit(&worker, "gated")?.text("turnId")?;
    let required = world.of_turn(&worker, "action.required", &failing)?;
    world.decide(&required, "deny")?;
    world.end_of(&worker, &failing)?;
    let failure = world.of_turn(&worker, "tool.failed", &failing)?;

    let first = Pack::export(world, &json!({ "turnId": made }))?;
    let second = Pack::export(world, &json!({ "turnId": failing }))?;
    for (pack, turn) in [(&first, &made), (&second, &failing)] {
        pack.verify()?;
        let manifest = pack.manifest(world);
        must(says(&manifest), || format!("no `{}` in the pack", world.mapping.pack.manifest))?;
        let joined = pack.correlation(world).to_string();
        for id in [turn, &worker.session, &worker.thread] {
            must(joined.contains(id.as_str()), || format!("the pack is not joined to {id}: {joined}"))?;
        }
        let signals = pick(&manifest, &world.mapping.pack.signals).as_array().cloned().unwrap_or_default();
        for name in &world.mapping.pack.names {
            let signal = signals.iter().find(|signal| word(signal, "name") == name);
            let status = signal.map(|signal| word(signal, "status")).unwrap_or_default();
            must(SIGNALS.contains(&status), || format!("the status of `{name}` is `{status}`"))?;
        }
        must(pick(&manifest, &world.mapping.pack.gaps).is_array(), || {
            "the pack does not say what is known to be missing".to_owned()
        })?;
        must(pack.has(turn.split('_').next_back().unwrap_or(turn)), || {
            format!("the timeline does not hold turn {turn}")
        })?;
    }
    let digest = pick(&artifact, "/payload/ref");
    let digest = digest.as_str().and_then(|named| named.rsplit(':').next()).unwrap_or_default().to_owned();
    must(first.has(&digest), || format!("the reference to the artifact is not in it: {}", short(&artifact)))?;
    let call = word(&failure, "toolCallId").to_owned();
    must(second.has(&call), || format!("the failure of tool call {call} is not in it"))?;
    let replay = world.ask("export_replay", &json!({ "turnId": made }))?;
    says_all(&replay.raw, "the case for a replay", &["input", "expected"])?;
    let events = of_turn(world.heard(&worker), &made);
    must(!events.is_empty(), || "the turn has no events".to_owned())
}

/// What every event of a trial itself says.
const OF_TRIAL: [&str; 4] = ["benchmark", "taskId", "runId", "refs"];

pub(super) fn benchmark(world: &mut World) -> Step<()> {
    let worker = world.part("worker")?;
    let word_of_it = world.fresh();
    let objective = world.prompt("short", &word_of_it)?;
    let given = json!({
        "agent": worker.agent, "sessionId": worker.session, "key": word_of_it, "dataset": "conformance",
        "datasetVersion": "1", "case": "short", "configuration": "baseline", "role": "baseline",
        "objective": objective,
    });
    let trial = world.ask("start_benchmark_trial", &given)?.text("trialId")?;
    let again = world.ask("start_benchmark_trial", &given)?.text("trialId")?;
    must(again == trial, || format!("the same request under the same key is another trial: {again}"))?;
    let told = |wanted: &'static str, trial: String| {
        move |event: &Value| kind(event) == wanted && event.to_string().contains(&trial)
    };
    let started =
        world.event(&worker, "`benchmark.trial.started`", told("benchmark.trial.started", trial.clone()))?;
    says_all(&started, "`benchmark.trial.started`", &OF_TRIAL)?;
    says_all(&started, "`benchmark.trial.started`", &["threadId", "turnId"])?;
    let kinds: BTreeSet<_> = world.heard(&worker).iter().map(kind).collect();
    let facts = ["benchmark.dataset.resolved", "benchmark.configuration.resolved"];
    let missing = facts.iter().find(|fact| !kinds.contains(*fact));
    must(missing.is_none(), || format!("no event says {missing:?}"))?;
    let ended = "benchmark.trial.completed";
    let completed = world.event(&worker, "`benchmark.trial.completed`", told(ended, trial.clone()))?;
    says_all(&completed, "`benchmark.trial.completed`", &OF_TRIAL)?;
    world.ask("record_benchmark_reward", &json!({ "trialId": trial, "reward": 1 }))?;
    let recorded = "benchmark.reward.recorded";
    let recorded = world.event(&worker, "`benchmark.reward.recorded`", told(recorded, trial.clone()))?;
    says_all(&recorded, "`benchmark.reward.recorded`", &OF_TRIAL)?;
    must(pick(&recorded, "/reward/value").as_f64() == Some(1.0), || {
        format!("the reward is not as it was recorded: {}", short(&recorded))
    })?;
    let pack = world.ask("export_benchmark_trial", &json!({ "trialId": trial }))?;
    let members = ["runtimeCorrelation", "trajectory", "reward"];
    says_all(pack.get("pack"), "the exported trial", &members)?;
    let joined = pick(pack.get("pack"), "/runtimeCorrelation").to_string();
    for id in ["taskId", "runId"].map(|name| word(&started, name)) {
        must(joined.contains(id), || format!("the exported trial is not joined to {id}: {joined}"))?;
    }
    let compared = world.ask("compare_benchmark_runs", &json!({ "baseline": trial, "candidate": trial }))?;
    let members = ["baseline", "candidate", "aggregateDeltas", "evidenceCompleteness", "p0Regressions"];
    says_all(compared.get("comparison"), "the comparison", &members)?;
    let compared = "benchmark.comparison.completed";
    let compared = world.event(&worker, "`benchmark.comparison.completed`", told(compared, trial))?;
    says_all(&compared, "`benchmark.comparison.completed`", &["benchmark", "comparison", "refs"])
}

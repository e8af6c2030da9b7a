//! Benchmark trials in the standard's words.

use edgeplane_types::{
    Fact, RunState, TaskId, TrialId,
    benchmark::{TrialConfiguration, TrialDataset, TrialRefs, TrialRole},
    fact::{RewardRecorded, TrialEnded, TrialStarted, TrialsCompared},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{export::Telling, names, work::because_of};
use crate::{fold::Step, json::Object};

/// Trials of which it is known what they are of; of an older one its ids are told.
const TRIALS_MAX: usize = 1_000;

/// The form of trajectories that trials are exported in.
const TRAJECTORY: &str = "ATIF-v1.4";

/// What a trial is of, as everything that is told of it says it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Trial {
    dataset: TrialDataset,
    configuration: TrialConfiguration,
    role: TrialRole,
    repetition: Option<u32>,
    refs: TrialRefs,
    manifest: String,
}

impl Trial {
    fn of(started: &TrialStarted) -> Self {
        Self {
            dataset: started.dataset.clone(),
            configuration: started.configuration.clone(),
            role: started.role,
            repetition: started.repetition,
            refs: started.refs.clone(),
            manifest: started.manifest_hash.clone(),
        }
    }

    fn dataset(&self) -> Object {
        Object::new()
            .put("datasetId", &self.dataset.id)
            .put("datasetVersion", &self.dataset.version)
            .maybe("datasetRef", self.dataset.reference.as_ref())
            .maybe("datasetDigest", self.dataset.digest.as_ref())
    }

    fn configuration(&self) -> Object {
        Object::new()
            .put("configurationId", &self.configuration.id)
            .maybe("configurationDigest", self.configuration.digest.as_ref())
            .maybe("singleChangedVariable", self.configuration.changed_variable.as_ref())
    }

    fn whole(&self, id: TrialId) -> Object {
        self.dataset()
            .put("taskId", &self.dataset.case)
            .put("trialId", &id)
            .put("configurationId", &self.configuration.id)
            .maybe("singleChangedVariable", self.configuration.changed_variable.as_ref())
            .put("role", &self.role)
            .maybe("repetition", self.repetition)
            .maybe("harborJobRef", self.refs.harbor_job.as_ref())
            .maybe("harborTrialRef", self.refs.harbor_trial.as_ref())
            .maybe("taskTomlRef", self.refs.task_toml.as_ref())
            .put("manifestHash", &self.manifest)
    }
}

impl Telling<'_> {
    /// What is told of an event of a trial.
    pub(super) fn benchmark(&mut self, step: &mut Step<'_>, id: TaskId) {
        match step.fact() {
            Fact::TrialStarted(started) => self.trial_started(step, started),
            Fact::TrialEnded(ended) => self.trial_ended(step, ended),
            Fact::RewardRecorded(reward) => self.rewarded(step, reward),
            Fact::TrialsCompared(compared) => self.compared(step, (id, compared)),
            _ => {}
        }
    }

    fn trial_of(&self, id: TrialId) -> Object {
        let known = self.export.trials.get(&id);
        known.map_or_else(|| Object::new().put("trialId", &id), |trial| trial.whole(id))
    }

    /// What belongs to a trial elsewhere, and by what it is found here.
    fn refs_of(&self, id: TrialId) -> Object {
        let refs = Object::new().put("trialRef", &format!("edgeplane:trial/{id}"));
        let Some(known) = self.export.trials.get(&id) else { return refs };
        refs.maybe("harborJobRef", known.refs.harbor_job.as_ref())
            .maybe("harborTrialRef", known.refs.harbor_trial.as_ref())
            .maybe("taskTomlRef", known.refs.task_toml.as_ref())
            .maybe("agentQcReportRef", known.refs.qc_report.as_ref())
            .maybe("harborVerifierStdoutRef", known.refs.verifier_output.as_ref())
    }

    fn trial_started(&mut self, step: &mut Step<'_>, started: &TrialStarted) {
        let because = step.fact().type_name();
        let (id, trial) = (started.trial_id, Trial::of(started));
        if started.resolves_dataset {
            let draft = self.of_session(step, names::BENCHMARK_DATASET_RESOLVED);
            draft.object("benchmark", trial.dataset()).say(step, because_of(because));
        }
        if started.resolves_configuration {
            let draft = self.of_session(step, names::BENCHMARK_CONFIGURATION_RESOLVED);
            draft.object("benchmark", trial.configuration()).say(step, because_of(because));
        }
        self.export.trials.insert(id, trial);
        if self.export.trials.len() > TRIALS_MAX {
            self.export.trials.pop_first();
        }
        let draft = self.of_run(step, names::BENCHMARK_TRIAL_STARTED, (started.task_id, started.run_id));
        let payload = because_of(because)
            .put("agentId", &started.agent_id)
            .maybe("verifier", started.verifier.as_ref());
        draft
            .thread(self.main())
            .object("benchmark", self.trial_of(id))
            .object("refs", self.refs_of(id))
            .say(step, payload);
    }

    fn trial_ended(&self, step: &mut Step<'_>, ended: &TrialEnded) {
        let kind = match ended.state {
            RunState::Completed => names::BENCHMARK_TRIAL_COMPLETED,
            _ => names::BENCHMARK_TRIAL_FAILED,
        };
        let trajectory = Object::new().put("schema", TRAJECTORY).put("exportStatus", "pending");
        let payload = because_of(step.fact().type_name())
            .put("state", &ended.state)
            .put("reason", &ended.reason)
            .maybe("limit", ended.limit)
            .maybe("outputId", ended.output_id);
        self.of_run(step, kind, (ended.task_id, ended.run_id))
            .object("benchmark", self.trial_of(ended.trial_id))
            .object("refs", self.refs_of(ended.trial_id))
            .object("trajectory", trajectory)
            .say(step, payload);
    }

    fn rewarded(&self, step: &mut Step<'_>, recorded: &RewardRecorded) {
        let reward = Object::new()
            .put("value", &number(&recorded.value))
            .maybe("detailsRef", recorded.details_ref.as_ref())
            .put("criteria", &recorded.criteria)
            .maybe("failureCategory", recorded.failure_category.as_ref());
        let payload = because_of(step.fact().type_name())
            .put("number", &recorded.number)
            .put("isEarly", &recorded.is_early)
            .maybe("verifier", recorded.verifier.as_ref())
            .maybe("p0Regressions", recorded.p0_regressions.as_ref());
        let id = recorded.trial_id;
        let draft = self.of_run(step, names::BENCHMARK_REWARD_RECORDED, (recorded.task_id, recorded.run_id));
        draft
            .object("benchmark", self.trial_of(id))
            .object("refs", self.refs_of(id).maybe("rewardDetailsRef", recorded.details_ref.as_ref()))
            .object("reward", reward)
            .say(step, payload);
    }

    fn compared(&self, step: &mut Step<'_>, (id, compared): (TaskId, &TrialsCompared)) {
        let comparison = Object::new()
            .maybe("meanRewardDelta", compared.mean_reward_delta.as_deref().map(number))
            .put("timeoutRateDelta", &number(&compared.timeout_rate_delta))
            .put("evidenceCompletenessRate", &number(&compared.evidence_completeness))
            .put("p0QcGateRegressionCount", &compared.p0_regressions)
            .put("decision", if compared.is_eligible { "eligible" } else { "not_eligible" });
        let payload = because_of(step.fact().type_name())
            .put("baselineTrials", &compared.baseline_trials)
            .put("candidateTrials", &compared.candidate_trials)
            .maybe("changedVariable", compared.changed_variable.as_ref());
        self.of_task(step, names::BENCHMARK_COMPARISON_COMPLETED, id)
            .object("benchmark", self.trial_of(compared.trial_id))
            .object("comparison", comparison)
            .body("comparison", &compared.comparison_digest, compared.comparison_bytes)
            .say(step, payload);
    }
}

/// A decimal number as a number; as it stands, if it is none.
fn number(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}

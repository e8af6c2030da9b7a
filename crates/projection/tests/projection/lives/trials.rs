//! Trials: the first runs of some tasks are measured. What happens to them follows from their runs, and throws no dice of
//! the lives', so that these are the same with trials and without.

use edgeplane_types::{
    AgentId, Fact, RunId, RunState, TrialConfiguration, TrialDataset, TrialId, TrialRefs, TrialRole,
    TrialVerifier,
    fact::{Actor, RewardRecorded, RunEnded, TrialEnded, TrialStarted, TrialsCompared},
};

use super::{Chance, World, label};

fn verifier() -> TrialVerifier {
    TrialVerifier { id: label("checks"), version: label("3") }
}

impl World {
    /// Adds a fact with dice of its own.
    fn aside(&mut self, which: usize, fact: Fact) {
        let own = Chance(self.pos ^ 0x5eed);
        let kept = std::mem::replace(&mut self.chance, own);
        self.add_of_task(which, Actor::Node { rule: label("tasks") }, fact);
        self.chance = kept;
    }

    /// The first run of every other graph is a trial.
    pub(super) fn try_out(&mut self, which: usize, (run_id, agent_id): (RunId, AgentId)) {
        let Some(task_id) = self.of_trial(which) else { return };
        let number = self.pos;
        let configuration = TrialConfiguration {
            id: label(if number.is_multiple_of(2) { "plain" } else { "changed" }),
            digest: None,
            changed_variable: (!number.is_multiple_of(2)).then(|| "the model".to_owned()),
        };
        let refs = TrialRefs {
            harbor_job: Some("jobs/one".to_owned()),
            qc_report: number.is_multiple_of(3).then(|| "qc/one.json".to_owned()),
            ..TrialRefs::default()
        };
        let started = TrialStarted {
            trial_id: TrialId::from_bytes(*task_id.as_bytes()),
            task_id,
            run_id,
            agent_id,
            dataset: TrialDataset {
                id: label("riddles"),
                version: label("1"),
                case: label(&format!("case-{which}")),
                reference: Some("datasets/riddles".to_owned()),
                digest: None,
            },
            configuration,
            role: TrialRole::ALL[which % TrialRole::ALL.len()],
            verifier: number.is_multiple_of(2).then(verifier),
            repetition: Some(1),
            refs,
            manifest_hash: format!("blake3:{}", "ab".repeat(32)),
            resolves_dataset: number.is_multiple_of(2),
            resolves_configuration: number.is_multiple_of(3),
            key: None,
            request_hash: format!("blake3:{}", "cd".repeat(32)),
        };
        self.aside(which, Fact::TrialStarted(Box::new(started)));
    }

    /// The trial ends with its run, is rewarded twice, and is compared with itself.
    pub(super) fn settle_trial(&mut self, which: usize, ended: &RunEnded) {
        let Some(task_id) = self.of_trial(which) else { return };
        let (trial_id, run_id) = (TrialId::from_bytes(*task_id.as_bytes()), ended.run_id);
        let RunEnded { state, limit, output_id, reason, .. } = ended.clone();
        let over = TrialEnded { trial_id, task_id, run_id, state, reason, limit, output_id };
        self.aside(which, Fact::TrialEnded(over));
        let is_done = state == RunState::Completed;
        for (number, value) in [(1, "0.25"), (2, if is_done { "1.0" } else { "-3" })] {
            let recorded = RewardRecorded {
                trial_id,
                task_id,
                run_id,
                number,
                value: value.to_owned(),
                criteria: vec!["it is there".to_owned()],
                details_ref: Some("rewards/one.json".to_owned()),
                failure_category: (!is_done).then(|| label("timeout")),
                verifier: Some(verifier()),
                p0_regressions: (number == 2).then(|| vec![label("login")]),
                is_early: number == 1,
            };
            self.aside(which, Fact::RewardRecorded(Box::new(recorded)));
        }
        let compared = TrialsCompared {
            trial_id,
            task_id,
            baseline_trials: 1,
            candidate_trials: 1,
            changed_variable: None,
            mean_reward_delta: is_done.then(|| "0.0".to_owned()),
            timeout_rate_delta: "-0.5".to_owned(),
            evidence_completeness: "1.0".to_owned(),
            p0_regressions: 1,
            is_eligible: false,
            comparison_digest: "0f".repeat(32),
            comparison_bytes: 70,
        };
        self.aside(which, Fact::TrialsCompared(Box::new(compared)));
    }
}

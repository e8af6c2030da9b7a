//! Facts of benchmark trials. They stand in the stream of the task that a trial is.
//!
//! Numbers that are not whole stand as text, as in all of the record: so nobody who reads them rounds them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    AgentId, OutputId, RunId, SafeLabel, TaskId, TrialId,
    benchmark::{TrialConfiguration, TrialDataset, TrialRefs, TrialRole, TrialVerifier},
    work::{RunLimit, RunState},
};

/// A trial begins: its task and its one run are made with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrialStarted {
    /// Its id; its task and its run have the same UUID.
    pub trial_id: TrialId,
    /// The task that it is.
    pub task_id: TaskId,
    /// The one run of it.
    pub run_id: RunId,
    /// Who is tried.
    pub agent_id: AgentId,
    /// Which problem is given.
    pub dataset: TrialDataset,
    /// What was set how.
    pub configuration: TrialConfiguration,
    /// What it is for.
    pub role: TrialRole,
    /// Who will say what it is worth, if that is fixed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verifier: Option<TrialVerifier>,
    /// The how manieth of its kind it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repetition: Option<u32>,
    /// What belongs to it elsewhere.
    #[serde(default)]
    pub refs: TrialRefs,
    /// BLAKE3 of all that must be alike in trials that are compared.
    pub manifest_hash: String,
    /// Whether this agent is given something of this dataset for the first time.
    pub resolves_dataset: bool,
    /// Whether this agent is tried with this configuration for the first time.
    pub resolves_configuration: bool,
    /// The key that whoever asked for it chose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<SafeLabel>,
    /// BLAKE3 of what was asked for.
    pub request_hash: String,
}

/// A trial has ended: recorded together with the end of its run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrialEnded {
    /// Which.
    pub trial_id: TrialId,
    /// The task that it is.
    pub task_id: TaskId,
    /// Its run.
    pub run_id: RunId,
    /// How its run ended.
    pub state: RunState,
    /// Why, for people.
    pub reason: String,
    /// The limit that it passed, if that is why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<RunLimit>,
    /// What came of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_id: Option<OutputId>,
}

/// Somebody says what a trial is worth. It is recorded as it is said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RewardRecorded {
    /// Which.
    pub trial_id: TrialId,
    /// The task that it is.
    pub task_id: TaskId,
    /// Its run.
    pub run_id: RunId,
    /// The how manieth reward of the trial it is, from 1. The last one counts.
    pub number: u32,
    /// A decimal number.
    pub value: String,
    /// What was looked at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub criteria: Vec<String>,
    /// Where more is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details_ref: Option<String>,
    /// What kind of failure it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure_category: Option<SafeLabel>,
    /// Who says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verifier: Option<TrialVerifier>,
    /// What worked before and must not fail, and failed; nothing if nobody looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p0_regressions: Option<Vec<SafeLabel>>,
    /// Whether it was said before the trial had ended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_early: bool,
}

/// Trials were compared. What came of it in full is a body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrialsCompared {
    /// The first trial of the candidate: the comparison is told where that one is.
    pub trial_id: TrialId,
    /// The task that it is.
    pub task_id: TaskId,
    /// How many trials the baseline has.
    pub baseline_trials: u32,
    /// How many trials the candidate has.
    pub candidate_trials: u32,
    /// The one thing that is other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_variable: Option<String>,
    /// By how much the mean reward is greater, as a decimal number; nothing where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_reward_delta: Option<String>,
    /// By how much the share of trials that took too long is greater.
    pub timeout_rate_delta: String,
    /// The share of the candidate's trials of which all is there.
    pub evidence_completeness: String,
    /// What worked before and must not fail, and failed: how many of the candidate's.
    pub p0_regressions: u32,
    /// Whether the candidate may take the baseline's place.
    pub is_eligible: bool,
    /// SHA-256 of the comparison.
    pub comparison_digest: String,
    /// Its size.
    pub comparison_bytes: u64,
}

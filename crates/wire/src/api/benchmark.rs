//! Benchmark trials: tasks that are given to measure who does them. The node records what a verifier says of them, and
//! judges nothing itself.
//!
//! What is exported and compared has the member names of Agent Runtime.

use std::collections::BTreeMap;

use edgeplane_types::{
    AgentId, RunId, SafeLabel, TaskId, TaskState, Timestamp, TrialConfiguration, TrialDataset, TrialId,
    TrialRefs, TrialRole, TrialVerifier,
    work::{RunLimit, RunLimits, RunState},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::evidence::{PackFile, PackRef, SignalView};

/// Most trials on either side of a comparison.
pub const TRIALS_MAX: usize = 1_000;

/// Longest reference, digest, name of a variable, in bytes.
pub const REFERENCE_BYTES_MAX: usize = 512;

/// Most criteria of a reward.
pub const CRITERIA_MAX: usize = 32;

/// Longest criterion in bytes.
pub const CRITERION_BYTES_MAX: usize = 128;

/// Most regressions that a reward names.
pub const REGRESSIONS_MAX: usize = 100;

/// Greatest reward, and with a minus the smallest.
pub const REWARD_MAX: f64 = 1e9;

/// Most rewards of one trial.
pub const REWARDS_MAX: u32 = 100;

fn candidate() -> TrialRole {
    TrialRole::Candidate
}

fn one() -> f64 {
    1.0
}

/// Gives an agent a task to measure it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrialStartParams {
    /// Who is tried: name or id.
    pub agent: String,
    /// What it is told, word for word: 1 byte to 256 KiB.
    pub content: String,
    /// A key of the caller's choice: under the same key the same request is the same trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<SafeLabel>,
    /// Which problem it is.
    pub dataset: TrialDataset,
    /// What is set how.
    pub configuration: TrialConfiguration,
    /// What it is for.
    #[serde(default = "candidate")]
    pub role: TrialRole,
    /// Who will say what it is worth. Then nobody else's word is recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verifier: Option<TrialVerifier>,
    /// The how manieth of its kind it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repetition: Option<u32>,
    /// What it may use.
    #[serde(default, skip_serializing_if = "RunLimits::is_none")]
    pub limits: RunLimits,
    /// What belongs to it elsewhere.
    #[serde(default)]
    pub refs: TrialRefs,
}

/// A trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrialView {
    /// Its id.
    pub trial_id: TrialId,
    /// The task that it is.
    pub task_id: TaskId,
    /// The one run of it.
    pub run_id: RunId,
    /// Who is tried.
    pub agent: String,
    /// Who is tried.
    pub agent_id: AgentId,
    /// Which problem it is.
    pub dataset: TrialDataset,
    /// What is set how.
    pub configuration: TrialConfiguration,
    /// What it is for.
    pub role: TrialRole,
    /// Who says what it is worth, if that is fixed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verifier: Option<TrialVerifier>,
    /// The how manieth of its kind it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repetition: Option<u32>,
    /// BLAKE3 of all that must be alike in trials that are compared.
    pub manifest_hash: String,
    /// Where its task is.
    pub state: TaskState,
    /// How its run ended, if it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<RunState>,
    /// The limit that it passed, if that is why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<RunLimit>,
    /// When it was given.
    pub started_at: Timestamp,
    /// When it ended, if it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// The reward that counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reward: Option<RewardView>,
}

/// Records what somebody says that a trial is worth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RewardRecordParams {
    /// Which trial.
    pub trial_id: TrialId,
    /// A number from -1,000,000,000 to 1,000,000,000.
    pub reward: f64,
    /// What was looked at: at most 32, each 1 to 128 bytes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub criteria: Vec<String>,
    /// Where more is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details_ref: Option<String>,
    /// What kind of failure it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure_category: Option<SafeLabel>,
    /// Who says so. It must be the trial's, if that is fixed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verifier: Option<TrialVerifier>,
    /// What worked before and must not fail, and failed: at most 100. An empty list says that nothing did, none at all
    /// that nobody looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p0_regressions: Option<Vec<SafeLabel>>,
    /// The number of the reward that counts so far, if this one is to count instead. Both stay in the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<u32>,
}

/// A reward, as it was said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RewardView {
    /// Which trial.
    pub trial_id: TrialId,
    /// The how manieth of the trial it is, from 1. The last one counts.
    pub number: u32,
    /// The number.
    pub reward: f64,
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
    /// Whether it was said before the trial had ended. Such a reward is kept, and no comparison rests on it.
    pub is_early: bool,
    /// Who recorded it.
    pub by: SafeLabel,
    /// When.
    pub at: Timestamp,
}

/// Has a trial written out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrialExportParams {
    /// Which.
    pub trial_id: TrialId,
    /// Whether its pack is written on the node also if it is small.
    #[serde(default)]
    pub write: bool,
}

/// A trial, written out: a summary, and a pack of evidence that it can be checked by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TrialExportResult {
    /// The standard's form.
    pub schema_version: String,
    /// What was measured.
    pub benchmark: Value,
    /// To what of the runtime it belongs.
    pub runtime_correlation: Value,
    /// Where its parts are: in the pack, and elsewhere.
    pub refs: BTreeMap<String, String>,
    /// What was measured about it. What is not known is `null`, never 0.
    pub metrics: Value,
    /// What whoever decides about it may want to know.
    pub decision_inputs: Value,
    /// What the agent was told, said and did, in the Agent Trajectory Interchange Format.
    pub trajectory: Value,
    /// What it is worth, with all that was said before; `null` if nobody said it.
    pub reward: Value,
    /// What it made: names and digests.
    pub artifacts: Vec<Value>,
    /// What of each kind of signal is in it.
    pub signals: Vec<SignalView>,
    /// What is missing, and why.
    pub known_gaps: Vec<Value>,
    /// The pack's id.
    pub pack_id: String,
    /// SHA-256 of the pack's manifest, which names all else.
    pub digest: String,
    /// The key that signed it.
    pub signed_by: SafeLabel,
    /// Its files, with the manifest and the signature.
    pub file_refs: Vec<PackRef>,
    /// The folder on the node's machine in which it was written; nothing if it comes with this answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Its files, if it is small.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<PackFile>,
}

/// All trials of a configuration with a version of a dataset.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrialsOf {
    /// The configuration's name.
    pub configuration: SafeLabel,
    /// The dataset's name.
    pub dataset: SafeLabel,
    /// Its version.
    pub version: SafeLabel,
}

/// Which trials.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "trials are named by an id such as `tri_…`, by a list of ids, or by `configuration`, `dataset` and `version`"
)]
pub enum Trials {
    /// One.
    One(TrialId),
    /// 1 to 1,000.
    Several(Vec<TrialId>),
    /// Those of a configuration; at most 1,000.
    Of(TrialsOf),
}

/// Compares trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunCompareParams {
    /// How it was.
    pub baseline: Trials,
    /// How it is.
    pub candidate: Trials,
    /// The one thing that is other, if the candidate's configuration does not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_variable: Option<String>,
    /// The reward from which on a trial counts as a success.
    #[serde(default = "one")]
    pub success_at: f64,
}

/// A share with the interval in which it lies by 95 %, after Wilson.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Share {
    /// The share.
    pub rate: f64,
    /// Where the interval begins.
    pub low: f64,
    /// Where it ends.
    pub high: f64,
}

/// What was used by those trials that it is known of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Used {
    /// All of it together.
    pub total: u64,
    /// Trials that it is known of.
    pub trials: u64,
}

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SideView {
    /// Its configuration.
    pub configuration: TrialConfiguration,
    /// Trials.
    pub trials: u64,
    /// Those that have ended.
    pub ended: u64,
    /// Those whose run was completed.
    pub completed: u64,
    /// Those whose reward reaches what counts as a success.
    pub successes: u64,
    /// The share of successes; `null` unless every trial has a reward.
    pub success_rate: Option<Share>,
    /// The mean reward; `null` unless every trial has one.
    pub mean_reward: Option<f64>,
    /// Those of which nobody said what they are worth since they ended.
    pub unrewarded: Vec<TrialId>,
    /// Those that took longer than they may.
    pub timeouts: u64,
    /// The time that half of those that ended took at most, in milliseconds.
    pub latency_p50_ms: Option<u64>,
    /// The time that 95 % of those that ended took at most, in milliseconds.
    pub latency_p95_ms: Option<u64>,
    /// Tokens, as far as programs say them.
    pub tokens: Option<Used>,
    /// Cost in millionths, by currency, as far as programs say it.
    pub cost_micros: BTreeMap<String, Used>,
    /// The share of trials of which all is there: ended, rewarded, without a gap.
    pub evidence_completeness: f64,
    /// Trials with gaps, and which.
    pub evidence_gaps: BTreeMap<String, Vec<String>>,
}

/// By how much the candidate has more. What is not known of either side is `null`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeltasView {
    /// The mean reward.
    pub mean_reward: Option<f64>,
    /// The share of successes.
    pub success_rate: Option<f64>,
    /// The share of trials that took too long.
    pub timeout_rate: f64,
    /// The time that half of the trials took at most, in milliseconds.
    pub latency_p50_ms: Option<i64>,
    /// The time that 95 % of the trials took at most, in milliseconds.
    pub latency_p95_ms: Option<i64>,
    /// Tokens of a trial, where they are known of each.
    pub tokens_per_trial: Option<f64>,
    /// The share of trials of which all is there.
    pub evidence_completeness: f64,
}

/// The share of trials of which all is there.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompletenessView {
    /// Of the baseline.
    pub baseline: f64,
    /// Of the candidate.
    pub candidate: f64,
}

/// What worked before and must not fail, and failed with the candidate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RegressionsView {
    /// How many.
    pub count: u32,
    /// Which, each once.
    pub names: Vec<SafeLabel>,
    /// Trials of the candidate of which nobody said whether there are any.
    pub unknown: u64,
}

/// Whether the candidate may take the baseline's place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PromotionView {
    /// Whether it may.
    pub eligible: bool,
    /// What speaks against it.
    pub reasons: Vec<String>,
}

/// A comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComparisonView {
    /// How it was.
    pub baseline: SideView,
    /// How it is.
    pub candidate: SideView,
    /// The one thing that is other.
    pub changed_variable: Option<String>,
    /// The reward from which on a trial counts as a success.
    pub success_at: f64,
    /// The manifests that both sides have.
    pub manifest_hashes: Vec<String>,
    /// By how much the candidate has more.
    pub aggregate_deltas: DeltasView,
    /// The share of trials of which all is there.
    pub evidence_completeness: CompletenessView,
    /// What worked before and must not fail, and failed.
    pub p0_regressions: RegressionsView,
    /// Whether the candidate may take the baseline's place.
    pub promotion: PromotionView,
}

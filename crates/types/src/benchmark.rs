//! The words of benchmark trials: what is measured, with what, and by whom it is judged.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{SafeLabel, words::words};

words! {
    /// What a trial is for.
    TrialRole {
        /// How it was before the change.
        Baseline => "baseline",
        /// How it is with the change.
        Candidate => "candidate",
        /// Beside both, to see what changes by itself.
        Control => "control",
    }
}

/// Which problems are given, and which of them this one is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrialDataset {
    /// Its name.
    pub id: SafeLabel,
    /// Its version; two versions are two datasets.
    pub version: SafeLabel,
    /// Which of its problems.
    pub case: SafeLabel,
    /// Where it is to be had.
    #[serde(default, rename = "ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// What its bytes are known by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

/// Between the parts of an identity: in none of them.
const PARTED: char = '\u{1f}';

impl TrialDataset {
    /// What makes it this dataset, whichever problem is given.
    #[must_use]
    pub fn identity(&self) -> String {
        let Self { id, version, case: _, reference, digest } = self;
        let (reference, digest) = (reference.as_deref().unwrap_or(""), digest.as_deref().unwrap_or(""));
        format!("{id}{PARTED}{version}{PARTED}{reference}{PARTED}{digest}")
    }
}

/// What was set how when the problem was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrialConfiguration {
    /// Its name.
    pub id: SafeLabel,
    /// What it is known by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The one thing that is other than in the baseline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_variable: Option<String>,
}

impl TrialConfiguration {
    /// What makes it this configuration.
    #[must_use]
    pub fn identity(&self) -> String {
        let Self { id, digest, changed_variable } = self;
        let (digest, changed) = (digest.as_deref().unwrap_or(""), changed_variable.as_deref().unwrap_or(""));
        format!("{id}{PARTED}{digest}{PARTED}{changed}")
    }
}

/// Who says what a trial is worth.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrialVerifier {
    /// Its name.
    pub id: SafeLabel,
    /// Its version; two versions are two verifiers.
    pub version: SafeLabel,
}

/// What belongs to a trial elsewhere. Nothing of it is read by the node.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrialRefs {
    /// The job of Harbor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harbor_job: Option<String>,
    /// The trial of Harbor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harbor_trial: Option<String>,
    /// The file that says what the problem is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_toml: Option<String>,
    /// What a check of the agent's quality found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub qc_report: Option<String>,
    /// What the verifier printed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verifier_output: Option<String>,
}

impl TrialRefs {
    /// Each with the name of its field.
    #[must_use]
    pub fn all(&self) -> [(&'static str, Option<&str>); 5] {
        let Self { harbor_job, harbor_trial, task_toml, qc_report, verifier_output } = self;
        [
            ("harbor_job", harbor_job.as_deref()),
            ("harbor_trial", harbor_trial.as_deref()),
            ("task_toml", task_toml.as_deref()),
            ("qc_report", qc_report.as_deref()),
            ("verifier_output", verifier_output.as_deref()),
        ]
    }
}

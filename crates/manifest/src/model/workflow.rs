//! Workflows: tasks that are joined, as data.

use std::collections::{BTreeMap, BTreeSet};

use edgeplane_types::{AgentName, Permission, RunLimits, SafeLabel};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    model::{ApiVersion, InterfaceSchema, ResourceMetadata},
    words::LabelKey,
};

/// How long a workflow may take, in milliseconds: a day.
pub const WORKFLOW_TIMEOUT_MS: u64 = 86_400_000;

/// What a document declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "WorkflowWord")]
pub enum WorkflowKind {
    /// A workflow.
    Workflow,
}

/// Tasks that are joined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WorkflowManifest {
    /// The version of the manifest's language: `edgeplane.dev/v1alpha1`.
    pub api_version: ApiVersion,
    /// What this document declares: `Workflow`.
    pub kind: WorkflowKind,
    /// Which one it is.
    pub metadata: ResourceMetadata,
    /// What it says.
    pub spec: WorkflowSpec,
}

/// What is done, by whom, and in which order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WorkflowSpec {
    /// What it is for, in a sentence or a few.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 4096))]
    pub description: Option<String>,
    /// What it is given, as a JSON Schema of an object. Left out: any object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<InterfaceSchema>,
    /// What holds if an agent calls it.
    #[serde(default = "asks")]
    pub permission: Permission,
    /// How long it may take, in milliseconds, a week at most; then what is not over is cancelled.
    #[serde(default = "a_day")]
    #[schemars(range(min = 1, max = 604_800_000))]
    pub timeout_ms: u64,
    /// The tasks.
    #[schemars(length(min = 1, max = 64))]
    pub steps: Vec<WorkflowStep>,
}

/// One task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WorkflowStep {
    /// What it is called, unique in the workflow.
    pub name: AgentName,
    /// Whose work it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    /// The labels of those whose work it may be, where no agent is named.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<LabelKey, SafeLabel>,
    /// What is to be done. `${input.KEY}` and `${steps.NAME.output}` stand for data, which follow below it, quoted;
    /// `$${` stands for `${`.
    #[schemars(length(min = 1, max = 65536))]
    pub text: String,
    /// The steps that must be completed before it begins.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    #[schemars(length(max = 64))]
    pub depends_on: BTreeSet<AgentName>,
    /// What must be true before it is completed, in words. With none, the good end of a turn completes it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub acceptance: Vec<Criterion>,
    /// How many times it is tried at most.
    #[serde(default = "once")]
    #[schemars(range(min = 1, max = 100))]
    pub attempts: u32,
    /// What each attempt may use.
    #[serde(default, skip_serializing_if = "StepLimits::is_none")]
    pub limits: StepLimits,
}

/// Something that must be true before a step is completed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Criterion(#[schemars(length(min = 1, max = 1024))] pub String);

/// What an attempt may use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StepLimits {
    /// Time from its beginning, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 604_800_000))]
    pub wall_ms: Option<u64>,
    /// Tokens that are read and written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub tokens: Option<u64>,
    /// Cost, in millionths of the currency that its program names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub cost_micros: Option<u64>,
}

impl StepLimits {
    /// Whether it bounds nothing.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// The same as a run has them.
    #[must_use]
    pub fn of_run(self) -> RunLimits {
        let Self { wall_ms, tokens, cost_micros } = self;
        RunLimits { wall_ms, tokens, cost_micros, ..RunLimits::default() }
    }
}

/// A piece of what is to be done in a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepPiece<'a> {
    /// Words.
    Text(&'a str),
    /// The words `${`.
    Literal,
    /// A value that the workflow is given, by its key.
    Input(&'a str),
    /// What came of another step, by its name.
    Output(&'a str),
    /// A reference that means nothing, as it is written.
    Unknown(&'a str),
}

impl WorkflowStep {
    /// What is to be done, cut at its references.
    #[must_use]
    pub fn pieces(&self) -> Vec<StepPiece<'_>> {
        let mut pieces = Vec::new();
        let mut rest = self.text.as_str();
        while let Some((before, after)) = rest.split_once("${") {
            if let Some(words) = before.strip_suffix('$') {
                pieces.extend([StepPiece::Text(words), StepPiece::Literal]);
                rest = after;
                continue;
            }
            pieces.push(StepPiece::Text(before));
            let Some((inside, behind)) = after.split_once('}') else {
                pieces.push(StepPiece::Unknown(after));
                return pieces;
            };
            let of_step = inside.strip_prefix("steps.").and_then(|rest| rest.strip_suffix(".output"));
            pieces.push(match (inside.strip_prefix("input."), of_step) {
                (Some(key), _) if !key.is_empty() => StepPiece::Input(key),
                (_, Some(name)) => StepPiece::Output(name),
                _ => StepPiece::Unknown(inside),
            });
            rest = behind;
        }
        pieces.push(StepPiece::Text(rest));
        pieces
    }

    /// Whether it is told what came of other steps.
    #[must_use]
    pub fn waits_for_words(&self) -> bool {
        self.pieces().iter().any(|piece| matches!(piece, StepPiece::Output(_)))
    }
}

fn asks() -> Permission {
    Permission::Ask
}

fn a_day() -> u64 {
    WORKFLOW_TIMEOUT_MS
}

fn once() -> u32 {
    1
}

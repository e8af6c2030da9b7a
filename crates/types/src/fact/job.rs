//! Facts of jobs: tasks whose parts are items that are dealt out to agents.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{AgentId, OutputId, RunId, SafeLabel, TaskId, work::JobReport};

/// A task is a job: recorded together with it and with its items, which are its parts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JobCreated {
    /// The task.
    pub task_id: TaskId,
    /// How many items it has.
    pub items: u32,
    /// Who may be given items; if nobody is named, whoever the selector names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<AgentId>,
    /// The labels of those who may be given items.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub selector: BTreeMap<String, SafeLabel>,
    /// How many items are worked on at a time, at most; without it as many as there are agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parallelism: Option<u32>,
    /// What counts as the report of an item.
    pub report: JobReport,
    /// SHA-256 of what was asked for, by which the same request is known again.
    pub request_digest: String,
}

/// What came of an item, as the agent that holds it says: once for each item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JobItemReported {
    /// The item.
    pub task_id: TaskId,
    /// The run that says so.
    pub run_id: RunId,
    /// SHA-256 of the result as JSON, in the body store.
    pub result_digest: String,
    /// Its size.
    pub result_bytes: u64,
    /// The output that holds what came of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_id: Option<OutputId>,
}

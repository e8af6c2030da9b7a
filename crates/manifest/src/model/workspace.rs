//! What is kept of the folder that an agent works in.

use std::collections::BTreeSet;

use edgeplane_types::EffectClass;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Checkpoints that were made before calls and are kept of one folder, unless a manifest says otherwise.
pub const CHECKPOINTS_KEPT: u32 = 20;

/// What is kept of the folder that the agent works in, without anybody asking.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WorkspaceKeeping {
    /// Before a call of a capability that may have one of these effects is made, a checkpoint of the folder is. What a
    /// call may do, its connector says.
    #[schemars(length(min = 1, max = 5))]
    pub checkpoint_before: BTreeSet<EffectClass>,
    /// How many of those checkpoints are kept. The oldest are ended first, but not while their call is being made.
    #[serde(default = "checkpoints_kept")]
    #[schemars(range(min = 1, max = 1_000))]
    pub keep: u32,
    /// What becomes of a call before which no checkpoint can be made.
    #[serde(default = "OnNotKept::standard")]
    pub on_failure: OnNotKept,
}

/// What becomes of a call before which no checkpoint can be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum OnNotKept {
    /// It is not made.
    Refuse,
    /// It is made all the same.
    Proceed,
}

impl OnNotKept {
    /// What holds unless a manifest says otherwise.
    #[must_use]
    pub const fn standard() -> Self {
        Self::Refuse
    }
}

fn checkpoints_kept() -> u32 {
    CHECKPOINTS_KEPT
}

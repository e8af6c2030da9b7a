//! Hooks around calls of a connector: who is asked before a call is made, and who sees what came of it.

use std::collections::BTreeSet;

use edgeplane_types::{EffectClass, HookPoint, SafeLabel};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::any_tool;
use crate::words::ToolPattern;

/// How long a hook may take, in milliseconds, unless a manifest says otherwise.
const CALL_HOOK_TIMEOUT_MS: u64 = 5_000;

/// Hooks around calls.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CallHooks {
    /// Those that are asked before a call is made, one after another: at `pre_tool_use`, and at `permission_request`
    /// where a person would be asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    pub pre: Vec<CallHook>,
    /// Those that see what came of a call, one after another: at `post_tool_use`, and at `post_tool_failure`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    pub post: Vec<CallHook>,
}

/// A hook around calls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CallHook {
    /// What it is called, unique among the connector's hooks.
    pub name: SafeLabel,
    /// When it is asked.
    #[schemars(length(min = 1))]
    pub points: BTreeSet<HookPoint>,
    /// About which tools; `*` stands for any letters. Left out: all.
    #[serde(default = "any_tool")]
    #[schemars(length(min = 1, max = 1024))]
    pub tools: BTreeSet<ToolPattern>,
    /// Who is asked.
    pub run: CallHookRun,
    /// How long it may take, in milliseconds; more is a failure.
    #[serde(default = "timeout_ms")]
    #[schemars(range(min = 1, max = 60_000))]
    pub timeout_ms: u64,
    /// What its failure does.
    #[serde(default)]
    pub on_failure: CallHookFailure,
}

/// Who is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum CallHookRun {
    /// A program and its arguments, given the call as JSON on its standard input. No shell reads them.
    Exec(Vec<String>),
    /// An address, given the call as JSON by a POST.
    Http(String),
}

/// What the failure of a hook does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CallHookFailure {
    /// The call is not made; of one that was made, what came of it is kept back.
    #[default]
    Closed,
    /// It is passed over with a warning, if whoever declares the connector vouches that the tool only reads.
    Open,
}

impl CallHooks {
    /// Whether there are none.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.pre.is_empty() && self.post.is_empty()
    }

    /// Those that are asked at a point about a tool, in their order.
    pub fn at(&self, point: HookPoint, tool: &str) -> impl Iterator<Item = &CallHook> {
        let list = if point.is_before() { &self.pre } else { &self.post };
        list.iter().filter(move |hook| {
            hook.points.contains(&point) && hook.tools.iter().any(|pattern| pattern.matches(tool))
        })
    }
}

impl CallHook {
    /// Whether its failure is passed over for a tool that does this at most.
    #[must_use]
    pub fn is_passed_over(&self, effect: Option<EffectClass>) -> bool {
        self.on_failure == CallHookFailure::Open
            && matches!(effect, Some(EffectClass::None | EffectClass::Read))
    }
}

fn timeout_ms() -> u64 {
    CALL_HOOK_TIMEOUT_MS
}

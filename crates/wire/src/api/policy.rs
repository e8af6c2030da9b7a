//! Rules: what is in force, what they would say, and why.

use edgeplane_types::{Authority, Channel, PolicyAction, PolicyLayer, SafeLabel, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A request that is only imagined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExplainParams {
    /// What is wanted.
    #[serde(default = "send")]
    pub action: PolicyAction,
    /// Who wants it: `operator`, `node`, `external`, `service:NAME` or the name of an agent. Left out: the caller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The agent it is wanted of: name or id.
    pub to: String,
    /// On which channel; left out: the one that the sender has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<Channel>,
    /// With which authority; left out: the most that the sender has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authority: Option<Authority>,
    /// How many bytes of content.
    #[serde(default)]
    pub bytes: u64,
    /// The topic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<SafeLabel>,
    /// How many agents it has passed through.
    #[serde(default)]
    pub hops: u32,
}

fn send() -> PolicyAction {
    PolicyAction::Send
}

/// What the rules say of a request, and which of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExplainResult {
    /// Whether it passes.
    pub allowed: bool,
    /// The layer that refused it, or the lowest that decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layer: Option<PolicyLayer>,
    /// The deciding rule.
    pub rule: SafeLabel,
    /// Why it is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The authority that is granted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authority: Option<Authority>,
    /// Most messages of a pair in a minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_per_minute: Option<u64>,
    /// Most bytes of content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_max: Option<u64>,
    /// Every layer with the rules that matched, in full.
    pub detail: Value,
}

/// Looks whether rules could be put in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckParams {
    /// The layer they are for.
    #[serde(default = "node_layer")]
    pub layer: PolicyLayer,
    /// The files.
    pub files: Vec<PolicyFile>,
    /// A request to be decided as if they were in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<ExplainParams>,
}

fn node_layer() -> PolicyLayer {
    PolicyLayer::Node
}

/// A file of rules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyFile {
    /// Its name, for messages.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// What is wrong with rules, or what they would say.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckResult {
    /// Whether they could be put in force.
    pub ok: bool,
    /// How many rules there are.
    pub rules: u64,
    /// What is wrong, each with file, line and column.
    pub problems: Vec<String>,
    /// What they would say of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<ExplainResult>,
}

/// The rules that are in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RulesResult {
    /// SHA-256 over all of them.
    pub digest: String,
    /// When they came into force.
    pub since: Timestamp,
    /// Every rule.
    pub items: Vec<RuleView>,
    /// Files that could not be read, each with its first problem; the rules before stay in force.
    pub rejected: Vec<String>,
    /// Where own files are looked for.
    pub folders: Vec<String>,
}

/// One rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RuleView {
    /// Who laid it down.
    pub layer: PolicyLayer,
    /// Its id.
    pub id: SafeLabel,
    /// `permit` or `forbid`.
    pub effect: String,
    /// The file it stands in.
    pub file: String,
    /// The line it begins on.
    pub line: u64,
}

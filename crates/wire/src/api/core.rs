//! What every endpoint answers.

use edgeplane_types::{AgentId, NodeId, NodeName, SafeLabel};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Greets a node.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InitializeParams {
    /// Protocol versions that the caller speaks, as dates.
    #[serde(default)]
    pub versions: Vec<String>,
    /// The caller's program and version, for logs.
    #[serde(default)]
    pub client: Option<String>,
    /// A token by which the caller is to be known on this connection from here on. It never makes an agent another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
}

/// Protocol versions that this code speaks, newest first.
pub const PROTOCOL_VERSIONS: &[&str] = &["2026-11-01"];

/// The node's greeting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InitializeResult {
    /// The protocol version to speak.
    pub version: String,
    /// The daemon's version.
    pub server: String,
    /// The node.
    pub node_id: NodeId,
    /// The node's name.
    pub node: NodeName,
    /// As whom the node knows the caller.
    pub caller: CallerView,
    /// Profiles that are served.
    pub profiles: Vec<String>,
}

/// As whom the node knows a caller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CallerView {
    /// The name that a header would show.
    pub principal: SafeLabel,
    /// The agent that the caller is, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<AgentId>,
    /// By what that is known.
    pub proof: edgeplane_types::Proof,
    /// What the proof is worth.
    pub assurance: edgeplane_types::Assurance,
    /// What else is to be said of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Asks which methods there are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DescribeParams {
    /// Only this profile.
    #[serde(default)]
    pub profile: Option<String>,
}

/// The catalogue.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DescribeResult {
    /// The methods, in the catalogue's order.
    pub methods: Vec<MethodView>,
}

/// One method.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MethodView {
    /// `profile/object.action`.
    pub name: String,
    /// What it does.
    pub summary: String,
    /// `read` or `write`.
    pub effect: String,
    /// Error names of its own, beside those every method has.
    pub errors: Vec<String>,
    /// Who may call it: `anyone`, `owner` (operators, and agents for themselves), `governed` (whom the rules let) or
    /// `operator`.
    pub audience: String,
    /// What a token must allow: a scope, `none`, or `uid` where no token is enough.
    pub needs: String,
    /// What calling it once more means: `safe`, `same` or `again`. With an idempotency key it acts once.
    pub repeat: String,
    /// Whether this version serves it. One that is not served answers `unsupported` and has no schemas.
    pub served: bool,
    /// Version of EdgePlane that began to serve it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// JSON Schema of its parameters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub params: Option<Value>,
    /// JSON Schema of its result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
}

/// Takes a request back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CancelParams {
    /// The `request_id` of its context.
    pub request_id: String,
    /// Why, for the one who waits for it.
    #[serde(default)]
    pub reason: String,
}

/// What became of taking a request back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CancelResult {
    /// Whether the caller had such a request that was still being worked on.
    pub cancelled: bool,
}

/// How the node is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HealthResult {
    /// `ok` or `degraded`.
    pub status: String,
    /// What was looked at.
    pub checks: Vec<Check>,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// Its name.
    pub name: String,
    /// `ok`, `warn` or `fail`.
    pub status: String,
    /// What was found.
    pub detail: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

//! Connectors: servers whose tools agents may use, how they are reached, and what of them may be used.

mod hooks;

use std::collections::{BTreeMap, BTreeSet};

use edgeplane_types::{AgentName, EffectClass, Permission, SafeLabel};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    model::{ApiVersion, SecretSource, yes},
    words::{EnvName, FilePath, LabelKey, ToolPattern},
};

pub use hooks::{CallHook, CallHookFailure, CallHookRun, CallHooks};

/// How long a call of a connector may take, in milliseconds.
pub const CONNECTOR_TIMEOUT_MS: u64 = 60_000;

/// What a document declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ConnectorWord")]
pub enum ConnectorKind {
    /// A connector.
    Connector,
}

/// A server whose tools agents may use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConnectorManifest {
    /// The version of the manifest's language: `edgeplane.dev/v1alpha1`.
    pub api_version: ApiVersion,
    /// What this document declares: `Connector`.
    pub kind: ConnectorKind,
    /// Which one it is.
    pub metadata: ResourceMetadata,
    /// What it says.
    pub spec: ConnectorSpec,
}

/// Which resource it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ResourceMetadata {
    /// Its name, unique among the node's resources of its kind.
    pub name: AgentName,
    /// By what it is found.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<LabelKey, SafeLabel>,
}

/// How a connector is reached, and what of it may be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConnectorSpec {
    /// What it is for, in a sentence or a few.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 8192))]
    pub description: Option<String>,
    /// How it is reached.
    pub transport: ConnectorTransport,
    /// What is shown to a server over HTTP, by reference. A program gets its secrets by variables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credentials: Option<ConnectorCredentials>,
    /// The tools that may be used at all; `*` stands for any letters. Left out: all.
    #[serde(default = "any_tool")]
    #[schemars(length(min = 1, max = 1024))]
    pub allow: BTreeSet<ToolPattern>,
    /// The tools that may not be used, whatever `allow` says.
    #[serde(default)]
    #[schemars(length(max = 1024))]
    pub deny: BTreeSet<ToolPattern>,
    /// What holds for a call of a tool that may be used.
    #[serde(default = "ConnectorPolicy::standard")]
    pub policy: ConnectorPolicy,
    /// Who is asked before a call is made, and who sees what came of it.
    #[serde(default, skip_serializing_if = "CallHooks::is_none")]
    pub hooks: CallHooks,
    /// Whether its server may ask people something while it works on a call of an agent.
    #[serde(default, skip_serializing_if = "ConnectorElicitation::is_off")]
    pub elicitation: ConnectorElicitation,
    /// How long a call may take, in milliseconds.
    #[serde(default = "timeout_ms")]
    #[schemars(range(min = 1, max = 3_600_000))]
    pub timeout_ms: u64,
    /// Whether it is used.
    #[serde(default = "yes")]
    pub enabled: bool,
}

/// Whether a server may ask people.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConnectorElicitation {
    /// It may not: what it asks is declined.
    #[default]
    Off,
    /// It may ask for values of a form, each question as an action. What is answered stands in the record, so what asks
    /// for a secret is declined.
    Form,
}

impl ConnectorElicitation {
    /// Whether it may not.
    #[must_use]
    pub fn is_off(&self) -> bool {
        *self == Self::Off
    }
}

/// How a connector is reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum ConnectorTransport {
    /// By the standard streams of a program that the node runs.
    Stdio(ConnectorProgram),
    /// By HTTP, at an address where it runs already.
    Http(ConnectorAddress),
}

/// A program that is a connector.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConnectorProgram {
    /// The program and its arguments. No shell reads them. A bare name is looked up in `PATH`; one with a `/` is a path,
    /// relative to the manifest's folder unless absolute.
    #[schemars(length(min = 1, max = 1024))]
    pub command: Vec<String>,
    /// Variables of its environment, secrets by reference.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<EnvName, ConnectorText>,
    /// The folder that it starts in. Left out: one of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<FilePath>,
}

/// Where a connector runs already.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConnectorAddress {
    /// Its address.
    #[schemars(length(min = 1, max = 4096))]
    pub url: String,
    /// What is sent with each request, secrets by reference.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<SafeLabel, ConnectorText>,
}

/// A text, or where the node finds it when it is needed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, deny_unknown_fields)]
pub enum ConnectorText {
    /// The text itself. Not for secrets.
    Text(String),
    /// A secret by reference.
    #[serde(rename_all = "camelCase")]
    Secret {
        /// Where its value is.
        secret_ref: SecretSource,
    },
}

/// What is shown to a server: nothing of it stands here but where it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum ConnectorCredentials {
    /// The bearer token in this variable of the daemon's environment.
    Env(EnvName),
    /// The bearer token in this file, less one line break at its end.
    File(FilePath),
    /// A token that is asked for with the client's own credentials.
    Oauth(ConnectorOauth),
}

/// A client of an authorisation server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConnectorOauth {
    /// Where tokens are asked for. Either this or `issuer`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 4096))]
    pub token_url: Option<String>,
    /// The authorisation server. Where it gives tokens is found by what it says of itself; the server must name it too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 4096))]
    pub issuer: Option<String>,
    /// As which client.
    #[schemars(length(min = 1, max = 256))]
    pub client_id: String,
    /// Where the client's secret is.
    pub client_secret: ConnectorSecret,
    /// What is asked for. Left out: what the server says that it wants.
    #[serde(default)]
    #[schemars(length(max = 64))]
    pub scopes: Vec<String>,
}

/// A secret by reference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConnectorSecret {
    /// Where its value is.
    pub secret_ref: SecretSource,
}

/// What holds for calls of a connector's tools, beside the node's rules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConnectorPolicy {
    /// What holds where no list below names a tool.
    #[serde(default = "ConnectorDefault::standard")]
    pub default: ConnectorDefault,
    /// The tools that are called without asking; `*` stands for any letters. A resource is named `resource:URI`, a
    /// prompt `prompt:NAME`.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    #[schemars(length(max = 1024))]
    pub allow: BTreeSet<ToolPattern>,
    /// The tools of whose calls a person is asked first, whatever `allow` says.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    #[schemars(length(max = 1024))]
    pub ask: BTreeSet<ToolPattern>,
    /// The tools that are not called, whatever the other lists say.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    #[schemars(length(max = 1024))]
    pub deny: BTreeSet<ToolPattern>,
    /// What calls of tools do at most, as whoever declares the connector vouches; the first pattern that names a tool
    /// counts. What nobody vouches for is `external`: what a server says of itself is not believed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(length(max = 1024))]
    pub effects: BTreeMap<ToolPattern, EffectClass>,
}

impl ConnectorPolicy {
    /// What holds unless a manifest says otherwise.
    #[must_use]
    pub const fn standard() -> Self {
        Self {
            default: ConnectorDefault::standard(),
            allow: BTreeSet::new(),
            ask: BTreeSet::new(),
            deny: BTreeSet::new(),
            effects: BTreeMap::new(),
        }
    }

    /// What holds for a call of a tool, and which list says so. The strictest that names it counts.
    #[must_use]
    pub fn holds_for(&self, tool: &str) -> (Permission, &'static str) {
        let names = |list: &BTreeSet<ToolPattern>| list.iter().any(|pattern| pattern.matches(tool));
        if names(&self.deny) {
            (Permission::Deny, "connector-deny")
        } else if names(&self.ask) {
            (Permission::Ask, "connector-ask")
        } else if names(&self.allow) {
            (Permission::Allow, "connector-allow")
        } else {
            let holds = match self.default {
                ConnectorDefault::Allow => Permission::Allow,
                ConnectorDefault::Ask => Permission::Ask,
                ConnectorDefault::Deny => Permission::Deny,
            };
            (holds, "connector-default")
        }
    }

    /// What a call of a tool does at most, if somebody vouches for it.
    #[must_use]
    pub fn effect_of(&self, tool: &str) -> Option<EffectClass> {
        self.effects.iter().find(|(pattern, _)| pattern.matches(tool)).map(|(_, class)| *class)
    }
}

/// What holds for a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConnectorDefault {
    /// It is made.
    Allow,
    /// A person is asked first.
    Ask,
    /// It is refused.
    Deny,
}

impl ConnectorDefault {
    /// What holds unless a manifest says otherwise: somebody is asked.
    #[must_use]
    pub const fn standard() -> Self {
        Self::Ask
    }
}

impl ConnectorSpec {
    /// Whether a tool may be used at all.
    #[must_use]
    pub fn admits(&self, tool: &str) -> bool {
        self.allow.iter().any(|pattern| pattern.matches(tool))
            && !self.deny.iter().any(|pattern| pattern.matches(tool))
    }
}

impl ToolPattern {
    /// Whether a tool's name is one of those that are meant.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        let mut parts = self.as_str().split('*');
        let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else { return false };
        let mut parts: Vec<&str> = parts.collect();
        let Some(last) = parts.pop() else { return rest.is_empty() };
        for part in parts {
            match rest.find(part) {
                Some(at) => rest = rest.get(at.saturating_add(part.len())..).unwrap_or_default(),
                None => return false,
            }
        }
        rest.ends_with(last)
    }
}

/// # Panics
///
/// Never: a star is a pattern.
fn any_tool() -> BTreeSet<ToolPattern> {
    #[expect(clippy::expect_used, reason = "the text is constant and a test reads it")]
    BTreeSet::from(["*".parse().expect("a star is a pattern")])
}

fn timeout_ms() -> u64 {
    CONNECTOR_TIMEOUT_MS
}

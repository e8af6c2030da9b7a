//! Automations: what is done by itself when something happens.

use std::collections::{BTreeMap, BTreeSet};

use edgeplane_types::{AgentName, Priority, RunLimits, SafeLabel};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    model::{ApiVersion, SecretSource, Timing, yes},
    words::{FilePath, LabelKey},
};

/// How often an automation acts within a minute unless its declaration says otherwise.
pub const AUTOMATION_ACTS_A_MINUTE: u32 = 60;

/// What a document declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "AutomationWord")]
pub enum AutomationKind {
    /// An automation.
    Automation,
}

/// What is done by itself when something happens, as whoever declares it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AutomationManifest {
    /// The version of the manifest's language: `edgeplane.dev/v1alpha1`.
    pub api_version: ApiVersion,
    /// What this document declares: `Automation`.
    pub kind: AutomationKind,
    /// Which one it is.
    pub metadata: super::ResourceMetadata,
    /// What it says.
    pub spec: AutomationSpec,
}

/// When an automation fires, and what it does then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AutomationSpec {
    /// What it is for, in a sentence or a few.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 8192))]
    pub description: Option<String>,
    /// When it fires.
    pub on: AutomationTrigger,
    /// What it does then.
    #[serde(rename = "do")]
    pub act: AutomationAct,
    /// How often it acts within a minute, at most. What fires more often waits.
    #[serde(default = "acts_a_minute")]
    #[schemars(range(min = 1, max = 600))]
    pub per_minute: u32,
    /// Whether it fires.
    #[serde(default = "yes")]
    pub enabled: bool,
}

/// When an automation fires.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum AutomationTrigger {
    /// Whenever such an event is recorded.
    Event(AutomationEvent),
    /// By the clock.
    Schedule(AutomationSchedule),
    /// Whenever something is delivered to `/v1/hooks/NAME`, signed with a secret.
    Webhook(AutomationWebhook),
}

/// Events of the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AutomationEvent {
    /// What they are called, such as `task.moved`.
    #[schemars(length(min = 1, max = 64))]
    pub types: BTreeSet<SafeLabel>,
    /// Only those about this agent, or about a task that is its work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    /// Only those about agents with all of these labels.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<LabelKey, SafeLabel>,
    /// Only those with these values at these places of the event, such as `payload.to: failed`. Whole numbers, true and
    /// false are compared by their text.
    #[serde(rename = "where", default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<SafeLabel, String>,
}

/// Times.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("additionalProperties" = false))]
pub struct AutomationSchedule {
    /// When it is due.
    #[serde(flatten)]
    pub timing: Timing,
}

/// Deliveries over HTTP.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AutomationWebhook {
    /// Where the secret is with which each delivery is signed.
    pub secret_ref: SecretSource,
}

/// What an automation does. In its texts `${event.PLACE}` stands for what is found there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum AutomationAct {
    /// It calls a method of the node.
    Method(AutomationMethod),
    /// It gives an agent a task.
    Task(AutomationTask),
}

/// A method that is called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AutomationMethod {
    /// Which, such as `runtime/agent.restart`.
    #[schemars(length(min = 1, max = 256))]
    pub name: String,
    /// What it is given.
    #[serde(default = "AutomationParams::none")]
    pub params: AutomationParams,
}

/// Parameters of a method, kept as they are written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AutomationParams(pub Map<String, Value>);

impl AutomationParams {
    /// No parameters.
    #[must_use]
    pub fn none() -> Self {
        Self(Map::new())
    }
}

impl JsonSchema for AutomationParams {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "AutomationParams".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["object"], "description": "a mapping with the parameters of the method" })
    }
}

/// A task that is given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AutomationTask {
    /// Whose work it is. This, or `forLabels`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    /// The labels of an agent whose work it may be; one that is idle gets it. This, or `agent`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub for_labels: BTreeMap<LabelKey, SafeLabel>,
    /// What it is called.
    #[schemars(length(min = 1, max = 256))]
    pub title: String,
    /// What is to be done. Left out: the title says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 65_536))]
    pub text: Option<String>,
    /// By what the task is found.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<LabelKey, SafeLabel>,
    /// How urgent it is.
    #[serde(default = "normal")]
    pub priority: Priority,
    /// What each run may use.
    #[serde(default, skip_serializing_if = "RunLimits::is_none")]
    pub limits: RunLimits,
    /// How many runs there are at most before it fails.
    #[serde(default = "once")]
    #[schemars(range(min = 1, max = 100))]
    pub attempts: u32,
}

impl AutomationTrigger {
    /// The word for it.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Event(_) => "event",
            Self::Schedule(_) => "schedule",
            Self::Webhook(_) => "webhook",
        }
    }
}

impl AutomationSpec {
    /// Where the secret of its deliveries is.
    #[must_use]
    pub fn secret(&self) -> Option<&SecretSource> {
        match &self.on {
            AutomationTrigger::Webhook(hook) => Some(&hook.secret_ref),
            AutomationTrigger::Event(_) | AutomationTrigger::Schedule(_) => None,
        }
    }

    /// A path that is still relative, if there is one.
    #[must_use]
    pub fn relative_path(&self) -> Option<&FilePath> {
        match self.secret()? {
            SecretSource::File(path) if !path.as_str().starts_with('/') => Some(path),
            SecretSource::File(_) | SecretSource::Env(_) => None,
        }
    }
}

fn acts_a_minute() -> u32 {
    AUTOMATION_ACTS_A_MINUTE
}

fn normal() -> Priority {
    Priority::Normal
}

fn once() -> u32 {
    1
}

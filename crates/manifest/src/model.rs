//! What a manifest says: the typed form, with every default spelled out as a named value.
//!
//! The doc comments of this module are the reference: they become the descriptions in the JSON Schema. What a key
//! does to a running agent is the node's business; what may stand in it is decided here.

mod automation;
mod connector;
mod exec;
mod install;
mod interface;
mod keep;
mod program;
mod record;
mod schedule;
mod workflow;
mod workspace;

use std::collections::{BTreeMap, BTreeSet};

use edgeplane_types::{AgentName, Risk, SafeLabel};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use automation::{
    AUTOMATION_ACTS_A_MINUTE, AutomationAct, AutomationEvent, AutomationKind, AutomationManifest,
    AutomationMethod, AutomationParams, AutomationSchedule, AutomationSpec, AutomationTask,
    AutomationTrigger, AutomationWebhook,
};
pub use connector::{
    CONNECTOR_TIMEOUT_MS, CallHook, CallHookFailure, CallHookRun, CallHooks, ConnectorAddress,
    ConnectorCredentials, ConnectorDefault, ConnectorElicitation, ConnectorKind, ConnectorManifest,
    ConnectorOauth, ConnectorPolicy, ConnectorProgram, ConnectorSecret, ConnectorSpec, ConnectorText,
    ConnectorTransport, ResourceMetadata,
};
pub use exec::{EXEC_TIMEOUT, ExecOutput, OneShot, Preset, PromptBy};
pub use install::{Artifact, Deployment, Fetch, FetchSource, PREPARE_TIMEOUT, PrepareStep, Service};
pub use interface::{
    InterfaceSchema, NeededVariable, Needs, Offers, Port, Secret, SecretForm, SecretSource, Skill,
};
pub use keep::{
    BACKOFF_INITIAL, BACKOFF_JITTER_PERCENT, BACKOFF_MAX, BACKOFF_RESET_AFTER, BREAKER_FAILURES,
    BREAKER_WITHIN, Backoff, Breaker, CLOSE_GRACE, ExecProbe, HOOK_TIMEOUT, Health, Hibernate, Hook, HookSet,
    Limits, OnUnhealthy, PROBE_FAILURES, PROBE_INTERVAL, PROBE_TIMEOUT, PingProbe, Restart, RestartPolicy,
    STOP_GRACE, STOP_SIGNAL, SUBAGENTS_DEPTH, Stop, Subagents,
};
pub use program::{
    APPROVAL_TIMEOUT, Driver, ENV_PASSED, ENV_PASSED_PREFIX, EnvValue, McpServer, NativeStdio, Notice,
    RunState, StateKind, Substrate, TERMINAL_COLS, TERMINAL_ROWS, TerminalSize, is_env_passed,
    terminal_accepts, terminal_interrupt, terminal_submit,
};
pub use record::{
    Ambiguous, Delivery, INBOX_MAX, Inbox, KEEP_BYTES, KEEP_EPOCHS, Keep, MEMORY_BYTES_MAX, MEMORY_KEYS_MAX,
    Memory, OnFull, OpenTurn, Recording, SEGMENT_AGE, SEGMENT_BYTES,
};
pub use schedule::{
    CATCH_UP_MAX, CatchUp, Due, InlineSchedule, Overlap, ScheduleBody, ScheduleKind, ScheduleManifest,
    ScheduleMetadata, ScheduleSpec, Timing,
};
pub use workflow::{
    Criterion, StepLimits, StepPiece, WORKFLOW_TIMEOUT_MS, WorkflowKind, WorkflowManifest, WorkflowSpec,
    WorkflowStep,
};

pub use workspace::{CHECKPOINTS_KEPT, OnNotKept, WorkspaceKeeping};

use crate::words::{EnvName, FilePath, LabelKey, UserName};

/// The version of the manifest's language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub enum ApiVersion {
    /// The first version.
    #[serde(rename = "edgeplane.dev/v1alpha1")]
    V1Alpha1,
}

/// What a document declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub enum Kind {
    /// An agent.
    Agent,
}

/// One agent: what it is meant to be. Its name outlives every process that runs under it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Manifest {
    /// The version of the manifest's language: `edgeplane.dev/v1alpha1`.
    pub api_version: ApiVersion,
    /// What this document declares: `Agent`.
    pub kind: Kind,
    /// Who it is.
    pub metadata: Metadata,
    /// What it is meant to be.
    pub spec: Spec,
}

/// Who the agent is, for people and for tools that choose among agents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Metadata {
    /// Its name, unique on the node: the address of messages and commands.
    pub name: AgentName,
    /// Short facts to select agents by.
    #[serde(default)]
    pub labels: BTreeMap<LabelKey, SafeLabel>,
    /// Longer facts for tools; EdgePlane keeps them and does not read them.
    #[serde(default)]
    pub annotations: BTreeMap<LabelKey, String>,
    /// What it does, in a sentence or a few.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 8192))]
    pub description: Option<String>,
    /// Its licence, as an SPDX expression where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 256))]
    pub license: Option<String>,
    /// Who made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 256))]
    pub author: Option<String>,
    /// Its own version. Free text, not compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 256))]
    pub version: Option<String>,
}

/// What the agent is meant to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Spec {
    /// How messages become what the program reads, and its output becomes events.
    pub driver: Driver,
    /// The program and its first arguments. No shell reads it. A bare name is looked up in `PATH`; one with a `/` is
    /// a path, relative to the manifest's folder unless absolute.
    #[schemars(length(min = 1, max = 1024))]
    pub command: Vec<String>,
    /// Further arguments, after those of `command`.
    #[serde(default)]
    #[schemars(length(max = 1024))]
    pub args: Vec<String>,
    /// Variables of the program's environment. No value is expanded.
    #[serde(default)]
    pub env: BTreeMap<EnvName, EnvValue>,
    /// Names of variables that the program gets from the daemon's environment. Everything else is removed but
    /// `PATH`, `HOME`, `USER`, `LOGNAME`, `SHELL`, `LANG`, `LC_*`, `TZ` and `TERM`.
    #[serde(default)]
    pub inherit_env: BTreeSet<EnvName>,
    /// The folder the program starts in. Left out: the agent's own workspace folder on the node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<FilePath>,
    /// Size of the terminal, until a controller resizes it.
    #[serde(default = "TerminalSize::standard")]
    pub terminal: TerminalSize,
    /// Where the program lives.
    #[serde(default = "Substrate::standard")]
    pub substrate: Substrate,
    /// What is wanted right after the manifest is applied.
    #[serde(default = "RunState::standard")]
    pub run: RunState,
    /// Whether what the agent has been told must survive its turns.
    #[serde(default = "StateKind::standard")]
    pub state: StateKind,
    /// How many agents share its name and take its messages, each one task at a time. Only for `state: stateless`. Left
    /// out: it is one agent and no set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 64))]
    pub replicas: Option<u32>,
    /// When a program that ended is started again.
    #[serde(default = "Restart::standard")]
    pub restart: Restart,
    /// When it is ended for being idle, until a message comes. Only for a program that can go on with its own session:
    /// one of the Agent Client Protocol, or one that says `offers.resume`. Left out: never by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hibernate: Option<Hibernate>,
    /// How it is found out that the program no longer works. Left out: only its end is noticed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health: Option<Health>,
    /// How the program is asked to end.
    #[serde(default = "Stop::standard")]
    pub stop: Stop,
    /// Commands that the node runs at turning points.
    #[serde(default = "HookSet::none")]
    pub hooks: HookSet,
    /// What the program and all its descendants together may use.
    #[serde(default = "Limits::none")]
    pub limits: Limits,
    /// How many agents its program may start under itself. Left out: none. An operator may start some under any agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagents: Option<Subagents>,
    /// What is kept of its folder without anybody asking. Left out: nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<WorkspaceKeeping>,
    /// Whether the program is barred from gaining rights by setuid programs and file capabilities.
    #[serde(default = "yes")]
    pub no_new_privs: bool,
    /// As whom the agent acts towards others. Left out: as itself, by its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub principal: Option<SafeLabel>,
    /// The user of the machine that the program runs as. Left out: the daemon's user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<UserName>,
    /// What it takes in a turn.
    #[serde(default)]
    pub inputs: Vec<Port>,
    /// What it gives back.
    #[serde(default)]
    pub outputs: Vec<Port>,
    /// What it is good at, for those who choose among agents.
    #[serde(default)]
    pub skills: Vec<Skill>,
    /// Agents that are started before this one. An agent that is not in the same set of manifests must be known to
    /// the node.
    #[serde(default)]
    pub depends_on: BTreeSet<AgentName>,
    /// Secret values by reference. A manifest never holds one; `env` says under which variable each is handed over.
    #[serde(default)]
    pub secrets: Vec<Secret>,
    /// What its program can do beyond taking messages and answering.
    #[serde(default = "Offers::none")]
    pub offers: Offers,
    /// What must be there for it to work.
    #[serde(default = "Needs::none")]
    pub needs: Needs,
    /// What happens to messages and turns that a crash cut short.
    #[serde(default = "Delivery::standard")]
    pub delivery: Delivery,
    /// The queue of messages that wait for it.
    #[serde(default = "Inbox::standard")]
    pub inbox: Inbox,
    /// Messages that come to it by the clock.
    #[serde(default)]
    #[schemars(length(max = 64))]
    pub schedules: Vec<InlineSchedule>,
    /// Topics whose messages it gets.
    #[serde(default)]
    #[schemars(length(max = 64))]
    pub subscriptions: BTreeSet<SafeLabel>,
    /// Rules in Cedar about who may do what to it. They can only tighten the node's. Read when the agent is applied,
    /// not here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 65_536))]
    pub policy: Option<String>,
    /// How much can go wrong when it does what it is told, for rules to look at.
    #[serde(default)]
    pub risk: Risk,
    /// How its output is kept.
    #[serde(default = "Recording::standard")]
    pub recording: Recording,
    /// Bounds of its key-value store.
    #[serde(default = "Memory::standard")]
    pub memory: Memory,
    /// In which form it is brought: to be run here as a service, or as an artifact that is unpacked first.
    #[serde(default = "Deployment::standard")]
    pub deployment: Deployment,
    /// Steps that make it ready to run. They run when somebody says `install`, never by themselves.
    #[serde(default)]
    pub prepare: Vec<PrepareStep>,
}

impl Spec {
    /// How many replicas it has, if it is a set: stateless, with a number of them.
    #[must_use]
    pub fn set_of(&self) -> Option<u32> {
        self.replicas.filter(|_| self.state == StateKind::Stateless)
    }
}

/// Most replicas of a set.
pub const REPLICAS_MAX: u32 = 64;

/// The default of what is on unless a manifest switches it off.
pub(crate) fn yes() -> bool {
    true
}

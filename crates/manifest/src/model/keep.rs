//! Keeping it alive and within bounds: restart, health, stop, hooks, limits, subagents.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    quantity::{ByteSize, DurationMs, MilliCpu},
    words::Signal,
};

/// Wait before the first restart.
pub const BACKOFF_INITIAL: DurationMs = DurationMs::from_millis(200);

/// Longest wait between restarts.
pub const BACKOFF_MAX: DurationMs = DurationMs::from_secs(60);

/// By how much each wait may be longer or shorter, in percent, so that agents that fell together rise apart.
pub const BACKOFF_JITTER_PERCENT: u8 = 20;

/// Time of running after which the waits begin anew.
pub const BACKOFF_RESET_AFTER: DurationMs = DurationMs::from_secs(30);

/// Unwanted ends that trip the breaker. With the default waits a program that ends at once reaches them after about
/// 100 seconds: long enough for a lost network to come back, short enough that nobody's quota is burnt for a night.
pub const BREAKER_FAILURES: u32 = 10;

/// Span in which the breaker counts.
pub const BREAKER_WITHIN: DurationMs = DurationMs::from_secs(600);

/// Time between two probes.
pub const PROBE_INTERVAL: DurationMs = DurationMs::from_secs(30);

/// Time a probe has to answer.
pub const PROBE_TIMEOUT: DurationMs = DurationMs::from_secs(10);

/// Failed probes in a row that make an agent unhealthy.
pub const PROBE_FAILURES: u32 = 3;

/// The signal that asks a program to end.
pub const STOP_SIGNAL: Signal = Signal::TERM;

/// Time between the stop signal and the end of the whole tree by force.
pub const STOP_GRACE: DurationMs = DurationMs::from_secs(10);

/// Time a program has to save what it wants to keep, once it is told that its epoch ends.
pub const CLOSE_GRACE: DurationMs = DurationMs::from_secs(10);

/// Time a hook has.
pub const HOOK_TIMEOUT: DurationMs = DurationMs::from_secs(30);

/// When a program that ended is started again. A stop that somebody asked for is never undone by it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Restart {
    /// After which ends.
    #[serde(default = "RestartPolicy::standard")]
    pub policy: RestartPolicy,
    /// How long to wait before each start.
    #[serde(default = "Backoff::standard")]
    pub backoff: Backoff,
    /// When to give up.
    #[serde(default = "Breaker::standard")]
    pub breaker: Breaker,
}

impl Restart {
    /// What holds unless a manifest says otherwise.
    #[must_use]
    pub const fn standard() -> Self {
        Self { policy: RestartPolicy::standard(), backoff: Backoff::standard(), breaker: Breaker::standard() }
    }
}

/// When an idle agent is ended to free its memory, until a message comes for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Hibernate {
    /// For how long nothing happened: no turn, no message, no output, nobody who watches and nobody who is asked.
    /// For a stateless agent also `0s`: it has no program but while it has a task.
    #[schemars(extend("x-edgeplane-min" = "0s", "x-edgeplane-max" = "30d"))]
    pub idle_after: DurationMs,
}

/// After which ends a program is started again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RestartPolicy {
    /// After every end.
    Always,
    /// After an exit code other than 0, a signal, or an unknown end.
    OnFailure,
    /// After none.
    Never,
}

impl RestartPolicy {
    /// What holds unless a manifest says otherwise: after failures.
    #[must_use]
    pub const fn standard() -> Self {
        Self::OnFailure
    }
}

/// The waits between restarts: each twice the one before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Backoff {
    /// The first wait.
    #[serde(default = "backoff_initial")]
    #[schemars(extend("x-edgeplane-min" = "0s", "x-edgeplane-max" = "1d"))]
    pub initial: DurationMs,
    /// The longest wait.
    #[serde(default = "backoff_max")]
    #[schemars(extend("x-edgeplane-min" = "0s", "x-edgeplane-max" = "1d"))]
    pub max: DurationMs,
    /// By how much each wait may be longer or shorter, in percent.
    #[serde(default = "backoff_jitter_percent")]
    #[schemars(range(min = 0, max = 100))]
    pub jitter_percent: u8,
    /// Time of running after which the waits begin anew.
    #[serde(default = "backoff_reset_after")]
    #[schemars(extend("x-edgeplane-min" = "1s", "x-edgeplane-max" = "1d"))]
    pub reset_after: DurationMs,
}

impl Backoff {
    /// What holds unless a manifest says otherwise.
    #[must_use]
    pub const fn standard() -> Self {
        Self {
            initial: BACKOFF_INITIAL,
            max: BACKOFF_MAX,
            jitter_percent: BACKOFF_JITTER_PERCENT,
            reset_after: BACKOFF_RESET_AFTER,
        }
    }
}

/// When to give up: after so many unwanted ends within the span the agent is `failed`, until somebody starts it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Breaker {
    /// How many ends. 0 never gives up.
    #[serde(default = "breaker_failures")]
    #[schemars(range(min = 0, max = 1000))]
    pub failures: u32,
    /// Within which span.
    #[serde(default = "breaker_within")]
    #[schemars(extend("x-edgeplane-min" = "1s", "x-edgeplane-max" = "7d"))]
    pub within: DurationMs,
}

impl Breaker {
    /// What holds unless a manifest says otherwise.
    #[must_use]
    pub const fn standard() -> Self {
        Self { failures: BREAKER_FAILURES, within: BREAKER_WITHIN }
    }
}

/// How it is found out that the program no longer works. One sign is enough.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Health {
    /// A command whose exit code 0 means that all is well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exec: Option<ExecProbe>,
    /// Silence that means trouble: no byte of output for this long while a turn is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-edgeplane-min" = "1s", "x-edgeplane-max" = "7d"))]
    pub quiet_for: Option<DurationMs>,
    /// A ping over the native driver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ping: Option<PingProbe>,
    /// What is done about it.
    #[serde(default = "OnUnhealthy::standard")]
    pub on_failure: OnUnhealthy,
}

/// A command whose exit code 0 means that all is well.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExecProbe {
    /// The program and its arguments. No shell reads it.
    #[schemars(length(min = 1, max = 1024))]
    pub command: Vec<String>,
    /// Time between two probes.
    #[serde(default = "probe_interval")]
    #[schemars(extend("x-edgeplane-min" = "1s", "x-edgeplane-max" = "1d"))]
    pub interval: DurationMs,
    /// Time it has to answer.
    #[serde(default = "probe_timeout")]
    #[schemars(extend("x-edgeplane-min" = "10ms", "x-edgeplane-max" = "1h"))]
    pub timeout: DurationMs,
    /// Failed probes in a row that count.
    #[serde(default = "probe_failures")]
    #[schemars(range(min = 1, max = 1000))]
    pub failures: u32,
}

/// A ping over the native driver.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PingProbe {
    /// Time between two pings.
    #[serde(default = "probe_interval")]
    #[schemars(extend("x-edgeplane-min" = "1s", "x-edgeplane-max" = "1d"))]
    pub interval: DurationMs,
    /// Time the program has to answer.
    #[serde(default = "probe_timeout")]
    #[schemars(extend("x-edgeplane-min" = "10ms", "x-edgeplane-max" = "1h"))]
    pub timeout: DurationMs,
    /// Unanswered pings in a row that count.
    #[serde(default = "probe_failures")]
    #[schemars(range(min = 1, max = 1000))]
    pub failures: u32,
}

/// What is done about an unhealthy agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnUnhealthy {
    /// It is stopped and counts as a failure for the restart policy.
    Restart,
    /// It is recorded, and the agent runs on.
    Report,
}

impl OnUnhealthy {
    /// What holds unless a manifest says otherwise: restart.
    #[must_use]
    pub const fn standard() -> Self {
        Self::Restart
    }
}

/// How the program is asked to end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Stop {
    /// The signal, by name or number.
    #[serde(default = "stop_signal")]
    pub signal: Signal,
    /// Time between the signal and the end of the whole tree by force.
    #[serde(default = "stop_grace")]
    #[schemars(extend("x-edgeplane-min" = "0s", "x-edgeplane-max" = "1h"))]
    pub grace: DurationMs,
    /// How long a program that is told beforehand that its epoch ends has to save what it wants to keep, before the
    /// signal: one that says `offers.closing`, or offers to close sessions of the Agent Client Protocol.
    #[serde(default = "close_grace")]
    #[schemars(extend("x-edgeplane-min" = "0s", "x-edgeplane-max" = "10m"))]
    pub close_grace: DurationMs,
}

impl Stop {
    /// What holds unless a manifest says otherwise.
    #[must_use]
    pub const fn standard() -> Self {
        Self { signal: STOP_SIGNAL, grace: STOP_GRACE, close_grace: CLOSE_GRACE }
    }
}

/// Commands that the node runs at turning points, each recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HookSet {
    /// Before the program starts. Its failure prevents the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pre_start: Option<Hook>,
    /// After the program has started. Its failure is recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub post_start: Option<Hook>,
    /// Before the stop signal. Its failure is recorded and does not prevent the stop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pre_stop: Option<Hook>,
}

impl HookSet {
    /// No hook.
    #[must_use]
    pub const fn none() -> Self {
        Self { pre_start: None, post_start: None, pre_stop: None }
    }
}

/// A command that the node runs at a turning point.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Hook {
    /// The program and its arguments. No shell reads it.
    #[schemars(length(min = 1, max = 1024))]
    pub command: Vec<String>,
    /// Time it has; after that it is killed and has failed.
    #[serde(default = "hook_timeout")]
    #[schemars(extend("x-edgeplane-min" = "10ms", "x-edgeplane-max" = "1h"))]
    pub timeout: DurationMs,
}

/// What the program and all its descendants together may use. A limit that is left out is not set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Limits {
    /// Memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-edgeplane-min" = "1MiB", "x-edgeplane-max" = "1024TiB"))]
    pub memory: Option<ByteSize>,
    /// Processes and threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 4_194_304))]
    pub pids: Option<u32>,
    /// Processor time per time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-edgeplane-min" = "10m", "x-edgeplane-max" = "1000000m"))]
    pub cpu: Option<MilliCpu>,
    /// Open files of each process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 16, max = 1_073_741_816))]
    pub open_files: Option<u32>,
    /// Whether the agent may start on a machine that cannot enforce a limit. Otherwise the start is refused.
    #[serde(default)]
    pub best_effort: bool,
}

impl Limits {
    /// No limit.
    #[must_use]
    pub const fn none() -> Self {
        Self { memory: None, pids: None, cpu: None, open_files: None, best_effort: false }
    }
}

/// Generations of agents under one unless a manifest says otherwise: its children, and none under them.
pub const SUBAGENTS_DEPTH: u32 = 1;

/// How many agents a program may start under itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Subagents {
    /// Most of its children at a time.
    #[schemars(range(min = 0, max = 64))]
    pub max: u32,
    /// How many generations there may be under it. Each child may have one less, and as many children as it.
    #[serde(default = "subagents_depth")]
    #[schemars(range(min = 1, max = 8))]
    pub depth: u32,
}

macro_rules! defaults {
    ($($name:ident: $type:ty = $value:expr;)+) => {$(
        fn $name() -> $type {
            $value
        }
    )+};
}

defaults! {
    backoff_initial: DurationMs = BACKOFF_INITIAL;
    backoff_max: DurationMs = BACKOFF_MAX;
    backoff_jitter_percent: u8 = BACKOFF_JITTER_PERCENT;
    backoff_reset_after: DurationMs = BACKOFF_RESET_AFTER;
    breaker_failures: u32 = BREAKER_FAILURES;
    breaker_within: DurationMs = BREAKER_WITHIN;
    probe_interval: DurationMs = PROBE_INTERVAL;
    probe_timeout: DurationMs = PROBE_TIMEOUT;
    probe_failures: u32 = PROBE_FAILURES;
    stop_signal: Signal = STOP_SIGNAL;
    stop_grace: DurationMs = STOP_GRACE;
    close_grace: DurationMs = CLOSE_GRACE;
    hook_timeout: DurationMs = HOOK_TIMEOUT;
    subagents_depth: u32 = SUBAGENTS_DEPTH;
}

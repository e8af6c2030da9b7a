//! Messages that come by the clock: when, what, and what becomes of those that could not be sent in time.

use edgeplane_types::{AgentName, Priority, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    clock::{CronText, DueTime, Moment, ZoneName},
    model::ApiVersion,
    quantity::DurationMs,
};

/// Occurrences that `catchUp: all` runs at most.
pub const CATCH_UP_MAX: u32 = 10;

/// What a document declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub enum ScheduleKind {
    /// A schedule.
    Schedule,
}

/// A schedule in a document of its own, apart from the agent that its messages are for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ScheduleManifest {
    /// The version of the manifest's language: `edgeplane.dev/v1alpha1`.
    pub api_version: ApiVersion,
    /// What this document declares: `Schedule`.
    pub kind: ScheduleKind,
    /// Which one it is.
    pub metadata: ScheduleMetadata,
    /// What it says.
    pub spec: ScheduleSpec,
}

/// Which schedule it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ScheduleMetadata {
    /// Its name, unique among the schedules of its agent.
    pub name: AgentName,
    /// What it is for, in a sentence or a few.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 8192))]
    pub description: Option<String>,
}

/// What a schedule in a document of its own says.
// Unknown keys are refused by the schema; serde has no such refusal beside a flattened field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("additionalProperties" = false))]
pub struct ScheduleSpec {
    /// The agent that its messages are for. One that is not in the same set of manifests must be known to the node.
    pub agent: AgentName,
    /// When, what and how.
    #[serde(flatten)]
    pub body: ScheduleBody,
}

/// A schedule that stands in the manifest of its agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("additionalProperties" = false))]
pub struct InlineSchedule {
    /// Its name, unique among the schedules of its agent.
    pub name: AgentName,
    /// When, what and how.
    #[serde(flatten)]
    pub body: ScheduleBody,
}

/// When something is due, and what becomes of times that were missed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Timing {
    /// Due whenever the clock of `timeZone` shows this. This, `every` or `at`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cron: Option<CronText>,
    /// Due again and again after this span of elapsed time. This, `cron` or `at`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-edgeplane-min" = "1s", "x-edgeplane-max" = "366d"))]
    pub every: Option<DurationMs>,
    /// The first occurrence of `every`. Left out: one span after it was declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Moment>,
    /// Due once, then. This, `cron` or `every`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<DueTime>,
    /// The time zone of `cron`, and of `at` without an offset.
    #[serde(default = "ZoneName::utc")]
    pub time_zone: ZoneName,
    /// What becomes of occurrences that came due while the node was not there or the clock passed them over.
    #[serde(default = "CatchUp::standard")]
    pub catch_up: CatchUp,
    /// How many of them run with `catchUp: all`; the rest is missed.
    #[serde(default = "catch_up_max")]
    #[schemars(range(min = 1, max = 1000))]
    pub catch_up_max: u32,
    /// Each message is put off by a span below this, the same whenever it is asked, so that many schedules of one
    /// time do not run at once.
    #[serde(default = "no_jitter")]
    #[schemars(extend("x-edgeplane-min" = "0s", "x-edgeplane-max" = "1d"))]
    pub jitter: DurationMs,
    /// An occurrence later than this is missed, whatever `catchUp` says. Left out: none is too late.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-edgeplane-min" = "1s", "x-edgeplane-max" = "366d"))]
    pub deadline: Option<DurationMs>,
}

/// When a schedule is due, what it sends, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScheduleBody {
    /// When it is due.
    #[serde(flatten)]
    pub timing: Timing,
    /// The text of the message.
    #[schemars(length(min = 1, max = 65_536))]
    pub content: String,
    /// What happens while the message of the occurrence before has not ended its turn. For an agent that reports no
    /// turns: while it waits to be delivered.
    #[serde(default = "Overlap::standard")]
    pub overlap: Overlap,
    /// Whether its occurrences are skipped.
    #[serde(default)]
    pub paused: bool,
    /// Which waiting message of the agent goes first.
    #[serde(default = "standard_priority")]
    pub priority: Priority,
}

/// When a schedule is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due<'a> {
    /// By the clock of its time zone.
    Cron(&'a CronText),
    /// After each span, from a moment on if it names one.
    Every(DurationMs, Option<&'a Moment>),
    /// Once.
    At(&'a DueTime),
}

impl Timing {
    /// When it is due, in its own words: `0 9 * * mon-fri Europe/Berlin`, `every 15m`, `at 2026-12-01T09:00:00 UTC`.
    #[must_use]
    pub fn when(&self) -> String {
        match self.due() {
            Some(Due::Cron(cron)) => format!("{cron} {}", self.time_zone),
            Some(Due::Every(span, None)) => format!("every {span}"),
            Some(Due::Every(span, Some(from))) => format!("every {span} from {from}"),
            // A moment with its offset needs no zone.
            Some(Due::At(at)) if at.as_str().parse::<Timestamp>().is_ok() => format!("at {at}"),
            Some(Due::At(at)) => format!("at {at} {}", self.time_zone),
            None => String::new(),
        }
    }

    /// When it is due. None if it says so in no way or in two, which no manifest that was taken does.
    #[must_use]
    pub fn due(&self) -> Option<Due<'_>> {
        match (&self.cron, self.every, &self.at) {
            (Some(cron), None, None) => Some(Due::Cron(cron)),
            (None, Some(span), None) => Some(Due::Every(span, self.from.as_ref())),
            (None, None, Some(at)) => Some(Due::At(at)),
            (None, None, None) | (Some(_), Some(_), _) | (Some(_), _, Some(_)) | (_, Some(_), Some(_)) => {
                None
            }
        }
    }
}

/// What becomes of occurrences that could not run in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CatchUp {
    /// They are missed.
    None,
    /// The last one runs late, the others are missed.
    Last,
    /// The newest run late, as many as `catchUpMax` says.
    All,
}

impl CatchUp {
    /// What holds unless a manifest says otherwise: nothing is forgotten, and nothing comes in a burst.
    #[must_use]
    pub const fn standard() -> Self {
        Self::Last
    }
}

/// What happens while the message of the occurrence before has not ended its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Overlap {
    /// The next one is sent too.
    Allow,
    /// The next one is skipped.
    Skip,
}

impl Overlap {
    /// What holds unless a manifest says otherwise: an agent that is slower than its schedule gathers no backlog.
    #[must_use]
    pub const fn standard() -> Self {
        Self::Skip
    }
}

fn catch_up_max() -> u32 {
    CATCH_UP_MAX
}

fn no_jitter() -> DurationMs {
    DurationMs::from_millis(0)
}

fn standard_priority() -> Priority {
    Priority::Normal
}

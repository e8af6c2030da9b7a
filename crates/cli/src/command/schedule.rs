//! `edgeplane schedule`: messages that come by the clock.

use clap::{Args, Subcommand};
use edgeplane_types::{
    AgentName, ErrorName, Timestamp,
    schedule::{MissReason, RunCause, SkipReason},
};
use edgeplane_wire::{
    api::schedule::{HistoryParams, ListParams, Occurred, OccurrenceView, ScheduleParams, ScheduleView},
    catalogue::{ScheduleHistory, ScheduleList, SchedulePause, ScheduleRemove, ScheduleResume, ScheduleRun},
};
use jiff::tz::TimeZone;

use super::Outcome;
use crate::{
    context::Context,
    failure::Failure,
    node::Node,
    output::{Color, paint},
    table::{Table, cell},
};

/// See and steer messages that come by the clock
///
/// A schedule sends its agent a message when the clock says so. It is declared in the agent's manifest or in a document
/// of its own, with `edgeplane apply`. Each time it is due is accounted for once: it ran, was skipped or was missed.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane schedule list
  edgeplane schedule history reviewer/morning
  edgeplane schedule run-now reviewer/morning
  edgeplane schedule pause morning")]
pub(crate) struct ScheduleArgs {
    #[command(subcommand)]
    command: ScheduleCommand,
}

#[derive(Debug, Subcommand)]
enum ScheduleCommand {
    List(ListArgs),
    History(HistoryArgs),
    RunNow(RunArgs),
    Pause(PauseArgs),
    Resume(ResumeArgs),
    Remove(RemoveArgs),
}

/// List schedules
///
/// Shows when each is due next, by the clock of this machine and without its jitter, and how often it ran, was skipped
/// and was missed.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane schedule list
  edgeplane schedule list reviewer -o json | jq '.items[].next_at'")]
struct ListArgs {
    /// Only of this agent: name or id
    #[arg(value_name = "AGENT")]
    agent: Option<String>,
}

/// Tell what became of each time it was due
///
/// Newest first. What ran names the message that it sent; what was skipped or missed says why.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane schedule history reviewer/morning
  edgeplane schedule history morning --limit 10 -o json")]
struct HistoryArgs {
    #[command(flatten)]
    target: Target,
    /// Most to list
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: u32,
}

/// Send its message now
///
/// Its plan is not touched: it comes due when it would have. Prints the id of the message.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane schedule run-now reviewer/morning
  edgeplane schedule run-now morning -o json | jq -r .message_id")]
struct RunArgs {
    #[command(flatten)]
    target: Target,
}

/// Let it rest
///
/// What comes due while it rests is skipped, and does not come later.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane schedule pause reviewer/morning
  edgeplane schedule pause morning")]
struct PauseArgs {
    #[command(flatten)]
    target: Target,
}

/// Let it go on
///
/// It runs again from the next time that it is due.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane schedule resume reviewer/morning
  edgeplane schedule resume morning")]
struct ResumeArgs {
    #[command(flatten)]
    target: Target,
}

/// End a schedule that was declared in a document of its own
///
/// Its history stays. One that stands in the manifest of its agent ends when it is taken out there.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane schedule remove reviewer/morning
  edgeplane schedule remove morning")]
struct RemoveArgs {
    #[command(flatten)]
    target: Target,
}

#[derive(Debug, Args)]
struct Target {
    /// The agent's name or id and the schedule's name; the latter alone if only one agent has such a schedule
    #[arg(value_name = "AGENT/NAME")]
    schedule: String,
}

impl Target {
    /// Which schedule it is; the node is asked if the agent is not named.
    fn find(&self, node: &mut Node, context: &Context) -> anyhow::Result<ScheduleParams> {
        let (agent, name) = match self.schedule.split_once('/') {
            Some((agent, name)) => (Some(agent.to_owned()), name),
            None => (None, self.schedule.as_str()),
        };
        let name: AgentName = name
            .parse()
            .map_err(|error| Failure::new(ErrorName::InvalidParams, format!("`{name}`: {error}")))?;
        if let Some(agent) = agent {
            return Ok(ScheduleParams { agent, name });
        }
        let all = context.ask_over::<ScheduleList>(node, &ListParams::default())?.read()?.items;
        let found: Vec<_> = all.into_iter().filter(|schedule| schedule.name == name).collect();
        match found.as_slice() {
            [one] => Ok(ScheduleParams { agent: one.agent.to_string(), name }),
            [] => {
                let failure = Failure::new(ErrorName::NotFound, format!("no schedule `{name}`"));
                Err(failure.hint("`edgeplane schedule list` shows the schedules there are").into())
            }
            several => {
                let names: Vec<_> = several.iter().map(|one| format!("{}/{name}", one.agent)).collect();
                let what = format!("several agents have a schedule `{name}`");
                let failure = Failure::new(ErrorName::InvalidParams, what);
                Err(failure.hint(format!("name one of them: {}", names.join(", "))).into())
            }
        }
    }
}

pub(crate) fn run(args: &ScheduleArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let mut node = context.connect()?;
    match &args.command {
        ScheduleCommand::List(args) => list(args, &mut node, context)?,
        ScheduleCommand::History(args) => history(args, &mut node, context)?,
        ScheduleCommand::RunNow(RunArgs { target }) => {
            let params = target.find(&mut node, context)?;
            let answer = context.ask_over::<ScheduleRun>(&mut node, &params)?;
            context.show(&answer, |out, result| Ok(out.line(&result.message_id.to_string())?))?;
        }
        ScheduleCommand::Pause(PauseArgs { target }) => {
            let params = target.find(&mut node, context)?;
            let answer = context.ask_over::<SchedulePause>(&mut node, &params)?;
            context
                .show(&answer, |out, view| Ok(out.line(&format!("{}/{} paused", view.agent, view.name))?))?;
        }
        ScheduleCommand::Resume(ResumeArgs { target }) => {
            let params = target.find(&mut node, context)?;
            let answer = context.ask_over::<ScheduleResume>(&mut node, &params)?;
            context.show(&answer, |out, view| {
                let next = view.next_at.map(|at| format!(", due {}", local_time(at, &TimeZone::system())));
                Ok(out.line(&format!("{}/{} resumed{}", view.agent, view.name, next.unwrap_or_default()))?)
            })?;
        }
        ScheduleCommand::Remove(RemoveArgs { target }) => {
            let params = target.find(&mut node, context)?;
            let answer = context.ask_over::<ScheduleRemove>(&mut node, &params)?;
            context.show(&answer, |out, _| {
                Ok(out.line(&format!("{}/{} removed", cell(&params.agent), params.name))?)
            })?;
        }
    }
    Ok(Outcome::Done)
}

fn list(args: &ListArgs, node: &mut Node, context: &mut Context) -> anyhow::Result<()> {
    let answer = context.ask_over::<ScheduleList>(node, &ListParams { agent: args.agent.clone() })?;
    context.show(&answer, |out, result| {
        if result.items.is_empty() {
            out.note("no schedules");
            return Ok(());
        }
        let zone = TimeZone::system();
        let mut table = Table::new(&["SCHEDULE", "WHEN", "NEXT", "RAN", "SKIPPED", "MISSED", "DECLARED"]);
        for schedule in &result.items {
            table.row([
                format!("{}/{}", schedule.agent, schedule.name),
                cell(&schedule.when),
                next(schedule, &zone),
                schedule.ran.to_string(),
                schedule.skipped.to_string(),
                schedule.missed.to_string(),
                if schedule.in_manifest { "in manifest" } else { "alone" }.to_owned(),
            ]);
        }
        Ok(out.table(&table)?)
    })
}

fn next(schedule: &ScheduleView, zone: &TimeZone) -> String {
    match schedule.next_at {
        _ if schedule.paused => paint(Color::Yellow, "paused"),
        Some(at) => local_time(at, zone),
        None => paint(Color::Dim, "never again"),
    }
}

fn history(args: &HistoryArgs, node: &mut Node, context: &mut Context) -> anyhow::Result<()> {
    let ScheduleParams { agent, name } = args.target.find(node, context)?;
    let answer =
        context.ask_over::<ScheduleHistory>(node, &HistoryParams { agent, name, limit: args.limit })?;
    context.show(&answer, |out, result| {
        if result.items.is_empty() {
            out.note("it was not due yet");
            return Ok(());
        }
        let zone = TimeZone::system();
        let mut table = Table::new(&["DUE", "OUTCOME", "WHY", "DETAIL"]);
        for item in &result.items {
            table.row(row(item, &zone));
        }
        Ok(out.table(&table)?)
    })
}

fn row(item: &OccurrenceView, zone: &TimeZone) -> [String; 4] {
    let due = local_time(item.due_at, zone);
    match &item.outcome {
        Occurred::Ran { cause, message_id } => {
            let why = match cause {
                RunCause::Due => "due",
                RunCause::CatchUp => "caught up",
                RunCause::Manual => "asked for",
            };
            [due, paint(Color::Green, "ran"), why.to_owned(), message_id.to_string()]
        }
        Occurred::Skipped { reason, detail } => {
            let why = match reason {
                SkipReason::Overlap => "overlap",
                SkipReason::Paused => "paused",
                SkipReason::Refused => "refused",
                SkipReason::Backpressure => "backpressure",
            };
            [due, paint(Color::Yellow, "skipped"), why.to_owned(), cell(detail)]
        }
        Occurred::Missed { reason, to, count } => {
            let why = match reason {
                MissReason::NodeDown => "node down",
                MissReason::ClockJump => "clock jump",
                MissReason::Deadline => "deadline",
            };
            let detail = match count {
                1 => String::new(),
                many => format!("{many} times, the last {}", local_time(*to, zone)),
            };
            [due, paint(Color::Red, "missed"), why.to_owned(), detail]
        }
    }
}

/// A moment by the clock of a zone, to the second, with the zone: `2026-12-01 09:00:00 CET`.
fn local_time(at: Timestamp, zone: &TimeZone) -> String {
    match jiff::Timestamp::from_microsecond(at.as_micros()) {
        Ok(moment) => moment.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M:%S %Z").to_string(),
        Err(_) => at.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use jiff::tz;

    use super::*;

    #[test]
    fn times_are_those_of_the_zone_and_name_it() {
        let at: Timestamp = "2026-12-01T08:00:00.9Z".parse().unwrap();
        assert_eq!(local_time(at, &TimeZone::UTC), "2026-12-01 08:00:00 UTC");
        let zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        assert_eq!(local_time(at, &zone), "2026-12-01 09:00:00 CET");
        let at: Timestamp = "2026-07-01T08:00:00Z".parse().unwrap();
        assert_eq!(local_time(at, &zone), "2026-07-01 10:00:00 CEST");
        assert_eq!(local_time(at, &TimeZone::fixed(tz::offset(-3))), "2026-07-01 05:00:00 -03");
    }
}

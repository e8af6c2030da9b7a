//! `edgeplane job`: batches of items that are dealt out to agents.

mod show;

use std::{collections::BTreeMap, path::PathBuf};

use anyhow::Context as _;
use clap::{Args, Subcommand};
use edgeplane_types::{JobItemState, JobReport, OutputId, Priority, RunId, SafeLabel, TaskId};
use edgeplane_wire::{
    api::job::{
        ITEMS_MAX, JobCancelParams, JobCreateParams, JobGetParams, JobItemAssignParams, JobItemInput,
        JobItemReportParams, JobItemRetryParams, JobItemView, JobListParams,
    },
    catalogue::{Call, JobCancel, JobCreate, JobGet, JobItemAssign, JobItemReport, JobItemRetry, JobList},
};
use serde_json::Value;

use super::{
    Outcome,
    content::{text_of, words},
    task::LimitArgs,
};
use crate::{context::Context, failure::Misuse};

/// Have many items done by several agents, and see what came of each
///
/// A job is a task whose items are its parts. Each item goes to an agent that is idle, one at a time for each agent; what
/// fails or dies is tried again at another one, as often as `--attempts` says.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane job create \"Review\" --objective \"Review {item}\" --items files.jsonl --label team=core --attempts 3
  edgeplane job get tsk_01890000-0000-7000-8000-000000000002
  edgeplane job retry tsk_01890000-0000-7000-8000-000000000003")]
pub(crate) struct JobArgs {
    #[command(subcommand)]
    command: JobCommand,
}

#[derive(Debug, Subcommand)]
enum JobCommand {
    Create(Box<CreateArgs>),
    List(ListArgs),
    Get(GetArgs),
    /// End a job before it is done
    ///
    /// What is done stays done, what is worked on is told, what waits is never begun.
    #[command(after_help = "\
EXAMPLES:
  edgeplane job cancel tsk_01890000-0000-7000-8000-000000000002
  edgeplane job cancel tsk_01890000-0000-7000-8000-000000000002 --reason \"wrong list\"")]
    Cancel(ChangeArgs),
    /// Try an item again that failed
    ///
    /// A job that had failed goes on with it.
    #[command(after_help = "\
EXAMPLES:
  edgeplane job retry tsk_01890000-0000-7000-8000-000000000003
  edgeplane job retry tsk_01890000-0000-7000-8000-000000000003 --reason \"the tests are up again\"")]
    Retry(ChangeArgs),
    Report(ReportArgs),
    Assign(AssignArgs),
}

/// Make a job
///
/// Each line of the list is an item: a text, or JSON. An object with `item_id` and `input` names the item's id itself.
/// The item stands where `{item}` stands in the objective, or below it.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane job create \"Review\" --objective \"Review {item}\" --items files.txt --agent alpha --agent beta
  ls src | edgeplane job create \"Review\" --objective \"Review {item}\" --items - --capability review --attempts 3
  edgeplane job create \"Rate\" --objective \"Rate: {item}\" --items a.jsonl --label team=core --report explicit --parallel 4")]
struct CreateArgs {
    /// What it is called
    title: String,
    /// What is to be done with each item
    #[arg(long, value_name = "TEXT")]
    objective: Option<String>,
    /// A file with an item on each line; `-` is standard input
    #[arg(short = 'f', long, value_name = "FILE")]
    items: PathBuf,
    /// An agent that may be given items; may be repeated
    #[arg(long, value_name = "AGENT")]
    agent: Vec<String>,
    /// A label that agents have that may be given items; may be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = parse_label)]
    label: Vec<(String, SafeLabel)>,
    /// What agents are able to do that may be given items: their label `capability`,
    /// or what they offer under this name and an operator vouches for
    #[arg(long, value_name = "WORD")]
    capability: Option<SafeLabel>,
    /// How many items are worked on at a time; else as many as there are agents
    #[arg(long, value_name = "N")]
    parallel: Option<u32>,
    /// How often an item is tried at most
    #[arg(long, value_name = "N", default_value_t = 1)]
    attempts: u32,
    /// What counts as the report of an item: the end of the `turn`, or what its agent reports (`explicit`)
    #[arg(long, value_name = "KIND", default_value = "turn", value_parser = words(&["turn", "explicit"], JobReport::from_word))]
    report: JobReport,
    #[command(flatten)]
    limits: LimitArgs,
    /// How urgent it is
    #[arg(long, value_name = "PRIORITY", default_value = "normal", value_parser = words(&["high", "normal", "low"], Priority::from_word))]
    priority: Priority,
    /// Its id, so that making it twice makes it once
    #[arg(long, value_name = "JOB")]
    id: Option<TaskId>,
}

fn parse_label(text: &str) -> Result<(String, SafeLabel), String> {
    let (key, value) = text.split_once('=').ok_or("is KEY=VALUE")?;
    let value = value.parse::<SafeLabel>().map_err(|error| error.to_string())?;
    Ok((key.to_owned(), value))
}

/// List jobs, oldest first
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane job list
  edgeplane job list --all -o json | jq .items")]
struct ListArgs {
    /// Also those that are over
    #[arg(long)]
    all: bool,
    /// Most to list
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: u32,
}

/// Show a job with its items
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane job get tsk_01890000-0000-7000-8000-000000000002
  edgeplane job get tsk_01890000-0000-7000-8000-000000000002 --state failed
  edgeplane job get tsk_01890000-0000-7000-8000-000000000002 --item tsk_01890000-0000-7000-8000-000000000003 -o json | jq .items[0].result")]
struct GetArgs {
    /// The job
    #[arg(value_name = "JOB")]
    id: TaskId,
    /// Only this item, with its whole result
    #[arg(long, value_name = "ITEM")]
    item: Option<TaskId>,
    /// Only items in this state
    #[arg(long, value_name = "STATE", value_parser = words(&["pending", "running", "completed", "failed", "reported"], JobItemState::from_word))]
    state: Option<JobItemState>,
    /// Most items to show
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: u32,
}

#[derive(Debug, Args)]
struct ChangeArgs {
    /// Which
    #[arg(value_name = "ID")]
    id: TaskId,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

/// Report what came of an item
///
/// For the agent that holds it. The first report counts.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane job report tsk_01890000-0000-7000-8000-000000000003 --result '{\"grade\": 4}'
  edgeplane job report tsk_01890000-0000-7000-8000-000000000003 --file result.json")]
struct ReportArgs {
    /// The item
    #[arg(value_name = "ITEM")]
    id: TaskId,
    /// What came of it, as JSON; what is no JSON is a text
    #[arg(long, value_name = "JSON", conflicts_with = "file")]
    result: Option<String>,
    /// A file with what came of it; `-` is standard input
    #[arg(short, long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// The output that holds what came of it
    #[arg(long, value_name = "OUTPUT")]
    output_id: Option<OutputId>,
    /// The run that says so
    #[arg(long, value_name = "RUN")]
    run: Option<RunId>,
}

/// Give an item that waits to an agent
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane job assign tsk_01890000-0000-7000-8000-000000000003 reviewer
  edgeplane job assign tsk_01890000-0000-7000-8000-000000000003 reviewer -o json | jq .run_id")]
struct AssignArgs {
    /// The item
    #[arg(value_name = "ITEM")]
    id: TaskId,
    /// The agent
    #[arg(value_name = "AGENT")]
    agent: String,
}

pub(crate) fn run(args: JobArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    match args.command {
        JobCommand::Create(args) => {
            let answer = context.ask::<JobCreate>(&to_create(*args)?)?;
            context.show(&answer, |out, job| Ok(out.line(&show::line(&job))?))?;
        }
        JobCommand::List(ListArgs { all, limit }) => {
            let answer = context.ask::<JobList>(&JobListParams { all, cursor: 0, limit })?;
            context.show(&answer, |out, list| show::jobs(out, &list))?;
        }
        JobCommand::Get(GetArgs { id, item, state, limit }) => {
            let params = JobGetParams { job_id: id, item_id: item, state, cursor: 0, limit };
            let answer = context.ask::<JobGet>(&params)?;
            context.show(&answer, |out, detail| show::detail(out, &detail))?;
        }
        JobCommand::Cancel(ChangeArgs { id, reason }) => {
            let answer = context.ask::<JobCancel>(&JobCancelParams { job_id: id, reason })?;
            context.show(&answer, |out, job| Ok(out.line(&show::line(&job))?))?;
        }
        JobCommand::Retry(ChangeArgs { id, reason }) => {
            return ask::<JobItemRetry>(context, &JobItemRetryParams { item_id: id, reason });
        }
        JobCommand::Report(args) => return ask::<JobItemReport>(context, &to_report(args)?),
        JobCommand::Assign(AssignArgs { id, agent }) => {
            return ask::<JobItemAssign>(context, &JobItemAssignParams { item_id: id, agent });
        }
    }
    Ok(Outcome::Done)
}

/// Asks for something that gives an item, and shows it on a line.
fn ask<C: Call<Result = JobItemView>>(context: &mut Context, params: &C::Params) -> anyhow::Result<Outcome> {
    let answer = context.ask::<C>(params)?;
    context.show(&answer, |out, item| Ok(out.line(&show::item_line(&item))?))?;
    Ok(Outcome::Done)
}

/// The items of a list: each line that is not empty.
fn items_of(text: &str) -> anyhow::Result<Vec<JobItemInput>> {
    let mut items = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if items.len() >= ITEMS_MAX {
            return Err(Misuse(format!("a job has at most {ITEMS_MAX} items")).into());
        }
        items.push(
            item_of(line).with_context(|| format!("cannot read item {}", items.len().saturating_add(1)))?,
        );
    }
    Ok(items)
}

fn item_of(line: &str) -> anyhow::Result<JobItemInput> {
    let read = serde_json::from_str::<Value>(line);
    match read {
        Ok(Value::Object(object)) if object.contains_key("input") => {
            serde_json::from_value(Value::Object(object)).map_err(|error| Misuse(error.to_string()).into())
        }
        Ok(input) => Ok(JobItemInput { item_id: None, input }),
        Err(_no_json) => Ok(JobItemInput { item_id: None, input: Value::String(line.to_owned()) }),
    }
}

fn to_create(args: CreateArgs) -> anyhow::Result<JobCreateParams> {
    Ok(JobCreateParams {
        job_id: args.id,
        title: args.title,
        objective: args.objective,
        items: items_of(&text_of(args.items)?)?,
        agents: args.agent,
        labels: BTreeMap::from_iter(args.label),
        capability: args.capability,
        parallelism: args.parallel,
        attempts: args.attempts,
        report: args.report,
        limits: args.limits.limits(),
        priority: args.priority,
    })
}

fn to_report(args: ReportArgs) -> anyhow::Result<JobItemReportParams> {
    let ReportArgs { id, result, file, output_id, run } = args;
    let text = match file {
        Some(path) => Some(text_of(path)?),
        None => result,
    };
    let result = text.map_or(Value::Null, |text| {
        serde_json::from_str(&text).unwrap_or_else(|_no_json| Value::String(text.trim_end().to_owned()))
    });
    Ok(JobItemReportParams { item_id: id, run_id: run, result, output_id })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_an_item() {
        let text = "plain words\n\n{\"a\": 1}\n\"quoted\"\n{\"item_id\": \"tsk_01890000-0000-7000-8000-000000000003\", \"input\": [1]}\n";
        let items = items_of(text).unwrap();
        let inputs: Vec<String> = items.iter().map(|item| item.input.to_string()).collect();
        assert_eq!(inputs, ["\"plain words\"", "{\"a\":1}", "\"quoted\"", "[1]"]);
        assert!(items[3].item_id.is_some() && items[0].item_id.is_none());
        assert!(items_of("{\"input\": 1, \"id\": 7}").is_err());
    }
}

//! `edgeplane action`: what agents ask people.

mod ask;
mod describe;

use std::io::{BufRead as _, IsTerminal as _, Write as _};

use clap::{Args, Subcommand};
use edgeplane_types::{
    ActionId, ErrorName,
    decision::{ActionKind, ActionOutcome, Verdict},
};
use edgeplane_wire::{
    api::action::{ActionParams, ActionView, DecideParams, ListParams},
    catalogue::{ActionCancel, ActionGet, ActionList, ActionRespond},
};
use serde_json::Value;

use super::{Outcome, inbox::short_time};
use crate::{
    context::Context,
    failure::{Failure, Misuse},
    output,
    table::{Table, cell},
    text,
};

/// Characters of a prompt that a table shows.
const EXCERPT_CHARS: usize = 60;

/// Decide what agents ask
///
/// An agent that needs a person opens an action: an approval, which is leave to do exactly one thing, or a question. It
/// waits until somebody decides or its time is over; silence is a denial. Agents ask with `ask`.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane action list
  edgeplane action approve act_01a1fdf2-e66c-7895-8d23-c87c02b4b04d
  edgeplane action deny act_01a1fdf2-e66c-7895-8d23-c87c02b4b04d --reason \"not on a Friday\"
  edgeplane action ask --prompt \"Delete the build?\" --wait --timeout 10m && rm -r build")]
pub(crate) struct ActionArgs {
    #[command(subcommand)]
    command: ActionCommand,
}

#[derive(Debug, Subcommand)]
enum ActionCommand {
    List(ListArgs),
    Show(ShowArgs),
    Approve(ApproveArgs),
    Deny(DenyArgs),
    Answer(AnswerArgs),
    Ask(Box<ask::AskArgs>),
    Cancel(CancelArgs),
}

/// List what waits for a person
///
/// What ends first comes first. Inside an agent these are its own.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane action list
  edgeplane action list --agent reviewer --all
  edgeplane action list -o json | jq '.items[].action.prompt'")]
struct ListArgs {
    /// Only of this agent: name or id
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Also those that are decided, the newest first
    #[arg(short, long)]
    all: bool,
    /// Most actions to list
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: u32,
}

/// Show an action
///
/// Everything that it asks: the prompt, the choices or the schema, the subject word for word, who may decide, who has
/// said what, and the digest of exactly this.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane action show act_01a1fdf2-e66c-7895-8d23-c87c02b4b04d
  edgeplane action show act_01a1fdf2-e66c-7895-8d23-c87c02b4b04d -o json | jq -r .action.digest")]
struct ShowArgs {
    /// The action's id
    action: ActionId,
}

/// Approve exactly what an approval asks
///
/// Shows what is asked and, on a terminal, asks whether you approve exactly this. Without a terminal it wants to be told:
/// `--digest` approves only what has this digest, as `show` or a program has shown it to you; `--yes` approves whatever
/// it reads and shows at this moment. Where a program asks for leave in its own words, `show` lists the answers that it
/// offers, and `--option` chooses one, such as one that lasts; how long that is, only the program knows.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane action approve act_01a1fdf2-e66c-7895-8d23-c87c02b4b04d
  edgeplane action approve act_01a1fdf2-e66c-7895-8d23-c87c02b4b04d --digest \"$DIGEST\"
  edgeplane action approve act_01a1fdf2-e66c-7895-8d23-c87c02b4b04d --option allow_always

EXIT CODES:
  0 the vote counts    1 you said no    73 something else is asked    75 decided already    77 not yours to decide")]
struct ApproveArgs {
    /// The action's id
    action: ActionId,
    /// Approve only what has this digest, without a question
    #[arg(long, value_name = "SHA256", conflicts_with = "yes")]
    digest: Option<String>,
    /// Approve what is shown, without a question
    #[arg(short, long)]
    yes: bool,
    /// Which of the answers that its program offers is given, by id or name; left out, the one for just this once
    #[arg(long, value_name = "OPTION")]
    option: Option<String>,
}

/// Deny an action
///
/// One denial decides, also yours after you have approved, as long as it is not decided.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane action deny act_01a1fdf2-e66c-7895-8d23-c87c02b4b04d
  edgeplane action deny act_01a1fdf2-e66c-7895-8d23-c87c02b4b04d --reason \"not on a Friday\"")]
struct DenyArgs {
    /// The action's id
    action: ActionId,
    /// Why, in your words; the agent reads it
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Deny only what has this digest
    #[arg(long, value_name = "SHA256")]
    digest: Option<String>,
    /// Which of the answers that its program offers is given, by id or name; left out, the one for just this once
    #[arg(long, value_name = "OPTION")]
    option: Option<String>,
}

/// Answer a question
///
/// One of its choices, or what its schema asks for as `--json`, or words.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane action answer act_01a1fdf2-e66c-7895-8d23-c87c02b4b04d blue
  edgeplane action answer act_01a1fdf2-e66c-7895-8d23-c87c02b4b04d --json '{\"count\":3}'")]
struct AnswerArgs {
    /// The action's id
    action: ActionId,
    #[command(flatten)]
    value: AnswerValue,
    /// Answer only what has this digest
    #[arg(long, value_name = "SHA256")]
    digest: Option<String>,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct AnswerValue {
    /// The answer as a text: a choice's value, or words
    #[arg(allow_hyphen_values = true)]
    value: Option<String>,
    /// The answer as JSON
    #[arg(long, value_name = "JSON")]
    json: Option<String>,
}

/// Take an action back
///
/// For the agent that asks, and for operators. The agent is told if it was not the agent itself.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane action cancel act_01a1fdf2-e66c-7895-8d23-c87c02b4b04d
  edgeplane action cancel act_01a1fdf2-e66c-7895-8d23-c87c02b4b04d -o json | jq .outcome")]
struct CancelArgs {
    /// The action's id
    action: ActionId,
}

pub(crate) fn run(args: &ActionArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    match &args.command {
        ActionCommand::List(args) => list(args, context),
        ActionCommand::Show(args) => {
            let answer = context.ask::<ActionGet>(&ActionParams { action_id: args.action })?;
            context.show(&answer, |out, view| {
                describe::lines(&view).iter().try_for_each(|line| Ok(out.line(line)?))
            })?;
            Ok(Outcome::Done)
        }
        ActionCommand::Approve(args) => approve(args, context),
        ActionCommand::Deny(args) => {
            let verdict = Verdict::Deny { reason: args.reason.clone(), option: args.option.clone() };
            decide(args.action, args.digest.clone(), verdict, context)
        }
        ActionCommand::Answer(args) => {
            let verdict = Verdict::Answer { value: args.value.read()? };
            decide(args.action, args.digest.clone(), verdict, context)
        }
        ActionCommand::Ask(args) => ask::run(args, context),
        ActionCommand::Cancel(args) => {
            let answer = context.ask::<ActionCancel>(&ActionParams { action_id: args.action })?;
            context.show(&answer, |out, view| Ok(out.line(&summary(&view))?))?;
            Ok(Outcome::Done)
        }
    }
}

fn list(args: &ListArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let params = ListParams { agent: args.agent.clone(), all: args.all, limit: args.limit };
    let answer = context.ask::<ActionList>(&params)?;
    context.show(&answer, |out, result| {
        if result.items.is_empty() {
            out.note(if args.all { "no actions" } else { "nothing waits; --all shows what was decided" });
            return Ok(());
        }
        let mut table = Table::new(&["ACTION", "AGENT", "KIND", "STATE", "VOTES", "UNTIL", "PROMPT"]);
        for view in &result.items {
            table.row([
                view.action.id.to_string(),
                cell(&view.agent),
                kind_word(view.action.kind).to_owned(),
                view.outcome.map_or("pending", outcome_word).to_owned(),
                format!("{} of {}", approvals(view), view.action.quorum),
                short_time(view.resolved_at.as_ref().unwrap_or(&view.action.expires_at)),
                text::excerpt(&view.action.prompt, EXCERPT_CHARS),
            ]);
        }
        Ok(out.table(&table)?)
    })?;
    Ok(Outcome::Done)
}

fn approve(args: &ApproveArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    let verdict = Verdict::Approve { option: args.option.clone() };
    if let Some(digest) = &args.digest {
        return decide(args.action, Some(digest.clone()), verdict, context);
    }
    let is_terminal = std::io::stdin().is_terminal() && context.out.manner.stderr_is_terminal;
    if !args.yes && !is_terminal {
        let what = "nobody is there to be asked: give `--digest` of what was shown to you, or `--yes`";
        return Err(Misuse(what.to_owned()).into());
    }
    let view = context.ask::<ActionGet>(&ActionParams { action_id: args.action })?.read()?;
    for line in describe::lines(&view) {
        output::complain(&line);
    }
    if !args.yes && !is_confirmed()? {
        output::complain("not approved");
        return Ok(Outcome::Found);
    }
    decide(args.action, Some(view.action.digest), verdict, context)
}

/// Asks the person at the terminal; only a plain yes is one.
fn is_confirmed() -> anyhow::Result<bool> {
    let mut stderr = std::io::stderr();
    write!(stderr, "approve exactly this? [y/N] ")?;
    stderr.flush()?;
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}

/// Votes, on what has the digest, or else on what the node has under this id.
fn decide(
    action_id: ActionId,
    digest: Option<String>,
    verdict: Verdict,
    context: &mut Context,
) -> anyhow::Result<Outcome> {
    let digest = match digest {
        Some(digest) => digest,
        None => context.ask::<ActionGet>(&ActionParams { action_id })?.read()?.action.digest,
    };
    let answer = context.ask::<ActionRespond>(&DecideParams { action_id, digest, verdict })?;
    context.show(&answer, |out, view| Ok(out.line(&summary(&view))?))?;
    Ok(Outcome::Done)
}

/// How far an action has come, in a line.
fn summary(view: &ActionView) -> String {
    let id = view.action.id;
    match view.outcome {
        Some(outcome) => format!("{id} {}", outcome_word(outcome)),
        None => format!("{id} pending: {} of {} have approved", approvals(view), view.action.quorum),
    }
}

fn approvals(view: &ActionView) -> usize {
    view.votes.iter().filter(|vote| matches!(vote.verdict, Verdict::Approve { .. })).count()
}

fn kind_word(kind: ActionKind) -> &'static str {
    match kind {
        ActionKind::Question => "question",
        ActionKind::Approval => "approval",
    }
}

fn outcome_word(outcome: ActionOutcome) -> &'static str {
    match outcome {
        ActionOutcome::Approved => "approved",
        ActionOutcome::Denied => "denied",
        ActionOutcome::Answered => "answered",
        ActionOutcome::Expired => "expired",
        ActionOutcome::Cancelled => "cancelled",
    }
}

impl AnswerValue {
    fn read(&self) -> anyhow::Result<Value> {
        match (&self.value, &self.json) {
            (Some(text), _) => Ok(Value::from(text.as_str())),
            (None, json) => parse_json("--json", json.as_deref().unwrap_or_default()),
        }
    }
}

fn parse_json(flag: &str, json: &str) -> anyhow::Result<Value> {
    serde_json::from_str(json).map_err(|error| {
        Failure::new(ErrorName::InvalidParams, format!("`{flag}` does not hold JSON: {error}")).into()
    })
}

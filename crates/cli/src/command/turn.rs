//! `edgeplane turn`: begin, steer, interrupt and look at turns.

use std::time::Duration;

use clap::{Args, Subcommand};
use edgeplane_types::{Priority, ThreadId, TurnId};
use edgeplane_wire::{
    api::conversation::{
        LIST_MAX,
        turn::{
            Disposition, InterruptOutcome, OnBusy, QueueFate, ThreadToCreate, TurnInterruptParams,
            TurnListParams, TurnParams, TurnStartParams, TurnStartResult, TurnState, TurnSteerParams,
            TurnView,
        },
    },
    catalogue::{TurnGet, TurnInterrupt, TurnList, TurnStart, TurnSteer},
};

use super::{
    Outcome,
    content::{Words, words},
    inbox::short_time,
    signal::millis,
    task::LimitArgs,
    workspace::BoundArgs,
};
use crate::{
    context::Context,
    output::{Color, Output, paint},
    quantity,
    table::{Table, cell},
};

/// Begin turns and look at them
///
/// A turn is what an agent does because of one message, to the end of it. Its id and that of the message have the same
/// digits. A turn that is begun is on disk before the command returns, and waits while another one runs.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane turn start reviewer \"Run the tests\"
  edgeplane turn start reviewer \"Find the leak\" --wall-time 20m --tokens 200000
  edgeplane turn get trn_01890000-0000-7000-8000-000000000002
  edgeplane turn interrupt trn_01890000-0000-7000-8000-000000000002 --reason \"wrong branch\"")]
pub(crate) struct TurnArgs {
    #[command(subcommand)]
    command: TurnCommand,
}

#[derive(Debug, Subcommand)]
enum TurnCommand {
    Start(Box<StartArgs>),
    Steer(SteerArgs),
    Interrupt(InterruptArgs),
    Get(GetArgs),
    List(ListArgs),
}

/// Begin a turn
///
/// In the agent's first thread, in the one of `--thread`, or with `--new-thread` in one that is made for it. With an id of
/// your own, a repetition begins nothing. A turn is a run of a task: `task get` and `run get` take its id with their own
/// prefix. With `--workspace` that run works under a binding to it until the turn ends.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane turn start reviewer \"Run the tests\"
  edgeplane turn start reviewer \"Find the leak\" --wall-time 20m --tokens 200000
  edgeplane turn start reviewer --file task.md --new-thread Nightly
  edgeplane turn start reviewer \"Tidy up\" --workspace wks_01890000-0000-7000-8000-000000000004
  edgeplane turn start reviewer \"Go on\" --on-busy reject --id trn_01890000-0000-7000-8000-000000000002")]
struct StartArgs {
    /// The agent's name or id; `-` with `--thread`
    name: String,
    #[command(flatten)]
    words: Words,
    /// The thread
    #[arg(long, value_name = "THREAD")]
    thread: Option<ThreadId>,
    /// Make a thread with this title for it
    #[arg(long, value_name = "TITLE", conflicts_with = "thread")]
    new_thread: Option<String>,
    /// Its id
    #[arg(long, value_name = "TURN")]
    id: Option<TurnId>,
    /// What becomes of it while another turn runs or waits
    #[arg(long, value_name = "WHAT", default_value = "queue", value_parser = words(&["queue", "reject", "steer"], on_busy))]
    on_busy: OnBusy,
    /// Which waiting turn goes first
    #[arg(long, value_name = "PRIORITY", default_value = "normal", value_parser = words(&["high", "normal", "low"], Priority::from_word))]
    priority: Priority,
    /// When it is no longer worth beginning, such as 10m
    #[arg(long, value_name = "TIME", value_parser = quantity::parse_duration)]
    expires: Option<Duration>,
    #[command(flatten)]
    limits: LimitArgs,
    #[command(flatten)]
    bound: BoundArgs,
}

fn on_busy(word: &str) -> Option<OnBusy> {
    match word {
        "queue" => Some(OnBusy::Queue),
        "reject" => Some(OnBusy::Reject),
        "steer" => Some(OnBusy::Steer),
        _ => None,
    }
}

/// Say something into a turn that runs
///
/// It becomes a part of the turn. A turn that is over takes nothing; the answer says what became of it.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane turn steer trn_01890000-0000-7000-8000-000000000002 \"Leave the docs alone\"
  edgeplane turn steer trn_01890000-0000-7000-8000-000000000002 --file more.md")]
struct SteerArgs {
    /// The turn
    #[arg(value_name = "TURN")]
    id: TurnId,
    #[command(flatten)]
    words: Words,
}

/// Ask for the end of a turn
///
/// That it is to end is on disk before its program is asked. A turn that waits is taken out of the queue.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane turn interrupt trn_01890000-0000-7000-8000-000000000002
  edgeplane turn interrupt trn_01890000-0000-7000-8000-000000000002 --drop-queued --reason \"start over\"")]
struct InterruptArgs {
    /// The turn
    #[arg(value_name = "TURN")]
    id: TurnId,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Also drop the turns of its thread that wait
    #[arg(long)]
    drop_queued: bool,
}

/// Show a turn
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane turn get trn_01890000-0000-7000-8000-000000000002
  edgeplane turn get trn_01890000-0000-7000-8000-000000000002 -o json | jq .state")]
struct GetArgs {
    /// The turn
    #[arg(value_name = "TURN")]
    id: TurnId,
}

/// List turns, the newest first
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane turn list reviewer
  edgeplane turn list reviewer --removed --limit 100
  edgeplane turn list --thread thr_01890000-0000-7000-8000-000000000002")]
struct ListArgs {
    /// The agent's name or id
    #[arg(required_unless_present = "thread", conflicts_with = "thread")]
    name: Option<String>,
    /// Only those of this thread
    #[arg(long, value_name = "THREAD")]
    thread: Option<ThreadId>,
    /// Also those that were rolled back
    #[arg(long)]
    removed: bool,
    /// Most to look through
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: u32,
}

pub(crate) fn run(args: TurnArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    match args.command {
        TurnCommand::Start(args) => {
            let answer = context.ask::<TurnStart>(&to_start(*args)?)?;
            context.show(&answer, |out, begun| begun_line(out, &begun))?;
        }
        TurnCommand::Steer(args) => {
            let (turn_id, input) = (args.id, args.words.parts()?);
            let params = TurnSteerParams { turn_id, input, authority: None, idempotency_key: None };
            let answer = context.ask::<TurnSteer>(&params)?;
            context.show(&answer, |out, begun| begun_line(out, &begun))?;
        }
        TurnCommand::Interrupt(args) => {
            let queued = if args.drop_queued { QueueFate::Drop } else { QueueFate::Keep };
            let params = TurnInterruptParams { turn_id: args.id, reason: args.reason, queued };
            let answer = context.ask::<TurnInterrupt>(&params)?;
            context.show(&answer, |out, done| {
                let what = match done.outcome {
                    InterruptOutcome::Accepted => "is to end",
                    InterruptOutcome::NoOp => "was over already",
                };
                let dropped = match done.dropped.len() {
                    0 => String::new(),
                    dropped => format!("; {dropped} dropped"),
                };
                Ok(out.line(&format!("{} {what}: {}{dropped}", done.turn.turn_id, word(done.turn.state)))?)
            })?;
        }
        TurnCommand::Get(args) => {
            let answer = context.ask::<TurnGet>(&TurnParams { turn_id: args.id })?;
            context.show(&answer, |out, turn| one(out, &turn))?;
        }
        TurnCommand::List(args) => {
            let params = TurnListParams {
                thread_id: args.thread,
                agent: args.name,
                removed: args.removed,
                newest: true,
                limit: args.limit.clamp(1, LIST_MAX),
                cursor: 0,
            };
            let answer = context.ask::<TurnList>(&params)?;
            context.show(&answer, |out, list| {
                if list.items.is_empty() {
                    out.note("no turns");
                    return Ok(());
                }
                table(out, list.items.iter())
            })?;
        }
    }
    Ok(Outcome::Done)
}

fn to_start(args: StartArgs) -> anyhow::Result<TurnStartParams> {
    let input = args.words.parts()?;
    let name = Some(args.name).filter(|name| name != "-");
    let (agent, create) = match args.new_thread {
        Some(title) => {
            let create = ThreadToCreate {
                agent: name,
                thread_id: None,
                title: Some(title),
                labels: std::collections::BTreeMap::new(),
            };
            (None, Some(create))
        }
        None => (name.filter(|_| args.thread.is_none()), None),
    };
    let binding = args.bound.binding();
    Ok(TurnStartParams {
        thread_id: args.thread,
        agent,
        create,
        turn_id: args.id,
        input,
        on_busy: args.on_busy,
        priority: args.priority,
        expires_in_ms: args.expires.map(millis),
        limits: args.limits.limits(),
        workspace_id: binding.map(|binding| binding.workspace_id),
        workspace_mode: binding.map(|binding| binding.mode),
        authority: None,
        idempotency_key: None,
        reply_to: None,
        causation: None,
        on_behalf_of: Vec::new(),
        display_name: None,
    })
}

fn begun_line(out: &mut Output, begun: &TurnStartResult) -> anyhow::Result<()> {
    let how = match (begun.disposition, begun.queue_position) {
        (Disposition::Started, _) => "started".to_owned(),
        (Disposition::Queued, Some(place)) => format!("queued, number {place}"),
        (Disposition::Queued, None) => "queued".to_owned(),
        (Disposition::Steered, _) => "steered".to_owned(),
    };
    let again = if begun.duplicate { " (begun before)" } else { "" };
    Ok(out.line(&format!("{} in {}: {how}{again}", begun.turn_id, begun.thread_id))?)
}

/// How a turn is, in its colour.
pub(super) fn word(state: TurnState) -> String {
    let color = match state {
        TurnState::Completed | TurnState::Running => Color::Green,
        TurnState::Queued | TurnState::Unknown => Color::Dim,
        TurnState::Interrupted
        | TurnState::Failed
        | TurnState::Ambiguous
        | TurnState::Rejected
        | TurnState::Expired => Color::Red,
    };
    paint(color, state.as_str())
}

fn one(out: &mut Output, turn: &TurnView) -> anyhow::Result<()> {
    let mut table = Table::plain();
    let mut row = |name: &str, value: String| table.row([name.to_owned(), value]);
    row("turn", turn.turn_id.to_string());
    row("thread", turn.thread_id.to_string());
    row("task", turn.task_id.to_string());
    row("agent", cell(&turn.agent));
    row("state", word(turn.state));
    if let Some(reason) = &turn.reason {
        row("reason", cell(reason));
    }
    if let Some(source) = &turn.source {
        let authority = turn.authority.map(|authority| format!(" ({authority})")).unwrap_or_default();
        row("source", format!("{source}{authority}"));
    }
    for (name, at) in [("accepted", turn.accepted_at), ("started", turn.started_at), ("ended", turn.ended_at)]
    {
        if let Some(at) = at {
            row(name, short_time(&at));
        }
    }
    if let Some(outcome) = &turn.outcome {
        row("outcome", outcome.to_string());
    }
    if let Some(interrupt) = &turn.interrupt {
        row("to end since", format!("{}: {}", short_time(&interrupt.at), cell(&interrupt.reason)));
    }
    if let Some(output) = &turn.output {
        row("output", format!("{} ({})", output.output_id, quantity::human_bytes(output.bytes)));
    }
    if turn.removed {
        row("history", "rolled back".to_owned());
    }
    Ok(out.table(&table)?)
}

/// Turns in a table.
pub(super) fn table<'a>(out: &mut Output, turns: impl Iterator<Item = &'a TurnView>) -> anyhow::Result<()> {
    let mut table = Table::new(&["TURN", "ACCEPTED", "SOURCE", "STATE", "REASON"]);
    for turn in turns {
        let state = word(turn.state);
        table.row([
            turn.turn_id.to_string(),
            turn.accepted_at.as_ref().map(short_time).unwrap_or_default(),
            turn.source.as_ref().map(ToString::to_string).unwrap_or_default(),
            if turn.removed { format!("{state}, rolled back") } else { state },
            turn.reason.as_deref().map(cell).unwrap_or_default(),
        ]);
    }
    Ok(out.table(&table)?)
}

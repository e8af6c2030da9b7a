//! `edgeplane thread`: the threads of agents' conversations.

use anyhow::Context as _;
use clap::{Args, Subcommand};
use edgeplane_types::{ThreadId, TurnId};
use edgeplane_wire::{
    api::conversation::thread::{
        CompactionView, ContextRebuilt, ParentView, ThreadArchiveParams, ThreadCompactParams,
        ThreadCreateParams, ThreadForkParams, ThreadListParams, ThreadParams, ThreadReadResult,
        ThreadRollbackParams, ThreadStatus, ThreadView,
    },
    catalogue::{
        ThreadArchive, ThreadCompact, ThreadCreate, ThreadFork, ThreadList, ThreadRead, ThreadRollback,
    },
};

use super::{Outcome, inbox::short_time, turn};
use crate::{
    context::Context,
    output::{Output, paint},
    table::{Table, cell},
};

/// Keep the conversations with an agent apart
///
/// Every agent has one thread from the beginning; messages that name none belong to it. Further ones have a history of
/// their own. The program of an agent has one live context all the same, which its threads share; their turns never
/// overlap.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane thread create reviewer --title Nightly
  edgeplane thread show reviewer
  edgeplane thread list")]
pub(crate) struct ThreadArgs {
    #[command(subcommand)]
    command: ThreadCommand,
}

#[derive(Debug, Subcommand)]
enum ThreadCommand {
    Create(CreateArgs),
    List(ListArgs),
    Show(ShowArgs),
    Fork(ForkArgs),
    Rollback(RollbackArgs),
    Compact(CompactArgs),
    Archive(ArchiveArgs),
}

/// Make a thread
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane thread create reviewer --title Nightly
  edgeplane thread create reviewer --id thr_01890000-0000-7000-8000-000000000002")]
struct CreateArgs {
    /// The agent's name or id
    name: String,
    /// What it is called
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Its id: made again with it, it is the same thread
    #[arg(long, value_name = "THREAD")]
    id: Option<ThreadId>,
}

/// List threads
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane thread list
  edgeplane thread list reviewer --all")]
struct ListArgs {
    /// Only those of this agent, by name or id
    name: Option<String>,
    /// Also archived ones
    #[arg(short, long)]
    all: bool,
    /// Most to list
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: u32,
}

/// Show what happens in a thread now
///
/// The turn that runs, what waits, what waits for a person, what went wrong, and what is not known.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane thread show reviewer
  edgeplane thread show thr_01890000-0000-7000-8000-000000000002 -o json | jq .thread.status")]
struct ShowArgs {
    /// The thread's id, or an agent's name or id for its first one
    name: String,
}

/// Make a thread that goes on from another one
///
/// Its program is told what was said up to there, as quotations, unless it has that.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane thread fork thr_01890000-0000-7000-8000-000000000002
  edgeplane thread fork thr_01890000-0000-7000-8000-000000000002 --agent planner --title \"Another way\"")]
struct ForkArgs {
    /// The thread to go on from
    #[arg(value_name = "THREAD")]
    id: ThreadId,
    /// The last turn that is part of it; the newest one if not given
    #[arg(long, value_name = "TURN")]
    turn: Option<TurnId>,
    /// The agent that it belongs to, if it is another one
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// What it is called
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
}

/// Take the last turns of a thread out of its history
///
/// They stay in the record. A program cannot forget, so it is ended and begins anew, told of what survives.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane thread rollback thr_01890000-0000-7000-8000-000000000002 --to trn_01890000-0000-7000-8000-000000000003
  edgeplane thread rollback thr_01890000-0000-7000-8000-000000000002 --to-nothing --interrupt")]
struct RollbackArgs {
    /// The thread
    #[arg(value_name = "THREAD")]
    id: ThreadId,
    /// The last turn that survives
    #[arg(long, value_name = "TURN", required_unless_present = "to_nothing")]
    to: Option<TurnId>,
    /// No turn survives
    #[arg(long, conflicts_with = "to")]
    to_nothing: bool,
    /// Also if a turn runs, which is cut short
    #[arg(long)]
    interrupt: bool,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

/// Tell a thread from here on as a summary
///
/// The turns stay in the record and in every list. A program cannot forget, so it is ended and begins anew, told the
/// summary as your words in place of what it stands for, and what came later. What waits for a person goes on waiting.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane thread compact thr_01890000-0000-7000-8000-000000000002 --summary \"The parser is done, the tests are not\"
  edgeplane thread compact thr_01890000-0000-7000-8000-000000000002 --file summary.md --through trn_01890000-0000-7000-8000-000000000003")]
struct CompactArgs {
    /// The thread
    #[arg(value_name = "THREAD")]
    id: ThreadId,
    /// What stands for its turns, at most 16 KiB
    #[arg(long, value_name = "TEXT", required_unless_present = "file", conflicts_with = "file")]
    summary: Option<String>,
    /// The same from a file
    #[arg(long, value_name = "FILE")]
    file: Option<std::path::PathBuf>,
    /// The last turn that it stands for; the newest one if not given
    #[arg(long, value_name = "TURN")]
    through: Option<TurnId>,
    /// Leave its program as it is until its next start
    #[arg(long, conflicts_with = "interrupt")]
    later: bool,
    /// Also if a turn runs, which is cut short
    #[arg(long)]
    interrupt: bool,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

/// Let a thread take no turns any more
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane thread archive thr_01890000-0000-7000-8000-000000000002
  edgeplane thread archive thr_01890000-0000-7000-8000-000000000002 --reason done")]
struct ArchiveArgs {
    /// The thread
    #[arg(value_name = "THREAD")]
    id: ThreadId,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

pub(crate) fn run(args: ThreadArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    match args.command {
        ThreadCommand::Create(args) => {
            let params = ThreadCreateParams {
                agent: Some(args.name),
                title: args.title,
                thread_id: args.id,
                ..ThreadCreateParams::default()
            };
            let answer = context.ask::<ThreadCreate>(&params)?;
            context.show(&answer, |out, thread| made(out, &thread))?;
        }
        ThreadCommand::List(args) => {
            let (agent, limit) = (args.name, args.limit);
            let params = ThreadListParams { agent, session_id: None, archived: args.all, limit, cursor: 0 };
            let answer = context.ask::<ThreadList>(&params)?;
            context.show(&answer, |out, list| threads(out, &list.items))?;
        }
        ThreadCommand::Show(args) => {
            let thread_id = args.name.parse().ok();
            let agent = Some(args.name).filter(|_| thread_id.is_none());
            let answer = context.ask::<ThreadRead>(&ThreadParams { thread_id, agent })?;
            context.show(&answer, |out, read| shown(out, &read))?;
        }
        ThreadCommand::Fork(args) => {
            let params = ThreadForkParams {
                thread_id: args.id,
                turn_id: args.turn,
                agent: args.agent,
                fork_id: None,
                title: args.title,
                labels: std::collections::BTreeMap::new(),
            };
            let answer = context.ask::<ThreadFork>(&params)?;
            context.show(&answer, |out, thread| made(out, &thread))?;
        }
        ThreadCommand::Rollback(args) => {
            let params = ThreadRollbackParams {
                thread_id: args.id,
                to_turn: args.to,
                interrupt: args.interrupt,
                if_version: None,
                reason: args.reason,
            };
            let answer = context.ask::<ThreadRollback>(&params)?;
            context.show(&answer, |out, done| {
                let anew = anew(done.rebuilt);
                let (gone, left) = (done.removed.len(), done.surviving);
                Ok(out.line(&format!("{gone} turns taken out, {left} survive: {anew}"))?)
            })?;
        }
        ThreadCommand::Compact(args) => compact(args, context)?,
        ThreadCommand::Archive(args) => {
            let params = ThreadArchiveParams { thread_id: args.id, if_version: None, reason: args.reason };
            let answer = context.ask::<ThreadArchive>(&params)?;
            context.show(&answer, |out, thread| Ok(out.line(&format!("{} archived", thread.thread_id))?))?;
        }
    }
    Ok(Outcome::Done)
}

fn compact(args: CompactArgs, context: &mut Context) -> anyhow::Result<()> {
    let summary = match (args.summary, args.file) {
        (Some(text), _) => text,
        (None, Some(file)) => std::fs::read_to_string(&file)
            .with_context(|| format!("cannot read the summary from {}", file.display()))?,
        (None, None) => anyhow::bail!("give `--summary TEXT` or `--file FILE`"),
    };
    let params = ThreadCompactParams {
        thread_id: args.id,
        through: args.through,
        summary,
        rebuild: !args.later,
        interrupt: args.interrupt,
        if_version: None,
        reason: args.reason,
    };
    let answer = context.ask::<ThreadCompact>(&params)?;
    context.show(&answer, |out, done| {
        let (turns, through, anew) = (done.turns, done.through, anew(done.rebuilt));
        let turns = if turns == 1 { "1 turn is".to_owned() } else { format!("{turns} turns are") };
        Ok(out.line(&format!("{turns} a summary through {through}: {anew}"))?)
    })
}

fn anew(rebuilt: ContextRebuilt) -> &'static str {
    match rebuilt {
        ContextRebuilt::Not => "nothing to do",
        ContextRebuilt::Now => "its program begins anew",
        ContextRebuilt::AtNextStart => "its program begins anew with its next start",
    }
}

fn made(out: &mut Output, thread: &ThreadView) -> anyhow::Result<()> {
    Ok(out.line(&format!("{} of {}", thread.thread_id, thread.agent))?)
}

/// The word that programs read.
fn word(status: ThreadStatus) -> &'static str {
    match status {
        ThreadStatus::Idle => "idle",
        ThreadStatus::Queued => "queued",
        ThreadStatus::Running => "running",
        ThreadStatus::Blocked => "blocked",
        ThreadStatus::Archived => "archived",
        ThreadStatus::Unknown => "unknown",
    }
}

fn threads(out: &mut Output, threads: &[ThreadView]) -> anyhow::Result<()> {
    if threads.is_empty() {
        out.note("no threads");
        return Ok(());
    }
    let mut table = Table::new(&["THREAD", "AGENT", "STATUS", "CREATED", "TITLE"]);
    for thread in threads {
        let title = thread.title.as_deref().map(cell).unwrap_or_default();
        table.row([
            thread.thread_id.to_string(),
            cell(&thread.agent),
            word(thread.status).to_owned(),
            short_time(&thread.created_at),
            if thread.main { paint(crate::output::Color::Dim, "(main)") } else { title },
        ]);
    }
    Ok(out.table(&table)?)
}

fn shown(out: &mut Output, read: &ThreadReadResult) -> anyhow::Result<()> {
    let thread = &read.thread;
    let mut table = Table::plain();
    let mut row = |name: &str, value: String| table.row([name.to_owned(), value]);
    row("thread", thread.thread_id.to_string());
    row(
        "agent",
        format!("{}, {}, epoch {}", cell(&thread.agent), read.agent_state.phase, read.agent_state.epoch),
    );
    row("status", word(thread.status).to_owned());
    if let Some(title) = &thread.title {
        row("title", cell(title));
    }
    if let Some(ParentView { thread_id, through, .. }) = &thread.parent {
        let through = through.map_or_else(|| "nothing".to_owned(), |turn| turn.to_string());
        row("forked from", format!("{thread_id}, through {through}"));
    }
    if thread.removed_turns > 0 {
        row("rolled back", format!("{} turns", thread.removed_turns));
    }
    if let Some(CompactionView { through, turns, by, .. }) = &thread.compacted {
        row("summary", format!("of {turns} turns through {through}, by {by}"));
    }
    row("queued", read.queued.to_string());
    if let Some(output) = &read.last_output {
        row("last output", output.output_id.to_string());
    }
    for action in &read.pending_actions {
        row("waits for you", action.to_string());
    }
    for incident in &read.incidents {
        let why = incident.reason.as_deref().map(|why| format!(": {}", cell(why))).unwrap_or_default();
        row("incident", format!("{} {}{why}", incident.turn_id, turn::word(incident.state)));
    }
    for marker in &read.markers {
        row("not known", format!("{}: {}", cell(&marker.of), cell(&marker.reason)));
    }
    out.table(&table)?;
    let turns: Vec<_> = read.open_turn.iter().chain(read.queue.iter().map(|queued| &queued.turn)).collect();
    if turns.is_empty() {
        return Ok(());
    }
    out.line("")?;
    turn::table(out, turns.into_iter())
}

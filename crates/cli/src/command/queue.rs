//! `edgeplane queue`: the turns that wait.

use clap::{Args, Subcommand};
use edgeplane_types::{ThreadId, TurnId};
use edgeplane_wire::{
    api::conversation::turn::{QueueListParams, QueueRemoveParams, QueueResult, TurnParams},
    catalogue::{QueueList, QueuePromote, QueueRemove},
};

use super::{Outcome, turn};
use crate::{context::Context, output::Output};

/// See and change what waits for an agent
///
/// The queue is the agent's inbox in the order of delivery; it outlives every restart.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane queue list reviewer
  edgeplane queue promote trn_01890000-0000-7000-8000-000000000002
  edgeplane queue remove trn_01890000-0000-7000-8000-000000000002 --reason \"not needed\"")]
pub(crate) struct QueueArgs {
    #[command(subcommand)]
    command: QueueCommand,
}

#[derive(Debug, Subcommand)]
enum QueueCommand {
    List(ListArgs),
    Remove(RemoveArgs),
    Promote(PromoteArgs),
}

/// List the turns that wait, in the order of delivery
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane queue list reviewer
  edgeplane queue list --thread thr_01890000-0000-7000-8000-000000000002")]
struct ListArgs {
    /// The agent's name or id
    #[arg(required_unless_present = "thread", conflicts_with = "thread")]
    name: Option<String>,
    /// Only those of this thread
    #[arg(long, value_name = "THREAD")]
    thread: Option<ThreadId>,
    /// Most to list
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: u32,
}

/// Take a turn out of the queue
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane queue remove trn_01890000-0000-7000-8000-000000000002
  edgeplane queue remove trn_01890000-0000-7000-8000-000000000002 --reason \"not needed\"")]
struct RemoveArgs {
    /// The turn
    #[arg(value_name = "TURN")]
    id: TurnId,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

/// Put a turn before all others that wait
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane queue promote trn_01890000-0000-7000-8000-000000000002
  edgeplane queue promote trn_01890000-0000-7000-8000-000000000002 -o json | jq .waiting")]
struct PromoteArgs {
    /// The turn
    #[arg(value_name = "TURN")]
    id: TurnId,
}

pub(crate) fn run(args: &QueueArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    match &args.command {
        QueueCommand::List(args) => {
            let (thread_id, agent) = (args.thread, args.name.clone());
            let answer =
                context.ask::<QueueList>(&QueueListParams { thread_id, agent, limit: args.limit })?;
            context.show(&answer, |out, queue| listed(out, &queue))?;
        }
        QueueCommand::Remove(args) => {
            let params = QueueRemoveParams { turn_id: args.id, reason: args.reason.clone() };
            let answer = context.ask::<QueueRemove>(&params)?;
            context.show(&answer, |out, turn| Ok(out.line(&format!("{} removed", turn.turn_id))?))?;
        }
        QueueCommand::Promote(args) => {
            let answer = context.ask::<QueuePromote>(&TurnParams { turn_id: args.id })?;
            context.show(&answer, |out, queue| listed(out, &queue))?;
        }
    }
    Ok(Outcome::Done)
}

fn listed(out: &mut Output, queue: &QueueResult) -> anyhow::Result<()> {
    if queue.items.is_empty() {
        out.note("no turns wait");
        return Ok(());
    }
    turn::table(out, queue.items.iter().map(|queued| &queued.turn))
}

//! `edgeplane checkpoint`: kept states of the folders that agents work in.

mod prune;
mod show;

use clap::{Args, Subcommand};
use edgeplane_types::{CheckpointId, WorkspaceId};
use edgeplane_wire::{
    api::workspace::{
        AFTER_MS, AfterWrite, CHANGES, CheckpointCreateParams, CheckpointDeleteParams, CheckpointDiffParams,
        CheckpointListParams, CheckpointParams, CheckpointRestoreParams, ROWS_MAX,
    },
    catalogue::{
        CheckpointCreate, CheckpointDelete, CheckpointDiff, CheckpointGet, CheckpointList, CheckpointRestore,
    },
};

use super::Outcome;
use crate::{context::Context, failure::Misuse};

/// Keep the states of folders that agents work in, and bring them back
///
/// What several states have in common takes room once. What git ignores and `.git` are left out unless they are asked
/// for. A restore keeps what is there first.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane checkpoint create reviewer --label \"before the merge\"
  edgeplane checkpoint list reviewer
  edgeplane checkpoint restore chk_01890000-0000-7000-8000-000000000002")]
pub(crate) struct CheckpointArgs {
    #[command(subcommand)]
    command: CheckpointCommand,
}

#[derive(Debug, Subcommand)]
enum CheckpointCommand {
    Create(CreateArgs),
    List(ListArgs),
    Get(GetArgs),
    Diff(DiffArgs),
    Restore(RestoreArgs),
    Delete(DeleteArgs),
    Prune(prune::PruneArgs),
}

/// An agent, or a workspace by its id.
#[derive(Debug, Clone)]
pub(super) enum Whose {
    Agent(String),
    Workspace(WorkspaceId),
}

pub(super) fn parse_whose(text: &str) -> Result<Whose, String> {
    if text.starts_with("wks_") {
        return text.parse().map(Whose::Workspace).map_err(|error| format!("{error}"));
    }
    Ok(Whose::Agent(text.to_owned()))
}

impl Whose {
    pub(super) fn parts(&self) -> (Option<WorkspaceId>, Option<String>) {
        match self {
            Self::Agent(name) => (None, Some(name.clone())),
            Self::Workspace(id) => (Some(*id), None),
        }
    }
}

/// Keep the state of a folder
///
/// Agents that work in it stand still for a moment, where the machine can suspend them. Elsewhere each file is read
/// again that changes meanwhile.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane checkpoint create reviewer
  edgeplane checkpoint create wks_01890000-0000-7000-8000-000000000002 --label nightly --ignored")]
struct CreateArgs {
    /// The agent whose folder it is, or a workspace
    #[arg(value_name = "AGENT|WORKSPACE", value_parser = parse_whose)]
    whose: Whose,
    /// What it is, for people
    #[arg(long, value_name = "TEXT")]
    label: Option<String>,
    /// With this change of a file in it, which is waited for
    #[arg(long, value_name = "NUMBER")]
    after: Option<u64>,
    /// Keep what git ignores, too
    #[arg(long)]
    ignored: bool,
    /// Keep `.git`, too
    #[arg(long)]
    git: bool,
}

/// List checkpoints
///
/// The newest first; those of all workspaces if none is named.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane checkpoint list
  edgeplane checkpoint list reviewer --all -o json")]
struct ListArgs {
    /// The agent whose folder it is, or a workspace
    #[arg(value_name = "AGENT|WORKSPACE", value_parser = parse_whose)]
    whose: Option<Whose>,
    /// Those that are not kept, too: failed, lost, deleted
    #[arg(long)]
    all: bool,
}

/// Show a checkpoint
///
/// What is in it, and what of the folder is not.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane checkpoint get chk_01890000-0000-7000-8000-000000000002
  edgeplane checkpoint get chk_01890000-0000-7000-8000-000000000002 -o json | jq .left_out")]
struct GetArgs {
    /// The checkpoint
    #[arg(value_name = "CHECKPOINT")]
    checkpoint: CheckpointId,
}

/// Tell what differs between two checkpoints
///
/// Each path that was added, removed, holds something else, has other permissions or is another kind of thing.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane checkpoint diff chk_01890000-0000-7000-8000-000000000002 chk_01890000-0000-7000-8000-000000000003
  edgeplane checkpoint diff chk_01890000-0000-7000-8000-000000000002 chk_01890000-0000-7000-8000-000000000003 --limit 10")]
struct DiffArgs {
    /// From this one
    #[arg(value_name = "BEFORE")]
    before: CheckpointId,
    /// To this one
    #[arg(value_name = "AFTER")]
    after: CheckpointId,
    /// Most changes that are told
    #[arg(long, value_name = "NUMBER", default_value_t = CHANGES)]
    limit: u32,
}

/// Bring a folder back to a checkpoint of it
///
/// What is there is kept first, as a checkpoint of its own. Only what differs is touched. What somebody changes
/// meanwhile is left as it is, and told.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane checkpoint restore chk_01890000-0000-7000-8000-000000000002
  edgeplane checkpoint restore chk_01890000-0000-7000-8000-000000000002 --force")]
struct RestoreArgs {
    /// The checkpoint
    #[arg(value_name = "CHECKPOINT")]
    checkpoint: CheckpointId,
    /// Do it even if an agent is at work in the folder
    #[arg(long)]
    force: bool,
    /// The token of a lock in the workspace
    #[arg(long, value_name = "TOKEN")]
    lock: Option<u64>,
    /// Keep and touch what git ignores, too
    #[arg(long)]
    ignored: bool,
    /// Keep and touch `.git`, too
    #[arg(long)]
    git: bool,
}

/// End a checkpoint
///
/// What no other one needs of it is removed.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane checkpoint delete chk_01890000-0000-7000-8000-000000000002
  edgeplane checkpoint delete chk_01890000-0000-7000-8000-000000000002 --reason \"not needed\"")]
struct DeleteArgs {
    /// The checkpoint
    #[arg(value_name = "CHECKPOINT")]
    checkpoint: CheckpointId,
    /// Why, for the record
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

pub(crate) fn run(args: &CheckpointArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    match &args.command {
        CheckpointCommand::Create(args) => {
            let (workspace_id, agent) = args.whose.parts();
            let params = CheckpointCreateParams {
                workspace_id,
                agent,
                label: args.label.clone(),
                after: args.after.map(|write_seq| AfterWrite { write_seq }),
                timeout_ms: AFTER_MS,
                ignored: args.ignored,
                git: args.git,
                binding_epoch: None,
            };
            let answer = context.ask_at_length::<CheckpointCreate>(&params)?;
            context.show(&answer, |out, view| show::made(out, &view))?;
        }
        CheckpointCommand::List(args) => {
            let params = list(args.whose.as_ref(), args.all);
            let answer = context.ask::<CheckpointList>(&params)?;
            context.show(&answer, |out, list| show::list(out, &list))?;
        }
        CheckpointCommand::Get(args) => {
            let answer =
                context.ask::<CheckpointGet>(&CheckpointParams { checkpoint_id: args.checkpoint })?;
            context.show(&answer, |out, detail| show::detail(out, &detail))?;
        }
        CheckpointCommand::Diff(args) => {
            if args.limit == 0 {
                return Err(Misuse("`--limit` is at least 1".to_owned()).into());
            }
            let params =
                CheckpointDiffParams { before_id: args.before, after_id: args.after, limit: args.limit };
            let answer = context.ask_at_length::<CheckpointDiff>(&params)?;
            context.show(&answer, |out, diff| show::diff(out, &diff))?;
        }
        CheckpointCommand::Restore(args) => {
            let params = CheckpointRestoreParams {
                checkpoint_id: args.checkpoint,
                force: args.force,
                lock: args.lock,
                binding_epoch: None,
                ignored: args.ignored,
                git: args.git,
            };
            let answer = context.ask_at_length::<CheckpointRestore>(&params)?;
            context.show(&answer, |out, done| show::restored(out, &done))?;
        }
        CheckpointCommand::Delete(args) => {
            let params =
                CheckpointDeleteParams { checkpoint_id: args.checkpoint, reason: args.reason.clone() };
            let answer = context.ask::<CheckpointDelete>(&params)?;
            context
                .show(&answer, |out, view| Ok(out.line(&format!("{} is deleted", view.checkpoint_id))?))?;
        }
        CheckpointCommand::Prune(args) => prune::run(args, context)?,
    }
    Ok(Outcome::Done)
}

fn list(whose: Option<&Whose>, all: bool) -> CheckpointListParams {
    let (workspace_id, agent) = whose.map(Whose::parts).unwrap_or_default();
    CheckpointListParams { workspace_id, agent, all, limit: ROWS_MAX, cursor: None }
}

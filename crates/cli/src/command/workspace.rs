//! `edgeplane workspace`: the folders that agents work in, and what is in them.

mod binding;
mod blob;
pub(crate) mod file;
mod lock;

pub(super) use binding::BoundArgs;
use clap::{Args, Subcommand};
use edgeplane_types::WorkspaceId;
use edgeplane_wire::{
    api::workspace::{
        ROWS_MAX, WorkspaceCreateParams, WorkspaceDeleteParams, WorkspaceListParams, WorkspaceListResult,
        WorkspaceParams, WorkspaceView,
    },
    catalogue::{WorkspaceCreate, WorkspaceDelete, WorkspaceGet, WorkspaceList},
};

use super::{Outcome, inbox::short_time};
use crate::{
    context::Context,
    output::Output,
    table::{Table, cell},
};

/// See, name and change the folders that agents work in
///
/// A workspace is a folder of which states can be kept: see `edgeplane checkpoint`. That of an agent becomes known by
/// its first checkpoint.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane workspace list
  edgeplane workspace create --folder /srv/project
  edgeplane workspace read reviewer notes.txt")]
pub(crate) struct WorkspaceArgs {
    #[command(subcommand)]
    command: WorkspaceCommand,
}

#[derive(Debug, Subcommand)]
enum WorkspaceCommand {
    Create(CreateArgs),
    List(ListArgs),
    Get(GetArgs),
    Delete(DeleteArgs),
    Files(file::FilesArgs),
    Stat(file::StatArgs),
    Read(file::ReadArgs),
    Search(file::SearchArgs),
    Write(file::WriteArgs),
    Move(file::MoveArgs),
    Remove(file::RemoveArgs),
    Lock(lock::LockArgs),
    Unlock(lock::UnlockArgs),
    Locks(lock::LocksArgs),
    Blob(blob::BlobArgs),
    Bind(binding::BindArgs),
    Unbind(binding::UnbindArgs),
}

/// Make a folder known as a workspace
///
/// A folder that is known already stays as it is.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane workspace create reviewer
  edgeplane workspace create --folder /srv/project")]
struct CreateArgs {
    /// The agent whose folder it is
    #[arg(value_name = "AGENT", required_unless_present = "folder", conflicts_with = "folder")]
    agent: Option<String>,
    /// The folder, by its whole path
    #[arg(long, value_name = "DIR")]
    folder: Option<String>,
}

/// List workspaces
///
/// In the order in which they became known.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane workspace list
  edgeplane workspace list --agent reviewer -o json")]
struct ListArgs {
    /// Only that of this agent
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
}

/// Show a workspace
///
/// Its folder, whose it is, and how many states of it are kept.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane workspace get wks_01890000-0000-7000-8000-000000000002
  edgeplane workspace get wks_01890000-0000-7000-8000-000000000002 -o json")]
struct GetArgs {
    /// The workspace
    #[arg(value_name = "WORKSPACE")]
    workspace: WorkspaceId,
}

/// End a workspace and its checkpoints
///
/// The folder and what is in it stay as they are.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane workspace delete wks_01890000-0000-7000-8000-000000000002
  edgeplane workspace delete wks_01890000-0000-7000-8000-000000000002 --reason \"project is over\"")]
struct DeleteArgs {
    /// The workspace
    #[arg(value_name = "WORKSPACE")]
    workspace: WorkspaceId,
    /// Why, for the record
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

pub(crate) fn run(args: &WorkspaceArgs, context: &mut Context) -> anyhow::Result<Outcome> {
    match &args.command {
        WorkspaceCommand::Create(args) => {
            let params = WorkspaceCreateParams { agent: args.agent.clone(), folder: args.folder.clone() };
            let answer = context.ask::<WorkspaceCreate>(&params)?;
            context.show(&answer, |out, view| Ok(out.line(&line(&view))?))?;
        }
        WorkspaceCommand::List(args) => {
            let params = WorkspaceListParams { agent: args.agent.clone(), limit: ROWS_MAX, cursor: None };
            let answer = context.ask::<WorkspaceList>(&params)?;
            context.show(&answer, |out, list| table(out, &list))?;
        }
        WorkspaceCommand::Get(args) => {
            let answer = context.ask::<WorkspaceGet>(&WorkspaceParams { workspace_id: args.workspace })?;
            context.show(&answer, |out, view| {
                table(out, &WorkspaceListResult { workspaces: vec![view], next_cursor: None })
            })?;
        }
        WorkspaceCommand::Delete(args) => {
            let params = WorkspaceDeleteParams { workspace_id: args.workspace, reason: args.reason.clone() };
            let answer = context.ask::<WorkspaceDelete>(&params)?;
            context.show(&answer, |out, view| {
                let what = format!("{} ended with {} checkpoints", view.workspace_id, view.checkpoints);
                Ok(out.line(&format!("{what}; `{}` stays", cell(&view.folder)))?)
            })?;
        }
        WorkspaceCommand::Files(args) => file::files(args, context)?,
        WorkspaceCommand::Stat(args) => file::stat(args, context)?,
        WorkspaceCommand::Read(args) => file::read(args, context)?,
        WorkspaceCommand::Search(args) => file::search(args, context)?,
        WorkspaceCommand::Write(args) => file::write(args, context)?,
        WorkspaceCommand::Move(args) => file::rename(args, context)?,
        WorkspaceCommand::Remove(args) => file::remove(args, context)?,
        WorkspaceCommand::Lock(args) => lock::lock(args, context)?,
        WorkspaceCommand::Unlock(args) => lock::unlock(args, context)?,
        WorkspaceCommand::Locks(args) => lock::locks(args, context)?,
        WorkspaceCommand::Blob(args) => blob::run(args, context)?,
        WorkspaceCommand::Bind(args) => binding::bind(args, context)?,
        WorkspaceCommand::Unbind(args) => binding::unbind(args, context)?,
    }
    Ok(Outcome::Done)
}

fn line(view: &WorkspaceView) -> String {
    format!("{} is `{}`", view.workspace_id, cell(&view.folder))
}

fn table(out: &mut Output, list: &WorkspaceListResult) -> anyhow::Result<()> {
    if list.workspaces.is_empty() {
        out.note("no workspaces");
        return Ok(());
    }
    let mut table = Table::new(&["WORKSPACE", "AGENT", "CHECKPOINTS", "SINCE", "FOLDER"]);
    for item in &list.workspaces {
        table.row([
            item.workspace_id.to_string(),
            cell(item.agent.as_deref().unwrap_or("-")),
            item.checkpoints.to_string(),
            short_time(&item.created_at),
            cell(&item.folder),
        ]);
    }
    if list.next_cursor.is_some() {
        out.note("there are more: `-o json` and `workspace/list` with `cursor` show them");
    }
    Ok(out.table(&table)?)
}

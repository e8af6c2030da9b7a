//! Bindings of a workspace: made and ended.

use clap::Args;
use edgeplane_types::{BindingMode, RunId, WorkspaceId};
use edgeplane_wire::{
    api::workspace::{BindingAttachParams, BindingDetachParams, BindingParam, BindingView},
    catalogue::{BindingAttach, BindingDetach},
};

use crate::{context::Context, table::cell};

/// Bind a workspace to a run or an agent
///
/// Whoever works on the run sees the workspace through the node until the run ends, and changes it with `--rw`. One
/// binding at a time may write; its number fences what comes late.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane workspace bind wks_01890000-0000-7000-8000-000000000002 --agent reviewer
  edgeplane workspace bind wks_01890000-0000-7000-8000-000000000002 --run run_01890000-0000-7000-8000-000000000003 --rw")]
pub(super) struct BindArgs {
    /// The workspace
    #[arg(value_name = "WORKSPACE")]
    workspace: WorkspaceId,
    /// The run
    #[arg(long, value_name = "RUN", required_unless_present = "agent", conflicts_with = "agent")]
    run: Option<RunId>,
    /// Or an agent, until its program ends
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// It may be changed, not only looked at
    #[arg(long)]
    rw: bool,
}

/// The workspace that a run is bound to
#[derive(Debug, Clone, Args)]
pub(in crate::command) struct BoundArgs {
    /// Bind it to this workspace, to be changed, until it ends
    #[arg(long, value_name = "WORKSPACE")]
    workspace: Option<WorkspaceId>,
    /// The workspace is only to be looked at
    #[arg(long, requires = "workspace")]
    read_only: bool,
}

impl BoundArgs {
    /// The binding, if one is wanted.
    pub(in crate::command) fn binding(&self) -> Option<BindingParam> {
        let mode = if self.read_only { BindingMode::ReadOnly } else { BindingMode::ReadWrite };
        self.workspace.map(|workspace_id| BindingParam { workspace_id, mode })
    }
}

/// End a binding of a workspace
///
/// What is done under its number from then on is refused.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane workspace unbind wks_01890000-0000-7000-8000-000000000002 3
  edgeplane workspace unbind wks_01890000-0000-7000-8000-000000000002 3 -o json")]
pub(super) struct UnbindArgs {
    /// The workspace
    #[arg(value_name = "WORKSPACE")]
    workspace: WorkspaceId,
    /// The number of the binding
    #[arg(value_name = "NUMBER")]
    binding: u64,
}

pub(super) fn bind(args: &BindArgs, context: &mut Context) -> anyhow::Result<()> {
    let params = BindingAttachParams {
        workspace_id: args.workspace,
        run_id: args.run,
        agent: args.agent.clone(),
        mode: if args.rw { BindingMode::ReadWrite } else { BindingMode::ReadOnly },
    };
    let answer = context.ask::<BindingAttach>(&params)?;
    context.show(&answer, |out, view| {
        let number = view.binding_epoch;
        Ok(out.line(&format!(
            "binding {number} ({}): `{}` for {}",
            view.mode,
            cell(&view.root),
            whom(&view)
        ))?)
    })
}

pub(super) fn unbind(args: &UnbindArgs, context: &mut Context) -> anyhow::Result<()> {
    let params = BindingDetachParams { workspace_id: args.workspace, binding_epoch: args.binding };
    let answer = context.ask::<BindingDetach>(&params)?;
    context.show(&answer, |out, view| {
        Ok(out.line(&format!("binding {} of {} is over", view.binding_epoch, whom(&view)))?)
    })
}

fn whom(view: &BindingView) -> String {
    match (&view.run_id, &view.agent) {
        (Some(run), _) => run.to_string(),
        (None, Some(agent)) => format!("`{}`", cell(agent)),
        (None, None) => view.agent_id.to_string(),
    }
}

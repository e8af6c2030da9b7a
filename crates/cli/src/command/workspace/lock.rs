//! Locks on paths of a workspace: taken, given back and shown.

use std::time::Duration;

use clap::Args;
use edgeplane_wire::{
    api::workspace::{LockAcquireParams, LockListParams, LockListResult, LockReleaseParams, LockView},
    catalogue::{LockAcquire, LockList, LockRelease},
};

use super::super::{
    checkpoint::{Whose, parse_whose},
    inbox::short_time,
};
use crate::{
    context::Context,
    output::Output,
    quantity::parse_duration,
    table::{Table, cell},
};

/// Lock paths of a workspace
///
/// Nobody else changes them through the node until the lock is given back, its time is over, or the agent that holds it
/// ends. Whoever changes them says its token.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane workspace lock reviewer src --for 5m --wait 30s
  edgeplane workspace lock reviewer --renew 3 --for 5m")]
pub(super) struct LockArgs {
    /// The agent whose folder it is, or a workspace
    #[arg(value_name = "AGENT|WORKSPACE", value_parser = parse_whose)]
    whose: Whose,
    /// The paths, with everything beneath them
    #[arg(value_name = "PATH", required_unless_present = "renew", conflicts_with = "renew")]
    paths: Vec<String>,
    /// Have the lock with this token for longer
    #[arg(long, value_name = "TOKEN")]
    renew: Option<u64>,
    /// Others may have a shared one, too; nobody writes then
    #[arg(long)]
    shared: bool,
    /// How long it is held
    #[arg(long = "for", value_name = "TIME", value_parser = parse_duration, default_value = "1m")]
    time: Duration,
    /// How long to wait for it
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "0s")]
    wait: Duration,
}

/// Give a lock back
///
/// With `--force` also one that somebody else holds.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane workspace unlock reviewer 3
  edgeplane workspace unlock reviewer 3 --force")]
pub(super) struct UnlockArgs {
    /// The agent whose folder it is, or a workspace
    #[arg(value_name = "AGENT|WORKSPACE", value_parser = parse_whose)]
    whose: Whose,
    /// Its token
    #[arg(value_name = "TOKEN")]
    token: u64,
    /// Also if somebody else holds it
    #[arg(long)]
    force: bool,
}

/// List the locks of a workspace
///
/// Who holds what, and until when.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane workspace locks reviewer
  edgeplane workspace locks wks_01890000-0000-7000-8000-000000000002 -o json")]
pub(super) struct LocksArgs {
    /// The agent whose folder it is, or a workspace
    #[arg(value_name = "AGENT|WORKSPACE", value_parser = parse_whose)]
    whose: Whose,
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

pub(super) fn lock(args: &LockArgs, context: &mut Context) -> anyhow::Result<()> {
    let (workspace_id, agent) = args.whose.parts();
    let params = LockAcquireParams {
        workspace_id,
        agent,
        paths: args.paths.clone(),
        token: args.renew,
        shared: args.shared,
        ttl_ms: millis(args.time),
        wait_ms: millis(args.wait),
        binding_epoch: None,
    };
    let answer = context.ask_at_length::<LockAcquire>(&params)?;
    context.show(&answer, |out, view| {
        let until = short_time(&view.expires_at);
        Ok(out.line(&format!("token {}: `{}` until {until}", view.token, paths(&view)))?)
    })
}

pub(super) fn unlock(args: &UnlockArgs, context: &mut Context) -> anyhow::Result<()> {
    let (workspace_id, agent) = args.whose.parts();
    let params = LockReleaseParams { workspace_id, agent, token: args.token, force: args.force };
    let answer = context.ask::<LockRelease>(&params)?;
    context.show(&answer, |out, view| {
        Ok(out.line(&format!("`{}` is locked no more under token {}", paths(&view), view.token))?)
    })
}

pub(super) fn locks(args: &LocksArgs, context: &mut Context) -> anyhow::Result<()> {
    let (workspace_id, agent) = args.whose.parts();
    let answer = context.ask::<LockList>(&LockListParams { workspace_id, agent })?;
    context.show(&answer, |out, list| table(out, &list))
}

fn paths(view: &LockView) -> String {
    cell(view.paths.join(" "))
}

fn table(out: &mut Output, list: &LockListResult) -> anyhow::Result<()> {
    if list.locks.is_empty() {
        out.note("no locks");
        return Ok(());
    }
    let mut table = Table::new(&["TOKEN", "HOLDER", "KIND", "UNTIL", "PATHS"]);
    for view in &list.locks {
        table.row([
            view.token.to_string(),
            cell(view.holder.as_str()),
            if view.shared { "shared" } else { "exclusive" }.to_owned(),
            short_time(&view.expires_at),
            paths(view),
        ]);
    }
    Ok(out.table(&table)?)
}

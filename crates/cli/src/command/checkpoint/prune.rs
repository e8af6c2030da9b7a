//! `edgeplane checkpoint prune`: ending checkpoints by their number and age.

use std::time::Duration;

use clap::Args;
use edgeplane_os::{Clock as _, SystemClock};
use edgeplane_types::{CheckpointState, Timestamp};
use edgeplane_wire::{
    api::workspace::{CheckpointDeleteParams, CheckpointView},
    catalogue::{CheckpointDelete, CheckpointList},
};

use super::{Whose, list, parse_whose, show};
use crate::{context::Context, failure::Misuse, quantity};

/// End checkpoints by their number and age
///
/// Shows what it would end, and ends it with `--yes`. With both bounds, one is ended that is beyond the number and
/// older than the age.
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES:
  edgeplane checkpoint prune reviewer --keep 10
  edgeplane checkpoint prune reviewer --keep 3 --older-than 7d --yes")]
pub(super) struct PruneArgs {
    /// The agent whose folder it is, or a workspace
    #[arg(value_name = "AGENT|WORKSPACE", value_parser = parse_whose)]
    whose: Whose,
    /// Keep this many, the newest
    #[arg(long, value_name = "NUMBER")]
    keep: Option<usize>,
    /// Keep those that are not older than this, such as 12h or 30d
    #[arg(long, value_name = "TIME", value_parser = quantity::parse_duration)]
    older_than: Option<Duration>,
    /// End them, instead of showing which
    #[arg(long)]
    yes: bool,
}

pub(super) fn run(args: &PruneArgs, context: &mut Context) -> anyhow::Result<()> {
    if args.keep.is_none() && args.older_than.is_none() {
        return Err(
            Misuse("say which to keep: `--keep NUMBER`, `--older-than TIME` or both".to_owned()).into()
        );
    }
    let mut params = list(Some(&args.whose), false);
    let mut all = Vec::new();
    loop {
        let page = context.ask::<CheckpointList>(&params)?.read()?;
        all.extend(page.checkpoints);
        params.cursor = page.next_cursor;
        if params.cursor.is_none() {
            break;
        }
    }
    let ended = chosen(all, (args.keep, args.older_than), SystemClock.now());
    if args.yes {
        for view in &ended {
            let params = CheckpointDeleteParams {
                checkpoint_id: view.checkpoint_id,
                reason: Some("prune".to_owned()),
            };
            context.ask::<CheckpointDelete>(&params)?.read()?;
        }
    }
    show::pruned(&mut context.out, &ended, args.yes)
}

/// Which are ended: the newest come first.
fn chosen(
    all: Vec<CheckpointView>,
    (keep, older_than): (Option<usize>, Option<Duration>),
    now: Timestamp,
) -> Vec<CheckpointView> {
    let age = older_than.map(|age| i64::try_from(age.as_micros()).unwrap_or(i64::MAX));
    let is_kept = all.into_iter().filter(|view| view.state == CheckpointState::Created);
    let beyond = is_kept.skip(keep.unwrap_or(0));
    let is_old = |view: &CheckpointView| {
        let at = view.created_at.unwrap_or(view.started_at).as_micros();
        age.is_none_or(|age| now.as_micros().saturating_sub(at) > age)
    };
    beyond.filter(is_old).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(minutes: i64) -> CheckpointView {
        let at = Timestamp::from_micros(minutes * 60_000_000);
        serde_json::from_value(serde_json::json!({
            "checkpoint_id": format!("chk_01890000-0000-7000-8000-0000000000{minutes:02}"),
            "workspace_id": "wks_01890000-0000-7000-8000-000000000001",
            "state": "created", "cause": "asked", "by": "x", "started_at": at, "created_at": at,
        }))
        .unwrap()
    }

    #[test]
    fn both_bounds_must_be_passed() {
        let all = || vec![kept(50), kept(40), kept(30), kept(20)];
        let minutes = |keep, age: Option<u64>| -> Vec<i64> {
            let age = age.map(|age| Duration::from_secs(age * 60));
            let ended = chosen(all(), (keep, age), Timestamp::from_micros(60 * 60_000_000));
            ended.iter().map(|view| view.started_at.as_micros() / 60_000_000).collect()
        };
        assert_eq!(minutes(Some(1), None), [40, 30, 20]);
        assert_eq!(minutes(None, Some(25)), [30, 20]);
        assert_eq!(minutes(Some(3), Some(25)), [20]);
        assert_eq!(minutes(Some(0), Some(45)), Vec::<i64>::new());
        assert_eq!(minutes(Some(9), None), Vec::<i64>::new());
    }
}

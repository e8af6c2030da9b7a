//! Checkpoints as people read them.

use edgeplane_types::{CheckpointState, RestoreCounts};
use edgeplane_wire::api::workspace::{
    ChangeKind, ChangeView, CheckpointDetail, CheckpointDiffResult, CheckpointListResult,
    CheckpointRestoreResult, CheckpointView, ThingKind, ThingView,
};

use crate::{
    command::inbox::short_time,
    output::{Format, Output},
    quantity::{counted, human_bytes},
    table::{Table, cell},
};

fn files(view: &CheckpointView) -> (String, String, String) {
    let Some(counts) = view.counts else { return ("-".to_owned(), "-".to_owned(), "-".to_owned()) };
    let new = view.bytes_new.map_or_else(|| "-".to_owned(), human_bytes);
    (counts.files.to_string(), human_bytes(counts.bytes), new)
}

fn state(view: &CheckpointView) -> String {
    match view.state {
        CheckpointState::Created if view.frozen => "kept, frozen".to_owned(),
        CheckpointState::Created => "kept".to_owned(),
        other => other.to_string(),
    }
}

pub(super) fn made(out: &mut Output, view: &CheckpointView) -> anyhow::Result<()> {
    let (_, bytes, new) = files(view);
    let count = view.counts.map_or_else(|| "no file".to_owned(), |counts| counted(counts.files, "file"));
    out.line(&format!("{}: {count}, {bytes}, {new} new", view.checkpoint_id))?;
    remarks(out, view);
    Ok(())
}

fn remarks(out: &Output, view: &CheckpointView) {
    if view.left_out > 0 {
        let count = counted(view.left_out, "thing");
        out.note(&format!("not in it: {count}, which `edgeplane checkpoint get` lists"));
    }
    if view.unsettled > 0 {
        let count = counted(view.unsettled, "file");
        out.note(&format!("changed each time it was read: {count}"));
    }
}

pub(super) fn list(out: &mut Output, list: &CheckpointListResult) -> anyhow::Result<()> {
    if list.checkpoints.is_empty() {
        out.note("no checkpoints");
        return Ok(());
    }
    table(out, &list.checkpoints)?;
    if list.next_cursor.is_some() {
        out.note("there are more: `-o json` and `workspace/checkpoint.list` with `cursor` show them");
    }
    Ok(())
}

fn table(out: &mut Output, checkpoints: &[CheckpointView]) -> anyhow::Result<()> {
    let mut table = Table::new(&["CHECKPOINT", "AT", "STATE", "FILES", "BYTES", "NEW", "BY", "LABEL"]);
    for view in checkpoints {
        let (files, bytes, new) = files(view);
        let label = match (&view.label, view.cause) {
            (Some(label), _) => label.clone(),
            (None, edgeplane_types::CheckpointCause::Restore) => "before a restore".to_owned(),
            (None, edgeplane_types::CheckpointCause::BeforeCall) => {
                let call = view.invocation_id.map(|id| id.to_string()).unwrap_or_default();
                format!("before call {call}")
            }
            (None, edgeplane_types::CheckpointCause::Asked) => view.reason.clone().unwrap_or_default(),
        };
        table.row([
            view.checkpoint_id.to_string(),
            short_time(&view.started_at),
            state(view),
            files,
            bytes,
            new,
            cell(view.by.as_str()),
            cell(&label),
        ]);
    }
    Ok(out.table(&table)?)
}

pub(super) fn detail(out: &mut Output, detail: &CheckpointDetail) -> anyhow::Result<()> {
    table(out, std::slice::from_ref(&detail.checkpoint))?;
    if detail.left_out.is_empty() {
        return Ok(());
    }
    let mut table = Table::new(&["NOT IN IT", "WHY"]);
    for item in &detail.left_out {
        table.row([cell(&item.path), cell(&item.why)]);
    }
    Ok(out.table(&table)?)
}

fn thing(view: Option<&ThingView>) -> String {
    let Some(view) = view else { return "-".to_owned() };
    let mode = view.mode.as_deref().unwrap_or_default();
    match (view.kind, view.bytes) {
        (ThingKind::File, bytes) => format!("file {mode} {}", human_bytes(bytes.unwrap_or(0))),
        (ThingKind::Folder, _) => format!("folder {mode}"),
        (ThingKind::Link, _) => "link".to_owned(),
    }
}

fn row(change: &ChangeView) -> [String; 4] {
    let what = match change.change {
        ChangeKind::Added => "added",
        ChangeKind::Removed => "removed",
        ChangeKind::Content => "changed",
        ChangeKind::Mode => "permissions",
        ChangeKind::Kind => "kind",
    };
    [what.to_owned(), cell(&change.path), thing(change.before.as_ref()), thing(change.after.as_ref())]
}

pub(super) fn diff(out: &mut Output, diff: &CheckpointDiffResult) -> anyhow::Result<()> {
    if diff.changes.is_empty() {
        out.note("nothing differs");
        return Ok(());
    }
    let mut table = Table::new(&["CHANGE", "PATH", "BEFORE", "AFTER"]);
    for change in &diff.changes {
        table.row(row(change));
    }
    out.table(&table)?;
    if diff.total > diff.changes.len() as u64 {
        out.note(&format!("{} of {} changes: `--limit` tells more", diff.changes.len(), diff.total));
    }
    Ok(())
}

pub(super) fn restored(out: &mut Output, done: &CheckpointRestoreResult) -> anyhow::Result<()> {
    let RestoreCounts { written, removed, modes, bytes, conflicts } = done.counts;
    let bytes = human_bytes(bytes);
    out.line(&format!("{written} written ({bytes}), {removed} removed, {modes} permissions set"))?;
    out.line(&format!("what was there is kept as {}", done.before.checkpoint_id))?;
    if conflicts == 0 {
        return Ok(());
    }
    out.note(&format!("{conflicts} things were left as they are"));
    let mut table = Table::new(&["LEFT AS IT IS", "WHY"]);
    for conflict in &done.conflicts {
        table.row([cell(&conflict.path), cell(&conflict.reason)]);
    }
    Ok(out.table(&table)?)
}

/// What `prune` ends, or would end.
pub(super) fn pruned(out: &mut Output, ended: &[CheckpointView], is_done: bool) -> anyhow::Result<()> {
    if out.format() != Format::Table {
        let value = serde_json::json!({ "ended": is_done, "checkpoints": ended });
        return Ok(out.value(&value)?);
    }
    if ended.is_empty() {
        out.note("nothing to end");
        return Ok(());
    }
    table(out, ended)?;
    match is_done {
        true => Ok(out.line(&format!("{} checkpoints are ended", ended.len()))?),
        false => {
            out.note("nothing is ended yet: `--yes` ends these");
            Ok(())
        }
    }
}

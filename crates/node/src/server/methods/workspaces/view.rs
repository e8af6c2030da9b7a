//! Workspaces, checkpoints and what differs, as they are shown.

use std::{os::unix::ffi::OsStrExt as _, path::Path};

use edgeplane_store::{CheckpointRow, WorkspaceRow};
use edgeplane_wire::{
    api::workspace::{
        ChangeKind, ChangeView, CheckpointView, LeftOutView, ThingKind, ThingView, WorkspaceView,
    },
    rpc::RpcError,
};
use edgeplane_workspace::{Change, Changed, Checkpoint, Side};

use super::{Session, bindings};
use crate::workspaces;

pub(super) fn shown_workspace(session: &Session, row: WorkspaceRow) -> Result<WorkspaceView, RpcError> {
    let bound = workspaces::bound(&session.shared, row.id, None)?;
    let bindings = bound.iter().map(|binding| bindings::view(session, &row, binding)).collect();
    let handle = row.agent.and_then(|id| session.shared.agent_by_id(id));
    Ok(WorkspaceView {
        workspace_id: row.id,
        agent: handle.map(|handle| handle.name.to_string()),
        agent_id: row.agent,
        folder: row.folder,
        checkpoints: row.checkpoints,
        write_seq: row.write_seq,
        restoring: row.restoring,
        bindings,
        created_at: row.created_at,
    })
}

pub(super) fn shown_checkpoint(row: CheckpointRow) -> CheckpointView {
    let (created, created_at) = row.created.unzip();
    CheckpointView {
        checkpoint_id: row.started.checkpoint_id,
        workspace_id: row.workspace,
        state: row.state,
        cause: row.started.cause,
        label: row.started.label,
        invocation_id: row.started.invocation_id,
        digest: created.as_ref().map(|created| created.digest.clone()),
        counts: created.as_ref().map(|created| created.counts),
        bytes_new: created.as_ref().map(|created| created.bytes_new),
        left_out: created.as_ref().map_or(0, |created| created.left_out),
        unsettled: created.as_ref().map_or(0, |created| created.unsettled),
        frozen: created.as_ref().is_some_and(|created| created.frozen),
        write_seq: created.as_ref().map_or(0, |created| created.write_seq),
        reason: row.failed.map(|failed| failed.reason),
        by: row.by.name().clone(),
        started_at: row.started_at,
        created_at,
    }
}

/// A path as text: what is no text, and what would act on a terminal, is shown by its bytes.
pub(super) fn shown_path(path: &Path) -> String {
    edgeplane_workspace::shown(path.as_os_str().as_bytes())
}

pub(super) fn left_out(checkpoint: &Checkpoint) -> Vec<LeftOutView> {
    let shown = |item: &edgeplane_workspace::LeftOut| LeftOutView {
        path: shown_path(&item.path),
        why: item.why.as_str().to_owned(),
    };
    checkpoint.left_out.iter().map(shown).collect()
}

fn thing(side: &Side) -> ThingView {
    let octal = |mode: &u16| Some(format!("{mode:04o}"));
    match side {
        Side::File { bytes, mode } => {
            ThingView { kind: ThingKind::File, bytes: Some(*bytes), mode: octal(mode) }
        }
        Side::Folder { mode } => ThingView { kind: ThingKind::Folder, bytes: None, mode: octal(mode) },
        Side::Link => ThingView { kind: ThingKind::Link, bytes: None, mode: None },
    }
}

pub(super) fn change(change: &Change) -> ChangeView {
    let (kind, before, after) = match &change.changed {
        Changed::Added(after) => (ChangeKind::Added, None, Some(after)),
        Changed::Removed(before) => (ChangeKind::Removed, Some(before), None),
        Changed::Content(before, after) => (ChangeKind::Content, Some(before), Some(after)),
        Changed::Mode(before, after) => (ChangeKind::Mode, Some(before), Some(after)),
        Changed::Kind(before, after) => (ChangeKind::Kind, Some(before), Some(after)),
    };
    ChangeView {
        path: shown_path(&change.path),
        change: kind,
        before: before.map(thing),
        after: after.map(thing),
    }
}

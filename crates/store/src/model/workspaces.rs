//! Workspaces, their checkpoints, and the restore of each that is under way.

use edgeplane_types::{
    CheckpointId, Fact, StreamName, WorkspaceId,
    fact::{
        BindingAttached, BlobPut, CheckpointCreated, CheckpointStarted, FileChangeBegun, RestoreStarted,
        WorkspaceCreated,
    },
};
use rusqlite::params;

use super::{Definition, FoldError, Step};
use crate::sqlite::int;

pub(super) const DEFINITION: Definition = Definition {
    version: 7,
    schema: "
        CREATE TABLE workspace (
            pos INTEGER PRIMARY KEY,
            id BLOB NOT NULL UNIQUE,
            agent BLOB,
            folder TEXT NOT NULL,
            restoring BLOB,
            write_seq INTEGER NOT NULL DEFAULT 0,
            changing_pos INTEGER,
            last_token INTEGER NOT NULL DEFAULT 0,
            deleted_pos INTEGER
        ) STRICT;
        CREATE INDEX workspace_of_agent ON workspace (agent, pos) WHERE agent IS NOT NULL;
        CREATE INDEX workspace_changing ON workspace (pos) WHERE changing_pos IS NOT NULL;
        CREATE UNIQUE INDEX workspace_of_folder ON workspace (folder) WHERE deleted_pos IS NULL;
        CREATE TABLE checkpoint (
            pos INTEGER PRIMARY KEY,
            id BLOB NOT NULL UNIQUE,
            workspace BLOB NOT NULL,
            state TEXT NOT NULL,
            cause TEXT NOT NULL,
            digest TEXT,
            ended_pos INTEGER
        ) STRICT;
        CREATE INDEX checkpoint_of_workspace ON checkpoint (workspace, pos);
        CREATE INDEX checkpoint_open ON checkpoint (pos) WHERE state = 'started';
        CREATE INDEX checkpoint_before_call ON checkpoint (workspace, pos)
            WHERE state = 'created' AND cause = 'before_call';
        CREATE INDEX checkpoint_kept ON checkpoint (digest) WHERE state = 'created';
        CREATE TABLE workspace_lock (
            pos INTEGER PRIMARY KEY,
            workspace BLOB NOT NULL,
            token INTEGER NOT NULL,
            acquired_pos INTEGER NOT NULL,
            ended_pos INTEGER,
            UNIQUE (workspace, token)
        ) STRICT;
        CREATE INDEX workspace_lock_open ON workspace_lock (workspace, token) WHERE ended_pos IS NULL;
        CREATE TABLE workspace_binding (
            pos INTEGER PRIMARY KEY,
            workspace BLOB NOT NULL,
            epoch INTEGER NOT NULL UNIQUE,
            agent BLOB NOT NULL,
            run BLOB,
            mode TEXT NOT NULL,
            ended_pos INTEGER
        ) STRICT;
        CREATE INDEX workspace_binding_open ON workspace_binding (workspace, epoch) WHERE ended_pos IS NULL;
        CREATE INDEX workspace_binding_of_agent ON workspace_binding (agent, epoch) WHERE ended_pos IS NULL;
        CREATE INDEX workspace_binding_of_run ON workspace_binding (run, epoch) WHERE run IS NOT NULL;
        CREATE UNIQUE INDEX workspace_binding_writer ON workspace_binding (workspace)
            WHERE ended_pos IS NULL AND mode = 'rw';
        CREATE TABLE workspace_blob (
            pos INTEGER PRIMARY KEY,
            workspace BLOB NOT NULL,
            digest TEXT NOT NULL,
            put_pos INTEGER NOT NULL,
            expires INTEGER,
            removed_pos INTEGER
        ) STRICT;
        CREATE UNIQUE INDEX workspace_blob_kept ON workspace_blob (workspace, digest) WHERE removed_pos IS NULL;
        CREATE INDEX workspace_blob_over ON workspace_blob (expires)
            WHERE removed_pos IS NULL AND expires IS NOT NULL;
        CREATE TABLE workspace_wait (
            pos INTEGER PRIMARY KEY,
            workspace BLOB NOT NULL,
            request BLOB NOT NULL
        ) STRICT;
        CREATE INDEX workspace_wait_of ON workspace_wait (request, workspace);",
    tables: &[
        ("workspace", "pos"),
        ("checkpoint", "pos"),
        ("workspace_lock", "pos"),
        ("workspace_binding", "pos"),
        ("workspace_blob", "pos"),
        ("workspace_wait", "pos"),
    ],
    fold,
};

fn fold(step: &Step<'_>) -> Result<(), FoldError> {
    match &step.event.fact {
        Fact::WorkspaceCreated(created) => create(step, created),
        Fact::WorkspaceDeleted(_) => delete(step),
        Fact::CheckpointStarted(started) => start(step, started),
        Fact::CheckpointCreated(created) => keep(step, created),
        Fact::CheckpointFailed(failed) => {
            let state = if failed.lost { "lost" } else { "failed" };
            end(step, failed.checkpoint_id, ("started", state))
        }
        Fact::CheckpointDeleted(deleted) => end(step, deleted.checkpoint_id, ("created", "deleted")),
        Fact::RestoreStarted(started) => restore(step, started),
        Fact::RestoreEnded(ended) => restored(step, ended.checkpoint_id),
        Fact::RestoreFailed(failed) => restored(step, failed.checkpoint_id),
        Fact::FileChangeBegun(begun) => begin_change(step, begun),
        Fact::FileChangeEnded(ended) => end_change(step, ended.write_seq),
        Fact::LockWaiting(_) => wait(step),
        Fact::LockAcquired(acquired) => waited(step).and_then(|()| lock(step, acquired.token)),
        Fact::LockRefused(_) => waited(step),
        Fact::LockReleased(released) => unlock(step, released.token),
        Fact::BlobPut(put) => put_blob(step, put),
        Fact::BlobRemoved(removed) => remove_blob(step, &removed.digest),
        Fact::BindingAttached(attached) => bind(step, attached),
        Fact::BindingDetached(detached) => unbind(step, detached.binding_epoch),
        _ => Ok(()),
    }
}

fn create(step: &Step<'_>, created: &WorkspaceCreated) -> Result<(), FoldError> {
    if step.of_workspace()? != created.workspace_id {
        return Err(FoldError::WrongStream(step.event.stream));
    }
    step.insert(
        "INSERT INTO workspace (pos, id, agent, folder) VALUES (?1, ?2, ?3, ?4)",
        params![
            int(step.pos),
            created.workspace_id.as_bytes(),
            created.agent_id.as_ref().map(edgeplane_types::AgentId::as_bytes),
            created.folder,
        ],
        |_taken| FoldError::WorkspaceTwice(created.workspace_id),
    )
}

/// A workspace that is there, whose facts these are.
fn change<P: rusqlite::Params>(step: &Step<'_>, sql: &str, params: P) -> Result<(), FoldError> {
    let id = step.of_workspace()?;
    if step.run(sql, params)? == 0 { Err(FoldError::NoWorkspace(id)) } else { Ok(()) }
}

fn delete(step: &Step<'_>) -> Result<(), FoldError> {
    let id = step.of_workspace()?;
    change(
        step,
        "UPDATE workspace SET deleted_pos = ?2 WHERE id = ?1 AND deleted_pos IS NULL",
        params![id.as_bytes(), int(step.pos)],
    )?;
    step.run(
        "UPDATE checkpoint SET state = 'deleted' WHERE workspace = ?1 AND state = 'created'",
        params![id.as_bytes()],
    )?;
    step.run(
        "UPDATE workspace_lock SET ended_pos = ?2 WHERE workspace = ?1 AND ended_pos IS NULL",
        params![id.as_bytes(), int(step.pos)],
    )?;
    step.run(
        "UPDATE workspace_binding SET ended_pos = ?2 WHERE workspace = ?1 AND ended_pos IS NULL",
        params![id.as_bytes(), int(step.pos)],
    )?;
    step.run(
        "UPDATE workspace_blob SET removed_pos = ?2 WHERE workspace = ?1 AND removed_pos IS NULL",
        params![id.as_bytes(), int(step.pos)],
    )?;
    Ok(())
}

fn start(step: &Step<'_>, started: &CheckpointStarted) -> Result<(), FoldError> {
    let id = step.of_workspace()?;
    let there = step.find(
        "SELECT 1 FROM workspace WHERE id = ?1 AND deleted_pos IS NULL",
        [id.as_bytes()],
        |_row| Ok(()),
    )?;
    if there.is_none() {
        return Err(FoldError::NoWorkspace(id));
    }
    step.insert(
        "INSERT INTO checkpoint (pos, id, workspace, state, cause) VALUES (?1, ?2, ?3, 'started', ?4)",
        params![int(step.pos), started.checkpoint_id.as_bytes(), id.as_bytes(), started.cause.as_str()],
        |_taken| FoldError::CheckpointTwice(started.checkpoint_id),
    )
}

fn keep(step: &Step<'_>, created: &CheckpointCreated) -> Result<(), FoldError> {
    let found = step.run(
        "UPDATE checkpoint SET state = 'created', digest = ?4, ended_pos = ?3
         WHERE id = ?1 AND workspace = ?2 AND state = 'started'",
        params![
            created.checkpoint_id.as_bytes(),
            step.of_workspace()?.as_bytes(),
            int(step.pos),
            created.digest
        ],
    )?;
    if found == 0 { Err(FoldError::NoCheckpoint(created.checkpoint_id)) } else { Ok(()) }
}

fn end(step: &Step<'_>, id: CheckpointId, (from, to): (&str, &str)) -> Result<(), FoldError> {
    // What a deleted one was stands at the place of its creation.
    let found = step.run(
        "UPDATE checkpoint SET state = ?4, ended_pos = CASE ?3 WHEN 'started' THEN ?5 ELSE ended_pos END
         WHERE id = ?1 AND workspace = ?2 AND state = ?3",
        params![id.as_bytes(), step.of_workspace()?.as_bytes(), from, to, int(step.pos)],
    )?;
    if found == 0 { Err(FoldError::NoCheckpoint(id)) } else { Ok(()) }
}

fn restore(step: &Step<'_>, started: &RestoreStarted) -> Result<(), FoldError> {
    let id = step.of_workspace()?;
    change(
        step,
        "UPDATE workspace SET restoring = ?2 WHERE id = ?1 AND deleted_pos IS NULL AND restoring IS NULL",
        params![id.as_bytes(), started.checkpoint_id.as_bytes()],
    )
}

fn restored(step: &Step<'_>, checkpoint: CheckpointId) -> Result<(), FoldError> {
    let id = step.of_workspace()?;
    change(
        step,
        "UPDATE workspace SET restoring = NULL WHERE id = ?1 AND restoring = ?2",
        params![id.as_bytes(), checkpoint.as_bytes()],
    )
}

/// One change of a file at a time, and none without a number.
fn begin_change(step: &Step<'_>, begun: &FileChangeBegun) -> Result<(), FoldError> {
    let id = step.of_workspace()?;
    change(
        step,
        "UPDATE workspace SET write_seq = ?2, changing_pos = ?3
         WHERE id = ?1 AND deleted_pos IS NULL AND changing_pos IS NULL AND write_seq = ?2 - 1",
        params![id.as_bytes(), int(begun.write_seq), int(step.pos)],
    )
}

fn end_change(step: &Step<'_>, write_seq: u64) -> Result<(), FoldError> {
    let id = step.of_workspace()?;
    change(
        step,
        "UPDATE workspace SET changing_pos = NULL
         WHERE id = ?1 AND changing_pos IS NOT NULL AND write_seq = ?2",
        params![id.as_bytes(), int(write_seq)],
    )
}

/// Waits of requests that have a trace: by it they are found again, and in it they stand open.
fn wait(step: &Step<'_>) -> Result<(), FoldError> {
    let (id, Some(request)) = (step.of_workspace()?, step.request()) else { return Ok(()) };
    step.run(
        "INSERT INTO workspace_wait (pos, workspace, request) VALUES (?1, ?2, ?3)",
        params![int(step.pos), id.as_bytes(), request],
    )?;
    Ok(())
}

fn waited(step: &Step<'_>) -> Result<(), FoldError> {
    let (id, Some(request)) = (step.of_workspace()?, step.request()) else { return Ok(()) };
    step.run(
        "DELETE FROM workspace_wait WHERE request = ?1 AND workspace = ?2",
        params![request, id.as_bytes()],
    )?;
    Ok(())
}

/// A new lock has the next token; one that is there may be had for longer.
fn lock(step: &Step<'_>, token: u64) -> Result<(), FoldError> {
    let id = step.of_workspace()?;
    let longer = step.run(
        "UPDATE workspace_lock SET acquired_pos = ?3
         WHERE workspace = ?1 AND token = ?2 AND ended_pos IS NULL",
        params![id.as_bytes(), int(token), int(step.pos)],
    )?;
    if longer > 0 {
        return Ok(());
    }
    change(
        step,
        "UPDATE workspace SET last_token = ?2 WHERE id = ?1 AND deleted_pos IS NULL AND last_token = ?2 - 1",
        params![id.as_bytes(), int(token)],
    )?;
    step.run(
        "INSERT INTO workspace_lock (pos, workspace, token, acquired_pos) VALUES (?1, ?2, ?3, ?1)",
        params![int(step.pos), id.as_bytes(), int(token)],
    )?;
    Ok(())
}

fn unlock(step: &Step<'_>, token: u64) -> Result<(), FoldError> {
    let id = step.of_workspace()?;
    change(
        step,
        "UPDATE workspace_lock SET ended_pos = ?3 WHERE workspace = ?1 AND token = ?2 AND ended_pos IS NULL",
        params![id.as_bytes(), int(token), int(step.pos)],
    )
}

/// Each binding has the next number of the node, and one at most may write.
fn bind(step: &Step<'_>, attached: &BindingAttached) -> Result<(), FoldError> {
    let id = step.of_workspace()?;
    let is_next = step.find(
        "SELECT 1 FROM workspace WHERE id = ?1 AND deleted_pos IS NULL
             AND ?2 = (SELECT coalesce(max(epoch), 0) + 1 FROM workspace_binding)",
        params![id.as_bytes(), int(attached.binding_epoch)],
        |_row| Ok(()),
    )?;
    if is_next.is_none() {
        return Err(FoldError::NoWorkspace(id));
    }
    step.insert(
        "INSERT INTO workspace_binding (pos, workspace, epoch, agent, run, mode)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![
            int(step.pos),
            id.as_bytes(),
            int(attached.binding_epoch),
            attached.agent_id.as_bytes(),
            attached.run_id.as_ref().map(edgeplane_types::RunId::as_bytes),
            attached.mode.as_str()
        ],
        |_taken| FoldError::NoWorkspace(id),
    )
}

fn unbind(step: &Step<'_>, epoch: u64) -> Result<(), FoldError> {
    let id = step.of_workspace()?;
    change(
        step,
        "UPDATE workspace_binding SET ended_pos = ?3
         WHERE workspace = ?1 AND epoch = ?2 AND ended_pos IS NULL",
        params![id.as_bytes(), int(epoch), int(step.pos)],
    )
}

/// What is put again is the same blob, kept as it was put last.
fn put_blob(step: &Step<'_>, put: &BlobPut) -> Result<(), FoldError> {
    let id = step.of_workspace()?;
    let expires = (!put.pinned).then(|| put.expires_at.as_micros());
    let again = step.run(
        "UPDATE workspace_blob SET put_pos = ?3, expires = ?4
         WHERE workspace = ?1 AND digest = ?2 AND removed_pos IS NULL",
        params![id.as_bytes(), put.digest, int(step.pos), expires],
    )?;
    if again > 0 {
        return Ok(());
    }
    let made = step.run(
        "INSERT INTO workspace_blob (pos, workspace, digest, put_pos, expires)
         SELECT ?3, ?1, ?2, ?3, ?4 FROM workspace WHERE id = ?1 AND deleted_pos IS NULL",
        params![id.as_bytes(), put.digest, int(step.pos), expires],
    )?;
    if made == 0 { Err(FoldError::NoWorkspace(id)) } else { Ok(()) }
}

fn remove_blob(step: &Step<'_>, digest: &str) -> Result<(), FoldError> {
    let id = step.of_workspace()?;
    change(
        step,
        "UPDATE workspace_blob SET removed_pos = ?3
         WHERE workspace = ?1 AND digest = ?2 AND removed_pos IS NULL",
        params![id.as_bytes(), digest, int(step.pos)],
    )
}

impl Step<'_> {
    /// The request that the event belongs to.
    fn request(&self) -> Option<Vec<u8>> {
        let parent = self.event.trace.as_ref()?.traceparent;
        Some([parent.trace_id.as_bytes().as_slice(), parent.span_id.as_bytes()].concat())
    }

    /// The workspace whose stream the event is in.
    fn of_workspace(&self) -> Result<WorkspaceId, FoldError> {
        match self.event.stream {
            StreamName::Workspace(id) => Ok(id),
            other => Err(FoldError::WrongStream(other)),
        }
    }
}

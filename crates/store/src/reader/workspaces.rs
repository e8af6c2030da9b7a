//! Workspaces and checkpoints.

use edgeplane_types::{AgentId, CheckpointId, CheckpointState, Event, Fact, RunId, Timestamp, WorkspaceId};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{ReadError, Reader, event_at, limit, misplaced};
use crate::{
    row::{BindingRow, BlobRow, CheckpointRow, LockRow, WorkspaceRow},
    sqlite::{int, uint, word},
};

const WORKSPACES: &str = "SELECT pos, id, agent, folder, restoring,
    (SELECT count(*) FROM checkpoint WHERE workspace = workspace.id AND state = 'created'),
    write_seq, changing_pos, last_token
    FROM workspace WHERE deleted_pos IS NULL";

const CHECKPOINTS: &str = "SELECT pos, workspace, state, ended_pos FROM checkpoint";

/// Which checkpoints a list names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CheckpointFilter {
    /// Of this workspace.
    pub workspace: Option<WorkspaceId>,
    /// Those that are not kept, too.
    pub all: bool,
}

fn workspace(conn: &Connection, row: &Row<'_>) -> rusqlite::Result<WorkspaceRow> {
    let pos: i64 = row.get(0)?;
    let changing = row.get::<_, Option<i64>>(7)?.map(|pos| event_at(conn, pos)).transpose()?;
    let changing = match changing.map(|event| event.fact) {
        None => None,
        Some(Fact::FileChangeBegun(begun)) => Some(*begun),
        Some(other) => return Err(misplaced(&other)),
    };
    Ok(WorkspaceRow {
        pos: uint(row, 0)?,
        id: WorkspaceId::from_bytes(row.get(1)?),
        agent: row.get::<_, Option<[u8; 16]>>(2)?.map(AgentId::from_bytes),
        folder: row.get(3)?,
        restoring: row.get::<_, Option<[u8; 16]>>(4)?.map(CheckpointId::from_bytes),
        checkpoints: uint(row, 5)?,
        write_seq: uint(row, 6)?,
        last_token: uint(row, 8)?,
        changing,
        created_at: event_at(conn, pos)?.ts,
    })
}

fn checkpoint(conn: &Connection, row: &Row<'_>) -> rusqlite::Result<CheckpointRow> {
    let event = event_at(conn, row.get(0)?)?;
    let Fact::CheckpointStarted(started) = event.fact else { return Err(misplaced(&event.fact)) };
    let mut found = CheckpointRow {
        pos: uint(row, 0)?,
        workspace: WorkspaceId::from_bytes(row.get(1)?),
        state: word(row, 2, CheckpointState::from_word)?,
        started,
        by: event.actor,
        started_at: event.ts,
        created: None,
        failed: None,
    };
    if let Some(pos) = row.get(3)? {
        let event = event_at(conn, pos)?;
        match event.fact {
            Fact::CheckpointCreated(created) => found.created = Some((*created, event.ts)),
            Fact::CheckpointFailed(failed) => found.failed = Some(failed),
            other => return Err(misplaced(&other)),
        }
    }
    Ok(found)
}

fn lock(conn: &Connection, row: &Row<'_>) -> rusqlite::Result<LockRow> {
    let event = event_at(conn, row.get(0)?)?;
    let Fact::LockAcquired(acquired) = event.fact else { return Err(misplaced(&event.fact)) };
    let ended = row.get::<_, Option<i64>>(1)?;
    Ok(LockRow { acquired, by: event.actor, acquired_at: event.ts, is_open: ended.is_none() })
}

fn binding(conn: &Connection, row: &Row<'_>) -> rusqlite::Result<BindingRow> {
    let event = event_at(conn, row.get(0)?)?;
    let Fact::BindingAttached(attached) = event.fact else { return Err(misplaced(&event.fact)) };
    let ended = row.get::<_, Option<i64>>(2)?;
    Ok(BindingRow {
        workspace: WorkspaceId::from_bytes(row.get(1)?),
        attached,
        by: event.actor,
        attached_at: event.ts,
        is_open: ended.is_none(),
    })
}

fn blob(conn: &Connection, row: &Row<'_>) -> rusqlite::Result<BlobRow> {
    let event = event_at(conn, row.get(1)?)?;
    let Fact::BlobPut(put) = event.fact else { return Err(misplaced(&event.fact)) };
    Ok(BlobRow { workspace: WorkspaceId::from_bytes(row.get(0)?), put, by: event.actor, put_at: event.ts })
}

impl Reader {
    /// A blob of a workspace that is kept.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn blob(&self, workspace: &WorkspaceId, digest: &str) -> Result<Option<BlobRow>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached(
                "SELECT workspace, put_pos FROM workspace_blob
                 WHERE workspace = ?1 AND digest = ?2 AND removed_pos IS NULL",
            )?
            .query_row(params![workspace.as_bytes(), digest], |row| blob(conn, row))
            .optional()
        })
    }

    /// Every blob that is kept.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn blobs(&self) -> Result<Vec<BlobRow>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached(
                "SELECT workspace, put_pos FROM workspace_blob WHERE removed_pos IS NULL ORDER BY pos",
            )?
            .query_map([], |row| blob(conn, row))?
            .collect()
        })
    }

    /// Whether the time of a blob is over that is kept and not pinned.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn are_blobs_over(&self, now: Timestamp) -> Result<bool, ReadError> {
        self.with(|conn| {
            conn.prepare_cached(
                "SELECT 1 FROM workspace_blob
                 WHERE removed_pos IS NULL AND expires IS NOT NULL AND expires <= ?1 LIMIT 1",
            )?
            .exists([now.as_micros()])
        })
    }

    /// The bindings of which no end is recorded: of a workspace, of an agent, or of both; by their numbers.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn open_bindings(
        &self,
        workspace: Option<&WorkspaceId>,
        agent: Option<&AgentId>,
    ) -> Result<Vec<BindingRow>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached(
                "SELECT pos, workspace, ended_pos FROM workspace_binding
                 WHERE ended_pos IS NULL AND (?1 IS NULL OR workspace = ?1) AND (?2 IS NULL OR agent = ?2)
                 ORDER BY epoch",
            )?
            .query_map(params![workspace.map(WorkspaceId::as_bytes), agent.map(AgentId::as_bytes)], |row| {
                binding(conn, row)
            })?
            .collect()
        })
    }

    /// A binding, ended or not, by its number.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn binding(&self, epoch: u64) -> Result<Option<BindingRow>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached("SELECT pos, workspace, ended_pos FROM workspace_binding WHERE epoch = ?1")?
                .query_row([int(epoch)], |row| binding(conn, row))
                .optional()
        })
    }

    /// The bindings of a run, ended or not, by their numbers.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn bindings_of_run(&self, run: &RunId) -> Result<Vec<BindingRow>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached(
                "SELECT pos, workspace, ended_pos FROM workspace_binding WHERE run = ?1 ORDER BY epoch",
            )?
            .query_map([run.as_bytes()], |row| binding(conn, row))?
            .collect()
        })
    }

    /// The number of the last binding; 0 if there was none.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn last_binding(&self) -> Result<u64, ReadError> {
        self.with(|conn| {
            conn.prepare_cached("SELECT coalesce(max(epoch), 0) FROM workspace_binding")?
                .query_row([], |row| uint(row, 0))
        })
    }

    /// Where somebody began to wait for a lock, and nothing is recorded of what came of it.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn open_lock_waits(&self) -> Result<Vec<Event>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached("SELECT pos FROM workspace_wait ORDER BY pos")?
                .query_map([], |row| event_at(conn, row.get(0)?))?
                .collect()
        })
    }

    /// The locks of a workspace of which no end is recorded, by their tokens.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn open_locks(&self, id: &WorkspaceId) -> Result<Vec<LockRow>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached(
                "SELECT acquired_pos, ended_pos FROM workspace_lock
                 WHERE workspace = ?1 AND ended_pos IS NULL ORDER BY token",
            )?
            .query_map([id.as_bytes()], |row| lock(conn, row))?
            .collect()
        })
    }

    /// A lock of a workspace, ended or not.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn lock(&self, id: &WorkspaceId, token: u64) -> Result<Option<LockRow>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached(
                "SELECT acquired_pos, ended_pos FROM workspace_lock WHERE workspace = ?1 AND token = ?2",
            )?
            .query_row(params![id.as_bytes(), int(token)], |row| lock(conn, row))
            .optional()
        })
    }

    /// A workspace that is known.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn workspace(&self, id: &WorkspaceId) -> Result<Option<WorkspaceRow>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached(&format!("{WORKSPACES} AND id = ?1"))?
                .query_row([id.as_bytes()], |row| workspace(conn, row))
                .optional()
        })
    }

    /// The workspace of a folder.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn workspace_of(&self, folder: &str) -> Result<Option<WorkspaceRow>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached(&format!("{WORKSPACES} AND folder = ?1"))?
                .query_row([folder], |row| workspace(conn, row))
                .optional()
        })
    }

    /// Workspaces in the order in which they became known, of one agent if one is named, from behind a place on.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn workspaces(
        &self,
        agent: Option<&AgentId>,
        after: u64,
        rows: usize,
    ) -> Result<Vec<WorkspaceRow>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached(&format!(
                "{WORKSPACES} AND (?1 IS NULL OR agent = ?1) AND pos > ?2 ORDER BY pos LIMIT ?3"
            ))?
            .query_map(params![agent.map(AgentId::as_bytes), int(after), limit(rows)], |row| {
                workspace(conn, row)
            })?
            .collect()
        })
    }

    /// Workspaces with a change of a file that was begun and of which no end is recorded.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn open_changes(&self) -> Result<Vec<WorkspaceRow>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached(&format!("{WORKSPACES} AND changing_pos IS NOT NULL ORDER BY pos"))?
                .query_map([], |row| workspace(conn, row))?
                .collect()
        })
    }

    /// A checkpoint, kept or not.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn checkpoint(&self, id: &CheckpointId) -> Result<Option<CheckpointRow>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached(&format!("{CHECKPOINTS} WHERE id = ?1"))?
                .query_row([id.as_bytes()], |row| checkpoint(conn, row))
                .optional()
        })
    }

    /// Checkpoints, the newest first, from before a place on.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn checkpoints(
        &self,
        filter: &CheckpointFilter,
        before: Option<u64>,
        rows: usize,
    ) -> Result<Vec<CheckpointRow>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached(&format!(
                "{CHECKPOINTS} WHERE (?1 IS NULL OR workspace = ?1) AND (?2 OR state IN ('created', 'started'))
                     AND pos < ?3 ORDER BY pos DESC LIMIT ?4"
            ))?
            .query_map(
                params![
                    filter.workspace.as_ref().map(WorkspaceId::as_bytes),
                    filter.all,
                    before.map_or(i64::MAX, int),
                    limit(rows)
                ],
                |row| checkpoint(conn, row),
            )?
            .collect()
        })
    }

    /// The checkpoints of a workspace that were made before calls and are kept, but the newest of them.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn checkpoints_before_calls(
        &self,
        workspace: &WorkspaceId,
        newest: u32,
    ) -> Result<Vec<CheckpointRow>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached(&format!(
                "{CHECKPOINTS} WHERE workspace = ?1 AND state = 'created' AND cause = 'before_call'
                 ORDER BY pos DESC LIMIT -1 OFFSET ?2"
            ))?
            .query_map(params![workspace.as_bytes(), newest], |row| checkpoint(conn, row))?
            .collect()
        })
    }

    /// Checkpoints that were begun and of which no end is recorded.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn open_checkpoints(&self) -> Result<Vec<CheckpointRow>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached(&format!("{CHECKPOINTS} WHERE state = 'started' ORDER BY pos"))?
                .query_map([], |row| checkpoint(conn, row))?
                .collect()
        })
    }

    /// The digests of all states that are kept.
    ///
    /// # Errors
    /// When the record cannot be read.
    pub fn kept_digests(&self) -> Result<Vec<String>, ReadError> {
        self.with(|conn| {
            conn.prepare_cached(
                "SELECT DISTINCT digest FROM checkpoint WHERE state = 'created' ORDER BY digest",
            )?
            .query_map([], |row| row.get(0))?
            .collect()
        })
    }
}

//! Workspaces: which folders are known, their checkpoints and restores, each an intent before and an outcome after.
//!
//! The files are read and written by `edgeplane-workspace`, on threads that may block. Who may ask for what is decided
//! where the methods are.

mod automatic;
mod bindings;
mod blobs;
mod checkpoint;
mod files;
mod locks;
mod restore;
mod suspend;

use std::{
    collections::{HashMap, HashSet},
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, atomic::AtomicU64},
};

use edgeplane_store::WorkspaceRow;
use edgeplane_types::{
    AgentId, ErrorName, Fact, Phase, StreamName, WorkspaceId,
    fact::{CheckpointFailed, RestoreFailed, Suspended, WorkspaceCreated},
};
use edgeplane_wire::rpc::RpcError;
use edgeplane_workspace::{Id, Store, WorkspaceError};

use crate::{
    agent::{AgentHandle, Command},
    evidence::holds,
    record::{Draft, Origin, chain, refused},
    shared::Shared,
};

pub(crate) use automatic::before_call;
pub(crate) use bindings::{
    Doing, ToBind, WantedBinding, attach, bound, detach, living, permits as works_under, to_bind,
};
pub(crate) use blobs::{Bytes, WantedBlob, put as put_blob, read as read_blob};
pub(crate) use checkpoint::{Wanted, create};
pub(crate) use files::{Changed, Changing, What, change, not_done};
pub(crate) use locks::{WantedLock, acquire, held, permits, release};
pub(crate) use restore::{Restoring, restore};
pub(crate) use suspend::{may_work, users};

/// What all of them share.
#[derive(Debug)]
pub(crate) struct Workspaces {
    pub(crate) store: Store,
    /// Those that something is being done with: one thing at a time.
    busy: Mutex<HashSet<WorkspaceId>>,
    /// Whose turn it is to change files of a workspace; the others come in the order in which they asked.
    turns: Mutex<HashMap<WorkspaceId, Arc<tokio::sync::Mutex<()>>>>,
    /// Those who wait for locks.
    waiters: locks::Waiters,
    /// The right to give out the next number of a binding.
    numbering: Arc<tokio::sync::Mutex<()>>,
    /// How many checkpoints were ended by themselves since the last collection because of that.
    ended: AtomicU64,
    /// When blobs whose time is over were last looked for because others were put, by the monotonic clock.
    collected_ms: AtomicU64,
}

/// The right to do something with a workspace; given back on drop.
#[derive(Debug)]
pub(crate) struct Busy {
    shared: Arc<Shared>,
    id: WorkspaceId,
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.shared.workspaces.busy.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
        self.shared.workspaces.waiters.look_again();
    }
}

impl Workspaces {
    pub(crate) fn new(store: Store) -> Self {
        Self {
            store,
            busy: Mutex::default(),
            turns: Mutex::default(),
            waiters: locks::Waiters::default(),
            numbering: Arc::default(),
            ended: AtomicU64::new(0),
            collected_ms: AtomicU64::new(0),
        }
    }
}

/// The turn to change one file of a workspace, or what its record says of it: a short time, so that others wait for it.
pub(crate) async fn turn(
    shared: &Shared,
    id: WorkspaceId,
) -> Result<tokio::sync::OwnedMutexGuard<()>, RpcError> {
    let turn = queue(shared, id).lock_owned().await;
    if is_busy(shared, id) { Err(taken(id)) } else { Ok(turn) }
}

/// Whether something is being done with all of a workspace.
fn is_busy(shared: &Shared, id: WorkspaceId) -> bool {
    shared.workspaces.busy.lock().unwrap_or_else(PoisonError::into_inner).contains(&id)
}

fn queue(shared: &Shared, id: WorkspaceId) -> Arc<tokio::sync::Mutex<()>> {
    let mut turns = shared.workspaces.turns.lock().unwrap_or_else(PoisonError::into_inner);
    // What nobody waits for any more is known only here.
    turns.retain(|_, turn| Arc::strong_count(turn) > 1);
    Arc::clone(turns.entry(id).or_default())
}

fn taken(id: WorkspaceId) -> RpcError {
    let what = format!("a checkpoint of workspace {id} is being made or restored");
    RpcError::new(ErrorName::Locked, what).hint("try again when it is over")
}

/// Takes a workspace for one thing, or says that another one is being done with it. Whoever changes a file is waited for.
pub(crate) async fn take(shared: &Arc<Shared>, id: WorkspaceId) -> Result<Busy, RpcError> {
    let _turn = queue(shared, id).lock_owned().await;
    let mut busy = shared.workspaces.busy.lock().unwrap_or_else(PoisonError::into_inner);
    if busy.insert(id) { Ok(Busy { shared: Arc::clone(shared), id }) } else { Err(taken(id)) }
}

/// Where the contents of checkpoints are.
pub(crate) fn store_dir(state: &Path) -> PathBuf {
    state.join("checkpoints")
}

/// The folder that an agent works in, as its path is without links.
pub(crate) async fn folder_of(shared: &Arc<Shared>, handle: &AgentHandle) -> Result<String, RpcError> {
    let (manifest, _generation) = handle.ask(Command::Manifest).await?;
    let (folder, is_own) = match &manifest.spec.cwd {
        Some(cwd) => (PathBuf::from(cwd.as_str()), false),
        None => (shared.agents_dir().join(handle.id.to_string()).join("workspace"), true),
    };
    let real = real_path(folder.clone()).await?;
    // What the agent could have put in place of its own folder may be anything.
    if is_own && !real.ends_with(Path::new(&handle.id.to_string()).join("workspace")) {
        let what = format!("the folder of agent `{}` is a link", handle.name);
        return Err(RpcError::new(ErrorName::InvalidState, what));
    }
    text_of(&real)
}

/// A folder that an operator names.
pub(crate) async fn named_folder(shared: &Arc<Shared>, folder: &str) -> Result<String, RpcError> {
    let invalid = |what: String| RpcError::new(ErrorName::InvalidParams, what);
    let path = PathBuf::from(folder);
    if !path.is_absolute() {
        return Err(invalid(format!("`{}` is not a whole path", crate::admission::shown_name(folder))));
    }
    let real = real_path(path).await?;
    let (state, runtime) = (&shared.dirs.state, &shared.dirs.runtime);
    for own in [state, runtime] {
        let own = real_path(own.clone()).await?;
        if real.starts_with(&own) || own.starts_with(&real) {
            return Err(invalid(format!("`{}` holds what the node itself keeps", real.display())));
        }
    }
    text_of(&real)
}

fn text_of(path: &Path) -> Result<String, RpcError> {
    let text = path.to_str().map(ToOwned::to_owned);
    text.ok_or_else(|| RpcError::new(ErrorName::InvalidState, "the path of the folder is no text"))
}

async fn real_path(path: PathBuf) -> Result<PathBuf, RpcError> {
    let shown = path.display().to_string();
    let real = blocking(move || match std::fs::canonicalize(&path) {
        Ok(real) if !real.is_dir() => Err(io::Error::from(io::ErrorKind::NotADirectory)),
        found => found,
    });
    real.await?.map_err(|error| {
        RpcError::new(ErrorName::InvalidState, format!("cannot use the folder `{shown}`: {error}"))
            .hint("an agent without a folder of its own has one from its first start on")
    })
}

/// Does what may take long on a thread that may block.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, RpcError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|_cut_off| RpcError::new(ErrorName::Internal, "the work in a workspace was cut off"))
}

/// The workspace of a folder, which becomes known if it is not.
pub(crate) async fn know(
    shared: &Arc<Shared>,
    (folder, agent_id): (String, Option<AgentId>),
    origin: &Origin,
) -> Result<WorkspaceRow, RpcError> {
    let look = || shared.record.look_up(|reader| reader.workspace_of(&folder));
    if let Some(row) = look()? {
        return Ok(row);
    }
    let workspace_id: WorkspaceId = shared.record.mint().id();
    let created = WorkspaceCreated { workspace_id, agent_id, folder: folder.clone() };
    let mut draft = Draft::default();
    let stream = StreamName::Workspace(workspace_id);
    shared.record.add(&mut draft, stream, origin, Fact::WorkspaceCreated(created));
    let done = shared.record.commit(draft).await;
    // If somebody else was quicker, theirs is the one.
    match (look()?, done) {
        (Some(row), _) => Ok(row),
        (None, Err(error)) => Err(refused(&error)),
        (None, Ok(_)) => Err(RpcError::new(ErrorName::Internal, "a workspace is gone as soon as it is made")),
    }
}

fn is_full(source: &io::Error) -> bool {
    matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// What a caller is told when something cannot be done in a folder or the store.
pub(crate) fn failed(error: &WorkspaceError) -> RpcError {
    let text = chain(error);
    match error {
        WorkspaceError::Store { source, .. } | WorkspaceError::Write { source, .. } if is_full(source) => {
            RpcError::new(ErrorName::StorageFull, text)
        }
        WorkspaceError::Busy => RpcError::new(ErrorName::Locked, text).hint("try again"),
        WorkspaceError::Git { .. } => RpcError::new(ErrorName::InvalidState, text)
            .hint("`--ignored` keeps everything, whatever git says"),
        WorkspaceError::Thread => RpcError::new(ErrorName::Internal, text),
        _ => RpcError::new(ErrorName::InvalidState, text),
    }
}

/// Commits from a thread that may block.
fn commit(shared: &Shared, draft: Draft) -> Result<(), RpcError> {
    let done = tokio::runtime::Handle::current().block_on(shared.record.commit(draft));
    done.map(drop).map_err(|error| refused(&error))
}

/// Removes what no checkpoint needs, beside everything else.
pub(crate) fn collect(shared: &Arc<Shared>) {
    let own = Arc::clone(shared);
    shared.tasks.spawn_blocking(move || {
        let named = || -> Result<Vec<Id>, RpcError> {
            let mut digests = own.record.look_up(edgeplane_store::Reader::kept_digests)?;
            digests.extend(holds::held(&own.dirs.state).map_err(|error| unknown_holds(&error))?.into_keys());
            let parsed = digests.iter().map(|digest| digest.parse());
            parsed
                .collect::<Result<_, _>>()
                .map_err(|_bad| RpcError::new(ErrorName::RecordDamaged, "a digest is none"))
        };
        let named = || named().map_err(Uncollected::Record);
        let blobs = |is_needed: &dyn Fn(&edgeplane_workspace::Blob) -> bool| {
            blobs::staying(&own, is_needed).map_err(Uncollected::Record)
        };
        match own.workspaces.store.collect_beside(named, blobs) {
            Ok(done) => tracing::info!(bytes_freed = done.bytes_freed, "checkpoints are collected"),
            // The next one removes what this one did not.
            Err(error) => tracing::warn!(error = %chain(&error), "checkpoints are not collected"),
        }
    });
}

/// The evidence pack that refers to a digest, if there is one on the node.
pub(crate) async fn held_by(shared: &Arc<Shared>, digest: String) -> Result<Option<String>, RpcError> {
    let state = shared.dirs.state.clone();
    let held = blocking(move || holds::held(&state)).await?;
    Ok(held.map_err(|error| unknown_holds(&error))?.remove(&digest))
}

fn unknown_holds(error: &io::Error) -> RpcError {
    RpcError::new(ErrorName::Unavailable, format!("cannot tell what packs of evidence refer to: {error}"))
}

/// Why nothing was collected.
#[derive(Debug, thiserror::Error)]
enum Uncollected {
    #[error("cannot tell what is needed: {}", .0.message)]
    Record(RpcError),
    #[error(transparent)]
    Store(#[from] WorkspaceError),
}

/// What a former daemon left in the middle: it is said to be lost, and whom it suspended goes on. Before engines run.
pub(crate) async fn take_up(shared: &Arc<Shared>) -> Result<(), RpcError> {
    let origin = Origin::node("workspaces");
    let reason = "the node ended before it was over".to_owned();
    let open = shared.record.read(edgeplane_store::Reader::open_checkpoints).await?;
    for row in &open {
        for Suspended { agent_id, epoch } in row.started.suspends.clone() {
            let agent = shared.record.look_up(|reader| reader.agent_by_id(&agent_id))?;
            let Some(agent) = agent.filter(|agent| agent.epoch == epoch && agent.phase != Phase::Frozen)
            else {
                continue;
            };
            let (own, place) = (Arc::clone(shared), shared.place(agent_id, &agent.name, epoch));
            if let Err(error) = blocking(move || own.substrate.thaw(&place)).await? {
                tracing::warn!(agent = %agent.name, error = %chain(&error), "cannot let an agent go on");
            }
        }
        let failed =
            CheckpointFailed { checkpoint_id: row.started.checkpoint_id, reason: reason.clone(), lost: true };
        note(shared, row.workspace, &origin, Fact::CheckpointFailed(failed)).await;
    }
    for row in shared.record.read(edgeplane_store::Reader::open_changes).await? {
        let (own, origin) = (Arc::clone(shared), origin.clone());
        if let Err(error) = blocking(move || files::settle(&own, &row, &origin)).await? {
            tracing::warn!(error = %error.message, "cannot tell what became of a change of a file");
        }
    }
    if let Err(error) = locks::take_up(shared).await {
        tracing::warn!(error = %error.message, "cannot end waits for locks that were cut");
    }
    let all = shared.record.read(|reader| reader.workspaces(None, 0, usize::MAX)).await?;
    let now = shared.record.now();
    let mut was_cut =
        !open.is_empty() || shared.record.read(move |reader| reader.are_blobs_over(now)).await?;
    for row in all {
        let Some(checkpoint_id) = row.restoring else { continue };
        was_cut = true;
        let failed = RestoreFailed { checkpoint_id, reason: reason.clone(), lost: true };
        note(shared, row.id, &origin, Fact::RestoreFailed(failed)).await;
    }
    if was_cut {
        collect(shared);
    }
    Ok(())
}

async fn note(shared: &Shared, id: WorkspaceId, origin: &Origin, fact: Fact) {
    let mut draft = Draft::default();
    shared.record.add(&mut draft, StreamName::Workspace(id), origin, fact);
    if let Err(error) = shared.record.commit(draft).await {
        tracing::warn!(error = %chain(&error), "cannot record");
    }
}

//! A folder that begins with what the parent's held: kept as a checkpoint, brought into a place beside, and put in its
//! own when the child is durable.
//!
//! A mark stands beside what is not a child's yet, so that what a dying daemon leaves is found and removed.

use std::{
    fs, io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    sync::Arc,
};

use edgeplane_types::{AgentId, AgentName, CheckpointCause, CheckpointId, ErrorName};
use edgeplane_wire::rpc::RpcError;
use edgeplane_workspace::{Id, Rules};

use crate::{
    agent::AgentHandle,
    record::{Origin, chain},
    shared::Shared,
    workspaces::{self, Wanted, blocking, failed},
};

/// Stands in the place of an agent that is not durable yet.
const MARK: &str = "forking";

/// Where a folder is filled, in the place of its agent.
const FILLED: &str = "forked";

/// A filled folder that is nobody's yet; dropped, it is removed again.
#[derive(Debug)]
pub(crate) struct Forked {
    checkpoint_id: CheckpointId,
    /// The place of the child; nothing once it stays.
    place: Option<PathBuf>,
}

impl Forked {
    /// Keeps what is in a parent's folder, and fills one for the child with it.
    ///
    /// # Errors
    /// `locked` while something else is done with the parent's folder, `conflict` if the child is being made already, or
    /// what the folder or the disk refuses.
    pub(crate) async fn of(
        shared: &Arc<Shared>,
        parent: &AgentHandle,
        (child, name): (AgentId, &AgentName),
        origin: &Origin,
    ) -> Result<Self, RpcError> {
        let folder = workspaces::folder_of(shared, parent).await?;
        let row = workspaces::know(shared, (folder, Some(parent.id)), origin).await?;
        let busy = workspaces::take(shared, row.id).await?;
        let id = row.id;
        // Which changes of files are in it is known only now that none is made any more.
        let row = shared.record.look_up(|reader| reader.workspace(&id))?.unwrap_or(row);
        let (key, rules) = (child.to_string(), Rules { keep_ignored: true, keep_git: true });
        let label = Some(format!("for subagent {name}"));
        let wanted = Wanted { row, label, rules, cause: CheckpointCause::Asked, invocation: None };
        let checkpoint_id = workspaces::create(shared, wanted, busy, origin.clone()).await?;
        let kept = shared.record.look_up(|reader| reader.checkpoint(&checkpoint_id))?;
        let digest = kept.and_then(|row| row.created).and_then(|(created, _at)| created.digest.parse().ok());
        let digest: Id = digest
            .ok_or_else(|| RpcError::new(ErrorName::RecordDamaged, "the state of a folder has no digest"))?;
        let place = shared.agents_dir().join(child.to_string());
        let own = Arc::clone(shared);
        blocking(move || {
            begin(&place).map_err(|error| in_the_way(child, &error))?;
            let forked = Self { checkpoint_id, place: Some(place.clone()) };
            let session = own.workspaces.store.session().map_err(|error| failed(&error))?;
            let restore = session.restore(&place.join(FILLED), digest, (&rules, &key));
            restore.and_then(edgeplane_workspace::Restore::apply).map_err(|error| failed(&error))?;
            own.failpoint("subagent.filled");
            Ok(forked)
        })
        .await?
    }

    pub(crate) fn checkpoint_id(&self) -> CheckpointId {
        self.checkpoint_id
    }

    /// Puts the folder where its agent will look for it.
    pub(super) fn put(&self) -> Result<(), RpcError> {
        let Some(place) = &self.place else { return Ok(()) };
        fs::rename(place.join(FILLED), place.join("workspace")).map_err(|error| {
            RpcError::new(ErrorName::InvalidState, format!("cannot put its folder in place: {error}"))
        })
    }

    /// Its agent is durable.
    pub(super) fn stay(mut self) {
        if let Some(place) = self.place.take() {
            unmark(&place);
        }
    }
}

impl Drop for Forked {
    fn drop(&mut self) {
        if let Some(place) = self.place.take() {
            remove(&place);
        }
    }
}

/// Makes the place of an agent that there is not yet, with the mark, and the folder to be filled.
fn begin(place: &Path) -> io::Result<()> {
    let dirs = || {
        let mut builder = fs::DirBuilder::new();
        builder.mode(0o700);
        builder
    };
    dirs().create(place)?;
    fs::File::create_new(place.join(MARK))?.sync_all()?;
    dirs().create(place.join(FILLED))
}

fn in_the_way(child: AgentId, error: &io::Error) -> RpcError {
    match error.kind() {
        io::ErrorKind::AlreadyExists => {
            RpcError::new(ErrorName::Conflict, format!("subagent {child} is being made already"))
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            RpcError::new(ErrorName::StorageFull, format!("no room for its folder: {error}"))
        }
        _ => RpcError::new(ErrorName::InvalidState, format!("cannot make its folder: {error}")),
    }
}

fn unmark(place: &Path) {
    if let Err(error) = fs::remove_file(place.join(MARK)) {
        tracing::warn!(place = %place.display(), error = %chain(&error), "a mark stays; the next start removes it");
    }
}

fn remove(place: &Path) {
    if let Err(error) = fs::remove_dir_all(place) {
        tracing::warn!(place = %place.display(), error = %chain(&error), "what is nobody's folder stays");
    }
}

/// Removes folders that a former daemon was filling for children that never came about.
pub(crate) async fn remove_unfinished(shared: &Arc<Shared>) {
    let own = Arc::clone(shared);
    let looked = blocking(move || {
        let Ok(places) = fs::read_dir(own.agents_dir()) else { return };
        for place in places.flatten() {
            let id = place.file_name().to_str().and_then(|name| name.parse::<AgentId>().ok());
            let Some(id) = id.filter(|_| place.path().join(MARK).exists()) else { continue };
            match own.record.look_up(|reader| reader.agent_by_id(&id)) {
                Ok(Some(_)) => unmark(&place.path()),
                Ok(None) => remove(&place.path()),
                Err(error) => tracing::warn!(%id, %error, "cannot tell whose folder this is"),
            }
        }
    });
    if let Err(error) = looked.await {
        tracing::warn!(%error, "cannot look for unfinished folders");
    }
}

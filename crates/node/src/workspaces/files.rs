//! Changing files of workspaces: the intent, the change, and what came of it.
//!
//! One change of a workspace at a time, each with a number. What was to be there stands in the intent, so that after a
//! crash what is there tells what became of it.

use std::{path::Path, sync::Arc};

use edgeplane_store::WorkspaceRow;
use edgeplane_types::{
    ErrorName, Fact, FileChangeKind, FileChangeOutcome, StreamName, WorkspaceId,
    error::Effect,
    fact::{FileChangeBegun, FileChangeEnded},
};
use edgeplane_wire::rpc::RpcError;
use edgeplane_workspace::{
    Before, FileError, FileKind, Files, Folders, InnerPath, Outcome, Version, fresh_name,
};

use super::{Doing, bindings, blocking, commit, permits, turn};
use crate::{
    record::{Draft, Origin, chain},
    shared::Shared,
};

/// What somebody wants done to a file.
#[derive(Debug)]
pub(crate) enum What {
    Write { bytes: Vec<u8>, folders: Folders },
    Move { to: InnerPath, folders: Folders },
    Delete,
}

/// A change that somebody wants.
#[derive(Debug)]
pub(crate) struct Changing {
    pub(crate) workspace: WorkspaceId,
    pub(crate) path: InnerPath,
    pub(crate) what: What,
    /// What the file must hold.
    pub(crate) if_version: Option<Version>,
    /// The token of the caller's lock.
    pub(crate) lock: Option<u64>,
    /// The number of the caller's binding.
    pub(crate) binding: Option<u64>,
}

/// A change that was made.
pub(crate) type Changed = FileChangeBegun;

/// Changes a file, to the end also if nobody waits for it any more.
pub(crate) async fn change(
    shared: &Arc<Shared>,
    wanted: Changing,
    origin: Origin,
) -> Result<Changed, RpcError> {
    let own = Arc::clone(shared);
    let work = shared.tasks.spawn(async move {
        let turn = turn(&own, wanted.workspace).await?;
        blocking(move || {
            let _turn = turn;
            perform(&own, &wanted, &origin)
        })
        .await?
    });
    let cut_off = |_| Err(RpcError::new(ErrorName::Internal, "a change of a file was cut off"));
    work.await.unwrap_or_else(cut_off)
}

fn perform(shared: &Shared, wanted: &Changing, origin: &Origin) -> Result<Changed, RpcError> {
    let row = known(shared, wanted.workspace)?;
    if row.changing.is_some() {
        // The end of the last change could not be recorded, as on a full disk.
        settle(shared, &row, &Origin::node("workspaces"))?;
    }
    let both = match &wanted.what {
        What::Move { to, .. } => vec![wanted.path.clone(), to.clone()],
        What::Write { .. } | What::Delete => vec![wanted.path.clone()],
    };
    bindings::permits(shared, &row, (wanted.binding, Doing::Changing), &origin.actor)?;
    permits(shared, row.id, (&both, wanted.lock), origin)?;
    let files = Files::open(Path::new(&row.folder)).map_err(|error| not_done(&error))?;
    let before = files.before(&wanted.path).map_err(|error| not_done(&error))?;
    check(&wanted.path, &before, wanted)?;
    let begun = intent(&row, &before, wanted);
    let stream = StreamName::Workspace(row.id);
    let mut draft = Draft::default();
    shared.record.add(&mut draft, stream, origin, Fact::FileChangeBegun(Box::new(begun.clone())));
    commit(shared, draft)?;
    shared.failpoint("file.begun");
    let path = &wanted.path;
    let done = match &wanted.what {
        What::Write { bytes, folders } => files.write(path, &before, (bytes, &begun.aside), *folders),
        What::Move { to, folders } => files.rename((path, &before), to, *folders),
        What::Delete => files.remove(path, &before, &begun.aside),
    };
    shared.failpoint("file.changed");
    let outcome = match &done {
        Ok(()) => FileChangeOutcome::Done,
        // A step behind the change itself may have failed.
        Err(_) => found(&files, &begun),
    };
    let reason = done.as_ref().err().map(|error| chain(error));
    end(shared, &row, origin, (begun.write_seq, outcome, reason)).map_err(|error| match done {
        Ok(()) => error.effect(Effect::Applied),
        Err(_) => error,
    })?;
    match (done, outcome) {
        (Ok(()), _) => Ok(begun),
        (Err(error), FileChangeOutcome::Undone) => Err(not_done(&error)),
        (Err(error), FileChangeOutcome::Done) => Err(not_done(&error).effect(Effect::Applied)),
        (Err(error @ FileError::Changed(_)), FileChangeOutcome::Unknown) => Err(not_done(&error)),
        (Err(error), FileChangeOutcome::Unknown) => Err(not_done(&error).effect(Effect::Unknown)),
    }
}

fn known(shared: &Shared, id: WorkspaceId) -> Result<WorkspaceRow, RpcError> {
    let row = shared.record.look_up(|reader| reader.workspace(&id))?;
    row.ok_or_else(|| RpcError::new(ErrorName::NotFound, format!("no workspace {id}")))
}

/// Refuses what is not of the version that is asked for, and what cannot be changed so.
fn check(path: &InnerPath, before: &Before, wanted: &Changing) -> Result<(), RpcError> {
    if let Some(version) = wanted.if_version
        && before.version != Some(version)
    {
        let now = before.version.map_or("has no version".to_owned(), |now| format!("has version {now}"));
        let what = format!("`{path}` {now}, not {version}");
        return Err(RpcError::new(ErrorName::VersionConflict, what).hint("read it again, then decide"));
    }
    match (&wanted.what, before.kind) {
        (What::Write { .. }, None | Some(FileKind::File)) => Ok(()),
        (What::Write { .. }, Some(is)) => Err(not_done(&FileError::Other { path: path.clone(), is })),
        (What::Move { .. } | What::Delete, None) => Err(not_done(&FileError::NotFound(path.clone()))),
        (What::Move { .. } | What::Delete, Some(_)) if path.split().is_none() => {
            Err(not_done(&FileError::Other { path: path.clone(), is: FileKind::Folder }))
        }
        (What::Move { .. } | What::Delete, Some(_)) => Ok(()),
    }
}

fn intent(row: &WorkspaceRow, before: &Before, wanted: &Changing) -> FileChangeBegun {
    let text = |version: Version| version.to_string();
    let (kind, to, after, bytes) = match &wanted.what {
        What::Write { bytes, .. } => {
            let count = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
            (FileChangeKind::Write, None, Some(Version::of(bytes)), Some(count))
        }
        What::Move { to, .. } => (FileChangeKind::Move, Some(to.to_string()), before.version, None),
        What::Delete => (FileChangeKind::Delete, None, Some(Version::Absent), None),
    };
    FileChangeBegun {
        write_seq: row.write_seq.saturating_add(1),
        kind,
        path: wanted.path.to_string(),
        to,
        before: before.version.map(text),
        after: after.map(text),
        bytes,
        aside: fresh_name(),
    }
}

fn end(
    shared: &Shared,
    row: &WorkspaceRow,
    origin: &Origin,
    (write_seq, outcome, reason): (u64, FileChangeOutcome, Option<String>),
) -> Result<(), RpcError> {
    let ended = Fact::FileChangeEnded(FileChangeEnded { write_seq, outcome, reason });
    let mut draft = Draft::default();
    shared.record.add(&mut draft, StreamName::Workspace(row.id), origin, ended);
    commit(shared, draft)
}

/// Records what became of a change of which nobody recorded the end.
pub(super) fn settle(shared: &Shared, row: &WorkspaceRow, origin: &Origin) -> Result<(), RpcError> {
    let Some(begun) = &row.changing else { return Ok(()) };
    let files = Files::open(Path::new(&row.folder));
    let outcome = files.map_or(FileChangeOutcome::Unknown, |files| found(&files, begun));
    let reason = Some("the node ended before it was over".to_owned());
    end(shared, row, origin, (begun.write_seq, outcome, reason))
}

/// What became of a change, by what is there.
fn found(files: &Files, begun: &FileChangeBegun) -> FileChangeOutcome {
    let version = |text: &Option<String>| text.as_deref().and_then(|text| text.parse::<Version>().ok());
    let (before, after) = (version(&begun.before), version(&begun.after));
    let to = begun.to.as_deref().map(InnerPath::parse);
    let outcome = match (InnerPath::parse(&begun.path), begun.kind, after, to) {
        (Ok(path), FileChangeKind::Write, Some(after), _) => {
            files.settle_write(&path, (before, after), &begun.aside)
        }
        (Ok(path), FileChangeKind::Delete, _, _) => files.settle_removal(&path, before, &begun.aside),
        (Ok(path), FileChangeKind::Move, _, Some(Ok(to))) => files.settle_move(&path, &to),
        _ => Ok(Outcome::Unknown),
    };
    match outcome {
        Ok(Outcome::Done) => FileChangeOutcome::Done,
        Ok(Outcome::Undone) => FileChangeOutcome::Undone,
        Ok(Outcome::Unknown) | Err(_) => FileChangeOutcome::Unknown,
    }
}

/// What a caller is told when something cannot be done with a file.
pub(crate) fn not_done(error: &FileError) -> RpcError {
    let text = chain(error);
    let name = match error {
        FileError::Workspace(error) => return super::failed(error),
        FileError::NotFound(_) => ErrorName::NotFound,
        FileError::Exists(_) => ErrorName::Conflict,
        FileError::Changed(_) => {
            return RpcError::new(ErrorName::VersionConflict, text).hint("read it again, then decide");
        }
        FileError::TooLarge(_) => ErrorName::TooLarge,
        FileError::InItself(_) => ErrorName::InvalidParams,
        FileError::Step { source, .. } if super::is_full(source) => ErrorName::StorageFull,
        FileError::Way(_) | FileError::Other { .. } | FileError::NotEmpty(_) | FileError::Step { .. } => {
            ErrorName::InvalidState
        }
    };
    RpcError::new(name, text)
}

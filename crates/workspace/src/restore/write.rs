//! Writing files and links under a name of their own, large files on several threads.

use std::{
    fs::File,
    io,
    os::{fd::OwnedFd, unix::fs::FileExt as _},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use rustix::fs::{AtFlags, Mode, OFlags, chownat, fchmod, fchown, openat, symlinkat, unlinkat};

use super::{Done, Owner, failed, place};
use crate::{
    content::{Content, object_bytes},
    error::WorkspaceError,
    id::Id,
    object::{OBJECT_BYTES_MAX, is_zeros},
    pool::Pool,
    seen::Seen,
    store::Session,
};

/// The unit in which room of a file is taken; zeros of this size take none in a file with holes.
const BLOCK_BYTES: usize = 4096;

/// Where something is written.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) folder: Arc<OwnedFd>,
    pub(super) name: Vec<u8>,
    /// The same for people.
    pub(super) path: PathBuf,
    pub(super) owner: Owner,
    /// What has the name now.
    pub(super) replaces: Option<Seen>,
}

/// A file that is being written.
#[derive(Debug)]
pub(super) struct Writing {
    output: Output,
    /// The name that it has until it is whole.
    own: String,
    file: File,
    mode: u16,
    has_holes: bool,
    size: u64,
    /// Pieces that are not written yet.
    left: AtomicU64,
}

impl Drop for Writing {
    fn drop(&mut self) {
        // If it took its place, nothing has this name any more.
        unlinkat(&self.output.folder, self.own.as_str(), AtFlags::empty()).unwrap_or_default();
    }
}

/// What is to be written.
#[derive(Debug)]
pub(super) enum Work {
    Small(Box<Output>, (u16, bool, Content)),
    Piece(Arc<Writing>, u64, Id),
}

/// Has a file written.
pub(super) fn file(
    session: &Session,
    pool: &Pool<Work>,
    output: Output,
    (mode, has_holes, content): (u16, bool, Content),
) -> Result<(), WorkspaceError> {
    if content.size <= OBJECT_BYTES_MAX as u64 {
        return pool.hand_on(Work::Small(Box::new(output), (mode, has_holes, content)));
    }
    let ids = session.objects(&content)?;
    let writing = Arc::new(begin(output, (mode, has_holes), (content.size, ids.len()))?);
    for (piece, id) in (0..).zip(ids) {
        pool.hand_on(Work::Piece(writing.clone(), piece, id))?;
    }
    Ok(())
}

/// Does a part of the work.
pub(super) fn perform(session: &Session, work: Work, done: &Done) -> Result<(), WorkspaceError> {
    match work {
        Work::Small(output, (mode, has_holes, content)) => {
            let writing = begin(*output, (mode, has_holes), (content.size, 1))?;
            let id = session.objects(&content)?.first().copied().unwrap_or(Id::ZEROS);
            piece(session, &writing, (0, id), done)
        }
        Work::Piece(writing, number, id) => piece(session, &writing, (number, id), done),
    }
}

fn begin(
    output: Output,
    (mode, has_holes): (u16, bool),
    (size, pieces): (u64, usize),
) -> Result<Writing, WorkspaceError> {
    let own = place::fresh_name();
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let made = openat(&output.folder, own.as_str(), flags, Mode::from_raw_mode(0o600));
    let file = File::from(made.map_err(|error| failed("write", &output.path, error))?);
    let left = AtomicU64::new(pieces as u64);
    let writing = Writing { output, own, file, mode, has_holes, size, left };
    writing.file.set_len(size).map_err(|error| unwritten(&writing.output.path, error))?;
    Ok(writing)
}

fn piece(
    session: &Session,
    writing: &Writing,
    (number, id): (u64, Id),
    done: &Done,
) -> Result<(), WorkspaceError> {
    let size = object_bytes(writing.size, number);
    let at = number.saturating_mul(OBJECT_BYTES_MAX as u64);
    if size > 0 && !(writing.has_holes && id == Id::ZEROS) {
        let bytes = session.read_sized(id, size)?;
        put(writing, &bytes, at).map_err(|error| unwritten(&writing.output.path, error))?;
    }
    if writing.left.fetch_sub(1, Ordering::AcqRel) > 1 { Ok(()) } else { finish(writing, done) }
}

fn put(writing: &Writing, bytes: &[u8], at: u64) -> io::Result<()> {
    if !writing.has_holes {
        return writing.file.write_all_at(bytes, at);
    }
    let mut at = at;
    for block in bytes.chunks(BLOCK_BYTES) {
        if !is_zeros(block) {
            writing.file.write_all_at(block, at)?;
        }
        at = at.saturating_add(block.len() as u64);
    }
    Ok(())
}

fn finish(writing: &Writing, done: &Done) -> Result<(), WorkspaceError> {
    let Output { folder, name, path, owner, replaces } = &writing.output;
    if let Some((user, group)) = owner {
        fchown(&writing.file, Some(*user), Some(*group)).map_err(|error| failed("give away", path, error))?;
    }
    fchmod(&writing.file, Mode::from_raw_mode(u32::from(writing.mode)))
        .map_err(|error| failed("set the permissions of", path, error))?;
    let taken = place::take(folder, &writing.own, name, replaces.as_ref());
    note(taken.map_err(|error| failed("write", path, error))?, &writing.output, writing.size, done);
    Ok(())
}

/// Writes a link.
pub(super) fn link(output: &Output, target: &[u8], done: &Done) -> Result<(), WorkspaceError> {
    let Output { folder, name, path, owner, replaces } = output;
    let own = place::fresh_name();
    symlinkat(target, folder, own.as_str()).map_err(|error| failed("write", path, error))?;
    let owned = owner.map_or(Ok(()), |(user, group)| {
        chownat(folder, own.as_str(), Some(user), Some(group), AtFlags::SYMLINK_NOFOLLOW)
    });
    let taken = owned.and_then(|()| place::take(folder, &own, name, replaces.as_ref()));
    if !matches!(taken, Ok(true)) {
        unlinkat(folder, own.as_str(), AtFlags::empty()).unwrap_or_default();
    }
    note(taken.map_err(|error| failed("write", path, error))?, output, 0, done);
    Ok(())
}

fn note(is_taken: bool, output: &Output, bytes: u64, done: &Done) {
    if !is_taken {
        let reason = match output.replaces {
            Some(_) => "it was changed meanwhile",
            None => "something that is not kept is in its place",
        };
        done.conflict(&output.path, reason);
        return;
    }
    done.note(|done| {
        done.written = done.written.saturating_add(1);
        done.bytes = done.bytes.saturating_add(bytes);
    });
}

fn unwritten(path: &Path, source: io::Error) -> WorkspaceError {
    WorkspaceError::Write { what: "write", path: path.to_owned(), source }
}

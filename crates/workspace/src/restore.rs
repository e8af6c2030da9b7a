//! Bringing a folder back to a checkpoint: what is there is kept first, and only what differs is touched.
//!
//! A file is written under a name of its own and takes its place at once. What takes or loses its place must be what was
//! kept: if somebody has changed it since, it stays, and is told of.

pub(crate) mod place;
mod write;

use std::{
    ffi::OsStr,
    os::{fd::OwnedFd, unix::ffi::OsStrExt as _},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use rustix::{
    fs::{AtFlags, Gid, Mode, OFlags, Uid, fchmod, fstat, mkdirat, openat, unlinkat},
    io::Errno,
    process::geteuid,
};

use crate::{
    checkpoint::{Checkpoint, Made, Rules, Scan},
    content::Content,
    error::WorkspaceError,
    id::Id,
    pool::Pool,
    seen::{Kind, Seen},
    store::Session,
    tree::{Entry, Node},
    walk::{Folder, Found, What, open_folder, open_root},
};
use write::{Output, Work};

/// How many conflicts are listed; all are counted.
const LISTED_MAX: usize = 1_000;

/// Something that was left as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// Its path beneath the folder.
    pub path: PathBuf,
    /// Why.
    pub reason: &'static str,
}

/// What was done.
#[derive(Debug, Default)]
pub struct Restored {
    /// Files and links that were written, and folders that were made.
    pub written: u64,
    /// Files, links and folders that were removed.
    pub removed: u64,
    /// Things whose permissions alone were changed.
    pub modes: u64,
    /// Bytes in the files that were written.
    pub bytes: u64,
    /// What was left as it is, as far as it is listed.
    pub conflicts: Vec<Conflict>,
    /// How much was left as it is.
    pub conflict_count: u64,
}

/// A restore that may begin: what is there is kept.
#[derive(Debug)]
pub struct Restore<'a> {
    session: &'a Session,
    root: OwnedFd,
    scan: Scan,
    wanted: Checkpoint,
}

impl Session {
    /// Keeps what is in a folder, so that it can be brought to another checkpoint.
    ///
    /// # Errors
    /// If that is not in the store, or what is there cannot be kept.
    pub fn restore(
        &self,
        folder: &Path,
        wanted: Id,
        (rules, key): (&Rules, &str),
    ) -> Result<Restore<'_>, WorkspaceError> {
        let wanted = self.get(wanted)?;
        let scan = self.scan(folder, rules, key)?;
        Ok(Restore { session: self, root: open_root(folder)?, scan, wanted })
    }
}

impl Restore<'_> {
    /// What was there. Whoever restores sees to it that it stays.
    #[must_use]
    pub fn before(&self) -> &Made {
        &self.scan.made
    }

    /// Makes the folder what it was, but for what changes meanwhile.
    ///
    /// # Errors
    /// If something cannot be read or written; what was done until then stays, and a further restore goes on.
    pub fn apply(self) -> Result<Restored, WorkspaceError> {
        let Self { session, root, scan, wanted } = self;
        let owner = owner_of(&root)?;
        let done = Done::default();
        let root = Arc::new(root);
        let modes = Pool::beside(
            |work| write::perform(session, work, &done),
            |pool| {
                let mut apply =
                    Apply { session, pool, done: &done, owner, path: PathBuf::new(), modes: Vec::new() };
                let now = (scan.folder.seen.kept_mode(), Some(&scan.folder));
                apply.folder(&root, now, (wanted.mode, &wanted.tree))?;
                Ok(apply.modes)
            },
        )?;
        // The deepest first: after it, a folder may not be entered any more.
        for (path, mode) in modes.into_iter().rev() {
            set_folder_mode(&root, &path, mode)?;
        }
        Ok(done.0.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

/// To whom what is written belongs, if not to whoever writes it.
pub(crate) type Owner = Option<(Uid, Gid)>;

pub(crate) fn owner_of(root: &OwnedFd) -> Result<Owner, WorkspaceError> {
    let stat = fstat(root).map_err(|error| failed("look at", Path::new("."), error))?;
    let is_other = geteuid().is_root() && stat.st_uid != 0;
    Ok(is_other.then(|| (Uid::from_raw(stat.st_uid), Gid::from_raw(stat.st_gid))))
}

fn failed(what: &'static str, path: &Path, error: Errno) -> WorkspaceError {
    WorkspaceError::Write { what, path: path.to_owned(), source: error.into() }
}

/// What was done so far, by all who do it.
#[derive(Debug, Default)]
struct Done(Mutex<Restored>);

impl Done {
    fn note(&self, note: impl FnOnce(&mut Restored)) {
        note(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn conflict(&self, path: &Path, reason: &'static str) {
        self.note(|done| {
            done.conflict_count = done.conflict_count.saturating_add(1);
            if done.conflicts.len() < LISTED_MAX {
                done.conflicts.push(Conflict { path: path.to_owned(), reason });
            }
        });
    }
}

/// A folder is made what it was, from above.
struct Apply<'a> {
    session: &'a Session,
    pool: &'a Pool<Work>,
    done: &'a Done,
    owner: Owner,
    path: PathBuf,
    /// Folders whose permissions are set at the end, each before what is in it.
    modes: Vec<(PathBuf, u16)>,
}

impl Apply<'_> {
    fn folder(
        &mut self,
        folder: &Arc<OwnedFd>,
        (mode_now, now): (u16, Option<&Folder>),
        (mode, tree): (u16, &Content),
    ) -> Result<(), WorkspaceError> {
        let is_same = now.is_some_and(|now| now.content.as_ref() == Some(tree));
        if is_same {
            if mode != mode_now {
                self.modes.push((self.path.clone(), mode));
                self.done.note(|done| done.modes = done.modes.saturating_add(1));
            }
            return Ok(());
        }
        let is_relaxed = mode_now & 0o300 != 0o300;
        if is_relaxed {
            let relaxed = Mode::from_raw_mode(u32::from(mode_now | 0o700));
            fchmod(folder, relaxed).map_err(|error| failed("open", &self.path, error))?;
        }
        if is_relaxed || mode != mode_now {
            self.modes.push((self.path.clone(), mode));
        }
        if now.is_some() && mode != mode_now {
            self.done.note(|done| done.modes = done.modes.saturating_add(1));
        }
        let wanted = self.session.read_tree(tree)?;
        let mut there = now.map(|now| now.entries.as_slice()).unwrap_or_default().iter().peekable();
        for entry in &wanted {
            while let Some(found) = there.next_if(|found| found.name < entry.name) {
                self.at(&found.name, |apply| apply.remove(folder, found).map(drop))?;
            }
            let found = there.next_if(|found| found.name == entry.name);
            self.at(&entry.name, |apply| apply.entry(folder, found, entry))?;
        }
        there.try_for_each(|found| self.at(&found.name, |apply| apply.remove(folder, found).map(drop)))
    }

    fn at<R>(&mut self, name: &[u8], act: impl FnOnce(&mut Self) -> R) -> R {
        self.path.push(OsStr::from_bytes(name));
        let result = act(self);
        self.path.pop();
        result
    }

    fn entry(
        &mut self,
        folder: &Arc<OwnedFd>,
        found: Option<&Found>,
        entry: &Entry,
    ) -> Result<(), WorkspaceError> {
        let Some(found) = found else { return self.make(folder, entry, None) };
        match (&found.what, &entry.node) {
            (What::File(kept), Node::File { mode, content, .. }) if kept.content == *content => {
                if found.seen.kept_mode() == *mode { Ok(()) } else { self.file_mode(folder, found, *mode) }
            }
            (What::Link(there), Node::Link { target }) if there == target => Ok(()),
            (What::File(_) | What::Link(_), Node::File { .. } | Node::Link { .. }) => {
                self.make(folder, entry, Some(found.seen))
            }
            (What::Folder(now), Node::Folder { mode, content }) => {
                let opened = open_folder(folder, &found.name);
                match opened.and_then(|opened| Ok((Seen::of(&fstat(&opened)?), opened))) {
                    Ok((seen, opened)) if seen.inode == found.seen.inode => {
                        let now = (found.seen.kept_mode(), Some(&**now));
                        self.folder(&Arc::new(opened), now, (*mode, content))
                    }
                    Ok(_) | Err(_) => self.conflict("it was changed meanwhile"),
                }
            }
            (What::Reading(_), _) => self.conflict("it was not read"),
            (What::File(_) | What::Link(_) | What::Folder(_), _) => {
                if self.remove(folder, found)? {
                    self.make(folder, entry, None)
                } else {
                    Ok(())
                }
            }
        }
    }

    fn conflict(&self, reason: &'static str) -> Result<(), WorkspaceError> {
        self.done.conflict(&self.path, reason);
        Ok(())
    }

    /// Makes something, in the place of a file or link that was seen there or of nothing.
    fn make(
        &mut self,
        folder: &Arc<OwnedFd>,
        entry: &Entry,
        replaces: Option<Seen>,
    ) -> Result<(), WorkspaceError> {
        let output = Output {
            folder: folder.clone(),
            name: entry.name.clone(),
            path: self.path.clone(),
            owner: self.owner,
            replaces,
        };
        match &entry.node {
            Node::File { mode, has_holes, content } => {
                write::file(self.session, self.pool, output, (*mode, *has_holes, *content))
            }
            Node::Link { target } => write::link(&output, target, self.done),
            Node::Folder { mode, content } => self.make_folder(folder, &entry.name, (*mode, content)),
        }
    }

    fn make_folder(
        &mut self,
        folder: &Arc<OwnedFd>,
        name: &[u8],
        (mode, content): (u16, &Content),
    ) -> Result<(), WorkspaceError> {
        let mode_now = match mkdirat(folder, name, Mode::from_raw_mode(0o700)) {
            Ok(()) => {
                self.done.note(|done| done.written = done.written.saturating_add(1));
                Some(0o700)
            }
            // What is in it was not kept, and is not touched.
            Err(Errno::EXIST) => None,
            Err(error) => return Err(failed("make the folder", &self.path, error)),
        };
        let opened = match open_folder(folder, name) {
            Ok(opened) => opened,
            Err(Errno::NOTDIR | Errno::LOOP) => {
                return self.conflict("something that is not kept is in its place");
            }
            Err(error) => return Err(failed("open the folder", &self.path, error)),
        };
        let mode_now = match (mode_now, self.owner) {
            (Some(mode_now), Some((user, group))) => {
                rustix::fs::fchown(&opened, Some(user), Some(group))
                    .map_err(|error| failed("give away", &self.path, error))?;
                mode_now
            }
            (Some(mode_now), None) => mode_now,
            (None, _) => {
                let stat = fstat(&opened).map_err(|error| failed("look at", &self.path, error))?;
                Seen::of(&stat).kept_mode()
            }
        };
        self.folder(&Arc::new(opened), (mode_now, None), (mode, content))
    }

    fn file_mode(&self, folder: &Arc<OwnedFd>, found: &Found, mode: u16) -> Result<(), WorkspaceError> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let opened = openat(folder, found.name.as_slice(), flags, Mode::empty());
        match opened.and_then(|file| Ok((Seen::of(&fstat(&file)?), file))) {
            Ok((seen, file)) if seen.kind() == Kind::File && seen.inode == found.seen.inode => {
                fchmod(&file, Mode::from_raw_mode(u32::from(mode)))
                    .map_err(|error| failed("set the permissions of", &self.path, error))?;
                self.done.note(|done| done.modes = done.modes.saturating_add(1));
                Ok(())
            }
            Ok(_) | Err(_) => self.conflict("it was changed meanwhile"),
        }
    }

    /// Removes what was kept, and says whether its name is free then.
    fn remove(&mut self, folder: &Arc<OwnedFd>, found: &Found) -> Result<bool, WorkspaceError> {
        let What::Folder(inner) = &found.what else {
            let removed = place::remove(folder, &found.name, &found.seen)
                .map_err(|error| failed("remove", &self.path, error))?;
            if removed {
                self.done.note(|done| done.removed = done.removed.saturating_add(1));
            } else {
                self.conflict("it was changed meanwhile")?;
            }
            return Ok(removed);
        };
        let opened = match open_folder(folder, &found.name) {
            Ok(opened) => Arc::new(opened),
            Err(_error) => return self.conflict("it was changed meanwhile").map(|()| false),
        };
        if found.seen.kept_mode() & 0o300 != 0o300 {
            fchmod(&opened, Mode::RWXU).map_err(|error| failed("open", &self.path, error))?;
        }
        for within in &inner.entries {
            self.at(&within.name, |apply| apply.remove(&opened, within))?;
        }
        match unlinkat(folder, found.name.as_slice(), AtFlags::REMOVEDIR) {
            Ok(()) => {
                self.done.note(|done| done.removed = done.removed.saturating_add(1));
                Ok(true)
            }
            Err(Errno::NOTEMPTY | Errno::EXIST) => {
                self.conflict("something that is not kept is in it").map(|()| false)
            }
            Err(error) => Err(failed("remove", &self.path, error)),
        }
    }
}

/// Sets the permissions of a folder, to which no link leads.
fn set_folder_mode(root: &Arc<OwnedFd>, path: &Path, mode: u16) -> Result<(), WorkspaceError> {
    let mut folder = root.clone();
    for name in path.components() {
        match open_folder(&folder, name.as_os_str().as_bytes()) {
            Ok(opened) => folder = Arc::new(opened),
            // Whoever took it away meanwhile has the last word.
            Err(_error) => return Ok(()),
        }
    }
    fchmod(&folder, Mode::from_raw_mode(u32::from(mode)))
        .map_err(|error| failed("set the permissions of", path, error))
}

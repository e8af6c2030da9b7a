//! Walking a folder: what is there, each folder by its own descriptor, so that nobody leads the way out by a link.

use std::{
    collections::HashSet,
    ffi::OsStr,
    mem::MaybeUninit,
    os::{fd::OwnedFd, unix::ffi::OsStrExt as _},
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use rustix::{
    fs::{AtFlags, CWD, Mode, OFlags, RawDir, ResolveFlags, fstat, openat, openat2, readlinkat, statat},
    io::Errno,
};

use crate::{
    checkpoint::{LeftOut, Rules, Why},
    content::Content,
    error::WorkspaceError,
    object::OBJECT_BYTES_MAX,
    read::{Job, Outcome, Readers, Slot},
    seen::{Kind, Seen},
    stat_index::{Kept, StatIndex},
    store::Session,
};

/// Folders in folders; each is open while what is in it is looked at.
pub(crate) const DEPTH_MAX: usize = 256;

/// Entries of a workspace; each takes some hundred bytes while a checkpoint is made.
pub(crate) const ENTRIES_MAX: usize = 4_000_000;

/// Files that are read one after the other by the same thread.
const JOBS: usize = 16;

/// Room for what the kernel says of a folder at one go.
const LISTING_BYTES: usize = 32 * 1024;

/// A folder as it was found.
#[derive(Debug)]
pub(crate) struct Folder {
    pub(crate) seen: Seen,
    /// In the order of their names.
    pub(crate) entries: Vec<Found>,
    /// As what it is kept, once it is.
    pub(crate) content: Option<Content>,
}

/// Something in a folder.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) name: Vec<u8>,
    pub(crate) seen: Seen,
    pub(crate) what: What,
}

/// What it is.
#[derive(Debug)]
pub(crate) enum What {
    /// A file that is being read.
    Reading(Slot),
    File(Kept),
    Folder(Box<Folder>),
    Link(Vec<u8>),
}

/// What was found besides.
#[derive(Debug, Default)]
pub(crate) struct Aside {
    pub(crate) left_out: Vec<LeftOut>,
    /// Files that changed each time they were read.
    pub(crate) unsettled: Vec<PathBuf>,
    /// Files that were read.
    pub(crate) read: u64,
}

/// Opens the folder of a workspace, to which no link leads: whoever may write on the way could lead it elsewhere.
pub(crate) fn open_root(path: &Path) -> Result<OwnedFd, WorkspaceError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)
        .map_err(|error| WorkspaceError::Folder { path: path.to_owned(), source: error.into() })
}

/// Opens a folder beneath another one, and no link.
pub(crate) fn open_folder(parent: &OwnedFd, name: &[u8]) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(parent, name, flags, Mode::empty())
}

/// A walk that is under way.
pub(crate) struct Walk<'a> {
    pub(crate) session: &'a Session,
    pub(crate) readers: &'a Readers<'a>,
    pub(crate) index: &'a StatIndex,
    pub(crate) rules: &'a Rules,
    /// Paths that are passed over.
    pub(crate) ignored: &'a HashSet<Vec<u8>>,
    pub(crate) aside: Aside,
    pub(crate) path: Vec<u8>,
    jobs: Vec<Job>,
    count: usize,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(
        session: &'a Session,
        readers: &'a Readers<'a>,
        index: &'a StatIndex,
        (rules, ignored): (&'a Rules, &'a HashSet<Vec<u8>>),
    ) -> Self {
        let (aside, path, jobs) = (Aside::default(), Vec::new(), Vec::new());
        Self { session, readers, index, rules, ignored, aside, path, jobs, count: 0 }
    }

    /// Looks at a folder and has its files read.
    pub(crate) fn all(mut self, root: OwnedFd) -> Result<(Folder, Aside), WorkspaceError> {
        let stat = fstat(&root).map_err(|error| self.unreadable(error))?;
        let folder = self.folder(&Arc::new(root), Seen::of(&stat), 0)?;
        self.flush()?;
        Ok((folder, self.aside))
    }

    fn folder(&mut self, folder: &Arc<OwnedFd>, seen: Seen, depth: usize) -> Result<Folder, WorkspaceError> {
        if depth > DEPTH_MAX {
            return Err(WorkspaceError::TooDeep { path: self.path_now(), max: DEPTH_MAX });
        }
        let names = list(folder).map_err(|error| self.unreadable(error))?;
        self.count = self.count.saturating_add(names.len());
        if self.count > ENTRIES_MAX {
            return Err(WorkspaceError::TooMany { max: ENTRIES_MAX });
        }
        let length = self.path.len();
        let mut entries = Vec::with_capacity(names.len());
        for name in names {
            if length > 0 {
                self.path.push(b'/');
            }
            self.path.extend_from_slice(&name);
            if let Some(found) = self.entry(folder, name, (seen.device, depth))? {
                entries.push(found);
            }
            self.path.truncate(length);
        }
        Ok(Folder { seen, entries, content: None })
    }

    fn entry(
        &mut self,
        folder: &Arc<OwnedFd>,
        name: Vec<u8>,
        (device, depth): (u64, usize),
    ) -> Result<Option<Found>, WorkspaceError> {
        let is_passed_over = (!self.rules.keep_git && name == b".git") || self.ignored.contains(&self.path);
        if is_passed_over {
            return Ok(None);
        }
        let seen = match statat(folder, name.as_slice(), AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Seen::of(&stat),
            Err(Errno::NOENT) => return Ok(None),
            Err(_error) => return Ok(self.leave_out(Why::Unreadable)),
        };
        let what = match seen.kind() {
            Kind::File => match self.index.find(&seen).filter(|kept| self.session.knows(kept.content.id)) {
                Some(kept) => What::File(kept),
                None => What::Reading(self.read(folder, &name, &seen)?),
            },
            Kind::Folder if seen.device != device => return Ok(self.leave_out(Why::OtherFileSystem)),
            Kind::Folder => {
                let opened = match open_folder(folder, &name) {
                    Ok(opened) => opened,
                    Err(Errno::NOENT) => return Ok(None),
                    Err(Errno::NOTDIR | Errno::LOOP) => return Ok(self.leave_out(Why::Changing)),
                    // Without descriptors nothing would be read, and a checkpoint of nothing is none.
                    Err(error @ (Errno::MFILE | Errno::NFILE)) => return Err(self.unreadable(error)),
                    Err(_error) => return Ok(self.leave_out(Why::Unreadable)),
                };
                let inner = self.folder(&Arc::new(opened), seen, depth.saturating_add(1))?;
                What::Folder(Box::new(inner))
            }
            Kind::Link => match readlinkat(folder, name.as_slice(), Vec::new()) {
                Ok(target) => What::Link(target.into_bytes()),
                Err(_error) => return Ok(self.leave_out(Why::Changing)),
            },
            Kind::Other(why) => return Ok(self.leave_out(why)),
        };
        Ok(Some(Found { name, seen, what }))
    }

    fn read(&mut self, folder: &Arc<OwnedFd>, name: &[u8], seen: &Seen) -> Result<Slot, WorkspaceError> {
        self.aside.read = self.aside.read.saturating_add(1);
        let slot = Arc::new(OnceLock::new());
        let job = Job { folder: folder.clone(), name: name.to_vec(), slot: slot.clone() };
        if seen.size > OBJECT_BYTES_MAX as u64 {
            self.readers.large(job, self.index.former(seen))?;
            return Ok(slot);
        }
        self.jobs.push(job);
        if self.jobs.len() >= JOBS {
            self.flush()?;
        }
        Ok(slot)
    }

    fn flush(&mut self) -> Result<(), WorkspaceError> {
        let jobs = std::mem::take(&mut self.jobs);
        if jobs.is_empty() { Ok(()) } else { self.readers.files(jobs) }
    }

    fn leave_out(&mut self, why: Why) -> Option<Found> {
        self.aside.left_out.push(LeftOut { path: self.path_now(), why });
        None
    }

    fn path_now(&self) -> PathBuf {
        PathBuf::from(OsStr::from_bytes(&self.path))
    }

    fn unreadable(&self, error: Errno) -> WorkspaceError {
        let path = if self.path.is_empty() { PathBuf::from(".") } else { self.path_now() };
        WorkspaceError::Read { path, source: error.into() }
    }
}

/// The names in a folder, in order. Of more than there may be one too many is told, and no others.
pub(crate) fn list(folder: &OwnedFd) -> Result<Vec<Vec<u8>>, Errno> {
    let mut room = [const { MaybeUninit::uninit() }; LISTING_BYTES];
    let mut listing = RawDir::new(folder, &mut room);
    let mut names = Vec::new();
    while names.len() <= ENTRIES_MAX
        && let Some(entry) = listing.next()
    {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if !matches!(name, b"." | b"..") {
            names.push(name.to_vec());
        }
    }
    names.sort_unstable();
    Ok(names)
}

impl Folder {
    /// Puts what came of reading in the place of what was being read.
    pub(crate) fn settle(&mut self, path: &Path, aside: &mut Aside) {
        let join = |name: &[u8]| path.join(OsStr::from_bytes(name));
        self.entries.retain_mut(|found| match &mut found.what {
            What::Reading(slot) => match slot.get().copied().unwrap_or(Outcome::Gone) {
                Outcome::File { seen, kept, is_settled } => {
                    if !is_settled {
                        aside.unsettled.push(join(&found.name));
                    }
                    (found.seen, found.what) = (seen, What::File(kept));
                    true
                }
                Outcome::Gone => false,
                Outcome::LeftOut(why) => {
                    aside.left_out.push(LeftOut { path: join(&found.name), why });
                    false
                }
            },
            What::Folder(inner) => {
                inner.settle(&join(&found.name), aside);
                true
            }
            What::File(_) | What::Link(_) => true,
        });
    }
}

//! Changing files: whole or not at all, durable, and only what was seen before.

use std::{fs::File, io::Write as _, os::fd::OwnedFd};

use rustix::{
    fs::{
        AtFlags, Gid, Mode, OFlags, RenameFlags, Uid, fchmod, fchown, fsync, mkdirat, openat, renameat_with,
        statat, unlinkat,
    },
    io::Errno,
};

use super::{
    FileError, FileKind, Files, kind_of,
    look::{Version, Whole, version_of},
    step,
};
use crate::{
    inner_path::InnerPath,
    restore::{Owner, place},
    seen::Seen,
    walk::open_folder,
};

pub use crate::restore::place::fresh_name;

/// The permissions of a file that is new.
const NEW_MODE: u16 = 0o644;

/// The same, of a folder.
const NEW_FOLDER_MODE: u32 = 0o755;

/// Folders on the way to something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Folders {
    /// They must be there.
    There,
    /// They are made.
    Made,
}

/// What had a path before something is changed there.
#[derive(Debug, Clone)]
pub struct Before {
    seen: Option<Seen>,
    /// What it was; nothing if there was none.
    pub kind: Option<FileKind>,
    /// What it held: none of what has no contents, or of a file that is too large.
    pub version: Option<Version>,
    /// To whom it belonged, if that is to be kept.
    owner: Owner,
}

impl Before {
    /// Whether nothing was there.
    #[must_use]
    pub fn is_absent(&self) -> bool {
        self.kind.is_none()
    }
}

impl Files {
    /// What has this path.
    ///
    /// # Errors
    /// If it cannot be looked at, or changes all the time.
    pub fn before(&self, path: &InnerPath) -> Result<Before, FileError> {
        let Some(seen) = self.seen(path)? else {
            let (kind, version) = (None, Some(Version::Absent));
            return Ok(Before { seen: None, kind, version, owner: self.owner });
        };
        let kind = kind_of(&seen);
        if kind != FileKind::File {
            return Ok(Before { seen: Some(seen), kind: Some(kind), version: None, owner: self.owner });
        }
        let Whole { seen, part } = self.whole(path, (0, 0))?;
        if !part.is_settled {
            return Err(FileError::Changed(path.clone()));
        }
        let (folder, name) = self.place(path)?;
        let stat = statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW);
        let stat = stat.map_err(|error| step("look at", path, error))?;
        let owner = rustix::process::geteuid()
            .is_root()
            .then(|| (Uid::from_raw(stat.st_uid), Gid::from_raw(stat.st_gid)));
        Ok(Before { seen: Some(seen), kind: Some(kind), version: part.version, owner })
    }

    /// Writes a file in the place of what was there before: nothing, or a plain file. `aside` is the name that it has
    /// until it is whole.
    ///
    /// # Errors
    /// If something else is there by now, or it cannot be written; then all is as it was, but for folders on the way.
    pub fn write(
        &self,
        path: &InnerPath,
        before: &Before,
        (bytes, aside): (&[u8], &str),
        folders: Folders,
    ) -> Result<(), FileError> {
        if let Some(is) = before.kind.filter(|kind| *kind != FileKind::File) {
            return Err(FileError::Other { path: path.clone(), is });
        }
        let (folder, name) = self.way(path, folders)?;
        let mode = before.seen.map_or(NEW_MODE, |seen| seen.kept_mode());
        let written = self.fill(&folder, aside, (bytes, mode, before.owner));
        let taken = written.map_err(|error| step("write", path, error)).and_then(|()| {
            // Times alone do not show two changes at one tick of the clock.
            let is_same = || {
                before.version.is_none_or(|version| version_of(&folder, aside.as_bytes()) == Some(version))
            };
            place::take_if(&folder, aside, name, before.seen.as_ref(), &is_same)
                .map_err(|error| step("write", path, error))
        });
        if !matches!(taken, Ok(true)) {
            // What is half written must not stay; if it did take its place, nothing has this name.
            unlinkat(&folder, aside, AtFlags::empty()).unwrap_or_default();
        }
        if !taken? {
            return Err(FileError::Changed(path.clone()));
        }
        fsync(&folder).map_err(|error| step("sync", path, error))
    }

    fn fill(
        &self,
        folder: &OwnedFd,
        aside: &str,
        (bytes, mode, owner): (&[u8], u16, Owner),
    ) -> std::io::Result<()> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(openat(folder, aside, flags, Mode::from_raw_mode(0o600))?);
        file.write_all(bytes)?;
        if let Some((user, group)) = owner.or(self.owner) {
            fchown(&file, Some(user), Some(group))?;
        }
        fchmod(&file, Mode::from_raw_mode(u32::from(mode)))?;
        file.sync_all()
    }

    /// Gives what was seen another path, which nothing has.
    ///
    /// # Errors
    /// If something has the path, or what was seen is no more what it was.
    pub fn rename(
        &self,
        (from, before): (&InnerPath, &Before),
        to: &InnerPath,
        folders: Folders,
    ) -> Result<(), FileError> {
        let Some(seen) = before.seen else { return Err(FileError::NotFound(from.clone())) };
        if to.is_in(from) && to != from {
            return Err(FileError::InItself(from.clone()));
        }
        let (folder, name) = self.place(from)?;
        let (new_folder, new_name) = self.way(to, folders)?;
        let now = look(&folder, name).map_err(|error| step("look at", from, error))?;
        if !now.is_some_and(|now| seen.is_still(&now)) {
            return Err(FileError::Changed(from.clone()));
        }
        match renameat_with(&folder, name, &new_folder, new_name, RenameFlags::NOREPLACE) {
            Ok(()) => {}
            Err(Errno::EXIST) => return Err(FileError::Exists(to.clone())),
            Err(Errno::INVAL) => return Err(FileError::InItself(from.clone())),
            Err(error) => return Err(step("move", from, error)),
        }
        let is_it =
            look(&new_folder, new_name).is_ok_and(|now| now.is_some_and(|now| seen.is_same_content(&now)));
        let is_same = before.version.is_none_or(|version| version_of(&new_folder, new_name) == Some(version));
        if !is_it || !is_same {
            // Whoever put something new in the old place meanwhile has the last word.
            renameat_with(&new_folder, new_name, &folder, name, RenameFlags::NOREPLACE).unwrap_or_default();
            return Err(FileError::Changed(from.clone()));
        }
        fsync(&folder).and_then(|()| fsync(&new_folder)).map_err(|error| step("sync", to, error))
    }

    /// Removes what was seen: a file, a link, a folder with nothing in it. `aside` is the name that it has meanwhile.
    ///
    /// # Errors
    /// If it is no more what it was, or cannot be removed.
    pub fn remove(&self, path: &InnerPath, before: &Before, aside: &str) -> Result<(), FileError> {
        let Some(seen) = before.seen else { return Err(FileError::NotFound(path.clone())) };
        let (folder, name) = self.place(path)?;
        let is_removed = if before.kind == Some(FileKind::Folder) {
            match unlinkat(&folder, name, AtFlags::REMOVEDIR) {
                Ok(()) => Ok(true),
                Err(Errno::NOTEMPTY | Errno::EXIST) => return Err(FileError::NotEmpty(path.clone())),
                Err(Errno::NOTDIR) => Ok(false),
                Err(error) => Err(error),
            }
        } else {
            let is_same = || {
                before.version.is_none_or(|version| version_of(&folder, aside.as_bytes()) == Some(version))
            };
            place::remove_by(&folder, name, &seen, aside, &is_same)
        };
        if !is_removed.map_err(|error| step("remove", path, error))? {
            return Err(FileError::Changed(path.clone()));
        }
        fsync(&folder).map_err(|error| step("sync", path, error))
    }

    /// The folder that something will be in, which is made if that is wanted.
    fn way<'a>(&self, path: &'a InnerPath, folders: Folders) -> Result<(OwnedFd, &'a [u8]), FileError> {
        match self.place(path) {
            Err(FileError::NotFound(_)) if folders == Folders::Made => {}
            Err(FileError::NotFound(_)) => {
                let folder = path.split().map_or_else(InnerPath::root, |(folder, _name)| folder);
                return Err(FileError::NotFound(folder));
            }
            found => return found,
        }
        let Some((above, name)) = path.split() else { return self.place(path) };
        let mut folder = self.folder(&InnerPath::root())?;
        for part in above.names() {
            folder = match open_folder(&folder, part) {
                Ok(inner) => inner,
                Err(Errno::NOENT) => {
                    self.make(&folder, part).map_err(|error| step("make the way to", path, error))?
                }
                Err(Errno::NOTDIR | Errno::LOOP) => return Err(FileError::Way(path.clone())),
                Err(error) => return Err(step("make the way to", path, error)),
            };
        }
        Ok((folder, name))
    }

    fn make(&self, folder: &OwnedFd, name: &[u8]) -> Result<OwnedFd, Errno> {
        match mkdirat(folder, name, Mode::from_raw_mode(NEW_FOLDER_MODE)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error),
        }
        let made = open_folder(folder, name)?;
        if let Some((user, group)) = self.owner {
            fchown(&made, Some(user), Some(group))?;
        }
        fsync(folder)?;
        Ok(made)
    }
}

fn look(folder: &OwnedFd, name: &[u8]) -> Result<Option<Seen>, Errno> {
    match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(Seen::of(&stat))),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error),
    }
}

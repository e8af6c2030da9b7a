//! Walking a folder in the order of its paths, from behind a place on.

use std::os::fd::OwnedFd;

use rustix::{
    fs::{AtFlags, statat},
    io::Errno,
};

use super::{FileError, Files, look::About, step};
use crate::{
    error::WorkspaceError,
    inner_path::InnerPath,
    seen::{Kind, Seen},
    walk::{DEPTH_MAX, ENTRIES_MAX, list, open_folder},
};

/// What is listed.
#[derive(Debug, Clone, Copy)]
pub struct Listing<'a> {
    /// The folder.
    pub folder: &'a InnerPath,
    /// Whether also what is in the folders in it.
    pub is_recursive: bool,
    /// Where a former list ended.
    pub after: Option<&'a InnerPath>,
    /// How much is told.
    pub limit: usize,
}

/// What a visitor wants next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// What is in it, if it is a folder.
    Enter,
    /// What comes after it.
    Pass,
    /// Nothing more.
    Stop,
}

/// Something that is visited.
pub(super) struct Visit<'a> {
    pub(super) folder: &'a OwnedFd,
    pub(super) name: &'a [u8],
    pub(super) path: InnerPath,
    pub(super) seen: Seen,
}

/// One who is shown everything, a folder before what is in it.
pub(super) trait Visitor {
    fn visit(&mut self, visit: Visit<'_>) -> Result<Next, FileError>;

    /// Whether it is shown what is in folders.
    fn enters(&self) -> bool;

    /// What is in a folder cannot be shown.
    fn closed(&mut self, path: &InnerPath);
}

impl Files {
    /// What is in a folder, by path, and whether there is more.
    ///
    /// # Errors
    /// If the folder is none, or cannot be read.
    pub fn list(&self, listing: Listing<'_>) -> Result<(Vec<(InnerPath, About)>, bool), FileError> {
        let mut lister = Lister { listing, found: Vec::new(), has_more: false };
        self.walk(listing.folder, listing.after, &mut lister)?;
        Ok((lister.found, lister.has_more))
    }

    /// Shows a visitor what is in a folder, after a path if one is given. What is at that path was seen already, what is
    /// in it was not.
    pub(super) fn walk(
        &self,
        path: &InnerPath,
        after: Option<&InnerPath>,
        visitor: &mut dyn Visitor,
    ) -> Result<(), FileError> {
        let folder = self.folder(path)?;
        let stat = rustix::fs::fstat(&folder).map_err(|error| step("look at", path, error))?;
        let after = after.filter(|after| after.is_in(path)).map(InnerPath::names).unwrap_or_default();
        let after = after.get(path.names().len()..).unwrap_or_default();
        descend(&folder, (path, Seen::of(&stat).device), after, visitor).map(drop)
    }
}

/// Whether to go on.
fn descend(
    folder: &OwnedFd,
    (path, device): (&InnerPath, u64),
    after: &[Vec<u8>],
    visitor: &mut dyn Visitor,
) -> Result<bool, FileError> {
    if path.names().len() > DEPTH_MAX {
        let path = path.to_string().into();
        return Err(WorkspaceError::TooDeep { path, max: DEPTH_MAX }.into());
    }
    let names = list(folder).map_err(|error| step("list", path, error))?;
    if names.len() > ENTRIES_MAX {
        return Err(WorkspaceError::TooMany { max: ENTRIES_MAX }.into());
    }
    let first = after.first();
    for name in names.iter().filter(|name| first.is_none_or(|first| *name >= first)) {
        let seen = match statat(folder, name.as_slice(), AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Seen::of(&stat),
            Err(Errno::NOENT) => continue,
            Err(error) => return Err(step("look at", &path.child(name), error)),
        };
        let inner = path.child(name);
        let is_seen = first == Some(name);
        let next = match is_seen {
            true if visitor.enters() => Next::Enter,
            true => Next::Pass,
            false => visitor.visit(Visit { folder, name, path: inner.clone(), seen })?,
        };
        match next {
            Next::Stop => return Ok(false),
            Next::Enter if seen.kind() == Kind::Folder => {
                let rest = if is_seen { after.get(1..).unwrap_or_default() } else { &[] };
                match open_folder(folder, name) {
                    Ok(opened) if seen.device == device => {
                        if !descend(&opened, (&inner, device), rest, visitor)? {
                            return Ok(false);
                        }
                    }
                    Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {}
                    Err(error @ (Errno::MFILE | Errno::NFILE)) => return Err(step("open", &inner, error)),
                    Ok(_) | Err(_) => visitor.closed(&inner),
                }
            }
            Next::Enter | Next::Pass => {}
        }
    }
    Ok(true)
}

struct Lister<'a> {
    listing: Listing<'a>,
    found: Vec<(InnerPath, About)>,
    has_more: bool,
}

impl Visitor for Lister<'_> {
    fn visit(&mut self, visit: Visit<'_>) -> Result<Next, FileError> {
        if self.found.len() >= self.listing.limit {
            self.has_more = true;
            return Ok(Next::Stop);
        }
        self.found.push((visit.path, About::of(&visit.seen, visit.folder, visit.name)));
        Ok(if self.enters() { Next::Enter } else { Next::Pass })
    }

    fn enters(&self) -> bool {
        self.listing.is_recursive
    }

    fn closed(&mut self, path: &InnerPath) {
        if let Some((_, about)) = self.found.last_mut().filter(|(last, _)| last == path) {
            about.is_closed = true;
        }
    }
}

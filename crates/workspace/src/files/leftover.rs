//! What became of a change whose maker died in the middle: read from what is there, never guessed.

use std::os::fd::OwnedFd;

use rustix::{
    fs::{AtFlags, RenameFlags, renameat_with, statat, unlinkat},
    io::Errno,
};

use super::{
    FileError, Files,
    look::{Version, version_of},
    step,
};
use crate::inner_path::InnerPath;

/// What became of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It was made.
    Done,
    /// It was not made: all is as it was.
    Undone,
    /// Neither can be told from what is there. Whatever is there stays.
    Unknown,
}

impl Files {
    /// What became of a write.
    ///
    /// # Errors
    /// If it cannot be looked at.
    pub fn settle_write(
        &self,
        path: &InnerPath,
        (before, after): (Option<Version>, Version),
        aside: &str,
    ) -> Result<Outcome, FileError> {
        let (folder, name) = match self.place(path) {
            Ok(place) => place,
            Err(FileError::NotFound(_)) => {
                return Ok(if before == Some(Version::Absent) { Outcome::Undone } else { Outcome::Unknown });
            }
            Err(error) => return Err(error),
        };
        let now = now_at(&folder, name);
        let outcome = match now {
            Some(now) if now == after => Outcome::Done,
            now if now.is_some() && now == before => Outcome::Undone,
            _ => Outcome::Unknown,
        };
        match now_at(&folder, aside.as_bytes()) {
            Some(Version::Absent) => Ok(outcome),
            // If the path has what it had, what is aside never was anywhere else.
            left if outcome == Outcome::Undone || left == before || left == Some(after) => {
                unlinkat(&folder, aside, AtFlags::empty()).map_err(|error| step("remove", path, error))?;
                Ok(outcome)
            }
            // Somebody changed it at the last moment: it is theirs.
            _ => Ok(Outcome::Unknown),
        }
    }

    /// What became of a removal; what had been put aside goes back.
    ///
    /// # Errors
    /// If it cannot be looked at.
    pub fn settle_removal(
        &self,
        path: &InnerPath,
        before: Option<Version>,
        aside: &str,
    ) -> Result<Outcome, FileError> {
        let (folder, name) = match self.place(path) {
            Ok(place) => place,
            Err(FileError::NotFound(_)) => return Ok(Outcome::Done),
            Err(error) => return Err(error),
        };
        match renameat_with(&folder, aside, &folder, name, RenameFlags::NOREPLACE) {
            Ok(()) => return Ok(Outcome::Undone),
            Err(Errno::NOENT) => {}
            Err(_taken) => return Ok(Outcome::Unknown),
        }
        Ok(match now_at(&folder, name) {
            Some(Version::Absent) => Outcome::Done,
            now if now.is_some() && now == before => Outcome::Undone,
            _ => Outcome::Unknown,
        })
    }

    /// What became of a move.
    ///
    /// # Errors
    /// If it cannot be looked at.
    pub fn settle_move(&self, from: &InnerPath, to: &InnerPath) -> Result<Outcome, FileError> {
        Ok(match (self.seen(from)?, self.seen(to)?) {
            (Some(_), None) => Outcome::Undone,
            (None, Some(_)) => Outcome::Done,
            _ => Outcome::Unknown,
        })
    }
}

/// What a name stands for: none if it is something without a version.
fn now_at(folder: &OwnedFd, name: &[u8]) -> Option<Version> {
    match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => Some(Version::Absent),
        Err(_error) => None,
        Ok(_) => version_of(folder, name),
    }
}

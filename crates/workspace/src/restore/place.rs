//! Taking a place, and leaving one: by names alone, so that at each moment one of two whole things is there.

use std::os::fd::OwnedFd;

use edgeplane_os::{Entropy as _, SystemEntropy};
use rustix::{
    fs::{AtFlags, RenameFlags, renameat, renameat_with, statat, unlinkat},
    io::Errno,
};

use crate::seen::Seen;

/// A name that nobody has.
pub fn fresh_name() -> String {
    let mut number = [0; 16];
    SystemEntropy.fill(&mut number);
    format!(".edgeplane-{:032x}", u128::from_le_bytes(number))
}

fn look(folder: &OwnedFd, name: &[u8]) -> Result<Seen, Errno> {
    statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).map(|stat| Seen::of(&stat))
}

/// Gives `own` the name `name`, which nothing or what was `seen` has. Says whether it did; else all is as it was.
pub(super) fn take(folder: &OwnedFd, own: &str, name: &[u8], seen: Option<&Seen>) -> Result<bool, Errno> {
    take_if(folder, own, name, seen, &|| true)
}

/// The same, if what comes out under `own` is also what `is_same` says it is.
pub(crate) fn take_if(
    folder: &OwnedFd,
    own: &str,
    name: &[u8],
    seen: Option<&Seen>,
    is_same: &dyn Fn() -> bool,
) -> Result<bool, Errno> {
    let Some(seen) = seen else {
        return match renameat_with(folder, own, folder, name, RenameFlags::NOREPLACE) {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => Ok(false),
            // A file system without this: the name is looked at first.
            Err(Errno::INVAL | Errno::NOSYS) if look(folder, name) == Err(Errno::NOENT) => {
                renameat(folder, own, folder, name).map(|()| true)
            }
            Err(Errno::INVAL | Errno::NOSYS) => Ok(false),
            Err(error) => Err(error),
        };
    };
    if !look(folder, name).is_ok_and(|now| seen.is_still(&now)) {
        return Ok(false);
    }
    match renameat_with(folder, own, folder, name, RenameFlags::EXCHANGE) {
        Ok(()) => {}
        Err(Errno::NOENT) => return Ok(false),
        Err(Errno::INVAL | Errno::NOSYS) => return renameat(folder, own, folder, name).map(|()| true),
        Err(error) => return Err(error),
    }
    // What was there has the other name now; if somebody wrote to it in between, it goes back.
    if look(folder, own.as_bytes()).is_ok_and(|now| seen.is_same_content(&now)) && is_same() {
        return unlinkat(folder, own, AtFlags::empty()).map(|()| true);
    }
    // Whatever happened to the name by now, that which was there is not left under one that is removed.
    renameat_with(folder, own, folder, name, RenameFlags::EXCHANGE)
        .or_else(|_error| renameat_with(folder, own, folder, name, RenameFlags::NOREPLACE))
        .or_else(|_error| renameat(folder, own, folder, fresh_name().as_str()))
        .map(|()| false)
}

/// Removes what was `seen`, and says whether it did.
pub(super) fn remove(folder: &OwnedFd, name: &[u8], seen: &Seen) -> Result<bool, Errno> {
    remove_by(folder, name, seen, &fresh_name(), &|| true)
}

/// The same, by way of the name `aside`, if what is there then is also what `is_same` says it is.
pub(crate) fn remove_by(
    folder: &OwnedFd,
    name: &[u8],
    seen: &Seen,
    aside: &str,
    is_same: &dyn Fn() -> bool,
) -> Result<bool, Errno> {
    match look(folder, name) {
        Err(Errno::NOENT) => return Ok(true),
        Ok(now) if seen.is_still(&now) => {}
        Ok(_) | Err(_) => return Ok(false),
    }
    match renameat_with(folder, name, folder, aside, RenameFlags::NOREPLACE) {
        Ok(()) => {}
        Err(Errno::NOENT) => return Ok(true),
        Err(Errno::INVAL | Errno::NOSYS) => return unlinkat(folder, name, AtFlags::empty()).map(|()| true),
        Err(error) => return Err(error),
    }
    if look(folder, aside.as_bytes()).is_ok_and(|now| seen.is_same_content(&now)) && is_same() {
        return unlinkat(folder, aside, AtFlags::empty()).map(|()| true);
    }
    // Somebody may have put something new in its place meanwhile; then it stays beside it, under the other name.
    match renameat_with(folder, aside, folder, name, RenameFlags::NOREPLACE) {
        Ok(()) | Err(Errno::EXIST) => Ok(false),
        Err(error) => Err(error),
    }
}

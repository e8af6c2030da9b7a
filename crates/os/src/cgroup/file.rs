//! Reading and writing the files and directories of a hierarchy.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    os::fd::OwnedFd,
    path::Path,
};

use rustix::fs::{Mode, OFlags};

use super::CgroupError;

/// Writes a setting.
///
/// The file is created where it is missing: a hierarchy refuses that, so it costs nothing there, and a plain directory
/// can play a hierarchy in tests.
pub(super) fn write(path: &Path, value: &str) -> Result<(), CgroupError> {
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .open(path)
        .and_then(|mut file| file.write_all(value.as_bytes()))
        .map_err(|source| CgroupError::Write { path: path.to_owned(), value: value.to_owned(), source })
}

/// Reads a state.
pub(super) fn read(path: &Path) -> Result<String, CgroupError> {
    fs::read_to_string(path).map_err(|source| CgroupError::Read { path: path.to_owned(), source })
}

/// Whether the line `key value` of a flat file says 1.
pub(super) fn flag(text: &str, key: &str) -> bool {
    text.lines().any(|line| line.split_once(' ').is_some_and(|(name, value)| name == key && value == "1"))
}

/// Makes a directory, which must not be there.
pub(super) fn create_dir(path: &Path) -> Result<(), CgroupError> {
    fs::create_dir(path).map_err(|source| match source.kind() {
        io::ErrorKind::AlreadyExists => CgroupError::Exists { path: path.to_owned() },
        _ => CgroupError::Create { path: path.to_owned(), source },
    })
}

/// Makes a directory unless it is there.
pub(super) fn ensure_dir(path: &Path) -> Result<(), CgroupError> {
    match create_dir(path) {
        Err(CgroupError::Exists { .. }) => Ok(()),
        other => other,
    }
}

/// Removes a group and those below it; one that is gone already is no error.
pub(super) fn remove_tree(path: &Path) -> io::Result<()> {
    for child in subdirs(path) {
        remove_tree(&child)?;
    }
    match fs::remove_dir(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(source),
        _ => Ok(()),
    }
}

/// The groups directly below one; none if it is gone.
pub(super) fn subdirs(path: &Path) -> Vec<std::path::PathBuf> {
    let Ok(entries) = fs::read_dir(path) else { return Vec::new() };
    entries
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
        .collect()
}

/// The processes in a group and all below it.
pub(super) fn procs(path: &Path) -> Result<Vec<u32>, CgroupError> {
    let file = path.join("cgroup.procs");
    let mut found = match fs::read_to_string(&file) {
        Ok(text) => text.lines().filter_map(|line| line.parse().ok()).collect(),
        // A group that is gone has none; the parent of a threaded one lists its processes.
        Err(source)
            if matches!(source.raw_os_error(), Some(libc::ENOENT | libc::ENODEV | libc::EOPNOTSUPP)) =>
        {
            Vec::new()
        }
        Err(source) => return Err(CgroupError::Read { path: file, source }),
    };
    for child in subdirs(path) {
        found.extend(procs(&child)?);
    }
    Ok(found)
}

/// Opens a group's directory for processes to be born in.
pub(super) fn open_dir(path: &Path) -> Result<OwnedFd, CgroupError> {
    rustix::fs::open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
        .map_err(|source| CgroupError::Read { path: path.to_owned(), source: source.into() })
}

/// Opens a group's list of processes for one to write itself into.
pub(super) fn open_procs(path: &Path) -> Result<OwnedFd, CgroupError> {
    match OpenOptions::new().write(true).open(path) {
        Ok(file) => Ok(file.into()),
        Err(source) => Err(CgroupError::Read { path: path.to_owned(), source }),
    }
}

/// Reads a file that was opened before, from its start; hierarchies give the present state each time.
pub(super) fn reread(mut file: &File, path: &Path) -> Result<String, CgroupError> {
    let mut text = String::new();
    io::Seek::rewind(&mut file)
        .and_then(|()| file.read_to_string(&mut text))
        .map_err(|source| CgroupError::Read { path: path.to_owned(), source })?;
    Ok(text)
}

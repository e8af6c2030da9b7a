//! Finding the program before the process exists.

use std::{
    ffi::{CStr, CString, OsStr},
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use rustix::fs::{Access, access};

use super::{SpawnError, SpawnSpec};

/// The program's path, for the kernel and for people.
pub(super) fn resolve(spec: &SpawnSpec<'_>) -> Result<(CString, PathBuf), SpawnError> {
    let path = if spec.program.as_bytes().contains(&b'/') {
        PathBuf::from(spec.program)
    } else {
        search(spec.program, spec.search_path).ok_or_else(|| SpawnError::NotFound {
            program: spec.program.to_owned(),
            search_path: spec.search_path.to_owned(),
        })?
    };
    let text = CString::new(path.as_os_str().as_bytes())
        .map_err(|_zero| SpawnError::BadName { program: spec.program.to_owned() })?;
    Ok((text, path))
}

/// The first file of this name that may be run. What is relative would depend on where somebody happens to stand.
fn search(name: &OsStr, search_path: &OsStr) -> Option<PathBuf> {
    if name.is_empty() {
        return None;
    }
    std::env::split_paths(search_path)
        .filter(|dir| dir.is_absolute())
        .map(|dir| dir.join(name))
        .find(|path| path.is_file() && access(path, Access::EXEC_OK).is_ok())
}

pub(super) fn path_of(text: &CStr) -> PathBuf {
    Path::new(OsStr::from_bytes(text.to_bytes())).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_absolute_directories_only() {
        assert_eq!(search(OsStr::new("sh"), OsStr::new("/nowhere:/bin")), Some(PathBuf::from("/bin/sh")));
        assert_eq!(search(OsStr::new("sh"), OsStr::new("bin::.")), None);
        assert_eq!(search(OsStr::new("passwd"), OsStr::new("/etc")), None, "not executable");
        assert_eq!(search(OsStr::new(""), OsStr::new("/bin")), None);
    }
}

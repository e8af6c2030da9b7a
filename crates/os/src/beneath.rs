//! Files beneath a folder, and never outside it: not by `..`, not by a link, not while somebody moves folders about.
//!
//! The kernel resolves each path with `openat2` and `RESOLVE_BENEATH`. It deliberately does not decide who may ask.

use std::{
    fs::File,
    io::{self, Read as _, Write as _},
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use rustix::{
    fs::{self, AtFlags, Mode, OFlags, ResolveFlags},
    io::Errno,
};

/// Why a file cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum BeneathError {
    /// Its path leads out of the folder.
    #[error("its path leads out of the folder")]
    Outside,
    /// The path names no file.
    #[error("its path names no file")]
    NoName,
    /// It is not a plain file.
    #[error("it is not a plain file")]
    NotPlain,
    /// It is larger than wanted.
    #[error("it has more than {max} bytes")]
    TooLarge {
        /// How many are read at most.
        max: usize,
    },
    /// A step failed.
    #[error("cannot {what} it")]
    Step {
        /// Which.
        what: &'static str,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
}

/// Folders that are made on the way to a file.
const DEPTH_MAX: usize = 64;

/// Reads a plain file beneath a folder.
///
/// # Errors
/// If it is outside, not there, no plain file, or has more than `max` bytes.
pub fn read(root: &Path, path: &Path, max: usize) -> Result<Vec<u8>, BeneathError> {
    let root = open_root(root)?;
    let file = open(&root, path, OFlags::RDONLY | OFlags::NONBLOCK)?;
    let mut file = plain(file)?;
    let mut bytes = Vec::new();
    let limit = u64::try_from(max).unwrap_or(u64::MAX).saturating_add(1);
    (&mut file).take(limit).read_to_end(&mut bytes).map_err(|source| step("read", source))?;
    if bytes.len() > max { Err(BeneathError::TooLarge { max }) } else { Ok(bytes) }
}

/// Writes a plain file beneath a folder, whole or not at all, and makes the folders on its way. A file that is there
/// keeps its mode.
///
/// # Errors
/// If it is outside, something else than a plain file, or cannot be written.
pub fn write(root: &Path, path: &Path, bytes: &[u8]) -> Result<(), BeneathError> {
    let name = path.file_name().ok_or(BeneathError::NoName)?;
    let root = open_root(root)?;
    let dir = make_way(&root, path.parent().unwrap_or(Path::new("")))?;
    let mode = match open(&root, path, OFlags::RDONLY | OFlags::NONBLOCK) {
        Ok(there) => Some(mode_of(&plain(there)?)?),
        Err(BeneathError::Step { source, .. }) if source.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    // A link at the end of the path is followed beneath the folder: the file that it names is replaced, not the link.
    let (dir, name) = match fs::readlinkat(&dir, name, Vec::new()) {
        Ok(target) => {
            let target = PathBuf::from(target.to_string_lossy().into_owned());
            let parent = path.parent().unwrap_or(Path::new(""));
            let end = parent.join(target);
            let end_name = end.file_name().ok_or(BeneathError::NoName)?.to_owned();
            (open_dir(&root, end.parent().unwrap_or(Path::new("")))?, end_name)
        }
        Err(_) => (dir, name.to_owned()),
    };
    let mut suffix = [0; 8];
    crate::entropy::Entropy::fill(&crate::entropy::SystemEntropy, &mut suffix);
    let temporary = format!(".edgeplane-{:016x}", u64::from_le_bytes(suffix));
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let made = fs::openat(&dir, temporary.as_str(), flags, mode.unwrap_or(Mode::from_raw_mode(0o644)))
        .map_err(|error| step("make", error.into()))?;
    let written = fill(File::from(made), bytes, mode).and_then(|()| {
        fs::renameat(&dir, temporary.as_str(), &dir, name.as_os_str())
            .map_err(|error| step("replace", error.into()))
    });
    if written.is_err() {
        // What is half written must not stay; that it cannot be removed changes nothing for the one who asked.
        fs::unlinkat(&dir, temporary.as_str(), AtFlags::empty()).unwrap_or_default();
    }
    written
}

fn fill(mut file: File, bytes: &[u8], mode: Option<Mode>) -> Result<(), BeneathError> {
    file.write_all(bytes).map_err(|source| step("write", source))?;
    if let Some(mode) = mode {
        fs::fchmod(&file, mode).map_err(|error| step("write", error.into()))?;
    }
    Ok(())
}

fn open_root(root: &Path) -> Result<OwnedFd, BeneathError> {
    fs::open(root, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
        .map_err(|error| step("reach", error.into()))
}

fn open(root: &OwnedFd, path: &Path, flags: OFlags) -> Result<OwnedFd, BeneathError> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    // The kernel takes no flag beside `O_PATH` that means nothing with it.
    let flags = if flags.contains(OFlags::PATH) { flags } else { flags | OFlags::NOCTTY };
    fs::openat2(root, path, flags | OFlags::CLOEXEC, Mode::empty(), resolve).map_err(refused)
}

fn open_dir(root: &OwnedFd, path: &Path) -> Result<OwnedFd, BeneathError> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    open(root, path, OFlags::PATH | OFlags::DIRECTORY)
}

/// Makes the folders that are missing, one after the other, each found beneath the folder first.
fn make_way(root: &OwnedFd, path: &Path) -> Result<OwnedFd, BeneathError> {
    let mut way = PathBuf::new();
    let mut dir = open_dir(root, Path::new("."))?;
    for part in path.components().take(DEPTH_MAX) {
        way.push(part);
        dir = match open_dir(root, &way) {
            Err(BeneathError::Step { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                match fs::mkdirat(&dir, part.as_os_str(), Mode::from_raw_mode(0o755)) {
                    Ok(()) | Err(Errno::EXIST) => open_dir(root, &way)?,
                    Err(error) => return Err(step("make a folder for", error.into())),
                }
            }
            found => found?,
        };
    }
    Ok(dir)
}

fn plain(file: OwnedFd) -> Result<File, BeneathError> {
    let file = File::from(file);
    let about = file.metadata().map_err(|source| step("look at", source))?;
    if about.is_file() { Ok(file) } else { Err(BeneathError::NotPlain) }
}

fn mode_of(file: &File) -> Result<Mode, BeneathError> {
    let about = fs::fstat(file).map_err(|error| step("look at", error.into()))?;
    Ok(Mode::from_raw_mode(about.st_mode & 0o777))
}

fn refused(error: Errno) -> BeneathError {
    // The kernel says so of a path that leads out of the folder.
    if error == Errno::XDEV { BeneathError::Outside } else { step("open", error.into()) }
}

fn step(what: &'static str, source: io::Error) -> BeneathError {
    BeneathError::Step { what, source }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().unwrap()
    }

    /// Proves DRV-013.
    #[test]
    fn what_is_written_is_read_and_folders_are_made() {
        let folder = folder();
        write(folder.path(), Path::new("a/b/c.txt"), b"hello").unwrap();
        assert_eq!(read(folder.path(), Path::new("a/b/c.txt"), 5).unwrap(), b"hello");
        assert!(matches!(
            read(folder.path(), Path::new("a/b/c.txt"), 4),
            Err(BeneathError::TooLarge { max: 4 })
        ));
        let path = folder.path().join("a/b/c.txt");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        write(folder.path(), Path::new("a/b/c.txt"), b"again").unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o755);
        assert_eq!(std::fs::read_dir(folder.path().join("a/b")).unwrap().count(), 1, "nothing else is left");
    }

    /// Proves DRV-013.
    #[test]
    fn no_path_leads_out() {
        let outer = folder();
        std::fs::write(outer.path().join("secret"), "s").unwrap();
        let root = outer.path().join("root");
        std::fs::create_dir(&root).unwrap();
        symlink(outer.path(), root.join("out")).unwrap();
        symlink(outer.path().join("secret"), root.join("link")).unwrap();
        symlink("../secret", root.join("relative")).unwrap();
        symlink("../fresh", root.join("dangling")).unwrap();
        for path in ["../secret", "out/secret", "link", "relative", "a/../../secret"] {
            assert!(read(&root, Path::new(path), 9).is_err(), "read {path}");
            assert!(write(&root, Path::new(path), b"x").is_err(), "write {path}");
        }
        assert!(write(&root, Path::new("dangling"), b"x").is_err());
        for path in ["", "..", "/"] {
            assert!(write(&root, Path::new(path), b"x").is_err(), "write {path}");
        }
        assert_eq!(std::fs::read_to_string(outer.path().join("secret")).unwrap(), "s");
        assert!(!outer.path().join("fresh").exists());
    }

    /// Proves DRV-013.
    #[test]
    fn links_inside_are_followed_and_only_plain_files_are_touched() {
        let folder = folder();
        write(folder.path(), Path::new("real.txt"), b"1").unwrap();
        symlink("real.txt", folder.path().join("link")).unwrap();
        write(folder.path(), Path::new("link"), b"2").unwrap();
        assert_eq!(read(folder.path(), Path::new("real.txt"), 9).unwrap(), b"2");
        assert!(folder.path().join("link").is_symlink());
        std::fs::create_dir(folder.path().join("dir")).unwrap();
        assert!(matches!(read(folder.path(), Path::new("dir"), 9), Err(BeneathError::NotPlain)));
        assert!(write(folder.path(), Path::new("dir"), b"x").is_err());
        let pipe = folder.path().join("pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        assert!(matches!(read(folder.path(), Path::new("pipe"), 9), Err(BeneathError::NotPlain)));
    }
}

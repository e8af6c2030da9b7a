//! Where a node keeps its state and its sockets.
//!
//! Owns the rule from environment to paths, and the check that they are private. It deliberately reads no environment:
//! that is input.

use std::{
    ffi::OsString,
    fs::{DirBuilder, Metadata},
    io,
    os::unix::fs::{DirBuilderExt, MetadataExt},
    path::{Path, PathBuf},
};

/// The environment variable that names the state directory.
pub const STATE_DIR: &str = "EDGEPLANE_STATE_DIR";

/// The environment variable that names the runtime directory.
pub const RUNTIME_DIR: &str = "EDGEPLANE_RUNTIME_DIR";

/// The environment variable that names the daemon's socket.
pub const SOCKET: &str = "EDGEPLANE_SOCKET";

/// The folder of ours in the usual places.
const FOLDER: &str = "edgeplane";

/// The daemon's socket in the runtime directory.
const SOCKET_FILE: &str = "edgeplaned.sock";

/// Why the directories cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DirsError {
    /// A variable holds a path that depends on where the reader stands.
    #[error("`{variable}` is `{}`, which is not an absolute path", path.display())]
    NotAbsolute {
        /// Its name.
        variable: &'static str,
        /// Its value.
        path: PathBuf,
    },
    /// Nothing says where state may be kept.
    #[error("cannot tell where to keep state: neither `{STATE_DIR}` nor `XDG_STATE_HOME` nor `HOME` is set")]
    NoHome,
    /// The directory cannot be made.
    #[error("cannot create the directory `{}`", path.display())]
    Create {
        /// The directory.
        path: PathBuf,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
    /// The directory cannot be looked at.
    #[error("cannot inspect the directory `{}`", path.display())]
    Inspect {
        /// The directory.
        path: PathBuf,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
    /// Something else is in its place.
    #[error("`{}` is not a directory", path.display())]
    NotADirectory {
        /// The path.
        path: PathBuf,
    },
    /// Somebody else could change what is in it.
    #[error("directory `{}` belongs to user {owner}, not to user {uid}", path.display())]
    Foreign {
        /// The directory.
        path: PathBuf,
        /// Whose it is.
        owner: u32,
        /// Whose it must be.
        uid: u32,
    },
    /// Others could change what is in it.
    #[error("directory `{}` has mode {mode:04o}: group or others may write", path.display())]
    Open {
        /// The directory.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
}

/// Where everything of one node is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateDirs {
    /// What survives a reboot.
    pub state: PathBuf,
    /// Sockets.
    pub runtime: PathBuf,
    /// The daemon's socket.
    pub socket: PathBuf,
}

impl StateDirs {
    /// Finds the paths for user `uid` from the environment, without touching the disk.
    ///
    /// Root's are always the system's own: `XDG_*` of a login session must not make the tool and the daemon disagree.
    /// As its specification asks, an `XDG_*` value that is not absolute is passed over.
    ///
    /// # Errors
    /// When a variable of ours is not absolute, or nothing says where state may be kept.
    pub fn resolve(uid: u32, env: impl Fn(&str) -> Option<OsString>) -> Result<Self, DirsError> {
        let usual = |name: &str| env(name).map(PathBuf::from).filter(|path| uid != 0 && path.is_absolute());
        let ours = |variable: &'static str| match env(variable).filter(|value| !value.is_empty()) {
            Some(value) if Path::new(&value).is_absolute() => Ok(Some(PathBuf::from(value))),
            Some(value) => Err(DirsError::NotAbsolute { variable, path: value.into() }),
            None => Ok(None),
        };
        let state = match ours(STATE_DIR)? {
            Some(path) => path,
            None if uid == 0 => Path::new("/var/lib").join(FOLDER),
            None => usual("XDG_STATE_HOME")
                .or_else(|| usual("HOME").map(|home| home.join(".local/state")))
                .ok_or(DirsError::NoHome)?
                .join(FOLDER),
        };
        let runtime = match ours(RUNTIME_DIR)? {
            Some(path) => path,
            None if uid == 0 => Path::new("/run").join(FOLDER),
            None => usual("XDG_RUNTIME_DIR")
                .map_or_else(|| PathBuf::from(format!("/tmp/{FOLDER}-{uid}")), |dir| dir.join(FOLDER)),
        };
        let socket = ours(SOCKET)?.unwrap_or_else(|| runtime.join(SOCKET_FILE));
        Ok(Self { state, runtime, socket })
    }

    /// Makes both directories where they are missing, and checks that they are private to `uid`.
    ///
    /// # Errors
    /// When one cannot be made or is not private.
    pub fn create(&self, uid: u32) -> Result<(), DirsError> {
        // A state directory may be a link to a larger disk; a runtime directory may lie where others can make links.
        create_private(&self.state, uid, |path| std::fs::metadata(path))?;
        create_private(&self.runtime, uid, |path| std::fs::symlink_metadata(path))
    }
}

/// Makes a directory that only `uid` may use, with what is missing above it, or checks that the existing one is.
///
/// # Errors
/// When it cannot be made, is not a directory, belongs to another, or others may write to it.
pub fn create_private_dir(path: &Path, uid: u32) -> Result<(), DirsError> {
    create_private(path, uid, |path| std::fs::symlink_metadata(path))
}

fn create_private(
    path: &Path,
    uid: u32,
    inspect: impl Fn(&Path) -> io::Result<Metadata>,
) -> Result<(), DirsError> {
    match DirBuilder::new().recursive(true).mode(0o700).create(path) {
        Ok(()) => {}
        // A dangling link, a file; the check below says what it is.
        Err(source) if source.kind() == io::ErrorKind::AlreadyExists => {}
        Err(source) => return Err(DirsError::Create { path: path.to_owned(), source }),
    }
    let found = inspect(path).map_err(|source| DirsError::Inspect { path: path.to_owned(), source })?;
    if !found.is_dir() {
        return Err(DirsError::NotADirectory { path: path.to_owned() });
    }
    if found.uid() != uid {
        return Err(DirsError::Foreign { path: path.to_owned(), owner: found.uid(), uid });
    }
    let mode = found.mode() & 0o7777;
    if mode & 0o022 != 0 {
        return Err(DirsError::Open { path: path.to_owned(), mode });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn check(uid: u32, env: &[(&str, &str)], expected: [&str; 3]) {
        let found = StateDirs::resolve(uid, |name| {
            env.iter().find(|(key, _value)| *key == name).map(|(_key, value)| OsString::from(value))
        })
        .unwrap();
        assert_eq!([&found.state, &found.runtime, &found.socket], expected.map(Path::new));
    }

    #[test]
    fn paths_follow_the_environment_and_the_user() {
        let run = "/run/edgeplane/edgeplaned.sock";
        check(0, &[], ["/var/lib/edgeplane", "/run/edgeplane", run]);
        let login = [("HOME", "/home/a"), ("XDG_RUNTIME_DIR", "/run/user/0")];
        check(0, &login, ["/var/lib/edgeplane", "/run/edgeplane", run]);
        let home = "/home/a/.local/state/edgeplane";
        check(7, &[("HOME", "/home/a")], [home, "/tmp/edgeplane-7", "/tmp/edgeplane-7/edgeplaned.sock"]);
        let xdg = [("HOME", "/h"), ("XDG_STATE_HOME", "/s"), ("XDG_RUNTIME_DIR", "/r")];
        check(7, &xdg, ["/s/edgeplane", "/r/edgeplane", "/r/edgeplane/edgeplaned.sock"]);
        let relative = [("HOME", "/home/a"), ("XDG_STATE_HOME", "s"), ("XDG_RUNTIME_DIR", "/r")];
        check(7, &relative, [home, "/r/edgeplane", "/r/edgeplane/edgeplaned.sock"]);
        for uid in [0, 7] {
            check(uid, &[(STATE_DIR, "/a"), (RUNTIME_DIR, "/b")], ["/a", "/b", "/b/edgeplaned.sock"]);
            check(uid, &[(STATE_DIR, "/a"), (RUNTIME_DIR, "/b"), (SOCKET, "/c")], ["/a", "/b", "/c"]);
        }
    }

    #[test]
    fn relative_and_missing_places_are_errors() {
        let relative = StateDirs::resolve(7, |name| (name == STATE_DIR).then(|| "x".into()));
        assert!(matches!(relative, Err(DirsError::NotAbsolute { variable: STATE_DIR, .. })));
        assert!(matches!(StateDirs::resolve(7, |_name| None), Err(DirsError::NoHome)));
    }

    #[test]
    fn directories_are_made_private_and_others_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let uid = rustix::process::geteuid().as_raw();
        let at = |name: &str| dir.path().join(name);
        let dirs = StateDirs { state: at("a/b/state"), runtime: at("run"), socket: at("run/s") };
        dirs.create(uid).unwrap();
        dirs.create(uid).unwrap();
        assert_eq!(std::fs::metadata(&dirs.state).unwrap().permissions().mode() & 0o7777, 0o700);

        let error = create_private_dir(&dirs.runtime, uid + 1).unwrap_err();
        assert!(matches!(error, DirsError::Foreign { .. }), "{error}");
        std::fs::set_permissions(&dirs.runtime, PermissionsExt::from_mode(0o770)).unwrap();
        let error = create_private_dir(&dirs.runtime, uid).unwrap_err();
        assert!(error.to_string().ends_with("has mode 0770: group or others may write"), "{error}");
        std::fs::write(at("file"), b"").unwrap();
        assert!(matches!(create_private_dir(&at("file"), uid), Err(DirsError::NotADirectory { .. })));
    }

    #[test]
    fn link_is_followed_for_state_and_refused_for_sockets() {
        let dir = tempfile::tempdir().unwrap();
        let uid = rustix::process::geteuid().as_raw();
        let (real, link) = (dir.path().join("real"), dir.path().join("link"));
        create_private_dir(&real, uid).unwrap();
        symlink(&real, &link).unwrap();
        let dirs = StateDirs { state: link.clone(), runtime: real.clone(), socket: real.join("s") };
        dirs.create(uid).unwrap();
        let dirs = StateDirs { state: real, runtime: link.clone(), socket: link.join("s") };
        assert!(matches!(dirs.create(uid), Err(DirsError::NotADirectory { .. })));
    }
}

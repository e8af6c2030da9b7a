//! One process at a time on a directory.
//!
//! Owns the lock file. It deliberately does not check whether the holder still works: a lock ends with its process.

use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::fs::{FileExt, OpenOptionsExt},
    path::{Path, PathBuf},
    time::Duration,
};

use rustix::{
    fs::{FlockOperation, flock},
    io::Errno,
};

use crate::{
    proc,
    wait::{Deadline, until},
};

/// The file in the directory that carries the lock.
const LOCK_FILE: &str = "lock";

/// How long a lock may outlive its holder: a child that has not become its own program yet holds it, too.
const DEAD_HOLDER_TIME_MAX: Duration = Duration::from_secs(2);

/// Why a directory cannot be locked.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// The lock file cannot be made.
    #[error("cannot open the lock file `{}`", path.display())]
    Open {
        /// The lock file.
        path: PathBuf,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
    /// The file system refuses locks.
    #[error("cannot lock `{}`", path.display())]
    Lock {
        /// The lock file.
        path: PathBuf,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
    /// Somebody else has it.
    #[error("`{}` is in use by {}", dir.display(), holder_text(*holder))]
    Held {
        /// The directory.
        dir: PathBuf,
        /// Who, if the lock file says so.
        holder: Option<u32>,
    },
    /// The holder's number cannot be written.
    #[error("cannot write the holder into `{}`", path.display())]
    Write {
        /// The lock file.
        path: PathBuf,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
}

fn holder_text(holder: Option<u32>) -> String {
    holder.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"))
}

/// The exclusive right to a directory; given back on drop and when the process ends.
#[derive(Debug)]
pub struct DirLock {
    file: File,
    path: PathBuf,
}

impl DirLock {
    /// Takes the lock of `dir` or says who has it: at once, if that process lives.
    ///
    /// # Errors
    /// When it is held, or the lock file cannot be used.
    pub fn acquire(dir: &Path) -> Result<Self, LockError> {
        let path = dir.join(LOCK_FILE);
        let open =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(&path);
        let file = open.map_err(|source| LockError::Open { path: path.clone(), source })?;
        let mut taken = Err(Errno::WOULDBLOCK);
        until(Deadline::after(DEAD_HOLDER_TIME_MAX), || {
            taken = flock(&file, FlockOperation::NonBlockingLockExclusive);
            taken != Err(Errno::WOULDBLOCK) || read_holder(&path).is_some_and(is_alive)
        });
        match taken {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => {
                return Err(LockError::Held { dir: dir.to_owned(), holder: read_holder(&path) });
            }
            Err(source) => return Err(LockError::Lock { path, source: source.into() }),
        }
        let text = format!("{}\n", std::process::id());
        file.set_len(0)
            .and_then(|()| file.write_all_at(text.as_bytes(), 0))
            .map_err(|source| LockError::Write { path: path.clone(), source })?;
        Ok(Self { file, path })
    }

    /// The lock file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for DirLock {
    fn drop(&mut self) {
        // Closing gives the lock back; this only keeps a stale number from being read. The file stays: removing it
        // would let two processes lock two files of one name.
        drop(self.file.set_len(0));
    }
}

fn read_holder(path: &Path) -> Option<u32> {
    std::fs::read_to_string(path).ok()?.trim().parse().ok()
}

fn is_alive(pid: u32) -> bool {
    proc::stat(pid).is_ok_and(|stat| stat.is_alive())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn second_taker_learns_who_holds_it() {
        let dir = tempfile::tempdir().unwrap();
        let lock = DirLock::acquire(dir.path()).unwrap();
        let error = DirLock::acquire(dir.path()).unwrap_err();
        assert!(matches!(error, LockError::Held { holder: Some(pid), .. } if pid == std::process::id()));
        assert!(error.to_string().contains(&format!("process {}", std::process::id())), "{error}");
        drop(lock);
        DirLock::acquire(dir.path()).unwrap();
    }

    #[test]
    fn lock_that_outlives_its_holder_is_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let lock = DirLock::acquire(dir.path()).unwrap();
        // As a killed daemon leaves it: the number of a process that is gone, and a child that still has the file.
        let inherited = lock.file.try_clone().unwrap();
        std::mem::drop(lock);
        std::fs::write(dir.path().join(LOCK_FILE), "4194305\n").unwrap();
        let error = std::thread::scope(|scope| {
            let waiting = scope.spawn(|| DirLock::acquire(dir.path()));
            drop(inherited);
            waiting.join().unwrap()
        });
        error.unwrap();
    }

    #[test]
    fn missing_directory_is_named() {
        let error = DirLock::acquire(Path::new("/nowhere/at/all")).unwrap_err();
        assert!(error.to_string().contains("/nowhere/at/all/lock"), "{error}");
    }
}

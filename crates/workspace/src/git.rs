//! What git ignores in a work tree.
//!
//! The repository belongs to an agent and may say anything. Git is asked one question that runs nothing of it, as the
//! owner of the folder, for a bounded time and answer; rules of users and of the machine do not count.

use std::{
    collections::HashSet,
    io::Read as _,
    os::{
        fd::{AsRawFd as _, OwnedFd},
        unix::process::CommandExt as _,
    },
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use edgeplane_os::wait::{Deadline, until};
use rustix::{
    fs::{AtFlags, fstat, statat},
    process::geteuid,
};

use crate::error::WorkspaceError;

/// How long git may take.
const TIME_MAX: Duration = Duration::from_secs(30);

/// How much it may say.
const ANSWER_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Where it is looked for.
const SEARCH_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// What a repository could have run while it is asked.
const HARMLESS: &[&str] = &[
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.untrackedCache=false",
    "ls-files",
    "--others",
    "--ignored",
    "--exclude-standard",
    "--directory",
    "-z",
];

/// The paths beneath a folder that git ignores; none if it is no work tree.
pub(crate) fn ignored(path: &Path, root: &OwnedFd) -> Result<HashSet<Vec<u8>>, WorkspaceError> {
    // Only a folder that is a work tree itself: one above may ignore all of it.
    if statat(root, ".git", AtFlags::SYMLINK_NOFOLLOW).is_err() {
        return Ok(HashSet::new());
    }
    let failed = |reason: String| WorkspaceError::Git { path: path.to_owned(), reason };
    let mut command = Command::new("git");
    command
        .args(HARMLESS)
        // The folder that is open, whatever its path leads to by now.
        .current_dir(format!("/proc/self/fd/{}", root.as_raw_fd()))
        .env_clear()
        .env("PATH", SEARCH_PATH)
        .env("LC_ALL", "C")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_TERMINAL_PROMPT", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let owner = fstat(root).map_err(|error| failed(error.to_string()))?;
    if geteuid().is_root() && owner.st_uid != 0 {
        command.uid(owner.st_uid).gid(owner.st_gid);
    }
    let child = command.spawn().map_err(|error| failed(format!("it cannot be run: {error}")))?;
    let answer = answer_of(child).map_err(failed)?;
    let paths = answer.split(|byte| *byte == 0).filter(|path| !path.is_empty());
    Ok(paths.map(|path| path.strip_suffix(b"/").unwrap_or(path).to_vec()).collect())
}

fn answer_of(mut child: Child) -> Result<Vec<u8>, String> {
    let Some(output) = child.stdout.take() else { return Err("it has no output".to_owned()) };
    let reader = std::thread::spawn(move || {
        let mut answer = Vec::new();
        output.take(ANSWER_BYTES_MAX.saturating_add(1)).read_to_end(&mut answer).map(|_count| answer)
    });
    let mut status = None;
    until(Deadline::after(TIME_MAX), || {
        status = child.try_wait().ok().flatten();
        status.is_some() || reader.is_finished()
    });
    if status.is_none() && reader.is_finished() {
        until(Deadline::after(Duration::from_secs(1)), || {
            status = child.try_wait().ok().flatten();
            status.is_some()
        });
    }
    if status.is_none() {
        // It ends by this; that it had ended already is as good.
        child.kill().unwrap_or_default();
        drop(child.wait());
    }
    let answer = match reader.join() {
        Ok(Ok(answer)) => answer,
        Ok(Err(error)) => return Err(error.to_string()),
        Err(_panicked) => return Err("its answer was lost".to_owned()),
    };
    match status {
        None => Err("it did not answer in time".to_owned()),
        Some(status) if !status.success() => Err(format!("it ended with {status}")),
        Some(_) if answer.len() as u64 > ANSWER_BYTES_MAX => Err("its answer is too long".to_owned()),
        Some(_) => Ok(answer),
    }
}

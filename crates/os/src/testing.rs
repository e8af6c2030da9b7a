//! What the tests of several modules need: running small shell scripts and reading what they say.

use std::{
    ffi::{CString, OsStr},
    fs::File,
    io::{Read, Write},
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    time::Duration,
};

use edgeplane_types::life::ExitStatus;

use crate::{
    fd, pidfd,
    process::{SpawnError, SpawnSpec, Spawned, spawn},
    wait::Deadline,
};

/// Longer than anything here takes on a loaded machine.
pub(crate) fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(20))
}

pub(crate) fn strings(words: &[&str]) -> Vec<CString> {
    words.iter().map(|word| CString::new(*word).unwrap()).collect()
}

/// A shell's arguments that run `script`.
pub(crate) fn shell(script: &str) -> Vec<CString> {
    strings(&["sh", "-c", script])
}

pub(crate) fn null() -> OwnedFd {
    File::options().read(true).write(true).open("/dev/null").unwrap().into()
}

/// Runs `script` with a specification that `change` completes, and returns its output and end.
pub(crate) fn script(
    script: &str,
    change: impl for<'a> FnOnce(SpawnSpec<'a>) -> Result<Spawned, SpawnError>,
) -> Result<(String, ExitStatus), SpawnError> {
    let (reader, writer) = fd::pipe().unwrap();
    let (argv, envp, null) = (shell(script), strings(&["PATH=/usr/bin:/bin"]), null());
    let stdio = [null.as_fd(), writer.as_fd(), writer.as_fd()];
    let spawned = change(SpawnSpec::bare(OsStr::new("/bin/sh"), &argv, &envp, stdio))?;
    drop(writer);
    let mut text = String::new();
    File::from(reader).read_to_string(&mut text).unwrap();
    Ok((text, pidfd::wait(&spawned.pidfd).unwrap()))
}

/// Starts a process that does nothing until it is killed, in `cgroup` if given; its own children included.
pub(crate) fn sleeper(cgroup: Option<BorrowedFd<'_>>) -> Sleeper {
    let (reader, writer) = fd::pipe().unwrap();
    let (argv, null) = (shell("sleep 1000 & echo; wait"), null());
    let envp = strings(&["PATH=/usr/bin:/bin"]);
    let stdio = [null.as_fd(), writer.as_fd(), null.as_fd()];
    let spec = SpawnSpec { cgroup, ..SpawnSpec::bare(OsStr::new("/bin/sh"), &argv, &envp, stdio) };
    let spawned = spawn(&spec).unwrap();
    File::from(reader).read_exact(&mut [0]).unwrap();
    Sleeper(spawned)
}

/// A process that does not outlive the test.
#[derive(Debug)]
pub(crate) struct Sleeper(pub(crate) Spawned);

impl Drop for Sleeper {
    fn drop(&mut self) {
        for child in crate::proc::children(self.0.pid).unwrap_or_default() {
            if let Ok(child) = pidfd::open(child) {
                drop(pidfd::send_signal(child, crate::Signal::KILL));
            }
        }
        drop(pidfd::send_signal(&self.0.pidfd, crate::Signal::KILL));
        drop(pidfd::wait(&self.0.pidfd));
    }
}

/// Says where people look that a test, or a part of it, is passed over.
pub(crate) fn skip(what: &str, why: &str) {
    // Not through the macros, whose output the test runner keeps to itself when a test passes.
    drop(writeln!(std::io::stderr(), "SKIPPED: {what}: {why}"));
}

//! Starting programs.
//!
//! Owns the one way a process comes to be: born in its cgroup, with exactly the descriptors it is given, and with every
//! failure before the program's first instruction reported by step and cause. It deliberately knows no agent, and it
//! leaves waiting to [`crate::pidfd`].

mod child;
mod program;
mod sibling;
mod stack;
mod vfork;

use std::{
    ffi::{CStr, CString, OsStr, OsString},
    io,
    os::fd::{AsRawFd, BorrowedFd, OwnedFd},
    path::PathBuf,
};

use rustix::process::{Signal, getpid};

use crate::{limits::Limit, pidfd, proc};

pub use child::Step;
pub use sibling::{Sibling, fork_sibling};

/// The user a program runs as.
#[derive(Debug, Clone, Copy)]
pub struct User<'a> {
    /// Its user.
    pub uid: u32,
    /// Its group.
    pub gid: u32,
    /// Its further groups, all of them: none is kept from the spawner.
    pub groups: &'a [u32],
}

/// What to start and how.
///
/// The child's signals are always reset: none blocked, none ignored. Every descriptor that is not named here is closed.
#[derive(Debug, Clone, Copy)]
pub struct SpawnSpec<'a> {
    /// The program: a path if it has a slash, relative ones below `cwd`, else a name to look up in `search_path`.
    pub program: &'a OsStr,
    /// Directories to look in, separated by colons; those that are not absolute are passed over.
    pub search_path: &'a OsStr,
    /// The program's arguments, its own name first.
    pub argv: &'a [CString],
    /// The program's whole environment, as `NAME=value`.
    pub envp: &'a [CString],
    /// Where it starts; the spawner's directory if not given.
    pub cwd: Option<&'a CStr>,
    /// Its standard input, output and error.
    pub stdio: [BorrowedFd<'a>; 3],
    /// Further descriptors and the numbers the program finds them under.
    pub extra_fds: &'a [(BorrowedFd<'a>, i32)],
    /// The slave of a terminal that becomes the new session's own.
    pub controlling_tty: Option<BorrowedFd<'a>>,
    /// Whether it leads a new session; needed for a controlling terminal.
    pub new_session: bool,
    /// Whether it and all below it can never gain privileges by running another program.
    pub no_new_privs: bool,
    /// What it gets when the **thread** that called [`spawn`] ends.
    pub death_signal: Option<Signal>,
    /// A v2 cgroup's directory to be born in. It must not be frozen: the spawner would wait until it thaws.
    pub cgroup: Option<BorrowedFd<'a>>,
    /// Opened `cgroup.procs` files of v1 hierarchies to join before the program runs.
    pub v1_procs: &'a [BorrowedFd<'a>],
    /// Resource limits to set.
    pub rlimits: &'a [Limit],
    /// Whom it runs as; the spawner's user if not given.
    pub user: Option<User<'a>>,
    /// Its file mode mask; the spawner's if not given.
    pub umask: Option<u32>,
}

impl<'a> SpawnSpec<'a> {
    /// A program with its arguments, environment and standard streams, and nothing else asked for.
    #[must_use]
    pub fn bare(
        program: &'a OsStr,
        argv: &'a [CString],
        envp: &'a [CString],
        stdio: [BorrowedFd<'a>; 3],
    ) -> Self {
        Self {
            program,
            search_path: OsStr::new(""),
            argv,
            envp,
            cwd: None,
            stdio,
            extra_fds: &[],
            controlling_tty: None,
            new_session: false,
            no_new_privs: false,
            death_signal: None,
            cgroup: None,
            v1_procs: &[],
            rlimits: &[],
            user: None,
            umask: None,
        }
    }
}

/// A program that runs; it is the caller's to reap.
#[derive(Debug)]
pub struct Spawned {
    /// Its number.
    pub pid: u32,
    /// A handle of it.
    pub pidfd: OwnedFd,
    /// Clock ticks between boot and its start.
    pub start_time: u64,
}

/// Why a program does not run; nothing of it is left.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// No directory of the search path has it.
    #[error("cannot find program `{}` in `{}`", program.display(), search_path.display())]
    NotFound {
        /// Its name.
        program: OsString,
        /// Where it was looked for.
        search_path: OsString,
    },
    /// A name holds a zero byte.
    #[error("program name `{}` holds a zero byte", program.display())]
    BadName {
        /// Its name.
        program: OsString,
    },
    /// A descriptor is to appear under a number that cannot be or is taken.
    #[error("cannot pass a descriptor to `{}` as number {target}: it is negative or named twice", program.display())]
    BadTarget {
        /// The program.
        program: PathBuf,
        /// The number.
        target: i32,
    },
    /// There is no memory for the child's stack.
    #[error("cannot prepare a process for `{}`", program.display())]
    Prepare {
        /// The program.
        program: PathBuf,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
    /// The kernel made no process, for want of one or because the cgroup does not take it.
    #[error("cannot create a process for `{}`", program.display())]
    Clone {
        /// The program.
        program: PathBuf,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
    /// The process could not be made what it should be.
    #[error("cannot {step} for `{}`", program.display())]
    Setup {
        /// The program.
        program: PathBuf,
        /// What failed.
        step: Step,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
    /// It cannot start there.
    #[error("cannot run `{}` in directory `{}`", program.display(), cwd.display())]
    Directory {
        /// The program.
        program: PathBuf,
        /// The directory.
        cwd: PathBuf,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
    /// The kernel does not run it.
    #[error("cannot run `{}`", program.display())]
    Exec {
        /// The program.
        program: PathBuf,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
    /// The program is there, and what it names as its interpreter or loader is not.
    #[error("cannot run `{}`: its interpreter or loader is missing", program.display())]
    Interpreter {
        /// The program.
        program: PathBuf,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
    /// It started and ended before it could be identified.
    #[error("cannot identify the process that runs `{}`", program.display())]
    Identify {
        /// The program.
        program: PathBuf,
        /// What could not be read.
        #[source]
        source: proc::ProcError,
    },
}

/// Starts a program and returns once it runs, or says why it does not.
///
/// The calling thread waits, all its signals blocked, until the child has begun the program; other threads go on.
/// Nobody else in this process may reap arbitrary children meanwhile, or the child may be gone before it is identified.
///
/// # Errors
/// When any step fails; the child is then reaped already.
pub fn spawn(spec: &SpawnSpec<'_>) -> Result<Spawned, SpawnError> {
    let (program, path) = program::resolve(spec)?;
    let argv = pointers(spec.argv);
    let envp = pointers(spec.envp);
    let tables =
        child::Tables::of(spec).map_err(|target| SpawnError::BadTarget { program: path.clone(), target })?;
    let plan = child::Plan::new(spec, &program, [&argv, &envp], &tables);
    let stack = stack::Stack::map()
        .map_err(|source| SpawnError::Prepare { program: path.clone(), source: source.into() })?;
    let born = {
        let _blocked = vfork::SignalsBlocked::new();
        vfork::run(&plan, &stack, spec.cgroup)
    };
    let (pid, pidfd) = born.map_err(|source| SpawnError::Clone { program: path.clone(), source })?;
    if let Some((step, source)) = plan.failure() {
        // The child has ended or is about to; what it reported is the error, so how it ended is of no interest.
        drop(pidfd::wait(&pidfd));
        return Err(explain(spec, path, step, source));
    }
    match proc::stat(pid) {
        Ok(found) => Ok(Spawned { pid, pidfd, start_time: found.start_time }),
        Err(source) => {
            drop(pidfd::send_signal(&pidfd, Signal::KILL));
            drop(pidfd::wait(&pidfd));
            Err(SpawnError::Identify { program: path, source })
        }
    }
}

/// The strings as the kernel wants them: pointers, the last one null.
fn pointers(strings: &[CString]) -> Vec<*const libc::c_char> {
    strings.iter().map(|string| string.as_ptr()).chain([std::ptr::null()]).collect()
}

fn explain(spec: &SpawnSpec<'_>, program: PathBuf, step: Step, source: io::Error) -> SpawnError {
    match step {
        Step::Directory => {
            let cwd = spec.cwd.map_or_else(PathBuf::new, program::path_of);
            SpawnError::Directory { program, cwd, source }
        }
        Step::Exec => {
            let from = spec.cwd.map_or_else(PathBuf::new, program::path_of);
            if source.kind() == io::ErrorKind::NotFound && from.join(&program).exists() {
                return SpawnError::Interpreter { program, source };
            }
            SpawnError::Exec { program, source }
        }
        step => SpawnError::Setup { program, step, source },
    }
}

/// The number of this process as its children see it.
fn own_pid() -> i32 {
    getpid().as_raw_pid()
}

fn raw(fd: Option<BorrowedFd<'_>>) -> i32 {
    fd.map_or(-1, |fd| fd.as_raw_fd())
}

#[cfg(test)]
mod tests;

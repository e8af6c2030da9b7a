//! What happens between birth and program.
//!
//! Owns the child's steps. The child runs in the parent's memory on a stack of its own while the parent's thread waits,
//! so everything here is system calls on values prepared before: no allocation, no lock, no panic, no libc wrapper that
//! keeps state. What libc does keep, `errno`, belongs to the waiting thread, which does not look at it.
#![expect(unsafe_code, reason = "a child with shared memory may do nothing but system calls")]

use std::{
    cell::Cell,
    ffi::{CStr, c_char, c_void},
    fmt, io,
    os::fd::AsRawFd,
    ptr,
};

use super::{SpawnSpec, User, own_pid, raw, vfork::KernelSet};

/// The last signal number the kernel knows.
const SIGNAL_MAX: usize = 64;

/// libc declares it wider than a register may be; its value is small.
#[expect(clippy::cast_possible_truncation, reason = "the value fits sixteen bits")]
const TIOCSCTTY: usize = libc::TIOCSCTTY as usize;

/// What the child was doing when it failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Giving signals their ordinary meaning back.
    Signals,
    /// Starting a session.
    Session,
    /// Taking the controlling terminal.
    Terminal,
    /// Joining a v1 cgroup.
    Cgroup,
    /// Setting a resource limit.
    Limit,
    /// Entering its directory.
    Directory,
    /// Becoming its user.
    User,
    /// Giving up new privileges.
    Privileges,
    /// Asking for the death signal.
    DeathSignal,
    /// Finding its parent still there.
    Parent,
    /// Placing and closing descriptors.
    Descriptors,
    /// Running the program.
    Exec,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Signals => "reset the signals",
            Self::Session => "start a session",
            Self::Terminal => "take the controlling terminal",
            Self::Cgroup => "join a v1 cgroup",
            Self::Limit => "set a resource limit",
            Self::Directory => "enter the directory",
            Self::User => "become the user",
            Self::Privileges => "give up new privileges",
            Self::DeathSignal => "ask for the death signal",
            Self::Parent => "find the parent still there",
            Self::Descriptors => "place the descriptors",
            Self::Exec => "run the program",
        })
    }
}

/// One descriptor on its way to the child's number for it.
#[derive(Debug)]
struct Move {
    source: i32,
    target: i32,
    /// A copy out of every target's way, so that no placing destroys a source.
    parked: Cell<i32>,
}

/// The lists the child works through.
#[derive(Debug)]
pub(super) struct Tables {
    moves: Vec<Move>,
    /// First and last numbers of what is closed.
    closed: Vec<(u32, u32)>,
    /// Above every target.
    parking: i32,
    v1_procs: Vec<i32>,
    limits: Vec<(u32, libc::rlimit64)>,
}

impl Tables {
    /// Lays the descriptors out; the error is a target that cannot be or is named twice.
    pub(super) fn of(spec: &SpawnSpec<'_>) -> Result<Self, i32> {
        let stdio = spec.stdio.iter().copied().zip(0..);
        let moves: Vec<Move> = stdio
            .chain(spec.extra_fds.iter().copied())
            .map(|(fd, target)| Move { source: fd.as_raw_fd(), target, parked: Cell::new(-1) })
            .collect();
        let mut targets: Vec<i32> = moves.iter().map(|entry| entry.target).collect();
        targets.sort_unstable();
        let mut closed = Vec::new();
        let mut next: u32 = 0;
        for target in &targets {
            let number = u32::try_from(*target).map_err(|_negative| *target)?;
            match number.checked_sub(next) {
                None => return Err(*target),
                Some(0) => {}
                Some(_) => closed.push((next, number.saturating_sub(1))),
            }
            next = number.checked_add(1).ok_or(*target)?;
        }
        closed.push((next, u32::MAX));
        let limit = |value: Option<u64>| value.unwrap_or(libc::RLIM64_INFINITY);
        Ok(Self {
            moves,
            closed,
            parking: i32::try_from(next).map_err(|_large| i32::MAX)?,
            v1_procs: spec.v1_procs.iter().map(AsRawFd::as_raw_fd).collect(),
            limits: spec
                .rlimits
                .iter()
                .map(|entry| {
                    let limits = libc::rlimit64 { rlim_cur: limit(entry.soft), rlim_max: limit(entry.hard) };
                    (entry.resource as u32, limits)
                })
                .collect(),
        })
    }
}

/// Everything the child needs, and the slot for what it reports.
#[derive(Debug)]
pub(super) struct Plan<'a> {
    failure: Cell<Option<Failure>>,
    program: *const c_char,
    argv: *const *const c_char,
    envp: *const *const c_char,
    cwd: Option<&'a CStr>,
    tables: &'a Tables,
    terminal: i32,
    new_session: bool,
    no_new_privs: bool,
    death_signal: Option<i32>,
    parent: i32,
    user: Option<User<'a>>,
    umask: Option<u32>,
}

/// A step and the error number it ended with.
#[derive(Debug, Clone, Copy)]
struct Failure {
    step: Step,
    errno: i32,
}

impl<'a> Plan<'a> {
    /// Puts together what was prepared; both lists of pointers, arguments and environment, end in null.
    pub(super) fn new(
        spec: &SpawnSpec<'a>,
        program: &'a CStr,
        [argv, envp]: [&'a [*const c_char]; 2],
        tables: &'a Tables,
    ) -> Self {
        debug_assert!(argv.last().is_some_and(|last| last.is_null()), "the kernel looks for the null");
        debug_assert!(envp.last().is_some_and(|last| last.is_null()), "the kernel looks for the null");
        Self {
            failure: Cell::new(None),
            program: program.as_ptr(),
            argv: argv.as_ptr(),
            envp: envp.as_ptr(),
            cwd: spec.cwd,
            tables,
            terminal: raw(spec.controlling_tty),
            new_session: spec.new_session,
            no_new_privs: spec.no_new_privs,
            death_signal: spec.death_signal.map(|signal| signal.as_raw()),
            parent: own_pid(),
            user: spec.user,
            umask: spec.umask,
        }
    }

    /// What the child reported before it ended, if it did not run its program.
    pub(super) fn failure(&self) -> Option<(Step, io::Error)> {
        self.failure.get().map(|failure| (failure.step, io::Error::from_raw_os_error(failure.errno)))
    }
}

/// The child's first and last function.
pub(super) extern "C" fn enter(plan: *const c_void) -> ! {
    // SAFETY: the parent passed a plan that lives until this process runs its program or ends.
    let plan = unsafe { &*plan.cast::<Plan<'_>>() };
    // Volatile in effect: the parent reads the cell only after the system call that made this process has returned.
    plan.failure.set(Some(run(plan)));
    // SAFETY: ends this process at once, without running anything of the parent's.
    unsafe { libc::_exit(127) }
}

/// Works through the steps; returns only when one fails.
fn run(plan: &Plan<'_>) -> Failure {
    match prepare(plan) {
        Ok(()) => exec(plan),
        Err(failure) => failure,
    }
}

fn prepare(plan: &Plan<'_>) -> Result<(), Failure> {
    reset_handlers()?;
    if plan.new_session {
        call(Step::Session, libc::SYS_setsid, [0; 5])?;
    }
    if plan.terminal >= 0 {
        call(Step::Terminal, libc::SYS_ioctl, [word(plan.terminal), TIOCSCTTY, 0, 0, 0])?;
    }
    for procs in &plan.tables.v1_procs {
        call(Step::Cgroup, libc::SYS_write, [word(*procs), c"0".as_ptr().addr(), 1, 0, 0])?;
    }
    for (resource, limit) in &plan.tables.limits {
        let limit = ptr::from_ref(limit).addr();
        call(Step::Limit, libc::SYS_prlimit64, [0, *resource as usize, limit, 0, 0])?;
    }
    if let Some(mask) = plan.umask {
        call(Step::Directory, libc::SYS_umask, [mask as usize, 0, 0, 0, 0])?;
    }
    if let Some(cwd) = plan.cwd {
        call(Step::Directory, libc::SYS_chdir, [cwd.as_ptr().addr(), 0, 0, 0, 0])?;
    }
    if let Some(user) = &plan.user {
        become_user(user)?;
    }
    if plan.no_new_privs {
        let set = word(libc::PR_SET_NO_NEW_PRIVS);
        call(Step::Privileges, libc::SYS_prctl, [set, 1, 0, 0, 0])?;
    }
    // After the change of user, which forgets it.
    if let Some(signal) = plan.death_signal {
        let set = word(libc::PR_SET_PDEATHSIG);
        call(Step::DeathSignal, libc::SYS_prctl, [set, word(signal), 0, 0, 0])?;
        // A parent that ended before the request was made sends nothing.
        if call(Step::Parent, libc::SYS_getppid, [0; 5])? != word(plan.parent) {
            return Err(Failure { step: Step::Parent, errno: libc::ESRCH });
        }
    }
    place_descriptors(plan.tables)
}

/// What the parent ignores or handles must not reach the program; signals are still blocked here.
fn reset_handlers() -> Result<(), Failure> {
    // The kernel's structure is a handler, flags, restorer and mask, all zero for the ordinary meaning.
    let default = [0_usize; 4];
    for signal in 1..=SIGNAL_MAX {
        let arguments = [signal, default.as_ptr().addr(), 0, size_of::<KernelSet>(), 0];
        match call(Step::Signals, libc::SYS_rt_sigaction, arguments) {
            // Two signals have no other meaning and may not be given one.
            Err(failure) if failure.errno != libc::EINVAL => return Err(failure),
            _ => {}
        }
    }
    Ok(())
}

fn become_user(user: &User<'_>) -> Result<(), Failure> {
    let groups = [user.groups.len(), user.groups.as_ptr().addr(), 0, 0, 0];
    call(Step::User, libc::SYS_setgroups, groups)?;
    let gid = user.gid as usize;
    call(Step::User, libc::SYS_setresgid, [gid, gid, gid, 0, 0])?;
    let uid = user.uid as usize;
    call(Step::User, libc::SYS_setresuid, [uid, uid, uid, 0, 0])?;
    Ok(())
}

fn place_descriptors(tables: &Tables) -> Result<(), Failure> {
    let park = word(libc::F_DUPFD_CLOEXEC);
    for entry in &tables.moves {
        let arguments = [word(entry.source), park, word(tables.parking), 0, 0];
        let parked = call(Step::Descriptors, libc::SYS_fcntl, arguments)?;
        entry.parked.set(i32::try_from(parked).unwrap_or(-1));
    }
    for entry in &tables.moves {
        // The copy is above every target, so this is never a copy onto itself, which would stay close-on-exec.
        let arguments = [word(entry.parked.get()), word(entry.target), 0, 0, 0];
        call(Step::Descriptors, libc::SYS_dup3, arguments)?;
    }
    for (first, last) in &tables.closed {
        let arguments = [*first as usize, *last as usize, 0, 0, 0];
        call(Step::Descriptors, libc::SYS_close_range, arguments)?;
    }
    Ok(())
}

fn exec(plan: &Plan<'_>) -> Failure {
    let none: KernelSet = 0;
    let set = word(libc::SIG_SETMASK);
    let arguments = [set, ptr::from_ref(&none).addr(), 0, size_of::<KernelSet>(), 0];
    if let Err(failure) = call(Step::Signals, libc::SYS_rt_sigprocmask, arguments) {
        return failure;
    }
    let arguments = [plan.program.addr(), plan.argv.addr(), plan.envp.addr(), 0, 0];
    match call(Step::Exec, libc::SYS_execve, arguments) {
        Err(failure) => failure,
        // Unreachable: where it succeeds there is nobody to return to.
        Ok(_) => Failure { step: Step::Exec, errno: libc::EINVAL },
    }
}

/// A C int as the register that carries it.
fn word(value: i32) -> usize {
    value.cast_unsigned() as usize
}

/// Makes one of the system calls above and keeps its error with the step.
fn call(step: Step, number: libc::c_long, [a, b, c, d, e]: [usize; 5]) -> Result<usize, Failure> {
    // SAFETY: every caller is in this file and passes either integers or the addresses of values that outlive the call:
    // of the plan, which the parent keeps, or of the caller's frame. None of the calls writes through an address.
    let result = unsafe { libc::syscall(number, a, b, c, d, e) };
    usize::try_from(result).map_err(|_negative| {
        // SAFETY: the address is that of the waiting parent thread's variable, which always exists.
        let errno = unsafe { *libc::__errno_location() };
        Failure { step, errno }
    })
}

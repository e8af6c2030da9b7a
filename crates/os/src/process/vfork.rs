//! The birth of a process: `clone3` with shared memory and a waiting parent.
//!
//! Owns the assembly that enters the child on its own stack, and the blocking of signals around it. It deliberately
//! knows nothing of what the child does: see [`super::child`].
#![expect(unsafe_code, reason = "no library can call clone3 with a stack of its own")]

use std::{
    arch::asm,
    io,
    os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd},
    ptr,
};

use super::{
    child::{Plan, enter},
    stack::Stack,
};

/// libc declares it as a C int, which cannot hold it.
pub(super) const CLONE_INTO_CGROUP: u64 = 0x2_0000_0000;

/// Memory is shared, so the child is made in constant time however large the daemon is; the parent waits, so nothing it
/// prepared can go away.
const FLAGS: u64 = libc::CLONE_VM as u64 | libc::CLONE_VFORK as u64 | libc::CLONE_PIDFD as u64;

/// The kernel's `struct clone_args`, third version.
#[repr(C)]
#[derive(Debug, Default)]
pub(super) struct CloneArgs {
    pub(super) flags: u64,
    pub(super) pidfd: u64,
    pub(super) child_tid: u64,
    pub(super) parent_tid: u64,
    pub(super) exit_signal: u64,
    pub(super) stack: u64,
    pub(super) stack_size: u64,
    pub(super) tls: u64,
    pub(super) set_tid: u64,
    pub(super) set_tid_size: u64,
    pub(super) cgroup: u64,
}

/// Runs `plan` in a new process and returns when that has begun its program or ended.
pub(super) fn run(
    plan: &Plan<'_>,
    stack: &Stack,
    cgroup: Option<BorrowedFd<'_>>,
) -> io::Result<(u32, OwnedFd)> {
    let mut pidfd: i32 = -1;
    let (base, length) = stack.range();
    let mut arguments = CloneArgs {
        flags: FLAGS,
        pidfd: (&raw mut pidfd).expose_provenance() as u64,
        exit_signal: u64::try_from(libc::SIGCHLD).unwrap_or(0),
        stack: base,
        stack_size: length,
        ..CloneArgs::default()
    };
    if let Some(cgroup) = cgroup {
        arguments.flags |= CLONE_INTO_CGROUP;
        arguments.cgroup = u64::try_from(cgroup.as_raw_fd()).unwrap_or(u64::MAX);
    }
    // SAFETY: all signals are blocked by the caller's guard; the stack is unused, aligned, and kept until this returns,
    // which with CLONE_VFORK is when the child no longer shares memory; so is everything that `plan` points to.
    let result = unsafe { clone3_into(&raw const arguments, ptr::from_ref(plan).cast()) };
    match u32::try_from(result) {
        Ok(pid) if pidfd >= 0 => {
            // SAFETY: the kernel opened it for this call, close-on-exec, and nobody else knows the number.
            Ok((pid, unsafe { OwnedFd::from_raw_fd(pidfd) }))
        }
        // Unreachable: the kernel writes the handle whenever it makes a process with this flag.
        Ok(_) => Err(io::ErrorKind::Unsupported.into()),
        Err(_) => Err(io::Error::from_raw_os_error(i32::try_from(result.wrapping_neg()).unwrap_or(0))),
    }
}

/// Enters the child at [`enter`] with `plan` on the stack that `arguments` names, and returns in the parent what the
/// kernel returned there.
///
/// # Safety
/// `arguments` must describe a free stack with a 16-byte aligned top and ask for `CLONE_VM | CLONE_VFORK`; `plan` must
/// be a live [`Plan`]; all signals must be blocked, since a handler would run in the child with the parent's memory.
#[cfg(target_arch = "x86_64")]
unsafe fn clone3_into(arguments: *const CloneArgs, plan: *const libc::c_void) -> isize {
    let result;
    // SAFETY: the kernel keeps every register but rax, rcx and r11, in the child too. The child has a stack of its own
    // and never returns from `enter`; the parent sees an ordinary system call.
    unsafe {
        asm!(
            "syscall",
            "test rax, rax",
            "jnz 2f",
            "xor ebp, ebp",
            "mov rdi, r8",
            "call r9",
            "ud2",
            "2:",
            inlateout("rax") libc::SYS_clone3 => result,
            in("rdi") arguments,
            in("rsi") size_of::<CloneArgs>(),
            in("r8") plan,
            in("r9") enter as extern "C" fn(*const libc::c_void) -> !,
            out("rcx") _,
            out("r11") _,
        );
    }
    result
}

/// As for the other architecture.
///
/// # Safety
/// As for the other architecture.
#[cfg(target_arch = "aarch64")]
unsafe fn clone3_into(arguments: *const CloneArgs, plan: *const libc::c_void) -> isize {
    let result;
    // SAFETY: the kernel keeps every register but x0, in the child too. The child has a stack of its own and never
    // returns from `enter`; the parent sees an ordinary system call.
    unsafe {
        asm!(
            "svc 0",
            "cbnz x0, 2f",
            "mov x29, xzr",
            "mov x30, xzr",
            "mov x0, x9",
            "blr x10",
            "brk 1",
            "2:",
            inlateout("x0") arguments => result,
            in("x1") size_of::<CloneArgs>(),
            in("x8") libc::SYS_clone3,
            in("x9") plan,
            in("x10") enter as extern "C" fn(*const libc::c_void) -> !,
        );
    }
    result
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
compile_error!("entering a child on its own stack is written for x86_64 and aarch64 only");

/// The kernel's signal set: one bit a signal.
pub(super) type KernelSet = u64;

/// Keeps every signal from the calling thread while it lives, also those that libc keeps for itself.
#[derive(Debug)]
pub(super) struct SignalsBlocked {
    before: KernelSet,
}

impl SignalsBlocked {
    pub(super) fn new() -> Self {
        let all = KernelSet::MAX;
        let mut before: KernelSet = 0;
        // SAFETY: both sets are of the size that is passed and outlive the call, which cannot fail for valid ones.
        let _always_zero = unsafe {
            libc::syscall(
                libc::SYS_rt_sigprocmask,
                libc::SIG_SETMASK,
                &raw const all,
                &raw mut before,
                size_of::<KernelSet>(),
            )
        };
        Self { before }
    }
}

impl Drop for SignalsBlocked {
    fn drop(&mut self) {
        // SAFETY: the set is of the size that is passed and outlives the call; the old one is not asked for.
        let _always_zero = unsafe {
            libc::syscall(
                libc::SYS_rt_sigprocmask,
                libc::SIG_SETMASK,
                &raw const self.before,
                ptr::null_mut::<KernelSet>(),
                size_of::<KernelSet>(),
            )
        };
    }
}

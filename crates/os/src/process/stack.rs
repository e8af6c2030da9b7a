//! A stack for the moment between birth and program.
//!
//! Owns the mapping. The child shares the parent's memory until it runs its program, so it must not use the parent's
//! stack, whose frames the parent returns to.
#![expect(unsafe_code, reason = "mapping memory is unsafe")]

use std::{ffi::c_void, ptr};

use rustix::{
    io::Errno,
    mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap},
    param::page_size,
};

/// Deeper than the child's few frames need, also unoptimised; only touched pages cost anything.
const STACK_BYTES: usize = 64 * 1024;

/// A mapped stack with an inaccessible page below it.
#[derive(Debug)]
pub(super) struct Stack {
    base: *mut c_void,
    length: usize,
}

impl Stack {
    pub(super) fn map() -> Result<Self, Errno> {
        let length = STACK_BYTES.saturating_add(page_size());
        // SAFETY: a private mapping at an address of the kernel's choice touches no existing memory.
        let base = unsafe {
            mmap_anonymous(
                ptr::null_mut(),
                length,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE | MapFlags::STACK | MapFlags::NORESERVE,
            )
        }?;
        let stack = Self { base, length };
        // SAFETY: the first page of the mapping just made, which nothing uses yet.
        unsafe { mprotect(base, page_size(), MprotectFlags::empty()) }?;
        Ok(stack)
    }

    /// The lowest address and the length, as `clone3` wants them.
    pub(super) fn range(&self) -> (u64, u64) {
        (self.base.addr() as u64, self.length as u64)
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: the whole mapping of this value, and the child that ran on it has its own memory by now or is gone.
        let result = unsafe { munmap(self.base, self.length) };
        debug_assert!(result.is_ok(), "a mapping of our own can be unmapped");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stack_is_aligned_and_writable_at_its_top() {
        let stack = Stack::map().unwrap();
        let (base, length) = stack.range();
        assert_eq!((base + length) % 16, 0);
        let top = stack.base.cast::<u8>().wrapping_add(stack.length - 1);
        // SAFETY: the last byte of the mapping, which is writable.
        unsafe { top.write_volatile(7) };
    }
}

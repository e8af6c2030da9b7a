//! Memory of this process: what its allocator keeps for later goes back to the system.
//!
//! It deliberately does not decide when that is worth its time.

/// Gives memory that was freed, but is kept by the allocator, back to the system.
///
/// It walks over the whole heap: for after work that needed far more than its process needs otherwise. Does nothing with
/// an allocator that has no such call.
#[expect(unsafe_code, reason = "no library makes this call")]
#[cfg(target_env = "gnu")]
pub fn give_back() {
    // SAFETY: the call takes no pointer and may be made at any time from any thread.
    unsafe { libc::malloc_trim(0) };
}

/// Does nothing: this allocator has no such call.
#[cfg(not(target_env = "gnu"))]
pub fn give_back() {}

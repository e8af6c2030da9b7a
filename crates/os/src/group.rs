//! Process groups, which terminals and shells signal as one.
//!
//! Owns the one call that there is. It deliberately does not say whose number a group's is: the caller must hold the
//! leader, or have the number from the terminal, since numbers are used again.

use rustix::{
    io::Errno,
    process::{Pid, Signal, kill_process_group},
};

use crate::pidfd::PidfdError;

/// Sends `signal` to every process of `group`, and says whether there was one to take it.
///
/// # Errors
/// When the caller may signal none of them.
pub fn signal(group: u32, signal: Signal) -> Result<bool, PidfdError> {
    // The numbers 0 and 1 would mean the caller's own group and everybody.
    let number = i32::try_from(group).ok().filter(|number| *number > 1).and_then(Pid::from_raw);
    let number = number.ok_or(PidfdError::Gone { pid: group })?;
    match kill_process_group(number, signal) {
        Ok(()) => Ok(true),
        Err(Errno::SRCH) => Ok(false),
        Err(source) => Err(PidfdError::Signal { signal: signal.as_raw(), source: source.into() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_mean_more_than_one_group_are_refused() {
        for group in [0, 1, u32::MAX] {
            assert!(matches!(signal(group, Signal::CONT), Err(PidfdError::Gone { .. })), "{group}");
        }
    }
}

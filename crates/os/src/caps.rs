//! What this process may do beyond an ordinary user's.
//!
//! Owns the reading of the effective capabilities. It deliberately changes none.

use rustix::thread::{CapabilitySet, capabilities};

/// Whether this process may start programs as another user.
#[must_use]
pub fn may_become_others() -> bool {
    holds(CapabilitySet::SETUID | CapabilitySet::SETGID)
}

/// Whether this process may signal and trace processes of any user.
#[must_use]
pub fn may_signal_all() -> bool {
    holds(CapabilitySet::KILL)
}

fn holds(wanted: CapabilitySet) -> bool {
    capabilities(None).is_ok_and(|sets| sets.effective.contains(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_user_may_not_become_others() {
        // Root in a reduced container may lack it too, so only this direction is certain.
        assert!(rustix::process::getuid().is_root() || !may_become_others());
    }
}

//! What one sender may have waiting, so that nobody fills an inbox for all others.

use edgeplane_types::ErrorName;
use edgeplane_wire::rpc::RpcError;

use super::{Actor, accept::Counts};
use crate::caller::Caller;

/// The most of an inbox that the messages of one sender may fill: half, and always room for one.
fn share(inbox_max: u32) -> u64 {
    u64::from(inbox_max.div_ceil(2))
}

impl Actor {
    /// Refuses what would be more than one sender's share. An operator has the whole: whoever can stop an agent need
    /// not be kept from its inbox.
    pub(super) fn check_share(&self, caller: &Caller, counts: &mut Counts) -> Result<(), RpcError> {
        if caller.is_operator() {
            return Ok(());
        }
        let (id, name, inbox_max) = (self.identity.id, &self.identity.name, self.manifest.spec.inbox.max);
        let principal = &caller.principal;
        let look_up = || self.shared.record.look_up(|reader| reader.waiting_of(&id, principal));
        let own = counts.of(principal, look_up)?;
        if own < share(inbox_max) {
            return Ok(());
        }
        let what = format!(
            "{own} messages of `{principal}` wait for agent `{name}` already: the share of one sender is {} of {inbox_max}",
            share(inbox_max)
        );
        Err(RpcError::new(ErrorName::Backpressure, what).hint("wait until it has read some of them"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn share_is_half_and_never_nothing() {
        for (inbox_max, expected) in [(1, 1), (2, 1), (3, 2), (10_000, 5_000), (u32::MAX, 1 << 31)] {
            assert_eq!(share(inbox_max), expected, "{inbox_max}");
        }
    }
}

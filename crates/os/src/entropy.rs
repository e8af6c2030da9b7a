//! Chance as a thing that is passed in, and the minting of ids from time and chance.
//!
//! Owns the only reading of the kernel's random source. It deliberately knows no key, token or distribution.

use std::{fmt::Debug, sync::Arc};

use edgeplane_types::{
    ActionId, AgentId, ArtifactId, CapabilityId, CheckpointId, ContextId, DeliveryId, EventId, FiringId,
    InputId, InvocationId, ItemId, MessageId, NodeId, OverrideId, ProcessId, RunId, SessionId,
    SubscriptionId, TaskId, ThreadId, TokenId, TurnId, WorkspaceId,
};

use crate::clock::Clock;

/// Where code gets its random bytes from.
pub trait Entropy: Debug + Send + Sync {
    /// Fills `bytes`.
    fn fill(&self, bytes: &mut [u8]);
}

/// The kernel's random source.
///
/// A kernel that cannot give random bytes ends the process: ids and keys made without them would be guessable, and
/// no caller could do anything better.
#[derive(Debug, Clone, Copy)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        if getrandom::fill(bytes).is_err() {
            std::process::abort();
        }
    }
}

/// An id that is built from a moment and ten random bytes.
pub trait FromParts {
    /// Builds the id.
    fn from_parts(unix_ms: u64, random: [u8; 10]) -> Self;
}

macro_rules! from_parts {
    ($($id:ident)+) => {$(
        impl FromParts for $id {
            fn from_parts(unix_ms: u64, random: [u8; 10]) -> Self {
                Self::from_parts(unix_ms, random)
            }
        }
    )+};
}

from_parts! {
    ActionId AgentId ArtifactId CapabilityId CheckpointId ContextId DeliveryId EventId FiringId InputId InvocationId ItemId MessageId NodeId OverrideId ProcessId RunId SessionId
    SubscriptionId TaskId ThreadId TokenId TurnId WorkspaceId
}

/// Makes one id of the kind that is asked for.
#[must_use]
pub fn new_id<I: FromParts>(clock: &dyn Clock, entropy: &dyn Entropy) -> I {
    let mut random = [0; 10];
    entropy.fill(&mut random);
    I::from_parts(clock.now().as_millis(), random)
}

/// A clock and a random source together, for those who make ids.
#[derive(Debug, Clone)]
pub struct Mint {
    /// Gives the moment in the id.
    pub clock: Arc<dyn Clock>,
    /// Gives the random part of the id.
    pub entropy: Arc<dyn Entropy>,
}

impl Mint {
    /// The mint of the running system.
    #[must_use]
    pub fn system() -> Self {
        Self { clock: Arc::new(crate::clock::SystemClock), entropy: Arc::new(SystemEntropy) }
    }

    /// Makes one id of the kind that is asked for.
    #[must_use]
    pub fn id<I: FromParts>(&self) -> I {
        new_id(self.clock.as_ref(), self.entropy.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minted_ids_differ_and_carry_their_kind() {
        let mint = Mint::system();
        let (one, two): (MessageId, MessageId) = (mint.id(), mint.id());
        assert_ne!(one, two);
        assert!(mint.id::<AgentId>().to_string().starts_with("agt_"));
    }
}

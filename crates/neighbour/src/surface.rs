//! User interfaces: who is told that something waits for a person. What the person says comes over the protocol.

use std::{
    fmt::Debug,
    sync::{Mutex, PoisonError},
};

use edgeplane_types::{ActionId, AgentId, Timestamp};

/// What waits for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// The action that it is, by which it is answered.
    pub action_id: ActionId,
    /// The agent that waits.
    pub agent_id: AgentId,
    /// What is asked, with nothing that acts on a terminal. Whose words they are, the action tells.
    pub prompt: String,
    /// When nobody's answer counts any more.
    pub expires_at: Timestamp,
}

/// Is told what waits. It must return at once, and what it does not show can be found with the protocol all the same.
pub trait UserInterface: Debug + Send + Sync {
    /// Something waits from here on. After a start of the daemon it may be told again.
    fn waits(&self, waiting: &Waiting);
}

/// The default: whoever wants to know asks for what waits, or follows it.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoInterface;

impl UserInterface for NoInterface {
    fn waits(&self, _waiting: &Waiting) {}
}

/// The double: keeps what it was told.
#[derive(Debug, Default)]
pub struct MemoryInterface(Mutex<Vec<Waiting>>);

impl MemoryInterface {
    /// What it was told.
    #[must_use]
    pub fn told(&self) -> Vec<Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl UserInterface for MemoryInterface {
    fn waits(&self, waiting: &Waiting) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(waiting.clone());
    }
}

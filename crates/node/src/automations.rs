//! Automations: what is done by itself when something happens, as whoever declared it.
//!
//! Owns when each fires and that it acts at most once for each cause. One engine goes through the record in its order, so
//! which version of an automation an event meets is what the record says, and a daemon goes on where the last one ended.
//! What fires is durable before anything is done. What is done is a call like any other: the methods decide about it.

mod act;
mod chain;
mod declared;
mod engine;
mod fill;
mod in_force;
mod matching;
mod webhook;

use tokio::sync::Notify;

pub(crate) use declared::{acts_as, check};
pub(crate) use engine::Engine;
pub(crate) use in_force::{InForce, all, one};
pub(crate) use webhook::{Delivered, deliver};

/// By which rule automations are looked after.
const RULE: &str = "automations";

/// How many automations may cause each other, one after another; the next one does not fire.
pub(crate) const HOPS_MAX: u32 = 8;

/// Firings of one automation that may wait. What is more is passed over, and said to be.
pub(crate) const WAITING_MAX: u64 = 1_000;

/// Automations that one agent may have.
pub(crate) const OF_AGENT_MAX: usize = 16;

/// What the engine and those who change automations share.
#[derive(Debug, Default)]
pub(crate) struct Automations {
    woken: Notify,
}

impl Automations {
    /// Has the engine look: an automation has changed, or one of them has fired.
    pub(crate) fn wake(&self) {
        self.woken.notify_one();
    }
}

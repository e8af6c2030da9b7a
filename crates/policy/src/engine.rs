//! Policy engines: who decides by the rules in force. Which rules those are is decided before.

use std::{
    fmt::Debug,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use crate::{
    cache::Decisions,
    decide::{AgentLayers, Decision, Rules},
    explain::Explanation,
    request::Request,
};

/// Decides.
pub trait PolicyEngine: Debug + Send + Sync {
    /// Decides a request by rules and by those of the agents that it is about.
    fn decide(&self, rules: &Rules, request: &Request, agents: AgentLayers<'_>) -> Decision;

    /// The same with every rule that matched.
    fn explain(&self, rules: &Rules, request: &Request, agents: AgentLayers<'_>) -> Explanation {
        rules.explain(request, agents)
    }
}

/// The default: Cedar, remembering what it decided.
#[derive(Debug, Default)]
pub struct Cedar(Mutex<Decisions>);

impl PolicyEngine for Cedar {
    fn decide(&self, rules: &Rules, request: &Request, agents: AgentLayers<'_>) -> Decision {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).decide(rules, request, agents)
    }
}

/// The double: decides each request anew, and counts them.
#[derive(Debug, Default)]
pub struct CountingEngine(AtomicU64);

impl CountingEngine {
    /// How often it decided.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl PolicyEngine for CountingEngine {
    fn decide(&self, rules: &Rules, request: &Request, agents: AgentLayers<'_>) -> Decision {
        self.0.fetch_add(1, Ordering::Relaxed);
        rules.decide(request, agents)
    }
}

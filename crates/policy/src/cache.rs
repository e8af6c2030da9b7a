//! Decisions that were made before, so that most requests cost a look-up.
//!
//! Knows no time: a decision holds until the rules are others.

use std::{collections::HashMap, sync::Arc};

use crate::{
    decide::{AgentLayers, Decision, Rules},
    layer::LayerRules,
    request::{Class, Request},
};

/// Remembered decisions. Whoever sends asks for few classes; a flood of many must not fill the memory, so when it is
/// full it begins anew.
pub const DECISIONS_MAX: usize = 65_536;

/// The decisions of one set of rules.
#[derive(Debug, Default)]
pub struct Decisions {
    /// Digest of the rules that they were made by.
    rules: String,
    entries: HashMap<Class, Entry>,
}

#[derive(Debug)]
struct Entry {
    /// Digests of the agents' own rules.
    target: Option<Arc<str>>,
    sender: Option<Arc<str>>,
    decision: Decision,
}

impl Entry {
    /// Whether it was made by these rules of the agents.
    fn is_of(&self, agents: AgentLayers<'_>) -> bool {
        let same = |known: &Option<Arc<str>>, rules: Option<&LayerRules>| {
            known.as_deref() == rules.map(LayerRules::digest)
        };
        same(&self.target, agents.target) && same(&self.sender, agents.sender)
    }
}

impl Decisions {
    /// Remembers nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Decides like [`Rules::decide`], by what is remembered where it can.
    pub fn decide(&mut self, rules: &Rules, request: &Request, agents: AgentLayers<'_>) -> Decision {
        if self.rules != rules.digest() {
            self.entries.clear();
            rules.digest().clone_into(&mut self.rules);
        }
        if let Some(entry) = self.entries.get(&request.class)
            && entry.is_of(agents)
        {
            return entry.decision.clone().for_bytes(request.bytes);
        }
        let decision = rules.judge(&request.class, agents);
        if self.entries.len() >= DECISIONS_MAX {
            self.entries.clear();
        }
        let digest = |rules: Option<&LayerRules>| rules.map(|rules| Arc::clone(&rules.digest));
        let entry = Entry {
            target: digest(agents.target),
            sender: digest(agents.sender),
            decision: decision.clone(),
        };
        self.entries.insert(request.class.clone(), entry);
        decision.for_bytes(request.bytes)
    }

    /// How many are remembered.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether none is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

#[cfg(test)]
mod tests;

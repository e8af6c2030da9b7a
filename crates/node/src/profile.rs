//! What an agent's manifest says that others decide by: rules, topics, selectors.

use std::collections::{BTreeMap, BTreeSet};

use edgeplane_manifest::Manifest;
use edgeplane_types::{AgentName, Risk, SafeLabel};

/// The part of a manifest that is not the agent's own business alone.
#[derive(Debug)]
pub(crate) struct Profile {
    pub(crate) name: AgentName,
    pub(crate) labels: BTreeMap<String, SafeLabel>,
    /// As whom the agent acts.
    pub(crate) principal: SafeLabel,
    pub(crate) risk: Risk,
    /// The topics that it wants to hear.
    pub(crate) subscriptions: BTreeSet<SafeLabel>,
}

impl Profile {
    pub(crate) fn of(manifest: &Manifest) -> Self {
        let labels = manifest.metadata.labels.iter();
        Self {
            name: manifest.metadata.name.clone(),
            labels: labels.map(|(key, value)| (key.to_string(), value.clone())).collect(),
            principal: manifest
                .spec
                .principal
                .clone()
                .unwrap_or_else(|| SafeLabel::from(&manifest.metadata.name)),
            risk: manifest.spec.risk,
            subscriptions: manifest.spec.subscriptions.clone(),
        }
    }
}

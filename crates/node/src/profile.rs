//! What an agent's manifest says that others decide by: rules, topics, selectors.

use std::collections::{BTreeMap, BTreeSet};

use edgeplane_manifest::{Driver, Manifest};
use edgeplane_store::MessageRow;
use edgeplane_types::{AgentName, Authority, Risk, SafeLabel};

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
    /// The lightest authority of what its program is given.
    pub(crate) lightest: Authority,
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
            risk: Risk::default(),
            subscriptions: BTreeSet::new(),
            lightest: Self::lightest(manifest),
        }
    }

    /// The lightest authority of what a program is given. A native one is told the authority of each message and can
    /// tell them apart.
    pub(crate) fn lightest(manifest: &Manifest) -> Authority {
        match &manifest.spec.driver {
            Driver::Native { .. } => Authority::Untrusted,
            Driver::Terminal { accepts, .. } => *accepts,
        }
    }

    /// Why a message that waits is held, if it is.
    pub(crate) fn held(&self, row: &MessageRow) -> Option<String> {
        let (authority, lightest) = (row.envelope.authority, self.lightest);
        let is_held = row.waiting && authority > lightest;
        is_held.then(|| {
            format!("held: {authority} is lighter than {lightest}, the lightest that its terminal takes")
        })
    }
}

//! What an agent's manifest says that others decide by: rules, topics, selectors.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use edgeplane_manifest::{Driver, Manifest, OpenTurn, WorkspaceKeeping};
use edgeplane_policy::{LayerRules, Problem, RuleFile, Subject, SubjectKind, Target, compile};
use edgeplane_store::MessageRow;
use edgeplane_types::{Authority, PolicyLayer, SafeLabel, Tenant};

use crate::caller::AGENT_AUTHORITY_MAX;

/// The name of a manifest's own rules in messages about them.
pub(crate) const RULES_NAME: &str = "spec.policy";

/// The part of a manifest that is not the agent's own business alone.
#[derive(Debug)]
pub(crate) struct Profile {
    pub(crate) labels: BTreeMap<String, SafeLabel>,
    /// The agent as rules see it when it speaks.
    pub(crate) subject: Arc<Subject>,
    /// The agent as rules see it when it is spoken to.
    pub(crate) target: Arc<Target>,
    /// Its own rules.
    pub(crate) rules: Option<Arc<LayerRules>>,
    /// The topics that it wants to hear.
    pub(crate) subscriptions: BTreeSet<SafeLabel>,
    /// The lightest authority of what its program is given.
    pub(crate) lightest: Authority,
    /// Whether its program can end turns, and so answer without a message.
    pub(crate) ends_turns: bool,
    /// Whether its next epoch is given again what the one before did not end.
    pub(crate) retries_turns: bool,
    /// From how long on a silent turn counts as too long, in milliseconds, if the manifest says it.
    pub(crate) quiet_ms: Option<u64>,
    /// How many replicas it has, if it is a set.
    pub(crate) replicas: Option<u32>,
    /// What is kept of its folder without anybody asking.
    pub(crate) keeping: Option<WorkspaceKeeping>,
}

impl Profile {
    pub(crate) fn of(manifest: &Manifest) -> Self {
        let (metadata, spec) = (&manifest.metadata, &manifest.spec);
        let labels: BTreeMap<String, SafeLabel> =
            metadata.labels.iter().map(|(key, value)| (key.to_string(), value.clone())).collect();
        let words: BTreeSet<String> = labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let name = SafeLabel::from(&metadata.name);
        let principal = spec.principal.clone().unwrap_or_else(|| name.clone());
        let subject = Subject {
            kind: SubjectKind::Agent,
            name,
            tenant: Tenant::default(),
            labels: words.clone(),
            risk: spec.risk,
            principal: principal.clone(),
            authority_max: AGENT_AUTHORITY_MAX,
        };
        let target = Target {
            name: metadata.name.clone(),
            tenant: Tenant::default(),
            labels: words,
            risk: spec.risk,
            principal,
        };
        let rules = own_rules(manifest).unwrap_or_else(|problems| {
            // Checked when the manifest was applied; another version of EdgePlane may know fewer words.
            tracing::error!(agent = %metadata.name, problem = ?problems.first(), "its rules cannot be read");
            nothing()
        });
        Self {
            labels,
            subject: Arc::new(subject),
            target: Arc::new(target),
            rules,
            subscriptions: spec.subscriptions.iter().cloned().collect(),
            lightest: Self::lightest(manifest),
            ends_turns: !matches!(spec.driver, Driver::Terminal { .. }),
            retries_turns: spec.delivery.open_turn == OpenTurn::Retry,
            quiet_ms: spec.health.as_ref().and_then(|health| health.quiet_for).map(|limit| limit.as_millis()),
            replicas: spec.set_of(),
            keeping: spec.workspace.clone(),
        }
    }

    /// The lightest authority of what a program is given. A native one is told the authority of each message and can
    /// tell them apart.
    pub(crate) fn lightest(manifest: &Manifest) -> Authority {
        match &manifest.spec.driver {
            Driver::Native { .. } | Driver::Acp { .. } | Driver::Exec { .. } => Authority::Untrusted,
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

/// The rules in a manifest, if it has any.
pub(crate) fn own_rules(manifest: &Manifest) -> Result<Option<Arc<LayerRules>>, Vec<Problem>> {
    let Some(text) = &manifest.spec.policy else { return Ok(None) };
    let files = [RuleFile { name: RULES_NAME, text }];
    compile(PolicyLayer::Agent, &files).map(|rules| Some(Arc::new(rules)))
}

/// Rules that permit nothing.
fn nothing() -> Option<Arc<LayerRules>> {
    let text = r#"@id("unreadable") forbid (principal, action, resource);"#;
    let files = [RuleFile { name: RULES_NAME, text }];
    compile(PolicyLayer::Agent, &files).ok().map(Arc::new)
}

//! What is written of refusals: the first of a kind at once, the others of the same second as a number.
//!
//! A flood of requests that are refused must not become a flood of the record.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError},
    time::Duration,
};

use edgeplane_types::fact::RequestRefused;
use edgeplane_types::{AgentId, Channel, Fact, PolicyAction, PolicyLayer, SafeLabel, StreamName};

use crate::{
    record::{Draft, Origin},
    shared::Shared,
};

/// How long refusals of a kind are gathered after the first.
const GATHERED: Duration = Duration::from_secs(1);

/// Kinds that are told apart within that time. More are counted under the name `others`.
const KINDS_MAX: usize = 256;

/// Refusals that count as the same.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Kind {
    pub(super) action: PolicyAction,
    pub(super) agent: AgentId,
    pub(super) principal: SafeLabel,
    pub(super) channel: Option<Channel>,
    pub(super) layer: PolicyLayer,
    pub(super) rule: SafeLabel,
}

/// What was refused in this second and is not written yet.
#[derive(Debug, Default)]
pub(super) struct Refusals {
    gathered: HashMap<Kind, (u64, String)>,
}

/// Writes the first of a kind and counts the others.
pub(super) fn note(shared: &Arc<Shared>, kind: Kind, reason: &str) {
    let is_first = {
        let mut refusals = shared.gate.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        let is_known = refusals.gathered.contains_key(&kind);
        let is_crowded = refusals.gathered.len() >= KINDS_MAX && !is_known;
        let counted = if is_crowded {
            Kind { principal: SafeLabel::sanitized("others"), channel: None, ..kind.clone() }
        } else {
            kind.clone()
        };
        let was_quiet = refusals.gathered.is_empty();
        let entry = refusals.gathered.entry(counted).or_insert_with(|| (0, reason.to_owned()));
        if is_known || is_crowded {
            entry.0 = entry.0.saturating_add(1);
        }
        drop(refusals);
        if was_quiet {
            shared.tasks.spawn(write_later(Arc::clone(shared)));
        }
        !is_known && !is_crowded
    };
    if is_first {
        let shared = Arc::clone(shared);
        let reason = reason.to_owned();
        shared.tasks.clone().spawn(async move { write(&shared, vec![(kind, 1, reason)]).await });
    }
}

/// Writes what was gathered after the first of a second, or before the daemon ends.
async fn write_later(shared: Arc<Shared>) {
    tokio::select! {
        () = shared.stopping.cancelled() => {}
        () = tokio::time::sleep(GATHERED) => {}
    }
    let due: Vec<_> = {
        let mut refusals = shared.gate.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        let gathered = std::mem::take(&mut refusals.gathered);
        let counted = gathered.into_iter().filter(|(_, (count, _))| *count > 0);
        counted.map(|(kind, (count, reason))| (kind, count, reason)).collect()
    };
    if !due.is_empty() {
        write(&shared, due).await;
    }
}

async fn write(shared: &Shared, refusals: Vec<(Kind, u64, String)>) {
    let mut draft = Draft::default();
    for (Kind { action, agent, principal, channel, layer, rule }, count, reason) in refusals {
        // Who may call what belongs to whoever calls, beside their calls.
        let stream = match action {
            PolicyAction::Invoke => StreamName::Agent(agent),
            _ => StreamName::Node(shared.identity.id),
        };
        let fact = Fact::RequestRefused(RequestRefused {
            action,
            agent_id: Some(agent),
            principal,
            channel,
            layer,
            rule,
            reason,
            count,
        });
        shared.record.add(&mut draft, stream, &Origin::node("policy"), fact);
    }
    if let Err(error) = shared.record.commit(draft).await {
        tracing::warn!(%error, "a refusal cannot be recorded");
    }
}

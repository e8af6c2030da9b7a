//! What is written of refusals: the first of a kind at once, the others of the same second as a number.
//!
//! A flood of requests that are refused must not become a flood of the record.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError},
    time::Duration,
};

use edgeplane_types::fact::RequestRefused;
use edgeplane_types::{AgentId, Channel, Fact, MessageId, PolicyAction, PolicyLayer, SafeLabel, StreamName};

use crate::{
    record::{Draft, Origin, Pending},
    shared::Shared,
};

/// How long refusals of a kind are gathered after the first.
const GATHERED: Duration = Duration::from_secs(1);

/// Kinds that are told apart within that time. More are counted under the name `others`.
const KINDS_MAX: usize = 256;

/// Kinds of refused calls of one agent that are told apart within that time. More are counted by their rule alone, so
/// that a program that tries whatever there is neither fills the record nor takes the room of others.
const CALLS_MAX: usize = 16;

/// Most bytes of the name of what was to be called that are noted: of what is not there it is whatever the caller says.
const NAME_BYTES_MAX: usize = 256;

/// Refusals that count as the same.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Kind {
    pub(super) action: PolicyAction,
    pub(super) agent: AgentId,
    pub(super) principal: SafeLabel,
    pub(super) channel: Option<Channel>,
    pub(super) capability: Option<String>,
    pub(super) causation: Option<MessageId>,
    pub(super) layer: PolicyLayer,
    pub(super) rule: SafeLabel,
}

/// The name of what was to be called, as it is noted.
pub(super) fn named(capability: &str) -> String {
    let end = capability.char_indices().map(|(at, char)| at + char.len_utf8());
    let end = end.take_while(|end| *end <= NAME_BYTES_MAX).last().unwrap_or(0);
    capability.get(..end).unwrap_or_default().to_owned()
}

/// What was refused in this second and is not written yet.
#[derive(Debug, Default)]
pub(super) struct Refusals {
    gathered: HashMap<Kind, (u64, String)>,
}

impl Refusals {
    /// What a refusal is counted as instead, if there are too many kinds already.
    fn crowded(&self, kind: &Kind) -> Option<Kind> {
        if self.gathered.contains_key(kind) {
            return None;
        }
        let is_call = |kind: &Kind| kind.action == PolicyAction::Invoke;
        let calls = self.gathered.keys().filter(|other| is_call(other) && other.agent == kind.agent);
        if is_call(kind) && calls.count() >= CALLS_MAX {
            return Some(Kind { capability: None, ..kind.clone() });
        }
        let is_full = self.gathered.len() >= KINDS_MAX;
        is_full.then(|| Kind {
            principal: SafeLabel::sanitized("others"),
            channel: None,
            capability: None,
            causation: None,
            ..kind.clone()
        })
    }
}

/// Writes the first of a kind and counts the others.
pub(super) fn note(shared: &Arc<Shared>, kind: Kind, reason: &str) {
    let (is_first, was_quiet) = {
        let mut refusals = shared.gate.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        let was_quiet = refusals.gathered.is_empty();
        let is_known = refusals.gathered.contains_key(&kind);
        let crowded = refusals.crowded(&kind);
        let is_first = !is_known && crowded.is_none();
        let counted = crowded.unwrap_or_else(|| kind.clone());
        let entry = refusals.gathered.entry(counted).or_insert_with(|| (0, reason.to_owned()));
        if !is_first {
            entry.0 = entry.0.saturating_add(1);
        }
        (is_first, was_quiet)
    };
    if was_quiet {
        shared.tasks.spawn(write_later(Arc::clone(shared)));
    }
    if is_first {
        // Handed over at once: whatever is refused a call may do is in the record behind it.
        let pending = submit(shared, vec![(kind, 1, reason.to_owned())]);
        let shared = Arc::clone(shared);
        shared.tasks.clone().spawn(async move { written(&shared, pending).await });
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
        let pending = submit(&shared, due);
        written(&shared, pending).await;
    }
}

/// Hands refusals to the writer.
fn submit(shared: &Shared, refusals: Vec<(Kind, u64, String)>) -> Pending {
    let mut draft = Draft::default();
    for (kind, count, reason) in refusals {
        let Kind { action, agent, principal, channel, capability, causation, layer, rule } = kind;
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
            capability,
            causation,
            layer,
            rule,
            reason,
            count,
        });
        shared.record.add(&mut draft, stream, &Origin::node("policy"), fact);
    }
    shared.record.submit(draft)
}

async fn written(shared: &Shared, pending: Pending) {
    if let Err(error) = shared.record.outcome(pending).await {
        tracing::warn!(%error, "a refusal cannot be recorded");
    }
}

#[cfg(test)]
mod tests {
    use super::{CALLS_MAX, Kind, NAME_BYTES_MAX, Refusals, named};
    use edgeplane_types::{AgentId, PolicyAction, PolicyLayer, SafeLabel};

    fn kind(agent: u8, capability: usize) -> Kind {
        Kind {
            action: PolicyAction::Invoke,
            agent: AgentId::from_parts(1, [agent; 10]),
            principal: SafeLabel::sanitized("caller"),
            channel: None,
            capability: Some(format!("tools/{capability}")),
            causation: None,
            layer: PolicyLayer::Node,
            rule: SafeLabel::sanitized("connector-deny"),
        }
    }

    /// Proves CAP-045: beyond its bound an agent's refusals are counted by their rule, and another's are not.
    #[test]
    fn an_agent_that_tries_everything_is_counted_by_the_rule() {
        let mut refusals = Refusals::default();
        for capability in 0..CALLS_MAX {
            assert_eq!(refusals.crowded(&kind(1, capability)), None, "{capability}");
            refusals.gathered.insert(kind(1, capability), (0, String::new()));
        }
        assert_eq!(refusals.crowded(&kind(1, 0)), None);
        let beyond = refusals.crowded(&kind(1, CALLS_MAX)).unwrap();
        assert_eq!(beyond, Kind { capability: None, ..kind(1, 0) });
        assert_eq!(refusals.crowded(&kind(2, CALLS_MAX)), None);
    }

    #[test]
    fn a_name_is_cut_between_characters() {
        assert_eq!(named("tools/echo"), "tools/echo");
        let long = named(&"\u{e4}".repeat(NAME_BYTES_MAX));
        assert_eq!(long, "\u{e4}".repeat(NAME_BYTES_MAX / 2));
    }
}

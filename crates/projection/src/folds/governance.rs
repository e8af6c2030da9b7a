//! `governance`: what was decided about who may do what: refusals, approvals, rules, keys and tokens.

use std::collections::BTreeMap;

use edgeplane_types::Fact;
use edgeplane_types::fact::RequestRefused;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    actions::{self, Open},
    entry::Ids,
    fold::{Fold, SHOWN_MAX, Step},
    json::Object,
    recent::Recent,
    subject::{Subject, turn_of},
    telling::{self, agent_of},
};

pub(crate) fn takes(kind: &str) -> bool {
    let family = kind.split_once('.').map_or(kind, |(family, _)| family);
    matches!(family, "request" | "policy" | "action" | "key" | "token") || kind == "message.rejected"
}

/// Counters of whatever a rule refused, by the rule; rules beyond the first so many are counted together.
const RULES_MAX: usize = SHOWN_MAX;

#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Governance {
    open: Open,
    counts: BTreeMap<String, u64>,
    refused_by: BTreeMap<String, u64>,
    rules: Option<Value>,
    recent: Recent,
}

impl Governance {
    fn refused(&mut self, rule: &str, count: u64) {
        let is_known = self.refused_by.contains_key(rule) || self.refused_by.len() < RULES_MAX;
        let rule = if is_known { rule } else { "others" };
        *self.refused_by.entry(rule.to_owned()).or_default() += count;
    }

    fn action(&mut self, step: &mut Step<'_>) {
        let Some((action_id, asked)) = self.open.follow(step.fact()) else { return };
        let message_id = asked.and_then(|asked| asked.message);
        let turn_id = message_id.map(turn_of);
        let (agent_id, action_id) = (agent_of(step), Some(action_id));
        let ids = Ids { agent_id, action_id, message_id, turn_id, ..Ids::default() };
        match step.fact() {
            Fact::ActionOpened { action } => {
                let ids = Ids { agent_id: Some(action.agent_id), ..ids };
                step.say("approval.requested", ids, telling::opened(action));
            }
            Fact::ActionVoted { principal, verdict, digest, .. } => {
                let payload = Object::new()
                    .put("by", principal.as_str())
                    .put("verdict", actions::verdict(verdict))
                    .put("digest", digest)
                    .done();
                step.say("approval.voted", ids, payload);
            }
            Fact::ActionResolved { outcome, by, reason, .. } => {
                let payload = Object::new()
                    .put("outcome", actions::outcome(*outcome))
                    .put("by", by)
                    .put("reason", reason)
                    .done();
                step.say("approval.decided", ids, payload);
            }
            _ => {}
        }
    }

    fn refusal(&mut self, step: &mut Step<'_>) {
        match step.fact() {
            Fact::RequestRefused(RequestRefused {
                action,
                agent_id,
                principal,
                channel,
                capability,
                causation,
                layer,
                rule,
                reason,
                count,
            }) => {
                self.refused(rule.as_str(), *count);
                let payload = Object::new()
                    .put("decision", "deny")
                    .put("action", action)
                    .put("principal", principal.as_str())
                    .maybe("channel", channel.as_ref())
                    .maybe("capability", capability.as_ref())
                    .put("layer", layer)
                    .put("rule", rule.as_str())
                    .put("reason", reason)
                    .put("count", count)
                    .done();
                let turn_id = causation.map(turn_of);
                step.say("request.refused", Ids { agent_id: *agent_id, turn_id, ..Ids::default() }, payload);
            }
            Fact::MessageRejected { message_id, reason } => {
                let ids = Ids {
                    agent_id: agent_of(step),
                    message_id: Some(*message_id),
                    turn_id: Some(turn_of(*message_id)),
                    ..Ids::default()
                };
                let payload = Object::new().put("decision", "deny").put("reason", reason).done();
                step.say("message.rejected", ids, payload);
            }
            _ => {}
        }
    }

    fn rule(&mut self, step: &mut Step<'_>) {
        let (kind, payload) = match step.fact() {
            Fact::PolicyLoaded { digest, rules, files } => {
                self.rules = Some(json!({ "digest": digest, "rules": rules, "at": step.event().ts }));
                ("policy.loaded", Object::new().put("digest", digest).put("rules", rules).put("files", files))
            }
            Fact::PolicyRejected { file, problem } => {
                ("policy.rejected", Object::new().put("file", file).put("problem", problem))
            }
            Fact::KeyCreated { key_id, .. } => ("key.created", Object::new().put("key_id", key_id)),
            Fact::KeyRetired { key_id } => ("key.retired", Object::new().put("key_id", key_id)),
            Fact::TokenCreated(made) => (
                "token.created",
                Object::new()
                    .put("token_id", &made.token_id)
                    .put("kind", &made.kind)
                    .put("principal", &made.principal)
                    .put("scopes", &made.scopes)
                    .put("roles", &made.roles)
                    .maybe("remote", made.remote.then_some(&made.remote))
                    .maybe("expires_at", made.expires_at.as_ref()),
            ),
            Fact::TokenRevoked { token_id, reason } => {
                ("token.revoked", Object::new().put("token_id", token_id).put("reason", reason))
            }
            _ => return,
        };
        step.say(kind, Ids::default(), payload.done());
    }
}

impl Fold for Governance {
    fn new(_: &Subject) -> Self {
        Self::default()
    }

    fn fold(&mut self, step: &mut Step<'_>) {
        self.action(step);
        self.refusal(step);
        self.rule(step);
        for numbered in &step.said {
            match self.counts.get_mut(numbered.entry.kind) {
                Some(count) => *count += 1,
                None => drop(self.counts.insert(numbered.entry.kind.to_owned(), 1)),
            }
        }
        self.recent.take(&step.said);
    }

    fn state(&self) -> Value {
        json!({
            "rules_in_force": self.rules,
            "counts": self.counts,
            "refused_by": self.refused_by,
            "decisions": self.recent.state(),
        })
    }
}

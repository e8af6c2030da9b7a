//! What was decided about leave in a thread, and what surrounded what was let pass.

use edgeplane_types::{
    Fact, InvocationId, MessageId, Permission, PolicyAction, ThreadId, Timestamp, TurnId,
    decision::{ActionKind, ActionOutcome},
    fact::RequestRefused,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

use crate::{
    actions::{self, Asked},
    subject::turn_of,
    turns::Turns,
};

/// What surrounds a call of a server of tools: nothing that the node applies.
pub(crate) const SANDBOX_MODE: &str = "danger_full_access";

/// Why.
pub(crate) const SANDBOX_REASON: &str = "the node applies no sandbox to servers of tools";

/// The newest decision in a thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Decided {
    decision: String,
    source: String,
    reason: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    turn: Option<TurnId>,
    at: Timestamp,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct OfThread {
    decided: Option<Decided>,
    is_applied: bool,
}

/// By thread, and which calls are open.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Governed {
    threads: BTreeMap<ThreadId, OfThread>,
    /// The messages in whose turns they were asked for.
    calls: BTreeMap<InvocationId, Option<MessageId>>,
}

impl Governed {
    /// Takes in a fact about a call, and gives the message in whose turn it was asked for.
    pub(super) fn call(&mut self, fact: &Fact, turns: &Turns, at: Timestamp) -> Option<MessageId> {
        match fact {
            Fact::InvocationRequested(asked) => {
                self.calls.insert(asked.invocation_id, asked.causation);
                let decided = Decided {
                    decision: asked.permission.as_str().to_owned(),
                    source: "rule".to_owned(),
                    reason: match asked.permission {
                        Permission::Allow => "a rule lets it be called",
                        Permission::Ask => "a rule has a person asked",
                        Permission::Deny => "a rule does not let it be called",
                    }
                    .to_owned(),
                    rule: Some(asked.rule.to_string()),
                    turn: asked.causation.map(turn_of),
                    at,
                };
                if let Some(thread) = self.thread(turns, asked.causation) {
                    thread.decided = Some(decided);
                }
                asked.causation
            }
            Fact::InvocationBegun(begun) => {
                let message = self.calls.get(&begun.invocation_id).copied().flatten();
                if let Some(thread) = self.thread(turns, message) {
                    thread.is_applied = true;
                }
                message
            }
            Fact::InvocationEnded(ended) => self.calls.remove(&ended.invocation_id).flatten(),
            _ => None,
        }
    }

    /// Takes in that rules did not let something be called at all.
    pub(super) fn refused(&mut self, refused: &RequestRefused, turns: &Turns, at: Timestamp) {
        if refused.action != PolicyAction::Invoke {
            return;
        }
        let decided = Decided {
            decision: Permission::Deny.as_str().to_owned(),
            source: "rule".to_owned(),
            reason: refused.reason.clone(),
            rule: Some(refused.rule.to_string()),
            turn: refused.causation.map(turn_of),
            at,
        };
        if let Some(thread) = self.thread(turns, refused.causation) {
            thread.decided = Some(decided);
        }
    }

    /// Takes in how a question for leave was decided.
    pub(super) fn decided(&mut self, fact: &Fact, asked: Option<&Asked>, (turns, at): (&Turns, Timestamp)) {
        let Fact::ActionResolved { outcome, reason, .. } = fact else { return };
        let Some(asked) = asked.filter(|asked| asked.kind == ActionKind::Approval) else { return };
        let (decision, source) = match outcome {
            ActionOutcome::Approved | ActionOutcome::Answered => ("allow", "human"),
            ActionOutcome::Denied => ("deny", "human"),
            // Silence and withdrawal are never leave.
            ActionOutcome::Expired | ActionOutcome::Cancelled => ("deny", "host_policy"),
        };
        let reason = if reason.is_empty() { actions::outcome(*outcome) } else { reason.as_str() };
        let decided = Decided {
            decision: decision.to_owned(),
            source: source.to_owned(),
            reason: reason.to_owned(),
            rule: None,
            turn: asked.message.map(turn_of),
            at,
        };
        if let Some(thread) = self.thread(turns, asked.message) {
            thread.decided = Some(decided);
        }
    }

    fn thread(&mut self, turns: &Turns, message: Option<MessageId>) -> Option<&mut OfThread> {
        Some(self.threads.entry(turns.thread(message)?).or_default())
    }

    /// How it is with leave in a thread.
    pub(super) fn permission(&self, thread: ThreadId, is_asked: bool) -> Value {
        let decided = self.threads.get(&thread).and_then(|thread| thread.decided.as_ref());
        let status = match (is_asked, decided) {
            (true, _) => "ask",
            (false, Some(_)) => "decided",
            (false, None) => "not_applicable",
        };
        let mut view = json!({ "status": status });
        let (Some(decided), Some(object)) = (decided, view.as_object_mut()) else { return view };
        object.insert("decision".to_owned(), json!(decided.decision));
        object.insert("source".to_owned(), json!(decided.source));
        object.insert("reason".to_owned(), json!(decided.reason));
        object.insert("at".to_owned(), json!(decided.at));
        if let Some(rule) = &decided.rule {
            object.insert("ruleRefs".to_owned(), json!([rule]));
        }
        if let Some(turn) = decided.turn {
            object.insert("turnId".to_owned(), json!(turn));
        }
        view
    }

    /// What surrounded what was done in a thread.
    pub(super) fn sandbox(&self, thread: ThreadId) -> Value {
        match self.threads.get(&thread).is_some_and(|thread| thread.is_applied) {
            true => json!({ "status": "recorded", "mode": SANDBOX_MODE, "reason": SANDBOX_REASON }),
            false => json!({ "status": "unknown", "reason": "not recorded" }),
        }
    }
}

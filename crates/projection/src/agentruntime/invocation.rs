//! Calls of capabilities: what holds for one, what surrounds it, and what came of it, in that order.
//!
//! A call is a use of a tool whose item has the invocation's UUID. One that was never made has no `tool.*` events: the
//! decision tells of it.

use edgeplane_types::{
    Fact, InvocationId, InvocationState, ItemId, MessageId, Permission, PolicyAction,
    fact::{InvocationBegun, InvocationEnded, InvocationProgressed, InvocationRequested, RequestRefused},
};

use super::{export::Telling, names, turn::tool_output};
use crate::{
    fold::Step,
    json::Object,
    model::{SANDBOX_MODE, SANDBOX_REASON},
};

/// The item that a call is.
fn item_of(id: InvocationId) -> ItemId {
    ItemId::from_bytes(*id.as_bytes())
}

impl Telling<'_> {
    pub(super) fn invocation(&mut self, step: &mut Step<'_>) {
        match step.fact() {
            Fact::InvocationRequested(asked) => self.evaluated(step, asked),
            Fact::InvocationBegun(begun) => self.begun(step, begun),
            Fact::InvocationProgressed(progressed) => self.progressed(step, progressed),
            Fact::InvocationEnded(ended) => self.ended(step, ended),
            _ => {}
        }
    }

    fn evaluated(&mut self, step: &mut Step<'_>, asked: &InvocationRequested) {
        let item = item_of(asked.invocation_id);
        // It is known from here on and begins later, if it does.
        self.export.tool(item, asked.causation, false);
        if let Some(tool) = self.export.tools.get_mut(&item) {
            tool.input = Some((asked.shown_digest.clone(), asked.shown_bytes));
        }
        let word = match asked.permission {
            Permission::Allow => "allow",
            Permission::Ask => "ask",
            Permission::Deny => "deny",
        };
        let decision = Object::new()
            .put("decision", word)
            .put("source", "rule")
            .put("ruleRefs", &[asked.rule.as_str()])
            .put("scope", "once");
        let payload = Object::new()
            .put("capability", &format!("{}{}/{}", asked.backing.prefix(), asked.owner, asked.native_id))
            .put("effect", &asked.effect)
            .put("inputDigest", &asked.input_digest);
        let draft = self.of_turn(step, names::PERMISSION_EVALUATED, asked.causation).tool(item);
        draft.object("permissionDecision", decision).say(step, payload);
    }

    /// A call that no rule let even be asked about: it has no invocation, so the decision has the item of its own event.
    pub(super) fn refused(&mut self, step: &mut Step<'_>, refused: &RequestRefused) {
        if refused.action != PolicyAction::Invoke {
            return;
        }
        let item = ItemId::from_bytes(*step.event().id.as_bytes());
        let decision = Object::new()
            .put("decision", "deny")
            .put("source", "rule")
            .put("reason", &refused.reason)
            .put("ruleRefs", &[refused.rule.as_str()])
            .put("scope", "once");
        let payload = Object::new()
            .maybe("capability", refused.capability.as_ref())
            .put("layer", &refused.layer)
            .put("count", &refused.count);
        let draft = self.of_turn(step, names::PERMISSION_EVALUATED, refused.causation).tool(item);
        draft.object("permissionDecision", decision).say(step, payload);
    }

    fn begun(&mut self, step: &mut Step<'_>, begun: &InvocationBegun) {
        let id = begun.invocation_id;
        let item = item_of(id);
        let message = self.called_by(item);
        let input = self.export.tools.get_mut(&item).and_then(|tool| tool.input.take());
        if let Some(checkpoint) = begun.checkpoint_id {
            let payload = Object::new().put("kind", "checkpoint").put("invocationId", &id);
            let draft = self.of_turn(step, names::EVIDENCE_CHANGED, message);
            let draft = draft.slot("evidenceId", &checkpoint.to_string()).slot("status", "exported");
            draft.say(step, payload);
        }
        let profile = Object::new().put("mode", SANDBOX_MODE).put("network", "unrestricted");
        let draft = self.of_turn(step, names::SANDBOX_APPLIED, message).tool(item);
        let payload = Object::new().put("reason", SANDBOX_REASON);
        draft.object("sandboxProfile", profile).say(step, payload);
        self.export.tool(item, message, true);
        let draft = self.of_turn(step, names::TOOL_STARTED, message).tool(item);
        draft.slot("status", "running").say(step, Object::new().put("invocationId", &id));
        if let Some((digest, bytes)) = input {
            let draft =
                self.of_turn(step, names::TOOL_ARGS, message).tool(item).body("input", &digest, bytes);
            draft.say(step, Object::new().put("invocationId", &id).put("sizeBytes", &bytes));
        }
    }

    fn progressed(&mut self, step: &mut Step<'_>, progressed: &InvocationProgressed) {
        let item = item_of(progressed.invocation_id);
        // Of a call that is not open nothing goes on.
        if !self.export.tools.get(&item).is_some_and(|tool| tool.is_open) {
            return;
        }
        let message = self.called_by(item);
        let draft = self.of_turn(step, names::TOOL_PROGRESS, message).tool(item);
        let payload = Object::new()
            .put("invocationId", &progressed.invocation_id)
            .put("done", &progressed.done)
            .maybe("total", progressed.total.as_ref())
            .maybe("message", progressed.message.as_ref());
        draft.slot("status", "running").say(step, payload);
    }

    fn ended(&mut self, step: &mut Step<'_>, ended: &InvocationEnded) {
        let item = item_of(ended.invocation_id);
        let message = self.called_by(item);
        let native = ended.state.as_str();
        let was_open = self.export.tools.get(&item).is_some_and(|tool| tool.is_open);
        self.export.tool(item, message, false);
        let payload =
            Object::new().put("invocationId", &ended.invocation_id).maybe("reason", ended.reason.as_ref());
        if !was_open {
            // Its denial is told with the decision. Whatever else it is, no call of it is open that could end.
            if ended.state != InvocationState::Denied {
                let draft = self.of_turn(step, names::RUNTIME_WARNING, message);
                draft.slot("nativeStatus", native).say(step, payload.put("because", "invocation.ended"));
            }
            return;
        }
        let (kind, status) = match ended.state {
            InvocationState::Succeeded => (names::TOOL_RESULT, "completed"),
            InvocationState::Cancelled => (names::TOOL_FAILED, "cancelled"),
            InvocationState::OutcomeUnknown => (names::TOOL_FAILED, "unknown"),
            _ => (names::TOOL_FAILED, "failed"),
        };
        let draft = self.of_turn(step, kind, message).tool(item).slot("status", status);
        let draft = draft.slot("nativeStatus", native);
        match &ended.output_digest {
            Some(digest) => tool_output(draft, digest, ended.output_bytes).say(step, payload),
            None => draft.say(step, payload.put("category", native)),
        }
    }

    /// The message in whose turn a call was asked for.
    fn called_by(&self, item: ItemId) -> Option<MessageId> {
        self.export.tools.get(&item).and_then(|tool| tool.message)
    }
}
